"""`make install` installs everything: programs under other names, `ptah TOOL`, manual pages,
completion of every option, and a library with which other programs can be built; uninstall removes
all files. `make PATCH=DIR` applies a patch, which checkpoints name. An archive of `make dist` has
the same bytes each time, all files of a commit, and its name; recipes for package managers name its
checksum. A user without root gets a list of missing packages and the command for the administrator,
and can build without pkg-config.

Example of a fault caught: a header that source.h includes and that is not installed.
"""
# test: installed tier=check timeout=240
# test: patched tier=check timeout=600
# test: dist tier=check
# test: commit tier=quick
# test: blank tier=check timeout=120
# test: rootless tier=check timeout=120
# test: declined tier=quick timeout=60
import hashlib
import os
import pty
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import ptah  # noqa: E402
from digest import SEDOV  # noqa: E402

TOOLS = ['simulate', 'inspect', 'convert', 'repartition', 'genzoom', 'pk']


def make(*words, **env):
    """Runs make in the source tree."""
    plain = {k: x for k, x in os.environ.items() if not k.startswith('MAKE') and k != 'MFLAGS'}
    plain.update(env)
    return subprocess.run(['make', '--no-print-directory', '-C', ptah.ROOT, *words], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=plain)


def modes_below(folder):
    """Installed files that not all users can read or enter."""
    wrong = []
    for d, _, names in os.walk(folder):
        wrong += [d] if os.stat(d).st_mode & 0o777 != 0o755 else []
        wrong += [n for n in names
                  if os.stat(os.path.join(d, n)).st_mode & 0o777 not in (0o644, 0o755)]
    return wrong


def files_below(folder):
    return sorted(os.path.relpath(os.path.join(d, f), folder)
                  for d, _, names in os.walk(folder) for f in names)


def long_options(tool):
    return set(re.findall(r'^ +(?:-\w,)? *(--[\w-]+)', ptah.Run([ptah.program(tool), '--help'],
                                                                '.').out, re.M))


def check_completion(v, top):
    script = os.path.join(top, 'share/bash-completion/completions/ptah-pk')
    for tool in TOOLS:
        ask = ('. %s; COMP_WORDS=(ptah-%s --); COMP_CWORD=1; _ptah; echo ${COMPREPLY[@]}'
               % (script, tool))
        r = ptah.Run(['bash', '-c', ask], '.')
        v.same('%s: options that bash completes' % tool, set(r.out.split()), long_options(tool))
    check_words(v, script)
    zsh = os.path.join(top, 'share/zsh/site-functions/_ptah')
    with open(zsh) as f:
        text = f.read()
    v.same('descriptions in zsh are whole', [n for n in (
        'of the results (default\\: FORMAT)]', 'HDF5 file)]', 'include the gas, one particle')
        if n not in text], [])
    ask = '. %s; COMP_WORDS=(ptah inspect --conta); COMP_CWORD=2; _ptah; echo ${COMPREPLY[@]}'
    v.same('ptah inspect --conta', ptah.Run(['bash', '-c', ask % script], '.').out.split(),
           ['--contamination'])


def completed(script, *words):
    """The words that bash offers for the last of these."""
    ask = '. %s; COMP_WORDS=("$@"); COMP_CWORD=%d; _ptah; printf "%%s\\n" "${COMPREPLY[@]}"' % (
        script, len(words) - 1)
    return sorted(ptah.Run(['bash', '-c', ask, 'bash', *words], '.').out.split())


def check_words(v, script):
    """Sub-commands, checkpoints, fields of the given checkpoint, parameters."""
    run = ptah.simulate(SEDOV, 'words', settings=['run_params/nstepmax=1',
                                                  'output_params/foutput=1'])
    paths = [os.path.relpath(p) for p in run.outputs]
    tool = os.path.join(os.path.dirname(script), '../../../bin/ptah-inspect')
    os.makedirs('words/plain', exist_ok=True)
    open('words/x.h5', 'w').close()
    outputs = sorted(p + '/' for p in paths)
    for words, wanted in (
            ((tool, 'ma'), ['map']), (('ptah', 'ins'), ['inspect']),
            ((tool, 'halos', '--mi'), ['--min']), ((tool, 'map', '--mi'), []),
            ((tool, paths[-1], '-m', 'velocity_'), ['velocity_x', 'velocity_y', 'velocity_z']),
            ((tool, 'words/'), [*outputs, 'words/x.h5']), ((tool, 'wor'), ['words/']),
            (('ptah-simulate', 'run.nml', 'hydro_params/slope_ty'), ['hydro_params/slope_type=']),
            (('ptah-simulate', '-r', 'words/output_'), outputs)):
        v.same('bash completes %s' % ' '.join(words[1:]), completed(script, *words), wanted)


