"""Films: frames of movies and maps of checkpoints of all solvers, as an array, pixels, an animated
PNG, and by ffmpeg, of which a script takes the place.

    films.py frames        frame files of either byte order; later directories; one scale; wrong
                           files
    films.py apng          chunks, and every picture put together from the changed rectangles
    films.py ffmpeg        its command line and input; failures leave nothing behind
    films.py checkpoints   a film has the maps of -m: octree, uniform mesh, smoothed particles
    films.py camera        checkpoints give the bits of the frames of their run; frames as PNG

Examples of faults caught: rows upside down, a scale that changes from frame to frame, a frame of an
earlier directory that wins, a rectangle that is off by a pixel, a film that a failed ffmpeg leaves.
"""
# test: frames tier=quick timeout=60
# test: apng tier=quick timeout=60
# test: ffmpeg tier=quick timeout=60
# test: checkpoints tier=check timeout=120
# test: camera tier=check timeout=120
import io
import json
import os
import stat
import struct
import sys
import zlib

import matplotlib.image
import numpy as np

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import phantom_files  # noqa: E402
import ptah  # noqa: E402
import uniform  # noqa: E402

NW, NH = 24, 10


def inspect(*argv, path=None):
    env = {'PATH': path} if path else None
    return ptah.Run([ptah.program('inspect'), *argv], '.', env=env)


def record(data, order):
    n = struct.pack(order + 'i', len(data))
    return n + data + n


def write_frame(path, x, when=0.5, size=(1.0, 1.0, 1.0), order='<'):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    rows, columns = x.shape
    with open(path, 'wb') as f:
        f.write(record(struct.pack(order + '4d', when, *size), order))
        f.write(record(struct.pack(order + '2i', columns, rows), order))
        f.write(record(x.astype(order + 'f4').tobytes(), order))


def noise(i):
    return np.random.default_rng(i).uniform(1, 2, (NH, NW)).astype('f4') * 10.0 ** i


def film(*argv):
    r = inspect('--film', '-q', '--force', *argv)
    if r.status:
        print(r.said())
    return r.status


def pixels(n, *argv):
    """A bare film as an array [frame][row][column][3], top row first."""
    film('--bare', '-o', 'film.rgb', *argv)
    return np.fromfile('film.rgb', np.uint8).reshape(n, NH, NW, 3)


def left():
    return sorted(f for f in os.listdir('.') if '.part' in f)


# ---- frames

def frames(v):
    x = [noise(i) for i in range(3)]
    for i in range(3):
        write_frame('one/dens_%05d.map' % (i + 1), x[i], order='<>'[i % 2])
    v.same('values: status', film('-o', 'a.npy', 'one'), 0)
    v.same('either byte order', (np.load('a.npy') == np.array(x)).all(), True)
    rgb = pixels(3, '--range', 'full', 'one')
    top = np.array([252, 255, 164]), np.array([0, 0, 4])
    for where, frame, colour in (('greatest', x[2].argmax(), top[0]),
                                 ('smallest', x[0].argmin(), top[1])):
        i = 2 if where == 'greatest' else 0
        row, column = divmod(int(frame), NW)
        v.check('the %s value of all frames' % where,
                abs(rgb[i, NH - 1 - row, column].astype(int) - colour).max(), 0)
    # the same value has the same colour in all frames
    same = x[1].copy()
    same[3, 4] = x[0][3, 4]
    write_frame('same/dens_00001.map', x[0])
    write_frame('same/dens_00002.map', same)
    rgb = pixels(2, 'same')
    v.same('one scale', rgb[0, NH - 4, 4].tolist(), rgb[1, NH - 4, 4].tolist())
    later(v, x)
    odd(v, x)
    existing(v)


