"""`make html` makes a site without dead links and missing pictures: each page of docs and each
manual page is in it, each link leads to a file and, with #, to an anchor there, and the index of
the search finds what titles and texts have.

Example of a fault caught: a page of docs that was renamed, a picture that was removed, a title that
changed while others link to it.
"""
# test: tier=check timeout=60
import glob
import html.parser
import json
import os
import re
import subprocess
import sys
import urllib.parse

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import ptah  # noqa: E402


class Page(html.parser.HTMLParser):
    """Links and anchors of a page."""

    def __init__(self, path):
        super().__init__()
        self.links, self.anchors = [], set()
        with open(path, encoding='utf-8') as f:
            self.feed(f.read())

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.anchors |= {attrs[k] for k in ('id', 'name') if attrs.get(k)}
        self.links += [attrs[k] for k in ('href', 'src') if attrs.get(k)]


def dead_links(pages, path):
    for link in pages[path].links:
        to, _, anchor = urllib.parse.unquote(link).partition('#')
        if re.match(r'\w+:', to):
            continue
        target = os.path.normpath(os.path.join(os.path.dirname(path), to)) if to else path
        if not os.path.isfile(target):
            yield link
        elif anchor and target in pages and anchor not in pages[target].anchors:
            yield link


def found(index, *words):
    """Pages that the search finds, by the rule of search.js."""
    def fits(entry, w):
        return w in entry[2].lower() or ' ' + w in ' ' + entry[3]
    return {e[0] for e in index if all(fits(e, w) for w in words)}


def main():
    v = ptah.Verdict()
    plain = {k: x for k, x in os.environ.items() if not k.startswith('MAKE') and k != 'MFLAGS'}
    r = subprocess.run(['make', '--no-print-directory', '-C', ptah.ROOT, 'html',
                        'SITE=' + os.path.abspath('html')], capture_output=True, text=True,
                       env=plain)
    if 'needs mandoc' in r.stderr:
        ptah.skip(r.stderr.strip())
    v.same('make html', (r.returncode, r.stderr), (0, ''))
    paths = sorted(glob.glob('html/**/*.html', recursive=True))
    pages = {p: Page(p) for p in paths}
    docs = glob.glob(os.path.join(ptah.ROOT, 'docs', '**', '*.md'), recursive=True)
    wanted = [os.path.join('html', os.path.relpath(p, ptah.ROOT)[:-3] + '.html') for p in docs]
    wanted += ['html/man/%s.html' % os.path.basename(p)
               for p in glob.glob(os.path.join(ptah.ROOT, 'man', '*.?'))]
    v.same('pages that are missing', [p for p in wanted if p not in pages], [])
    v.same('pages of modes', len(glob.glob('html/man/inspect-*.html')) > 20, True)
    for path in paths:
        v.same('%s: dead links' % path, sorted(set(dead_links(pages, path))), [])
    with open('html/search.js', encoding='utf-8') as f:
        text = f.read()
    index = json.loads(re.match(r'const INDEX = (\[.*\]);\n', text)[1])
    v.check('size of search.js, MB', len(text.encode()) / 1e6, 1.5)
    for words, page in ((('resume',), 'docs/tasks.html'),
                        (('halos', 'link'), 'man/inspect-halos.1.html'),
                        (('riemann',), 'docs/adding.html')):
        v.same('a search for %s' % ' '.join(words), page in found(index, *words), True)
    v.same('a search for nothing', found(index, 'xyzzy'), set())
    v.end()


if __name__ == '__main__':
    main()
