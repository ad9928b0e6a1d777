"""Each recipe of docs/adding.md works: applied to a copy of the tree, a recipe touches as many
files as stated, the copy builds and passes the test named there and the checks of layers, symbols,
sizes and words, and the addition can be used.

Example of a fault caught: a second list of the contents of a table.
"""
# test: program tier=check timeout=300
# test: parameter tier=long timeout=900
# test: Riemann tier=long timeout=900 ranks=2
# test: criterion tier=long timeout=900 ranks=2
# test: kind tier=long timeout=900
# test: source tier=long timeout=900 ranks=2
# test: particle tier=long timeout=900
# test: field tier=long timeout=900 ranks=3
# test: scalar tier=long timeout=900 ranks=2
# test: format tier=long timeout=900
# test: observer tier=long timeout=900 ranks=3
# test: transport tier=long timeout=900 ranks=3
# test: reason tier=long timeout=900 ranks=2
# test: mode tier=long timeout=900
# test: phase tier=long timeout=900 ranks=2
# test: module tier=long timeout=900
# test: solver tier=long timeout=900 ranks=3
# test: conservation tier=long timeout=900 ranks=3
# test: equation_of_state tier=long timeout=900 ranks=2
# test: external_force tier=long timeout=900 ranks=2
import glob
import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import ptah  # noqa: E402
import read_ramses  # noqa: E402
import smoothed  # noqa: E402

PROGRAM = r'''/* count: the number of leaf cells in a checkpoint. */
#include <stdbool.h>
#include <stdio.h>

#include "base/log.h"
#include "out/program.h"

static const struct opt ROWS[] = {{'v', "verbose", NULL, "print the arguments, too"},
                                  {'V', "version", NULL, "print the version"},
                                  {'h', "help", NULL, "print a short help"},
                                  {0}};

static const struct program PROGRAM = {
    .name = "count", .synopsis = "count [-v] DIR…", .purpose = "Counts arguments.", .rows = ROWS};

static int set_option(int letter, const char *value, void *verbose)
{
    *(bool *)verbose |= letter == 'v';
    return GO_ON;
}

int main(int argc, char **argv)
{
    bool verbose = false;
    int first, status = program_read(&PROGRAM, argc, argv, set_option, &verbose, &first);
    if (status == GO_ON) {
        if (first == argc) return program_refuse(&PROGRAM, "no directory is given", NULL);
        for (int i = first; verbose && i < argc; i++) puts(argv[i]);
        printf("%d\n", argc - first);
        status = DONE;
    }
    return log_stdout_end("count") ? status : TROUBLE;
}
'''

PAGE = r'''.TH COUNT 1 "" "Ptah" "Ptah"
.SH NAME
count \- counts arguments
.SH SYNOPSIS
.B count
.IR DIR ...
.SH DESCRIPTION
Prints the number of arguments.
.SH OPTIONS
.TP
\fB\-v\fR, \fB\-\-verbose\fR
Print the arguments, too.
.TP
\fB\-V\fR, \fB\-\-version\fR
Print the version.
.TP
\fB\-h\fR, \fB\-\-help\fR
Print a short help.
'''

PARAMETER = 'INT(run, patience, 3, RANGE(1, 9), "coarse steps", RUN, HONOURED, "an example")\n'

SOLVER = r'''PTAH_HD
struct hydro_flux hydro_riemann_davis(struct hydro_state L, struct hydro_state R,
                                      struct hydro_gas g)
{
    double c = hydro_max(hydro_state_sound(L, g), hydro_state_sound(R, g));
    return hydro_flux_blend(L, R, g, 0.5, 0.5, -0.5 * (fabs(0.5 * (L.u + R.u)) + c));
}

'''

CRITERION = r'''static bool wants_density(const struct sim *s, int l)
{
    return s->mesh.hydro && s->par->refine.rho_refine > 0;
}

static void flag_density(const struct sim *s, int l, unsigned char (*ok)[8])
{
    const struct level *lv = &s->mesh.lev[l];
    for (lidx i = 0; i < lv->nown; i++)
        for (int k = 0; k < 8; k++)
            ok[i][k] = level_gas(lv, GAS_DENSITY)[i][k] >= s->par->refine.rho_refine;
}

'''

