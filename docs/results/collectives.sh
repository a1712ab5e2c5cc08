#!/usr/bin/env bash
# Collective calls beside Open MPI, by turns, on this host, as tables for docs/results/collectives.md:
#
#	docs/results/collectives.sh RANKS BLOCKS
#	docs/results/collectives.sh 4,8,16 9
#
# It wants bin/strand (make build) and Open MPI. A cell has Strand's time in µs, the ratio to Open MPI's of lower quartiles and, in
# brackets, the 95 % interval of the median ratio. A ratio is bold if the whole interval is beyond the aim: 1.0 over TCP, 1.2 over shared memory. Below
# each table stands how many are.
set -eu -o pipefail
ranks=$1 blocks=$2
strand=$(cd "$(dirname "$0")/../.." && pwd)/bin/strand
for btl in tcp sm; do
  "$strand" bench coll --calls barrier,bcast,allreduce,allgather,alltoall --ranks "$ranks" --sizes 8,4K,64K,1M --btl "$btl,self" \
    --against openmpi --blocks "$blocks" </dev/null | awk -v btl="$btl" -v aim="$([ "$btl" = tcp ] && echo 1.0 || echo 1.2)" '
    $1 ~ /^[0-9]+$/ {
      key = $2 " | " ($3 == 0 ? "" : $3)
      if (!(key in seen)) { seen[key] = 1; order[++keys] = key }
      if (!($1 in known)) { known[$1] = 1; ranks[++numbers] = $1 }
      low = $9; sub(/^\(/, "", low); sub(/–.*/, "", low)
      bad = low + 0 > aim; all[$1]++; beyond[$1] += bad
      cell[key, $1] = sprintf("%.3g | %s%s%s %s | %.2f", $4, (bad ? "**" : ""), $8, (bad ? "**" : ""), $9, $(NF - 2) / $NF)
    }
    END {
      printf "\n## %s\n\n| call | size |", (btl == "tcp" ? "TCP" : "Shared memory")
      for (i = 1; i <= numbers; i++) printf " %d ranks, µs | ratio | processor time, ratio |", ranks[i]
      printf "\n|---|---|"
      for (i = 1; i <= numbers; i++) printf "---|---|---|"
      print ""
      for (k = 1; k <= keys; k++) {
        printf "| %s |", order[k]
        for (i = 1; i <= numbers; i++) printf " %s |", cell[order[k], ranks[i]]
        print ""
      }
      print ""
      for (i = 1; i <= numbers; i++) printf "%s%d of %d cells with %d ranks", (i > 1 ? ", " : "Beyond the aim: "), beyond[ranks[i]], all[ranks[i]], ranks[i]
      print "."
    }'
done
