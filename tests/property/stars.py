"""Star formation follows the law, does not depend on the number of ranks, and conserves mass with
the gas.

    stars.py rate          a uniform box: the rate of the Schmidt law within the Poisson error, for
                           eps_star and t_star; none below the threshold or in hot gas
    stars.py FEEDBACK RANKS
                           gas, stars, gravity and supernovae on three levels: the same digest on
                           RANKS, on 2 threads, in both orderings, and after a restart from both
                           formats on other ranks; mass is conserved; the energy equals that
                           of all explosions. FEEDBACK: thermal, debris, momentum;
                           virial: thermal, and stars form by turbulence
    stars.py cosmo RANKS
                           a cosmological box in which stars form early: supernovae give 1e51 erg
                           each to the gas; equal digests on RANKS
    stars.py wrong         wrong parameters: one sentence, status 2

Example of a fault caught: random numbers that follow the order of cells, ids in the order of
ranks, an explosion that is lost or repeated at a restart, explosions added in the order of
particles, a star whose mass differs from the mass lost by the gas.
"""
# test: rate tier=check timeout=120
# test: thermal 2 3 tier=check timeout=300 ranks=3
# test: debris 2 3 tier=check timeout=300 ranks=3
# test: momentum 2 3 tier=check timeout=300 ranks=3
# test: virial 2 3 tier=check timeout=300 ranks=3
# test: thermal 1 2 3 5 8 tier=long timeout=900 ranks=3
# test: debris 1 2 3 5 8 tier=long timeout=900 ranks=3
# test: cosmo 3 tier=check timeout=300 ranks=3
# test: cosmo 5 8 tier=long timeout=900 ranks=3
# test: wrong tier=quick timeout=60
import math
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import numpy as np  # noqa: E402
import ptah  # noqa: E402
import read_ramses  # noqa: E402

BOX = """
&RUN_PARAMS
hydro=.true.
poisson=%s
nsubcycle=1,2,2
nstepmax=%d
check_ghosts=%s
/
&AMR_PARAMS
levelmin=%d
levelmax=%d
boxlen=1.0
/
&INIT_PARAMS
nregion=2
region_type(1)='square'
region_type(2)='square'
x_center=0.5,0.4
y_center=0.5,0.55
z_center=0.5,0.3
length_x=10.0,0.3
length_y=10.0,0.3
length_z=10.0,0.3
exp_region=10.0,10.0
d_region=1.0,%g
u_region=%g
p_region=0.1,0.1
/
&OUTPUT_PARAMS
foutput=%d
tout=1e9
outformat='%s'
/
&HYDRO_PARAMS
gamma=1.6666667
/
&UNITS_PARAMS
units_density=1.66d-22
units_time=3d14
units_length=3d20
/
&REFINE_PARAMS
err_grad_d=%g
mass_sph=1e-6
/
&SF_PARAMS
n_star=10.0
sf_log_properties=.true.
%s
/
&FEEDBACK_PARAMS
%s
/
"""
STEPS = 8


def events(folder):
    """Lines of stars.txt; no rows if it does not exist."""
    path = os.path.join(folder, 'stars.txt')
    return np.loadtxt(path, ndmin=2) if os.path.exists(path) else np.zeros((0, 15))


def uniform(name, law, settings=()):
    text = BOX % ('.false.', 6, '.false.', 4, 5, 1, 0, 100, 'original', -1, law, '')
    ptah.simulate(text, name, 1, 2, settings, ['-q'])
    return events(name)


def expected(e, k):
    """Mass of stars if the gas is consumed at the rate k rho^1.5, step by step."""
    gas, t = 1.0, 0.0
    for now in np.unique(e[:, 13]):
        gas -= k * gas ** 1.5 * (now - t)
        t = now
    return 1 - gas


def rate():
    v = ptah.Verdict()
    mass = 1e-6
    hydrogen = 0.76 * 1.66e-22 / 1.6605390e-24
    for name, law, k in [
            ('eps_star', 'eps_star=0.1', 0.1 * math.sqrt(32 / (3 * math.pi))),
            ('t_star', 't_star=0.1', 3e14 / (0.1e9 * 31557600) * math.sqrt(hydrogen / 10))]:
        e = uniform(name, law + '\nm_star=1.0')
        want, got = expected(e, k), e[:, 3].sum()
        v.check(name + ': stars to test', 1e3 * mass / got, 1)
        v.check(name + ': deviation of the mass in sigma',
                abs(got - want) / math.sqrt(want * mass), 4)
        v.check(name + ': masses are whole numbers of stars',
                abs(e[:, 3] / mass - np.round(e[:, 3] / mass)).max(), 1e-9)
    seeds = [uniform('seed_%d' % k, 'eps_star=0.1\nm_star=1.0', ['stellar_params/iseed=%d' % k])
             for k in (0, 1)]
    v.same('another seed, other stars', np.array_equal(seeds[0][:, 4:7], seeds[1][:, 4:7]), False)
    thin = uniform('thin', 'eps_star=0.1\nm_star=1.0\nn_star=80.0')
    v.same('below the threshold none', len(thin), 0)
    v.same('in hot gas none', len(uniform('hot', 'eps_star=0.1\nm_star=1.0',
                                          ['init_params/p_region=3.0,3.0'])), 0)
    v.end()


