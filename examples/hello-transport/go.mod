module github.com/strandmp/strand/examples/hello-transport

go 1.26.0

require github.com/strandmp/strand v0.0.0

require golang.org/x/sys v0.49.0 // indirect

replace github.com/strandmp/strand => ../..
