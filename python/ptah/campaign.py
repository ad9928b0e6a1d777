"""The checkpoints of a run."""
import os
import re

from ptah._library import FileError, ParameterError, lib
from ptah.checkpoint import Checkpoint

NUMBERED = re.compile(r'.*_(\d+)$')


class Campaign:
    """The checkpoints in a directory by their numbers: a sequence that opens them.

    >>> import ptah
    >>> run = ptah.campaign('.')
    >>> run.numbers
    [1, 2]
    >>> [round(c.redshift, 1) for c in run]
    [49.0, 32.2]
    >>> run[-1].number
    2

    Iteration closes a checkpoint when it goes on; arrays stay.
    """

    def __init__(self, path='.'):
        self.path = os.fspath(path)
        if os.path.isdir(self.path) and lib.ptah_is(os.fsencode(self.path)):
            raise ParameterError('%s: is one checkpoint, which ptah.open opens; a campaign is the '
                                 'directory that has its checkpoints' % self.path)
        try:
            found = os.listdir(self.path)
        except OSError as e:
            raise FileError('%s: cannot be listed: %s' % (self.path, e.strerror)) from None
        pairs = []
        for name in found:
            numbered, whole = NUMBERED.match(name), os.path.join(self.path, name)
            if numbered and os.path.isdir(whole) and lib.ptah_is(os.fsencode(whole)):
                pairs.append((int(numbered.group(1)), whole))
        self.numbers = [number for number, _ in sorted(pairs)]
        self.paths = [whole for _, whole in sorted(pairs)]

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, i):
        if isinstance(i, slice):
            part = Campaign.__new__(Campaign)
            part.path, part.numbers, part.paths = self.path, self.numbers[i], self.paths[i]
            return part
        return Checkpoint(self.paths[i])

    def __iter__(self):
        for path in self.paths:
            with Checkpoint(path) as c:
                yield c

    def __repr__(self):
        return 'ptah.Campaign(%r): %d checkpoints' % (self.path, len(self))


def campaign(path='.'):
    """The checkpoints of a run: those in this directory (Campaign)."""
    return Campaign(path)
