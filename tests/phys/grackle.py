"""Net rates beside Grackle's: primordial gas in collisional equilibrium, with what gracklepy gave,
stored, and with gracklepy itself where it is installed.

    grackle.py           stored rates
    grackle.py live      the stored rates are those of gracklepy; skipped without it

A one-line fault it catches: bremsstrahlung of helium left out, a rate per n_H instead of n_H².
"""
# test: tier=check timeout=60
# test: live tier=long timeout=300
import lzma
import os
import sys

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))),
                                'property'))
import ptah  # noqa: E402

M_H, K_B, MYR = 1.6726e-24, 1.3806e-16, 3.15576e13
STORED = os.path.join(ptah.DATA, 'cooling', 'grackle.tsv.xz')


def stored():
    with lzma.open(STORED, 'rt') as f:
        return np.loadtxt(f)


def rates(v):
    import cooltable
    text = cooltable.BOX.replace('z_ave=1.0', 'z_ave=0.\nz_reion=0.').replace('nstepmax=1',
                                                                             'nstepmax=0')
    out = ptah.simulate(text, 'box').outputs[0]
    r = cooltable.convert('--points', '25,2,161', '-o', 't.bin', out)  # nodes at the stored points
    v.same('table', r.status, 0)
    t, theirs = cooltable.Table('t.bin'), stored()
    nH, T = np.log10(t.axis(0)), t.log_T
    print('     log T, log n_H: ours over theirs - 1')
    for n in np.unique(theirs[:, 0]):
        q = theirs[theirs[:, 0] == n]
        i = int(np.argmin(abs(nH - np.log10(n))))
        k = [int(np.argmin(abs(T - x))) for x in np.log10(q[:, 1])]
        v.check('nodes, n_H=%g' % n, max(abs(nH[i] - np.log10(n)),
                                         abs(T[k] - np.log10(q[:, 1])).max()), 1e-5)
        off = t.rate[0, i, 0, k] / n ** 2 / q[:, 3] - 1
        print('    ', '  '.join('%.1f: %+.3f' % x for x in zip(T[k][::8], off[::8])))
        hot = q[:, 1] > 10 ** 6.29
        v.check('hot gas, n_H=%g' % n, abs(off[hot]).max(), 0.05)
        # their ionisation is that of other rates (docs/method/cooling.md)
        v.check('all gas, n_H=%g: within a factor of two' % n, abs(off).max(), 1)
        mu = t.mu[0, i, 0, k] / q[:, 2] - 1
        v.check('molecular weight of hot gas', abs(mu[hot]).max(), 1e-4)


def live(v):
    try:
        from gracklepy import FluidContainer, chemistry_data
    except Exception as e:  # it raises what it likes where its library is missing
        ptah.skip('gracklepy: %s' % e)
    c = chemistry_data()
    for name, value in dict(use_grackle=1, with_radiative_cooling=0, primordial_chemistry=1,
                            metal_cooling=0, UVbackground=0, HydrogenFractionByMass=0.76,
                            Gamma=5 / 3, comoving_coordinates=0, a_units=1.0, a_value=1.0,
                            density_units=M_H, length_units=3.0857e21, time_units=MYR).items():
        setattr(c, name, value)
    c.set_velocity_units()
    c.initialize()
    theirs = stored()
    for n in np.unique(theirs[:, 0]):
        q = theirs[theirs[:, 0] == n]
        T, rho, f = q[:, 1], n / 0.76, FluidContainer(c, len(q))
        f['density'][:] = rho
        f['HII_density'][:], f['HI_density'][:] = 0.76 * rho * 0.999, 0.76 * rho * 0.001
        f['HeI_density'][:] = 1e-20 * rho
        f['HeII_density'][:] = f['HeIII_density'][:] = 0.12 * rho
        f['e_density'][:] = f['HII_density'] + f['HeII_density'] / 4 + f['HeIII_density'] / 2

        def heat():
            for _ in range(5):
                f.calculate_mean_molecular_weight()
                f['internal_energy'][:] = T * K_B / (f['mean_molecular_weight'] * M_H *
                                                     (c.Gamma - 1)) / c.velocity_units ** 2

        for k in range(120):  # towards equilibrium, in units of a recombination time
            heat()
            f.solve_chemistry(min(0.02 * 1.2 ** k, 5) / (2.6e-13 * n) / MYR)
        heat()
        f.calculate_cooling_time()
        energy = rho * M_H * f['internal_energy'] * c.velocity_units ** 2
        net = energy / (f['cooling_time'] * MYR) / n ** 2
        v.check('stored rates, n_H=%g' % n, abs(net / q[:, 3] - 1).max(), 2e-2)


def main():
    v = ptah.Verdict()
    (live if sys.argv[1:] else rates)(v)
    v.end()


if __name__ == '__main__':
    main()
