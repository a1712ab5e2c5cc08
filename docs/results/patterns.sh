#!/bin/sh
# How many µs a message takes in loops of blocking calls, in programs that are as short as some are: 5,000 messages at most, 40 MB at most. Strand and
# Open MPI by turns; prints medians and ranges. Needs mpicc.openmpi and mpirun.openmpi.
# Arguments: patterns (oneway exch), sizes (8 1000 8000 64000), ranks (2), rounds (5), transport of Strand (sm), of Open MPI (vader), and a checkout of
# another commit to set beside. With WRITE=1 each rank writes what it sends before each message.
set -e
patterns=${1:-oneway exch} sizes=${2:-8 1000 8000 64000} ranks=${3:-2} rounds=${4:-5} btl=${5:-sm} peer=${6:-vader} beside=${7:-}
here=$(cd "$(dirname "$0")" && pwd)
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# build puts the command and the program of a checkout, which may have no such program, where run finds them.
build() { # checkout, name
	mkdir "$tmp/$2"
	(cd "$1" && go build -o "$tmp/$2/strand" ./cmd/strand && go build -o "$tmp/$2/patterns" "$here/patterns/main.go")
}
build "$here/../.." strand
[ -z "$beside" ] || build "$beside" beside
mpicc.openmpi -O2 -o "$tmp/theirs" "$here/patterns.c"
for pattern in $patterns; do
	for size in $sizes; do
		count=$((40000000 / (size + 8000)))
		rm -f "$tmp"/*.txt
		for _ in $(seq "$rounds"); do
			for who in strand ${beside:+beside}; do
				"$tmp/$who/strand" run -n "$ranks" --btl "$btl,self" "$tmp/$who/patterns" "$pattern" "$size" "$count" ${WRITE:+write} >>"$tmp/$who.txt"
			done
			mpirun.openmpi --allow-run-as-root --oversubscribe -n "$ranks" --mca pml ob1 --mca btl "$peer,self" --mca btl_tcp_if_include lo \
				"$tmp/theirs" "$pattern" "$size" "$count" ${WRITE:+write} >>"$tmp/openmpi.txt"
		done
		for who in strand ${beside:+beside} openmpi; do
			sort -n "$tmp/$who.txt" | awk -v who="$who" -v what="$pattern $size" \
				'{ v[NR] = $1 } END { printf "%-16s %-8s %8.2f us (%.2f to %.2f)\n", what, who, v[int((NR + 1) / 2)], v[1], v[NR] }'
		done
	done
done
