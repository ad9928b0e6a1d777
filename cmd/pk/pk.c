/* pk: power spectra of checkpoints. See man/pk.1. */
#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/opt.h"
#include "comm/lines.h"
#include "energy.h"
#include "fft/fft.h"
#include "formats/formats.h"
#include "grafic.h"
#include "grid/grid.h"
#include "hdf5/table_h5.h"
#include "io/stream.h"
#include "mesh.h"
#include "out/program.h"
#include "output.h"
#include "plot/picture.h"

enum {
    LOST = TROUBLE + 1, /* status: standard output is lost */
    PAIRS_MAX = 16,
    INTERLACE = 256,
    NO_INTERLACE,
    FOLD,
    PLOT,
    DATA,
    FORCE,
    VALUES,
    BINS_MAX = 100000
};

static const struct opt ROWS[] = {
    {OPT_OLD('s'), "species", "LIST",
     "species dm, gas, star, other, all and cross spectra AxB; B and kinetic: energies of gas; "
     "helicity, current_helicity, kinetic_helicity; separated by commas (default all)"},
    {OPT_MORE(VALUES), "values", "LIST",
     "of a uniform mesh: kinetic, magnetic, kinetic_helicity, magnetic_helicity, or any of its "
     "values (default: the first four that it has)"},
    {OPT_OLD('n'), "mesh", "N",
     "cells per side of the mesh (default 256; for initial conditions: their own)"},
    {OPT_OLD('w'), "window", "NAME", "mass assignment: ngp, cic, tsc or pcs (default pcs)"},
    {INTERLACE, "interlace", NULL, "use a second mesh, shifted by half a cell (the default)"},
    {OPT_MORE(NO_INTERLACE), "no-interlace", NULL,
     "use one mesh: half of the memory, less accurate"},
    {'k', "bins", "N",
     "N linear bins up to Nyquist, or log:N (default: one bin per fundamental mode)"},
    {FOLD, "fold", "F", "fold the box F times in each dimension, for small scales"},
    {OPT_OLD('z'), "redshift-space", "AXIS", "multipoles with the line of sight x, y or z"},
    {'j', "json", NULL, "print JSON, one line per checkpoint"},
    {'o', "output", "DIR",
     "write one file per checkpoint, DIR/pk_NNNNN.tsv or .json, or one FILE.h5, and print the "
     "paths"},
    {PLOT, "plot", "FILE", "plot all spectra into FILE, which ends in .png, .svg or .pdf"},
    {OPT_MORE(DATA), "data", "FILE",
     "write the numbers behind this plot into FILE.tsv; it need not be drawn"},
    {OPT_MORE(FORCE), "force", NULL, "replace files that exist"},
    {'q', "quiet", NULL, "print fewer messages"},
    {OPT_MORE('v'), "verbose", NULL, "print more messages"},
    {'V', "version", NULL, "print the version"},
    {'h', "help", NULL, "print a short help (--help: all)"},
    {0, NULL, NULL, NULL}};

static const struct program PROGRAM = {
    .name = "pk",
    .synopsis = "pk [options] CHECKPOINT|ICDIR…   (- : paths from standard input, one per line)",
    .purpose =
        "Prints the power spectra of checkpoints of any format, and of GRAFIC initial conditions.",
    .rows = ROWS};

struct options {
    struct pk_par par;
    int axis, bins, verbose;
    bool mesh_given, species_given, log_bins, json, quiet, force;
    const char *values; /* spectra of uniform meshes */
    /* output directory, plot, numbers of the plot; NULL: none */
    const char *out, *picture, *data;
    struct spectra *plot; /* curves of the plot (rank 0) */
    int npair;
    char name[PAIRS_MAX][40];
    unsigned a[PAIRS_MAX], b[PAIRS_MAX]; /* sets of species of each pair, 0: of an energy */
    enum energy energy[PAIRS_MAX];
    int npath;
    char **paths;
    bool many; /* several checkpoints, or paths from standard input */
};

static int parse(int argc, char **argv, struct options *o);
static int work(const struct comm *c, struct options *o);
static int all_paths(const struct comm *c, const struct options *o);

int main(int argc, char **argv)
{
    struct options o = {.par = {.n = 256, .order = PK_PCS, .interlace = true, .fold = 1},
                        .axis = -1};
    struct comm c;
    program_begin();
    comm_init(&argc, &argv, &c);
    int status = c.rank == 0 ? parse(argc, argv, &o) : GO_ON;
    int64_t first = status;
    comm_bcast(&c, &first, sizeof first, 0);
    if (c.rank != 0) status = first == GO_ON ? parse(argc, argv, &o) : (int)first;
    if (status == GO_ON) {
        log_init(c.rank == 0, o.quiet ? -1 : o.verbose);
        status = work(&c, &o);
    }
    if (c.rank == 0 && !log_stdout_end("pk")) status = TROUBLE;
    comm_fini();
    return status;
}

