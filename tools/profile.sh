#!/bin/sh
# Makes cmd/strand/default.pgo: where the processor's time goes while ranks send short messages. The compiler lays out by it
# what is called most (docs/decisions/0078-built-by-a-profile.md). It is called by make profile, in about two minutes.
set -eu
cd "$(dirname "$0")/.."
dir=$(mktemp -d)
# The profile names the program that it is of: by a path that says nothing of this machine.
program=/tmp/strand-profile/strand
trap 'rm -rf "$dir" /tmp/strand-profile' EXIT
CGO_ENABLED=0 go build -trimpath -pgo=off -o "$program" ./cmd/strand

# of NAME COMMAND… has each rank write a profile.
of() {
  name=$1
  shift
  "$program" bench "$@" --cpuprofile "$dir/$name"
}
of sm-rate rate --btl sm,self --sizes 8 --iters 500000
of sm-pingpong pingpong --btl sm,self --sizes 8 --iters 8000000
of sm-middle rate --btl sm,self --sizes 1K,8K --iters 50000
of sm-coll coll --btl sm,self --ranks 2 --sizes 8 --iters 1000000 --calls barrier,allreduce
of tcp-rate rate --btl tcp,self --sizes 8 --iters 60000
of tcp-pingpong pingpong --btl tcp,self --sizes 8 --iters 400000
of udp-rate rate --btl udp,self --sizes 8 --iters 30000
go tool pprof -proto "$dir"/*.[0-9]* >cmd/strand/default.pgo
