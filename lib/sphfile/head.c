/* sphfile/head: the header: its checks, and the parameters of smooth.h as numbers by name. */
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "sphfile/priv.h"

enum smooth_column sphfile_column(int i)
{
    int c = 0;
    for (; c < SMOOTH_COLUMNS; c++)
        if (smooth_row[c].keep == SMOOTH_STATE && i-- == 0) break;
    return (enum smooth_column)c;
}

enum err sphfile_check_head(const struct sphfile_head *h, const char *file)
{
    const struct onefile_head common = sphfile_common(h);
    if (h->n < 0 || h->n > INT64_MAX / 64)
        FAIL(ERR_FORMAT, "%s: /header: npart is %ld, expected 0 or more", file, (long)h->n);
    if (h->nsink < 0 || h->nsink > SPHFILE_SINKS)
        FAIL(ERR_FORMAT, "%s: has %ld sinks, expected 0 to %d", file, (long)h->nsink,
             SPHFILE_SINKS);
    if (h->nsink && (h->sink_width < 1 || h->sink_width > SPHFILE_SINK_COLUMNS))
        FAIL(ERR_FORMAT, "%s: /sinks has %d columns, expected 1 to %d", file, h->sink_width,
             SPHFILE_SINK_COLUMNS);
    return onefile_check_head(&common, file);
}

/* ---- parameters ---- */

enum kind { REAL, CHOICE, YES };

/* Limits belong to the value, both included. */
static const struct par_row {
    const char *key;
    enum kind kind;
    size_t at;
    double least, most;
} PAR[] = {
    {"kernel", CHOICE, offsetof(struct smooth_par, kernel), 0, SMOOTH_KERNELS - 1},
    {"eta", REAL, offsetof(struct smooth_par, eta), 1e-3, 1e3},
    {"mass", REAL, offsetof(struct smooth_par, mass), 1e-300, 1e300},
    {"h_tol", REAL, offsetof(struct smooth_par, h_tol), 1e-16, 1},
    {"eos", CHOICE, offsetof(struct smooth_par, eos), 0, SMOOTH_EOS - 1},
    {"gamma", REAL, offsetof(struct smooth_par, gamma), 1, 1e3},
    {"c0", REAL, offsetof(struct smooth_par, c0), 0, 1e300},
    {"r0", REAL, offsetof(struct smooth_par, r0), 0, 1e300},
    {"q", REAL, offsetof(struct smooth_par, q), -1e3, 1e3},
    {"centre_x", REAL, offsetof(struct smooth_par, centre[0]), -1e300, 1e300},
    {"centre_y", REAL, offsetof(struct smooth_par, centre[1]), -1e300, 1e300},
    {"centre_z", REAL, offsetof(struct smooth_par, centre[2]), -1e300, 1e300},
    {"alpha_switch", CHOICE, offsetof(struct smooth_par, alpha_switch), 0, SMOOTH_SWITCHES - 1},
    {"alpha_min", REAL, offsetof(struct smooth_par, alpha_min), 0, 1e3},
    {"alpha_max", REAL, offsetof(struct smooth_par, alpha_max), 0, 1e3},
    {"beta", REAL, offsetof(struct smooth_par, beta), 0, 1e3},
    {"alpha_u", REAL, offsetof(struct smooth_par, alpha_u), 0, 1e3},
    {"sigma", REAL, offsetof(struct smooth_par, sigma), 0, 1e3},
    {"gravity", YES, offsetof(struct smooth_par, gravity), 0, 1},
    {"shock_heating", YES, offsetof(struct smooth_par, shock_heating), 0, 1},
    {"pdv_heating", YES, offsetof(struct smooth_par, pdv_heating), 0, 1},
};
enum { PARS = sizeof PAR / sizeof *PAR };

static double par_value(const struct par_row *r, const struct smooth_par *p)
{
    const char *at = (const char *)p + r->at;
    double real;
    int choice;
    bool yes;
    if (r->kind == REAL) return memcpy(&real, at, sizeof real), real;
    if (r->kind == CHOICE) return memcpy(&choice, at, sizeof choice), choice;
    return memcpy(&yes, at, sizeof yes), yes;
}

static void par_put(const struct par_row *r, struct smooth_par *p, double value)
{
    char *at = (char *)p + r->at;
    const int choice = (int)value;
    const bool yes = value > 0;
    if (r->kind == REAL) memcpy(at, &value, sizeof value);
    if (r->kind == CHOICE) memcpy(at, &choice, sizeof choice);
    if (r->kind == YES) memcpy(at, &yes, sizeof yes);
}
_Static_assert(sizeof(enum smooth_kernel) == sizeof(int) &&
                   sizeof(enum smooth_eos) == sizeof(int) &&
                   sizeof(enum smooth_switch) == sizeof(int),
               "choices are ints");

void sphfile_set_par(struct sphfile_head *h, const struct smooth_par *p, const double lo[3],
                     const double side[3], bool periodic)
{
    for (int i = 0; i < PARS; i++) sphfile_set(h, PAR[i].key, par_value(&PAR[i], p));
    for (int d = 0; d < 3; d++) {
        const char low[] = {'l', 'o', '_', (char)('x' + d), 0},
                   length[] = {'s', 'i', 'd', 'e', '_', (char)('x' + d), 0};
        sphfile_set(h, low, lo[d]);
        sphfile_set(h, length, side[d]);
    }
    sphfile_set(h, "periodic", periodic);
}

struct smooth_par sphfile_usual(void)
{
    return (struct smooth_par){.kernel = SMOOTH_M4,
                               .eta = smooth_eta(SMOOTH_M4),
                               .h_tol = 1e-6,
                               .gamma = 5. / 3,
                               .alpha_switch = SMOOTH_CD10,
                               .alpha_max = 1,
                               .beta = 2,
                               .alpha_u = 1,
                               .sigma = 0.1,
                               .shock_heating = true,
                               .pdv_heating = true};
}

static enum err get(const struct sphfile_head *h, const char *path, const char *key,
                    const double limit[2], double *value)
{
    if (!sphfile_get(h, key, value)) FAIL(ERR_FORMAT, "%s: /header has no number %s", path, key);
    if (!(*value >= limit[0] && *value <= limit[1]))
        FAIL(ERR_FORMAT, "%s: /header: %s is %g, expected %g to %g", path, key, *value, limit[0],
             limit[1]);
    return OK;
}

enum err sphfile_get_par(const struct sphfile_head *h, const char *path, struct smooth_par *p,
                         double lo[3], double side[3], bool *periodic)
{
    const double any[2] = {-1e300, 1e300}, least = 1e-300;
    double value;
    *p = (struct smooth_par){0};
    for (int i = 0; i < PARS; i++) {
        TRY(get(h, path, PAR[i].key, (double[2]){PAR[i].least, PAR[i].most}, &value));
        if (PAR[i].kind != REAL && value != rint(value))
            FAIL(ERR_FORMAT, "%s: /header: %s is %g, expected a whole number", path, PAR[i].key,
                 value);
        par_put(&PAR[i], p, value);
    }
    TRY(get(h, path, "periodic", (double[2]){0, 1}, &value));
    *periodic = value > 0;
    for (int d = 0; d < 3; d++) {
        const char low[] = {'l', 'o', '_', (char)('x' + d), 0},
                   length[] = {'s', 'i', 'd', 'e', '_', (char)('x' + d), 0};
        TRY(get(h, path, low, any, &lo[d]));
        TRY(get(h, path, length, (double[2]){*periodic ? least : 0, any[1]}, &side[d]));
    }
    return OK;
}
