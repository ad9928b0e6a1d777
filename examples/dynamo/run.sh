#!/bin/sh
# A turbulent dynamo: helical forcing, growth of a magnetic field from noise, saturation: about
# twenty seconds on two cores.
#
#   examples/dynamo/run.sh [DIRECTORY]      works in DIRECTORY (default build/dynamo)
#   RANKS=4 examples/dynamo/run.sh
#
# More settings for simulate may stand in SETTINGS, such as run_params/nstepmax=1000.
set -e
# shellcheck source=examples/head.sh
. "$(dirname "$0")/../head.sh"

echo "1. the run; its log is $work/run.log"
simulate_namelist "$root/examples/dynamo/dynamo.nml"
inspect -s "$last"

echo "2. rms velocity and magnetic field at a few times"
awk 'NR % 50 == 2 { printf "t=%8.1f  urms=%.3f  brms=%.2e\n", $2, $4, $6 }' time_series.txt
if python3 "$root/examples/dynamo/series.py" time_series.txt series.png 2>/dev/null; then
    echo "$work/series.png"
else
    echo "series.py draws the time series; it needs Python with matplotlib"
fi

echo "3. energies of the waves of the box, k = 1, and of smaller ones"
pk -q --values kinetic,magnetic "$last" | awk '/^(kinetic|magnetic)/ && $2 > 0 && $2 < 6'

echo "4. what it looks like: a component of the field at the end, and as it grew"
inspect --force -m bx -o bx.png "$last"
echo "$work/bx.png, $work/slices/bx_*.png"
if command -v ffmpeg >/dev/null; then
    ffmpeg -loglevel error -y -pattern_type glob -i 'slices/bx_*.png' \
        -vf scale=480:480:flags=neighbor -pix_fmt yuv420p bx.mp4
    echo "$work/bx.mp4"
fi
