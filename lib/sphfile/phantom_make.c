/* sphfile/phantom_make: a full dump of particles, with the numbers and arrays that Phantom itself
 * writes, in their order. Numbers of features that we do not have are Phantom's values without
 * them. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "sphfile/phantom_priv.h"

enum { TYPES = 8, NUMBERS = 100, ARRAYS = 20 };

struct maker {
    const struct sphfile_head *h;
    const struct smooth_par *par;
    const struct smooth *p;
    struct phantom *d;
    double lo[3], side[3];
    bool periodic;
    int64_t count[TYPES]; /* particles of each type */
};

static void add_number(struct phantom *d, enum phantom_kind kind, const char *tag, double real,
                       int64_t whole)
{
    BUG_ON(d->nnumber == NUMBERS);
    struct phantom_number *k = &d->number[d->nnumber++];
    *k = (struct phantom_number){.kind = kind, .real = real, .integer = whole};
    memcpy(k->tag, tag, strlen(tag));
}

static void add_whole(struct phantom *d, enum phantom_kind kind, const char *tag, int64_t whole)
{
    add_number(d, kind, tag, (double)whole, whole);
}

static void add_real(struct phantom *d, const char *tag, double real)
{
    add_number(d, PHANTOM_REAL, tag, real, 0);
}

static double key(const struct maker *m, const char *name, double without)
{
    double x = without;
    sphfile_get(m->h, name, &x);
    return x;
}

/* ---- header ---- */

static void add_counts(struct maker *m, enum phantom_kind kind)
{
    add_whole(m->d, kind, "nparttot", m->p->n);
    add_whole(m->d, kind, "ntypes", TYPES);
    for (int t = 0; t < TYPES; t++) add_whole(m->d, kind, "npartoftype", m->count[t]);
}

/* Numbers of Phantom's equations of state; the locally isothermal gas about the origin, or about
 * the first point mass. */
static int equation(const struct smooth_par *q)
{
    const bool origin = q->centre[0] == 0 && q->centre[1] == 0 && q->centre[2] == 0;
    if (q->eos == SMOOTH_LOCALLY) return origin ? 3 : 6;
    return q->eos == SMOOTH_ISOTHERMAL ? 1 : 2;
}

/* c² = polyk r^(−2q) */
static double polyk(const struct smooth_par *q)
{
    if (q->eos == SMOOTH_ADIABATIC) return 0;
    return q->c0 * q->c0 * (q->eos == SMOOTH_LOCALLY ? pow(q->r0, 2 * q->q) : 1);
}

static void add_wholes(struct maker *m)
{
    static const struct {
        const char *tag;
        int value;
    } REST[] = {{"ndustlarge", 0}, {"ndustsmall", 0},  {"idust", 7},
                {"idtmax_n", 1},   {"idtmax_frac", 0}, {"idumpfile", 0},
                {"majorv", 2026},  {"minorv", 0},      {"microv", 1}};
    add_counts(m, PHANTOM_INT);
    add_whole(m->d, PHANTOM_INT, "nblocks", 1);
    add_whole(m->d, PHANTOM_INT, "nptmass", m->h->nsink);
    for (int i = 0; i < (int)(sizeof REST / sizeof *REST); i++)
        add_whole(m->d, PHANTOM_INT, REST[i].tag, REST[i].value);
    add_whole(m->d, PHANTOM_INT, "isink", equation(m->par) == 6);
    add_whole(m->d, PHANTOM_I4, "iexternalforce", 0);
    add_whole(m->d, PHANTOM_I4, "ieos", equation(m->par));
    add_counts(m, PHANTOM_I8);
}

static void add_box(struct maker *m)
{
    for (int k = 0; k < 3 && m->periodic; k++) {
        const char low[] = {(char)('x' + k), 'm', 'i', 'n', 0},
                   high[] = {(char)('x' + k), 'm', 'a', 'x', 0};
        add_real(m->d, low, m->lo[k]);
        add_real(m->d, high, m->lo[k] + m->side[k]);
    }
}

/* Initial sums of conserved quantities are 0, with get_conserv 1: Phantom then computes them. */
static void add_reals(struct maker *m)
{
    static const char *const FIELD[] = {"Bextx", "Bexty", "Bextz", "dum"}, *const SUMS[] = {
                                                                               "mtot_in", "etot_in",
                                                                               "angtot_in",
                                                                               "totmom_in"};
    const struct smooth_par *q = m->par;
    struct phantom *d = m->d;
    add_real(d, "gamma", q->gamma);
    add_real(d, "RK2", 1.5 * polyk(q));
    add_real(d, "polyk2", 0);
    add_real(d, "qfacdisc", q->eos == SMOOTH_LOCALLY ? q->q : 0.75);
    add_real(d, "qfacdisc2", 0.75);
    add_real(d, "cs_min", 0);
    add_real(d, "time", m->h->t);
    add_real(d, "dtmax", key(m, "dtmax", m->h->dt));
    add_real(d, "rhozero", key(m, "rhozero", 0));
    add_real(d, "hfact", q->eta);
    add_real(d, "tolh", q->h_tol);
    add_real(d, "C_cour", 0.3);
    add_real(d, "C_force", 0.25);
    add_real(d, "alpha", q->alpha_min);
    add_real(d, "alphau", q->alpha_u);
    add_real(d, "alphaB", 1);
    for (int t = 0; t < TYPES; t++) add_real(d, "massoftype", q->mass);
    for (int i = 0; i < 4; i++) add_real(d, FIELD[i], 0);
    add_box(m);
    add_real(d, "get_conserv", 1);
    for (int i = 0; i < 4; i++) add_real(d, SUMS[i], 0);
}

