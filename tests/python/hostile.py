"""An error is an exception with one sentence, never the end of the process: wrong paths,
names, regions and numbers, damaged files, closed checkpoints, threads, a fork, and many opens. Run
by tests/clients/python_module.py beside output_00002."""
import gc
import os
import shutil
import sys
import threading

import numpy as np
import ptah

NAN, INF = float('nan'), float('inf')
failed = 0


def check(what, good, more=''):
    global failed
    print('%-60s %s %s' % (what, 'ok' if good else 'FAILED', '' if good else more))
    failed += not good


def refused(what, error, words, call):
    """A call raises this error with one sentence that has the words."""
    try:
        call()
    except ptah.Error as e:
        said = str(e)
        check(what, isinstance(e, error) and words in said and '\n' not in said, repr(e))
    else:
        check(what, False, 'is accepted')


def paths():
    refused('no such path', ptah.FileError, 'No such file', lambda: ptah.open('nowhere'))
    refused('an empty path', ptah.FileError, 'empty', lambda: ptah.open(''))
    refused('a directory of checkpoints', ptah.FileError, 'output_00002', lambda: ptah.open('.'))
    refused('a file that is none of a checkpoint', OSError, __file__, lambda: ptah.open(__file__))
    refused('a directory of no campaign', ptah.FileError, 'nowhere',
            lambda: ptah.campaign('nowhere'))
    refused('a campaign of one checkpoint', ptah.ParameterError, 'which ptah.open opens',
            lambda: ptah.campaign('output_00002'))
    refused('a path with a zero', ptah.Error, '', lambda: ptah.open('a\0b'))
    check('a file of a checkpoint', ptah.open('output_00002/info_00002.txt').number == 2)


def requests(c):
    half = [.5, .5, .5]
    for what, words, call in [
            ('unknown field', 'did you mean density', lambda: c.cells('densty')),
            ('unknown column', 'did you mean mass', lambda: c.particles('mas')),
            ('unknown family', 'did you mean star', lambda: c.particles('mass', family='stars')),
            ('a field that is no name', '3', lambda: c.cells([3])),
            ('centre outside', 'box', lambda: c.cells('x', region=ptah.sphere([2, 0, 0], 1))),
            ('centre NaN', 'nan', lambda: c.cells('x', region=ptah.sphere([NAN, 0, 0], 1))),
            ('radius negative', 'above 0', lambda: c.cells('x', region=ptah.sphere(half, -1))),
            ('radius NaN', 'nan', lambda: c.particles('mass', region=ptah.sphere(half, NAN))),
            ('radius infinite', 'inf', lambda: c.cells('x', region=ptah.sphere(half, INF))),
            ('empty box', 'above 0', lambda: c.cells('x', region=ptah.box(half, [.4, 1, 1]))),
            ('region that is none', 'ptah.box', lambda: c.cells('x', region=[0, 1])),
            ('centre of one word', 'three numbers', lambda: ptah.sphere('middle', 1)),
            ('centre of two numbers', 'of 2 numbers, the checkpoint 3 axes',
             lambda: c.cells('x', region=ptah.sphere([.5, .5], .1))),
            ('box of two numbers', 'of 2 numbers, the checkpoint 3 axes',
             lambda: c.particles('mass', region=ptah.box([.2, .2], half))),
            ('map around two numbers', 'three numbers', lambda: c.map('density', centre=[.5, .5])),
            ('profile around two numbers', 'three numbers', lambda: c.profile([.5, .5], .1)),
            ('level True', 'integer', lambda: c.cells('x', level=True)),
            ('level 0', '1 or above', lambda: c.cells('x', level=0)),
            ('level of text', 'integer', lambda: c.cells('x', level='5')),
            ('map of nothing', 'did you mean', lambda: c.map('densty')),
            ('map of 0 pixels', 'pixels', lambda: c.map('density', pixels=0)),
            ('map of 1e12 pixels', 'integer', lambda: c.map('density', pixels=10**12)),
            ('map of NaN', 'width', lambda: c.map('density', width=NAN)),
            ('map along w', 'axis', lambda: c.map('density', axis='w')),
            ('map by weather', 'weight', lambda: c.map('density', weight='weather')),
            ('profile outside', 'centre', lambda: c.profile([2, .5, .5], .1)),
            ('profile of radius 0', 'radius', lambda: c.profile(half, 0)),
            ('profile of 1 bin', 'bins', lambda: c.profile(half, .1, bins=1)),
            ('spectrum of mesh 2', 'cells', lambda: c.spectra(mesh=2)),
            ('spectrum of fold 0', 'folds', lambda: c.spectra(fold=0)),
            ('spectrum of nothing', 'dmxgas', lambda: c.spectra('dark')),
            ('spectrum of stars', 'no', lambda: c.spectra('star', mesh=16)),
            ('spectra, too many', '16', lambda: c.spectra(*['dm'] * 17, mesh=16)),
            ('halos of NaN', 'linking', lambda: c.halos(link=NAN)),
            ('halos in a box', 'sphere', lambda: c.halos(region=ptah.box([0] * 3, half))),
            ('threads without end', 'at most', lambda: ptah.threads(10**9)),
            ('threads of text', 'integer', lambda: ptah.threads('two')),
            ('threads below 0', '0 or above', lambda: ptah.threads(-1))]:
        refused(what, ptah.ParameterError, words, call)
    refused('a mesh beyond the memory', ptah.LimitError, 'GiB', lambda: c.spectra(mesh=32768))
    check('a level that is not there', c.cells(['x', 'level'], level=21).n == 0)
    check('no fields', c.cells([]).n > 0 and len(c.cells([])) == 0)


