#!/usr/bin/env bash
# The README as a newcomer meets it: a Debian 12 with nothing but Rust, its commands typed as they are printed there,
# and then the checks. Needs root, a Debian (for debootstrap) and its network; leaves nothing behind.
#   ci/fresh.sh          the README's commands and all of ./ci.sh
#   ci/fresh.sh quick    the README's commands and ./ci.sh install
#   CONTEND_FRESH=DIR    keeps the machine in DIR, and takes the one that is there
set -euo pipefail

# What is there before the first command, and nothing else:
given=(
  gcc libc6-dev       # Rust's own installer asks for a linker and a C library
  git ca-certificates # with these the repository was cloned
)

step() { # name, command: says how long it took
  local name=$1 start=$SECONDS
  shift
  echo "fresh: $name"
  "$@" || { echo "fresh: FAILED after $((SECONDS - start)) s: $name" >&2; return 1; }
  echo "fresh: $((SECONDS - start)) s: $name"
}

# --- Inside the new machine: `given`, the README's commands, the checks.
inside() {
  umount -l /host && rmdir /host
  local line lines
  prepare() { apt-get update -qq && apt-get install -y -qq --no-install-recommends "${given[@]}" >/dev/null; }
  export DEBIAN_FRONTEND=noninteractive
  step "what a Rust machine has: ${given[*]}" prepare
  cat /root/certificates.crt >/etc/ssl/certs/ca-certificates.crt
  cd /root/contend
  mapfile -t lines < <(awk '/^```/ { if (on) exit; on = $0 == "```console" } on && sub(/^\$ /, "")' README.md)
  [ ${#lines[@]} -gt 0 ] || { echo "fresh: README.md has no commands" >&2; return 1; }
  for line in "${lines[@]}"; do
    step "$line" bash -c "$line"
  done
  if [ "$1" = quick ]; then
    step "./ci.sh install" env CI=true ./ci.sh install
  else
    step "./ci.sh" env CI=true ./ci.sh
  fi
}

# --- In namespaces of its own: what is mounted here and started here ends with this process.
enter() {
  local root=$1 form=$2 file
  mount --bind "$root" "$root"
  cd "$root"
  mkdir -p opt/rust root/.cargo host
  mount --bind "$(rustc --print sysroot)" opt/rust
  mount -o remount,bind,ro opt/rust
  mount -t proc proc proc
  mount --rbind /sys sys
  mount -t tmpfs -o mode=755 dev dev
  mkdir dev/pts dev/shm dev/net
  for file in null zero full random urandom tty net/tun; do
    [ ! -e "/dev/$file" ] || cp -a "/dev/$file" "dev/$file"
  done
  mount -t devpts -o newinstance,ptmxmode=0666,mode=620 devpts dev/pts
  mount -t tmpfs -o mode=1777 shm dev/shm
  ln -s pts/ptmx dev/ptmx
  ln -s /proc/self/fd dev/fd
  for file in 0:stdin 1:stdout 2:stderr; do ln -s "/proc/self/fd/${file%:*}" "dev/${file#*:}"; done
  # A machine's root, not a `chroot`: some calls of the kernel differ there.
  pivot_root . host
  cd /
  # Nothing of the caller's environment but proxies and pip's index: PATH and HOME are a newcomer's.
  local kept=() name
  for name in $(compgen -e); do
    case "$name" in
      *_proxy | *_PROXY | PIP_INDEX_URL | PIP_EXTRA_INDEX_URL | CARGO_BUILD_JOBS) kept+=("$name=${!name}") ;;
      # Wherever the host keeps its certificates, they are here:
      SSL_CERT_FILE | PIP_CERT | REQUESTS_CA_BUNDLE | CURL_CA_BUNDLE | GIT_SSL_CAINFO | CARGO_HTTP_CAINFO)
        kept+=("$name=/etc/ssl/certs/ca-certificates.crt") ;;
    esac
  done
  exec env -i "${kept[@]}" HOME=/root USER=root TERM=dumb \
    PATH=/opt/rust/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
    bash /root/fresh.sh --inside "$form"
}

# --- On the host: the machine's files.
debian() { # root
  local targets mirror
  # Of the mirrors that apt knows here, those of Debian 12; the usual one if there is none.
  targets=$(apt-get indextargets --format '$(REPO_URI) $(CODENAME) $(COMPONENT)' 'Created-By: Packages' |
    awk '$2 ~ /^bookworm(-updates|-security)?$/ && $3 == "main"')
  mirror=$(awk '$2 == "bookworm" { print $1; exit }' <<<"$targets")
  debootstrap --variant=minbase bookworm "$1" ${mirror:+"$mirror"} >"$1.log" 2>&1 || { tail "$1.log" >&2; return 1; }
  rm "$1.log"
  [ -z "$targets" ] || sed 's/^/deb /' <<<"$targets" >"$1/etc/apt/sources.list"
}
settings() { # root: network, certificates and caches as the host has them
  cp --remove-destination -L /etc/resolv.conf /etc/hosts "$1/etc/"
  { apt-config dump | grep -E '^Acquire::(https?|Check-|Retries)'; } >"$1/etc/apt/apt.conf.d/host" || true
  [ ! -e /etc/pip.conf ] || cp /etc/pip.conf "$1/etc/"
  mkdir -p "$1/usr/local/share/ca-certificates" "$1/root/.cargo/registry" "$1/etc/ssl/certs"
  # Those that are the host's own come into the machine as its own, so that they stay when packages renew the list.
  cp -r /usr/local/share/ca-certificates/. "$1/usr/local/share/ca-certificates/"
  cp -L /etc/ssl/certs/ca-certificates.crt "$1/root/certificates.crt"
  # What the host has downloaded is not downloaded again.
  local cargo="${CARGO_HOME:-$HOME/.cargo}" part
  for part in config.toml registry/cache registry/index; do
    [ ! -e "$cargo/$part" ] || cp -r "$cargo/$part" "$1/root/.cargo/$(dirname "$part")/"
  done
}
clone() { # root
  rm -rf "$1/root/contend"
  git clone --quiet --no-hardlinks . "$1/root/contend"
}

case "${1:-all}" in
  --inside) inside "$2"; exit ;;
  --enter)  enter "$2" "$3" ;;
  quick | all) ;;
  *) echo "ci/fresh.sh: there is no form '$1'; the first lines of this file name them" >&2; exit 2 ;;
esac
cd "$(dirname "$0")/.."
[ "$(id -u)" = 0 ] || { echo "ci/fresh.sh: only root can make a machine" >&2; exit 2; }
command -v debootstrap >/dev/null || { apt-get update -qq && apt-get install -y -qq debootstrap >/dev/null; }
root=${CONTEND_FRESH:-$(mktemp -d)}
mkdir -p "$root"
root=$(realpath "$root")
# Mounts are in another namespace, which has ended by then; this looks twice.
[ -n "${CONTEND_FRESH:-}" ] || trap 'rm -rf --one-file-system "$root" "$root.log"' EXIT
chmod 755 "$root"
[ -e "$root/etc/debian_version" ] || step "Debian 12" debian "$root"
step "settings of the host" settings "$root"
step "a clone of $(git rev-parse --short HEAD)" clone "$root"
cp "$0" "$root/root/fresh.sh" 2>/dev/null || cp ci/fresh.sh "$root/root/fresh.sh"
unshare --mount --pid --fork --kill-child bash ci/fresh.sh --enter "$root" "${1:-all}"
echo "fresh: all well"