def check_library(v, top):
    """Builds examples/read with the installed headers and library."""
    run = ptah.simulate(SEDOV, '.', settings=['run_params/nstepmax=1'])
    os.environ['PKG_CONFIG_PATH'] = os.path.join(top, 'lib/pkgconfig')
    flags = ptah.Run(['pkg-config', '--define-variable=prefix=' + top, '--cflags', '--libs',
                      'ptah'], '.')
    source = os.path.join(top, 'share/doc/ptah/examples/read/read.c')
    r = ptah.Run(['mpicc', '-Wall', '-Werror', source, '-o', 'read', *flags.out.split()], '.')
    v.same('the example is built', (r.status, r.err), (0, ''))
    r = ptah.Run(['./read', run.outputs[-1]], '.')
    summary = ptah.Run([ptah.program('inspect'), run.outputs[-1]], '.').out
    mass = float(re.search(r'gas mass +(\S+)', summary).group(1))
    v.check('mass of the gas by the example and by inspect',
           abs(float(re.search(r'gas ([-+.e\d]+)', r.out).group(1)) / mass - 1), 1e-8)
    v.same('the example with a wrong path', ptah.Run(['./read', 'nothing'], '.').status, 2)


def test_installed(v):
    dest, prefix = os.path.abspath('dest'), '/opt/ptah'
    words = ['DESTDIR=' + dest, 'PREFIX=' + prefix, 'PROGRAM_PREFIX=ptah-']
    top = dest + prefix
    os.makedirs(dest + '/opt')  # created by another package
    os.makedirs(top + '/bin', mode=0o755)
    old = os.umask(0o077)
    r = make('install', *words)
    os.umask(old)
    v.same('make install', (r.returncode, r.stderr), (0, ''))
    v.same('modes, under umask 077', modes_below(top), [])
    v.same('files outside of PREFIX', [f for f in files_below(dest)
                                       if not f.startswith(prefix[1:])], [])
    for tool in TOOLS:
        r = ptah.Run([os.path.join(top, 'bin', 'ptah'), tool, '-V'], '.')
        v.same('ptah %s -V' % tool, re.sub(r'\(commit [^)]+\)', '(commit)', r.out),
               'ptah %s %s (commit)\n' % (tool, version()))
        v.same('%s: a manual page' % tool,
               os.path.exists('%s/share/man/man1/ptah-%s.1' % (top, tool)), True)
    for name, title in (('map', 'PTAH-INSPECT-MAP'), ('compare', 'PTAH-INSPECT-COMPARE')):
        with open('%s/share/man/man1/ptah-inspect-%s.1' % (top, name)) as f:
            v.same('ptah-inspect-%s: a manual page' % name, title in f.read(), True)
    r = ptah.Run([os.path.join(top, 'bin', 'ptah'), 'help', 'restart'], '.')
    v.same('ptah help restart', (r.status, 'simulate' in r.out), (0, True))
    r = ptah.Run([os.path.join(top, 'bin', 'ptah'), 'simulat'], '.')
    v.same('ptah simulat', (r.status, len(r.err.splitlines())), (2, 1))
    check_completion(v, top)
    check_library(v, top)
    make('uninstall', *words)
    v.same('files after uninstall', files_below(dest), [])
    v.same('directories after uninstall: those of others',
           [d for d, _, _ in os.walk(dest)], [dest, dest + '/opt', top, top + '/bin'])