def damage():
    shutil.copytree('output_00002', 'damaged/output_00002')
    path = 'damaged/output_00002/hydro_00002.out00001'
    with open(path, 'r+b') as f:
        f.seek(os.path.getsize(path) // 2)
        byte = f.read(1)
        f.seek(-1, 1)
        f.write(bytes([byte[0] ^ 64]))
    with ptah.open('damaged/output_00002') as c:
        refused('a damaged file', ptah.FormatError, path, lambda: c.cells())
        check('its particles are good', c.particles('mass').n > 0)
    os.truncate(path, 1000)
    with ptah.open('damaged/output_00002') as c:
        refused('a file that is cut', ptah.Error, path, lambda: c.cells())
    os.remove(path)
    refused('a file that is missing', ptah.FileError, path,
            lambda: ptah.open('damaged/output_00002').cells())


def closed():
    c = ptah.open('output_00002')
    t = c.cells(['density', 'x'])
    before = t['density'].sum()
    c.close()
    c.close()
    gc.collect()
    check('arrays stay when their checkpoint is closed', t['density'].sum() == before)
    check('arrays can be written to', t['density'].flags.writeable and t['x'].flags.aligned)
    column = t['density']
    del t
    gc.collect()
    check('and when their table is gone', column.sum() == before)
    refused('a closed checkpoint', ptah.ParameterError, 'is closed', lambda: c.cells())
    check('its header stays', c.number == 2)


def resident():
    with open('/proc/self/statm') as f:
        return int(f.read().split()[1]) * os.sysconf('SC_PAGE_SIZE')


def leaks():
    def once():
        with ptah.open('output_00002') as c:
            c.cells('density')
            c.map('density', pixels=64)
            try:
                c.cells('densty')
            except ptah.Error:
                pass

    for _ in range(3):
        once()
    before, files = resident(), len(os.listdir('/proc/self/fd'))
    for _ in range(12):
        once()
    for _ in range(200):
        ptah.open('output_00002')
    gc.collect()
    check('no memory is lost: %d kB' % ((resident() - before) // 1024),
          resident() - before < 8 << 20)
    check('no file stays open', len(os.listdir('/proc/self/fd')) == files)


def parallel(c):
    """Calls of several threads wait for one another; other threads go on meanwhile."""
    want = c.cells('density')['density'].sum()
    found, ticks, done = [], [0], threading.Event()

    def read():
        for _ in range(2):
            with ptah.open('output_00002') as mine:
                found.append(mine.cells('density')['density'].sum() == want)
            found.append(c.cells('density')['density'].sum() == want)

    def tick():
        while not done.wait(1e-3):
            ticks[0] += 1

    many = [threading.Thread(target=read) for _ in range(3)]
    clock = threading.Thread(target=tick)
    clock.start()
    for t in many:
        t.start()
    for t in many:
        t.join()
    done.set()
    clock.join()
    check('three threads: the same sums', found == [True] * 12)
    check('a fourth one runs meanwhile', ticks[0] > 5, str(ticks))


def forks(c):
    """A child reads too, although the parent has used several threads."""
    ptah.threads(2)
    want = c.cells('density')['density'].sum()
    child = os.fork()
    if child == 0:
        good = c.cells('density')['density'].sum() == want
        good &= ptah.open('output_00002').map('density', pixels=8).data.size == 64
        os._exit(0 if good else 1)
    check('a forked child reads', os.waitpid(child, 0)[1] == 0)
    check('and the parent goes on', c.cells('density')['density'].sum() == want)
    ptah.threads(1)


def main():
    paths()
    with ptah.open('output_00002') as c:
        requests(c)
        damage()
        closed()
        leaks()
        parallel(c)
        forks(c)
        check('values are finite', np.isfinite(c.cells('density')['density']).all())
    sys.exit(failed > 0)


main()
