/* sphfile/phantom_particles: particles, parameters and sinks of a dump. Phantom stores h in single
 * precision, and neither the kernel nor the parameters that its text file .in has: these are its
 * defaults (Price et al. 2018). */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "sphfile/phantom_priv.h"

enum { TYPES = 8 };

static const struct phantom_array *find_array(const struct phantom_block *b, const char *tag)
{
    for (int i = 0; i < b->narray; i++)
        if (strcmp(b->array[i].tag, tag) == 0) return &b->array[i];
    return NULL;
}

/* Value i of an array of any kind. */
static double real_at(const struct phantom *d, const struct phantom_array *a, int64_t i)
{
    double x;
    float single;
    if (phantom_bytes(d, a->kind) == 8) {
        memcpy(&x, (const char *)a->data + 8 * i, 8);
        return x;
    }
    memcpy(&single, (const char *)a->data + 4 * i, 4);
    return single;
}

static int64_t whole_at(const struct phantom *d, const struct phantom_array *a, int64_t i)
{
    const int bytes = phantom_bytes(d, a->kind), unused = 64 - 8 * bytes;
    uint64_t bits = 0;
    memcpy(&bits, (const char *)a->data + (size_t)(bytes * i), (size_t)bytes);
    return (int64_t)(bits << unused) >> unused;
}

static enum err refuse(const struct phantom *d, const struct phantom_array *a, int64_t i,
                       const char *why)
{
    if (phantom_is_real(a->kind))
        FAIL(ERR_FORMAT, "%s: record %ld (%s) at byte %ld: value %ld is %g, %s", d->path,
             (long)a->record, a->tag, (long)a->at, (long)i + 1, real_at(d, a, i), why);
    FAIL(ERR_FORMAT, "%s: record %ld (%s) at byte %ld: value %ld is %ld, %s", d->path,
         (long)a->record, a->tag, (long)a->at, (long)i + 1, (long)whole_at(d, a, i), why);
}

/* ---- header ---- */

static enum err get(const struct phantom *d, const char *tag, double least, double most, double *x)
{
    const struct phantom_number *k = phantom_find(d, tag);
    if (!k) FAIL(ERR_FORMAT, "%s: the header has no number %s", d->path, tag);
    if (!(k->real >= least && k->real <= most))
        FAIL(ERR_FORMAT, "%s: the header has %s %g, expected %g to %g", d->path, tag, k->real,
             least, most);
    *x = k->real;
    return OK;
}

/* get for a number that a header may lack; it is then `without`. */
static enum err get_or(const struct phantom *d, const char *tag, double least, double most,
                       double without, double *x)
{
    *x = without;
    return phantom_find(d, tag) ? get(d, tag, least, most, x) : OK;
}

/* Number `place` of those with this tag and kind. */
static const struct phantom_number *find_nth(const struct phantom *d, const char *tag,
                                             enum phantom_kind kind, int place)
{
    for (int i = 0; i < d->nnumber; i++)
        if (d->number[i].kind == kind && strcmp(d->number[i].tag, tag) == 0 && place-- == 0)
            return &d->number[i];
    return NULL;
}

/* The equations of state 1 (isothermal), 2 (adiabatic), 3 and 6 (locally isothermal about the
 * origin or a point mass: c² = polyk r^(−2 qfacdisc)). RK2 is 3/2 polyk. */
static enum err read_eos(const struct phantom *d, struct smooth_par *par)
{
    double eos, rk2;
    TRY(get_or(d, "ieos", 0, 1000, 2, &eos));
    TRY(get(d, "gamma", 1, 1e3, &par->gamma));
    TRY(get_or(d, "RK2", 0, 1e300, 0, &rk2));
    if (eos != 1 && eos != 2 && eos != 3 && eos != 6)
        FAIL(ERR_LIMIT,
             "%s: has the equation of state %g; only 1 (isothermal), 2 (adiabatic), 3 and 6 "
             "(locally isothermal) can be read",
             d->path, eos);
    par->eos = eos == 1 ? SMOOTH_ISOTHERMAL : eos == 2 ? SMOOTH_ADIABATIC : SMOOTH_LOCALLY;
    if (eos != 2) par->c0 = sqrt(rk2 / 1.5);
    if (par->eos == SMOOTH_LOCALLY) TRY(get_or(d, "qfacdisc", -1e3, 1e3, 0.75, &par->q));
    return OK;
}

static enum err read_par(const struct phantom *d, struct smooth_par *par)
{
    const double most = 1e3;
    *par = sphfile_usual();
    TRY(get(d, "hfact", 1e-3, most, &par->eta));
    TRY(get_or(d, "tolh", 1e-16, 1, 1e-4, &par->h_tol));
    TRY(get_or(d, "alpha", 0, most, 0, &par->alpha_min));
    TRY(get_or(d, "alphau", 0, most, 1, &par->alpha_u));
    /* Usual values are 1.2 with M4 and 1.0 with M6 (Price et al. 2018, section 2.1.5). */
    par->kernel = par->eta > 1.1 ? SMOOTH_M4 : SMOOTH_M6;
    if (par->alpha_min > par->alpha_max) par->alpha_max = par->alpha_min;
    return read_eos(d, par);
}

