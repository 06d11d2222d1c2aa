#!/usr/bin/env bash
# All checks, each by name (none: all):
# ./ci.sh [install|fmt|layers|schema|lint|test|bpf|golden|python|pages|book|bench|all]
set -euo pipefail
cd "$(dirname "$0")"

install() { # what the checks need beside Rust: captures are read by tshark, report pages opened by Chromium
  local want=()
  command -v tshark >/dev/null || want+=(tshark)
  command -v chromium >/dev/null || want+=(chromium)
  python3 -c "import jsonschema" 2>/dev/null || want+=(python3-jsonschema)
  # For crates/contend-bpf: libelf and zlib to build, clang and libbpf's headers to compare the objects.
  [ -e /usr/include/libelf.h ] || want+=(libelf-dev)
  [ -e /usr/include/zlib.h ] || want+=(zlib1g-dev)
  [ -e /usr/include/bpf/bpf_helpers.h ] || want+=(libbpf-dev)
  command -v pkg-config >/dev/null || want+=(pkg-config)
  command -v make >/dev/null || want+=(make)
  python3 -c "import ensurepip" 2>/dev/null || want+=(python3-venv)
  command -v clang >/dev/null || want+=(clang)
  command -v llvm-objdump >/dev/null || want+=(llvm)
  [ ${#want[@]} -eq 0 ] && return 0
  if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "${want[@]}" >/dev/null
  else
    echo "ci.sh: ${want[*]} not found; the tests that need them will say so and pass over" >&2
  fi
}

# Everything but the debug golden is built once, with the profile `ci` and the features of the whole workspace: what one
# step has built the next one takes.
fmt() {
  # By file, because `cargo fmt` does not find the modules that `registry!` declares.
  git ls-files -z --cached --others --exclude-standard '*.rs' | xargs -0 rustfmt --edition 2024 --check
  python3 ci/widths.py
}
lint() {
  layers
  cargo clippy --workspace --all-targets --profile ci --quiet -- -D warnings
  RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --profile ci --quiet
}
layers() { python3 ci/layers.py; } # modules of a crate depend on each other in one direction
schema() { python3 ci/schema.py; } # the JSON schema of experiment files, against all of them
tests()  { cargo test --workspace --profile ci --quiet; }
# The kernel programs: tests with the feature, and whether the committed objects are what their text says.
bpf() {
  if [ -e /usr/include/libelf.h ] && command -v cc >/dev/null && command -v pkg-config >/dev/null; then
    cargo test --package contend-bpf --features bpf --profile ci --quiet
  else
    echo "SKIPPED: tests of contend-bpf: libelf, cc or pkg-config is missing" >&2
  fi
  if command -v llvm-objdump >/dev/null && clang --version 2>/dev/null | grep -q "version 14\."; then
    local made object name
    made=$(mktemp -d)
    crates/contend-bpf/build-objects.sh "$made"
    for object in "$made"/*.o; do
      name=$(basename "$object")
      diff <(llvm-objdump -dr "$object" | tail -n +3) \
        <(llvm-objdump -dr "crates/contend-bpf/objects/$name" | tail -n +3) >/dev/null || {
        echo "ci.sh: $name is not what its text says; run crates/contend-bpf/build-objects.sh" >&2
        return 1
      }
    done
    rm -r "$made"
  else
    echo "SKIPPED: comparison of the BPF objects: clang 14, which made them, is not here" >&2
  fi
}
# Some golden values in debug (`tests` checks all of them in release), and the papers' experiments and the cases of ns-2
# and ns-3 in their short form: every verdict as recorded.
golden() {
  # Libraries of others are not what is looked at: without optimisation they are there sooner.
  cargo test --package contend-lab --test golden --config 'profile.dev.package."*".opt-level=0' --quiet
  cargo test --workspace --profile ci --no-run --quiet
  local contend="${CARGO_TARGET_DIR:-target}/ci/contend"
  "$contend" reproduce --short --quiet --no-results
  "$contend" reproduce --short --quiet --no-results --papers experiments/validation
}
# The Python package: wheel and source distribution, the wheel in a fresh environment, and the tests.
python_package() {
  local target="${CARGO_TARGET_DIR:-target}"
  rm -rf "$target/python" "$target/wheels"
  python3 -m venv "$target/python"
  "$target/python/bin/pip" install --quiet --disable-pip-version-check "maturin>=1.10,<2"
  "$target/python/bin/maturin" build --quiet --profile ci --locked --out "$target/wheels"
  "$target/python/bin/maturin" sdist --out "$target/wheels" 2>&1 | tail -1
  "$target/python/bin/pip" install --quiet --disable-pip-version-check "$(echo "$target"/wheels/*.whl)[test]"
  # The tests run in folders of their own.
  CONTEND="$(realpath "$target")/ci/contend" "$target/python/bin/python" -m pytest --quiet
}
# Report pages of several shapes in Chromium: no error in the console, nothing cut off, no labels that overlap.
pages() {
  cargo build --workspace --profile ci --quiet
  python3 ci/pages.py "${CARGO_TARGET_DIR:-target}/ci/contend"
  python3 ci/live.py "${CARGO_TARGET_DIR:-target}/ci/contend"
  python3 ci/plots.py "${CARGO_TARGET_DIR:-target}/ci/contend" --check
}
book()   { python3 ci/book.py; } # the documents as a book, and whether its links and anchors lead somewhere
bench()  { cargo bench --workspace --profile ci --quiet -- --test; }

case "${1:-all}" in
  install) install ;;
  fmt)     fmt ;;
  layers)  layers ;;
  schema)  schema ;;
  lint)    lint ;;
  test)    tests ;;
  bpf)     bpf ;;
  golden)  golden ;;
  python)  python_package ;;
  pages)   pages ;;
  book)    book ;;
  bench)   bench ;;
  all)     install; fmt; schema; lint; tests; bpf; golden; python_package; pages; book; bench ;;
  *)
    echo "ci.sh: no check is called '$1'; the first lines of this file name them" >&2
    exit 2
    ;;
esac
