#!/bin/sh
# A disc of smoothed particles around a star, with a planet that opens a gap and accretes, through
# five of its orbits: about two minutes on two cores. Then a film of it.
#
#   examples/disc/run.sh [DIRECTORY]      works in DIRECTORY (default build/disc)
#   RANKS=4 examples/disc/run.sh
#
# More settings for simulate may stand in SETTINGS, such as sph_params/np=100000.
set -e
# shellcheck source=examples/head.sh
. "$(dirname "$0")/../head.sh"

echo "1. the run; its log is $work/run.log"
rm -rf output_*
simulate_namelist "$root/examples/disc/disc.nml"
inspect -s "$last"

echo "2. total energy and angular momentum: gas and point masses, with the spins of these"
awk 'NR % 25 == 2 { printf "t=%5.2f  etot=%.5e  angtot=%.9e\n", $2, $7, $9 }' energies.txt

echo "3. a film of the column density: maps of all checkpoints, with the same colours and of the"
echo "   same region; disc.mp4 instead of disc.png would be made by ffmpeg"
inspect -q --film --force -m density --pixels 256 --range 1e-6,3e-4 --fps 8 -o disc.png - \
    <checkpoints >paths
echo "$work/disc.png, animated: browsers play it"
