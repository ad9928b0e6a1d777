#include "cool/grackle.h"

#include <math.h>

#include "base/mem.h"
#include "h5/parse.h"

enum { POINTS_MAX = 65536, TABLE_MAX = 1 << 26 };

/* Hydrogen mass fraction of the tables; solar metallicity by mass; Compton cooling per electron and
 * kelvin at z = 0, erg/s; temperature of the microwave background at z = 0, K. */
static const double HYDROGEN = 1 / (1 + 0.1 * 3.971), GRACKLE_SOLAR = 0.01295;
static const double COMPTON = 5.65e-36, MICROWAVES = 2.73;

enum set { COOL, HEAT, MMW, METAL_COOL, METAL_HEAT, SETS };

static const char *const NAME[SETS] = {
    [COOL] = "CoolingRates/Primordial/Cooling",   [HEAT] = "CoolingRates/Primordial/Heating",
    [MMW] = "CoolingRates/Primordial/MMW",        [METAL_COOL] = "CoolingRates/Metals/Cooling",
    [METAL_HEAT] = "CoolingRates/Metals/Heating",
};

struct grackle {
    int L, N, nz;      /* densities, temperatures, redshifts; nz 0: rates do not depend on z */
    double *nH, *z;    /* [L] log10 n_H; [nz] redshifts */
    double *T;         /* [N] log10 T, K */
    double *set[SETS]; /* [L][nz][N] data sets; NULL: absent */
};

struct input {
    struct h5_file f;
    int64_t first; /* data set whose attributes hold the axes */
};

/* ---- reading ---- */

static enum err read_axis(struct input *in, const char *name, double **x, int *n)
{
    struct h5_value v = {.data = NULL};
    bool exists = h5_attr(&in->f, in->first, name, &v);
    TRY(in->f.err);
    if (!exists || v.type == 's' || v.n < 1 || v.n > POINTS_MAX) {
        FREE(v.data);
        FAIL(ERR_FORMAT, "%s: /%s has no attribute %s with the points of its axis", in->f.path,
             NAME[COOL], name);
    }
    *n = (int)v.n;
    *x = mem_new(sizeof **x * (size_t)v.n, "Grackle table");
    h5_widen(v.type, v.n, v.data, *x);
    FREE(v.data);
    if (v.type != 'd' && v.type != 'f')
        FAIL(ERR_FORMAT, "%s: attribute %s does not contain reals", in->f.path, name);
    for (int i = 0; i < *n; i++)
        if (!isfinite((*x)[i]) || (i > 0 && !((*x)[i] > (*x)[i - 1])))
            FAIL(ERR_FORMAT,
                 "%s: attribute %s: point %d, %g, must be a number above the one before",
                 in->f.path, name, i + 1, (*x)[i]);
    return OK;
}

static enum err read_axes(struct input *in, struct grackle *g)
{
    struct h5_value rank = {.data = NULL};
    bool several = h5_attr(&in->f, in->first, "Parameter2", &rank);
    FREE(rank.data);
    TRY(in->f.err);
    TRY(read_axis(in, "Parameter1", &g->nH, &g->L));
    if (several) TRY(read_axis(in, "Parameter2", &g->z, &g->nz));
    TRY(read_axis(in, "Temperature", &g->T, &g->N));
    if (g->N < 2)
        FAIL(ERR_FORMAT, "%s: has only one temperature, but at least two are needed", in->f.path);
    for (int i = 0; i < g->N; i++) {
        if (!(g->T[i] > 0))
            FAIL(ERR_FORMAT, "%s: has a temperature of %g, which must be above 0", in->f.path,
                 g->T[i]);
        g->T[i] = log10(g->T[i]);
    }
    double step = g->L > 1 ? (g->nH[g->L - 1] - g->nH[0]) / (g->L - 1) : 0;
    for (int i = 0; i < g->L; i++)
        if (fabs(g->nH[i] - g->nH[0] - i * step) > 1e-6 * fabs(step))
            FAIL(ERR_FORMAT, "%s: density %d, 10^%g, is not equidistant with the others",
                 in->f.path, i + 1, g->nH[i]);
    if ((int64_t)g->L * (g->nz ? g->nz : 1) * g->N > TABLE_MAX)
        FAIL(ERR_FORMAT, "%s: %d x %d x %d rates are more than a cooling table can hold",
             in->f.path, g->L, g->nz ? g->nz : 1, g->N);
    return OK;
}

