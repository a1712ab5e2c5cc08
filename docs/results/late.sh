#!/bin/sh
# How many of 6,000 messages come more than 0.7 ms late to a rank that waits, from one that computes for up to 0.6 ms before each: Strand and Open MPI by
# turns. Prints the median and the range. Needs mpicc.openmpi and mpirun.openmpi.
# Arguments: transport of Strand (sm), of Open MPI (vader), rounds (7), and a checkout of another commit to set beside.
set -e
btl=${1:-sm} peer=${2:-vader} rounds=${3:-7} beside=${4:-}
here=$(cd "$(dirname "$0")" && pwd)
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# build puts the command and the program of a checkout, which may have no such program, where run finds them.
build() { # checkout, name
	mkdir "$tmp/$2"
	(cd "$1" && go build -o "$tmp/$2/strand" ./cmd/strand && go build -o "$tmp/$2/late" "$here/late/main.go")
}
build "$here/../.." strand
[ -z "$beside" ] || build "$beside" beside
mpicc.openmpi -O2 -o "$tmp/theirs" "$here/late.c"
for _ in $(seq "$rounds"); do
	for who in strand ${beside:+beside}; do
		"$tmp/$who/strand" run -n 2 --btl "$btl,self" "$tmp/$who/late" >>"$tmp/$who.txt"
	done
	mpirun.openmpi --allow-run-as-root --oversubscribe --bind-to none -n 2 --mca pml ob1 --mca btl "$peer,self" --mca btl_tcp_if_include lo "$tmp/theirs" >>"$tmp/openmpi.txt"
done
for who in strand ${beside:+beside} openmpi; do
	sort -n "$tmp/$who.txt" | awk -v who="$who" '{ v[NR] = $1 } END { printf "%-8s %d late of %d, %d to %d\n", who, v[int((NR + 1) / 2)], $2, v[1], v[NR] }'
done