def test_blank(v):
    """A path with a blank: uninstall removes installed files, and nothing whose name ends before
    the blank."""
    ours, mine = os.path.abspath('two words/bin/ptah'), os.path.abspath('two/mine')
    for path in (ours, mine):
        os.makedirs(os.path.dirname(path))
        open(path, 'w').close()
    make('uninstall', 'PREFIX=' + os.path.abspath('two words'))
    v.same('uninstall with a blank: ours, mine', (os.path.exists(ours), os.path.exists(mine)),
           (False, True))
    r = make('clean', 'O=' + os.path.abspath('two words'))
    v.same('make clean O= with a blank', (r.returncode, 'O=' in r.stderr, os.path.exists(mine)),
           (2, True, True))
    for target in ('clean', 'distclean'):  # as for O=$HOME
        for name in ('bin/mine', 'bin/pk', 'build/mine', 'build/lib'):
            os.makedirs(os.path.dirname('home/' + name), exist_ok=True)
            open('home/' + name, 'w').close()
        r = make(target, 'O=' + os.path.abspath('home'))
        v.same('make %s O= leaves files of others' % target,
               (r.returncode, os.listdir('home/bin'), os.listdir('home/build')),
               (0, ['mine'], ['mine']))


def version():
    with open(os.path.join(ptah.ROOT, 'VERSION')) as f:
        return f.read().strip()


def test_patched(v):
    """A patch, flat and by path, that changes the output of inspect."""
    with open(os.path.join(ptah.ROOT, 'cmd/inspect/params.c')) as f:
        text = f.read()
    os.makedirs('louder')
    with open('louder/params.c', 'w') as f:
        f.write(text.replace('not kept', 'NOT KEPT'))
    r = make('PATCH=' + os.path.abspath('nothing'))
    v.same('no such patch', (r.returncode, 'no such directory' in r.stderr), (2, True))
    with open('louder/nowhere.c', 'w') as f:
        f.write('')
    r = make('PATCH=' + os.path.abspath('louder'))
    v.same('a file that fits nowhere', (r.returncode, 'nowhere.c' in r.stderr), (2, True))
    os.remove('louder/nowhere.c')
    r = make('PATCH=' + os.path.abspath('louder'), 'O=' + os.path.abspath('out'), 'OPT=-O0',
             'HARDEN_C=-g0', '-j2')
    v.same('make PATCH= O=', r.returncode, 0)
    with open('box.nml', 'w') as f:
        f.write(SEDOV)
    r = ptah.Run(['out/bin/simulate', 'box.nml', 'run_params/nstepmax=1', '-o', 'run'], '.')
    v.same('the patched program runs', (r.status, r.err if r.status else ''), (0, ''))
    last = r.out.split()[-1]
    patch = re.search(r'^patch: (.*)$', ptah.Run(['out/bin/inspect', '-p', last],
                                                 '.').out, re.M)
    v.same('its checkpoint names the patch',
           bool(patch and re.fullmatch(r'louder [0-9a-f]{12}', patch.group(1))), True)
    with open('out/bin/inspect', 'rb') as f:
        v.same('the patched file is in the program', b'NOT KEPT' in f.read(), True)
    plain = ptah.simulate(SEDOV, 'plain', settings=['run_params/nstepmax=1'])
    v.same('other options of the compiler: same digest', ptah.digest(last),
           ptah.digest(plain.outputs[-1]))


def commit_of(tree):
    """The commit named by programs built in a tree."""
    r = ptah.Run([os.path.join(tree, 'scripts', 'version')], '.',
                 {'CC': 'true', 'FLAGS': '', 'PATH': os.environ['PATH']})
    return re.search(r'commit = "([^"]*)"', r.out)[1]


def test_commit(v):
    """The commit of a repository, with changes, without git, and inside another repository."""
    def git(*words):
        r = ptah.Run(['git', '-c', 'user.name=x', '-c', 'user.email=x', *words], 'tree')
        v.same('git ' + words[0], r.status, 0)
        return r.out.strip()
    os.makedirs('tree/scripts')
    for name in ('scripts/version', 'VERSION', '.gitattributes'):
        shutil.copy2(os.path.join(ptah.ROOT, name), 'tree/' + name)
    with open('tree/scripts/version', 'r+') as f:  # as in a repository: an archive has its commit
        text = re.sub("^archived='.*'", "archived='$Format:%H$'", f.read(), flags=re.M)
        f.seek(0)
        f.write(text)
        f.truncate()
    v.same('no repository', commit_of('tree'), 'unknown')
    git('init', '-q')
    git('add', '.')
    git('commit', '-qm', 'first')
    commit = git('rev-parse', 'HEAD')[:12]
    v.same('a repository', commit_of('tree'), commit)
    git('archive', '--prefix=inner/', '-o', 'x.tar', 'HEAD')
    ptah.Run(['tar', '-xf', 'x.tar'], 'tree')
    v.same('an archive', commit_of('tree/inner'), commit)
    with open('tree/VERSION', 'a') as f:
        f.write('.1\n')
    v.same('a change', commit_of('tree'), commit + '-dirty')
    shutil.copytree('tree/scripts', 'tree/other/scripts')
    shutil.copy2('tree/VERSION', 'tree/other/VERSION')
    v.same('beside the repository of another', commit_of('tree/other'), 'unknown')