static enum err read_values(struct input *in, struct grackle *g, enum set k, struct h5_set *s)
{
    int64_t n = (int64_t)g->L * (g->nz ? g->nz : 1) * g->N;
    if (s->n != n || (s->type != 'd' && s->type != 'f'))
        FAIL(ERR_FORMAT, "%s: /%s has %ld values, but its axes need %ld reals", in->f.path, NAME[k],
             (long)s->n, (long)n);
    double *x = g->set[k] = mem_new(sizeof *x * (size_t)n, "Grackle table");
    char *raw = mem_new((size_t)(n * h5_size(s->type)), "Grackle table");
    enum err err = h5_set_read(&in->f, s, NAME[k], 0, n, raw);
    if (err == OK) h5_widen(s->type, n, raw, x);
    FREE(raw);
    TRY(err);
    for (int64_t i = 0; i < n; i++)
        if (!isfinite(x[i]) || x[i] < (k == MMW ? 0.1 : 0))
            FAIL(ERR_FORMAT, "%s: /%s: value %ld is %g, which is out of range", in->f.path, NAME[k],
                 (long)i, x[i]);
    return OK;
}

static enum err read_set(struct input *in, struct grackle *g, enum set k)
{
    struct h5_set s;
    int64_t at = h5_find(&in->f, NAME[k]);
    TRY(in->f.err);
    if (!at && k != COOL && k != MMW) return OK;
    if (!at)
        FAIL(ERR_FORMAT, "%s: has no /%s: it is not a Grackle table for primordial_chemistry=0",
             in->f.path, NAME[k]);
    TRY(h5_table_open(&in->f, at, NAME[k], &s));
    enum err err = read_values(in, g, k, &s);
    h5_set_close(&s);
    return err;
}

static enum err read_open(struct input *in, struct grackle *g)
{
    in->first = h5_find(&in->f, NAME[COOL]);
    TRY(in->f.err);
    if (!in->first)
        FAIL(ERR_FORMAT, "%s: has no /%s: it is not a Grackle table for primordial_chemistry=0",
             in->f.path, NAME[COOL]);
    TRY(read_axes(in, g));
    for (enum set k = 0; k < SETS; k++) TRY(read_set(in, g, k));
    return OK;
}

enum err grackle_read(const char *path, struct grackle **out)
{
    struct input *in = mem_zero(sizeof *in, "Grackle table");
    struct grackle *g = mem_zero(sizeof *g, "Grackle table");
    enum err err = h5_open(&in->f, path);
    if (err == OK) {
        err = read_open(in, g);
        h5_close(&in->f);
    }
    mem_free(in);
    *out = err == OK ? g : NULL;
    if (err != OK) grackle_free(g);
    return err;
}

void grackle_free(struct grackle *g)
{
    if (!g) return;
    FREE(g->nH);
    FREE(g->z);
    FREE(g->T);
    for (int k = 0; k < SETS; k++) FREE(g->set[k]);
    mem_free(g);
}

/* ---- rates ---- */

void grackle_shape(const struct grackle *g, struct exact_shape *s)
{
    s->L = g->L;
    s->N = g->N;
    s->T = g->T;
    s->low[0] = g->nH[0], s->high[0] = g->nH[g->L - 1];
    s->low[2] = g->T[0], s->high[2] = g->T[g->N - 1];
    if (g->nz) s->nz = g->nz, s->z = g->z;
}

/* Compton cooling by the microwave background, per electron. */
static double compton(double T, double z)
{
    return COMPTON * pow(1 + z, 4) * (T - MICROWAVES * (1 + z));
}

enum err grackle_fill(const struct exact_shape *s, int k, double *rate, double *mu,
                      const void *grackle)
{
    const struct grackle *g = grackle;
    const double X = HYDROGEN, nuclei = X + (1 - X) / 4; /* X; number of nuclei per hydrogen mass */
    for (int i = 0; i < s->L; i++)
        for (int j = 0; j < s->M; j++)
            for (int t = 0; t < s->N; t++) {
                int from = g->nz ? (i * g->nz + k) * s->N + t : i * s->N + t;
                double v[SETS], nH = pow(10, exact_point(s, 0, i));
                for (int q = 0; q < SETS; q++) v[q] = g->set[q] ? g->set[q][from] : 0;
                double Z = pow(10, exact_point(s, 1, j)) * (COOL_SOLAR / GRACKLE_SOLAR);
                double e = fmax((1 / v[MMW] - nuclei) / X, 0), T = pow(10, s->T[t]);
                double net = v[HEAT] - v[COOL] + Z * (v[METAL_HEAT] - v[METAL_COOL]);
                size_t at = ((size_t)i * (size_t)s->M + (size_t)j) * (size_t)s->N + (size_t)t;
                rate[at] = net * (nH * nH) - compton(T, s->z[k]) * e * nH;
                mu[at] = v[MMW];
            }
    return OK;
}
