#!/bin/sh
# The collapse of a magnetised core, which rotates, to a bar with two fragments: about ten seconds.
# Then its column density from above and from the side.
#
#   examples/core/run.sh [DIRECTORY]      works in DIRECTORY (default build/core)
#   RANKS=4 examples/core/run.sh
#
# More settings for simulate may stand in SETTINGS, such as amr_params/levelmax=12.
set -e
# shellcheck source=examples/head.sh
. "$(dirname "$0")/../head.sh"

echo "1. the run; its log is $work/run.log"
rm -rf output_*
simulate_namelist "$root/examples/core/core.nml"
inspect -s "$last"

echo "2. pictures"
inspect --force -m density --axis z --width 0.12 --depth 0.01 -o core.png "$last"
inspect --force -m density --axis y --width 0.25 -o side.png "$last"
