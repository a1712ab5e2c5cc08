// Package coherence is for processors that talk by memory: each line goes from cache to cache, and as seldom as can be.
//
// What is written there is in the reader's cache since it read that memory last. A store of less than a line has the processor fetch
// the line from that cache, with bytes that are all to be overwritten. A string move writes whole lines, and asks for nothing but
// to be their only holder: where the caches are far apart that takes a third of the time. What is read comes from the writer's
// cache, and sooner by a string move too. Who looks at a line without a pause has it when the other one comes to write it
// (docs/decisions/0084-whole-lines.md).
package coherence
