"""Namelists in randomly drawn dialects: Ptah reads the same values as Fortran, or refuses.

    dialects.py NUMBER [SEED]   draws NUMBER texts, and reads each with both
    dialects.py show SEED/K     prints a text, and the values read by both

The oracle is a Fortran program, written from the table of parameters (`inforce table`), that reads
the groups as RAMSES does: each after a rewind. The dialects are drawn from a grammar that writes
the same assignments in many forms, plain and odd; in some texts a few characters are then removed,
doubled, moved or replaced.

Catches any value that Ptah silently reads differently from Fortran. Ptah may read a text that
Fortran refuses if its meaning is known: the values must then be those of the same assignments in
plain forms. Most texts must be read, so that refusing all is no solution.
"""
# test: 1000 tier=check timeout=300
# test: 10000 tier=long timeout=1500
import os
import random
import re
import shutil
import struct
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import ptah  # noqa: E402
import fuzz  # noqa: E402

GROUPS = ['RUN_PARAMS', 'AMR_PARAMS', 'OUTPUT_PARAMS', 'INIT_PARAMS', 'HYDRO_PARAMS',
          'REFINE_PARAMS', 'BOUNDARY_PARAMS', 'MOVIE_PARAMS', 'SIDM_PARAMS', 'POISSON_PARAMS']
REFUSED = 3  # statuses from this one on: rows whose only value is the default, or that have none
TYPES = {'bool': 'logical', 'int': 'integer', 'long': 'integer(8)', 'real': 'real(8)',
         'text': 'character(255)'}
MOST = 1e6  # largest number drawn
AT_LEAST_EQUAL, MOST_UNKNOWN = 0.6, 0.02
SOUND, DAMAGED = 0.9, 0.06  # fractions: of odd forms with a meaning, of texts that are damaged
BATCH = 500


class Row:
    def __init__(self, line):
        head, self.text, choices = line.split('\t')
        self.group, self.name, self.kind, *numbers = head.split()
        self.array, self.n1, self.n2, self.base = map(int, numbers[:4])
        self.default, self.min, self.max = map(float, numbers[4:7])
        self.status = int(numbers[7])
        self.choices = [c for c in choices.split('|') if c and c[0] != '!']

    def room(self):
        return self.n1 * self.n2

    def fortran_default(self):
        if self.kind == 'bool':
            return '.true.' if self.default else '.false.'
        if self.kind in ('int', 'long'):
            return '%d' % self.default
        if self.kind == 'text':
            return "'%s'" % self.text
        if self.default > 1e308:
            return 'huge(1d0)'
        return '%sd0' % repr(self.default) if 'e' not in repr(self.default) else repr(
            self.default).replace('e', 'd')


# ---- both readers

def oracle_of_group(group, rows):
    """A module with the variables of a group, and subroutines reset, read, show."""
    out = ['module m_%s' % group, 'implicit none']
    for r in rows:
        last = r.base + r.n1 - 1
        dims = '' if not r.array else '(%d:%d%s)' % (r.base, last, ',%d' % r.n2 if r.n2 > 1 else '')
        out.append('%s :: %s%s' % (TYPES[r.kind], r.name, dims))
    out.append('namelist /%s/ %s' % (group, ', &\n  '.join(r.name for r in rows)))
    out += ['contains', 'subroutine reset_%s' % group]
    out += ['%s = %s' % (r.name, r.fortran_default()) for r in rows]
    out += ['end subroutine', 'subroutine read_%s' % group, 'integer :: ios',
            'rewind(1)', 'read(1, nml=%s, iostat=ios)' % group,
            "print '(a, i0)', 'status %s ', ios" % group, 'end subroutine',
            'subroutine show_%s' % group, 'integer :: i, j']
    for r in rows:
        e = r.name + ('' if not r.array else '(i)' if r.n2 == 1 else '(i,j)')
        default = r.fortran_default()
        differ, bits = {
            'bool': ('%s .neqv. %s' % (e, default), 'merge(1_8, 0_8, %s)' % e),
            'real': ('transfer(%s, 0_8) /= transfer(%s, 0_8)' % (e, default),
                     'transfer(%s, 0_8)' % e),
            'text': ('%s /= %s' % (e, default), 'trim(%s)' % e)}.get(
                r.kind, ('%s /= %s' % (e, default), 'int(%s, 8)' % e))
        form = 'a' if r.kind == 'text' else 'z16.16'
        out += ['do j = 1, %d' % r.n2, 'do i = %d, %d' % (r.base, r.base + r.n1 - 1),
                "if (%s) print '(a, i0, 1x, i0, 1x, %s)', '%s %s ', i, j, %s" %
                (differ, form, group, r.name, bits), 'end do', 'end do']
    return out + ['end subroutine', 'end module']


