"""yt finds the radiation of checkpoints: the mean density of photons, times the reduced speed of
light, and the mean fraction of ionised hydrogen are those of inspect --ions.

Example of a fault caught: densities that are stored without the speed of light, which RAMSES has.
"""
# test: tier=check timeout=60
import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))),
                                'property'))
import ptah  # noqa: E402
from radiation_files import NAMELIST  # noqa: E402


def main():
    try:
        import yt
    except ImportError:
        ptah.skip('yt is not installed')
    v = ptah.Verdict()
    last = ptah.simulate(NAMELIST % 'original', 'run', options=['-q']).outputs[-1]
    number = last[-5:]
    with open(os.path.join(last, 'info_rt_%s.txt' % number)) as f:
        c = float.fromhex(f.read().split('\n exact ')[1].split()[0])
    ions = json.loads(ptah.Run([ptah.program('inspect'), '--ions', '-j', last], '.').out)
    yt.set_log_level(50)
    data = yt.load(os.path.join(last, 'info_%s.txt' % number)).all_data()

    def mean(kind, name):
        return float(data[kind, name].mean())
    v.check('photons', abs(mean('ramses-rt', 'rt_photon_flux_01') / (c * ions['N1']) - 1), 1e-12)
    v.check('ions', abs(mean('ramses', 'hydro_x_HII') / ions['x_HII_volume'] - 1), 1e-12)
    v.end()


if __name__ == '__main__':
    main()
