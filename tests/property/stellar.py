"""Stellar objects of sinks do not depend on the number of ranks, and supernovae conserve mass.

    stellar.py ranks N...  sinks that accrete, move and merge in a periodic box of three levels make
                           objects, which explode: the same digest on N ranks, on 2 threads, in both
                           orderings, after restarts from both formats on other ranks, from each
                           checkpoint, and after a kill; what sinks lose the gas gains
    stellar.py global      one object for the mass of all sinks together; other seeds, other masses
    stellar.py merge       sinks that merge keep their objects, and the number of those made
    stellar.py foreign     a checkpoint of RAMSES, without the columns of Ptah, is resumed
    stellar.py wrong       wrong parameters and files: one sentence, status 2

Example of a fault caught: a draw that depends on the rank or on the order of sinks, an object that
a restart forgets or draws again, ejecta that are not taken from the sink, a supernova that ends at
a periodic face.
"""
# test: ranks 3 tier=check timeout=300 ranks=3
# test: ranks 1 2 3 5 8 tier=long timeout=900 ranks=3
# test: global tier=check timeout=120 ranks=2
# test: merge tier=check timeout=120 ranks=2
# test: foreign tier=check timeout=120
# test: wrong tier=quick timeout=60
import math
import os
import re
import shutil
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import ptah  # noqa: E402
sys.path.insert(0, os.path.join(ptah.ROOT, 'tests', 'property'))
import sinks as sink_runs  # noqa: E402

LAW = """accretion_scheme='bondi'
acc_sink_boost=30
/
&STELLAR_PARAMS
nstellarmax=500
stellar_msink_th=%(th)s
imf_index=-2.35
imf_low=%(low)s
imf_high=%(high)s
lt_t0=%(life)s
lt_m0=%(high)s
sn_feedback_sink=.true.
sn_e_ref=2e40
sn_p_ref=5e35
Vdisp=200
%(more)s
"""
SUN = 1.9891e33 / (1e-24 * 3e18 ** 3)  # in code units
OBJECT = re.compile(r'Stellar object (\d+) of sink (\d+): mass= *(\S+)')
EVENT = re.compile(r'SN EVENT at +(\S+) +(\S+) +(\S+) from sink (\d+), star (\d+)')


def law(th=3e-6, low=1e-6, high=2e-5, life=3e-4, more=''):
    return LAW % dict(th=th, low=low, high=high, life=life, more=more)


def run(name, n=1, *where, **more):
    more.setdefault('law', law())
    more['settings'] = ['run_params/stellar=.true.', *more.get('settings', ())]
    return sink_runs.run(name, n, *where, **more)


def objects(path):
    """The stellar objects of a checkpoint: a dict of columns."""
    number = path.rstrip('/')[-5:]
    with open(os.path.join(path, 'stellar_%s.csv' % number)) as f:
        names = f.readline().lstrip(' #').strip().split(',')
        rows = [[float(x) for x in line.split(',')] for line in f if '#' not in line]
    return {name: [row[i] for row in rows] for i, name in enumerate(names)}


def draws(r):
    """Objects and supernovae of a log, in its order."""
    return OBJECT.findall(r.err), EVENT.findall(r.err)


