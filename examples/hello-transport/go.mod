module github.com/strandmp/strand/examples/hello-transport

go 1.26.0

require github.com/strandmp/strand v0.0.0

require (
	github.com/vishvananda/netlink v1.3.1 // indirect
	github.com/vishvananda/netns v0.0.5 // indirect
	golang.org/x/sys v0.49.0 // indirect
)

replace github.com/strandmp/strand => ../..
