#!/bin/sh
# follow.sh CHECKPOINT: what is wanted of each checkpoint of a campaign. Edit to taste.
set -eu
number=${1##*_}
inspect -q -c "$1"
inspect -q --force -m density -o "maps_density_$number.png" "$1"
inspect -q --force -m dm -o "maps_dm_$number.png" "$1"
pk -q "$1" >"spectrum_$number.tsv"
inspect -dq "$1" >>digests.txt