/* A header without sides of a box is that of an open run. */
static enum err read_box(const struct phantom *d, double lo[3], double side[3], bool *periodic)
{
    *periodic = phantom_find(d, "xmin") != NULL;
    for (int k = 0; k < 3; k++) {
        const char low[] = {(char)('x' + k), 'm', 'i', 'n', 0},
                   high[] = {(char)('x' + k), 'm', 'a', 'x', 0};
        double end = 0;
        lo[k] = side[k] = 0;
        if (!*periodic) continue;
        TRY(get(d, low, -1e300, 1e300, &lo[k]));
        TRY(get(d, high, -1e300, 1e300, &end));
        side[k] = end - lo[k];
        if (!(side[k] > 0))
            FAIL(ERR_FORMAT, "%s: the header has %s %g and %s %g: the box has no size", d->path,
                 low, lo[k], high, end);
    }
    return OK;
}

static enum err read_head(const struct phantom *d, struct sphfile_head *h, struct smooth_par *par)
{
    /* Numbers that convert writes back, and units, which inspect shows. */
    static const char *const KEPT[] = {"dtmax", "udist", "umass", "utime", "umagfd", "rhozero"};
    double lo[3], side[3];
    bool periodic;
    TRY(get(d, "time", -1e300, 1e300, &h->t));
    TRY(read_par(d, par));
    TRY(read_box(d, lo, side, &periodic));
    for (int i = 0; i < (int)(sizeof KEPT / sizeof *KEPT); i++) {
        const struct phantom_number *k = phantom_find(d, KEPT[i]);
        if (k && isfinite(k->real)) sphfile_set(h, KEPT[i], k->real);
    }
    h->dt = 0, h->it = 0;
    sphfile_set_par(h, par, lo, side, periodic);
    sphfile_set(h, "fresh", 1);
    return OK;
}

/* ---- particles ---- */

/* Arrays that become columns of doubles. */
static const struct column_row {
    const char *tag;
    enum smooth_column column;
    bool needed;
} COLUMNS[] = {
    {"x", SMOOTH_X_COLUMN, true},          {"y", SMOOTH_Y_COLUMN, true},
    {"z", SMOOTH_Z_COLUMN, true},          {"vx", SMOOTH_VX_COLUMN, true},
    {"vy", SMOOTH_VY_COLUMN, true},        {"vz", SMOOTH_VZ_COLUMN, true},
    {"h", SMOOTH_H_COLUMN, true},          {"u", SMOOTH_U_COLUMN, false},
    {"alpha", SMOOTH_ALPHA_COLUMN, false}, {"divv", SMOOTH_DIVV_COLUMN, false},
};
enum { NCOLUMN = sizeof COLUMNS / sizeof *COLUMNS };

struct source_arrays {
    const struct phantom *d;
    const struct phantom_array *column[NCOLUMN], *h, *type, *id;
};

static enum err find_arrays(const struct phantom *d, const struct smooth_par *par,
                            struct source_arrays *s)
{
    const struct phantom_block *b = &d->block[0];
    *s = (struct source_arrays){.d = d,
                                .h = find_array(b, "h"),
                                .type = find_array(b, "itype"),
                                .id = find_array(b, "iorig")};
    for (int i = 0; i < NCOLUMN; i++) {
        const struct column_row *c = &COLUMNS[i];
        const struct phantom_array *a = s->column[i] = find_array(b, c->tag);
        const bool needed = c->needed ||
                            (c->column == SMOOTH_U_COLUMN && par->eos == SMOOTH_ADIABATIC);
        if (needed && !a)
            FAIL(ERR_FORMAT, "%s: has no array %s%s", d->path, c->tag,
                 d->id[0] == 'S' ? ": it is a small dump, from which no run can begin" : "");
        if (a && !phantom_is_real(a->kind)) return refuse(d, a, 0, "expected real numbers");
    }
    if (s->type && phantom_is_real(s->type->kind))
        return refuse(d, s->type, 0, "expected whole numbers");
    if (s->id && phantom_is_real(s->id->kind)) return refuse(d, s->id, 0, "expected whole numbers");
    return OK;
}

/* A type below 0 marks a particle that waits for its time step. */
static int64_t type_of(const struct source_arrays *s, int64_t i)
{
    const int64_t type = s->type ? whole_at(s->d, s->type, i) : SMOOTH_GAS;
    return type < 0 && type >= -TYPES ? -type : type;
}

/* All particles must have one mass. */
static enum err take_mass(const struct source_arrays *s, int64_t type, double *mass)
{
    const struct phantom *d = s->d;
    const struct phantom_number *k = find_nth(d, "massoftype", PHANTOM_REAL, (int)type - 1);
    if (!k || !(k->real > 0 && k->real < 1e300))
        FAIL(ERR_FORMAT,
             "%s: the header has massoftype %g for type %ld, expected a positive number", d->path,
             k ? k->real : 0, (long)type);
    if (*mass > 0 && *mass != k->real)
        FAIL(ERR_LIMIT,
             "%s: particles of different types have the masses %.17g and %.17g, but all "
             "must have the same",
             d->path, *mass, k->real);
    *mass = k->real;
    return OK;
}

