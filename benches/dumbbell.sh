#!/usr/bin/env bash
# CPU time of a lossy dumbbell for each simulated second (experiments/validation/ns2-d-newreno.toml, loss of 0.1 %).
# 20,000 simulated seconds minus 2,000, so that start-up does not count; the smallest of three runs counts.
#   benches/dumbbell.sh [NS2_SCRIPT]
# NS2_SCRIPT takes -p P -window N -t1 SECONDS and simulates the same network. Without it, or without `ns`, contend runs
# alone.
set -euo pipefail
cd "$(dirname "$0")/.."
. benches/cpu.sh
script=${1:-}
cargo build --profile dist --quiet
three() { for _ in 1 2 3; do cpu taskset -c 0 "$@"; done | least; }
ours() { # SECONDS
  three target/dist/contend run experiments/validation/ns2-d-newreno.toml --no-results --quiet --jobs 1 --seeds 1 \
    --set link.1.loss.p=0.1% --set duration="$1s"
}
slope() { awk -v a="$1" -v b="$2" 'BEGIN { printf "%.1f", (b - a) / 18000 * 1e6 }'; }
a=$(slope "$(ours 2000)" "$(ours 20000)")
echo "contend: $a us a simulated second"
if [ -n "$script" ] && command -v ns >/dev/null; then
  theirs() { three ns "$script" -p 0.001 -window 42 -t1 "$1"; }
  b=$(slope "$(theirs 2000)" "$(theirs 20000)")
  echo "ns-2:    $b us a simulated second, $(awk -v a="$a" -v b="$b" 'BEGIN { printf "%.1f", b / a }') times contend's"
fi
