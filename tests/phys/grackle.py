"""Net cooling rates compared with Grackle: primordial gas in collisional equilibrium, with stored
rates of gracklepy, and with gracklepy itself where it is installed.

    grackle.py              stored rates
    grackle.py live         the stored rates are those of gracklepy; skipped without it
    grackle.py store FILE   writes them

Example of a fault caught: bremsstrahlung of helium left out, a rate per n_H instead of n_H²,
rates of the other set.
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
HEADER = """gracklepy 1.2, primordial_chemistry=1, UVbackground=0, a=1: collisional equilibrium
n_H [1/cm3], T [K], mean molecular weight, net rate [erg cm3/s] (cooling below 0)"""
STORED = os.path.join(ptah.DATA, 'cooling', 'grackle.tsv.xz')


def stored():
    with lzma.open(STORED, 'rt') as f:
        return np.loadtxt(f)


def table(v, atoms):
    """Net rates written by convert, with nodes at the stored points."""
    import cooltable
    text = cooltable.BOX.replace('z_ave=1.0', "z_ave=0.\nz_reion=0.\natomic_rates='%s'" % atoms)
    out = ptah.simulate(text.replace('nstepmax=1', 'nstepmax=0'), atoms).outputs[0]
    r = cooltable.convert('--points', '25,2,161', '-o', atoms + '.bin', out)
    v.same('table', r.status, 0)
    return cooltable.Table(atoms + '.bin')


def rates(v, atoms):
    t, theirs = table(v, atoms), stored()
    nH, T = np.log10(t.axis(0)), t.log_T
    print('     %s; log T, log n_H: ours over theirs - 1' % atoms)
    for n in np.unique(theirs[:, 0]):
        q = theirs[theirs[:, 0] == n]
        i = int(np.argmin(abs(nH - np.log10(n))))
        k = [int(np.argmin(abs(T - x))) for x in np.log10(q[:, 1])]
        v.check('nodes, n_H=%g' % n, max(abs(nH[i] - np.log10(n)),
                                         abs(T[k] - np.log10(q[:, 1])).max()), 1e-5)
        off = t.rate[0, i, 0, k] / n ** 2 / q[:, 3] - 1
        print('    ', '  '.join('%.1f: %+.3f' % x for x in zip(T[k][::8], off[::8])))
        mu = t.mu[0, i, 0, k] / q[:, 2] - 1
        if atoms == 'abel':
            # Grackle interpolates linearly between bins: 4 % where ionisation begins
            v.check('all gas, n_H=%g' % n, abs(off).max(), 0.05)
            v.check('molecular weight', abs(mu).max(), 3e-3)
            continue
        hot = q[:, 1] > 10 ** 6.29
        v.check('hot gas, n_H=%g' % n, abs(off[hot]).max(), 0.05)
        # other ionisation rates (docs/method/cooling.md)
        v.check('all gas, n_H=%g: within a factor of two' % n, abs(off).max(), 1)
        v.check('molecular weight of hot gas', abs(mu[hot]).max(), 1e-4)


def grackle():
    try:
        from gracklepy import chemistry_data
    except Exception as e:  # gracklepy raises various exceptions if its library is missing
        ptah.skip('gracklepy: %s' % e)
    c = chemistry_data()
    for name, value in dict(use_grackle=1, with_radiative_cooling=0, primordial_chemistry=1,
                            metal_cooling=0, UVbackground=0, HydrogenFractionByMass=0.76,
                            Gamma=5 / 3, comoving_coordinates=0, a_units=1.0, a_value=1.0,
                            density_units=M_H, length_units=3.0857e21, time_units=MYR).items():
        setattr(c, name, value)
    c.set_velocity_units()
    c.initialize()
    return c


def equilibrium(c, n, T):
    """mu and net rate per n^2 by gracklepy, for ions in balance by its own rates."""
    from gracklepy import FluidContainer
    bins = np.linspace(np.log(c.TemperatureStart), np.log(c.TemperatureEnd), len(c.k1))
    k1, k2, k3, k4, k5, k6 = (np.interp(np.log(T), bins, getattr(c, 'k%d' % k))
                              for k in range(1, 7))
    rho, f = n / 0.76, FluidContainer(c, len(T))
    f['density'][:] = rho
    f['HI_density'][:], f['HII_density'][:] = 0.76 * rho * np.array([k2, k1]) / (k1 + k2)
    f['HeI_density'][:], f['HeII_density'][:], f['HeIII_density'][:] = (
        0.24 * rho * np.array([k4 * k6, k3 * k6, k3 * k5]) / (k4 * k6 + k3 * k6 + k3 * k5))
    f['e_density'][:] = f['HII_density'] + f['HeII_density'] / 4 + f['HeIII_density'] / 2
    electrons = f['e_density'].copy()
    for k in range(8):
        f.calculate_mean_molecular_weight()
        f['internal_energy'][:] = T * K_B / (f['mean_molecular_weight'] * M_H *
                                             (c.Gamma - 1)) / c.velocity_units ** 2
        if k > 3:  # beyond a recombination time of ionised gas
            f.solve_chemistry(1 / (2.6e-13 * n) / MYR)
    print('     electrons, moved by', abs(f['e_density'] / electrons - 1).max())
    f.calculate_cooling_time()
    energy = rho * M_H * f['internal_energy'] * c.velocity_units ** 2
    return f['mean_molecular_weight'], energy / (f['cooling_time'] * MYR) / n ** 2


def live(v):
    c, theirs = grackle(), stored()
    for n in np.unique(theirs[:, 0]):
        q = theirs[theirs[:, 0] == n]
        mu, net = equilibrium(c, n, q[:, 1])
        v.check('stored rates, n_H=%g' % n, abs(net / q[:, 3] - 1).max(), 2e-3)
        v.check('stored molecular weight', abs(mu / q[:, 2] - 1).max(), 1e-4)


def store(path):
    c, rows, T = grackle(), [], 10 ** np.arange(4, 8.01, 0.05)
    for n in 1e-4, 1e-2, 1.0, 1e2:
        mu, net = equilibrium(c, n, T)
        rows.append(np.column_stack([np.full(len(T), n), T, mu, net]))
    with lzma.open(path, 'wt') as f:
        np.savetxt(f, np.concatenate(rows), fmt='%.6g', header=HEADER)


def main():
    if sys.argv[1:2] == ['store']:
        return store(sys.argv[2])
    v = ptah.Verdict()
    if sys.argv[1:]:
        live(v)
    else:
        for atoms in 'theuns', 'abel':
            rates(v, atoms)
    v.end()


if __name__ == '__main__':
    main()
