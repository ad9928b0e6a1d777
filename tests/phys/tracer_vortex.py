"""Classical tracers in a vortex of gas at rest (Shu 1998): those of one radius return to their
places after one turn, with an error of order two in the size of cells and steps together.

    tracer_vortex.py 6    meshes of 64^2 and 128^2 cells: order 2 +- 0.3
    tracer_vortex.py 7    128^2 and 256^2: order 2 +- 0.15

Example of a fault caught: a velocity at the wrong time or place (order 1), a step of another level.
"""
# test: 6 tier=check timeout=120
# test: 7 tier=long timeout=600
import os
import shutil
import sys

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import ptah  # noqa: E402
import read_ramses  # noqa: E402
import smooth  # noqa: E402

BOX, STRENGTH, GAMMA, RADIUS, COUNT = 10.0, 5.0, 1.4, 1.2, 40
TURN = 4 * np.pi ** 2 / STRENGTH * np.exp(-0.5 * (1 - RADIUS ** 2))
NAMELIST = """
&RUN_PARAMS
hydro=.true.
tracer=.true.
ndim=2
/
&AMR_PARAMS
levelmin={level}
levelmax={level}
boxlen={box}
/
&INIT_PARAMS
nregion=1
d_region=1.0
p_region=1.0
/
&OUTPUT_PARAMS
tout=0.0,{end:.15g}
/
&HYDRO_PARAMS
gamma={gamma}
courant_factor=0.8
slope_type=1
riemann='hllc'
/
&TRACER_PARAMS
tracer_feed='../ring.txt'
/
"""


def state(x):
    d = BOX * (x - 0.5)
    speed = STRENGTH / (2 * np.pi) * np.exp(0.5 * (1 - (d ** 2).sum(0)))
    t = 1 - (GAMMA - 1) / (2 * GAMMA) * speed ** 2
    rho = t ** (1 / (GAMMA - 1))
    return rho, -speed * d[1], speed * d[0], rho * t


def ring():
    angle = 2 * np.pi * (np.arange(COUNT) + 0.3) / COUNT
    return np.array([0.5 + RADIUS / BOX * np.cos(angle), 0.5 + RADIUS / BOX * np.sin(angle)])


def error(level, scheme):
    """Mean distance of the tracers from where they began, after one turn."""
    name = '%s%d' % (scheme, level)
    shutil.rmtree(name, ignore_errors=True)
    text = NAMELIST.format(level=level, box=BOX, gamma=GAMMA, end=TURN)
    ptah.simulate(text, name, settings=['run_params/nstepmax=0', 'output_params/noutput=1'])
    smooth.replace_gas(os.path.join(name, 'output_00001'), 2, state)
    shutil.rmtree(os.path.join(name, 'output_00002'), ignore_errors=True)
    r = ptah.simulate(text, name, options=['-r', 'output_00001', '--change-model'],
                      settings=['tracer_params/tracer_scheme=' + scheme])
    p = read_ramses.load(r.outputs[-1]).part
    x = np.array([p['position_x'], p['position_y']]) / BOX
    off = BOX * np.hypot(*(x - ring()))
    print('     %s: %d tracers, %.1f s, error %.3e' % (name, len(off), r.seconds, off.mean()))
    return off.mean()


def main():
    v = ptah.Verdict()
    with open('ring.txt', 'w') as f:
        f.writelines('%.17g %.17g\n' % tuple(x) for x in ring().T)
    level = int(sys.argv[1])
    a, b = (error(l, 'second') for l in (level, level + 1))
    v.check('order of the error %.3f, from 2' % np.log2(a / b), abs(np.log2(a / b) - 2),
            0.3 if level < 7 else 0.15)
    v.end()


if __name__ == '__main__':
    main()