static void add_units(struct maker *m)
{
    static const char *const UNIT[] = {"udist", "umass", "utime"};
    const double default_field = 3.5449077018167907; /* √(4π), of units of 1 */
    for (int i = 0; i < 3; i++) add_number(m->d, PHANTOM_R8, UNIT[i], key(m, UNIT[i], 1), 0);
    add_number(m->d, PHANTOM_R8, "umagfd", key(m, "umagfd", default_field), 0);
}

/* ---- arrays ---- */

static void *add_array(struct phantom *d, int block, enum phantom_kind kind, const char *tag)
{
    struct phantom_block *b = &d->block[block];
    BUG_ON(b->narray == ARRAYS);
    struct phantom_array *a = &b->array[b->narray++];
    *a = (struct phantom_array){.kind = kind};
    memcpy(a->tag, tag, strlen(tag));
    a->data = mem_zero((size_t)b->n * (size_t)phantom_bytes(d, kind) + 1, "dump");
    return a->data;
}

static enum err add_single(struct maker *m, const char *tag, const double *from, bool positive)
{
    float *to = add_array(m->d, 0, PHANTOM_R4, tag);
    for (int64_t i = 0; i < m->p->n; i++) {
        to[i] = (float)from[i];
        if (!isfinite(to[i]) || (positive && !(to[i] > 0)))
            FAIL(ERR_LIMIT,
                 "particle %ld: %s is %g, which is beyond the range of single precision, "
                 "in which a dump has it",
                 (long)m->p->id[i], tag, from[i]);
    }
    return OK;
}

/* Types are stored where there are several. */
static enum err add_particles(struct maker *m)
{
    static const char *const X[] = {"x", "y", "z"}, *const V[] = {"vx", "vy", "vz"};
    const struct smooth *p = m->p;
    const size_t bytes = 8 * (size_t)p->n;
    m->d->block[0].n = p->n;
    if (m->count[SMOOTH_GAS - 1] != p->n)
        memcpy(add_array(m->d, 0, PHANTOM_I1, "itype"), p->type, (size_t)p->n);
    memcpy(add_array(m->d, 0, PHANTOM_I8, "iorig"), p->id, bytes);
    for (int k = 0; k < 3; k++) memcpy(add_array(m->d, 0, PHANTOM_REAL, X[k]), p->x[k], bytes);
    for (int k = 0; k < 3; k++) memcpy(add_array(m->d, 0, PHANTOM_REAL, V[k]), p->v[k], bytes);
    if (m->par->eos == SMOOTH_ADIABATIC) memcpy(add_array(m->d, 0, PHANTOM_REAL, "u"), p->u, bytes);
    TRY(add_single(m, "h", p->h, true));
    TRY(add_single(m, "alpha", p->alpha, false));
    return add_single(m, "divv", p->divv, false);
}

/* Columns of the table of sinks, and their names in it (sph/store); NULL: Phantom's value is 0. */
static void add_sinks(struct maker *m)
{
    static const struct {
        const char *tag, *name;
    } ROW[] = {{"x", "x"},
               {"y", "y"},
               {"z", "z"},
               {"m", "m"},
               {"h", "racc"},
               {"hsoft", NULL},
               {"maccreted", "accreted"},
               {"spinx", "spinx"},
               {"spiny", "spiny"},
               {"spinz", "spinz"},
               {"tlast", NULL},
               {"vx", "vx"},
               {"vy", "vy"},
               {"vz", "vz"}};
    const struct sphfile_head *h = m->h;
    m->d->block[1].n = h->nsink;
    for (int r = 0; h->nsink && r < (int)(sizeof ROW / sizeof *ROW); r++) {
        double *to = add_array(m->d, 1, PHANTOM_REAL, ROW[r].tag);
        for (int c = 0; ROW[r].name && c < h->sink_width; c++)
            for (int64_t i = 0; strcmp(h->sink_column[c], ROW[r].name) == 0 && i < h->nsink; i++)
                to[i] = h->sink[i * h->sink_width + c];
    }
}

static enum err fill(struct maker *m)
{
    struct phantom *d = m->d;
    TRY(sphfile_get_par(m->h, "the header", &(struct smooth_par){0}, m->lo, m->side, &m->periodic));
    for (int64_t i = 0; i < m->p->n; i++) {
        const int type = m->p->type[i];
        BUG_ON(type < 1 || type > TYPES);
        m->count[type - 1]++;
    }
    /* Phantom looks for its own name. */
    snprintf(d->id, sizeof d->id, "FT:Phantom:2026.0.1:Ptah (hydro)");
    d->real_bytes = 8, d->version = PHANTOM_VERSION, d->nblock = 2;
    d->number = mem_zero(sizeof *d->number * NUMBERS, "dump");
    d->block = mem_zero(sizeof *d->block * 2, "dump");
    for (int b = 0; b < 2; b++)
        d->block[b].array = mem_zero(sizeof *d->block[b].array * ARRAYS, "dump");
    add_wholes(m);
    add_reals(m);
    add_units(m);
    add_sinks(m);
    return add_particles(m);
}

enum err phantom_of(const struct sphfile_head *h, const struct smooth_par *par,
                    const struct smooth *p, struct phantom **out)
{
    struct maker m = {.h = h, .par = par, .p = p};
    *out = NULL;
    m.d = mem_zero(sizeof *m.d, "dump");
    enum err err = fill(&m);
    if (err == OK)
        *out = m.d;
    else
        phantom_free(&m.d);
    return err;
}
