"""Every old or unusual form of RAMSES's files is recognised and read correctly.

    variants.py           forms made here from a small checkpoint of ours (gas, particles, gravity,
                          3 ranks): big-endian, LONGINT, QUADHILBERT, group_NNNNN/, particles and
                          descriptors of before 2017, gravity of before 2015, header of before 2010,
                          single precision, sub-records, all at once; without the optional files.
                          `inspect -d` gives the same digest for each field, `inspect` names the
                          form, `simulate -r` goes on to the same state; damaged ones end in one
                          sentence and status 2
    variants.py boxes     physical boundaries (a true RAMSES output), several coarse cells, one and
                          two dimensions
    variants.py beside    sink particles in each form, stellar objects, cooling tables, whole and
                          damaged

The files are read and written by the functions below, which share no code with the programs.
Examples of faults caught: a number not swapped, a column taken for another, boundary cells
counted, an oct's 8 cells read where there are 4.
"""
# test: tier=check timeout=120 ranks=3
# test: boxes tier=check timeout=60
# test: beside tier=check timeout=60
import filecmp
import json
import os
import re
import shutil
import struct
import sys
import tarfile

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import ptah  # noqa: E402

RANKS = 3
INT, LONG, REAL, BYTE, TEXT = '<i4', '<i8', '<f8', 'i1', 'S1'


def namelist(steps):
    refine, gas = 'm_refine=8*6.\nmass_sph=2.4414e-4', 'd_region=0.1\np_region=0.1'
    return ptah.ascii_box((4, 6), steps, 2, refine, gas, 'ics/nbody4096')


# ---- files as lists of arrays, one per record

def records(path):
    """The payloads of a file written in the usual way."""
    with open(path, 'rb') as f:
        data = f.read()
    at, out = 0, []
    while at < len(data):
        n, = struct.unpack_from('<i', data, at)
        assert struct.unpack_from('<i', data, at + 4 + n)[0] == n
        out.append(data[at + 4:at + 4 + n])
        at += n + 8
    return out