def ranks(numbers):
    v = ptah.Verdict()
    whole = run('whole', settings=['foutput=2'])
    last, first = whole.outputs[-1], whole.outputs[0]
    reference, (born, died) = ptah.digest(last), draws(whole)
    v.same('objects and supernovae', (len(born) >= 8, len(died) >= 5), (True, True))
    t = objects(last)
    left = {(int(a), int(b) + 1) for a, b in zip(t['born_in'], t['number'])}
    v.same('objects that are left', (len(left), left <= {(int(s), int(k)) for k, s, _ in born}),
           (len(t['id']), True))
    v.same('unlike masses', len({m for _, _, m in born}), len(born))
    v.check('mass of gas and sinks',
            abs(sink_runs.total(last, False) / sink_runs.total(first, False) - 1), 1e-13)
    for n in numbers:
        ordering = 'ksection' if n % 2 else 'hilbert'
        r = run('on_%d' % n, n, 2 if n == 2 else 1, ordering, check=n == 3)
        v.same('%d ranks, %s: the same digest' % (n, ordering),
               ptah.digest(r.outputs[-1]) == reference, True)
        v.same('%d ranks: the same objects' % n, draws(r), (born, died))
    for k, out in enumerate(whole.outputs[1:-1]):
        rest = run('from_%d' % k, 1 + k % 2, 1, 'ksection',
                   options=['-r', os.path.abspath(out)])
        v.same('from %s: the same digest' % os.path.basename(out),
               ptah.digest(rest.outputs[-1]) == reference, True)
    half = run('half', 2, form='hdf5', steps=4)
    rest = run('rest', 3, 1, 'ksection', form='hdf5',
               options=['-r', os.path.abspath(half.outputs[-1])])
    v.same('hdf5, 2 ranks, then 3: the same digest',
           ptah.digest(rest.outputs[-1]) == reference, True)
    v.end()


def shares(v):
    """The first objects of all sinks together: the sink that has accreted most makes one of one,
    and the mass that a sink has accreted does not depend on the mass of an object."""
    accreted = []
    for th, made in (1.2e-5, [0, 1, 0, 0]), (3e-6, [1, 2, 1, 1]):
        both = law(th=th, more="stellar_strategy='global'")
        t = sink_runs.table(run('th%g' % th, law=both, steps=2,
                                settings=['foutput=2']).outputs[-1])
        v.same('objects of sinks for %g' % th, t['stellar_made'], made)
        accreted.append([m / SUN + th * n for m, n in zip(t['dmfsink'], t['stellar_made'])])
    for a, b in zip(*accreted):
        v.check('what a sink has accreted', abs(a / b - 1), 1e-9)


def together():
    """Strategy 'global'; the seed."""
    v = ptah.Verdict()
    both = law(more="stellar_strategy='global'")
    one, two = run('one', law=both, steps=5), run('two', 2, law=both, steps=5)
    v.same('2 ranks: the same digest',
           ptah.digest(one.outputs[-1]) == ptah.digest(two.outputs[-1]), True)
    t, o = sink_runs.table(one.outputs[-1]), draws(one)[0]
    left = math.fsum(t['dmfsink']) / SUN
    v.same('the mass of all sinks makes objects', (len(o) > 3, 0 <= left < 2 * 3e-6), (True, True))
    shares(v)
    alone = draws(run('alone', steps=5))[0]
    v.same('another choice than by sinks alone', o != alone, True)
    again = run('again', steps=5, settings=['stellar_params/iseed=5'])
    v.same('another seed, other masses', {m for *_, m in draws(again)[0]} &
           {m for *_, m in alone}, set())
    given = run('given', law=law(more='mstellarini=3e-6,0,7e-6'), steps=3)
    v.same('masses that are given', [m for *_, m in draws(given)[0]][:3],
           ['3.00000E-06', alone[1][2], '7.00000E-06'])
    v.end()


def merge():
    """Two sinks with objects that live long, on the way to each other."""
    v = ptah.Verdict()
    sinks = '0.3 -0.44 0.1 0.1  -4 0 0  0 0 0 0 0.01\n0.5 0.45 0.1 0.1  4 0 0  0 0 0 0 0.01\n'
    long = law(life=1, th=1e-4)
    ends = []
    for n in 1, 2:
        r = run('on_%d' % n, n, law=long, sinks=sinks, steps=12, settings=['foutput=3'])
        ends.append(ptah.digest(r.outputs[-1]))
    first, last = objects(r.outputs[1]), objects(r.outputs[-1])
    v.same('sinks of objects before', sorted(set(first['id'])), [1, 2])
    v.same('after the merger', (sorted(set(last['id'])), sorted(set(last['born_in']))),
           ([1], [1, 2]))
    v.same('one sink, which has made all',
           sink_runs.table(r.outputs[-1])['stellar_made'], [len(last['id'])])
    v.same('2 ranks: the same digest', ends[0] == ends[1], True)
    v.end()