static int complain(const struct comm *c, enum err err)
{
    if (err == OK) return DONE;
    fflush(stdout);
    if (c->rank == 0) fprintf(stderr, "pk: %s\n", err_message());
    return TROUBLE;
}

/* Measures all checkpoints, then draws the plot. Permission to write the plot is checked first. */
static int work(const struct comm *c, struct options *o)
{
    struct spectra plot = {.n = 0};
    const bool wanted = (o->picture || o->data) && c->rank == 0;
    enum err err = o->picture && wanted ? temp_may_write(o->picture, o->force) : OK;
    if (err == OK && o->data && wanted) err = temp_may_write(o->data, o->force);
    if ((err = err_agree(c, err)) != OK) return complain(c, err);
    if (wanted) o->plot = &plot;
    int status = all_paths(c, o);
    err = o->plot && plot.n > 0 ? output_plot(&plot, o->picture, o->data) : OK;
    spectra_free(&plot);
    return complain(c, err_agree(c, err)) == DONE ? status : TROUBLE;
}

/* ---- options ---- */

static int usage(const char *what, const char *value)
{
    return program_refuse(&PROGRAM, what, value);
}

static int set_number(const char *value, long min, long max, const char *what, int *out)
{
    return opt_int(value, min, max, out) ? GO_ON : usage(what, value);
}

static int set_window(const char *value, struct options *o)
{
    static const char *const names[] = {"ngp", "cic", "tsc", "pcs"};
    for (int i = 0; i < 4; i++)
        if (strcmp(value, names[i]) == 0) {
            o->par.order = (enum pk_window)(i + 1);
            return GO_ON;
        }
    return usage("the window must be ngp, cic, tsc or pcs, not", value);
}

static int set_bins(const char *value, struct options *o)
{
    o->log_bins = strncmp(value, "log:", 4) == 0;
    return set_number(value + (o->log_bins ? 4 : 0), 1, BINS_MAX,
                      "the number of bins must be 1 or above, or log:N, not", &o->bins);
}

static int set_axis(const char *value, struct options *o)
{
    if (strlen(value) != 1 || !strchr("xyz", *value))
        return usage("the line of sight must be x, y or z, not", value);
    o->axis = *value - 'x';
    return GO_ON;
}

/* Set of species from a name of n characters; 0: unknown. */
static unsigned species_set(const char *name, size_t n)
{
    for (unsigned i = 0; i <= SPECIES_COUNT; i++)
        if (strlen(SPECIES_NAME[i]) == n && strncmp(SPECIES_NAME[i], name, n) == 0)
            return i < SPECIES_COUNT ? 1u << i : (1u << SPECIES_COUNT) - 1;
    return 0;
}

static enum energy energy_of(const char *name)
{
    enum energy e = ENERGY_COUNT;
    while (--e > ENERGY_NONE && strcmp(name, ENERGY_NAME[e]) != 0) continue;
    return e;
}

static int set_species(const char *value, struct options *o)
{
    o->npair = 0;
    for (const char *s = value; s; s = strchr(s, ',') ? strchr(s, ',') + 1 : NULL) {
        size_t n = strcspn(s, ",");
        if (o->npair == PAIRS_MAX || n >= sizeof o->name[0])
            return usage("there are too many spectra, or a name is too long:", value);
        snprintf(o->name[o->npair], sizeof o->name[0], "%.*s", (int)n, s);
        /* UTF-8 of × is c3 97 */
        size_t left = strcspn(o->name[o->npair], "x*\xc3"), skip = s[left] == '\xc3' ? 2 : 1;
        bool cross = left < n;
        o->a[o->npair] = species_set(s, left);
        o->b[o->npair] = cross && left + skip <= n ? species_set(s + left + skip, n - left - skip)
                         : cross                   ? 0
                                                   : o->a[o->npair];
        o->energy[o->npair] = energy_of(o->name[o->npair]);
        if (!o->energy[o->npair] && (!o->a[o->npair] || !o->b[o->npair]))
            return usage("the species must be dm, gas, star, other, all and crosses such as "
                         "dmxgas, or B, kinetic, helicity, current_helicity and "
                         "kinetic_helicity, not",
                         o->name[o->npair]);
        o->npair++;
    }
    return GO_ON;
}

