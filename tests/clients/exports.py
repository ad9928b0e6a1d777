"""Programs of others open what convert writes and find the mass, volume and energy of the
checkpoint: VTK's readers (of which ParaView consists), openPMD's validator and API, astropy,
swiftsimio, pynbody.

They are installed into a virtual environment of the test, 150 MB: tier long. Without a network the
test is skipped. tests/property/exports.py reads the same files by readers of its own.

Example of a fault caught: bits of the tree from the lowest; an attribute with a type that openPMD
does not allow; cells of SWIFT that are missing.
"""
# test: tier=long timeout=900
import os
import subprocess
import sys
import warnings

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import ptah  # noqa: E402

PACKAGES = ['numpy', 'h5py', 'vtk==9.7.2', 'openpmd-api==0.17.1.post4',
            'openPMD-validator==1.1.0.6', 'astropy==8.0.2', 'swiftsimio==12.4.0', 'pynbody==2.8.0']
VENV = 'PTAH_EXPORT_VENV'  # an environment that has the packages


def enter():
    """Runs this test in an environment with the packages."""
    where = os.environ.get(VENV)
    if where and os.path.realpath(sys.prefix) == os.path.realpath(where):
        return
    if not where:
        where = os.path.abspath('venv')
        for command in ([sys.executable, '-m', 'venv', where],
                        [where + '/bin/pip', 'install', '-q', *PACKAGES]):
            if subprocess.run(command, stderr=subprocess.DEVNULL).returncode:
                ptah.skip('cannot install ' + ', '.join(PACKAGES))
    os.environ[VENV] = where
    os.execv(where + '/bin/python', [where + '/bin/python', *sys.argv])


def convert(*words):
    r = ptah.Run([ptah.program('convert'), '-q', *words], '.', timeout=120)
    if r.status:
        sys.exit(r.said())


def close(v, what, a, b, limit=1e-12):
    v.check(what, abs(a / b - 1), limit)


def vtk_cells(v, out, want):
    import vtk
    from vtk.util.numpy_support import vtk_to_numpy
    convert('-f', 'vtk', '-o', 'v', out)
    convert('-f', 'vtk', '-o', 'v.vtu', out)
    tree = vtk.vtkXMLHyperTreeGridReader()
    tree.SetFileName('v.htg')
    tree.Update()
    leaves = vtk.vtkHyperTreeGridToUnstructuredGrid()
    leaves.SetInputConnection(tree.GetOutputPort())
    grid = vtk.vtkXMLUnstructuredGridReader()
    grid.SetFileName('v.vtu')
    for name, reader in (('htg', leaves), ('vtu', grid)):
        size = vtk.vtkCellSizeFilter()
        size.SetInputConnection(reader.GetOutputPort())
        size.Update()
        data = size.GetOutput().GetCellData()
        x = {k: vtk_to_numpy(data.GetArray(k)) for k in ('Volume', 'density', 'pressure',
                                                         'velocity')}
        v.same(name + ': cells', len(x['Volume']), want['cells'])
        close(v, name + ': volume', x['Volume'].sum(), 1)
        close(v, name + ': mass', (x['density'] * x['Volume']).sum(), want['gas'])
        energy = x['pressure'] * 1.5 + 0.5 * x['density'] * (x['velocity'] ** 2).sum(1)
        close(v, name + ': energy', (energy * x['Volume']).sum(), want['energy'])
    points = vtk.vtkXMLPolyDataReader()
    points.SetFileName('v.vtp')
    points.Update()
    mass = vtk_to_numpy(points.GetOutput().GetPointData().GetArray('mass'))
    close(v, 'vtp: mass', mass.sum(), want['dm'])
    convert('-f', 'vti', '--level', '6', '-o', 'v.vti', out)
    image = vtk.vtkXMLImageDataReader()
    image.SetFileName('v.vti')
    image.Update()
    rho = vtk_to_numpy(image.GetOutput().GetCellData().GetArray('density'))
    close(v, 'vti: mass', rho.mean(), want['gas'])


