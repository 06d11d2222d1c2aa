#!/usr/bin/env bash
# Builds contend for browsers: crates/contend-page/module/contend_web.wasm.gz, or the file that is given.
#
#   crates/contend-web/build.sh [FILE]
#
# With the same compiler, builds in any two folders are equal to the last bit: `compiler` names the one of the committed
# module. Debian 12 has it, with the standard library's source; its packages are unpacked below target/, and
# nothing is installed. Elsewhere the compiler of rustup is taken, which needs its target: rustup target add
# wasm32-unknown-unknown. Then the module may differ, but not in any digest.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
out=$(realpath -m "${1:-$root/crates/contend-page/module/contend_web.wasm.gz}")
compiler=1.96.0+dfsg1-1~deb12u2
linker=1:22.1.8-1~deb12u1
cd "$root"

target=$(realpath -m "${CARGO_TARGET_DIR:-target}")/web
tools=$target/tools
packages=(rustc-web=$compiler rust-web-src=$compiler libstd-rust-web-dev=$compiler libstd-rust-web-1.96=$compiler
  rust-web-llvm=$compiler lld-22=$linker liblld-22=$linker libllvm22=$linker)
if [ ! -e "$tools/done" ] && command -v apt-get >/dev/null; then
  rm -rf "$tools"
  mkdir -p "$tools/packages"
  if (cd "$tools/packages" && apt-get download -q "${packages[@]}" >/dev/null 2>"$tools/said"); then
    for package in "$tools"/packages/*.deb; do dpkg-deb -x "$package" "$tools"; done
    touch "$tools/done"
  else
    tail -1 "$tools/said" >&2
  fi
  rm -rf "$tools/packages"
fi

cargo=${CARGO_HOME:-$HOME/.cargo}
flags=(-Clink-arg=--max-memory=1073741824 "--remap-path-prefix=$root=contend" "--remap-path-prefix=$cargo=cargo"
  "--remap-path-prefix=$target=target")
build=(cargo build --quiet --locked --profile web --target wasm32-unknown-unknown --package contend-web)
if [ -e "$tools/done" ]; then
  export LD_LIBRARY_PATH=$tools/usr/lib/x86_64-linux-gnu RUSTC=$tools/usr/bin/rustc RUSTC_BOOTSTRAP=1
  export CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER=$tools/usr/bin/wasm-ld-22
  # Cargo writes paths inside of the workspace without its own.
  flags+=("--remap-path-prefix=$tools/usr/lib/rustlib/src/rust=rust")
  flags+=("--remap-path-prefix=${tools#"$root"/}/usr/lib/rustlib/src/rust=rust")
  build+=(-Zbuild-std=std,panic_abort)
elif ! rustup target list --installed 2>/dev/null | grep -qx wasm32-unknown-unknown; then
  echo "build.sh: no compiler for browsers: run 'rustup target add wasm32-unknown-unknown'" >&2
  exit 2
fi
# A library of tables draws a constant for its hashes when it is compiled.
export CONST_RANDOM_SEED=contend
# No flag has the separator in it; paths may have spaces.
CARGO_ENCODED_RUSTFLAGS=$(printf '%s\x1f' "${flags[@]}" | sed 's/\x1f$//') CARGO_TARGET_DIR=$target "${build[@]}"
mkdir -p "$(dirname "$out")"
gzip -9n <"$target/wasm32-unknown-unknown/web/contend_web.wasm" >"$out"
echo "$out: $(stat -c %s "$out") bytes, made by $("${RUSTC:-rustc}" --version)"
