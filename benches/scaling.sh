#!/usr/bin/env bash
# CPU time per delivered packet at equal total load, from 2 to 2,000 stations. Two run lengths are subtracted, so that
# start-up does not count.
#   benches/scaling.sh [CONTEND]
# The smallest of seven runs counts, because other work on the machine can only add time; short and long runs alternate.
set -euo pipefail
cd "$(dirname "$0")/.."
. benches/cpu.sh
contend=${1:-}
[ -n "$contend" ] || { cargo build --profile dist --quiet; contend=target/dist/contend; }
equal_load() { # SECONDS STATIONS/2
  cpu "$contend" run experiments/benchmark/equal-load.toml --no-results --quiet --jobs 1 \
    --set duration="$1s" --set flow.0.count="$2" --set flow.1.count="$2"
}
short=400 long=1200
printf '%-10s %22s\n' stations 'us per packet'
for n in 1 10 100 1000; do
  a=() b=()
  for _ in 1 2 3 4 5 6 7; do
    a+=("$(equal_load $short "$n")")
    b+=("$(equal_load $long "$n")")
  done
  # 10 Mb/s in packets of 1,500 B.
  a=$(printf '%s\n' "${a[@]}" | least)
  b=$(printf '%s\n' "${b[@]}" | least)
  awk -v n=$((2 * n)) -v a="$a" -v b="$b" -v s=$((long - short)) \
    'BEGIN { printf "%-10d %22.3f\n", n, (b - a) / (s * 10e6 / 12000) * 1e6 }'
done
