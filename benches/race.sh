#!/usr/bin/env bash
# CPU time of whole processes, contend and ns-2, run alternately on one core.
#   benches/race.sh [NS2_SCRIPT]
# NS2_SCRIPT takes -ndown K -nup K -seed S and simulates the network of experiments/benchmark/race.toml. Without it, or
# without `ns`, contend runs alone.
set -euo pipefail
cd "$(dirname "$0")/.."
. benches/cpu.sh
script=${1:-}
cargo build --profile dist --quiet
printf '%-12s %12s %14s %14s %8s\n' network 'contend [s]' 'ns-2 [s]' 'ns-2 Splay [s]' ratio
for k in 10 50 100; do
  ours=() theirs=() splay=()
  for _ in 1 2 3; do
    ours+=("$(cpu taskset -c 0 target/dist/contend run experiments/benchmark/race.toml --no-results --quiet \
      --jobs 1 --set flow.0.count=$k --set flow.1.count=$k)")
    if [ -n "$script" ] && command -v ns >/dev/null; then
      theirs+=("$(cpu taskset -c 0 ns "$script" -ndown $k -nup $k -seed 1)")
      splay+=("$(cpu taskset -c 0 ns "$script" -ndown $k -nup $k -seed 1 -sched Splay)")
    fi
  done
  a=$(printf '%s\n' "${ours[@]}" | least)
  b=$(printf '%s\n' "${theirs[@]:--}" | least)
  c=$(printf '%s\n' "${splay[@]:--}" | least)
  ratio=$(awk -v a="$a" -v b="$b" -v c="$c" \
    'BEGIN { if (b == "-") print "-"; else printf "%.0f", (b < c ? b : c) / a }')
  printf '%-12s %12s %14s %14s %8s\n' "$k + $k" "$a" "$b" "$c" "$ratio"
done