def later(v, x):
    """A campaign that was continued in a second directory."""
    for i in 2, 4:
        write_frame('two/dens_%05d.map' % i, noise(i))
        write_frame('two/temp_%05d.map' % i, noise(i))
    v.same('two variables', inspect('--film', 'two').status, 2)
    film('-m', 'dens', '-o', 'b.npy', 'one', 'two')
    v.same('the later directory wins', (np.load('b.npy') == np.array(
        [x[0], noise(2), x[2], noise(4)])).all(), True)
    film('-m', 'dens', '-o', 'b.npy', 'two', 'one')
    v.same('the other way round', (np.load('b.npy')[1] == x[1]).all(), True)
    film('-o', 'c.npy', 'one/dens_00003.map', 'one/dens_00001.map')
    v.same('single files', (np.load('c.npy') == np.array([x[0], x[2]])).all(), True)
    missing = x[0].copy()
    missing[2, 3] = np.nan
    write_frame('nan/dens_00001.map', missing)
    v.same('a missing value is black', pixels(1, 'nan')[0, NH - 3, 3].tolist(), [0, 0, 0])


def existing(v):
    """Pictures that a run has drawn are taken as they are."""
    rng = np.random.default_rng(7)
    os.makedirs('drawn')
    rgb = rng.integers(0, 256, (3, NH, NW, 3), dtype=np.uint8)
    for i in range(3):
        matplotlib.image.imsave('drawn/bx_%08d.png' % (10 * i), rgb[i])
    v.same('pictures', (pixels(3, 'drawn') == rgb).all(), True)
    v.same('with axes, the same', film('-o', 'd.rgb', 'drawn'), 0)
    v.same('they have none', os.path.getsize('d.rgb'), rgb.size)
    with open('drawn/bx_00000010.png', 'r+b') as f:
        f.truncate(200)
    for words, part in (([], 'bx_00000010.png: '), (['-o', 'd.npy'], 'has no values')):
        r = inspect('--film', '--force', *words, 'drawn')
        v.same('a damaged picture' if not words else 'an array of pictures',
               (r.status, part in r.err, r.err.count('\n')), (2, True, 1))
    write_frame('drawn/bx_00001.map', noise(0))
    v.same('values are preferred', len(pixels(1, 'drawn')), 1)


def odd(v, x):
    write_frame('size/dens_00001.map', x[0])
    write_frame('size/dens_00002.map', x[0][:5])
    write_frame('none/dens_00001.map', np.zeros((0, 4)))
    write_frame('cut/dens_00001.map', x[0])
    with open('cut/dens_00001.map', 'r+b') as f:
        f.truncate(500)
    write_frame('more/dens_00001.map', x[0])
    with open('more/dens_00001.map', 'ab') as f:
        f.write(b'more')
    os.makedirs('empty')
    os.makedirs('folder/dens_00001.map')
    good = 'one'
    for words, part in ((['size'], '24 x 5 pixels'), (['none'], 'no pixels'),
                        (['cut'], 'cut/dens_00001.map: record 3'), (['more'], 'follow'),
                        (['empty'], 'has no frames'), (['nowhere'], 'has no frames'),
                        ([good, 'empty'], 'no frames of dens'), (['-m', 'x', good], 'there are:'),
                        (['folder'], 'folder/dens_00001.map'),
                        (['--width', '0.5', good], '--width'),
                        (['-o', 'x.svg', good], 'the format must be'),
                        (['-o', '-', good], 'standard output needs -f'),
                        (['--log', '--range', '-1,1', good], 'no logarithm')):
        r = inspect('--film', *words)
        v.same(' '.join(words), (r.status, part in r.err, r.err.count('\n')), (2, True, 1))
    v.same('nothing is left', (left(), os.path.exists('dens.png')), ([], False))


# ---- animated PNG

