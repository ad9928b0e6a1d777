#!/bin/sh
# Magnetic fields: a rotating sphere of gas with a uniform field collapses, and a box with a weak
# field evolves to redshift 1: about two minutes on two idle cores.
#
#   examples/magnetic/run.sh [DIRECTORY]      works in DIRECTORY (default build/magnetic)
#   RANKS=4 examples/magnetic/run.sh
#
# Needs python3 with numpy for the initial state of the sphere (PYTHON names another). More settings
# for the box may stand in SETTINGS, such as amr_params/levelmax=8.
set -e
# shellcheck source=examples/head.sh
. "$(dirname "$0")/../head.sh"
"${PYTHON:-python3}" "$root/examples/magnetic/sphere.py" ics 32

echo "1. the collapse, and its last part again from a checkpoint, by one rank: the same digest"
run simulate -q --force -o collapse "$root/examples/magnetic/collapse.nml" >/dev/null
simulate -q --force -o again -r collapse/output_00003 "$root/examples/magnetic/collapse.nml" \
    >/dev/null
inspect -dq collapse/output_00004 again/output_00004

echo "2. a slice of the density with field lines; the current"
slice="-u -a y --width 0.5 --depth 0.004 --pixels 256 --log --lines B"
# shellcheck disable=SC2086
inspect -q --force -m density $slice -o collapse.png collapse/output_00004
# shellcheck disable=SC2086
inspect -q --force -m current $slice -o current.png collapse/output_00004

echo "3. the box, its field along x, and spectra of energies and helicity"
rm -rf ic_32
tar xJf "$root/tests/data/ics/ic_32.tar.xz" ic_32/level_005
# shellcheck disable=SC2086
run simulate -q --force -o box "$root/examples/magnetic/box.nml" $SETTINGS >/dev/null
inspect -q --force -m B -u -a x --pixels 200 --weight volume --log -o box.png box/output_00002
pk -q --species B,kinetic,helicity --mesh 64 box/output_00002 >spectra.tsv
echo "$work has collapse.png, current.png, box.png and spectra.tsv"
