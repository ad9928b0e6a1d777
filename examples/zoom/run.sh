#!/bin/sh
# From a box of dark matter to a halo to a zoom, with our programs: about a minute.
#
#   examples/zoom/run.sh [DIRECTORY]      works in DIRECTORY (default build/zoom), leaves all there
#   RANKS=4 examples/zoom/run.sh
#
# The box comes from mpgrafic if that is installed, else from tests/data. Between steps 2 and 3
# stands a generator that makes several levels: give points.txt to MUSIC as region_point_file (or
# run genetIC on the ids) to make finer levels around the halo; here a set of three levels that
# MUSIC made for another box takes its place.
set -e
# shellcheck source=examples/head.sh
. "$(dirname "$0")/../head.sh"
mkdir -p ics
for set in ic_32 ic_zoom; do tar xJf "$root/tests/data/ics/$set.tar.xz" -C ics; done
rm -rf ics/box ics/ic_zoom/level_*/ic_pvar_* # the masks that came with it: we make our own

if command -v mpgrafic >/dev/null; then
    echo "1. a box of dark matter, by mpgrafic"
    "$root/scripts/make_ics.sh" ics/box 32 25
else
    echo "1. a box of dark matter (mpgrafic is not installed: that of tests/data)"
    mv ics/ic_32/level_005 ics/box
fi
run simulate -q --force -o box "$root/examples/zoom/box.nml"

echo "2. its densest halo, and where that began"
genzoom --trace box/output_00002 --center densest --radius 0.04 --omega-b 0 --padding 1 --force \
    --output points.txt ics/box > halo.nml
sed -n '1,2p' halo.nml
echo "   $(wc -l < points.txt) points in points.txt"

echo "3. the masks of a set of three levels, and the namelist for it"
genzoom --force --omega-b 0.047 --levelmax 9 --ranks "$ranks" ics/ic_zoom > mask.nml
cat "$root/examples/zoom/zoom.nml" mask.nml > zoom.nml
grep -e '^!' -e '^mass_cut' mask.nml

echo "4. the zoom"
run simulate -q --force -o zoom zoom.nml refine_params/interpol_var=1 refine_params/interpol_type=0
inspect zoom/output_00002
inspect -q --force -m density -o zoom.png zoom/output_00002
echo "$work/zoom.png is its gas"

echo "5. did heavy particles get in? Into the mask, and where it is densest"
inspect --contamination zoom/output_00002 || [ $? = 1 ]
inspect -q --contamination --sphere densest,0.03 zoom/output_00002 || [ $? = 1 ]