def chunks(path):
    with open(path, 'rb') as f:
        data = f.read()
    assert data[:8] == b'\x89PNG\r\n\x1a\n'
    at = 8
    while at < len(data):
        n, = struct.unpack('>I', data[at:at + 4])
        name, body = data[at + 4:at + 8], data[at + 8:at + 8 + n]
        crc, = struct.unpack('>I', data[at + 8 + n:at + 12 + n])
        assert crc == zlib.crc32(name + body)
        yield name.decode(), body
        at += 12 + n


def chunk(name, body):
    return struct.pack('>I', len(body)) + name + body + struct.pack('>I', zlib.crc32(name + body))


def decode(columns, rows, data):
    head = struct.pack('>2I5B', columns, rows, 8, 2, 0, 0, 0)
    png = b'\x89PNG\r\n\x1a\n' + chunk(b'IHDR', head) + chunk(b'IDAT', data) + chunk(b'IEND', b'')
    image = matplotlib.image.imread(io.BytesIO(png), format='png')
    return np.rint(image * 255).astype(np.uint8)


def pictures(path):
    """Pictures of an animated PNG, its delays, and the sequence numbers."""
    canvas, seen, numbers, delays = None, [], [], []
    data, area = b'', None

    def finish():
        nonlocal canvas
        if area is None:
            return
        w, h, x, y = area
        part = decode(w, h, data)
        canvas = part.copy() if canvas is None else canvas.copy()
        canvas[y:y + h, x:x + w] = part
        seen.append(canvas)
    for name, body in chunks(path):
        if name == 'fcTL':
            finish()
            numbers.append(struct.unpack('>I', body[:4])[0])
            area, data = struct.unpack('>4I', body[4:20]), b''
            delays.append(struct.unpack('>2H', body[20:24]))
        elif name == 'IDAT':
            data += body
        elif name == 'fdAT':
            numbers.append(struct.unpack('>I', body[:4])[0])
            data += body[4:]
    finish()
    return np.array(seen), numbers, delays


def apng(v):
    x = [noise(0) for _ in range(5)]
    for i in range(1, 5):
        x[i] = x[i - 1].copy()
        if i != 3:  # the picture does not change
            x[i][i, 2 * i:2 * i + 3] *= 1.2
    for i in range(5):
        write_frame('m/dens_%05d.map' % (i + 1), x[i])
    film('--bare', '-o', 'film.png', '--fps', '8', 'm')
    names = [name for name, _ in chunks('film.png')]
    v.same('order of chunks', (names[0], names.index('acTL') < names.index('IDAT'), names[-1]),
           ('IHDR', True, 'IEND'))
    body = dict(chunks('film.png'))['acTL']
    v.same('number of pictures, endless', struct.unpack('>2I', body), (5, 0))
    got, numbers, delays = pictures('film.png')
    v.same('sequence numbers', numbers, list(range(len(numbers))))
    v.same('duration', set(delays), {(1, 8)})
    v.same('all pixels of all pictures', (got == pixels(5, 'm')).all(), True)
    v.same('with axes: status', film('-o', 'axes.png', '--fps', '0.5', 'm'), 0)
    got, _, delays = pictures('axes.png')
    v.same('pictures with axes', (len(got), set(delays)), (5, {(2000, 1000)}))
    v.same('they differ', [bool((a != b).any()) for a, b in zip(got, got[1:])], [True] * 4)
    r = inspect('--film', '-j', '--bare', '-o', 'j.png', 'm')
    j = json.loads(r.out)
    v.same('JSON', (j['kind'], j['path'], j['frames'], j['columns'], j['rows']),
           ('film', 'j.png', 5, NW, NH))
    full(v)


def full(v):
    for words in (['-o', 'full.png'], ['-o', 'full.rgb', '--bare'], ['-o', 'full.npy']):
        r = ptah.Run(['sh', '-c', 'ulimit -f 1; exec "$0" "$@"', ptah.program('inspect'), '--film',
                      *words, *['m'] * 1], '.')
        v.same('a full disk: ' + words[1], (r.status, 'cannot write' in r.err, left(),
                                            os.path.exists(words[1])), (2, True, [], False))
    with open('/dev/full', 'w') as out:
        p = ptah.subprocess.run([ptah.program('inspect'), '--film', '-f', 'png', '-o', '-', 'm'],
                                stdout=out, stderr=ptah.subprocess.PIPE, text=True)
    v.same('a full standard output', (p.returncode, p.stderr.count('\n')), (2, 1))


