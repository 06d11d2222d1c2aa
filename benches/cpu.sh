# Sourced by the benchmarks of this folder.

# CPU seconds, user and system, of a command.
cpu() {
  local TIMEFORMAT='%U %S' t
  t=$({ time "$@" >/dev/null 2>&1; } 2>&1)
  awk '{print $1 + $2}' <<<"$t"
}

# The least of the numbers on standard input: other work on the machine can only add time.
least() { sort -n | head -n 1; }
