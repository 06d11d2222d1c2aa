#!/usr/bin/env bash
# Million successes per second per core of stations that only contend ([contention], rule dcf), by number of stations.
# CPU time of 20 million successes minus that of 2 million; the smallest of three runs counts.
#   benches/contention.sh [RULE]
set -euo pipefail
cd "$(dirname "$0")/.."
. benches/cpu.sh
rule=${1:-dcf}
cargo build --profile dist --quiet
file=$(mktemp --suffix .toml)
trap 'rm -f "$file"' EXIT
printf 'title = "speed"\n[contention]\nstations = 10\nrule = "%s"\n' "$rule" >"$file"
ours() { # STATIONS SUCCESSES
  for _ in 1 2 3; do
    cpu taskset -c 0 target/dist/contend run "$file" --no-results --quiet --jobs 1 \
      --set contention.stations="$1" --set contention.successes="$2"
  done | least
}
for n in 2 10 100 1000; do
  a=$(ours "$n" 2000000)
  b=$(ours "$n" 20000000)
  awk -v n="$n" -v a="$a" -v b="$b" 'BEGIN { printf "%d stations: %.0f million successes a second\n", n, 18 / (b - a) }'
done