FEEDBACK = {'thermal': '', 'debris': 'f_w=2.0\nf_ek=0.7\nrbubble=6.0',
            'momentum': 'momentum_feedback=1\nmass_gmc=1e3', 'virial': ''}
LAW = {'virial': '\nsf_virial=.true.\nsf_model=2\nsf_compressive=.true.\nsf_tdiss=1.0'}


def galaxy(feedback, name, ranks, threads=1, ordering='hilbert', form='original', options=(),
           settings=(), check=False):
    text = BOX % ('.true.', STEPS, '.true.' if check else '.false.', 3, 5, 3, 0.3, STEPS // 2, form,
                  0.1, 'eps_star=0.2\nm_star=20.0' + LAW.get(feedback, ''),
                  'eta_sn=0.2\nyield=0.1\nt_sne=0.15\n' + FEEDBACK[feedback])
    return ptah.simulate(text, name, ranks, threads,
                         ['run_params/ordering=' + ordering, 'run_params/nremap=3', *settings],
                         options)


def total(path):
    s = read_ramses.load(path)
    return math.fsum(s.cell['density'] * s.volume) + math.fsum(s.part.get('mass', []))


SOLAR = 1.9891e33 / (1.66e-22 * 3e20 ** 3)  # solar mass in code units


def energy(run):
    """Energies in the log, in 1e51 erg."""
    words = [line.split() for line in run.err.splitlines() if ' erg' in line]
    return sum(float(w[-2]) for w in words) / 1e51


def events_of(v, feedback, run, e):
    """Checks births and explosions of a run: enough events, once each, with their energy."""
    births, blasts = e[e[:, 0] == 0], e[e[:, 0] == 1]
    print('     %d births, %d supernovae, levels %s'
          % (len(births), len(blasts), np.unique(e[:, 2])))
    v.same('births and supernovae on several levels',
           len(births) > 50 and len(blasts) > 10 and len(np.unique(e[:, 2])) > 1, True)
    s = read_ramses.load(run.outputs[-1])
    stars, debris = s.part['family'] == 2, s.part['family'] == 4
    v.same('ids of the stars are those of the births',
           (s.part['identity'][stars] == np.sort(births[:, 1])).all(), True)
    if feedback == 'debris':
        single = -blasts[:, 1] * 2e-5  # debris records the number of its stars
        v.same('what has exploded is gone', debris.sum(), len(births) - len(blasts))
    else:
        single = blasts[:, 3]
        v.same('no star explodes twice', len(set(blasts[:, 1])), len(blasts))
        v.same('tags', ((s.part['tag'] != 0).sum(), debris.sum()), (len(blasts), 0))
    want = math.fsum(0.2 * single / (10 * SOLAR))
    v.check('energy: %.6g explosions of 1e51 erg' % want, abs(energy(run) / want - 1),
            0.4 if feedback == 'momentum' else 1e-9)  # mass_gmc: correct in the mean