# ---- ffmpeg

FFMPEG = """#!/bin/sh
printf '%s\\n' "$@" >args
for last; do :; done
"""
GOOD = """cat >input
out=${last#file:}
if [ "$out" = pipe:1 ]; then cat input; else cat input >"$out"; fi
"""


def fake(script):
    os.makedirs('bin', exist_ok=True)
    with open('bin/ffmpeg', 'w') as f:
        f.write(FFMPEG + script)
    os.chmod('bin/ffmpeg', stat.S_IRWXU)
    return os.path.abspath('bin') + ':' + os.environ['PATH']


def ffmpeg(v):
    for i in range(3):
        write_frame('m/|v|_%05d.map' % (i + 1), noise(i))
    raw = pixels(3, 'm').tobytes()
    path = fake(GOOD)
    r = inspect('--film', '--bare', 'm', path=path)
    v.same('the default is a film by ffmpeg', (r.status, r.out), (0, '|v|.mp4\n'))
    with open('|v|.mp4', 'rb') as f, open('args') as a:
        data, args = f.read(), a.read().split('\n')
    v.same('it gets the pixels', data == raw, True)
    v.same('their size', args[args.index('-video_size') + 1], '%dx%d' % (NW, NH))
    v.same('their rate', args[args.index('-framerate') + 1], '12')
    name = 'a b;$(touch c)`touch c`.gif'
    r = inspect('--film', '--bare', '-o', name, 'm', path=path)
    v.same('no shell', (r.status, os.path.exists(name), os.path.exists('c')), (0, True, False))
    r = ptah.Run(['sh', '-c', '"$0" --film -q --bare -f mp4 -o - m >out', ptah.program('inspect')],
                 '.', env={'PATH': path})
    v.same('to standard output', (r.status, os.path.getsize('out')), (0, len(raw)))
    os.makedirs('empty')
    r = inspect('--film', '-o', 'x.mp4', 'm', path=os.path.abspath('empty'))
    v.same('without ffmpeg', (r.status, 'needs the program ffmpeg' in r.err), (2, True))
    r = inspect('--film', 'm', path=os.path.abspath('empty'))
    v.same('without ffmpeg, by default', (r.status, r.out), (0, '|v|.png\n'))
    for script, part in (('cat >input; echo no codec >&2; exit 3\n', 'exit status 3: no codec'),
                         ('exit 4\n', 'exit status 4'), ('kill -9 $$\n', 'signal 9'),
                         ('cat >/dev/null\n', 'wrote nothing')):
        r = inspect('--film', '-o', 'bad.mp4', 'm', path=fake(script))
        v.same(script.strip(), (r.status, part in r.err, r.err.count('\n'), left(),
                                os.path.exists('bad.mp4')), (2, True, 1, [], False))
    write_frame('m/|v|_00004.map', noise(4)[:5])
    r = inspect('--film', '--range', '1,2', '-o', 'bad.mp4', 'm', path=fake(GOOD))
    v.same('a frame that is wrong while ffmpeg runs', (r.status, left(), os.path.exists('bad.mp4')),
           (2, [], False))


# ---- checkpoints

