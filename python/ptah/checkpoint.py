"""A checkpoint: its header, and its contents as arrays."""
import os
import re

import numpy as np

from ptah._library import ParameterError, array, check, ffi, lib, lock, names, text

PLACES = ('x', 'y', 'z', 'dx')
WEIGHTS = ('default', 'column', 'mass', 'volume', 'max')
UNITS = ('length', 'density', 'time', 'velocity', 'mass', 'temperature', 'nH')
CLOSED = 'the checkpoint %s is closed'


class Table(dict):
    """Arrays of equal length by name. `units` has the units of columns that are not in code
    units."""

    def __init__(self, table):
        super().__init__()
        self.units = {}
        for k in range(table.columns):
            column = table.column[k]
            name, unit = text(column.name), text(column.unit)
            self[name] = array(column, table.n)
            if unit:
                self.units[name] = unit
        self.n = table.n

    def __repr__(self):
        return 'ptah.Table of %d: %s' % (self.n, ', '.join(self))


class Map:
    """Pixels: `data`, whose first index is that of rows, from below; `extent` as imshow has it."""

    def __init__(self, picture):
        shape = picture.rows, picture.columns
        self.field, self.unit = text(picture.pixel.name), text(picture.pixel.unit)
        self.data = array(picture.pixel, shape[0] * shape[1]).reshape(shape)
        self.axes = ''.join('xyz'[k] for k in picture.axis)
        self.extent = (picture.lo[0], picture.hi[0], picture.lo[1], picture.hi[1])
        self.depth = picture.hi[2] - picture.lo[2]

    def __repr__(self):
        return 'ptah.Map of %s [%s], %d x %d' % (self.field, self.unit, *self.data.shape[::-1])


def _real(what, value):
    try:
        return float(value)
    except (TypeError, ValueError):
        raise ParameterError('the %s is %r, which must be a number' % (what, value)) from None


def _whole(what, value):
    """An integer that fits into C's int."""
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool) and \
            abs(value) < 2**31:
        return int(value)
    raise ParameterError('the %s is %r, which must be an integer below 2^31' % (what, value))


def _point(what, value, least=1):
    """Three coordinates of a place, 0 along the axes that a checkpoint does not have."""
    try:
        x = [float(v) for v in value]
    except (TypeError, ValueError):
        x = []
    if not least <= len(x) <= 3:
        raise ParameterError('the %s is %r, which must be %s numbers'
                             % (what, value, 'three' if least == 3 else 'one to three'))
    return x + [0.0] * (3 - len(x))


def _listed(value):
    """Coordinates that are counted and read, of any iterable."""
    return list(value) if hasattr(value, '__iter__') else value


def box(lower, upper):
    """A region: the box between two corners, in code units; it may cross a periodic face."""
    lower, upper = _listed(lower), _listed(upper)
    lo, hi = _point('lower corner', lower), _point('upper corner', upper)
    pairs = list(zip(lo, hi))
    return {'shape': 1, 'centre': [(a + b) / 2 for a, b in pairs],
            'half': [(b - a) / 2 for a, b in pairs], 'axes': min(len(lower), len(upper))}


def sphere(centre, radius):
    """A region: a sphere, in code units, across periodic faces."""
    centre = _listed(centre)
    return {'shape': 2, 'centre': _point('centre', centre), 'radius': _real('radius', radius),
            'axes': len(centre)}


def _value(word):
    """A value of a namelist as Python has it."""
    low = word.strip().lower()
    if re.fullmatch(r"'.*'|\".*\"", word.strip(), re.S):
        return word.strip()[1:-1]
    if low.strip('.') in ('true', 't', 'false', 'f'):
        return low.strip('.')[0] == 't'
    try:
        return int(low)
    except ValueError:
        pass
    try:
        return float(low.replace('d', 'e'))
    except ValueError:
        return word.strip()