/* Sets one option. Returns the exit status, or GO_ON. */
static int set_option(int letter, const char *value, void *ctx)
{
    struct options *o = ctx;
    switch (letter) {
    case 's':
        o->species_given = true;
        return set_species(value, o);
    case 'n':
        o->mesh_given = true;
        return set_number(value, 4, FFT_SIZE_MAX,
                          "the mesh must have 4 to 32768 cells per side, not", &o->par.n);
    case 'w':
        return set_window(value, o);
    case INTERLACE:
    case NO_INTERLACE:
        o->par.interlace = letter == INTERLACE;
        return GO_ON;
    case 'k':
        return set_bins(value, o);
    case FOLD:
        return set_number(value, 1, 1024, "the box must be folded 1 to 1024 times, not",
                          &o->par.fold);
    case 'z':
        return set_axis(value, o);
    case 'j':
        o->json = true;
        return GO_ON;
    case 'o':
        o->out = value;
        return GO_ON;
    case VALUES:
        o->values = value;
        return GO_ON;
    case PLOT:
        if (!picture_format_of(value))
            return usage("a plot must be FILE.png, FILE.svg or FILE.pdf, not", value);
        o->picture = value;
        return GO_ON;
    case DATA:
        o->data = value;
        return GO_ON;
    case FORCE:
        o->force = true;
        return GO_ON;
    case 'q':
        o->quiet = true;
        return GO_ON;
    case 'v':
        o->verbose++;
        return GO_ON;
    default:
        BUG_ON(true);
        return TROUBLE;
    }
}

static int parse(int argc, char **argv, struct options *o)
{
    int first, status;
    set_species("all", o);
    if ((status = program_read(&PROGRAM, argc, argv, set_option, o, &first)) != GO_ON)
        return status;
    o->paths = argv + first;
    o->npath = argc - first;
    if (o->npath == 0) return usage("no checkpoint is given", NULL);
    for (int i = 0; i < o->npair; i++)
        if (o->energy[i] && o->axis >= 0)
            return usage("energies and helicities have no redshift space: leave out "
                         "--redshift-space, or",
                         o->name[i]);
    o->many = o->npath > 1 || strcmp(o->paths[0], "-") == 0;
    if (o->out && table_h5_named(o->out) && (o->many || o->json))
        return usage("a table as HDF5 is of one checkpoint, and no JSON: give a directory, not",
                     o->out);
    if (!o->log_bins && o->mesh_given && o->bins > o->par.n)
        return usage("there are more bins than modes along an axis: lower -k or raise "
                     "--mesh",
                     NULL);
    return GO_ON;
}

/* ---- one checkpoint ---- */

struct measured {
    int nbin;
    double *edge;       /* [nbin + 1] */
    struct pk_bin *bin; /* [npair][nbin] */
};

/* Edges of the bins in units of the fundamental mode. (owner: caller) */
static double *bin_edges(const struct options *o, int *nbin)
{
    *nbin = o->bins ? o->bins : o->par.n / 2;
    double nyquist = 0.5 * o->par.n, *edge = mem_new(sizeof *edge * ((size_t)*nbin + 1), "pk bins");
    if (!o->bins) pk_fundamental_bins(o->par.n, edge);
    for (int i = 0; i <= *nbin && o->bins; i++) {
        double x = (double)i / *nbin;
        edge[i] = o->log_bins ? 0.5 * pow(2 * nyquist, x) : 0.5 + (nyquist - 0.5) * x;
    }
    edge[*nbin] = nyquist * (1 + 1e-12); /* the Nyquist mode belongs to the last bin */
    return edge;
}

/* Assigns a mesh to each requested species; a common one if only their sum is requested. */
static int give_meshes(const struct options *o, struct feed *f, struct pk_pair *pair)
{
    unsigned wanted = 0;
    bool only_sum = true;
    int n = 0;
    for (int i = 0; i < o->npair; i++) {
        wanted |= o->a[i] | o->b[i];
        only_sum &= o->energy[i] || (o->a[i] == 15 && o->b[i] == 15);
    }
    for (int k = 0; k < SPECIES_COUNT; k++)
        f->mesh[k] = !(wanted >> k & 1) ? -1 : only_sum ? 0 : n++;
    for (int i = 0; i < o->npair; i++) {
        pair[i] = (struct pk_pair){.a = 0};
        for (int k = 0; k < SPECIES_COUNT; k++) {
            if (o->a[i] >> k & 1) pair[i].a |= 1u << f->mesh[k];
            if (o->b[i] >> k & 1) pair[i].b |= 1u << f->mesh[k];
        }
    }
    return only_sum ? wanted != 0 : n;
}

