# The beginning of the examples: root, the directory of the source code; work, where the example
# leaves its files; run, which starts a program on RANKS ranks; simulate_namelist.
root=$(cd "$(dirname "$0")/../.." && pwd)
work=${1:-$root/build/$(basename "$(dirname "$0")")}
ranks=${RANKS:-2}
export PATH="$root/bin:$PATH" OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
run() { if [ "$ranks" -gt 1 ]; then mpirun --oversubscribe -n "$ranks" "$@"; else "$@"; fi; }

# Runs a namelist with SETTINGS; leaves the path of the last checkpoint in `last`.
simulate_namelist() {
    # shellcheck disable=SC2086
    run simulate --force "$1" $SETTINGS >checkpoints 2>run.log || {
        tail -n 5 run.log
        exit 1
    }
    last=$(tail -n 1 checkpoints)
}

mkdir -p "$work"
cd "$work"