def compare(v, what, field, paths, *words):
    words = ['-m', field, '--pixels', '16', *words]
    v.same(what + ': status', film('-o', 'film.npy', *words, *paths), 0)
    got = np.load('film.npy')
    for i, path in enumerate(paths):
        inspect('--force', '-o', 'map.npy', *words, path)
        one = np.load('map.npy')
        v.same('%s: the map of %s' % (what, os.path.basename(path)),
               np.array_equal(got[i], one, equal_nan=True), True)
    r = inspect('--film', '--force', '-j', '--bare', '-o', 'film.png', *words, *paths)
    j = json.loads(r.out)
    v.same(what + ': range of all frames', [j['min'], j['max']],
           [float(np.nanmin(got)), float(np.nanmax(got))])
    v.same(what + ': frames', len(pictures('film.png')[0]), len(paths))
    # maps that are not kept in memory are drawn twice
    film('-o', 'twice.png', '--bare', '--memory', '1M', *words, *paths)
    with open('film.png', 'rb') as a, open('twice.png', 'rb') as b:
        v.same(what + ': the same bytes', a.read() == b.read(), True)


def open_space(v):
    """The film shows the region of the first map, though the cube of all particles grows."""
    rng = np.random.default_rng(3)
    x = rng.uniform(-1, 1, (60, 3))
    for i, far in enumerate((1.0, 2.5)):
        x[-1] = [far, 0, 0]
        phantom_files.write('dump_%05d' % i, x, np.zeros((60, 3)), np.ones(60),
                            np.full(60, 0.2, 'f4').astype('f8'), None, time=i, mass=1 / 60)
    both = ['dump_00000', 'dump_00001']
    film('-o', 'open.npy', '-m', 'density', '--pixels', '32', *both)
    got = np.load('open.npy')
    same = abs(got[1] - got[0]) <= 1e-12 * got[0].max()
    v.check('open space: pixels that change', (~same).mean(), 0.1)
    v.same('open space: the one that left is gone', got[1].sum() < got[0].sum(), True)


def checkpoints(v):
    form = '\n'.join(['d_region=1.0', 'u_region=0.3', 'v_region=-0.7', 'p_region=1.0'])
    box = ptah.ascii_box((2, 3), 3, 1, 'm_refine=2*2.5', form)
    os.makedirs('oct/ics')
    with open('oct/ics/ic_part', 'w') as f:
        f.write('0.1 0.2 0.3 0 0 0 3.0\n.6 .2 .3 0 0 0 3.0\n.1 .7 .3 0.1 0 0 1.0\n')
    r = ptah.simulate(box, 'oct', options=['-q'])
    outputs = [os.path.relpath(p) for p in r.outputs]
    compare(v, 'octree', 'density', outputs)
    compare(v, 'octree', 'velocity_x', outputs, '--depth', '0.3', '-a', 'x')
    os.makedirs('mesh')
    text = uniform.namelist(2, 1, nx=8, ny=8, nz=16, lz=2.0, init_u='random', amp_u=1e-2, nu=0.01)
    r = uniform.simulate(text, 'mesh')
    compare(v, 'uniform mesh', 'ux', [os.path.relpath(p) for p in r.outputs])
    open_space(v)
    r = inspect('--film', *outputs)
    v.same('without a field', (r.status, '-m chooses a field' in r.err), (2, True))
    with open('list', 'w') as f:
        f.write('\n'.join(outputs))
    r = ptah.Run(['sh', '-c', '"$0" --film -q -m density --pixels 16 -o l.npy - <list',
                  ptah.program('inspect')], '.')
    film('-m', 'density', '--pixels', '16', '-o', 'film.npy', *outputs)
    v.same('paths from standard input', (np.load('l.npy') == np.load('film.npy')).all(), True)


# ---- cameras

MOVIE = """&MOVIE_PARAMS
movie=.true.
movie_format='ramses,png'
imovout=500
tendmov=0.5
nw_frame=24
nh_frame=20
proj_axis='zxy'
deltax_frame=1.0,0.0,0.9,0.0,0.8,0.0
deltay_frame=0.8,0.0,1.0,0.0,0.7,0.0
deltaz_frame=0.6,0.0,0.7,0.0,0.9,0.0
xcentre_frame=0.5,0.3,0.0,0.0
theta_camera=0.0,0.0,20.0
dphi_camera=0.0,0.0,300.0
shader_frame='square','sphere','cube'
method_frame='mean_mass','max','mean_vol'
movie_vars_txt='dens','vx','dm'
/
"""