def _values(words):
    """The values of a parameter: one, or a list; 3*8. is three times the same."""
    out = []
    for word in re.findall(r"\d+\*[^,\s']+|'[^']*'|\"[^\"]*\"|[^,\s]+", words):
        repeat = re.fullmatch(r'(\d+)\*(.+)', word)
        out += [_value(repeat.group(2))] * min(int(repeat.group(1)), 10000) if repeat else [
            _value(word)]
    return out[0] if len(out) == 1 else out


def _namelist(whole):
    """The groups of a namelist, each with its parameters."""
    groups, now, name = {}, None, None
    for line in whole.splitlines():
        line = re.sub(r"('[^']*'|\"[^\"]*\")|!.*", r'\1', line).strip()
        if line.startswith('&'):
            now, name = groups.setdefault(line[1:].strip().lower(), {}), None
        elif line.startswith('/'):
            now = None
        elif now is not None and line:
            pair = re.match(r'([A-Za-z]\w*(?:\([^)]*\))?)\s*=(.*)', line)
            if pair:
                name, line = pair.group(1).lower(), pair.group(2)
            if name:
                now[name] = now.get(name, '') + ' ' + line
    return {g: {k: _values(v) for k, v in rows.items()} for g, rows in groups.items()}


class Checkpoint:
    """A checkpoint of any format: ptah.open(path).

    >>> import ptah
    >>> c = ptah.open('output_00002')
    >>> c
    ptah.Checkpoint('output_00002'): RAMSES binary, z = 32.2
    >>> c.levelmin, c.boxlen
    (5, 1.0)
    >>> c.fields[:5]
    ['density', 'velocity_x', 'velocity_y', 'velocity_z', 'pressure']
    >>> c.parameters['amr_params']['levelmin']
    5

    All of `header` are attributes too. Arrays do not need the checkpoint: it may be closed."""

    def __init__(self, path):
        self.path, self._p = os.fspath(path), None
        out = ffi.new('struct ptah **')
        with lock:
            check(lib.ptah_open(os.fsencode(self.path), out))
            self._p = ffi.gc(out[0], lib.ptah_close)
            self.header = dict(self._numbers())
            self.format = text(lib.ptah_word(self._p, b'format'))
        self.units = {name: self.header.pop('unit_' + name) for name in UNITS}

    def _numbers(self):
        name, value, i = ffi.new('char **'), ffi.new('double *'), 0
        while lib.ptah_number(self._p, i, ffi.cast('const char **', name), value):
            number = value[0]
            yield text(name[0]), int(number) if number.is_integer() and i < 14 else number
            i += 1

    def __getattr__(self, name):
        if name != 'header' and name in self.__dict__.get('header', ()):
            return self.header[name]
        raise AttributeError('a checkpoint has no %s' % name)

    def __repr__(self):
        when = 'z = %.1f' % self.redshift if self.header['cosmology'] else 't = %.6g' % self.time
        return 'ptah.Checkpoint(%r): %s, %s' % (self.path, self.format, when)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        """Closes the files. Arrays stay."""
        with lock:
            if self._p is not None:
                ffi.release(self._p)
                self._p = None

    def _open(self):
        if self._p is None:
            raise ParameterError(CLOSED % self.path)
        return self._p

    def _names(self, which):
        found = []
        with lock:
            while True:
                name = text(lib.ptah_name(self._open(), which, len(found)))
                if name is None:
                    return found
                found.append(name)

    @property
    def redshift(self):
        """The redshift, 0 without cosmology."""
        return 1 / self.header['aexp'] - 1

    @property
    def fields(self):
        """Names of the fields of cells that are stored."""
        return self._names(b'fields')

    @property
    def computed(self):
        """Names of further fields of cells, which are computed from those."""
        return self._names(b'computed')

    @property
    def columns(self):
        """Names of the columns of particles."""
        return self._names(b'particles')

    @property
    def families(self):
        """Names of the families of particles that there may be."""
        return self._names(b'families')

    def unit(self, name):
        """The factor of a value in code units to a common unit, and the name of this unit.

        >>> import ptah
        >>> factor, unit = ptah.open('output_00002').unit('velocity_x')
        >>> unit
        'km/s'
        """
        unit = ffi.new('char **')
        with lock:
            factor = lib.ptah_unit(self._open(), os.fsencode(name), ffi.cast('const char **', unit))
            return factor, text(unit[0])

    def _text(self, what):
        out = ffi.new('char **')
        with lock:
            check(lib.ptah_text(self._open(), what, out))
        whole = text(out[0])
        lib.ptah_free(out[0])
        return whole

    @property
    def namelist(self):
        """The namelist of the run, a text; None: there is none."""
        return self._text(b'namelist')

    @property
    def history(self):
        """The programs that have made the checkpoint, a text; None: it does not say."""
        return self._text(b'history')

    @property
    def parameters(self):
        """The namelist as groups of parameters; names are in lower case."""
        return _namelist(self.namelist or '')

    def _region(self, to, region):
        if region is None:
            return
        if not isinstance(region, dict) or 'shape' not in region:
            raise ParameterError('the region is %r, which must be ptah.box(…) or ptah.sphere(…)'
                                 % (region,))
        axes, ndim = region.get('axes', 3), self.header['ndim']
        if axes < ndim:
            raise ParameterError('the region has places of %d numbers, the checkpoint %d axes'
                                 % (axes, ndim))
        to.shape, to.centre = region['shape'], region['centre']
        to.half, to.radius = region.get('half', [0] * 3), region.get('radius', 0)

    def _table(self, call, ask):
        out = ffi.new('struct ptah_table *')
        with lock:
            check(call(self._open(), ask, out))
            try:
                return Table(out[0])
            finally:
                lib.ptah_table_free(out)

    def _list(self, given, usual):
        if given is None:
            return usual()
        given = [given] if isinstance(given, str) else list(given)
        for name in given:
            if not isinstance(name, str):
                raise ParameterError('%r is no name of a column' % (name,))
        return given

    def cells(self, fields=None, region=None, level=None, levelmax=None):
        """The leaf cells as a Table: fields (default: places and all that are stored), or x, y, z,
        dx (the width of a cell), level, and the fields that are `computed`.

        region: cells whose centres are in ptah.box or ptah.sphere. level: all cells of this level
        instead, refined ones too, which have the mean of their children. levelmax: the leaf cells
        of the mesh that ends at this level.

        >>> import ptah
        >>> c = ptah.open('output_00002')
        >>> ball = c.cells(['density', 'temperature', 'dx'], region=ptah.sphere([.5, .5, .5], .1))
        >>> print('%.4f' % (ball['dx']**3).sum())  # 4/3 π 0.1³, in whole cells
        0.0042
        >>> c.cells('density', level=4).n
        4096
        """
        axes = PLACES[:self.header['ndim']] + PLACES[3:]
        listed, kept = names(self._list(fields, lambda: [*axes, 'level'] + self.fields))
        ask = ffi.new('struct ptah_cells_ask *')
        self._region(ask.region, region)
        ask.level = _whole('level', 0 if level is None else level)
        ask.levelmax = _whole('levelmax', 0 if levelmax is None else levelmax)
        for what, given in ('level', level), ('levelmax', levelmax):
            if given is not None and given < 1:
                raise ParameterError('the %s is %d, which must be 1 or above' % (what, given))
        ask.n, ask.name = len(kept), listed
        return self._table(lib.ptah_cells, ask)

    def particles(self, columns=None, family=None, region=None):
        """Particles as a Table: columns (default: all), those of a family (default: of all), in a
        region.

        >>> import ptah
        >>> dark = ptah.open('output_00002').particles(['position_x', 'identity'], family='dm')
        >>> dark['position_x'].dtype, dark['identity'].dtype
        (dtype('float64'), dtype('int64'))
        """
        listed, kept = names(self._list(columns, lambda: self.columns))
        one = ffi.NULL if family is None else ffi.new('char[]', os.fsencode(family))
        ask = ffi.new('struct ptah_particles_ask *')
        self._region(ask.region, region)
        ask.family, ask.n, ask.name = one, len(kept), listed
        return self._table(lib.ptah_particles, ask)

    def sinks(self):
        """The sinks as a Table, empty if there are none."""
        return self._table(lib.ptah_catalog, b'sinks')

    def stellar(self):
        """The stellar objects as a Table, empty if there are none."""
        return self._table(lib.ptah_catalog, b'stellar')

    def map(self, field, axis='z', pixels=512, centre=None, width=None, depth=None, weight=None,
            physical=False):
        """A projection as a Map: of a field of cells, or of dm, star, other, sfr, tracers.

        weight: column, mass, volume or max (default: the usual one of the field). physical: in
        the physical unit of the field, else in code units.

        >>> import ptah
        >>> m = ptah.open('output_00002').map('density', axis='x', pixels=64)
        >>> m.data.shape, m.axes
        ((64, 64), 'yz')
        """
        box_ = self.header['boxlen']
        if axis not in ('x', 'y', 'z', 0, 1, 2):
            raise ParameterError('the axis is %r, which must be x, y or z' % (axis,))
        if weight is not None and weight not in WEIGHTS:
            raise ParameterError('the weight is %r, which must be one of %s'
                                 % (weight, ', '.join(WEIGHTS[1:])))
        ask, name = ffi.new('struct ptah_map_ask *'), ffi.new('char[]', os.fsencode(field))
        ask.field, ask.axis = name, 'xyz'.index(axis) if isinstance(axis, str) else axis
        ask.pixels, ask.physical = _whole('number of pixels', pixels), bool(physical)
        ask.weight = WEIGHTS.index(weight or 'default')
        ask.centre = _point('centre', [box_ / 2] * 3 if centre is None else centre,
                            self.header['ndim'])
        ask.width = _real('width', box_ if width is None else width)
        ask.depth = _real('depth', box_ if depth is None else depth)
        out = ffi.new('struct ptah_picture *')
        with lock:
            check(lib.ptah_map(self._open(), ask, out))
            return Map(out)

    def profile(self, centre, radius, bins=30, linear=False, physical=False):
        """Radial profiles of all matter around a centre as a Table; missing values are NaN."""
        ask = ffi.new('struct ptah_profile_ask *')
        ask.centre = _point('centre', centre, self.header['ndim'])
        ask.radius = _real('radius', radius)
        ask.bins, ask.linear = _whole('number of bins', bins), bool(linear)
        ask.physical = bool(physical)
        return self._table(lib.ptah_profile, ask)

    def spectra(self, *species, mesh=256, fold=1, axis=None):
        """Power spectra as a Table, as pk prints them: of all, dm, gas, star, other, and of pairs
        such as dmxgas. axis: multipoles in redshift space along this line of sight.

        >>> import ptah
        >>> p = ptah.open('output_00002').spectra('dm', mesh=32)
        >>> list(p), p.units['dm']
        (['k', 'modes', 'dm', 'dm_shot', 'dm_sigma'], '(Mpc/h)^3')
        """
        if axis not in (None, 'x', 'y', 'z'):
            raise ParameterError('the axis is %r, which must be x, y or z' % (axis,))
        listed, kept = names(self._list(species or ('all',), None))
        ask = ffi.new('struct ptah_spectra_ask *')
        ask.mesh, ask.fold = _whole('mesh', mesh), _whole('fold', fold)
        ask.axis = -1 if axis is None else 'xyz'.index(axis)
        ask.n, ask.name = len(kept), listed
        return self._table(lib.ptah_spectra, ask)

    def halos(self, link=0.2, min=20, region=None):  # noqa: A002
        """Halos by friends of friends as a Table, by decreasing mass; region: ptah.sphere, those
        whose centres are in it."""
        ask = ffi.new('struct ptah_halos_ask *')
        if region is not None and (not isinstance(region, dict) or region.get('shape') != 2):
            raise ParameterError('the region of halos must be ptah.sphere(…)')
        if region is not None:
            ask.centre, ask.radius = region['centre'], region['radius']
        ask.link, ask.min = _real('linking length', link), _whole('number of members', min)
        return self._table(lib.ptah_halos, ask)