static bool has_species(const struct feed *f, unsigned set)
{
    bool any = set >> SPECIES_GAS & 1 && f->cells;
    for (int k = 0; k < SPECIES_COUNT; k++) any |= set >> k & 1 && f->points[k];
    return any;
}

static enum err check_species(const struct options *o, const struct feed *f, const char *path)
{
    for (int i = 0; i < o->npair; i++)
        if (!o->energy[i] && (!has_species(f, o->a[i]) || !has_species(f, o->b[i])))
            FAIL(ERR_PARAM, "%s: has no matter of the species %s: leave it out of --species", path,
                 o->name[i]);
    return OK;
}

/* Prints a table to standard output, or writes a file and prints its path; adds the table to the
 * plot. */
static enum err give_table(const struct options *o, const struct feed *f, const char *path,
                           int number, int nbin, const struct pk_bin *bin)
{
    char file[PATH_MAX];
    struct pk_table t = {.from = f->box,
                         .path = path,
                         .par = &o->par,
                         .axis = o->axis,
                         .npair = o->npair,
                         .nbin = nbin,
                         .name = o->name,
                         .bin = bin,
                         .cells = f->cells};
    for (int k = 0; k < SPECIES_COUNT; k++) t.points += f->points[k];
    if (o->plot) spectra_add(o->plot, &t);
    if (!o->out) {
        (o->json ? pk_table_json : pk_table_tsv)(stdout, &t);
        return OK;
    }
    if (table_h5_named(o->out)) {
        TRY(output_h5(o->out, o->force, &t));
        puts(o->out);
        return OK;
    }
    TRY(output_table(o->out, number, o->json, o->force, &t, file));
    puts(file);
    return OK;
}

/* Feeds a checkpoint, or initial conditions (s NULL). */
static enum err feed_any(struct feed *f, struct source *s, const char *path)
{
    return s ? feed_source(f, s) : feed_grafic(f, path);
}

/* Fails if the meshes exceed the memory of the machine, which ranks may share. Species that are
 * requested alone need a mesh each. */
static enum err check_memory(const struct comm *c, const struct options *o)
{
    unsigned alone = 0;
    for (int i = 0; i < o->npair; i++)
        for (int k = 0; k < SPECIES_COUNT; k++)
            if (o->a[i] == 1u << k || o->b[i] == 1u << k) alone |= 1u << k;
    int nmesh = alone ? __builtin_popcount(alone) : 1;
    for (int i = 0; i < o->npair; i++)
        if (o->energy[i] && nmesh < 3) nmesh = 3;
    double cells = pow(o->par.n, 3) / c->size, meshes = nmesh * (1 + o->par.interlace) + 2,
           need = 8 * cells * meshes, have = (double)mem_machine();
    if (need > have)
        FAIL(ERR_LIMIT,
             "a mesh of %d³ cells needs %.3g GiB of memory per rank; the machine has %.3g: lower "
             "--mesh or use more ranks",
             o->par.n, need / 0x1p30, have / 0x1p30);
    return OK;
}

/* Spectra of species; without any, all are 0. */
static enum err measure_mass(const struct options *o, struct feed *f, struct source *s,
                             const char *path, const struct measured *m)
{
    struct pk_pair pair[PAIRS_MAX];
    const int nmesh = give_meshes(o, f, pair);
    const bool cosmo = !s || s->head.cosmo;
    double total = 2; /* upper limit of the total mass: above that of any cosmological box */
    if (!cosmo || nmesh == 0) {
        TRY(feed_any(f, s, path));
        total = f->mass;
    }
    if (nmesh == 0) return OK;
    if (!(total > 0)) FAIL(ERR_PARAM, "%s: has no mass of the requested species", path);
    f->max = total;
    f->pk = pk_new(f->c, &o->par, nmesh, total);
    enum err err = feed_any(f, s, path);
    if (err == OK) err = check_species(o, f, path);
    if (err == OK) pk_spectra(f->pk, o->npair, pair, m->nbin, m->edge, o->axis, m->bin);
    pk_free(&f->pk);
    return err;
}

static enum err measure_energies(const struct options *o, struct feed *f, struct source *s,
                                 const struct measured *m)
{
    for (int i = 0; i < o->npair; i++) {
        struct energy_spectrum e = {f->c, &o->par, o->energy[i], m->nbin, m->edge, 0};
        if (!e.kind) continue;
        TRY(energy_spectra(&e, s, m->bin + (int64_t)i * m->nbin));
        f->cells = e.cells;
    }
    return OK;
}

