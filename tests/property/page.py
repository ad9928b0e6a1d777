"""inspect --campaign --html: one page that an HTML parser accepts, without a reference to anything
outside; its table is that of --campaign; every figure is SVG with unique ids; curves have a point
for each step of the log; damage is shown; existing files are refused.

Examples of faults caught: a path that is not escaped, ids that two figures share, a figure left
open, a run that was started again counted twice.
"""
# test: tier=check timeout=240 ranks=2
import html.parser
import json
import os
import re
import sys
import xml.etree.ElementTree

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import ptah  # noqa: E402
from stars import BOX  # noqa: E402

FOLDER = 'a <b> & "c"'
VOID = {'meta', 'br', 'img', 'link', 'hr', 'input'}
SECTIONS = ['Checkpoints', 'Progress', 'Conservation', 'Time and memory', 'Maps', 'Power spectra',
            'Star formation']


class Page(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.open, self.wrong, self.ids, self.refs, self.rows = [], [], [], [], []
        self.title, self.sections, self.figures = '', [], {}
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        for name, value in attrs:
            if name == 'id':
                self.ids.append(value)
            if name in ('src', 'href', 'xlink:href', 'data', 'action'):
                self.refs.append(value)
            self.refs += re.findall(r'url\(([^)]*)\)', value or '')
        if tag in ('script', 'link', 'iframe', 'object', 'base'):
            self.wrong.append(tag)
        if tag == 'tr':
            self.rows.append([])
        if tag == 'td':
            self.rows[-1].append('')
        if tag == 'h2':
            self.sections.append('')
        if tag == 'svg':
            self.figures[self.sections[-1]] = self.figures.get(self.sections[-1], 0) + 1
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.wrong.append('/' + tag)

    def handle_data(self, data):
        inside = self.open[-1] if self.open else ''
        if inside == 'td':
            self.rows[-1][-1] += data
        if inside == 'h1':
            self.title += data
        if inside == 'h2':
            self.sections[-1] += data


def inspect(*argv, ranks=1):
    return ptah.Run(ptah.mpirun(ranks) + [ptah.program('inspect'), *argv], '.')


def points(text, section):
    """Number of points of the longest curve in the figures of a section."""
    part = text[text.index('<h2>%s</h2>' % section):].split('<h2>')[1]
    return max((d.count('L') + d.count('M') for d in re.findall(r' d="([^"]*)"', part)
                if 'C' not in d and 'Z' not in d), default=0)


def page(v, how, text):
    p = Page(text)
    v.same(how + ': all tags are closed', (p.open, p.wrong), ([], []))
    v.same(how + ': title', p.title, os.path.abspath(FOLDER))
    v.same(how + ': sections', p.sections, SECTIONS)
    v.same(how + ': refers to nothing outside',
           [r[:40] for r in p.refs if not r.startswith(('#', 'data:image/png;base64,'))], [])
    v.same(how + ': ids are of one figure each', len(set(p.ids)) == len(p.ids) > 20, True)
    v.same(how + ': references are to ids', {r[1:] for r in p.refs if r[0] == '#'} <= set(p.ids),
           True)
    bad = 0
    for svg in re.findall(r'<svg.*?</svg>', text, re.S):
        bad += xml.etree.ElementTree.fromstring(svg).tag != '{http://www.w3.org/2000/svg}svg'
    v.same(how + ': figures are XML', bad, 0)
    return p


def run():
    text = BOX % ('.false.', 12, '.false.', 3, 5, 3, 0.3, 4, 'original', 0.1,
                  'eps_star=0.2\nm_star=20.0', 'eta_sn=0.2\nyield=0.1\nt_sne=0.15')
    ptah.simulate(text, FOLDER, 2, options=['-j', 'costs'])
    with open(os.path.join(FOLDER, 'log')) as f:
        return f.read()


def main():
    v = ptah.Verdict()
    log = run()
    r = inspect('--campaign', '-j', '--html', 'p.html', FOLDER)
    v.same('status', (r.status, r.err), (0, ''))
    with open('p.html') as f:
        text = f.read()
    p = page(v, 'page', text)
    rows = [json.loads(line) for line in r.out.splitlines()]
    v.same('its table', [(row[0], row[2], row[3], row[-1]) for row in p.rows if row],
           [('%05d' % q['output'], str(q['coarse_steps']), str(q['fine_steps']), q['verdict'])
            for q in rows])
    v.same('more than one checkpoint', len(rows) > 1, True)
    least = {'Progress': 3, 'Conservation': 2, 'Time and memory': 5, 'Maps': 2, 'Power spectra': 1,
             'Star formation': 1}
    v.same('figures', [k for k in least if p.figures.get(k, 0) < least[k]], [])
    steps = len(set(re.findall(r'Main step= *(\d+)', log)))
    v.same('points of the curve of energy', points(text, 'Conservation'), steps)
    # as after a restart that repeated these steps
    with open(os.path.join(FOLDER, 'log'), 'a') as f:
        f.write(log)
    with open(os.path.join(FOLDER, 'noise'), 'wb') as f:
        f.write(os.urandom(100000) + b'{"step":1e9,"wall_s":nan,"phases_s":{"x":[1,2\n' * 3)
    r = inspect('--campaign', '-q', '--html', 'again.html', FOLDER)
    with open('again.html') as f:
        text = f.read()
    page(v, 'with noise', text)
    v.same('steps done twice count once', (r.status, points(text, 'Conservation')), (0, steps))
    r = inspect('--campaign', '-q', '--html', 'p.html', FOLDER)
    v.same('a page is kept', (r.status, 'exists; --force' in r.err), (2, True))
    r = inspect('--campaign', '-q', '--html', 'two.html', FOLDER, ranks=2)
    v.same('two ranks', (r.status, 'one rank' in r.err, os.path.exists('two.html')),
           (2, True, False))
    last = rows[-1]['path']
    os.truncate(os.path.join(last, 'hydro_%s.out00001' % last[-5:]), 3000)
    for name in 'log', 'costs':
        os.remove(os.path.join(FOLDER, name))
    r = inspect('--campaign', '--html', 'p.html', '--force', FOLDER)
    with open('p.html') as f:
        text = f.read()
    p = page(v, 'damaged', text)
    v.same('damage', (r.status, '1 not sound' in text, 'contains no log of the run' in text,
                      'hydro_%s.out00001' % last[-5:] in p.rows[-1][-1]), (1, True, True, True))
    v.end()


if __name__ == '__main__':
    main()
