"""Wrong inputs of galaxies (condinit_kind='merger', filetype='dice'): one sentence with the file or
the parameter, exit status 2, no hang.

Examples of faults caught: a row of a table of velocities that is no number and becomes 0; radii
that descend; a table that ends before the disc; a file of particles that is missing.
"""
# test: tier=check timeout=180
import os
import re
import shutil
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))),
                                'property'))
import galaxies  # noqa: E402
import galaxy_start as start  # noqa: E402
import ptah  # noqa: E402

CURVES = {'one_row': ('0 100\n', 'at least two'), 'descending': ('0 1\n5 2\n4 3\n', 'line 3'),
          'nan': ('0 1\n5 nan\n', 'line 2'), 'columns': ('0 1 2\n5 2 3\n', 'line 1'),
          'short': ('0 1\n6.9 100\n', 'cut_radius1'), 'negative': ('0 1\n9 -100\n', 'negative'),
          'cut_row': ('0 1\n5 2\n7\n', 'line 3'), 'empty': ('', 'at least two')}
PARTICLES = {'columns': ('0 0 0 1 1 1\n', 'line 1'), 'nan': ('0 0 nan 1 1 1 1\n', 'line 1'),
             'mass': ('0 0 0 1 1 1 -1\n', 'negative mass')}
MERGER = {'gal_axis1=0,0,0': 'gal_axis1', 'gal_center1=11,0,0': 'gal_center1',
          'Mgas_disk2=3': 'Mgas_disk2', "rad_profile='flat'": 'rad_profile',
          "Vcirc_dat_file1='none.dat'": 'none.dat', "ic_part_file_gal1='none'": 'ics/none',
          "ic_part_file_gal2='none'": 'ics/none',
          "Mgas_disk2=1\nVcirc_dat_file2='Vcirc1.dat'": 'one centre',
          'typ_height1=0': 'typ_height1'}
DICE = {'ic_nfile=2': r'primary.g2.1', "ic_u_name='NONE'": 'NONE', "ic_pos_name='NONE'": 'NONE',
        "ic_mass_name='TOOLONG'": 'four letters', "ic_file='none'": 'ics/none',
        "ic_format='Gadget1'": "ic_format='Gadget2'", "ic_format=''": 'ic_format',
        "ic_format='HDF5'": 'ic_format', 'cosmo_add_gas_index=1': 'cosmo_add_gas_index'}


def fails(v, name, namelist, words, **how):
    out = ptah.simulate(namelist, '.', options=['-q', '-o', 'run'], must_work=False, timeout=60,
                        **how)
    said = bool(re.search(words, out.err)) and out.err.count('simulate: ') == 1
    v.same(name, (out.status, said or out.err), (2, True))


def merger(v):
    galaxies.merger('.', 50, 50)
    for name, (rows, words) in CURVES.items():
        with open('%s.dat' % name, 'w') as f:
            f.write(rows)
        fails(v, 'table: ' + name, start.text(more=start.DISC % ("Vcirc_dat_file1='%s.dat'" % name),
                                              low=3, high=3), words)
    for name, (rows, words) in PARTICLES.items():
        with open('ics/%s' % name, 'w') as f:
            f.write(rows)
        fails(v, 'particles: ' + name, start.text(
            more=start.DISC % ("ic_part_file_gal1='%s'" % name), low=3, high=3), words)
    for setting, words in MERGER.items():
        disc = start.DISC
        if 'Mgas' in setting:
            disc = disc.replace('Mgas_disk2=0.0\n', '')
        if setting.startswith('typ'):
            disc = disc.replace('typ_height1=0.6\n', '')
        if setting.startswith('Vcirc'):
            disc = disc.replace("Vcirc_dat_file1='Vcirc1.dat'\n", '')
        fails(v, setting, start.text(more=disc % setting, low=3, high=3), words)
    fails(v, 'two dimensions', start.text(more=start.DISC % '', low=3, high=3).replace(
        'pic=.true.', 'pic=.true.\nndim=2'), 'two dimensions')
    fails(v, 'three ranks', start.text(more=start.DISC % "Vcirc_dat_file1='nan.dat'", low=3,
                                       high=3), 'line 2', ranks=3)


def dice(v):
    start.write_dice()
    for setting, words in DICE.items():
        text = start.dice_text(more=setting + '\n', low=3, high=3)
        if setting.startswith('ic_format'):
            text = text.replace("ic_format='Gadget2'\n", '')
        if setting.startswith('ic_file='):
            text = text.replace("ic_file='primary.g2'\n", '')
        fails(v, setting, text, words)
    size = os.path.getsize('ics/primary.g2')
    with open('ics/primary.g2', 'rb') as f:
        whole = f.read()
    for n in (0, 100, 290, 5000, size // 2, size - 3):
        with open('ics/cut', 'wb') as f:
            f.write(whole[:n])
        fails(v, 'cut after %d bytes' % n, start.dice_text('cut', low=3, high=3), 'ics/cut')
    at = whole.index(b'POS ') + 16
    for name, change in (('position', b'\x00\x00\xc0\x7f'), ('mark', b'\xff\xff\xff\x7f')):
        shutil.copy('ics/primary.g2', 'ics/edit')
        with open('ics/edit', 'r+b') as f:
            f.seek(at if name == 'position' else at - 4)
            f.write(change)
        fails(v, 'damaged ' + name, start.dice_text('edit', low=3, high=3), 'ics/edit')
    fails(v, 'cosmology', start.dice_text(low=3, high=3).replace(
        'pic=.true.', 'pic=.true.\ncosmo=.true.'), 'cosmo')


def main():
    v = ptah.Verdict()
    merger(v)
    dice(v)
    v.end()


if __name__ == '__main__':
    main()
