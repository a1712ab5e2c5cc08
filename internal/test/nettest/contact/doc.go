// Package contact has how ranks meet on networks, and what a meeting and a peer take.
package contact
