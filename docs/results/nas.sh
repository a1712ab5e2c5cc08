#!/usr/bin/env bash
# The kernels of examples/nas beside NPB's own programs over Open MPI's TCP, or with TRANSPORT=sm both over shared memory, by
# turns, on this host:
#
#	docs/results/nas.sh DIRECTORY KERNELS CLASSES RANKS ROUNDS
#	docs/results/nas.sh ~/npb/bin 'is cg mg ft' 'S W' '1 2 4' 5
#
# With twins in the place of RANKS, two programs of one rank at once beside one alone, which tells what the machine gives to two that send
# nothing.
#
# The directory has NPB's programs as its Makefile names them: cg.W.4. It wants bin/strand and bin/nas (make build). Each line of
# the output, which comes at the end, is a kernel of a class on so many ranks: the median of Mop/s of ours and theirs, ours : theirs,
# the speed-up over one rank of both, if RANKS begin with 1, and the ratio of those.
set -eu -o pipefail
npb=$1 kernels=$2 classes=$3 ranks=$4 rounds=$5
root=$(cd "$(dirname "$0")/../.." && pwd)
case ${TRANSPORT:-tcp} in
tcp) ours=tcp,self theirs=tcp,self ;;
sm) ours=sm,self theirs=vader,self ;;
*) echo "nas.sh: TRANSPORT=$TRANSPORT: want tcp or sm" >&2; exit 2 ;;
esac
mpirun=$(command -v mpirun.openmpi || command -v mpirun)

# mops prints what a program says of its speed, or 0 if it was not verified.
mops() {
  awk '/Verification +=/ && / SUCCESSFUL/ {good = 1} /Mop\/s total/ {mops = $NF} END {print good ? mops : 0}'
}

ours() { "$root/bin/strand" run -n "$3" --btl "$ours" "$root/bin/nas" "$1" "$2" | mops; }
theirs() {
  OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 "$mpirun" --oversubscribe --bind-to none -np "$3" \
    --mca pml ob1 --mca btl "$theirs" --mca btl_tcp_if_include lo "$npb/$1.$2.$3" | mops
}

# both is the Mop/s of two programs of one rank at once, together.
both() { # ours or theirs, kernel, class
  { "$1" "$2" "$3" 1 & "$1" "$2" "$3" 1; wait; } | awk '{ sum += $1 } END { print sum }'
}

if [ "$ranks" = twins ]; then
  echo "| kernel | class | Strand, two : one | NPB, two : one |"
  echo "|---|---|---|---|"
  for kernel in $kernels; do
    for class in $classes; do
      for _ in $(seq "$rounds"); do
        for who in ours theirs; do
          echo "$who $(both $who "$kernel" "$class") $($who "$kernel" "$class" 1)"
        done
      done | awk '{ print $1, $2 / $3 }' | sort -k1,1 -k2,2n | awk -v kernel="$kernel" -v class="$class" '
        { v[$1, ++n[$1]] = $2 }
        function median(who) { return (v[who, int((n[who] + 1) / 2)] + v[who, int(n[who] / 2) + 1]) / 2 }
        END { printf "| %s | %s | %.2f | %.2f |\n", toupper(kernel), class, median("ours"), median("theirs") }'
    done
  done
  exit
fi

for kernel in $kernels; do
  for class in $classes; do
    for _ in $(seq "$rounds"); do
      for n in $ranks; do
        echo "$kernel $class $n $(ours "$kernel" "$class" "$n") $(theirs "$kernel" "$class" "$n")"
      done
    done
  done
done | sort -s -k1,2 -k3,3n | awk '
  function median(values, n,   i, j, v) {
    for (i = 2; i <= n; i++) {
      v = values[i]
      for (j = i - 1; j > 0 && values[j] > v; j--) values[j + 1] = values[j]
      values[j + 1] = v
    }
    return n % 2 ? values[(n + 1) / 2] : (values[n / 2] + values[n / 2 + 1]) / 2
  }
  function row(   a, b) {
    if (!n) return
    a = median(us, n); b = median(them, n)
    if (ranks == 1) { oneUs = a; oneThem = b; one = kernel class }
    printf "| %s | %s | %d | %.0f | %.0f | %.2f |", toupper(kernel), class, ranks, a, b, b ? a / b : 0
    if (one == kernel class && oneUs && oneThem) printf " %.2f | %.2f | %.2f |", a / oneUs, b / oneThem, b ? a / oneUs / (b / oneThem) : 0
    print ""
    fflush()
  }
  BEGIN {
    print "| kernel | class | ranks | Strand, Mop/s | NPB, Mop/s | ours : theirs | speed-up | theirs | ours : theirs |"
    print "|---|---|---|---|---|---|---|---|---|"
  }
  $1 != kernel || $2 != class || $3 != ranks { row(); n = 0; kernel = $1; class = $2; ranks = $3 }
  { n++; us[n] = $4; them[n] = $5 }
  END { row() }'
