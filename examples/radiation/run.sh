#!/bin/sh
# The tests 0 to 4 of Iliev et al. (2006): about ten minutes on two cores. Then maps of the
# ionised fraction. docs/method/rt-tests.md has the results.
#
#   examples/radiation/run.sh [DIRECTORY]      works in DIRECTORY (default build/radiation)
#   RANKS=4 TESTS='1 3' examples/radiation/run.sh
#
# More settings for simulate may stand in SETTINGS, such as amr_params/levelmin=4.
set -e
# shellcheck source=examples/head.sh
. "$(dirname "$0")/../head.sh"

for test in ${TESTS:-0 1 2 3 4}; do
    echo "test $test; its log is $work/test$test/run.log"
    mkdir -p "$work/test$test"
    cd "$work/test$test"
    simulate_namelist "$root/examples/radiation/test$test.nml"
    inspect -s "$last"
    [ "$test" = 0 ] ||
        inspect -q --force -m x_HII -a z --center 0.5,0.5,0.5 --depth 0.04 -o x_HII.png "$last"
done
