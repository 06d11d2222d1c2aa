#!/usr/bin/env bash
# All checks, each by name (none: all):
# ./ci.sh [install|fmt|layers|schema|lint|test|bpf|golden|python|pages|book|bench|all]
set -euo pipefail
cd "$(dirname "$0")"

# What the checks need beside Rust: name, Debian package, and how to see that it is there unless it is a program of that
# name. A check that is skipped for lack of something names it with the same word (ci/needs.rs).
needs=(
  "cc          gcc                 " # Rust links with it; crates/contend-bpf compares its C text on the host
  "stdio.h     libc6-dev           [ -e /usr/include/stdio.h ]"
  "git         git                 " # fmt and book ask it for the files
  "bash        bash                " # pipes and the commands of the documents
  "getent      libc-bin            " # names of hosts in `contend emulate`
  "unshare     util-linux          " # namespaces
  "chrt        util-linux          "
  "mount       mount               " # a full disk
  "ip          iproute2            " # networks between namespaces
  "tc          iproute2            "
  "sysctl      procps              "
  "ping        iputils-ping        " # programs in the hosts of `contend emulate`
  "curl        curl                "
  "python3     python3             " # the scripts in ci/
  "jsonschema  python3-jsonschema  python3 -c 'import jsonschema'"
  "ensurepip   python3-venv        python3 -c 'import ensurepip'" # the Python package is tested in its own environment
  "tshark      tshark              " # reads captures
  "chromium    chromium            " # opens report pages
  # For crates/contend-bpf: libelf and zlib to build, clang and libbpf's headers to compare the objects.
  "libelf.h    libelf-dev          [ -e /usr/include/libelf.h ]"
  "zlib.h      zlib1g-dev          [ -e /usr/include/zlib.h ]"
  "bpf.h       libbpf-dev          [ -e /usr/include/bpf/bpf_helpers.h ]"
  "pkg-config  pkg-config          "
  "make        make                "
  "clang       clang               "
  "llvm-objdump llvm               "
)
install() {
  local name package probe want=()
  for need in "${needs[@]}"; do
    read -r name package probe <<<"$need"
    # Debian's users have no sbin in their PATH, where tc and sysctl are.
    (PATH="$PATH:/usr/sbin:/sbin"; eval "${probe:-command -v $name}") >/dev/null 2>&1 || want+=("$package")
  done
  [ ${#want[@]} -eq 0 ] && return 0
  if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    # Without what the packages only recommend: it is twice as much.
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${want[@]}" >/dev/null
  else
    echo "ci.sh: not found: ${want[*]} (Debian's packages); the checks that need them are skipped" >&2
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
  if have "tests of contend-bpf with the feature bpf" cc libelf.h zlib.h pkg-config make; then
    cargo test --package contend-bpf --features bpf --profile ci --quiet
  fi
  local compared="the BPF objects against their text"
  if ! have "$compared" clang llvm-objdump bpf.h; then
    :
  elif clang --version | grep -q "version 14\."; then
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
    skip "clang 14, which made them," "$compared"
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

# Checks that are skipped, by all steps: lines of what is missing, a tab, and what is not checked.
own_list=
[ -n "${CONTEND_SKIPPED:-}" ] || own_list=$(mktemp)
export CONTEND_SKIPPED="${CONTEND_SKIPPED:-$own_list}"
skip() { # need, check
  echo "SKIPPED: $2: $1 is missing" >&2
  printf '%s\t%s\n' "$1" "$2" >>"$CONTEND_SKIPPED"
}
have() { # check, names of the table: true if all of them are there
  local check=$1 need name probe ok=0
  shift
  for need in "${needs[@]}"; do
    read -r name _ probe <<<"$need"
    [[ " $* " == *" $name "* ]] || continue
    eval "${probe:-command -v $name}" >/dev/null 2>&1 || { skip "$name" "$check"; ok=1; }
  done
  return $ok
}
# At the end, after a failure too: what was skipped, each once. In CI nothing may be skipped that a package brings.
report() {
  local status=$? name package missing=()
  if [ -s "$CONTEND_SKIPPED" ]; then
    echo "ci.sh: skipped, for lack of:" >&2
    sort -u "$CONTEND_SKIPPED" | sed 's/\t/: /; s/^/  /' >&2
    for need in "${needs[@]}"; do
      read -r name package _ <<<"$need"
      ! cut -f 1 "$CONTEND_SKIPPED" | grep -qxF "$name" || missing+=("$name ($package)")
    done
  fi
  [ -z "$own_list" ] || rm -f "$own_list"
  if [ "${CI:-}" = true ] && [ ${#missing[@]} -gt 0 ]; then
    echo "ci.sh: Debian has what these checks need: ${missing[*]}; ./ci.sh install brings it" >&2
    [ "$status" != 0 ] || status=1
  fi
  exit "$status"
}
trap report EXIT

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
