#!/usr/bin/env bash
# Fills fuzz/corpus with every experiment file of the repository and every metric in them.
set -euo pipefail
cd "$(dirname "$0")"
mkdir -p corpus/experiment corpus/metric
find ../experiments ../papers -name '*.toml' | while read -r file; do
  name="${file#../}"
  cp "$file" "corpus/experiment/${name//\//-}"
done
# metric = "...", until = "..." and the expressions of y = ["...", "..."]
quoted='s/^[^"]*"//; s/"[^"]*$//; s/",[[:space:]]*"/\n/g; p'
find ../experiments ../papers -name '*.toml' -exec sed -nE \
  's/^(metric|until)[[:space:]]*=[[:space:]]*"(.*)"[[:space:]]*$/\2/p; /^y[[:space:]]*=/{'"$quoted"'}' {} + |
  sort -u | while read -r metric; do
  printf '%s' "$metric" >"corpus/metric/$(printf '%s' "$metric" | sha1sum | cut -c1-16)"
done
echo "$(find corpus/experiment -type f | wc -l) files, $(find corpus/metric -type f | wc -l) metrics"