TERM = r'''/* phys/heating: gas is heated at a rate per mass. */
#include "oct/field_sets.h"
#include "phys/term.h"

static bool wanted(const struct params *p)
{
    return p->run.hydro && p->physics.heating > 0;
}

static enum err apply(const struct term_run *r, bool *changed)
{
    struct level *lv = &r->mesh->lev[r->level];
    double heating = r->par->physics.heating * r->dt;
    for (lidx i = 0; i < lv->nown; i++)
        for (int c = 0; c < 8; c++)
            if (lv->child[i][c] < 0)
                gas_add_energy(lv, i, c, heating * level_gas(lv, GAS_DENSITY)[i][c]);
    *changed = lv->nown > 0;
    return OK;
}

const struct term term_heating = {.name = "heating",
                                  .stages = TERM_LEVEL,
                                  .wanted = wanted,
                                  .reads = GAS,
                                  .writes = GAS,
                                  .apply = apply};
'''
COLUMN = 'OPTION(IRON, iron, double, "iron", "particles/iron", "iron", ZERO, STARS)\n'
FIELD = '''FIELD(COSMIC, cosmic, nvar > 0 && gravity, COPY, MEAN, GRAVITY, "cosmic rays", "cosmic",
      "ptah/gravity/level_%d/cosmic")
FACES(MAGNETIC, magnetic, nvar > 0, LINEAR, MEAN, HYDRO, "the magnetic field", "B",
      "ptah/hydro/level_%d/B")
EDGES(ELECTRIC, electric, nvar > 0, COPY, MEAN, NONE, "the electric field", "", "")
'''
VISITS = ('OPTION(VISITS, visits, double, "visits", "ptah/particles/visits", "visits", ZERO, '
          'CHECKED)\n')
SCALAR = 'SCALAR(IRON, "iron", p->physics.metal, 0.004)\n'

MODE_ROW = ('MODE(PIECES, 0, "pieces", NULL, NULL, pieces_print, ONE, NULL, "--pieces",\n'
            '     "the parts in which it can be read", "parts", NULL, "inspect pieces x")\n')
MODE_FILE = r'''/* inspect: the parts in which a checkpoint can be read. */
#include "inspect.h"

#include <stdio.h>

#include "formats/formats.h"

enum err pieces_print(const char *path, const struct options *o, int *status)
{
    struct source *r = NULL;
    enum err err = source_open(path, &r);
    if (err == OK) printf("%d\n", r->npiece);
    source_close(&r);
    return err;
}
'''

PHASE = r'''enum err step_drag(struct sim *s, int l, int icount)
{
    struct level *lv = &s->mesh.lev[l];
    for (lidx i = 0; i < lv->nown; i++)
        for (int d = 0; d < 3; d++)
            for (int c = 0; c < 8; c++) level_gas(lv, GAS_MOMENTUM + d)[i][c] *= 0.99;
    return OK;
}

'''

MODULE = r'''/* wave: a standing wave. */
#include "wave/wave.h"

#include <math.h>

#include "base/err.h"

double wave_at(double x, double t)
{
    BUG_ON(!(t >= 0));
    return sin(x) * cos(t);
}
'''


POLYTROPE = r'''    if (p->eos == SMOOTH_POLYTROPE) {
        *pressure = p->c0 * p->c0 * (rho * rho);
        *speed = p->c0 * sqrt(2 * rho);
        return;
    }
'''

UNIFORM = r'''/* A uniform field against z. Returns the potential energy. */
static double pull_down(struct sph *s)
{
    const double gz = s->par->sph.gz;
    struct smooth *p = &s->p;
    struct sum_batch sum;
    sum_batch_begin(&sum);
    for (int64_t i = 0; i < p->n; i++) {
        if (p->type[i] != SMOOTH_GAS) continue;
        p->a[2][i] -= gz;
        sum_batch_add(&sum, s->eq.mass * gz * p->x[2][i]);
    }
    sum_batch_end(&sum);
    comm_sum(s->comm, &sum.sum);
    double energy = sum_get(&sum.sum);
    for (int i = 0; i < s->nsink; i++) {
        s->sink[i].a[2] -= gz;
        energy += s->sink[i].m * gz * s->sink[i].x[2];
    }
    return energy;
}

'''


def example(name):
    with open(os.path.join(ptah.ROOT, 'tests', 'toy', name)) as f:
        return f.read()


def toy_format():
    """tests/toy/toy.c, with the two tables of a row of lib/formats/formats.def."""
    text = example('toy.c').partition('\n__attribute__((constructor))')[0]
    return re.sub(r'static const struct (source_kind|writer_kind) TOY_(KIND|WRITER)',
                  lambda m: 'const struct %s toy_%s' % (m[1], m[2].lower()), text)


def toy_law(name):
    """tests/toy/advect.*, as a module with registers of its own name."""
    return example(name).replace('"advect.h"', '"advect/advect.h"').replace('REFLUX_SECOND',
                                                                            'REFLUX_ADVECT')


# heading of the page: {file: text of a new file, or (text before which to insert, text)}
KIND = r'''/* kinds/step: gas of two densities. */
#include "kinds/kinds.h"

static enum err cell(const void *state, const double x[3], double dx, double *q)
{
    q[GAS_DENSITY] = x[0] < 0.5 * kind_box(state) ? 2 : 1, q[GAS_PRESSURE] = 1;
    return OK;
}

const struct kind kind_step = {.name = "step", .dims = 0xe, .needs = KIND_GAS, .cell = cell};
'''

