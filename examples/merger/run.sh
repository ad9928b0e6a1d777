#!/bin/sh
# Two galaxies meet and begin to merge, through 210 million years: about a minute on two cores.
# Then maps, and a film of the gas.
#
#   examples/merger/run.sh [DIRECTORY]      works in DIRECTORY (default build/merger)
#   RANKS=4 examples/merger/run.sh
#
# More settings for simulate may stand in SETTINGS, such as amr_params/levelmax=10.
set -e
# shellcheck source=examples/head.sh
. "$(dirname "$0")/../head.sh"

echo "1. particles of two galaxies, and their rotation curve"
python3 "$root/examples/merger/galaxy.py" ics ${PARTICLES:-}
mv ics/Vcirc.dat .

echo "2. the run; its log is $work/run.log"
rm -rf output_*
simulate_namelist "$root/examples/merger/merger.nml"
inspect -s "$last"

echo "3. the gas, and all other matter"
inspect -q --force -m density --weight column --width 0.6 --range 1e-5,1 -o gas.png "$last"
inspect -q --force -m dm --width 0.6 -o matter.png "$last"

echo "4. a film of the gas"
inspect -q --film --force -m density --weight column --width 0.6 --pixels 256 --range 1e-5,1 \
    -o film.png - <checkpoints >paths
echo "$work/film.png, animated: browsers play it"
