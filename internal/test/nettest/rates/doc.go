// Package rates measures what links bring, together, and while some are down.
package rates