def openpmd(v, out, want):
    import openpmd_api
    convert('-f', 'openpmd', '--level', '6', '--fields',
            'density,velocity_x,velocity_y,velocity_z', '-o', 'p.h5', out)
    r = subprocess.run([os.path.join(sys.prefix, 'bin', 'openPMD_check_h5'), '-i', 'p.h5'],
                       stdout=subprocess.PIPE, text=True)
    v.same('openPMD: validator', 'Result: 0 Errors' in r.stdout, True)
    series = openpmd_api.Series('p.h5', openpmd_api.Access.read_only)
    it = series.iterations[int(out[-5:])]
    rho = it.meshes['density'][openpmd_api.Mesh_Record_Component.SCALAR].load_chunk()
    mass = it.particles['dm']['mass'][openpmd_api.Record_Component.SCALAR].load_chunk()
    series.flush()
    v.same('openPMD: meshes', sorted(it.meshes), ['density', 'velocity'])
    close(v, 'openPMD: gas', rho.mean(), want['gas'])
    close(v, 'openPMD: particles', mass.sum(), want['dm'])


def images(v, out, want):
    from astropy.io import fits
    convert('-f', 'fits', '--level', '6', '--fields', 'density,temperature', '-o', 'a.fits', out)
    with fits.open('a.fits') as f:
        f.verify('exception')
        v.same('FITS: unit', f['DENSITY'].header['BUNIT'], 'g/cm^3')
        unit = f['DENSITY'].header['UNIT_D']
        close(v, 'FITS: mass', f['DENSITY'].data.mean() / unit, want['gas'])


def snapshots(v, out, want):
    import h5py
    import pynbody
    import swiftsimio
    for form in ('swift', 'gadget4'):
        convert('-f', form, '--gas', '-o', form + '.hdf5', out)
        s = pynbody.load(form + '.hdf5')
        close(v, form + ', pynbody: mass', float(s['mass'].sum().in_units('g')),
              (want['gas'] + want['dm']) * want['gram'])
    with h5py.File('swift.hdf5') as f:
        unit = f['Units'].attrs['Unit mass in cgs (U_M)'][0]
        close(v, 'swift: mass', f['PartType0/Masses'][:].sum() * unit, want['gas'] * want['gram'],
              1e-14)
    data = swiftsimio.load('swift.hdf5')
    # its solar mass differs from the unit of the file by 3e-6
    close(v, 'swift, swiftsimio: mass', float(data.gas.masses.sum().to('g')),
          want['gas'] * want['gram'], 1e-5)
    mask = swiftsimio.mask('swift.hdf5')
    box = data.metadata.boxsize
    mask.constrain_spatial([[0.1 * b, 0.5 * b] for b in box])
    v.same('swift, swiftsimio: a region',
           len(swiftsimio.load('swift.hdf5', mask=mask).gas.masses) > 0, True)


def main(v):
    warnings.simplefilter('ignore')
    # behind the modules of Python, one of which is called profile as a test is
    sys.path.append(os.path.join(ptah.ROOT, 'tests', 'property'))
    import read_ramses
    from convert import COSMO
    ptah.unpack_ics('.', 'ic_32')
    out = ptah.simulate(COSMO, '.', options=['-q', '-o', 'run']).outputs[-1]
    s = read_ramses.load(out)
    c = s.cell
    speed = sum(c['velocity_' + d] ** 2 for d in 'xyz')
    want = {'cells': len(s.level), 'gas': (c['density'] * s.volume).sum(),
            'dm': s.part['mass'].sum(), 'gram': s.info['unit_d'] * s.info['unit_l'] ** 3,
            'energy': ((c['pressure'] * 1.5 + 0.5 * c['density'] * speed) * s.volume).sum()}
    for test in (vtk_cells, openpmd, images, snapshots):
        test(v, out, want)


if __name__ == '__main__':
    enter()
    verdict = ptah.Verdict()
    main(verdict)
    verdict.end()