STEPS = "condinit_kind='step'", "init_expr='rho = if(x < 0.5, 2, 1); p = 1'"
RECIPES = {
    'program': {'cmd/count/count.c': PROGRAM, 'man/count.1': PAGE},
    'parameter': {'lib/param/core.def': ('INT(run, ncontrol,', PARAMETER)},
    'Riemann': {'lib/hydro/point_kern.h': ('PTAH_HD struct hydro_flux hydro_riemann_hll(', SOLVER),
                'lib/hydro/riemann.def': ('RIEMANN(HLLC,',
                                          'RIEMANN(DAVIS, "davis", hydro_riemann_davis)\n'),
                'lib/param/core.def': ('acoustic|!hlld', 'davis|')},
    'kind': {'lib/kinds/step.c': KIND,
             'lib/kinds/kinds.def': ('KIND(loop,', 'KIND(step, "step", NULL, "an example")\n')},
    'criterion': {'lib/sim/flag.c': [('static const struct sim_criterion CRITERIA', CRITERION),
                                     ('    {"mass", wants_mass',
                                      '    {"density", wants_density, flag_density},\n')],
                  'lib/param/core.def': ('REALS(refine, m_refine,',
                                         'REAL(refine, rho_refine, -1.0, ANY, "code density", '
                                         'MODEL, ' 'HONOURED, "an example")\n')},
    'source': {'lib/phys/heating.c': TERM,
               'lib/phys/terms.def': ('TERM(nothing, EARLY)', 'TERM(heating, EARLY)\n'),
               'lib/param/physics.def': ('BOOL(physics, nothing',
                                         'REAL(physics, heating, 0.0, NONNEG, "code units", MODEL, '
                                         'HONOURED, "an example")\n')},
    'particle': {'lib/part/columns.def': ('\n#undef AXIS', COLUMN)},
    'field': {'lib/oct/fields.def': ('/* densities of mass, momentum', FIELD)},
    'scalar': {'lib/oct/scalars.def': ('\n#undef SCALAR', SCALAR)},
    'format': {'lib/formats/toy.c': toy_format(),
               'lib/formats/formats.def': ('WRITTEN(gadget)', 'FORMAT(toy, NULL)\n'),
               'lib/ckpt/files.def': ('\n/* in the directory of all outputs */',
                                      'CKPT_FILE(TOY, "checkpoint.toy", MAIN, MADE, "all")\n\n')},
    'observer': {'lib/observe/peak.c': example('peak.c'),
                 'lib/observe/observers.def': ('OBSERVER(halos)', 'OBSERVER(peak)\n')},
    'transport': {'lib/comm/ring.c': example('ring.c'),
                  'lib/comm/transports.def': ('TRANSPORT(ksection,', 'TRANSPORT(ring, false)\n')},
    'reason': {'lib/part/columns.def': ('\n#undef AXIS', VISITS),
               'lib/part/column.h': ('WHEN_TRACERS };', 'WHEN_CHECKED, '),
               'lib/sim/setup.c': ('    if (!param_stars(s->par) && !param_sinks_ramses(s->par)) '
                                   'return OK;',
                                   '    if (s->par->run.check_ghosts) '
                                   'part_want_all(&s->parts, WHEN_CHECKED);\n')},
    'solver': {'lib/heat/heat.c': example('heat.c'),
               'lib/param/solvers.def': ('\n#undef SOLVER', 'SOLVER(heat, "")\n'),
               'lib/DEPS': [('cmd:      base', 'heat:     base comm oct ckpt sim\n'),
                            ('\ntests:', ' heat')]},
    'mode': {'cmd/inspect/pieces.c': MODE_FILE,
             'cmd/inspect/modes.def': ('MODE(CONTAMINATION,', MODE_ROW),
             'man/inspect.1': ('.TP\n\\fB\\-\\-contamination\\fR\n',
                               '.TP\n\\fB\\-\\-pieces\\fR\nThe number of parts.\n')},
    'phase': {'lib/sim/phases.c': ('enum err step_send_flags(', PHASE),
              'lib/sim/phase.h': ('step_refine, step_balance,', 'step_drag,\n    '),
              'lib/sim/step.c': ('    GPU(restrict_gas,',
                                 '    ROW(drag, "hydro", IF_GAS, WORK, GAS, 0, GAS),\n')},
    'equation_of_state': {
        'lib/param/sph_choices.h': ('\n\n#define SPH_SWITCHES',
                                    ' \\\n    ROW("|", POLYTROPE, "polytrope")'),
        'lib/smooth/eos_kern.h': ('    *speed = p->eos == SMOOTH_ISOTHERMAL', POLYTROPE)},
    'external_force': {
        'lib/sph/external.c': [('void sph_external(struct sph *s', UNIFORM),
                               ('    for (int i = 0; i < n; i++) *epot += pull_sinks',
                                '    if (strcmp(s->par->sph.external, "uniform") == 0) '
                                '*epot += pull_down(s);\n')],
        'lib/param/sph.def': [('", MODEL, HONOURED,\n     "external force', '|uniform'),
                              ('REAL(sph, soften,', 'REAL(sph, gz, 1.0, ANY, "code units", MODEL, '
                               'HONOURED, "an example")\n')]},
    'module': {'lib/wave/wave.c': MODULE,
               'lib/wave/wave.h': '/* wave: a standing wave. */\n#pragma once\n\n'
                                  '/* At x, from time 0 on. */\n'
                                  'double wave_at(double x, double t);\n',
               'lib/DEPS': [('comm:     base ', 'wave:     base\n'),
                            ('<mpi.h> <gsl/*>', 'wave ')]},
    'conservation': {'lib/advect/advect.h': toy_law('advect.h'),
                     'lib/advect/advect.c': toy_law('advect.c'),
                     'lib/advect/advect_kernel.c': toy_law('advect_kernel.c'),
                     'lib/oct/mesh.h': ('REFLUX_SYSTEMS };', 'REFLUX_ADVECT, '),
                     'lib/DEPS': [('hydro:    base vec', 'advect:   base vec dev oct patch\n'),
                                  ('<mpi.h> <gsl/*>', 'advect ')]},
}

