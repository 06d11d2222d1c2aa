#!/usr/bin/env bash
# Compiles the BPF objects into a folder (default: objects/ beside this file).
# Needs clang, llvm-strip and libbpf's headers.
set -euo pipefail
cd "$(dirname "$0")"
out=$(realpath -m "${1:-objects}")
mkdir -p "$out"
cd c
# The objects name their text by its place in this folder, wherever that is.
flags=(-target bpf -mcpu=v3 -O2 -g -Wall -Werror -fdebug-compilation-dir=. -I "/usr/include/$(uname -m)-linux-gnu")

controller() { # name, further definitions
  local name=$1 full=contend_$1 # of which the kernel takes 15 letters
  shift
  clang "${flags[@]}" -DCC="$name" -DUPPER="${name^^}" -DNAMED="\"${full:0:15}\"" -DHEADER="\"cc/$name.h\"" "$@" \
    -c cc.bpf.c -o "$out/$name.bpf.o"
}
controller reno
controller jersey -DFLAGS=2 # TCP_CONG_NEEDS_ECN
controller tcp_d
controller tcp_av -DWITH_RATES
controller westwood
# And TCP_CONG_NEEDS_ACCECN, TCP_CONG_ECT_1_NEGOTIATION; with TCP_CONG_NON_RESTRICTED a network namespace can have it as
# the default of its listening sockets.
controller prague -DFLAGS=15 -DFULL_CONTROL
for source in ap/*.bpf.c; do
  [ -e "$source" ] || continue
  clang "${flags[@]}" -c "$source" -o "$out/$(basename "$source" .c).o"
done
# Debugging information goes; what loading needs (BTF) stays.
llvm-strip -g "$out"/*.o
