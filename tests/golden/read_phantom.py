"""An independent reader and writer of tagged dumps of Phantom, from the layout of their records: it
shares no code with the programs it checks.

    d = load('sedov_00010')
    d.header['hfact'], d.arrays['x'], d.sinks['m']
"""
import struct

import numpy as np

KINDS = ['i4', 'i1', 'i2', 'i4', 'i8', 'f8', 'f4', 'f8']


class Dump:
    """number: (tag, kind, value) in the order of the file; header: the first value of each tag;
    block: lists of (tag, kind, values); arrays, sinks: the first and the second by tag."""

    def __init__(self, text):
        self.text, self.at, self.records = text, 0, []
        self.order = '<' if struct.unpack_from('<i', text)[0] < 100 else '>'
        marks = self.record()
        self.reals = len(marks) - 16
        self.id = self.record()
        self.number = [n for kind in range(8) for n in self.numbers(kind)]
        self.header = {}
        for tag, _, value in self.number:
            self.header.setdefault(tag, value)
        count = self.take('i4')[0]
        heads = []
        for _ in range(count):
            r = self.record()
            heads.append((struct.unpack_from(self.order + 'q', r)[0],
                          struct.unpack_from(self.order + '8i', r, 8)))
        self.rows = [n for n, _ in heads]
        self.block = [[self.array(kind) for kind in range(8) for _ in range(k[kind])]
                      for _, k in heads]
        self.arrays, self.sinks = [{tag: x for tag, _, x in b} for b in (self.block + [[], []])[:2]]
        assert self.at == len(text), 'bytes follow the last record'

    def record(self):
        n, = struct.unpack_from(self.order + 'i', self.text, self.at)
        end, = struct.unpack_from(self.order + 'i', self.text, self.at + 4 + n)
        assert n == end >= 0, 'lengths of a record'
        self.records.append(self.at)
        self.at += n + 8
        return self.text[self.at - 4 - n:self.at - 4]

    def type_of(self, kind):
        return self.order + ('f%d' % self.reals if kind == 5 else KINDS[kind])

    def take(self, kind):
        return np.frombuffer(self.record(), self.order + kind)

    def tag(self, text):
        return text.decode().rstrip()

    def numbers(self, kind):
        n = self.take('i4')[0]
        if n == 0:
            return []
        tags = self.record()
        values = np.frombuffer(self.record(), self.type_of(kind))
        return [(self.tag(tags[16 * i:16 * i + 16]), kind, values[i]) for i in range(n)]

    def array(self, kind):
        tag = self.tag(self.record())
        return tag, kind, np.frombuffer(self.record(), self.type_of(kind))


def load(path):
    with open(path, 'rb') as f:
        return Dump(f.read())


def text_of(d, order):
    """The bytes of a dump in a byte order."""
    out = []

    def record(data):
        mark = struct.pack(order + 'i', len(data))
        out.extend((mark, data, mark))

    def type_of(kind):
        return order + ('f%d' % d.reals if kind == 5 else KINDS[kind])

    def tags(names):
        record(b''.join(name.encode().ljust(16) for name in names))
    record(struct.pack(order + 'i' + 'fd'[d.reals == 8] + '3i', 60769, 60878.0, 60878, 1, 690706))
    record(d.id)
    for kind in range(8):
        rows = [n for n in d.number if n[1] == kind]
        record(struct.pack(order + 'i', len(rows)))
        if rows:
            tags([n[0] for n in rows])
            record(np.array([n[2] for n in rows]).astype(type_of(kind)).tobytes())
    record(struct.pack(order + 'i', len(d.block)))
    for n, block in zip(d.rows, d.block):
        record(struct.pack(order + 'q8i', n, *[sum(a[1] == k for a in block) for k in range(8)]))
    for block in d.block:
        for tag, kind, values in block:
            tags([tag])
            record(values.astype(type_of(kind)).tobytes())
    return b''.join(out)