# Laws that must hold for each row according to the page, and the ranks on which to run them.
LAWS = {'parameter': [('base_test', 1)], 'Riemann': [('hydro_test', 1)],
        'source': [('term_test', 2)], 'particle': [('column_test', 2), ('part_test', 2)],
        'reason': [('column_test', 2), ('part_test', 2)], 'scalar': [('ics_test', 1)],
        'field': [('field_test', 1), ('field_test', 3), ('remap_test', 1)],
        'transport': [('comm_test', 1), ('comm_test', 3)],
        'equation_of_state': [('smooth_test', 1)], 'external_force': [('sph_sinks_test', 2)]}


def copy_tree(to):
    files = subprocess.run(['git', 'ls-files', '-co', '--exclude-standard'], cwd=ptah.ROOT,
                           text=True, stdout=subprocess.PIPE).stdout.split('\n')
    for name in filter(None, files):
        path = os.path.join(ptah.ROOT, name)
        if name.startswith('tests/data/') or not os.path.isfile(path):
            continue
        os.makedirs(os.path.join(to, os.path.dirname(name)), exist_ok=True)
        shutil.copy2(path, os.path.join(to, name))
    for name in ('build/lib', 'build/cmd', 'bin'):
        shutil.copytree(os.path.join(ptah.ROOT, name), os.path.join(to, name))
    shutil.copy2(os.path.join(ptah.ROOT, 'build', 'libptah.a'), os.path.join(to, 'build'))


def apply(recipe, tree):
    for name, change in recipe.items():
        path = os.path.join(tree, name)
        if isinstance(change, str):
            os.makedirs(os.path.dirname(path), exist_ok=True)
            text = change
        else:
            with open(path) as f:
                text = f.read()
            for before, new in change if isinstance(change, list) else [change]:
                if text.count(before) != 1:
                    print('%s: %d places %r; mend the recipe' % (name, text.count(before), before))
                    sys.exit(1)
                text = text.replace(before, new + before)
        with open(path, 'w') as f:
            f.write(text)


def stated(name):
    with open(os.path.join(ptah.ROOT, 'docs', 'adding.md')) as f:
        heading = name.replace('_', ' ')
        m = re.search(r'^## An? %s[^\n]*\n\nFiles: (\d+)' % heading, f.read(), re.M)
    return int(m.group(1)) if m else None


def use_program(v, tree):
    r = ptah.Run(['python3', 'tests/property/manual.py'], tree)
    v.same('manual.py', (r.status, 'count -V' in r.out), (0, True))
    r = ptah.Run(['bin/count', 'a', 'b'], tree)
    v.same('count', (r.status, r.out), (0, '2\n'))
    r = ptah.Run(['scripts/lint', 'layers', 'man'], tree)
    v.same('lint', r.out, 'lint: 0 findings\n')


def use_parameter(v, tree):
    r = ptah.Run(['bin/simulate', '-p'], tree)
    v.same('simulate -p lists it',
           len(re.findall(r'^  patience +integer +default 3', r.out, re.M)), 1)
    namelist = os.path.join(ptah.DATA, 'golden', 'sedov3d.nml')
    for value, answer in (('4', 0), ('10', 2)):
        r = ptah.Run(['bin/simulate', '-n', namelist, 'run/patience=' + value], tree)
        v.same('patience=' + value, r.status, answer)


SHORT = ['run/nstepmax=4', 'output/foutput=3', 'amr/levelmax=5', 'run/check_ghosts=.true.']


