# The beginning of the examples: root, the directory of the source code; work, where the example
# leaves its files; run, which starts a program on RANKS ranks.
root=$(cd "$(dirname "$0")/../.." && pwd)
work=${1:-$root/build/$(basename "$(dirname "$0")")}
ranks=${RANKS:-2}
export PATH="$root/bin:$PATH" OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
run() { if [ "$ranks" -gt 1 ]; then mpirun --oversubscribe -n "$ranks" "$@"; else "$@"; fi; }

mkdir -p "$work"
cd "$work"
