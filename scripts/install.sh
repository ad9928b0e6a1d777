#!/bin/sh
# Installs what Ptah needs. Does nothing, quickly, where all is there.
#
#     scripts/install.sh build|demo|check
#
# build: to compile.  demo: also mpgrafic, which makes initial conditions.  check: also the tools
# and readers that the tests use (a Python environment in build/venv, from tests/requirements.txt).
# Debian and Ubuntu: by apt, with sudo if not root. It asks before it installs, unless CI=true or
# there is no terminal. Other systems: says what is missing.
set -eu
cd "$(dirname "$0")/.."

build='gcc libc6-dev make pkg-config libopenmpi-dev openmpi-bin libhdf5-openmpi-dev libfftw3-dev
    libgsl-dev zlib1g-dev libpng-dev libcairo2-dev'
demo='mpgrafic'
check='git python3 python3-venv g++ universal-ctags groff-base valgrind xz-utils less clang
    libomp-dev slurm-wlm munge'

say() {
    printf '%s\n' "$*" >&2
}

as_root() {
    if [ "$(id -u)" = 0 ]; then
        "$@"
    elif command -v sudo >/dev/null; then
        sudo "$@"
    else
        say "install: root is needed for: $*"
        exit 2
    fi
}

# Package names among $* that are not installed.
missing_packages() {
    for p in "$@"; do
        case $(dpkg-query -W -f '${Status}' "$p" 2>/dev/null || true) in
        *' installed') ;;
        *) printf '%s ' "$p" ;;
        esac
    done
}

confirm() {
    [ "${CI:-}" = true ] && return
    [ -t 0 ] || return 0
    printf 'Install %s? [Y/n] ' "$1" >&2
    read -r answer
    case $answer in
    '' | [yY]*) ;;
    *) exit 2 ;;
    esac
}

install_debian() {
    missing=$(missing_packages "$@")
    [ -n "$missing" ] || return 0
    confirm "$missing(apt)"
    say "install: $missing"
    apt="env DEBIAN_FRONTEND=noninteractive apt-get"
    # shellcheck disable=SC2086
    as_root $apt update -q >&2
    # shellcheck disable=SC2086
    as_root $apt install -y -q --no-install-recommends $missing >&2
}

# Without apt: look for the things themselves, and name what is not there.
check_other() {
    lost=''
    for tool in mpicc mpirun make pkg-config; do
        command -v $tool >/dev/null || lost="$lost $tool"
    done
    if command -v pkg-config >/dev/null; then
        for library in gsl fftw3 zlib libpng cairo; do
            pkg-config --exists $library || lost="$lost $library"
        done
    fi
    case $1 in
    demo) command -v mpgrafic >/dev/null || lost="$lost mpgrafic" ;;
    check)
        for tool in python3 ctags groff valgrind xz less; do
            command -v $tool >/dev/null || lost="$lost $tool"
        done
        ;;
    esac
    [ -n "$lost" ] || return 0
    say "install: this system has no apt; please install, with its headers:$lost"
    say "  to build:       a C17 compiler, GNU make, pkg-config, an MPI (Open MPI), FFTW 3, GSL,"
    say "                  zlib, libpng, cairo"
    say "  for make demo:  mpgrafic (https://bitbucket.org/broukema/mpgrafic)"
    say "  for make check: Python 3.11 or later with venv, g++, universal-ctags, groff, valgrind,"
    say "                  xz, less"
    exit 2
}

# The Python environment is remade when its list or the interpreter changes.
make_venv() {
    stamp="$(python3 --version 2>&1) $(cksum <tests/requirements.txt)"
    [ "$(cat build/venv/stamp 2>/dev/null || true)" = "$stamp" ] && return
    say 'install: build/venv (Python packages, about 900 MB)'
    rm -rf build/venv
    mkdir -p build
    python3 -m venv build/venv
    build/venv/bin/pip install -q --no-input --disable-pip-version-check --prefer-binary \
        -r tests/requirements.txt >&2
    printf '%s\n' "$stamp" >build/venv/stamp
}

main() {
    case ${1:-} in
    build) packages=$build ;;
    demo) packages="$build $demo" ;;
    check) packages="$build $check" ;;
    *)
        say 'usage: scripts/install.sh build|demo|check'
        exit 2
        ;;
    esac
    if command -v apt-get >/dev/null; then
        # shellcheck disable=SC2086
        install_debian $packages
    else
        check_other "$1"
    fi
    if [ "$1" = check ]; then make_venv; fi
}

main "$@"