static enum err read_particle(const struct source_arrays *s, int64_t i, struct smooth *p)
{
    const int64_t type = type_of(s, i), to = p->n;
    if (type != SMOOTH_GAS && type != SMOOTH_BOUNDARY)
        return refuse(s->d, s->type, i, "expected 1 (gas) or 3 (boundary)");
    for (int k = 0; k < NCOLUMN; k++) {
        double *column = *smooth_at(p, COLUMNS[k].column);
        if (!s->column[k]) continue;
        column[to] = real_at(s->d, s->column[k], i);
        if (!isfinite(column[to])) return refuse(s->d, s->column[k], i, "expected a finite number");
    }
    if (!(p->h[to] > 0)) return refuse(s->d, s->h, i, "expected a positive number");
    p->type[to] = (int8_t)type;
    p->id[to] = s->id ? whole_at(s->d, s->id, i) : i + 1;
    p->n++;
    return OK;
}

/* Zero, or alpha_min. */
static void clear_rows(struct smooth *p, int64_t n, double alpha)
{
    smooth_reserve(p, p->n + n);
    for (int c = 0; c < SMOOTH_COLUMNS && n; c++) {
        const size_t bytes = smooth_row[c].bytes;
        memset((char *)*smooth_at(p, (enum smooth_column)c) + (size_t)p->n * bytes, 0,
               (size_t)n * bytes);
    }
    for (int64_t i = p->n; i < p->n + n; i++) p->alpha[i] = alpha;
}

static enum err read_particles(const struct phantom *d, struct smooth_par *par, struct smooth *p)
{
    struct source_arrays s;
    const int64_t n = d->block[0].n, had = p->n;
    bool seen[TYPES + 1] = {false};
    if (n == 0) FAIL(ERR_FORMAT, "%s: has no particles", d->path);
    TRY(find_arrays(d, par, &s));
    clear_rows(p, n, par->alpha_min);
    for (int64_t i = 0; i < n; i++) {
        if (real_at(d, s.h, i) < 0) continue; /* dead */
        TRY(read_particle(&s, i, p));
        const int type = p->type[p->n - 1];
        if (!seen[type]) TRY(take_mass(&s, type, &par->mass));
        seen[type] = true;
    }
    if (p->n == had) FAIL(ERR_FORMAT, "%s: all its particles are dead (h < 0)", d->path);
    return OK;
}

/* ---- sinks ---- */

/* Arrays of the second block by names as solver='sph' has them (sph/store). */
static const struct {
    const char *tag, *name;
} SINK[] = {{"m", "m"},         {"x", "x"},         {"y", "y"},    {"z", "z"},
            {"vx", "vx"},       {"vy", "vy"},       {"vz", "vz"},  {"spinx", "spinx"},
            {"spiny", "spiny"}, {"spinz", "spinz"}, {"h", "racc"}, {"maccreted", "accreted"}};
enum { SINK_WIDTH = sizeof SINK / sizeof *SINK };

static enum err read_sinks(const struct phantom *d, struct sphfile_head *h)
{
    static const char *name[SINK_WIDTH];
    const struct phantom_block *b = d->nblock > 1 ? &d->block[1] : NULL;
    if (!b || b->n == 0) return OK;
    for (int c = 0; c < SINK_WIDTH; c++) name[c] = SINK[c].name;
    h->nsink = b->n, h->sink_width = SINK_WIDTH, h->sink_column = name;
    h->sink = mem_zero(sizeof *h->sink * (size_t)(b->n * SINK_WIDTH), "sinks");
    for (int c = 0; c < SINK_WIDTH; c++) {
        const struct phantom_array *a = find_array(b, SINK[c].tag);
        if (!a && c < 7) FAIL(ERR_FORMAT, "%s: its sinks have no array %s", d->path, SINK[c].tag);
        if (a && !phantom_is_real(a->kind)) return refuse(d, a, 0, "expected real numbers");
        for (int64_t i = 0; a && i < b->n; i++) {
            const double x = h->sink[i * SINK_WIDTH + c] = real_at(d, a, i);
            if (!isfinite(x)) return refuse(d, a, i, "expected a finite number");
        }
    }
    return OK;
}

enum err phantom_particles(const struct phantom *d, struct sphfile_head *h, struct smooth_par *par,
                           struct smooth *p)
{
    const int64_t had = p->n;
    *h = (struct sphfile_head){0};
    if (d->nblock < 1 || d->nblock > 2)
        FAIL(ERR_LIMIT, "%s: has %d blocks of arrays, expected one of particles and one of sinks",
             d->path, d->nblock);
    TRY(read_head(d, h, par));
    TRY(read_particles(d, par, p));
    sphfile_set(h, "mass", par->mass);
    h->n = p->n - had;
    enum err err = read_sinks(d, h);
    if (err != OK) FREE(h->sink);
    return err;
}