static enum err measure(const struct comm *c, const struct options *o, struct source *s,
                        const char *path)
{
    struct feed f = {.c = c, .axis = o->axis, .max = INFINITY};
    struct measured m;
    if (o->axis >= 0 && s && !s->head.cosmo)
        FAIL(ERR_PARAM, "%s: redshift space needs a cosmological run: leave out --redshift-space",
             path);
    TRY(err_agree(c, check_memory(c, o)));
    m.edge = bin_edges(o, &m.nbin);
    m.bin = mem_zero(sizeof *m.bin * (size_t)(o->npair * m.nbin), "pk bins");
    enum err err = measure_mass(o, &f, s, path, &m);
    if (err == OK) err = measure_energies(o, &f, s, &m);
    if (err == OK && c->rank == 0) err = give_table(o, &f, path, s ? s->number : 0, m.nbin, m.bin);
    err = err_agree(c, err);
    FREE(m.bin);
    FREE(m.edge);
    return err;
}

/* Measures initial conditions, on a mesh with the cells of their files. */
static enum err measure_grafic(const struct comm *c, const struct options *o, const char *path)
{
    struct options mine = *o;
    int n;
    TRY(grafic_cells(c, path, &n));
    if (!o->species_given) set_species(grafic_has_gas(path) ? "dm,gas" : "dm", &mine);
    o = &mine;
    for (int i = 0; i < o->npair; i++)
        for (int k = 0; k < 2; k++) {
            unsigned set = k ? o->b[i] : o->a[i];
            if (set != 1u << SPECIES_DM && set != 1u << SPECIES_GAS)
                FAIL(ERR_PARAM,
                     "%s: initial conditions have dm and gas, each separately: use --species "
                     "dm,gas",
                     path);
            if (set == 1u << SPECIES_GAS && o->par.fold > 1)
                FAIL(ERR_PARAM,
                     "%s: the gas of initial conditions is a field on its own mesh: leave out "
                     "--fold",
                     path);
            if (set == 1u << SPECIES_GAS && o->mesh_given && o->par.n != n)
                FAIL(ERR_PARAM,
                     "%s: the gas of initial conditions is a field on its own mesh: use --mesh %d",
                     path, n);
        }
    if (!o->mesh_given) mine.par.n = n;
    return measure(c, &mine, NULL, path);
}

/* Measures a uniform mesh; with --species as an octree, by one_path. */
static enum err measure_mesh(const struct comm *c, const struct options *o, const char *path)
{
    const struct mesh_options mesh = {
        .values = o->values, .out = o->out, .json = o->json, .force = o->force};
    if (o->out && table_h5_named(o->out))
        FAIL(ERR_PARAM, "%s: spectra of a uniform mesh are written as text: give a directory",
             path);
    if (o->picture || o->data)
        FAIL(ERR_PARAM,
             "%s: --plot and --data draw spectra of mass: use --species, or leave it out", path);
    return mesh_spectra(c, path, &mesh);
}

static int one_path(const struct comm *c, const struct options *o, const char *path)
{
    struct source *s = NULL;
    enum err err;
    if (grafic_is(path)) {
        err = measure_grafic(c, o, path);
    } else if (grid_is(path) && !o->species_given) {
        err = measure_mesh(c, o, path);
    } else if (o->values) {
        err = err_set(ERR_PARAM, "%s: --values is for checkpoints of uniform meshes%s", path,
                      grid_is(path) ? ", without --species" : "");
    } else {
        err = err_agree(c, source_open_state(path, 0, 0, &s));
        if (err == OK) err = source_in_space(s, "power spectra");
        if (err == OK) err = measure(c, o, s, path);
        source_close(&s);
    }
    if (o->many) err = err_about(err, path);
    int64_t status = complain(c, err);
    if (c->rank == 0 && !log_stdout_flush()) status = LOST;
    comm_max_i64(c, &status, 1);
    return (int)status;
}

static int paths_from_stdin(const struct comm *c, const struct options *o)
{
    struct lines lines = {0};
    int status = DONE;
    for (bool got; status != LOST;) {
        int s = complain(c, lines_next(&lines, c, &got));
        bool more = s == DONE && got;
        if (more) s = one_path(c, o, lines.text);
        status = s > status ? s : status;
        if (!more) break;
    }
    return status;
}

static int all_paths(const struct comm *c, const struct options *o)
{
    int status = DONE;
    for (int i = 0; i < o->npath && status != LOST; i++) {
        int s = strcmp(o->paths[i], "-") == 0 ? paths_from_stdin(c, o)
                                              : one_path(c, o, o->paths[i]);
        if (s > status) status = s;
    }
    return status == LOST ? TROUBLE : status;
}
