#!/bin/sh
# Makes GRAFIC2 initial conditions with Debian's mpgrafic: gas and dark matter, Planck 2018's
# parameters.
#
#     scripts/make_ics.sh DIR [N [BOX [SEED]]]
#
# DIR receives ic_deltab, ic_velb[xyz], ic_velc[xyz] of N^3 cells (64) in BOX Mpc/h (50). mpgrafic
# starts them at the expansion factor at which the rms density contrast of a cell is 0.2; aexp_ini
# in the namelist takes them back to an earlier time.
#
# mpgrafic displaces ic_velc by half a cell from ic_velb. RAMSES and Ptah take both at cell centres,
# so dark matter gets the velocities of the gas here; with the files of mpgrafic dark matter would
# start half a cell away from the gas.
set -eu

case ${1:--} in -*)
    echo 'usage: scripts/make_ics.sh DIR [N [BOX [SEED]]]' >&2
    exit 2 ;;
esac
dir=$1
n=${2:-64}
box=${3:-50}
seed=${4:-20181231}

mkdir -p "$dir"
cd "$dir"
command -v mpgrafic >/dev/null || {
    echo 'make_ics.sh: mpgrafic is not installed (scripts/install.sh demo)' >&2
    exit 2
}

# Answers to the questions of mpgrafic, in order: transfer function of Eisenstein & Hu; Omega_m,
# Omega_v, H0; Omega_b; n_s; -sigma_8; no power spectrum to disk; -box in Mpc/h; no refinement;
# final output; four times "as it is"; new noise; seed; noise file; no padding.
cat >mpgrafic.in <<END
4
0.3111,0.6889,67.66
0.0490
0.9665
-0.8102
0,0
-$box
1
0




1
$seed
white.dat
0
none
END
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
if ! mpirun -n 1 mpgrafic --np="$n" <mpgrafic.in >mpgrafic.log 2>&1; then
    tail -n 5 mpgrafic.log >&2
    exit 2
fi

# Each file: a header record of 44 bytes, then N records of N*N floats, with 4-byte markers.
bytes=$((52 + n * (n * n * 4 + 8)))
for f in ic_deltab ic_velbx ic_velby ic_velbz ic_velcx ic_velcy ic_velcz; do
    have=$(wc -c 2>/dev/null <"$f" || echo 0)
    if [ "$have" -ne "$bytes" ]; then
        echo "make_ics.sh: $dir/$f has $have bytes where $bytes are due; see $dir/mpgrafic.log" >&2
        exit 2
    fi
done
for x in x y z; do
    cp ic_velb$x ic_velc$x
done
rm -f white.dat