def time_of(path):
    with open(path) as f:
        return [line.split('=')[1] for line in f if line.startswith('time ')][0].strip()


def camera(v):
    gas = 'd_region=1.0\nu_region=0.3\nv_region=-0.7\np_region=1.0'
    text = ptah.ascii_box((3, 4), 4, 1, 'm_refine=2*2.5', gas) + MOVIE
    os.makedirs('run/ics')
    with open('run/ics/ic_part', 'w') as f:
        f.write('0.1 0.2 0.3 0 0 0 3.0\n.6 .2 .3 0 0 0 3.0\n.1 .7 .3 0.1 0 0 1.0\n')
    r = ptah.simulate(text, 'run', options=['-q'])
    os.chdir('run')
    outputs = [os.path.basename(p) for p in r.outputs]
    at = {time_of(p + '/info_%s.txt' % p[-5:]): i for i, p in enumerate(outputs)}
    infos = sorted(f for f in os.listdir('movie1') if f.startswith('info_'))
    both = [(i, at[t]) for i, f in enumerate(infos) for t in [time_of('movie1/' + f)] if t in at]
    v.same('frames at the step of a checkpoint', len(both) >= 3, True)
    for c in 1, 2, 3:
        for name in 'dens', 'vx', 'dm':
            film('-m', name, '-o', 'a.npy', 'movie%d' % c)
            film('-m', name, '--camera', 'run.nml,%d' % c, '-o', 'b.npy', *outputs)
            a, b = np.load('a.npy'), np.load('b.npy')
            same = [np.array_equal(a[i], b[j]) for i, j in both]
            v.same('camera %d, %s: the same bits' % (c, name), (all(same), bool(a.any())),
                   (True, True))
    png = matplotlib.image.imread('movie2/vx_' + infos[-1][5:10] + '.png')
    v.same('frames as PNG', min(png.shape[:2]) > 600, True)
    v.same('one for each map', *[sorted(f[:-4] for f in os.listdir('movie2') if f.endswith(e))
                                 for e in ('.png', '.map')])
    region(v, outputs[-1])


def region(v, output):
    """Along an axis, a frame samples the region that a map has."""
    film('-m', 'dens', '--camera', 'x', '--width', '0.5', '--pixels', '8', '-o', 'a.npy', output)
    film('-m', 'density', '-a', 'x', '--weight', 'mass', '--width', '0.5', '--pixels', '8', '-o',
         'b.npy', output)
    a, b = np.load('a.npy'), np.load('b.npy')
    v.check('a region of cells of one pixel', abs(a / b - 1).max(), 1e-6)
    for words, part in ((['--camera', 'none.nml'], 'none.nml'),
                        (['--camera', 'run.nml,4'], '3 cameras'),
                        (['--camera', 'run.nml', '--width', '0.5'], '--width'),
                        (['--camera', 'x', '-m', 'rho'], 'rho'), (['--camera', 'x'], 'choose it'),
                        (['--camera', 'x', '-m', 'dens', '--mesh'], '--mesh'),
                        (['--camera', 'x', '-m', 'dens', '-a', 'x'], 'exclude')):
        if words[1].startswith('run.nml'):
            words = words + ['-m', 'dens']
        p = inspect('--film', '-o', 'bad.png', *words, output)
        v.same(' '.join(words), (p.status, part in p.err, p.err.count('\n')), (2, True, 1))


def main():
    v = ptah.Verdict()
    {'frames': frames, 'apng': apng, 'ffmpeg': ffmpeg, 'checkpoints': checkpoints,
     'camera': camera}[sys.argv[1]](v)
    v.end()


main()