def use_physics(v, tree, *settings):
    """The addition changes the state of a short run, in the same way on one rank and on two."""
    namelist, digests = os.path.join(ptah.DATA, 'golden', 'sedov3d.nml'), []
    before = tree if settings else ptah.ROOT
    for ranks, top, more in ((1, before, []), (1, tree, settings), (2, tree, settings)):
        folder = os.path.abspath('run%d' % len(digests))
        os.mkdir(folder)
        simulate = os.path.join(top, 'bin', 'simulate')
        argv = ptah.mpirun(ranks) + [simulate, '-q', namelist, *SHORT, *more]
        r = ptah.Run(argv, folder, {'OMP_NUM_THREADS': '1'})
        print(r.err)
        v.same('%d ranks %s' % (ranks, list(more)), r.status, 0)
        path = os.path.join(folder, 'output_00002')
        digests.append(ptah.digest(path) if r.status == 0 else folder)
    v.same('it has an effect', digests[0] != digests[1], True)
    v.same('the same on 2 ranks', digests[1] == digests[2], True)


def use_riemann(v, tree):
    use_physics(v, tree, 'hydro/riemann=davis')


def use_criterion(v, tree):
    use_physics(v, tree, 'refine/rho_refine=0.9')


def use_source(v, tree):
    use_physics(v, tree, 'physics/heating=1')


def use_particle(v, tree):
    r = ptah.Run([os.path.join(tree, 'bin', 'inspect'), '-V'], '.')
    v.same('programs run', r.status, 0)


def use_field(v, tree):
    """Runs have the fields of their kind in checkpoints, the same on 2 ranks, and restart with
    them: that of the gas without gravity, too."""
    digests = []
    inspect, simulate = (os.path.join(tree, 'bin', name) for name in ('inspect', 'simulate'))
    for name, ranks, more in (('selfgrav3d', 1, []), ('selfgrav3d', 2, []),
                              ('selfgrav3d', 2, ['-r', '../run0/output_00001']),
                              ('selfgrav3d', 1, ['-r', '../run0/output_00001']),
                              ('selfgrav_walls', 2, []), ('sedov3d', 1, []),
                              ('sedov3d', 2, ['-r', '../run5/output_00001'])):
        folder = os.path.abspath('run%d' % len(digests))
        os.mkdir(folder)
        namelist = os.path.join(ptah.DATA, 'golden', name + '.nml')
        argv = ptah.mpirun(ranks) + [simulate, '-q', *more, namelist, 'run/nstepmax=4',
                                     'output/foutput=2', 'run/check_ghosts=.true.']
        r = ptah.Run(argv, folder, {'OMP_NUM_THREADS': '1'})
        last = sorted(glob.glob('output_*', root_dir=folder))[-1:]
        r = ptah.Run([inspect, '-d', *last], folder)
        digests.append(r.out)
        print(r.out, r.err)
        v.same('%s on %d ranks %s' % (name, ranks, more),
               (r.status, [word in r.out for word in ('cosmic', 'B_x_left', 'B_z_right')]),
               (0, [name != 'sedov3d', True, True]))
    v.same('the same on 2 ranks, and resumed', digests[1:4], digests[:1] * 3)
    v.same('resumed without gravity', digests[6], digests[5])


COLLAPSE = """&RUN_PARAMS
pic=.true.
poisson=.true.
nstepmax=3
/
&AMR_PARAMS
levelmin=3
levelmax=3
/
&INIT_PARAMS
filetype='ascii'
initfile(1)='.'
/
&OUTPUT_PARAMS
foutput=1
/
"""


