#!/bin/sh
# Installs the packages that Ptah needs; does nothing, quickly, if all are installed.
#
#     scripts/install.sh build|demo|check
#
# build: to compile.  demo: also mpgrafic, which makes initial conditions.  check: also the tools
# and readers that the tests use (a Python environment in build/venv, from tests/requirements.txt).
# Debian and Ubuntu: by apt, with sudo if not root. When interactive the script asks before it
# installs, unless CI=true; the answer no ends it with status 3. On other systems, and without root
# and sudo, nothing is installed: tools that the compiler finds, e.g. through modules, suffice. If
# something is missing, the script names it, and the command for the administrator.
set -eu
cd "$(dirname "$0")/.."

build='gcc libc6-dev make pkg-config libopenmpi-dev openmpi-bin libhdf5-openmpi-dev libfftw3-dev
    libgsl-dev zlib1g-dev libpng-dev libcairo2-dev libdeflate-dev
    libchealpix-dev'
demo='mpgrafic'
check='git python3 python3-venv g++ universal-ctags groff-base valgrind xz-utils less clang
    mandoc python3-markdown libomp-dev slurm-wlm munge gfortran'

say() {
    printf '%s\n' "$*" >&2
}

as_root() {
    if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi
}

can_install() {
    command -v apt-get >/dev/null && { [ "$(id -u)" = 0 ] || command -v sudo >/dev/null; }
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
    *)
        say 'install: nothing is installed, and nothing is built; these packages are needed'
        exit 3
        ;;
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

# Whether the compiler finds a header and the linker a library; pkg-config may know their paths.
finds() {
    flags=$(pkg-config --cflags --libs "$3" 2>/dev/null || true)
    printf '#include <%s>\nint main(void) { return 0; }\n' "$1" |
        ${CC:-mpicc} -x c - -o /dev/null -l"$2" $flags >/dev/null 2>&1
}

# Command that installs all packages with the package manager of this system.
administrator() {
    other='gcc make pkgconf-pkg-config openmpi-devel hdf5-openmpi-devel fftw-devel gsl-devel
        zlib-devel libpng-devel cairo-devel libdeflate-devel'
    # shellcheck disable=SC2086
    if command -v apt-get >/dev/null; then
        say '  apt-get install --no-install-recommends' $packages
    elif command -v dnf >/dev/null; then
        say '  dnf install' $other
    elif command -v zypper >/dev/null; then
        say '  zypper install' $other
    else
        say '  the packages of' $packages
    fi
}

# Looks for programs and libraries when nothing can be installed, and names the missing ones.
look() {
    lost=''
    for tool in mpicc mpirun make; do
        command -v $tool >/dev/null || lost="$lost, $tool"
    done
    while read -r header library package name; do
        finds "$header" "$library" "$package" || lost="$lost, $name"
    done <<END
gsl/gsl_math.h gsl gsl GSL
fftw3.h fftw3 fftw3 FFTW 3
zlib.h z zlib zlib
png.h png libpng libpng
END
    case $1 in
    demo) command -v mpgrafic >/dev/null || lost="$lost, mpgrafic" ;;
    check)
        for tool in python3 ctags groff valgrind xz less; do
            command -v $tool >/dev/null || lost="$lost, $tool"
        done
        ;;
    esac
    for optional in 'hdf5.h hdf5 hdf5 HDF5' 'cairo.h cairo cairo cairo' \
        'libdeflate.h deflate libdeflate libdeflate' \
        'chealpix.h chealpix chealpix HEALPix'; do
        # shellcheck disable=SC2086
        set -- "$1" $optional
        finds "$2" "$3" "$4" || say "install: without $5, which was not found"
    done
    [ -n "$lost" ] || return 0
    say "install: these are missing, or their headers: ${lost#, }"
    say 'On a cluster they are often modules (module avail; module load gcc openmpi gsl fftw hdf5).'
    say 'For what lies elsewhere set CPATH and LIBRARY_PATH. The administrator installs all by'
    administrator
    exit 2
}

# Makes the Python environment again when the list of packages or the interpreter changes.
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
    if can_install; then
        # shellcheck disable=SC2086
        install_debian $packages
    else
        look "$1"
    fi
    if [ "$1" = check ]; then make_venv; fi
}

main "$@"