def foreign():
    v = ptah.Verdict()
    out = run('half', law=law(life=1e-2), steps=4).outputs[-1]
    shutil.copytree(out, 'theirs/output_00002')
    path = 'theirs/output_00002/stellar_00002.csv'
    with open(path) as f:
        lines = f.readlines()
    with open(path, 'w') as f:
        f.writelines([lines[0].split(',born_in')[0] + '\n', ' # 1,m,t,t\n'] +
                     ['%10d,%21.10E,%21.10E,%21.10E\n' % (int(a[0]), *map(float, a[1:4]))
                      for a in (line.split(',') for line in lines[2:])])
    os.remove('theirs/output_00002/checksums_00002.txt')
    r = run('rest', law=law(life=1e-2), options=['-r', os.path.abspath('theirs/output_00002')])
    t = objects(r.outputs[-1])
    v.same('it has objects', len(lines) > 4, True)
    v.same('numbers do not repeat', len(set(zip(t['born_in'], t['number']))), len(t['id']))
    v.same('more objects', len(t['id']) > len(lines) - 2, True)
    v.end()


def wrong():
    v = ptah.Verdict()
    bad = [('imf order', law(low=2e-5, high=1e-6), 'imf_low=2e-05 and imf_high=1e-06'),
           ('imf 0', law(low=0), 'imf_low=0'),
           ('imf nan', law(low='nan'), 'nan'),
           ('index', law(more='imf_index=-1'), 'imf_index=-1'),
           ('threshold', law(th=0), 'stellar_msink_th=0'),
           ('strategy', law(more="stellar_strategy='both'"), "stellar_strategy"),
           ('large', law(more='sn_r_sat=3'), 'sn_r_sat'),
           ('many', law(more='nstellarmax=2'), 'nstellarmax=2'),
           ('no end of objects', law(th=1e-30), 'nstellarmax=500')]
    for name, text, says in bad:
        sink_runs.told(v, name, run('wrong_' + name, law=text, must_work=False), says)
    for name, settings, says in [
            ('no sinks', ['run_params/sink=.false.'], 'sink=.true.'),
            ('cosmology', ['run_params/cosmo=.true.'], 'cosmo=.true.')]:
        sink_runs.told(v, name, run('wrong', settings=settings, must_work=False), says)
    out = os.path.abspath(run('half', steps=4).outputs[-1])
    path = out + '/stellar_00002.csv'
    os.remove(out + '/checksums_00002.txt')
    with open(path) as f:
        text = f.read()
    number = re.search(r'\n +\d+,([^,]+),', text)[1]
    for name, damage, says in [
            ('mass', text.replace(number, '-1.0'), 'mass -1'),
            ('nan', text.replace(number, 'nan'), 'stellar_00002.csv'),
            ('words', text.replace(number, 'seven'), 'stellar_00002.csv'),
            ('short', text.replace(number + ',', ''), 'stellar_00002.csv'),
            ('no column', text.replace('tlife', 'other'), 'no column tlife')]:
        with open(path, 'w') as f:
            f.write(damage)
        sink_runs.told(v, 'file: ' + name, run('wrong', options=['-r', out], must_work=False), says)
    with open(path, 'w') as f:
        f.write(text)
    sink_runs.told(v, 'more than nstellarmax', run(
        'wrong_more', law=law(more='nstellarmax=1'), options=['-r', out], must_work=False),
        'nstellarmax=1')
    v.end()


if __name__ == '__main__':
    if sys.argv[1] == 'ranks':
        ranks([int(n) for n in sys.argv[2:]])
    else:
        {'global': together, 'merge': merge, 'foreign': foreign, 'wrong': wrong}[sys.argv[1]]()
