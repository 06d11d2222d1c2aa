#!/usr/bin/env bash
# CPU time per delivered packet at equal total load, from 2 to 2,000 stations. Two run lengths are subtracted, so that
# start-up does not count.
#   benches/scaling.sh [CONTEND]
# The smallest of seven runs counts, because other work on the machine can only add time; short and long runs alternate.
set -euo pipefail
cd "$(dirname "$0")/.."
contend=${1:-}
[ -n "$contend" ] || { cargo build --release --quiet; contend=target/release/contend; }
cpu() { local t; t=$( { TIMEFORMAT='%U %S'; time "$contend" run "$@" --no-results --quiet --jobs 1 >/dev/null 2>&1; } 2>&1 ); awk '{print $1+$2}' <<<"$t"; }
least() { sort -n | head -n 1; }
short=400 long=1200
printf '%-10s %22s\n' stations 'us per packet'
for n in 1 10 100 1000; do
  a=() b=()
  for _ in 1 2 3 4 5 6 7; do
    a+=("$(cpu experiments/benchmark/equal-load.toml --set duration=${short}s --set flow.0.count=$n --set flow.1.count=$n)")
    b+=("$(cpu experiments/benchmark/equal-load.toml --set duration=${long}s --set flow.0.count=$n --set flow.1.count=$n)")
  done
  # 10 Mb/s in packets of 1,500 B.
  awk -v n=$((2 * n)) -v a="$(printf '%s\n' "${a[@]}" | least)" -v b="$(printf '%s\n' "${b[@]}" | least)" -v s=$((long - short)) \
    'BEGIN { printf "%-10d %22.3f\n", n, (b - a) / (s * 10e6 / 12000) * 1e6 }'
done
