#!/bin/sh
# What short packets over the loopback carry beside raw TCP: the first table of udp.md. Each transport in turns, so many
# times (7): 1 MB messages in windows of 64, packets of 1400 bytes; then 8 B beside a pair of raw UDP sockets. Prints the medians.
# It takes about a minute of a machine that does nothing else.
set -eu
cd "$(dirname "$0")/../.."
make -s build
runs=${1:-7}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
udp="--btl udp,self -p btl_udp_packet=1400"
sctp="--btl sctp,self -p btl_sctp_stack=user -p btl_sctp_mtu_loopback=1400"

measure() { # name, workload, peer, flags
	name=$1 workload=$2 peer=$3
	shift 3
	# Its status is 1 where raw was not steady: the medians of several runs are.
	bin/strand bench "$workload" --against "$peer" --blocks 4 --json "$@" >"$tmp/json" 2>/dev/null || [ -s "$tmp/json" ]
	# The first of the rows' times is Strand's lower quartile and processor time, the last ratio raw's.
	awk -v name="$name" -v workload="$workload" '
		/"lower_quartile_us"/ && !us { us = $2 + 0 }
		/"processor_us"/ && !cpu { cpu = $2 + 0 }
		/"ratio"/ { ratio = $2 + 0 }
		END { print name "|" workload "|" us "|" ratio "|" cpu }' "$tmp/json" >>"$tmp/all"
}

for _ in $(seq "$runs"); do
	for protect in none authenticated encrypted; do
		measure "udp, $protect" stream raw --sizes 1M $udp -p "btl_udp_protect=$protect"
	done
	for zero in false true; do
		measure "sctp, zero checksum $zero" stream raw --sizes 1M $sctp -p "btl_sctp_zero_checksum=$zero"
	done
	measure udp pingpong raw-udp --sizes 8 --btl udp,self
	measure sctp pingpong raw-udp --sizes 8 --btl sctp,self -p btl_sctp_stack=user
done

echo "| | 1 MB, MB/s | × raw TCP | processor, s a GB |"
echo "|---|---|---|---|"
medians() { sort -t'|' -k1,1 -k"$1","$1"n "$tmp/all" | awk -F'|' -v column="$1" '{ v[$1 "|" $2, ++n[$1 "|" $2]] = $column }
	END { for (k in n) print k "|" v[k, int((n[k] + 1) / 2)] }' | sort; }
medians 3 >"$tmp/us" && medians 4 >"$tmp/ratio" && medians 5 >"$tmp/cpu"
paste -d'|' "$tmp/us" "$tmp/ratio" "$tmp/cpu" | awk -F'|' '
	$2 == "stream" { printf "| %s | %.0f | %.2f | %.2f |\n", $1, 1048576 / $3, $6, $9 / 1048.576 }'
echo
echo "| | 8 B, half the round trip in µs | × raw UDP |"
echo "|---|---|---|"
paste -d'|' "$tmp/us" "$tmp/ratio" "$tmp/cpu" | awk -F'|' '
	$2 == "pingpong" { printf "| %s | %.2f | %.2f |\n", $1, $3, $6 }'
