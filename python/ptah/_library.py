"""The library: where it is, its declarations, its errors, and its memory as arrays."""
import os
import re
import sys
import threading

import cffi
import numpy as np

NAME = 'libptah.so'
ffi = cffi.FFI()

# One call at a time (ptah.h). A fork waits for the end of a call of another thread, so that the
# child does not inherit a library in the middle of it.
lock = threading.RLock()


class Error(Exception):
    """A failure of the library, with its sentence."""


class ParameterError(Error, ValueError):
    """A request that makes no sense for this checkpoint."""


class FileError(Error, OSError):
    """A file that cannot be read."""


class FormatError(Error):
    """A file with contents that cannot be: it is damaged, or no checkpoint."""


class LimitError(Error):
    """A request beyond the memory or the limits of this build."""


for _kind in Error, ParameterError, FileError, FormatError, LimitError:
    _kind.__module__ = 'ptah'  # where users find them
ERRORS = {1: ParameterError, 2: FileError, 3: FormatError, 4: LimitError}


def _prefixes():
    """Folders of installations: that of this Python, and those of the programs on the path."""
    yield sys.prefix
    for folder in os.environ.get('PATH', '').split(os.pathsep):
        if os.path.isfile(os.path.join(folder, 'ptah')):
            yield os.path.dirname(os.path.realpath(folder))
    yield from ('/usr/local', '/usr')


def _places():
    """Pairs of library and declarations: as asked for, of this package, of the build tree, of
    installations."""
    here = os.path.dirname(os.path.abspath(__file__))
    tree = os.path.dirname(os.path.dirname(here))
    asked = os.environ.get('PTAH_LIBRARY')
    if asked:
        folder = os.path.dirname(os.path.abspath(asked))
        for header in ('ptah.h', '../include/ptah/api/ptah.h', '../lib/api/ptah.h'):
            yield asked, os.path.join(folder, header)
        return
    yield os.path.join(here, NAME), os.path.join(here, 'ptah.h')
    yield os.path.join(tree, 'build', NAME), os.path.join(tree, 'lib', 'api', 'ptah.h')
    for prefix in _prefixes():
        yield (os.path.join(prefix, 'lib', NAME),
               os.path.join(prefix, 'include', 'ptah', 'api', 'ptah.h'))


def _find():
    for pair in _places():
        if all(map(os.path.isfile, pair)):
            return pair
    raise ImportError('there is no %s with its ptah.h: build Ptah (make), install it (make '
                      'install), or set PTAH_LIBRARY to the path of the library' % NAME)


def _load():
    path, header = _find()
    with open(header, encoding='utf-8') as f:
        text = re.sub(r'/\*.*?\*/|^#.*?$', '', f.read(), flags=re.S | re.M)
    ffi.cdef(text)
    return ffi.dlopen(path)


lib = _load()


def check(status):
    """Raises the error of a call."""
    if status:
        sentence = ffi.string(lib.ptah_message()).decode(errors='replace')
        raise ERRORS.get(status, Error)(sentence)


def text(pointer):
    return None if pointer == ffi.NULL else ffi.string(pointer).decode(errors='replace')


def names(items):
    """A list of C strings, and what keeps them alive."""
    kept = [ffi.new('char[]', os.fsencode(item)) for item in items]
    return ffi.new('char *[]', kept), kept


def array(column, n):
    """A column as an array that owns its memory, without a copy."""
    dtype = np.dtype({b'd': 'f8', b'q': 'i8', b'i': 'i4', b'h': 'i2', b'b': 'i1'}[column.type])
    size = n * dtype.itemsize
    data = ffi.gc(column.data, lib.ptah_free, size)
    column.data = ffi.NULL
    return np.frombuffer(ffi.buffer(data, size), dtype) if n else np.empty(0, dtype)


def release():
    """The version of the library and the commit that it was built from."""
    return text(lib.ptah_release())


THREADS_MAX = 4096  # OpenMP ends the process when it has no memory for its threads


def threads(n):
    """Sets the number of threads of a call, which is 1 at first; 0: as OMP_NUM_THREADS has it, or
    all cores. Several are faster on an idle machine, and wait for one another on a busy one."""
    if not isinstance(n, int) or not 0 <= n <= THREADS_MAX:
        raise ParameterError('the number of threads is %r, which must be an integer, 0 or above '
                             'and at most %d' % (n, THREADS_MAX))
    with lock:
        lib.ptah_threads(n)


def _in_child():
    lib.ptah_threads(1)  # the threads of the parent do not exist here
    lock.release()


os.register_at_fork(before=lock.acquire, after_in_parent=lock.release, after_in_child=_in_child)