def ranks(feedback, numbers):
    v = ptah.Verdict()
    whole = galaxy(feedback, 'whole', 1)  # with Hilbert ordering
    last, first = whole.outputs[-1], whole.outputs[0]
    e, reference = events('whole'), ptah.digest(last)
    events_of(v, feedback, whole, e)
    v.check('mass of gas and stars', abs(total(last) / total(first) - 1), 1e-13)
    for n in numbers:
        ordering = 'ksection' if n % 2 else 'hilbert'
        r = galaxy(feedback, 'on_%d' % n, n, 2 if n == 2 else 1, ordering, check=n == 3)
        v.same('%d ranks, %s: the same digest' % (n, ordering),
               ptah.digest(r.outputs[-1]) == reference, True)
        v.same('%d ranks, %s: the same log' % (n, ordering),
               np.array_equal(events('on_%d' % n), e), True)
    for form, n in ('original', 2), ('hdf5', 3):
        half = galaxy(feedback, 'half_' + form, n, form=form,
                      settings=['run_params/nstepmax=%d' % (STEPS // 2)])
        rest = galaxy(feedback, 'rest_' + form, 5 - n, ordering='ksection',
                      options=['-r', os.path.abspath(half.outputs[-1])])
        v.same('%s, %d ranks, then %d: the same digest' % (form, n, 5 - n),
               ptah.digest(rest.outputs[-1]) == reference, True)
    v.end()


# Stars form wherever gas is slightly denser than the mean, much earlier than usual.
COSMO = """
&RUN_PARAMS
cosmo=.true.
use_fftw=.true.
pic=.true.
poisson=.true.
hydro=.true.
nsubcycle=1,2
nstepmax=8
/
&OUTPUT_PARAMS
foutput=8
noutput=1
aout=1.0
/
&INIT_PARAMS
filetype='grafic'
initfile(1)='ics/ic_32/level_005'
omega_b=0.047
/
&AMR_PARAMS
levelmin=5
levelmax=6
nexpand=1
/
&HYDRO_PARAMS
gamma=1.6666667
pressure_fix=.true.
/
&REFINE_PARAMS
m_refine=2.0
/
&SF_PARAMS
n_star=1e-9
del_star=1.4
eps_star=0.1
m_star=1e-3
sf_log_properties=.true.
/
&FEEDBACK_PARAMS
eta_sn=0.2
t_sne=5.0
/
"""
SUN = 1.9891e33


def cosmic(name, n, ordering='hilbert', threads=1, settings=()):
    os.makedirs(name)
    os.symlink(os.path.abspath('ics'), os.path.join(name, 'ics'))
    return ptah.simulate(COSMO, name, n, threads,
                         ['run_params/ordering=' + ordering, *settings])


def heat(s):
    return math.fsum(1.5 * s.cell['pressure'] * s.volume)


def cosmo(numbers):
    """Energy in code units is energy in erg times a^2; expansion conserves heat in these units."""
    v = ptah.Verdict()
    ptah.unpack_ics('.', 'ic_32')
    whole = cosmic('whole', 1)
    weak = cosmic('weak', 1, settings=['feedback_params/f_esn=1e-6'])
    e, s = events('whole'), read_ramses.load(whole.outputs[-1])
    births, blasts = e[e[:, 0] == 0], e[e[:, 0] == 1]
    gram = s.info['unit_d'] * s.info['unit_l'] ** 3
    velocity = s.info['unit_l'] / s.info['unit_t'] * s.info['aexp']  # velocity unit at a = 1
    number = 0.2 * blasts[:, 3] * gram / (10 * SUN)
    print('     %d births, %d of them exploded' % (len(births), len(blasts)))
    v.same('births and supernovae', len(births) > 100 and len(blasts) > 50, True)
    v.check('energy: %.6g explosions of 1e51 erg' % number.sum(),
            abs(energy(whole) / math.fsum(number) - 1), 1e-6)
    released = math.fsum(number * 1e51 * blasts[:, 14] ** 2) / (gram * velocity ** 2)
    gained = heat(s) - heat(read_ramses.load(weak.outputs[-1]))
    v.check('heat that the gas has of it: %.3f, less 1' % (gained / released),
            abs(gained / released - 1), 0.1)  # a part moves gas
    for k, n in enumerate(numbers):
        r = cosmic('on_%d' % n, n, 'ksection' if k % 2 == 0 else 'hilbert', 1 + k % 2)
        v.same('%d ranks: the same digest' % n,
               ptah.digest(r.outputs[-1]) == ptah.digest(whole.outputs[-1]), True)
    v.end()


def wrong():
    v = ptah.Verdict()
    for law, feedback, says in [
            ('eps_star=0.1\nn_star=0', '', 'n_star=0'),
            ('eps_star=0.1\nt_star=1.0', '', 'eps_star=0.1 and t_star=1'),
            ('eps_star=0.1\nm_star=0.0', '', 'm_star=0'),
            ('eps_star=-0.1', '', 'eps_star=-0.1'),
            ('eps_star=0.1\nsf_virial=.true.\nsf_model=6', '', 'sf_model=6'),
            ('eps_star=0.1', 'eta_sn=1.2', 'eta_sn=1.2'),
            ('eps_star=0.1', 'f_w=-1.0', 'f_w=-1'),
            ('eps_star=0.1', 'f_w=1.0\nmomentum_feedback=1', 'momentum_feedback=1'),
            ('eps_star=0.1', 'f_w=1.0\nmass_gmc=1e6', 'mass_gmc=1e+06'),
            ('eps_star=0.1', 'momentum_feedback=1\nkappa_ir=10', 'kappa_ir=10'),
            ('eps_star=0.1', 'yield=-1.0', 'yield')]:
        text = BOX % ('.false.', 1, '.false.', 3, 3, 1, 0, 100, 'original', -1, law, feedback)
        r = ptah.simulate(text, 'wrong', must_work=False)
        lines = r.err.strip().splitlines()
        v.same('%s: one sentence, status 2' % ' '.join((law + ' ' + feedback).split()),
               (r.status, len(lines), says in r.err), (2, 1, True))
    v.end()


if __name__ == '__main__':
    if sys.argv[1] == 'rate':
        rate()
    elif sys.argv[1] == 'cosmo':
        cosmo([int(n) for n in sys.argv[2:]])
    elif sys.argv[1] == 'wrong':
        wrong()
    else:
        ranks(sys.argv[1], [int(n) for n in sys.argv[2:]])
