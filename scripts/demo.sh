#!/bin/sh
# make demo: a small universe in build/demo: initial conditions of 64^3 by mpgrafic, a run on all
# cores, a picture.
#
#     scripts/demo.sh [DIR [ICS LEVEL]]
#
# DIR receives all files (default build/demo); files of an earlier demo are removed. ICS is a
# directory of GRAFIC files of LEVEL, used instead of those of mpgrafic.
set -eu

case ${1:-} in -*)
    echo 'usage: scripts/demo.sh [DIR [ICS LEVEL]]' >&2
    exit 2 ;;
esac
dir=${1:-build/demo}
ics=${2:+$(realpath "$2")}
level=${3:-6}
cd "$(dirname "$0")/.."
ranks=$(env -u OMP_NUM_THREADS nproc 2>/dev/null || echo 2)
[ "$ranks" -le 8 ] || ranks=8
if [ -e "$dir" ] && [ ! -e "$dir/demo.nml" ] && ! rmdir "$dir" 2>/dev/null; then
    echo "demo.sh: $dir has other files than those of a demo: give another directory" >&2
    exit 2
fi
rm -rf "$dir"
mkdir -p "$dir"
: >"$dir/demo.nml" # marks the directory as a demo's, even if this one fails

if [ -n "$ics" ]; then
    ln -s "$ics" "$dir/ics"
else
    scripts/make_ics.sh "$dir/ics" 64 50
fi

cat >"$dir/demo.nml" <<END
A box of 50 Mpc/h with gas and dark matter, refined where a cell has the mass of eight particles

&RUN_PARAMS
cosmo=.true.
pic=.true.
poisson=.true.
hydro=.true.
nremap=5
nsubcycle=1,1,2,2
/

&OUTPUT_PARAMS
noutput=3
aout=0.1,0.2,0.3
/

&INIT_PARAMS
filetype='grafic'
initfile(1)='ics'
aexp_ini=0.03
omega_b=0.049
/

&AMR_PARAMS
levelmin=$level
levelmax=$((level + 4))
nexpand=1
/

&HYDRO_PARAMS
gamma=1.6666667
courant_factor=0.8
slope_type=1
riemann='hllc'
pressure_fix=.true.
beta_fix=0.5
/

&REFINE_PARAMS
m_refine=10*8.
interpol_var=1
interpol_type=0
/
END

say() {
    printf '%s\n' "$*" >&2
}

# Value of NAME in the last line of the log with `NAME= VALUE`.
last_of() {
    grep -o "$1" "$dir/run.log" 2>/dev/null | tail -n 1 | sed 's/.*= *//' || true
}

# Shows the progress of a run whose log is not a terminal: its last coarse step, every second.
progress() {
    while kill -0 "$1" 2>/dev/null; do
        step=$(last_of 'Main step= *[0-9]*')
        a=$(last_of ' a= *[0-9.E+-]*')
        [ ! -t 2 ] || printf '\r  step %s, a = %s of 0.3 ' "${step:-0}" "${a:-…}" >&2
        sleep 1
    done
    [ ! -t 2 ] || printf '\r\033[K' >&2
}

say "demo: $((1 << level))^3 cells and particles on $ranks ranks, from a = 0.03 to 0.3"
say "      the log is $dir/run.log"
export OMP_NUM_THREADS=1
mpirun="mpirun --oversubscribe -n $ranks"
[ "$(id -u)" != 0 ] || mpirun="mpirun --allow-run-as-root --oversubscribe -n $ranks"
start=$(date +%s)
bin=$(realpath bin)
(cd "$dir" && exec $mpirun "$bin/simulate" demo.nml) >"$dir/checkpoints" 2>"$dir/run.log" &
run=$!
trap 'kill "$run" 2>/dev/null || true' INT TERM
progress "$run"
if ! wait "$run"; then
    tail -n 5 "$dir/run.log" >&2
    exit 1
fi
seconds=$(($(date +%s) - start))

last=$(tail -n 1 "$dir/checkpoints")
last=${last#./}
bin/inspect --force -u -m density -o "$dir/demo.png" "$dir/$last" >/dev/null
shallow="$mpirun $bin/simulate -o shallow demo.nml amr_params/levelmax=$((level + 2))"
cat <<END

Made in $seconds s: $dir/demo.png, the gas density projected through the box,
and $(wc -l <"$dir/checkpoints") checkpoints in $dir.
Next: bin/inspect $dir/$last                 what is in a checkpoint
      bin/simulate -p | less                 every parameter
      cd $dir && $shallow    the same, less deep
END
