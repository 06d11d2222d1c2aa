#!/usr/bin/env bash
# CPU time of networks of many hops; contend and ns-2 run alternately on one core, the smallest of five runs counts.
#   benches/hops.sh [NS2_SCRIPT]
# NS2_SCRIPT takes -chain HOPS, -grid COLUMNS, -flows "newreno:FROM:TO:START ...", -rts, -data, -t1 and -trace 0, and
# builds the networks of experiments/validation/multihop-tcp.toml and experiments/benchmark/grid.toml. Without it, or
# without `ns`, contend runs alone.
set -euo pipefail
cd "$(dirname "$0")/.."
. benches/cpu.sh
script=${1:-}
cargo build --profile dist --quiet
ours=(taskset -c 0 target/dist/contend run --no-results --quiet --jobs 1 --seeds 1)
pair() { # NAME, then arguments of contend up to "--", then those of ns-2
  local name=$1 a=() b=() mine=()
  shift
  while [ "$1" != -- ]; do mine+=("$1"); shift; done
  shift
  for _ in 1 2 3 4 5; do
    a+=("$(cpu "${ours[@]}" "${mine[@]}")")
    if [ -n "$script" ] && command -v ns >/dev/null; then b+=("$(cpu taskset -c 0 ns "$script" "$@" -trace 0)"); fi
  done
  a=$(printf '%s\n' "${a[@]}" | least)
  b=$(printf '%s\n' "${b[@]:--}" | least)
  awk -v n="$name" -v a="$a" -v b="$b" \
    'BEGIN { printf "%-44s %8s s   ns-2 %8s s   %s\n", n, a, b, b == "-" ? "-" : sprintf("%.1f times", b / a) }'
}
chain=experiments/validation/multihop-tcp.toml
for seconds in 600 6000; do
  pair "7 hops, TCP, 2 Mb/s, RTS, $seconds s" $chain --set param.hops=7 --set param.rts=1 --set param.data=2Mbps \
    --set param.window=32p --set "duration=${seconds}s" -- -chain 7 -rts 1 -flows newreno:0:7:1 -t1 "$seconds"
done

# The same 36 pairs of stations for both.
pairs=$(awk 'BEGIN {
  srand(7)
  for (i = 0; i < 36; i++) { a = int(rand() * 144); do b = int(rand() * 144); while (b == a); print a, b }
}')
list() { awk -v c="$1" '{ printf "%s\"n[%d]\"", (NR > 1 ? ", " : "["), $c + 1 } END { print "]" }' <<<"$pairs"; }
flows=$(awk '{ printf "newreno:%d:%d:1 ", $1, $2 }' <<<"$pairs")
pair "144 stations, 36 TCP flows, 20 s" experiments/benchmark/grid.toml --set "flow.0.from=$(list 1)" \
  --set "flow.0.to=$(list 2)" -- -grid 12 -flows "$flows" -t1 20
