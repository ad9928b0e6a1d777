"""Builds the wheel of the module `ptah` (PEP 517), with nothing but Python.

The module calls libptah.so by its declarations (cffi in ABI mode), so nothing is compiled here, and
one wheel serves all versions of Python. The wheel has the library of the build tree, of which this
folder is a part, or the one that the variable PTAH_LIBRARY names: `make` first. The libraries that
it needs (MPI, HDF5, GSL, FFTW, cairo) are those of the machine: `auditwheel repair` adds them for
others.
"""
import base64
import hashlib
import os
import re
import sysconfig
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(HERE)
LIBRARY = 'libptah.so'
TEXT = {'README.md': os.path.join(HERE, 'README.md'), 'LICENSE': os.path.join(TOP, 'LICENSE')}


def field(name):
    """A value of pyproject.toml, which Python before 3.11 cannot parse."""
    with open(os.path.join(HERE, 'pyproject.toml'), encoding='utf-8') as f:
        found = re.search(r'^%s = (.*)$' % name, f.read(), re.M).group(1)
    return re.findall(r'"([^"]*)"', found)


def version():
    with open(os.path.join(TOP, 'VERSION'), encoding='utf-8') as f:
        return f.read().strip()


def library():
    """The paths of the library and its declarations."""
    path = os.environ.get('PTAH_LIBRARY') or os.path.join(TOP, 'build', LIBRARY)
    if not os.path.isfile(path):
        raise SystemExit('%s: is not there: run make, or set PTAH_LIBRARY to the path of an '
                         'installed libptah.so' % path)
    return path, os.path.join(TOP, 'lib', 'api', 'ptah.h')


def metadata():
    lines = ['Metadata-Version: 2.1', 'Name: ptah', 'Version: ' + version(),
             'Summary: ' + field('description')[0], 'License: ' + field('license')[0],
             'Requires-Python: ' + field('requires-python')[0]]
    lines += ['Requires-Dist: ' + need for need in field('dependencies')]
    lines += ['Description-Content-Type: text/markdown', '']
    with open(TEXT['README.md'], encoding='utf-8') as f:
        return '\n'.join(lines) + '\n' + f.read()


def tag():
    return 'py3-none-' + re.sub(r'[-.]', '_', sysconfig.get_platform())


class Wheel:
    """A zip file with the list of its contents."""

    def __init__(self, folder):
        self.name = 'ptah-%s-%s.whl' % (version(), tag())
        self.info = 'ptah-%s.dist-info/' % version()
        self.zip = zipfile.ZipFile(os.path.join(folder, self.name), 'w', zipfile.ZIP_DEFLATED)
        self.record = []

    def add(self, name, data, mode=0o644):
        if isinstance(data, str):
            data = data.encode()
        entry = zipfile.ZipInfo(name)  # without a time: the same files make the same wheel
        entry.external_attr = (0o100000 | mode) << 16
        entry.compress_type = zipfile.ZIP_DEFLATED
        self.zip.writestr(entry, data)
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b'=').decode()
        self.record.append('%s,sha256=%s,%d' % (name, digest, len(data)))

    def add_file(self, name, path, mode=0o644):
        with open(path, 'rb') as f:
            self.add(name, f.read(), mode)

    def close(self):
        self.add(self.info + 'METADATA', metadata())
        self.add(self.info + 'WHEEL', 'Wheel-Version: 1.0\nGenerator: ptah\n'
                 'Root-Is-Purelib: false\nTag: %s\n' % tag())
        self.add_file(self.info + 'LICENSE', TEXT['LICENSE'])
        self.record.append(self.info + 'RECORD,,')
        self.zip.writestr(self.info + 'RECORD', '\n'.join(self.record) + '\n')
        self.zip.close()
        return self.name


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    path, header = library()
    wheel, package = Wheel(wheel_directory), os.path.join(HERE, 'ptah')
    for name in sorted(os.listdir(package)):
        if name.endswith('.py'):
            wheel.add_file('ptah/' + name, os.path.join(package, name))
    wheel.add_file('ptah/' + LIBRARY, path, 0o755)
    wheel.add_file('ptah/ptah.h', header)
    return wheel.close()


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    """pip install -e: a path to this folder; the module then uses the library of the tree."""
    library()
    wheel = Wheel(wheel_directory)
    wheel.add('ptah.pth', HERE + '\n')
    return wheel.close()


def build_sdist(sdist_directory, config_settings=None):
    raise SystemExit('ptah: the sources of the module are those of Ptah: make dist')
