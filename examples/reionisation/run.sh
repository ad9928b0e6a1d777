#!/bin/sh
# Reionisation: stars form in a box of gas and dark matter, their photons propagate and ionise it,
# from redshift 6 to 4: a minute or two on two cores.
#
#   examples/reionisation/run.sh [DIRECTORY]     works in DIRECTORY (default build/reionisation)
#   RANKS=4 examples/reionisation/run.sh
#
# The initial conditions are those of tests/data, 32^3 in a box of 25 Mpc/h; galaxies in it form
# late. The spectra of stars are black bodies (spectra.py): with those of BPASS or of Bruzual &
# Charlot, set rt_params/sed_dir=DIRECTORY in SETTINGS.
set -e
# shellcheck source=examples/head.sh
. "$(dirname "$0")/../head.sh"
rm -rf ics

echo "1. initial conditions, and spectra of stars"
tar xJf "$root/tests/data/ics/ic_32.tar.xz" ic_32/level_005
mv ic_32/level_005 ics
rmdir ic_32
python3 "$root/examples/reionisation/spectra.py" spectra

echo "2. the run; its log is $work/run.log"
simulate_namelist "$root/examples/reionisation/reionisation.nml"
grep ' Photons of group 1' run.log | tail -n 1

echo "3. when the gas was ionised: redshift, fraction by volume, by mass"
# shellcheck disable=SC2046
inspect --force --ions -o history.png $(tail -n +2 checkpoints) >history.tsv
cut -f 2,3,6 history.tsv | grep -v '^#'

echo "4. half way: ionised regions, and the density and temperature of the gas"
half=$(sed -n 6p checkpoints)
inspect --force -m x_HII --range 0.001,1 -o ionised.png "${half:-$last}"
inspect --force --phase -o phase.png "${half:-$last}"
echo "$work/history.png, $work/history.tsv, $work/ionised.png, $work/phase.png"