def oracle_source(rows):
    out = []
    for g in GROUPS:
        out += oracle_of_group(g, [r for r in rows if r.group == g])
    out += ['program oracle'] + ['use m_%s' % g for g in GROUPS]
    out += ['implicit none', 'character(4000) :: path', 'integer :: ios', 'do',
            "read(*, '(a)', iostat=ios) path", 'if (ios /= 0) exit',
            "open(1, file=trim(path), status='old')"]
    for verb in ('reset', 'read', 'show'):
        out += ['call %s_%s' % (verb, g) for g in GROUPS]
    out += ['close(1)', "print '(a)', 'end'", 'flush(6)', 'end do', 'end program']
    return '\n'.join(out) + '\n'


def build():
    """Builds the two programs in this folder; returns them and the rows."""
    subprocess.check_call(['mpicc', *fuzz.FLAGS.split(), '-fopenmp', '-o', os.path.abspath(
        'inforce'), *fuzz.sources(['inforce.c']), os.path.join(ptah.ROOT, 'build', 'libptah.a'),
        *fuzz.libraries()], cwd=ptah.ROOT)
    table = subprocess.run(['./inforce', 'table'], stdout=subprocess.PIPE, text=True, check=True)
    rows = [Row(line) for line in table.stdout.splitlines()]
    rows = [r for r in rows if r.group in GROUPS]
    with open('oracle.f90', 'w') as f:
        f.write(oracle_source(rows))
    subprocess.check_call(['gfortran', '-O0', '-ffree-line-length-none', '-o', 'oracle',
                           'oracle.f90'])
    return rows


def answers(output):
    """The lines of each complete answer."""
    found, lines = [], []
    for line in output.decode('latin-1').split('\n'):
        if line == 'end':
            found.append(lines)
            lines = []
        else:
            lines.append(line)
    return found


def fortran(texts):
    """Values that Fortran reads from each text, as lines; None where it refuses, or crashes."""
    names = []
    for i, text in enumerate(texts):
        names.append('dialect%d.nml' % i)
        with open(names[-1], 'wb') as f:
            f.write(text)
    found = []
    while len(found) < len(texts):
        rest = '\n'.join(names[len(found):]) + '\n'
        try:
            r = ptah.run_patiently(['./oracle'], input=rest.encode(), stdout=subprocess.PIPE,
                                   stderr=subprocess.DEVNULL, timeout=120)
            output = r.stdout
        except subprocess.TimeoutExpired as e:
            output = e.stdout or b''
        found += [understood(lines) for lines in answers(output)]
        if len(found) < len(texts):
            found.append(None)
    return found


def understood(lines):
    """The values, or None if a group was refused. At end of file, which also occurs for a missing
    group, the values read so far are kept."""
    status = [int(line.split()[2]) for line in lines if line.startswith('status ')]
    values = sorted(line for line in lines if not line.startswith('status '))
    return None if max(status) > 0 else values


def ptah_reads(texts):
    """Values that Ptah reads from each text, as lines, or the sentence (a str) with which it
    refuses."""
    data = b''.join(struct.pack('<Q', len(t)) + t for t in texts)
    r = subprocess.run(['./inforce'], input=data, stdout=subprocess.PIPE, check=True)
    return [lines[0][8:] if lines and lines[0].startswith('refused ') else sorted(lines)
            for lines in answers(r.stdout)]


# ---- a dialect