def release(folder, **env):
    """make dist in a folder: its path, bytes, and the text of all recipes."""
    os.makedirs(folder)
    r = make('dist', 'O=' + os.path.abspath(folder), 'URL=https://example.org/x.tar.xz', 'XZ=xz -0',
             **env)
    path = r.stdout.strip()
    with open(path, 'rb') as f:
        data = f.read()
    recipes, top = '', os.path.join(folder, 'build', 'recipes')
    for name in files_below(top):
        with open(os.path.join(top, name)) as f:
            recipes += name + ':\n' + f.read()
    return path, data, recipes


def check_apptainer(v, folder, archive):
    """The recipe of Apptainer by the rules of its definition files: each stage has a bootstrap, a
    source and a name, sections are known and are given once a stage, a stage copies what is there
    or comes from an earlier one, the shell parses all scripts, which start what is in the archive.
    """
    with open(os.path.join(folder, 'build', 'recipes', 'ptah.def')) as f:
        stages = re.split(r'^(?=Bootstrap:)', f.read(), flags=re.M)[1:]
    known = {'files', 'post', 'test', 'runscript', 'labels', 'help'}
    names, copied, scripts = [], [], []
    for stage in stages:
        head, *rest = re.split(r'^%', stage, flags=re.M)
        keys = dict(re.findall(r'^(\w+): (\S+)$', head, re.M))
        titles = [x.split('\n')[0] for x in rest]
        v.same('apptainer: head of a stage', sorted(keys), ['Bootstrap', 'From', 'Stage'])
        v.same('apptainer: its sections', sorted({x.split()[0] for x in titles} - known), [])
        v.same('apptainer: none twice', len({x.split()[0] for x in titles}), len(titles))
        v.same('apptainer: it copies from an earlier stage',
               [x for x in titles if ' from ' in x and x.split()[2] not in names], [])
        names.append(keys.get('Stage'))
        for title, text in zip(titles, rest):
            body = text[len(title):]
            if title in ('post', 'test', 'runscript'):
                scripts.append(body)
            elif title == 'files':
                copied += [line.split()[0] for line in body.split('\n') if line.strip()]
    v.same('apptainer: two stages, which copy the archive', (names, copied),
           (['build', 'final'], [archive + '.tar.xz']))
    for text in scripts:
        r = subprocess.run(['sh', '-n'], input=text, text=True, capture_output=True)
        v.same('apptainer: a script that the shell parses', (r.returncode, r.stderr), (0, ''))
        for path in re.findall(r'\b((?:scripts|packaging)/\S+)', text):
            v.same('apptainer: %s is in the archive' % path,
                   os.access(os.path.join(archive, path), os.X_OK), True)


def test_dist(v):
    if not os.path.exists(os.path.join(ptah.ROOT, '.git')):
        ptah.skip('not a git checkout')
    path, data, recipes = release('one')
    old = os.umask(0o077)
    again = release('two', TZ='Asia/Tokyo', LC_ALL='C', GIT_CONFIG_COUNT='1',
                    GIT_CONFIG_KEY_0='tar.umask', GIT_CONFIG_VALUE_0='0077')
    os.umask(old)
    v.same('another day and user: the same bytes', again[1] == data, True)
    name, total = 'ptah-' + version(), hashlib.sha256(data).hexdigest()
    with open(path + '.sha256') as f:
        v.same('the file of its checksum', f.read(), '%s  %s.tar.xz\n' % (total, name))
    v.same('recipes: the same ones', again[2], recipes)
    v.same('recipes: words that are not filled in', re.findall('@[A-Z0-9]+@', recipes), [])
    v.same('recipes with the checksum', recipes.count(total) > 1, True)
    subprocess.run(['tar', '-xJf', path], check=True)
    r = ptah.Run(['git', 'rev-parse', 'HEAD'], ptah.ROOT)
    v.same('the commit that it names', commit_of(name), r.out[:12])
    tracked = ptah.Run(['git', 'ls-tree', '-r', '-z', '--name-only', 'HEAD'], ptah.ROOT)
    v.same('its files are those of the commit', files_below(name),
           sorted(tracked.out.split('\0')[:-1]))
    v.same('modes', modes_below(name), [])
    check_apptainer(v, 'one', name)
    r = subprocess.run(['packaging/dist', '.'], cwd=name, text=True, capture_output=True)
    v.same('make dist in an archive', (r.returncode, r.stderr.count('\n')), (2, 1))
    r = make('help')
    for target in re.findall(r'make ([a-z-]+)', r.stdout):
        v.same('make help names %s' % target, make('-n', target).returncode, 0)


