#!/bin/sh
# A disc of smoothed particles around a star, with a planet that opens a gap and accretes, through
# five of its orbits: about two minutes on two cores. Then a film of it.
#
#   examples/disc/run.sh [DIRECTORY]      works in DIRECTORY (default build/disc)
#   RANKS=4 examples/disc/run.sh
#
# The film needs Python with Pillow (PYTHON names another python3), or ffmpeg. More settings for
# simulate may stand in SETTINGS, such as sph_params/np=100000.
set -e
# shellcheck source=examples/head.sh
. "$(dirname "$0")/../head.sh"

echo "1. the run; its log is $work/run.log"
rm -rf output_* frames
# shellcheck disable=SC2086
run simulate --force "$root/examples/disc/disc.nml" $SETTINGS >checkpoints 2>run.log || {
    tail -n 5 run.log
    exit 1
}
last=$(tail -n 1 checkpoints)
inspect -s "$last"

echo "2. total energy and angular momentum: gas and point masses, with the spins of these"
awk 'NR % 25 == 2 { printf "t=%5.2f  etot=%.5e  angtot=%.9e\n", $2, $7, $9 }' energies.txt

echo "3. maps of all checkpoints, with the same colours and of the same region, and a film of them"
# The box of a map of open space has all particles, and so another side in each checkpoint. A single
# pixel, as wide as the box, has the total mass over the area of the box.
width() {
    inspect -j --force -m density --pixels 1 -o pixel.npy "$1" | tr ',{}' '\n' |
        awk -F : '/"max"/ { column = $2 } /"total"/ { mass = $2 }
                  END { w = 4.4 / sqrt(mass / column); print(w < 1 ? w : 1) }'
}
mkdir -p frames
while read -r path; do
    inspect -q --force -m density --bare --range 1e-6,3e-4 --pixels 256 \
        --width "$(width "$path")" -o "frames/density_${path##*_}.png" "$path" >paths
done <checkpoints
echo "$work/frames/density_*.png"
if "${PYTHON:-python3}" "$root/examples/disc/film.py" frames disc.gif 2>film.log; then
    echo "$work/disc.gif"
elif command -v ffmpeg >/dev/null; then
    ffmpeg -loglevel error -y -framerate 8 -pattern_type glob -i 'frames/density_*.png' \
        -vf 'pad=ceil(iw/2)*2:ceil(ih/2)*2' -pix_fmt yuv420p disc.mp4
    echo "$work/disc.mp4"
else
    echo "a film needs Python with Pillow, or ffmpeg"
fi