class Dialect:
    """A text drawn at random, and the same assignments in plain forms."""

    def __init__(self, rows, seed):
        self.rng = random.Random(seed)
        self.rows = [r for r in rows if r.status < REFUSED]
        self.text, self.plain, self.meant = [], [], True
        self.odds = self.rng.choice([0, 0, 0, 0.02, 0.08])
        self.chosen = self.rng.sample(range(50), self.rng.choice([0, 1, 1, 2]))
        # number of positions for odd forms so far; odd forms are certain at the chosen ones
        self.places = 0
        self.draw()
        self.text, self.plain = ''.join(self.text), ''.join(self.plain)
        if self.rng.random() < 0.04:
            self.text = self.text.replace('\n', '\r\n')
        elif self.rng.random() < 0.01:
            self.text, self.meant = self.text.replace('\n', '\r'), False
        if self.rng.random() < DAMAGED:
            self.damage()
        self.bytes = (b'\xef\xbb\xbf' if self.rng.random() < 0.02 else b'') + self.text.encode()

    def put(self, plain, odd=(), meaning=None):
        """Chooses one of the plain forms, or sometimes an odd one. A form is its text, or (text,
        None) if it has no meaning. The plain text gets `meaning`, or the first plain form."""
        forms = plain
        self.places += len(odd) > 0
        if odd and self.places - 1 in self.chosen or self.rng.random() < self.odds:
            sound = self.rng.random() < SOUND
            forms = [f for f in odd if isinstance(f, tuple) != sound] or plain
        form = self.rng.choice(forms)
        if isinstance(form, tuple):
            self.meant, form = False, form[0]
        self.text.append(form)
        self.plain.append(plain[0] if meaning is None else meaning)

    def draw(self):
        groups = self.rng.sample(GROUPS, self.rng.randrange(1, 5))
        if self.rng.random() < self.odds / 3:
            groups.insert(self.rng.randrange(len(groups) + 1), self.rng.choice(groups))
            self.meant = False
        for g in groups:
            self.remark(g)
            self.group(g)
        self.put(['\n', '', '\n\n', '\ntext\n', '\n! comment', '\n&\n', '\n$ 3'],
                 [('gamma=1.5\n', None), '\n/\n', '\n&end', '\ngamma=1.5', '\n=', '\n?'])

    def remark(self, g):
        other = self.rng.choice(GROUPS)
        self.put(['\n', '\n\n', "\n! a comment, isn't it?\n", '\nRemarks = and / & here\n',
                  '\n  text (1)\n', ' end of it\n', ' ! &%s\n' % other, '\n!&%s\n' % g, ' ',
                  ' end of it '],
                 ['', '\t', '\r\n', '\nx: ', '\n# ', '\n#', '\f\n', '\f', '\n=?\n', '\n?\n',
                  "\n'\n", '\nsee %s\n' % g, '\n%s ' % g, '\n& ', '\n! &%s /\n' % g, '\nR&D ',
                  '\ngamma = 1.5\n', '\n' + 'long ' * 20000 + '\n', '\n*&', '\na ! b ', '\r', '\v',
                  '\n&! &%s gamma=1.5 /\n' % g, '\n$! ', '\n=! &%s /\n' % g,
                  ('\n&%s /\n' % other, None), ('\nsee &%s below\n' % other, None),
                  ('\n& %s\n' % other, None), ('\n&%s_X /\n' % g, None), ('\n&X /\n', None),
                  ('\n&%s: gamma=1.5 /\n' % other, None), ('\n&&', None), ('\n&R', None),
                  ('\n"&%s "\n' % other, None)])

    def group(self, g):
        rng, name = self.rng, self.rng.choice([g, g.lower(), g.capitalize()])
        self.put(['&' + name], ['$' + name, ('& ' + name, None), ('&&' + name, None)])
        self.put(['\n', ' ', '  ', '\t', ' \n ', ' ! comment\n', '\n\n', '!comment\n'],
                 [', ', ';', '\r\n', ',\n', ('/', None), (':', None), ('\f', None), '\r', ',,',
                  ('=', None), ('%', None), ('', None), '\n,', (' ?\n', None), (' =?\n', None)])
        rows = [r for r in self.rows if r.group == g]
        for k in range(rng.choice([0, 1, 1, 2, 2, 3, 3, 4, 5])):
            if k:
                self.between_items()
            self.assignment(rng.choice(rows))
        self.put(['\n/', ' /', '/', ' &end', ' &END', '\n$end', ' $END', ' / text', ' /\n/',
                  ' ! /\n/'],
                 [('', None), ('&end', None), ('$end', None), (' &endx', None), (' &', None),
                  ('/x', None), ('/!c', None), ('//', None), (' &end/', None), ('\n,/', None),
                  ('\n&', None), (' / gamma=1.5', None), (' ;/', None), ('\n?/', None)])

    def between_items(self):
        self.put(['\n', ' ', ', ', ',\n', ' ! comment\n', ', ! comment\n', '!comment\n', '\n\n',
                  '\n! levelmin=3\n'],
                 [';', ' ; ', ',,', '\n,', '\r\n', '\t', ', , ', '\n!c\n,', ('', None),
                  ('\f', None), ('\v', None), (' ?', None), (' =?', None), ('\xa0', None),
                  (' & ', None), (' &end ', None), ('/', None), (' x ', None), (' x= ', None),
                  ('\r', None), ('.', None), ('_', None), ('"', None), (' 1 ', None)])

    def assignment(self, r):
        rng = self.rng
        name = rng.choice([r.name, r.name.upper(), r.name.capitalize()])
        self.put([name], [(name + 'x', None), (name[:-1], None), (name[:2] + '\n' + name[2:], None),
                          (name + '%x', None)], r.name)
        room = self.index(r)
        self.put(['=', ' = ', '= ', ' ='],
                 ['\n=', '=\n', ' =\t', ' !c\n=', '= !c\n', '=!c\n', '=\n!c\n', '=\r\n', '\n=\n\n',
                  ('==', None), (':=', None), (' ', None), ('', None), ('= =', None),
                  ('=,', None), ('=\n,', None), ('=\f', None)])
        self.values(r, room)

    def index(self, r):
        """Writes an index, or none; returns the number of values that fit."""
        rng, lo = self.rng, r.base
        if not r.array:
            self.put([''], [('(1)', None), ('(:)', None), ('()', None), (' (1:2)', None)])
            return 1
        if rng.random() < 0.4:
            return r.room()
        if r.n2 > 1:
            return self.two_indices(r)
        i, j = sorted(rng.randrange(lo, lo + r.n1) for _ in range(2))
        last, step = lo + r.n1 - 1, rng.randrange(1, 4)
        text, room = rng.choice([
            ('%d' % i, last - i + 1), ('%d:%d' % (i, j), j - i + 1), ('%d:' % i, last - i + 1),
            (':%d' % j, j - lo + 1), (':', r.n1), ('%d:%d:%d' % (i, j, step), (j - i) // step + 1),
            ('%d:%d:%d' % (j, i, -step), (j - i) // step + 1)])
        a, colon, b = text.partition(':')
        self.put(['(' + text + ')'],
                 ['( ' + text + ' )', '(' + text + ') ', ' (' + text + ')',
                  '(%s%s %s)' % (a, colon, b), '(%s %s%s)' % (a, colon, b),
                  ('(0%s)' % text, None), ('(+%s)' % text, None),
                  ('(\n' + text + ')', None), ('(%s\n)' % text, None), ('(%d)' % (last + 1), None),
                  ('(%d)' % (lo - 1), None), ('(%d:%d)' % (j, i), None), ('(%d.)' % i, None),
                  ('(%s,1)' % text, None), ('(%d %d)' % (i, j), None), ('(%s' % text, None),
                  ('(%s)(1:2)' % text, None), ('(%s)(1:)' % text, None), ('()', None),
                  ('(1::2)', None), ('(::2)', None), ('(%s:)' % text, None), ('(%s!)' % text, None),
                  ('(4294967297)', None), ('(1:%d)' % (last + 1), None), ('[%d]' % i, None)])
        return room

    def two_indices(self, r):
        rng = self.rng
        i, k = (sorted(rng.randrange(1, n + 1) for _ in range(2)) for n in (r.n1, r.n2))
        text, room = rng.choice([
            ('%d,%d' % (i[0], k[0]), (r.n1 - i[0] + 1) * (r.n2 - k[0] + 1)),
            ('%d:%d,%d' % (*i, k[0]), i[1] - i[0] + 1),
            ('%d,%d:%d' % (i[0], *k), k[1] - k[0] + 1),
            (':,%d' % k[0], r.n1), ('%d,:' % i[0], r.n2),
            ('%d:%d,%d:%d' % (*i, *k), (i[1] - i[0] + 1) * (k[1] - k[0] + 1)),
            ('%d:%d:2,%d' % (*i, k[0]), (i[1] - i[0]) // 2 + 1)])
        self.put(['(' + text + ')'],
                 ['(%s)' % text.replace(',', ', '), '( %s)' % text.replace(',', ' ,'),
                  ('(%d)' % i[0], None), ('(%s,1)' % text, None), ('(%d,%d)' % (i[0], r.n2 + 1),
                                                                   None)])
        return room

    def values(self, r, room):
        rng, used, first = self.rng, 0, True
        count = 1 if not r.array else rng.choice([1, 1, 2, 3, 4, 6])
        if rng.random() < self.odds:
            count = rng.choice([0, 1, 2, room, room + 1])
            self.meant = False
        while count > 0 and (used < room or not self.meant):
            if not first:
                self.between_values()
            first = False
            n = 1 if rng.random() < 0.7 else rng.randrange(1, max(2, min(room - used, 8) + 1))
            if n > 1 or rng.random() < 0.05:
                self.put(['%d*' % n], ['0%d*' % n, ('0*', None), ('+%d*' % n, None),
                                       ('%d *' % n, None), ('%d**' % n, None),
                                       ('%d*' % (room + 1), None), ('99999999999*', None),
                                       ('%d*\n' % n, None)])
                if rng.random() < 0.1:  # null values
                    used, count = used + n, count - 1
                    continue
            self.value(r)
            used, count = used + n, count - 1

    def between_values(self):
        self.put([', ', ',', ' ', ' ,', ' , ', ',\n', '\n', '  ', ' ! comment\n', '!c\n', '\n\n',
                  ',\n ! comment\n'],
                 [';', '; ', '\t', '\r\n', ',\r\n', '\n,', ' \n , ', ', ! comment\n', ',!c\n',
                  '!c\n,', ' !c\n , ', '\n!c\n', '\n!c\n,', ' !c\n!d\n\n ', ', !c\n,', ';\n',
                  ('', None), (',,', None), (', ,', None), (',\n,', None), (',,\n', None),
                  (',;', None), ('\n,,', None), (',\f', None), ('\f', None), ('\r', None),
                  (' &', None), (' / ', None), (' = ', None), (' ? ', None), (',!c\n,', None),
                  (',,!c\n', None), ('. ', None), (' 3*, ', None), (' 2* ', None)])

    def value(self, r):
        self.put(*getattr(self, 'value_' + r.kind)(r))

    def value_bool(self, _):
        if self.rng.random() < 0.5:
            return (['.true.', 'T', '.TRUE.', 't', 'true', '.t.', '.True.', '.T.', 'TRUE'],
                    ['.true', '.tt.', 'true.', 'Tuesday', '.t', '.truth', 't.', '.t1.', 'T_1',
                     '.TRUE.x', 't-1', ('1', None), ("'T'", None), ('yes', None), ('..', None),
                     ('.', None), ('t(1)', None), ('t%x', None), ('.t=', None), ('t&end', None)])
        return (['.false.', 'F', '.FALSE.', 'f', 'false', '.f.', '.F.', 'False'],
                ['.false', '.ff.', 'false.', 'fx', '.fx.y', '.f', 'f.', ('0', None), ('no', None),
                 ('f=', None), ('.f .', None)])

    def number(self, r):
        lo, hi = max(r.min, -MOST), min(r.max, MOST)
        return lo + (hi - lo) * self.rng.choice([0.001, 0.37, 0.5, 0.999, self.rng.random()])

    def value_int(self, r):
        v = round(self.number(r))
        return (['%d' % v, '%+d' % v, '%d' % v],
                ['%03d' % v, '%+05d' % v, ('%d.' % v, None), ('%d.0' % v, None), ('%de0' % v, None),
                 ('2147483648', None), ('-2147483649', None), ('%d_4' % v, None), ("'1'", None),
                 ('- %d' % abs(v), None), ('T', None), ('0x5', None), ("z'5'", None),
                 ('%d%%' % v, None), ('(%d)' % v, None), ('', None)])

    def value_long(self, r):
        plain, odd = self.value_int(r)
        return plain, odd[:2] + [('5000000000', None), ('9223372036854775807', None),
                                 ('9223372036854775808', None), ('4e9', None)]

    def value_real(self, r):
        mantissa, _, power = ('%.4e' % self.number(r)).partition('e')
        v, p = float(mantissa + 'e' + power), int(power)
        s = repr(v)
        plain = [s, '%sE%d' % (mantissa, p), '%sd%+d' % (mantissa, p), '%sD%03d' % (mantissa, p)]
        plain += ['%d.' % v, '%d' % v, '%d.d0' % v] if v == round(v) else []
        plain += ['+' + s] if v >= 0 else []
        odd = ['%s%+d' % (mantissa, p), '%sq%d' % (mantissa, p), '%s0%+d' % (mantissa, p)]
        odd += ['%s%se0' % (s, '0' * 90), s + '+0', s + 'E-00', s + 'd0'] if 'e' not in s else []
        bad = ['inf', 'nan', '+infinity', '-Inf', 'nan(1)', '1e400', '1e-400', s + 'e', s + '+',
               s + 'f0', '.', '+', s + '_8', s + '.', "'%s'" % s, 'T', "z'3ff'", '(%s)' % s, '1,5',
               '0x1p0', '', s + '&end', s + '$', '1 .5', 'i', 'n', s + 'd', s + '-', '1/2', '2*3*4',
               '1.5d400', '15-1', '1-1', '1.+2', '.5', '-.5+1', '1.e+', 'infx', 'nanx', 'in', 'na']
        return plain, odd + [(w, None) for w in bad]

    def value_text(self, r):
        words = ['a', 'ics/level_7', 'x y', "it's", 'say "so"', 'up!', '&', 'a=b', '$HOME/x', 'ü',
                 '1.5', '', ' lead', 'trail ', '&RUN', 'R&D (1)', ',', ';', '3*2', 'x' * 255,
                 '&%s x' % self.rng.choice(GROUPS), 'a ! b']
        s = self.rng.choice(r.choices or words)
        quotes = ["'%s'" % s.replace("'", "''"), '"%s"' % s.replace('"', '""')]
        other = self.rng.choice(GROUPS)
        bad = ["'", '"', "'a", "'a'b", "'a'&end", "'a'$end", '7!c\n', '3/4', "3'a'", '3(4)', '3;4',
               "'a\tb'", "'a\fb'", "'%s'" % ('x' * 256), "('a')", "'&%s a=1 /'" % other,
               "'a! &%s gamma=1.3 /'" % other, "'$%s '" % other, "'a''", '1*2*3', '.', 'T']
        odd = [s] if re.fullmatch(r'[a-z]+', s) else []
        return quotes, odd + ["'%s\n%s'" % (s[:2].replace("'", "''"), s[2:].replace("'", "''")),
                              *((w, None) for w in bad)]

    def damage(self):
        """Changes a few characters at random positions."""
        self.meant, rng, t = False, self.rng, self.text
        for _ in range(rng.randrange(1, 4)):
            at, kind = rng.randrange(len(t) + 1), rng.randrange(6)
            n = rng.choice([1, 1, 2, 5])
            if kind == 0:
                t = t[:at] + t[at + n:]
            elif kind == 1:
                t = t[:at] + t[at:at + n] + t[at:]
            elif kind == 2:
                t = t[:at] + t[at + n:at + 2 * n] + t[at:at + n] + t[at + 2 * n:]
            elif kind == 3 and rng.random() < 0.2:
                t = t[:at]
            else:
                t = t[:at] + rng.choice(' \n\t\r,;/&$!\'"=*():.%?#@+-_0129aeTF') + t[at + kind % 2:]
        self.text = t


# ---- comparison

def same(rows, a, b):
    """Equality of lines; texts with a fixed set of choices are compared without case."""
    if a == b:
        return True
    caseless = {(r.group, r.name) for r in rows if r.choices}

    def folded(lines):
        return [line.lower() if tuple(line.split(' ')[:2]) in caseless else line for line in lines]
    return folded(a) == folded(b)


OUTCOMES = ['equal', 'equal, nothing set', 'refused by Ptah', 'refused by both',
            'refused by Fortran, meaning kept', 'refused by Fortran, no meaning known', 'differ']


def outcome(rows, dialect, theirs, ours, plain):
    """One of OUTCOMES. plain: Fortran's values of the plain text."""
    if isinstance(ours, str):
        return 'refused by both' if theirs is None else 'refused by Ptah'
    if theirs is not None:
        if not same(rows, theirs, ours):
            return 'differ'
        return 'equal' if ours else 'equal, nothing set'
    if not dialect.meant:
        return 'refused by Fortran, no meaning known'
    good = plain is not None and same(rows, plain, ours)
    return 'refused by Fortran, meaning kept' if good else 'differ'


def judge(rows, dialects):
    """(dialect, outcome, Fortran's values, Ptah's values) of each."""
    texts = [d.bytes for d in dialects]
    theirs, ours = fortran(texts), ptah_reads(texts)
    plain = fortran([d.plain.encode() for d in dialects])
    return [(d, outcome(rows, d, f, p, q), f, p)
            for d, f, p, q in zip(dialects, theirs, ours, plain)]


def show(d, what, theirs, ours):
    print('---- %s: %s\n%s\n-- bytes: %r' % (d.name, what, d.bytes.decode(), d.bytes[-3000:]))
    print('-- Fortran: %s\n-- Ptah:    %s' % (theirs, ours))


def drawn(rows, seed, k):
    d = Dialect(rows, '%s/%d' % (seed, k))
    d.name = '%s/%d' % (seed, k)
    return d


def is_sentence(text):
    """Whether a message has file and line, or no line if none is to blame."""
    return re.match(r't\.nml(:\d+: |\b.* no namelist group)', text) and '\n' not in text


def refuses(v, d, sentence):
    """Whether the program itself also ends with this sentence."""
    with open('t.nml', 'wb') as f:
        f.write(d.bytes)
    r = subprocess.run([ptah.program('simulate'), '-n', 't.nml'], stdout=subprocess.PIPE,
                       stderr=subprocess.PIPE, env={**os.environ, **ptah.ENVIRONMENT})
    v.same('%s: exit status of simulate' % d.name, r.returncode, 2)
    v.same('%s: %.60s…' % (d.name, sentence), sentence in r.stderr.decode('latin-1'), True)


def run(rows, number, seed):
    v, counts, refused = ptah.Verdict(), dict.fromkeys(OUTCOMES, 0), []
    print('seed %s' % seed)
    for begin in range(0, number, BATCH):
        many = [drawn(rows, seed, k) for k in range(begin, min(begin + BATCH, number))]
        for d, what, theirs, ours in judge(rows, many):
            counts[what] += 1
            if isinstance(ours, str):
                refused.append((d, ours))
                if not is_sentence(ours):
                    v.same('%s: a sentence with file and line' % d.name, ours, 'file:line: …')
            if what == 'differ':
                show(d, what, theirs, ours)
    for what in OUTCOMES:
        print('%6d  %s' % (counts[what], what))
    v.same('dialects that differ', counts['differ'], 0)
    share = counts['equal'] / number
    v.same('%.0f %% are read, and equal' % (100 * share), share >= AT_LEAST_EQUAL, True)
    v.check('share of no known meaning', counts['refused by Fortran, no meaning known'] / number,
            MOST_UNKNOWN)
    for d, sentence in refused[:3]:
        refuses(v, d, sentence)
    v.end()


def main():
    words = sys.argv[1:]
    if not words:
        sys.exit(__doc__.strip())
    if not shutil.which('gfortran'):
        ptah.skip('gfortran is not installed')
    rows = build()
    if words[0] == 'show':
        seed, _, k = words[1].rpartition('/')
        [one] = judge(rows, [drawn(rows, seed, int(k))])
        show(*one)
    else:
        run(rows, int(words[0]), words[1] if len(words) > 1 else '1')


main()
