"""A bit in the middle of any file of a checkpoint is flipped, which only the checksum can detect:
every program that reads the file ends with one sentence that names it, and writes nothing.

Example of a fault caught: the checksum of one kind of file, gravity say, is not compared, or what
was read is not what is summed.
"""
# test: tier=quick timeout=60
import os
import shutil
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import ptah  # noqa: E402

GAS = 'd_region=1.0\nu_region=0.3\np_region=1.0'
NAMELIST = ptah.ascii_box((3, 4), 1, 1, 'm_refine=0.001', GAS, '.')
# Files that a program reads, besides amr and info.
KINDS = ['amr', 'hydro', 'grav', 'part', 'info']
READS = {
    'repartition': (['-q', '-n', '2', '-o', 'new/output_00002', 'bad'], KINDS),
    'convert': (['-q', '-f', 'hdf5', '-o', 'new/output_00002', 'bad'], KINDS),
    'simulate': (['-q', '-o', 'new', '-r', 'bad', 'run.nml', 'run_params/nstepmax=3'], KINDS),
    'inspect': (['-d', 'bad'], KINDS),
    'pk': (['-n', '8', '-s', 'dm,gas', 'bad'], ['amr', 'hydro', 'part']),
}


def flip(kind):
    """Flips a low bit: of the number in the middle of a binary file, or of a digit of a text."""
    shutil.rmtree('bad', ignore_errors=True)
    shutil.copytree('good', 'bad')
    name = kind + '_00001.out00001'
    if kind == 'info':
        name, = (n for n in os.listdir('bad') if n.startswith('info_'))
    path = os.path.join('bad', name)
    with open(path, 'rb') as f:
        text = bytearray(f.read())
    text[text.index(b'boxlen') + 15 if kind == 'info' else len(text) * 2 // 3 // 8 * 8] ^= 1
    with open(path, 'wb') as f:
        f.write(text)
    return name


def main():
    v = ptah.Verdict()
    with open('ic_part', 'w') as f:
        for i in range(100):
            f.write('%g %g %g 0.1 0 0 0.01\n' % (i * 0.37 % 1, i * 0.73 % 1, i * 0.19 % 1))
    good = ptah.simulate(NAMELIST, '.', options=['-q']).outputs[0]
    os.rename(good, 'good')
    for program, (arguments, kinds) in READS.items():
        for kind in kinds:
            name = flip(kind)
            shutil.rmtree('new', ignore_errors=True)
            os.makedirs('new')
            r = ptah.Run([ptah.program(program), *arguments], '.', timeout=30)
            said = len(r.err.splitlines()) == 1 and name in r.err and 'checksum' in r.err
            what = '%s, %s: status, sentence' % (program, kind)
            if not v.same(what, (r.status, said), (2, True)):
                print('     status %d: %s' % (r.status, r.err[-300:]))
            left = [p for p in os.listdir('new') if p != 'progress.json']
            v.same('%s, %s: written' % (program, kind), left, [])
    v.end()


if __name__ == '__main__':
    main()
