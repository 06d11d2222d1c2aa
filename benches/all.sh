#!/usr/bin/env bash
# All comparisons of this folder, one after the other, as Markdown with date and commit: the section "All at once" of
# docs/performance.md. On a machine with nothing else to do; half an hour with ns-2.
#   benches/all.sh [NS2_SCRIPTS]
# NS2_SCRIPTS is a folder with race.tcl, hops.tcl and dumbbell.tcl, as race.sh, hops.sh and dumbbell.sh describe them.
# Without it, or without `ns`, contend runs alone.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts=${1:-}
page=docs/performance.md
script() { if [ -n "$scripts" ] && [ -e "$scripts/$1.tcl" ]; then echo "$scripts/$1.tcl"; fi; }
section=$(
  echo "## All at once"
  echo
  ns2=no
  ! command -v ns >/dev/null || ns2=yes
  echo "\`benches/all.sh\`, $(date +%F), commit $(git rev-parse --short HEAD), $(nproc) cores, ns-2: $ns2."
  for name in race.sh dumbbell.sh hops.sh hearers.py aggregates.sh scaling.sh; do
    echo
    echo '```text'
    echo "benches/$name"
    case $name in
      race.sh | dumbbell.sh | hops.sh) ns2=$(script "${name%.sh}"); benches/"$name" ${ns2:+"$ns2"} ;;
      *) benches/"$name" ;;
    esac
    echo '```'
  done
)
# In the place of the section that is there, or at the end.
awk -v new="$section" '
  /^## / { skip = ($0 == "## All at once"); if (skip) { print new; print ""; put = 1 } }
  !skip { print; last = $0 }
  END { if (!put) { if (last != "") print ""; print new } }
' "$page" >"$page.new"
mv "$page.new" "$page"
echo "$page"