def store(path, arrays, big=False, sub=None):
    """sub: length of the longest sub-record."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    mark = struct.Struct('>i' if big else '<i')
    with open(path, 'wb') as f:
        for a in arrays:
            raw = (a.astype(a.dtype.newbyteorder('>')) if big else a).tobytes()
            pieces = [raw[i:i + sub] for i in range(0, len(raw), sub)] if sub and raw else [raw]
            for i, p in enumerate(pieces):
                head, tail = (-1 if i + 1 < len(pieces) else 1), (-1 if i else 1)
                f.write(mark.pack(head * len(p)) + p + mark.pack(tail * len(p)))


def cast(raw, *types):
    return [np.frombuffer(r, t) for r, t in zip(raw, types, strict=True)]


class Snapshot:
    """The binary files of a checkpoint, by kind and rank, and its texts."""

    def __init__(self, folder):
        names = sorted(os.listdir(folder))
        self.number = re.search(r'info_(\d{5})', ' '.join(names))[1]
        self.text = {n: open(os.path.join(folder, n)).read() for n in names if n.endswith('.txt')}
        self.file = {}
        for name in names:
            m = re.match(r'(amr|hydro|grav|part)_\d{5}\.out(\d{5})$', name)
            if m:
                parse = getattr(self, 'parse_' + m[1])
                self.file[m[1], int(m[2])] = parse(records(os.path.join(folder, name)))

    @staticmethod
    def parse_amr(raw):
        head = cast(raw[:8], *[INT] * 7, REAL)
        ncpu, nboundary = int(head[0][0]), int(head[5][0])
        lists = [INT] * (3 if nboundary else 0)
        types = [INT, REAL, REAL, REAL, REAL, REAL, INT, REAL, REAL, REAL, REAL, INT, INT, INT, INT,
                 *lists, INT, TEXT, REAL, INT, INT, INT]
        out = head + cast(raw[8:8 + len(types)], *types)
        at = len(out)
        block = [INT] * 3 + [REAL] * 3 + [INT] * 31
        while at < len(raw):
            out += cast(raw[at:at + 37], *block)
            at += 37
        assert ncpu == len(out[21]) // int(head[3][0])
        return out

    @staticmethod
    def parse_hydro(raw, head=(INT, INT, INT, INT, INT, REAL)):
        out = cast(raw[:len(head)], *head)
        nvar = int(out[1][0])
        at = len(out)
        while at < len(raw):
            n = np.frombuffer(raw[at + 1], INT)[0]
            k = 2 + (8 * nvar if n else 0)
            out += cast(raw[at:at + k], INT, INT, *[REAL] * (k - 2))
            at += k
        return out

    @staticmethod
    def parse_grav(raw):
        return Snapshot.parse_hydro(raw, (INT, INT, INT, INT))

    @staticmethod
    def parse_part(raw):
        head = [INT] * 5 + [REAL, REAL, INT]
        return cast(raw, *head, *[REAL] * 7, INT, INT, BYTE, BYTE)

    def write(self, folder, group=0, **how):
        shutil.rmtree(folder, ignore_errors=True)
        for (kind, rank), arrays in self.file.items():
            inside = 'group_%05d/' % ((rank - 1) // group + 1) if group else ''
            store('%s/%s%s_%s.out%05d' % (folder, inside, kind, self.number, rank), arrays, **how)
        for name, text in self.text.items():
            with open('%s/%s%s' % (folder, 'group_00001/' if group else '', name), 'w') as f:
                f.write(text)


# ---- forms: each function changes a snapshot in place

PART_NAMES, HYDRO_NAMES = 'part_file_descriptor.txt', 'hydro_file_descriptor.txt'


def change_text(s, name, old, new):
    if name in s.text:
        s.text[name] = s.text[name].replace(old, new)


def long_integers(s):
    """LONGINT: ids, counts of octs, number of stars."""
    for (kind, _), a in s.file.items():
        if kind == 'amr':
            a[23 - 1] = a[23 - 1].astype(LONG)
        if kind == 'part':
            a[4], a[15] = a[4].astype(LONG), a[15].astype(LONG)
    change_text(s, PART_NAMES, 'identity, i', 'identity, q')


def quad(x):
    """A double as real*16, as low and high half."""
    bits, = struct.unpack('<Q', struct.pack('<d', x))
    sign, exponent, mantissa = bits >> 63, bits >> 52 & 0x7ff, bits & (1 << 52) - 1
    wide = sign << 127 | exponent - 1023 + 16383 << 112 | mantissa << 60
    return (wide & (1 << 64) - 1, wide >> 64) if x else (0, 0)


class Quads(np.ndarray):
    """16-byte numbers, which numpy lacks: swapped as a whole."""

    @classmethod
    def of(cls, values):
        return np.array([quad(float(v)) for v in values], '<u8').view(cls)

    def astype(self, dtype, **_):
        if dtype.str[0] != '>':
            return self
        return np.ascontiguousarray(self.view(np.ndarray)[:, ::-1]).astype('>u8')


def bound_key(a):
    return len(head_types(a)) - 4


def head_types(a):
    """The records of an amr file before the octs."""
    return a[:32 if a[5][0] else 29]


def quad_keys(s):
    for (kind, _), a in s.file.items():
        if kind == 'amr':
            a[bound_key(a)] = Quads.of(a[bound_key(a)])


def old_particles(s):
    n = sum(int(a[2][0]) for (kind, _), a in s.file.items() if kind == 'part')
    for (kind, _), a in s.file.items():
        if kind == 'part':
            del a[17:19]
    del s.text[PART_NAMES]
    counts = zip(('', 'dark matter ', 'star ', 'sink '), (n, n, 0, 0))
    text = ''.join(' Total number of %sparticles\n %d\n' % c for c in counts)
    s.text['header_%s.txt' % s.number] = text + ' Particle fields\npos vel mass iord level \n'


def old_descriptor(s):
    lines = [line for line in s.text[HYDRO_NAMES].splitlines() if line[0] != '#']
    names = [line.split(',')[1].strip() for line in lines]
    s.text[HYDRO_NAMES] = 'nvar        =%11d\n' % len(names) + ''.join(
        'variable #%2d: %s\n' % (i + 1, n) for i, n in enumerate(names))


def old_gravity(s):
    for (kind, _), a in s.file.items():
        if kind == 'grav':
            a[1] = np.array([3], INT)
            at = 4
            while at < len(a):
                k = 32 if a[at + 1][0] else 0
                del a[at + 2:at + 2 + k:4]
                at += 2 + k * 3 // 4


def old_header(s):
    for (kind, _), a in s.file.items():
        if kind == 'amr':
            del a[18]


def rounded(x):
    return x.clip(-3e38, 3e38).astype('<f4').astype(REAL)  # tout may be infinite


def round_reals(s):
    for a in s.file.values():
        a[:] = [rounded(x) if x.dtype == REAL else x for x in a]


def single(s):
    for (kind, _), a in s.file.items():
        keys = bound_key(a) if kind == 'amr' else -1  # domain boundaries keep their precision
        a[:] = [x.astype('<f4') if x.dtype == REAL and i != keys else x for i, x in enumerate(a)]
    change_text(s, PART_NAMES, ', d', ', f')


def bare(s):
    s.text = {n: t for n, t in s.text.items() if n.startswith('info_')}


# ---- checks

def inspect(*argv):
    return ptah.Run([ptah.program('inspect'), *argv], '.')


def digests(folder):
    """name → digest"""
    return {n: d for d, n in (line.split() for line in ptah.digest(folder).splitlines())}


def differing(a, b):
    return sorted(n for n in a.keys() | b.keys() if a.get(n) != b.get(n))


def look(folder):
    r = inspect('-j', folder)
    if r.status:
        print(r.err)
        sys.exit(1)
    return json.loads(r.out)


def one_sentence(v, what, r):
    lines = [line for line in r.err.splitlines() if not re.match(r' |$', line)]
    good = r.status == 2 and len(lines) == 1 and len(lines[0]) > 20
    v.same(what + ': one sentence, status 2', good or (r.status, r.err[:300]), True)


def go_on(folder, start, steps=3):
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    os.symlink(os.path.abspath('ics'), folder + '/ics')
    return ptah.simulate(namelist(steps), folder, options=['-v', '-r', os.path.abspath(start)],
                         settings=['output_params/foutput=3'], must_work=False)


def damage(v, what, folder, group, every=True):
    """Reads a truncated file; with `every` also a missing file, a longer one, and a wrong first or
    last record length."""
    place = '%s/group_%05d/%%s' % (folder, (RANKS - 1) // group + 1) if group else folder + '/%s'
    for kind in ('amr', 'hydro', 'grav', 'part'):
        path = place % ('%s_00002.out%05d' % (kind, RANKS))
        with open(path, 'rb') as f:
            whole = f.read()
        first, last = bytes([whole[0] ^ 1]), bytes([whole[-1] ^ 64])
        harm = [('cut', whole[:len(whole) * 2 // 3])]
        if every:
            harm += [('missing', None), ('empty', b''), ('short', whole[:-1]),
                     ('first length', first + whole[1:]), ('last length', whole[:-1] + last),
                     ('longer', whole + bytes(8))]
        for how, data in harm:
            os.remove(path)
            if data is not None:
                with open(path, 'wb') as f:
                    f.write(data)
            r = inspect('-dq', folder)
            if r.status != 2 or len(r.err.splitlines()) != 1:
                one_sentence(v, '%s, %s %s' % (what, kind, how), r)
            if data is None:
                open(path, 'wb').close()
        with open(path, 'wb') as f:
            f.write(whole)
    v.same(what + ': whole again', inspect('-dq', folder).status, 0)


def forms():
    v = ptah.Verdict()
    ptah.unpack_ics('.', 'nbody4096')
    base = ptah.simulate(namelist(2), '.', RANKS).outputs[-1]
    shutil.copytree(base, 'plain')
    for name in os.listdir('plain'):
        if not re.match(r'(amr|hydro|grav|part)_.*out|.*(info|header|descriptor).*txt', name):
            os.remove('plain/' + name)
    want = digests('plain')
    v.same('the plain files have the digest of the checkpoint', want == digests(base), True)
    Snapshot('plain').write('again')
    names = sorted(os.listdir('plain'))
    same, other, missing = filecmp.cmpfiles('plain', 'again', names, shallow=False)
    v.same('read and written here: files', (same, other, missing), (names, [], []))
    end = go_on('end', 'plain')
    v.same('without exact files it is said',
           'not bit for bit' in end.err and 'has no exact files' in end.err, True)
    final = digests(end.outputs[-1])
    # description, changes, keywords for writing, words of the format, lines of the digest: missing,
    # changed
    table = [
        ('big-endian', [], {'big': True}, ['big-endian'], [], []),
        ('LONGINT', [long_integers], {}, ['8-byte counts', '8-byte ids'], [], []),
        ('QUADHILBERT', [quad_keys], {}, ['16-byte keys'], [], []),
        ('groups of 2', [], {'group': 2}, ['groups of 2 files'], [], []),
        ('groups of 1', [], {'group': 1}, ['groups of 1 file'], [], []),
        ('particles of before 2017', [old_particles], {}, ['particles without families'],
         ['particle.tag'], []),
        ('descriptor of before 2017', [old_descriptor], {}, ['old hydro descriptor'], [], []),
        ('gravity of before 2015', [old_gravity], {}, ['gravity without potential'], ['phi'], []),
        ('header of before 2010', [old_header], {}, ['header of before 2010'], [], ['time']),
        ('sub-records', [], {'sub': 1001}, [], [], []),
        ('no optional text', [bare], {}, [], [], []),
        ('no text, old particles', [old_particles, bare], {}, ['particles without families'],
         ['particle.tag'], []),
        ('all at once',
         [long_integers, quad_keys, old_particles, old_descriptor, old_gravity, old_header],
         {'big': True, 'group': 2, 'sub': 5003},
         ['big-endian', 'groups of 2 files', '16-byte keys', '8-byte counts', '8-byte ids',
          'old hydro descriptor', 'particles without families', 'gravity without potential',
          'header of before 2010'],
         ['particle.tag', 'phi'], ['time']),
    ]
    for what, changes, how, words, gone, changed in table:
        s = Snapshot('plain')
        for change in changes:
            change(s)
        s.write('form', **how)
        got = digests('form')
        v.same(what + ': lines that go', sorted(set(want) - set(got)), sorted(gone))
        differ = [n for n in got if got[n] != want[n] and (n != 'state' or not gone + changed)]
        v.same(what + ': lines that differ', sorted(differ), sorted(changed))
        v.same(what + ': named', look('form')['format'], ', '.join(['RAMSES binary', *words]))
        r = go_on('on', 'form')
        if v.same(what + ': simulate goes on', r.status or len(r.outputs), 1):
            v.same(what + ': the form is in the log', words == [] or words[-1] in r.err, True)
            if 'phi' not in gone:  # phi is the first guess of the solver
                v.same(what + ': to the same state', differing(digests(r.outputs[-1]), final), [])
        else:
            print(r.err[-500:])
        every = what in ('big-endian', 'sub-records', 'all at once')
        damage(v, what, 'form', how.get('group', 0), every)
    old_stars(v)
    narrow(v)
    v.end()


def old_stars(v):
    """In files without families, stars are the particles with a time of birth other than 0, also
    negative."""
    new, old = Snapshot('plain'), Snapshot('plain')
    for (kind, _), a in new.file.items():
        if kind == 'part':
            a[17] = np.where(np.arange(len(a[17])) % 3, 2, 1).astype(BYTE)
    new.write('form')
    want = digests('form')
    old_particles(old)
    header = 'header_%s.txt' % old.number
    old.text[header] = old.text[header].replace('level ', 'level tform metal ')
    for (kind, _), a in old.file.items():
        if kind == 'part':
            born = (np.arange(len(a[14])) % 3 * 2 - 3) * (np.arange(len(a[14])) % 3 > 0)
            a += [born.astype(REAL), np.zeros(len(born), REAL)]
    old.write('form')
    v.same('old stars: their family', digests('form')['particle.family'], want['particle.family'])


def narrow(v):
    """Single precision is read as the doubles of equal value."""
    s = Snapshot('plain')
    round_reals(s)
    s.write('rounded')
    single(s)
    s.write('form')
    v.same('single precision: lines that differ',
           differing(digests('form'), digests('rounded')), [])
    v.same('single precision: named', look('form')['format'], 'RAMSES binary, single precision')
    s.write('form', big=True)
    v.same('single precision, big-endian: lines that differ',
           differing(digests('form'), digests('rounded')), [])
    r = go_on('on', 'form')
    if not v.same('single precision: simulate goes on', r.status, 0):
        print(r.err[-500:])
    damage(v, 'single precision', 'form', 0)


# ---- boxes

def periodic_twin(s):
    """A snapshot converted from one with physical boundaries to one without: one coarse cell, no
    boundary octs."""
    for rank in range(1, 3):
        amr, hydro, grav = (s.file[k, rank] for k in ('amr', 'hydro', 'grav'))
        ncpu, nlevel, nbound = (int(amr[i][0]) for i in (0, 3, 5))
        size = amr[2].copy()
        coarse = [int(x) // 2 for x in size]  # coarse cells of the box
        inside = coarse[0] + size[0] * (coarse[1] + size[1] * coarse[2])
        own, bound = amr[21].reshape(nlevel, ncpu), amr[25].reshape(nlevel, nbound)
        blocks, values = [], [hydro[:6], grav[:4]]
        at, where = 32, [6, 4]
        for level in range(nlevel):
            for b in range(ncpu + nbound):
                n = int(own[level, b]) if b < ncpu else int(bound[level, b - ncpu])
                for k, a in enumerate((hydro, grav)):
                    count = 2 + (8 * int(a[1][0]) if n else 0)
                    assert a[where[k]][0] == level + 1 and a[where[k] + 1][0] == n
                    if b < ncpu:
                        values[k] += a[where[k]:where[k] + count]
                    where[k] += count
                if n and b < ncpu:
                    block = amr[at:at + 37]
                    block[3:6] = [x - c for x, c in zip(block[3:6], coarse)]
                    blocks += block
                at += 37 if n else 0
        amr[2], amr[5], amr[6] = np.ones(3, INT), np.zeros(1, INT), np.array([own.sum()], INT)
        of_coarse = [x[inside:inside + 1] for x in amr[29:32]]
        s.file['amr', rank] = amr[:23] + amr[26:29] + of_coarse + blocks
        hydro[4], grav[3] = amr[5], amr[5]
        s.file['hydro', rank], s.file['grav', rank] = values
        values[0][4], values[1][3] = amr[5], amr[5]


SMALL_INFO = """ncpu        =          1
ndim        =%11d
levelmin    =          1
levelmax    =          3