def test_rootless(v):
    """scripts/install.sh and config.mk for a user with environment modules: no root, no sudo, no
    pkg-config."""
    os.makedirs('bin')
    for tool in ('sh', 'dirname', 'cat', 'make', 'mpicc', 'mpirun', 'gcc', 'as', 'ld', 'nproc',
                 'env', 'ccache'):
        where = shutil.which(tool)
        if where:
            os.symlink(where, os.path.join('bin', tool))
    with open('bin/id', 'w') as f:
        f.write('#!/bin/sh\necho 1000\n')
    os.chmod('bin/id', 0o755)
    env = {'PATH': os.path.abspath('bin')}
    script = os.path.join(ptah.ROOT, 'scripts', 'install.sh')
    r = ptah.Run(['sh', script, 'build'], '.', env)
    v.same('all is found by the compiler alone', r.status, 0)
    r = ptah.Run(['make', '-C', ptah.ROOT, '-pn'], '.', env)
    v.same('libraries without pkg-config', '-lgsl -lgslcblas -lfftw3' in r.out, True)
    os.symlink('/bin/true', 'bin/apt-get')
    r = ptah.Run(['sh', script, 'build'], '.', {**env, 'CC': 'nothing'})
    v.same('nothing is found', r.status, 2)
    v.same('it names GSL', 'GSL' in r.err, True)
    for word in ('apt-get install', 'libgsl-dev'):
        v.same('what the administrator types: ' + word, word in r.err, True)


def test_declined(v):
    """Packages are missing, and the user answers no; no compiler is installed."""
    os.mkdir('bin')
    for tool in ('dpkg-query', 'apt-get', 'sudo'):
        with open('bin/' + tool, 'w') as f:
            f.write('#!/bin/sh\n')
        os.chmod('bin/' + tool, 0o755)
    env = {k: x for k, x in os.environ.items() if k not in ('CI', 'MFLAGS', 'MAKEFLAGS')}
    env['PATH'] = os.path.abspath('bin') + ':' + env['PATH']
    for target, status in (('demo', 0), ('deps', 0), ('check-quick', 2)):
        ours, theirs = pty.openpty()
        os.write(ours, b'n\n')
        r = ptah.run_patiently(['make', '-C', ptah.ROOT, target], stdin=theirs, text=True, env=env,
                               capture_output=True, timeout=50)
        os.close(ours)
        os.close(theirs)
        v.same('make %s, answered by no' % target,
               (r.returncode, 'nothing is installed' in r.stderr, 'Error' in r.stderr),
               (status, True, status > 0))
    r = make('CC=nothing')
    v.same('no compiler', (r.returncode, r.stderr.count('\n'), 'libopenmpi-dev' in r.stderr),
           (2, 1, True))
    v.same('help without one', make('CC=nothing', 'help').returncode, 0)
    with open('cc', 'w') as f:
        f.write('#!/bin/sh\ncase $(cat) in *fftw3.h*) exit 1 ;; esac\n')
    os.chmod('cc', 0o755)
    for words, name in ((['CC=' + os.path.abspath('cc')], 'fftw3.h'),
                        (['DEV=cuda', 'NVCC=nothing'], 'CUDA')):
        r = make('-n', 'O=' + os.path.abspath('empty'), *words)
        v.same('%s is missing' % name, (r.returncode, r.stderr.count('\n'), name in r.stderr,
                                        'gsl' in r.stderr.partition(':')[0]), (2, 1, True, False))


def main():
    v = ptah.Verdict()
    {'installed': test_installed, 'blank': test_blank, 'patched': test_patched, 'dist': test_dist,
     'commit': test_commit,
     'rootless': test_rootless, 'declined': test_declined}[sys.argv[1]](v)
    v.end()


if __name__ == '__main__':
    main()
