#!/bin/sh
# What a message of short blocks costs beside a contiguous one, over tcp: Strand and Open MPI in turns, seven times each.
# Prints the medians: seconds a message, and how many times the contiguous one's. Needs mpicc.openmpi and mpirun.openmpi.
# Arguments: transport of Strand (tcp), of Open MPI (tcp; vader is its shared memory), repetitions of each message (12).
set -e
btl=${1:-tcp} peer=${2:-tcp} repeat=${3:-12}
here=$(cd "$(dirname "$0")" && pwd)
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$here/../.."
go build -o "$tmp/ours" ./docs/results/layouts
go build -o "$tmp/strand" ./cmd/strand
mpicc.openmpi -O2 -o "$tmp/theirs" "$here/layouts.c"
for _ in 1 2 3 4 5 6 7; do
	"$tmp/strand" run -n 2 --btl "$btl,self" "$tmp/ours" 1 "$repeat" >>"$tmp/strand.txt"
	mpirun.openmpi --allow-run-as-root --oversubscribe --bind-to none -n 2 --mca pml ob1 --mca btl "$peer,self" --mca btl_tcp_if_include lo "$tmp/theirs" 1 "$repeat" >>"$tmp/openmpi.txt"
done
for who in strand openmpi; do
	sort -n -k1,1 -k2,2 -k3,3 "$tmp/$who.txt" | awk -v who=$who '
		{ key = $1 " " $2; if (!(key in n)) order[++keys] = key; v[key, ++n[key]] = $3 }
		END { for (i = 1; i <= keys; i++) { k = order[i]; split(k, p, " "); m = v[k, int((n[k] + 1) / 2)]
			if (p[2] == 0) whole = m
			printf "%-8s %8d bytes, blocks of %6d: %9.1f us  %5.2f\n", who, p[1], p[2], m * 1e6, m / whole } }'
done
