#!/usr/bin/env bash
# Instructions of the whole program per simulated second and per delivered packet, counted by valgrind. They are the
# same on every machine, whatever its load. Two durations are run and subtracted, so that start-up does not count.
set -euo pipefail
cd "$(dirname "$0")/.."
cargo build --profile dist --quiet
count() { # FILE COUNT DURATION
  valgrind --tool=callgrind --callgrind-out-file=/dev/null target/dist/contend run "$1" --no-results --quiet \
    --jobs 1 --set flow.0.count="$2" --set flow.1.count="$2" --set duration="$3" 2>&1 | awk '/Collected/ {print $4}'
}
packets() { # FILE COUNT DURATION: data packets delivered
  target/dist/contend run "$1" --no-results --jobs 1 --format json --set warmup=10s \
    --set flow.0.count="$2" --set flow.1.count="$2" --set duration="$3" |
    awk -F'[:,]' -v t="$3" '/"goodput.total"/ {sub("s", "", t); printf "%.0f", $2 * (t - 10) / 8 / 1460; exit}'
}
printf '%-32s %9s %16s %12s %18s\n' network stations 'instr./sim. s' 'packets/s' 'instr./packet'
for file in experiments/benchmark/race.toml experiments/benchmark/equal-load.toml; do
  for k in 1 10 100 1000; do
    a=$(count $file $k 15s); b=$(count $file $k 25s); p=$(packets $file $k 25s)
    awk -v f="$(basename "$file" .toml)" -v n=$((2 * k)) -v i="$(((b - a) / 10))" -v p="$p" \
      'BEGIN { printf "%-32s %9d %16.0f %12.0f %18.0f\n", f, n, i, p / 15, i / (p / 15) }'
  done
done
