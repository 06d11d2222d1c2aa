#!/usr/bin/env bash
# The checks of the project.
#   ./ci.sh                all of them; docs/performance.md says how long each takes
#   ./ci.sh STEP...        some of them: install fmt layers schema book lint python test bpf debug pages suites bench
#   ./ci.sh quick [BASE]   what the changes since the commit BASE touch; without BASE: what is not committed, or HEAD
#   ./ci.sh full           all of them, and what is too long for every change
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
  "bpftool     bpftool             " # the recipes of `contend deploy`
  "sysctl      procps              "
  "ping        iputils-ping        " # programs in the hosts of `contend emulate`
  "curl        curl                "
  "python3     python3             " # the scripts in ci/
  "jsonschema  python3-jsonschema  python3 -c 'import jsonschema'"
  "ensurepip   python3-venv        python3 -c 'import ensurepip'" # the Python package is tested in its own environment
  "tshark      tshark              " # reads captures
  "chromium    chromium            " # opens report pages
  "firefox     firefox-esr         command -v firefox || command -v firefox-esr" # opens pages of contend page
  "node        nodejs              " # asks the module of these pages
  # For crates/contend-bpf: libelf and zlib to build, clang and libbpf's headers to compare the objects.
  "libelf.h    libelf-dev          [ -e /usr/include/libelf.h ]"
  "zlib.h      zlib1g-dev          [ -e /usr/include/zlib.h ]"
  "bpf.h       libbpf-dev          [ -e /usr/include/bpf/bpf_helpers.h ]"
  "pkg-config  pkg-config          "
  "make        make                "
  "valgrind    valgrind            " # instruction counts
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

# What is built has the profile `release` and the features of the whole workspace: what one step has built the next one
# takes.
target="${CARGO_TARGET_DIR:-target}"

