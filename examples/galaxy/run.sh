#!/bin/sh
# Galaxies: gas that cools, forms stars and is stirred by supernovae, in a box of 8 Mpc/h to
# redshift 2: a few minutes on two cores.
#
#   examples/galaxy/run.sh [DIRECTORY]      works in DIRECTORY (default build/galaxy)
#   RANKS=4 examples/galaxy/run.sh
#
# The initial conditions are 32^3, by mpgrafic if that is installed, else those of tests/data, a box
# of 25 Mpc/h. More settings for simulate may stand in SETTINGS, such as amr_params/levelmax=9.
set -e
# shellcheck source=examples/head.sh
. "$(dirname "$0")/../head.sh"
rm -rf ics

if command -v mpgrafic >/dev/null; then
    echo "1. a box of 8 Mpc/h with gas and dark matter, by mpgrafic"
    "$root/scripts/make_ics.sh" ics 32 8
else
    echo "1. a box with gas and dark matter (mpgrafic is not installed: that of tests/data)"
    tar xJf "$root/tests/data/ics/ic_32.tar.xz" ic_32/level_005
    mv ic_32/level_005 ics
    rmdir ic_32
fi

echo "2. the run; its log is $work/run.log"
simulate_namelist "$root/examples/galaxy/galaxy.nml"
inspect -s "$last" | tail -n 5

echo "3. what it looks like"
inspect --force -m density -o density.png "$last"
inspect --force -m temperature -o temperature.png "$last"
inspect --force -m star --log -o stars.png "$last"

echo "4. the state of the gas, and when the stars formed"
inspect --force --phase -o phase.png "$last"
inspect --force --stars -o history.png "$last" >history.tsv
grep -v '^#' history.tsv | tail -n 3
echo "$work/history.png, $work/history.tsv"
