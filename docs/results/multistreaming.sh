#!/bin/sh
# Measures what several lanes are worth, apart from all else, and writes multistreaming.md beside
# this file. It takes about ten minutes of a machine that does nothing else. The results, with their
# plots, stay in bin/multistreaming. RUNS=1 TASKS=20 MESSAGES=100 tries it out in one.
set -eu
cd "$(dirname "$0")/../.."
make -s build
out=bin/multistreaming
page=docs/results/multistreaming.md

compare() { # name, transports
	bin/strand compare --btl "$2" \
		--workload "hol(size=200,interval=1ms,messages=${MESSAGES:-2000}),farm(size=30000,fanout=10,tasks=${TASKS:-100})" \
		--loss "${LOSS:-0.5,2}" --delay 5ms --rate 100mbit --ranks 4 --runs "${RUNS:-10}" --buffers 1M --seed 1 \
		--out "$out/$1" --overwrite --json >/dev/null
	bin/strand compare --from "$out/$1" --metric delay_p90 --markdown >"$out/$1.md"
}

mkdir -p "$out"
compare streams 'sctp(streams=1),sctp(streams=10)'
compare links 'tcp(links=1),tcp(links=10)'
compare window 'tcp(links=1,rcvbuf=60K),tcp(links=10,rcvbuf=6K)'

{
	cat <<'TEXT'
# What several lanes are worth

Messages of ten tags over one stream of an SCTP association, where a lost packet holds up all of them, and over ten, where it holds up its own; and over one TCP connection and
ten. Each pair of transports differs in nothing else and takes turns, run by run. `hol` sends short messages at a steady pace, far below what the link takes, and takes each one's
delay, of which the 90th percentile is shown: at 2 % loss the 99th is that of the lost messages themselves, and not of those that wait behind them. `farm` is the Bulk Processor Farm
with ten tasks a request. Made by `docs/results/multistreaming.sh`.

An association has one congestion window, however many streams it has. Ten connections have ten, which together are larger, and of which a loss halves but one. So there
are three pairs: streams, connections, and connections whose receive buffers limit the windows of ten to what one may have in all. The counters have the windows
as they were: of all connections of rank 0 together, by congestion control and by what the peer takes.

Tags are spread over streams and over connections alike, by their lane. The pieces of long messages go over whichever connection takes them; over streams they stay with their
tag.

TEXT
	printf '## Streams of one association: one window\n\n'
	cat "$out/streams.md"
	printf '\n## Connections, each with a window of its own\n\n'
	cat "$out/links.md"
	printf '\n## Connections, with equal windows in all\n\n60 KB of receive buffer a peer: for one connection, or a tenth of it for each of ten.\n\n'
	cat "$out/window.md"
	cat <<'TEXT'

## How to read it

**Streams do what they are for, and only that.** At 2 % a message in ten waits behind a lost one of another tag where there is one stream; with ten it does not, and what is left of the
90th percentile are messages of the same tag. At 0.5 % so few wait that the 90th percentile does not see them. Windows, retransmissions and timeouts of both are the same, so nothing
else differs. The farm gains nothing: its workers wait for whole requests of ten tasks, and the window, which losses keep small, is what they wait for.

**Ten connections gain twice**: the same by not waiting for each other, and far more in the farm by their windows, ten to fifteen times one connection's in all.

**With equal bounds** of the windows (60 KB a peer, 180 KB for the three peers of rank 0) ten connections still gain in the farm: a loss halves one of ten small windows, so that they
stay near the bound, where one connection's window is cut to a third of it. That is not multistreaming but ten flows' share of the network, which one association does not take.
TEXT
} >"$out/page.md"
mv "$out/page.md" "$page"
echo "$page"