fmt() {
  # By file, because `cargo fmt` does not find the modules that `registry!` declares.
  git ls-files -z --cached --others --exclude-standard '*.rs' | xargs -0 rustfmt --edition 2024 --check
  python3 ci/widths.py
}
layers() { python3 ci/layers.py; } # modules of a crate depend on each other in one direction
schema() { python3 ci/schema.py; } # the JSON schema of experiment files, against all of them
book()   { python3 ci/book.py; } # the documents as a book, and whether its links and anchors lead somewhere
clippy() { cargo clippy --workspace --all-targets --profile "${1:-release}" --quiet -- -D warnings; }
lint() {
  layers
  python3 ci/metadata.py --check
  python3 ci/notices.py --check
  clippy
  RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --release --quiet
}
# What is built for use: with the features that tests add to libraries, so that it is not built once more for them.
built() { cargo build --workspace --release --lib --bins --tests --quiet; }
tests() { python3 ci/tests.py "$@"; } # all tests: golden values of every experiment, with its verdicts, are among them
# The kernel programs: tests with the feature, and whether the committed objects are what their text says.
bpf() {
  if have "tests of contend-bpf with the feature bpf" cc libelf.h zlib.h pkg-config make; then
    cargo test --package contend-bpf --features bpf --release --quiet
    if have "deployed programs under real TCP" ip tc sysctl python3; then deployed; fi
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
# Real TCP through every program that is deployed, and the kernel's controllers of contend beside the simulated ones.
deployed() {
  if [ "$(id -u)" != 0 ] || [ ! -e /sys/kernel/btf/vmlinux ]; then
    skip "root, or BTF in the kernel," "deployed programs under real TCP"
    return 0
  fi
  cargo build --package contend --features bpf --release --quiet
  python3 ci/deploy.py "$target/release/contend"
  cargo test --package contend --features bpf --release --quiet --test command -- the_kernel_and_the_simulator
}
# Debug and release builds give the same digests: those of the networks in which contend-sim tries every algorithm.
debug() {
  local digests
  digests=$(mktemp -d)
  for build in dev release; do
    # The features of the workspace, so that the release build is the one that is there.
    local only=(--package contend-sim)
    [ $build = dev ] || only=(--workspace)
    # Random networks are the same in both.
    PROPTEST_RNG_SEED=1 cargo test "${only[@]}" --profile $build --quiet --test suite \
      -- every_entry:: field:: --nocapture >"$digests/said" || { cat "$digests/said"; return 1; }
    grep -a -o 'digest [0-9a-f]\{16\}' "$digests/said" | sort >"$digests/$build"
  done
  [ "$(wc -l <"$digests/dev")" -gt 500 ] || { echo "ci.sh: only $(wc -l <"$digests/dev") digests" >&2; return 1; }
  diff "$digests/dev" "$digests/release" >"$digests/diff" || {
    echo "ci.sh: $(wc -l <"$digests/diff") lines of digests differ between debug and release" >&2
    return 1
  }
  echo "$(wc -l <"$digests/dev") digests of debug and release are the same"
  rm -r "$digests"
}
# The Python package as it stands in the workspace, in an environment of its own. `full` tests wheel and source
# distribution.
python_package() {
  local python
  built
  python=$(python_environment)
  rm -rf "$target/python-package"
  cp -r crates/contend-py/python "$target/python-package"
  cp "$target/release/lib_contend.so" "$target/python-package/contend/_contend.abi3.so"
  # The tests run in folders of their own.
  CONTEND="$(realpath "$target")/release/contend" PYTHONPATH="$(realpath "$target")/python-package" \
    "$python" -m pytest --quiet
}
# Prints the interpreter of an environment with what the tests of the package need.
python_environment() {
  local here="$target/python"
  [ -x "$here/bin/python" ] || python3 -m venv "$here"
  # shellcheck disable=SC2046
  "$here/bin/pip" install --quiet --disable-pip-version-check $(python3 -c "
import tomllib
print(*tomllib.load(open('pyproject.toml', 'rb'))['project']['optional-dependencies']['test'])")
  realpath -s "$here/bin/python"
}
wheel() {
  rm -rf "$target/wheels" "$target/python-wheel"
  python3 -m venv "$target/python-wheel"
  local bin="$target/python-wheel/bin"
  "$bin/pip" install --quiet --disable-pip-version-check "maturin>=1.10,<2"
  "$bin/maturin" build --quiet --release --locked --out "$target/wheels"
  "$bin/maturin" sdist --out "$target/wheels" 2>&1 | tail -1
  # The wheel is built from the source distribution once more, as pip does where there is no wheel.
  "$bin/pip" install --quiet --disable-pip-version-check "$(echo "$target"/wheels/*.tar.gz)"
  "$bin/pip" install --quiet --disable-pip-version-check --force-reinstall "$(echo "$target"/wheels/*.whl)[test]"
  built
  CONTEND="$(realpath "$target")/release/contend" "$bin/python" -m pytest --quiet
}
# Report pages of several shapes in Chromium: no error in the console, nothing cut off, no labels that overlap. The live
# page, and pages of `contend page` in Chromium and Firefox; digests of their module; the links of the book to them.
pages() {
  built
  python3 ci/pages.py "$target/release/contend"
  python3 ci/live.py "$target/release/contend"
  python3 ci/plots.py "$target/release/contend" --check
  python3 ci/module.py "$target/release/contend"
  python3 ci/page.py "$target/release/contend"
  [ ! -e target/book ] || python3 ci/play.py "$target/release/contend"
}
# The module of pages: is it what its text says, and are its runs those of the command? The bytes are compared where the
# compiler is the one that made it.
web() {
  local made
  made=$(mktemp)
  crates/contend-web/build.sh "$made"
  if [ -e "$target/web/tools/done" ]; then
    cmp <(zcat "$made") <(zcat crates/contend-page/module/contend_web.wasm.gz) || {
      echo "ci.sh: the module of pages is not what its text says; run crates/contend-web/build.sh" >&2
      return 1
    }
  fi
  python3 ci/module.py "$target/release/contend" --all --module "$made"
  rm "$made"
}
# The suites of `contend evaluate` with subjects that pass and that fail.
suites() {
  built
  python3 ci/evaluate.py "$target/release/contend" "$@"
}
# Every benchmark once; and instructions of seven networks, whose changes are printed and are no failure.
bench() {
  cargo bench --workspace --profile release --quiet -- --test
  if have "instruction counts" valgrind; then python3 benches/instructions.py --program "$target/release/contend"; fi
}

# The changes since a commit: format and layers; clippy and tests of the crates that they touch and of those that depend
# on them, with a sample of the long ones; for documents and experiments, what reads them. The profile `quick` compiles
# only what was changed.
quick() {
  local base="${1:-}" changed crates=()
  if [ -z "$base" ]; then
    base=HEAD
    [ -n "$(git status --porcelain)" ] || base=HEAD~1
  fi
  changed=$(git diff --name-only "$base"; git ls-files --others --exclude-standard)
  mapfile -t crates < <(grep -o '^crates/[^/]*' <<<"$changed" | cut -d/ -f2 | sort -u)
  echo "quick: since $base: ${crates[*]:-no crate} and $(grep -vc '^crates/' <<<"$changed" || true) other files"
  step fmt
  grep -qE '\.md$' <<<"$changed" && step book
  grep -qE '^(docs/reference|experiments|papers|suites)/' <<<"$changed" && step schema
  # Tests read vectors, experiments and documents.
  if grep -qE '^(Cargo|vectors/|\.cargo)' <<<"$changed"; then
    crates=(contend-core contend-theory)
  elif grep -qE '^(experiments|papers|suites)/.*\.toml$' <<<"$changed"; then
    crates+=(contend-lab)
  elif [ ${#crates[@]} -eq 0 ] && grep -qE '\.md$' <<<"$changed"; then
    crates=(contend)
  fi
  [ ${#crates[@]} -gt 0 ] || return 0
  step layers
  step clippy quick
  CONTEND_SAMPLE=${CONTEND_SAMPLE:-16} CONTEND_CHANGED=$changed step test --profile quick "${crates[@]}"
}

# Too long for every change: papers in the short form, wheel and source distribution, fuzzing, a soak, every example
# emulated, mutation tests.
full() {
  everything
  step deny
  step wheel
  step notebooks
  step verdicts
  step plots
  step suites --full
  step web
  step fuzz
  step soak
  step emulated
  step mutants
}
# Licences, sources and versions of the libraries (deny.toml), and what is known against them, where the database can be
# had.
deny() {
  local deny="$target/tools/bin/cargo-deny"
  [ -x "$deny" ] || cargo install --quiet --locked cargo-deny --root "$target/tools"
  "$deny" --log-level error check licenses bans sources
  "$deny" --log-level error check advisories ||
    echo "deny: the database of advisories could not be had, or has found something"
}
# The notebooks of the documents, with the package of this state.
notebooks() {
  local python
  python=$(python_environment)
  "$python" -m pip install --quiet --disable-pip-version-check nbclient nbformat ipykernel
  PYTHONPATH="$(realpath "$target")/python-package" "$python" ci/notebooks.py --check
}
verdicts() {
  "$target/release/contend" reproduce --short --quiet --no-results
  "$target/release/contend" reproduce --short --quiet --no-results --papers experiments/validation
}
plots() { python3 ci/plots.py "$target/release/contend" --try; }
soak()  { timeout 900 python3 ci/soak.py "$target/release/contend" 600; }
# Every example emulated and simulated: the table of docs/emulate.md.
emulated() { timeout 1800 python3 ci/emulated.py "$target/release/contend" 20; }
# Experiments with random faults, read and run: a million instead of the few of each change. The fuzz targets too, where
# cargo-fuzz is (fuzz/README.md).
fuzz() {
  CONTEND_FUZZ_CASES=${CONTEND_FUZZ_CASES:-1000000} cargo test --workspace --release --quiet --test suite run_fuzz
  if ! cargo fuzz --version >/dev/null 2>&1; then
    skip cargo-fuzz "the fuzz targets"
    return 0
  fi
  fuzz/seed.sh
  local name
  for name in experiment metric capture packets run; do
    cargo fuzz run "$name" -- -max_len=20000 -max_total_time="${FUZZ_SECONDS:-300}"
  done
}
# Faults put into algorithms and closed forms one by one: how many do the tests find? A sample of one in MUTANTS.
mutants() {
  if ! cargo mutants --version >/dev/null 2>&1; then
    skip cargo-mutants "mutation tests"
    return 0
  fi
  # The profile whose tests take seconds; beside other work they may take minutes.
  cargo mutants --package contend-core --package contend-theory --output "$target" --profile quick \
    --shard "1/${MUTANTS:-40}" --baseline skip --timeout 600 --cap-lints true \
    --file 'crates/contend-core/src/{cc,qdisc,ap,estimate}/**' --file 'crates/contend-theory/src/**' || [ $? = 2 ]
}

# What each step took.
spent=()
scratch=$(mktemp)
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
  if [ ${#spent[@]} -gt 0 ]; then
    read_cpu
    printf '%s\n' "== time" "${spent[@]}" "$(printf '%-8s %5d s %6d s of CPU' sum "$SECONDS" "$cpu")"
  fi
  rm -f "$scratch"
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

# Runs a step and keeps its time: wall, and CPU time of all its processes.
step() {
  local name=$1 began=$SECONDS before
  shift
  echo "== $name"
  read_cpu
  before=$cpu
  "$(function_of "$name")" "$@"
  read_cpu
  spent+=("$(printf '%-8s %5d s %6d s of CPU' "$name" $((SECONDS - began)) $((cpu - before)))")
}
steps() { for name in "$@"; do step "$name"; done; }
# Names of steps that the shell or Python has itself.
function_of() {
  case "$1" in
    test) echo tests ;;
    python) echo python_package ;;
    *) echo "$1" ;;
  esac
}
# Sets `cpu` to the CPU time of this shell's children so far, in seconds. (In a pipe it would be that of another shell.)
read_cpu() {
  times >"$scratch"
  cpu=$(awk 'NR == 2 { gsub(/[ms]/, " "); print int($1 * 60 + $2 + $3 * 60 + $4) }' "$scratch")
}

all=(install fmt schema book lint python test bpf debug pages suites bench)
# All of them. Python and a browser keep one core busy at most: they run beside the tests that compute.
everything() {
  steps install fmt schema book lint
  # The tests take pyarrow from it.
  python_environment >/dev/null
  step test --beside python pages
  steps bpf debug suites bench
}
case "${1:-all}" in
  all) everything ;;
  quick) quick "${2:-}" ;;
  full) full ;;
  *)
    for name in "$@"; do
      case " ${all[*]} layers clippy wheel verdicts plots web fuzz soak emulated mutants " in
        *" $name "*) ;;
        *)
          echo "ci.sh: no check is called '$name'; the first lines of this file name them" >&2
          exit 2
          ;;
      esac
    done
    steps "$@"
    ;;
esac
