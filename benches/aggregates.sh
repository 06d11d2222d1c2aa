#!/usr/bin/env bash
# Twenty saturated stations of 802.11ax with aggregates: CPU time and instructions for each simulated second and each
# delivered packet. Two durations are run and subtracted; the smallest of five CPU times counts.
#   benches/aggregates.sh [PROGRAM]
set -euo pipefail
cd "$(dirname "$0")/.."
. benches/cpu.sh
program=${1:-target/dist/contend}
[ $# -gt 0 ] || cargo build --profile dist --quiet
call=(run experiments/benchmark/aggregates.toml --no-results --jobs 1)
time_of() { # DURATION
  for _ in 1 2 3 4 5; do cpu taskset -c 0 "$program" "${call[@]}" --quiet --set duration="$1"; done | least
}
instructions() { # DURATION
  valgrind --tool=callgrind --callgrind-out-file=/dev/null "$program" "${call[@]}" --quiet --set duration="$1" 2>&1 |
    awk '/Collected/ {print $4}'
}
packets=$("$program" "${call[@]}" --format json --set warmup=10s --set duration=60s |
  awk -F'[:,]' '/"goodput.total": [0-9]/ {printf "%.0f", $2 / 8 / 1472; exit}')
awk -v p="$packets" -v a="$(time_of 60s)" -v b="$(time_of 660s)" -v i="$(instructions 10s)" -v j="$(instructions 20s)" \
  'BEGIN {
    s = (b - a) / 600; n = (j - i) / 10
    printf "%.3f ms and %.1f million instructions for a simulated second\n", 1e3 * s, n / 1e6
    printf "%d packets in a simulated second: %.3f us and %.0f instructions for each\n", p, 1e6 * s / p, n / p
  }'