def use_reason(v, tree):
    """Runs with that reason have the column, and restart with it on other ranks; other runs lack
    it, but preserve the column of a checkpoint."""
    simulate = os.path.join(tree, 'bin', 'simulate')
    with open('ic_part', 'w') as f:
        for i in range(64):
            x = [(k + 0.5 + 0.1 * (i % 3)) / 4 for k in (i % 4, i // 4 % 4, i // 16)]
            f.write('%g %g %g 0 0 0 %g\n' % (*x, 1 / 64))
    with open('run.nml', 'w') as f:
        f.write(COLLAPSE)
    first = os.path.join('with', 'output_00002')
    for name, ranks, words, has in (('without', 1, [], False),
                                    ('with', 1, ['run/check_ghosts=.true.'], True),
                                    ('again', 2, ['run/check_ghosts=.true.', '-r', first], True),
                                    ('carried', 1, ['-r', first], True)):
        os.mkdir(name)
        r = ptah.Run([*ptah.mpirun(ranks), simulate, '-q', '-o', name, 'run.nml', *words], '.',
                     {'OMP_NUM_THREADS': '1'})
        print(r.err)
        v.same(name + ': status', r.status, 0)
        path = os.path.join(name, 'output_00003')
        with open(os.path.join(path, 'part_file_descriptor.txt')) as f:
            v.same(name + ': the column', 'visits' in f.read(), has)
    digests = [ptah.digest(os.path.join(name, 'output_00003')) for name in ('with', 'again')]
    v.same('as if it had not stopped', *digests)


def use_mode(v, tree):
    r = ptah.Run(['python3', 'tests/property/manual.py'], tree)
    v.same('manual.py', (r.status, 'inspect pieces -h' in r.out), (0, True))
    plain = ptah.simulate(os.path.join(ptah.DATA, 'golden', 'sedov3d.nml'), 'plain',
                          settings=['run/nstepmax=1'])
    inspect = os.path.join(tree, 'bin', 'inspect')
    r = ptah.Run([inspect, '--pieces', plain.outputs[-1]], '.')
    v.same('inspect --pieces', (r.status, r.out, r.err), (0, '1\n', ''))
    r = ptah.Run([inspect, '--pieces', '-d', 'x'], '.')
    v.same('beside another', (r.status, '--pieces' in r.err), (2, True))
    r = ptah.Run(['scripts/lint', 'sizes', 'man'], tree)
    v.same('lint', r.out, 'lint: 0 findings\n')


def use_phase(v, tree):
    use_physics(v, tree)


def use_module(v, tree):
    """A test uses the module from the library; the module may include only what DEPS lists."""
    with open(os.path.join(tree, 'tests', 'unit', 'wave_test.c'), 'w') as f:
        f.write('#include "wave/wave.h"\nint main(void)\n{\n    return wave_at(0, 1) != 0;\n}\n')
    r = ptah.Run(['make', 'build/tests/unit/wave_test'], tree)
    print(r.err)
    v.same('its test builds', r.status, 0)
    v.same('and passes', ptah.Run(['build/tests/unit/wave_test'], tree).status, 0)
    for file, name in (('lib/wave/wave.h', 'sim/sim.h'), ('lib/sim/run.c', 'wave/wave.h')):
        path = os.path.join(tree, file)
        shutil.copy2(path, 'kept')
        with open(path, 'a') as f:
            f.write('#include "%s"\n' % name)
        r = ptah.Run(['scripts/lint', 'layers'], tree)
        v.same('%s may not include %s' % (file, name), 'may not include ' + name in r.out, True)
        shutil.copy2('kept', path)


WARM = """&RUN_PARAMS
hydro=.true.
nstepmax=4
solver='heat'
/
&AMR_PARAMS
levelmin=4
levelmax=4
/
&INIT_PARAMS
nregion=2
region_type='square','square'
x_center=0.5,0.4
y_center=0.5,0.45
z_center=0.5,0.55
length_x=10,0.5
length_y=10,0.5
length_z=10,0.5
exp_region=10,10
d_region=1,1
p_region=0.1,10
/
&OUTPUT_PARAMS
foutput=2
/
"""


def use_solver(v, tree):
    """Its runs and restarts end with the same bits on any number of ranks, in checkpoints that are
    sound and of which maps are made; what it cannot do, and another solver's restart, is refused
    in a sentence."""
    simulate, inspect = (os.path.join(tree, 'bin', name) for name in ('simulate', 'inspect'))
    half, digests = os.path.join('run0', 'output_00002'), []
    with open('run.nml', 'w') as f:
        f.write(WARM)
    for ranks, more in ((1, []), (3, []), (3, ['-r', half]), (1, ['-r', half]),
                        (3, ['output/outformat=hdf5', 'run/ordering=hilbert']),
                        (2, ['-r', os.path.join('run4', 'output_00002')]),
                        (1, ['run/solver=octree'])):
        folder = 'run%d' % len(digests)
        os.mkdir(folder)
        r = ptah.Run([*ptah.mpirun(ranks), simulate, '-q', '-o', folder, 'run.nml', *more], '.',
                     {'OMP_NUM_THREADS': '1'})
        print(r.err)
        v.same('%d ranks %s' % (ranks, more), r.status, 0)
        last = os.path.join(folder, 'output_00003')
        digests.append(ptah.digest(last) if r.status == 0 else folder)
        r = ptah.Run([inspect, '-q', '-cc', last], '.')
        v.same('it is sound', (r.status, r.err), (0, ''))
    v.same('the same bits', digests[:6], digests[:1] * 6)
    v.same('the octree has others', digests[6] == digests[0], False)
    warm = read_ramses.load(os.path.join('run0', 'output_00003')).cell['pressure']
    v.same('heat has spread, and none is lost',
           (len(set(warm)) > 8, abs(warm.sum() / (0.1 * 3584 + 10 * 512) - 1) < 1e-12),
           (True, True))
    r = ptah.Run([inspect, '-m', 'pressure', os.path.join('run0', 'output_00003')], '.')
    v.same('a map', (r.status, r.err.startswith('pressure of')), (0, True))
    for words, answer in ((['run/solver=heats'], "solver='heats' is unknown; possible values are "
                           "'octree', 'heat'"),
                          (['run/solver=octree', '-r', half], "run_params/solver='heat' (now "
                           "'octree')"),
                          (['amr/levelmax=5'], "run_params/solver='heat' needs a periodic")):
        r = ptah.Run([simulate, '-q', '-o', 'refused', 'run.nml', *words], '.')
        v.same(words[0], (r.status, answer in r.err, r.err.count('\n')), (2, True, 1))


def use_conservation(v, tree):
    """The test of the toy passes with the module in the place of tests/toy."""
    units = os.path.join(tree, 'tests', 'unit')
    with open(os.path.join(units, 'advect_test.c')) as f:
        text = f.read()
    with open(os.path.join(units, 'law_test.c'), 'w') as f:
        f.write(text.replace('"advect.h"', '"advect/advect.h"'))
    r = ptah.Run(['make', 'build/tests/unit/law_test'], tree)
    print(r.err)
    v.same('its test builds', r.status, 0)
    for ranks in 1, 3:
        r = ptah.Run(ptah.mpirun(ranks) + ['build/tests/unit/law_test'], tree)
        print(r.out[-500:], r.err[-500:])
        v.same('its test on %d ranks' % ranks, (r.status, r.out.rstrip().endswith(' 0 failed')),
               (0, True))


def use_scalar(v, tree):
    """A run that requests the scalar has it in every cell, on any number of ranks, and restarts
    with it."""
    metals = ['physics/metal=.true.', 'init/var_region(2,1)=0.02', 'init/var_region(2,2)=0.3']
    use_physics(v, tree, *metals)
    iron, metal = (read_ramses.load(os.path.join('run1', 'output_00002')).cell.get(name)
                   for name in ('iron', 'metallicity'))
    v.same('it is in the checkpoint', iron is not None and iron.max() > 0.1, True)
    v.same('it moves with the gas', float(abs(iron - 15 * metal).max()) < 1e-12, True)
    argv = ptah.mpirun(2) + [os.path.join(tree, 'bin', 'simulate'), '-q', '-r',
                             os.path.abspath(os.path.join('run1', 'output_00001')),
                             os.path.join(ptah.DATA, 'golden', 'sedov3d.nml'), *SHORT, *metals]
    os.mkdir('resumed')
    r = ptah.Run(argv, 'resumed', {'OMP_NUM_THREADS': '1'})
    print(r.err)
    v.same('resumed on 2 ranks', r.status, 0)
    v.same('as if it had not stopped', *(ptah.digest(os.path.join(run, 'output_00002'))
                                         for run in ('resumed', 'run1')))


def use_format(v, tree):
    """Programs convert to the format and from it, and resume and measure from it."""
    os.makedirs(os.path.join(tree, 'build', 'tests', 'toy'))
    for name in ('convert', 'inspect'):
        os.symlink(os.path.join(tree, 'bin', name),
                   os.path.join(tree, 'build', 'tests', 'toy', name))
    r = ptah.Run(['python3', os.path.join(tree, 'tests', 'property', 'formats.py'), 'toy'], '.')
    print(r.out, r.err)
    v.same('formats.py toy', r.status, 0)
    program = lambda name, *args: ptah.Run(  # noqa: E731
        [os.path.join(tree, 'bin', name), *args], '.')
    r = program('convert', '-f', 'game', '-o', 'x', 'back')
    v.same('the names of formats', 'ramses, toy or gadget' in r.err, True)
    r = program('convert', '-f', 'toy', '-o', 'again', 'back')
    v.same('convert -f toy', (r.status, r.err), (0, ''))
    shutil.copytree('again', 'left.tmp')
    for name in 'left', 'again':
        r = program('convert', '--force', '-f', 'toy', '-o', name, 'back')
        v.same('convert -f toy, over what is there: ' + name, (r.status, r.err), (0, ''))
    spectra = [program('pk', '-n', '16', '-s', 'dm', path) for path in ('back', 'again')]
    v.same('pk', (spectra[1].status, spectra[1].out.replace('again', 'back')),
           (0, spectra[0].out))
    digests = []
    for path in ('back', 'again'):
        os.mkdir('from_' + path)
        r = program('simulate', '-q', '-r', path, '-o', 'from_' + path, 'run.nml',
                    'run_params/nstepmax=4', 'output_params/foutput=1')
        print(r.err)
        last = sorted(glob.glob('output_*', root_dir='from_' + path))[-1:]
        v.same('simulate -r ' + path, (r.status, len(last)), (0, 1))
        digests.append(program('inspect', '-d', os.path.join('from_' + path, *last)).out)
    v.same('resumed: the same digest', digests[1], digests[0])


def use_transport(v, tree):
    """A run on three ranks with this transport alone has the digest of one rank."""
    namelist, digests = os.path.join(ptah.DATA, 'golden', 'sedov3d.nml'), []
    for ranks, name in ((1, 'ring'), (3, 'ring'), (3, 'rings')):
        folder = os.path.abspath('run_%d_%s' % (ranks, name))
        os.mkdir(folder)
        argv = ptah.mpirun(ranks) + [os.path.join(tree, 'bin', 'simulate'), '-q', namelist, *SHORT,
                                     'run/exchange_method=' + name]
        r = ptah.Run(argv, folder, {'OMP_NUM_THREADS': '1'})
        print(r.err)
        v.same('%d ranks, %s: status' % (ranks, name), r.status, 0 if name == 'ring' else 2)
        if name == 'ring':
            digests.append(ptah.digest(os.path.join(folder, 'output_00002')))
    v.same('the same on 3 ranks', digests[1], digests[0])


def use_kind(v, tree):
    """The kind is the state of a formula."""
    got, base = [], '&RUN_PARAMS hydro=T nstepmax=1 /\n&AMR_PARAMS levelmin=3 levelmax=3 /\n'
    for name, init in zip(('kind', 'formula'), STEPS):
        os.mkdir(name)
        with open(name + '/run.nml', 'w') as f:
            f.write(base + '&INIT_PARAMS %s /\n&OUTPUT_PARAMS foutput=1 tend=1 /\n' % init)
        r = ptah.Run([os.path.join(tree, 'bin', 'simulate'), '-q', 'run.nml'], name)
        got.append((r.status, ptah.digest(name + '/output_00002')))
    v.same('the same bits', got[0], got[1])


def use_observer(v, tree):
    """The observer writes equal tables on one rank and on three."""
    namelist, tables = os.path.join(ptah.DATA, 'golden', 'sedov3d.nml'), []
    for ranks in 1, 3:
        folder = os.path.abspath('run_%d' % ranks)
        os.mkdir(folder)
        r = ptah.Run(ptah.mpirun(ranks) + [os.path.join(tree, 'bin', 'simulate'), '-q', namelist,
                                           *SHORT], folder, {'OMP_NUM_THREADS': '1'})
        print(r.err)
        v.same('%d ranks: status' % ranks, r.status, 0)
        names = sorted(n for n in os.listdir(folder) if n.startswith('peak_'))
        tables.append([(n, open(os.path.join(folder, n)).read()) for n in names])
    v.same('a table an output', len(tables[0]), 2)
    v.same('the same on 3 ranks', tables[1], tables[0])


def smoothed_run(v, tree, name, ranks, **values):
    """Four steps of smoothed particles; the digest of their end."""
    os.mkdir(name)
    with open('run.nml', 'w') as f:
        f.write(smoothed.namelist(4, npx=24, dt_fixed=1e-3, **values))
    program = [os.path.join(tree, 'bin', n) for n in ('simulate', 'inspect')]
    r = ptah.Run([*ptah.mpirun(ranks), program[0], '-q', '-o', name, 'run.nml'], '.',
                 {'OMP_NUM_THREADS': '1'})
    print(r.err)
    v.same(name, r.status, 0)
    return ptah.Run([program[1], '-dq', os.path.join(name, 'output_00002')], '.').out.split(' ')[0]


def use_equation_of_state(v, tree):
    digests = [smoothed_run(v, tree, '%s_%d' % (eos, ranks), ranks, setup='kh', eos=eos, cs0=0.5)
               for eos, ranks in (('isothermal', 1), ('polytrope', 1), ('polytrope', 2))]
    v.same('it has an effect', digests[0] != digests[1], True)
    v.same('the same on 2 ranks', digests[1], digests[2])
    r = ptah.Run([os.path.join(tree, 'bin', 'inspect'), 'polytrope_1/output_00002'], '.')
    v.same('inspect names it', 'gas             polytrope' in r.out, True)


def use_external_force(v, tree):
    """Gas of mass 1 at rest gets the momentum of its weight, times the time."""
    digests = [smoothed_run(v, tree, 'run_%d' % ranks, ranks, setup='lattice', lattice='cubic',
                            external='uniform', gz=0.5) for ranks in (1, 2)]
    v.same('the same on 2 ranks', *digests)
    table = smoothed.energies('run_1')
    v.check('momentum', abs(table['totmom'][-1] / table['time'][-1] / 0.5 - 1), 1e-9)
    v.check('energy', abs(table['etot'][-1] / table['etot'][0] - 1), 1e-9)


def obey_laws(v, name, tree):
    for test, ranks in LAWS.get(name, []):
        r = ptah.Run(['make', 'build/tests/unit/' + test], tree)
        v.same(test + ' builds', r.status, 0)
        r = ptah.Run(ptah.mpirun(ranks) + ['build/tests/unit/' + test], tree)
        print(r.out[-500:], r.err[-500:])
        v.same('%s on %d ranks' % (test, ranks),
               (r.status, r.out.rstrip().endswith(' 0 failed')), (0, True))
    r = ptah.Run(['scripts/lint', 'layers', 'symbols', 'sizes', 'words'], tree)
    v.same('lint', r.out, 'lint: 0 findings\n')


def main():
    v, name, tree = ptah.Verdict(), sys.argv[1], os.path.abspath('tree')
    ptah.program('simulate')
    copy_tree(tree)
    apply(RECIPES[name], tree)
    v.same('files, as docs/adding.md says', len(RECIPES[name]), stated(name))
    r = ptah.Run(['make', '-j2', 'all'], tree)
    print(r.out[-2000:] + r.err[-2000:])
    v.same('it builds', r.status, 0)
    if r.status == 0:
        globals()['use_' + name.lower()](v, tree)
        obey_laws(v, name, tree)
    v.end()


if __name__ == '__main__':
    main()