boxlen      =  %.15E
unit_l      =  1.0
unit_d      =  1.0
unit_t      =  1.0

ordering type=hilbert
   DOMAIN   ind_min  ind_max
       1   0.0E+00   0.64E+02
"""


def small(folder, ndim, coarse, split, seed=1):
    """Makes a snapshot in ndim dimensions with coarse cells inside the box, levels 1 to 3, some
    cells of level 2 split if `split`. Returns octs and leaf cells per level, and the mass of the
    gas."""
    rng, ncell = np.random.default_rng(seed), 1 << ndim
    side = list(coarse) + [1] * (3 - ndim)
    levels, corner = [], np.stack(np.indices(coarse), -1).reshape(-1, ndim)
    offset = np.array([[c >> d & 1 for d in range(ndim)] for c in range(ncell)])
    for level in range(1, 4):
        n = len(corner)
        refined = rng.random((n, ncell)) < (1, 0.4 * split, 0)[level - 1]
        levels.append(((corner + 0.5) * 0.5 ** (level - 1), refined, rng.random((n, ncell)) + 0.5))
        corner = (2 * corner[:, None] + offset)[refined]
    numbers = [len(x) for x, _, _ in levels]
    cosmology, aexp = np.array([0., 0., 1., 0.045, 1., 0., 0.]), np.array([1., 0., 1., 0., 0.])
    i4 = lambda *x: np.array(x, INT)  # noqa: E731
    counts = np.array(numbers, INT)
    boxlen = 2.0
    amr = [i4(1), i4(ndim), i4(*side), i4(3), i4(1000), i4(0), i4(sum(numbers)), np.array([boxlen]),
           i4(1, 1, 2), *np.zeros((3, 1)), *np.zeros((2, 3)), i4(3, 4), np.zeros(3), cosmology,
           aexp, np.array([0.1]), counts, counts, counts, np.zeros(30, INT), i4(0, 0, 0, 0, 0),
           np.frombuffer(b'hilbert'.ljust(128), TEXT), np.array([0., 64.])]
    amr[22] = np.array([[n, n, n, n] + [0] * 6 for n in numbers], INT)
    amr += [np.ones(int(np.prod(side)), INT)] * 3
    hydro = [i4(1), i4(ndim + 2), i4(ndim), i4(3), i4(0), np.array([1.4])]
    mass, leaves = 0.0, []
    for level, (x, refined, rho) in enumerate(levels, 1):
        n = len(x)
        whole = np.ones(n, INT)
        if n:
            amr += [whole] * 3 + [x[:, d].copy() for d in range(ndim)] + [whole] * (1 + 2 * ndim)
            amr += [*refined.T.astype(INT)] + [whole] * ncell + [*refined.T.astype(INT)]
        hydro += [i4(level), i4(n)]
        for c in range(ncell if n else 0):
            hydro += [rho[:, c].copy()] + [rng.random(n) for _ in range(ndim + 1)]
        leaves.append(int((~refined).sum()))
        mass += (rho[~refined] * (boxlen / side[0] * 0.5 ** level) ** ndim).sum()
    store(folder + '/amr_00007.out00001', amr)
    store(folder + '/hydro_00007.out00001', hydro)
    npart = 5
    part = [i4(1), i4(ndim), i4(npart), i4(-1, -1, -1, -1), i4(0), np.zeros(1), np.zeros(1), i4(0)]
    part += [rng.random(npart) for _ in range(2 * ndim + 1)]
    part += [np.arange(1, 6, dtype=INT), np.ones(npart, INT)]
    store(folder + '/part_00007.out00001', part)
    with open(folder + '/info_00007.txt', 'w') as f:
        f.write(SMALL_INFO % (ndim, boxlen / side[0]))
    return numbers, leaves, mass, part[8 + 2 * ndim].sum()


def boxes():
    v = ptah.Verdict()
    with tarfile.open(os.path.join(ptah.DATA, 'variants', 'walls.tar.xz')) as t:
        t.extractall('.')
    walls = 'output_00002'
    s = Snapshot(walls)
    periodic_twin(s)
    s.write('twin')
    v.same('walls: lines that differ from those of the cells inside',
           differing(digests(walls), digests('twin')), [])
    j = look(walls)
    v.same('walls: boundaries', j['boundaries'], 2)
    v.same('walls: volume of the leaf cells', j['leaf_volume'], 1)
    settings = ['run_params/nstepmax=5', 'output_params/foutput=5']
    r = ptah.simulate('walls.nml', '.', 2, settings=settings, options=['-r', walls],
                      must_work=False)
    if not v.same('walls: simulate goes on', r.status or len(r.outputs), 1):
        print(r.err[-500:])
    for coarse in [1], [1, 1], [3], [2, 1], [3, 2], [2, 1, 1], [2, 2, 2], [3, 2, 1], [1, 1, 1]:
        ndim = len(coarse)
        what = '%d-D, coarse cells %s' % (ndim, ' x '.join(map(str, coarse)))
        shutil.rmtree('small', ignore_errors=True)
        numbers, leaves, mass, particles = small('small', ndim, coarse, True)
        j = look('small')
        v.same(what + ': octs', [x['octs'] for x in j['levels']], [n for n in numbers if n])
        v.same(what + ': leaf cells', [x['leaves'] for x in j['levels']], leaves[:len(j['levels'])])
        v.check(what + ': volume', abs(j['leaf_volume'] - 1), 1e-14)
        v.check(what + ': mass of the gas', abs(j['gas_mass'] / mass - 1), 1e-14)
        v.check(what + ': mass of the particles', abs(j['particle_mass'] / particles - 1), 1e-14)
        v.same(what + ': digest', inspect('-dq', 'small').status, 0)
        drawn = inspect('-m', 'density', '-o', 'a%s.png' % len(coarse), 'small')
        if max(coarse) == 1:
            v.same(what + ': map', drawn.status, 0 if ndim > 1 else 2)
        else:
            one_sentence(v, what + ': map', drawn)
        if ndim < 3 or max(coarse) > 1:
            r = ptah.simulate('walls.nml', '.', options=['-q', '-r', 'small'], must_work=False)
            one_sentence(v, what + ': simulate', r)
    v.end()


# ---- sinks and other tables

CSV = (' # id,msink,x,y,z,vx,vy,vz,lx,ly,lz,tform,acc_rate,del_mass,rho_gas,cs**2,etherm,'
       'vx_gas,vy_gas,vz_gas,mbh,dmfsink,level\n'
       ' # 1,m,l,l,l,l t**-1,l t**-1,l t**-1,m l**2 t**-1,m l**2 t**-1,m l**2 t**-1,t,m t**-1,m,'
       'm l**-3,l**2 t**-2,m l**2 t**-2,l t**-1,l t**-1,l t**-1,m,m,1\n')


def put(path, text):
    with open(path, 'w') as f:
        f.write(text)


def row(i, n, width=22):
    return '%10d,' % (i + 1) + ','.join('%21.10E' % (0.25 * (i + 1) + k) for k in range(n))


def sink_file(n, acc_rate):
    """Sink file as RAMSES wrote it until 2018; cuRAMSES has the accretion rate too."""
    real = [np.arange(n) + 0.25 + k for k in range(11 + 1 + acc_rate)]
    whole = [np.arange(1, n + 1, dtype=INT), np.ones(n, INT), np.array([6], INT)]
    return [np.array([n], INT), np.array([n], INT)] + (real + whole if n else [])


def beside():
    v = ptah.Verdict()
    small('s', 3, [1, 1, 1], True)
    plain = digests('s')
    csv, old, info, binary = ('s/sink_00007' + e for e in ('.csv', '.csv', '.info', '.out00001'))
    line = '=' * 130
    texts = [
        ('csv with names', csv, CSV + ''.join(row(i, 21) + ',%10d\n' % 7 for i in range(3)), 3, 23),
        ('csv with names and no sink', csv, CSV, 0, 0),
        ('csv without names, 13 columns', old, ''.join(row(i, 12) + '\n' for i in range(2)), 2, 13),
        ('csv without names, 10 columns', old, ''.join(row(i, 9) + '\n' for i in range(2)), 2, 10),
        ('csv with an exponent without its letter', old, row(0, 8) + ',0.1234567890-103\n', 1, 10),
        ('info', info, ' Number of sink =  2\n %s\n  Id  Mass(Msol)  x\n %s\n' % (line, line)
         + ''.join(row(i, 7).replace(',', '  ') + '\n' for i in range(2)) + ' %s\n' % line, 2, 8),
    ]
    for what, path, text, count, ncol in texts:
        put(path, text)
        j = look('s')['sinks']
        v.same(what + ': sinks, columns', (j['count'], len(j['columns'])), (count, ncol))
        if 'info' not in what and count:
            v.same(what + ': mass', j['mass'], sum(0.25 * (i + 1) for i in range(count)))
        got = digests('s')
        v.same(what + ': other lines that differ',
               [n for n in plain if n != 'state' and got.get(n) != plain[n]], [])
        v.same(what + ': lines of sinks', sum(n.startswith('sink.') for n in got), ncol)
        os.remove(path)
    for n in (0, 1, 2, 3):
        for acc_rate in (0, 1):
            store(binary, sink_file(n, acc_rate))
            store(binary[:-1] + '2', sink_file(n, acc_rate))
            put(csv, 'a csv beside is not looked at\n')
            j = look('s')['sinks']
            v.same('binary, %d sinks' % n,
                   (j['count'], len(j['columns'])), (n, 15 + acc_rate if n else 0))
            if n:
                names = {'identity', 'mass', 'birth_time', 'position_x', 'velocity_z', 'lx',
                         'del_mass', 'new_born', 'level'}
                v.same('binary, %d sinks: names that lack' % n,
                       sorted(names - set(j['columns'])), [])
                v.same('binary, %d sinks: mass' % n, j['mass'], sum(i + 0.25 for i in range(n)))
                first = digests('s')
                store(binary, sink_file(n, acc_rate), big=True, sub=7)
                v.same('binary, %d sinks, big-endian: lines that differ' % n,
                       differing(digests('s'), first), [])
            with open(binary, 'rb') as f:
                whole = f.read()
            for cut in {0, 4, len(whole) // 2, len(whole) - 1}:
                with open(binary, 'wb') as f:
                    f.write(whole[:cut])
                one_sentence(v, 'binary, cut at %d of %d' % (cut, len(whole)), inspect('-q', 's'))
    for name in ('csv', 'out00001', 'out00002'):
        os.remove('s/sink_00007.' + name)
    for what, text in (
            ('a word', row(0, 9) + '\n  2, none\n'),
            ('a row too short', row(0, 9) + '\n' + row(1, 8) + '\n'), ('cut', row(0, 9)),
            ('stars', row(0, 8) + ', ******\n'), ('a broken id', '  1.5' + row(0, 9)[10:] + '\n'),
            ('names of other columns', CSV + row(0, 9) + '\n'), ('bytes of 0', '1, 2\0\n'),
            ('a name twice', ' # x,x\n1,2\n'), ('a long row', row(0, 399) + '\n')):
        put(csv, text)
        one_sentence(v, 'csv with ' + what, inspect('-q', 's'))
    os.remove(csv)
    put('s/stellar_00007.csv',
        ' # id,mstellar,tform,tlife\n # 1,m,t,t\n' + row(0, 3) + '\n' + row(1, 3) + '\n')
    j = look('s')['stellar']
    v.same('stellar', (j['count'], j['columns']), (2, ['identity', 'mass', 'birth_time', 'tlife']))
    cooling(v)
    v.end()


def cooling(v):
    n, path = (5, 4), 's/cooling_00007.out'
    tables = [np.array(n, INT), np.zeros(5), np.zeros(4)] + [np.zeros(20)] * 11 + [np.zeros(120)]
    for big in (False, True):
        store(path, tables, big=big)
        r = inspect('s')
        v.same('cooling table', bool(re.search(r'cooling table +5 x 4', r.out)), True)
    for what, bad in (('a table less', tables[:-2]),
                      ('another size', [np.array([6, 4], INT)] + tables[1:]), ('no table', [])):
        store(path, bad)
        one_sentence(v, 'cooling table, ' + what, inspect('-q', 's'))


if __name__ == '__main__':
    {'': forms, 'boxes': boxes, 'beside': beside}[''.join(sys.argv[1:])]()
