#!/bin/sh
# Measures what "SCTP-based middleware for MPI" (2005) did, with TCP, SCTP and UDP of today, and writes the tables of
# thesis.md into bin/thesis, a file for each part, with the plots beside them. It takes about half an hour of a machine that
# does nothing else. RUNS=1 TASKS=20 tries it out. With arguments only these parts are made: thesis.sh lan streams.
set -eu
cd "$(dirname "$0")/../.."
make -s build
out=bin/thesis
tasks=${TASKS:-1000}

compare() { # name, transports, workloads, further flags
	name=$1 btl=$2 workload=$3
	shift 3
	bin/strand compare --btl "$btl" --workload "$workload" --runs "${RUNS:-6}" --timeout 3m --seed 1 \
		--out "$out/$name" --overwrite --json "$@" >/dev/null
	bin/strand compare --from "$out/$name" --markdown >"$out/$name.md"
}

# The thesis's buffers. A frame on each of ten streams must be shorter than 64 KB to be half arrived in them.
narrowly() { compare "$@" --buffers 220K; }
frames=max_frame=16K

# The thesis's network: a round trip of 0.2 ms, 1 Gbit/s, eight hosts.
lan() {
	narrowly lan "tcp,udp,sctp(streams=10,$frames),sctp(streams=1,$frames)" \
		"pingpong(size=30000,rounds=100),pingpong(size=300000,rounds=30),farm(size=30000,fanout=1,tasks=$tasks,ordering=relaxed),farm(size=30000,fanout=10,tasks=$tasks,ordering=relaxed),farm(size=300000,fanout=10,tasks=$((tasks / 4)),ordering=relaxed)" \
		--loss 0,1,2 --delay 100us --rate 1gbit --ranks 8
}

# Round trips of 10 and 40 ms.
far() {
	narrowly far "tcp,udp,sctp(streams=10,$frames)" \
		"farm(size=30000,fanout=10,tasks=$((tasks / 10)),ordering=relaxed)" \
		--loss 0,2 --delay 5ms,20ms --rate 100mbit --ranks 4
}

# The same round trips, with buffers as they are today: 4 MB.
today() {
	compare today-pingpong "tcp,udp,sctp(streams=10)" "pingpong(size=30000,rounds=30),pingpong(size=300000,rounds=10)" \
		--loss 0,1,2 --delay 5ms,20ms --rate 100mbit --ranks 2
	compare today "tcp,udp,sctp(streams=10)" \
		"farm(size=30000,fanout=10,tasks=$((tasks / 10)),ordering=relaxed),farm(size=300000,fanout=10,tasks=$((tasks / 40)),ordering=relaxed)" \
		--loss 0,1,2 --delay 5ms,20ms --rate 100mbit --ranks 4
}

# Ten streams beside one, where a worker may take a message that has overtaken another, and where not.
streams() {
	narrowly streams "sctp(streams=1,$frames),sctp(streams=10,$frames)" \
		"farm(size=30000,fanout=10,tasks=$((tasks / 2)))" \
		--ordering relaxed,strict --loss 2 --delay 1ms --rate 100mbit --ranks 4 --runs "${STREAMRUNS:-20}"
}

# Messages that wait for another one's loss: some ten follow before it has come again.
hol() {
	narrowly hol-near "tcp,udp,sctp(streams=10,$frames)" "hol(size=200,interval=1ms,messages=2000)" --loss 0,2 --delay 5ms --rate 100mbit --metric delay_p90
	narrowly hol-far "tcp,udp,sctp(streams=10,$frames)" "hol(size=200,interval=4ms,messages=500)" --loss 0,2 --delay 20ms --rate 100mbit --metric delay_p90
	for way in near far; do
		bin/strand compare --from "$out/hol-$way" --metric held_up --markdown >"$out/hol-$way-held.md"
	done
}

# Figure 5.1: ping-pong by size, and what CRC32c costs.
sizes() {
	narrowly sizes "tcp,udp,sctp(streams=10,$frames),sctp(streams=10,$frames,zero_checksum=true)" "pingpong(rounds=100)" \
		--sizes 8,1024,4096,16384,22528,32768,65536,131072 --loss 0 --delay 100us --rate 1gbit --ranks 2
}

mkdir -p "$out"
for part in "${@:-all}"; do
	case $part in
	all) lan && far && today && streams && hol && sizes ;;
	lan | far | today | streams | hol | sizes) $part ;;
	*) echo "$part: want lan, far, today, streams, hol or sizes" >&2 && exit 2 ;;
	esac
done
echo "$out"
