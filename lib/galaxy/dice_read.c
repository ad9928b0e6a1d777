/* galaxy/dice_read: particles of files of galaxies. */
#include <math.h>
#include <stdio.h>

#include "base/cgs.h"
#include "base/log.h"
#include "base/mem.h"
#include "galaxy/dice.h"

enum { BATCH = 1 << 14 };
/* Without births stars are as old as the universe was thought to be: 13.8e9 years, in s. */
static const double OLD = 13.8e9 * RAMSES_YEAR_GALAXY;
static const double SOLAR = 0.02;

/* A file that is read, and where its particles go. */
struct reading {
    struct dice *d;
    struct snap snap;
    struct parts *to;
    bool gas; /* particles of gas and marks, or those of the run */
    int type;
    bool has[SNAP_COLUMNS]; /* columns of the type */
    int64_t outside;        /* particles outside of the box */
};

/* Rows of this rank of a type. */
static void share(const struct reading *r, const struct comm *c, int64_t *first, int64_t *n)
{
    const __int128 all = r->snap.head.total[r->type];
    *first = (int64_t)(all * c->rank / c->size);
    *n = (int64_t)(all * (c->rank + 1) / c->size) - *first;
}

/* Number of a row among all particles of its file, from 1: the id in files without ids. */
static int64_t number_of(const struct reading *r, int64_t row)
{
    int64_t n = row + 1;
    for (int t = 0; t < r->type; t++) n += r->snap.head.total[t];
    return n;
}

static enum err find_columns(struct reading *r)
{
    for (int c = 0; c < SNAP_COLUMNS; c++) {
        r->has[c] = false;
        if (r->d->layout.label[c])
            TRY(snap_has(&r->snap, r->type, (enum snap_column)c, &r->has[c]));
    }
    return OK;
}

/* A column of a batch, or `value` where the file has none. */
static enum err column(struct reading *r, enum snap_column c, int64_t first, int64_t n,
                       double value, double *out)
{
    if (r->has[c]) return snap_read(&r->snap, r->type, c, first, n, out);
    for (int64_t i = 0; i < n * snap_width(c); i++) out[i] = value;
    return OK;
}

/* ---- what particles have beside position, velocity and mass ---- */

static enum err read_ids(struct reading *r, int64_t first, int64_t n)
{
    struct parts *p = r->to;
    if (r->has[SNAP_ID]) return snap_read(&r->snap, r->type, SNAP_ID, first, n, p->id + p->n);
    for (int64_t i = 0; i < n; i++) p->id[p->n + i] = number_of(r, first + i);
    return OK;
}

static enum err read_metals(struct reading *r, int64_t first, int64_t n, double *z)
{
    const struct params *par = r->d->par;
    TRY(column(r, SNAP_METAL, first, n, SOLAR * par->physics.z_ave, z));
    for (int64_t i = 0; i < n && r->has[SNAP_METAL]; i++) z[i] *= par->dice.ic_scale_metal;
    return OK;
}

static enum err read_gas_columns(struct reading *r, int64_t first, int64_t n)
{
    struct dice *d = r->d;
    struct parts *p = r->to;
    double *u = (double *)p->col[d->u] + p->n, *is_gas = (double *)p->col[d->is_gas] + p->n,
           *is_mark = (double *)p->col[d->is_mark] + p->n;
    TRY(column(r, SNAP_ENERGY, first, n, 0, u));
    TRY(read_metals(r, first, n, (double *)p->col[d->z] + p->n));
    for (int64_t i = 0; i < n; i++) {
        u[i] *= d->energy;
        is_gas[i] = r->type == 0;
        is_mark[i] = r->type == d->par->dice.ic_mask_ptype;
    }
    return OK;
}

/* Types above 1 are stars in runs that form stars, otherwise of no known family, as in RAMSES. */
static enum err read_star_columns(struct reading *r, int64_t first, int64_t n)
{
    const struct dice *d = r->d;
    struct parts *p = r->to;
    const bool star = r->type > 1 && param_stars(d->par);
    if (p->metal && r->type > 1) TRY(read_metals(r, first, n, p->metal + p->n));
    if (p->birth && star) {
        double *t = p->birth + p->n;
        TRY(column(r, SNAP_BIRTH, first, n, 0, t));
        for (int64_t i = 0; i < n; i++)
            t[i] = r->has[SNAP_BIRTH] ? t[i] * d->time : -OLD / d->units.time;
    }
    for (int64_t i = 0; i < n && r->type > 1; i++)
        p->family[p->n + i] = star ? FAM_STAR : FAM_UNDEFINED;
    return OK;
}

/* ---- batches ---- */

/* Moves row `from` to row `to`, with the columns that this file sets. */
static void keep_row(const struct reading *r, int64_t from, int64_t to)
{
    const struct dice *d = r->d;
    const int gas[] = {d->u, d->z, d->is_gas, d->is_mark}, star[] = {COL_BIRTH, COL_METAL};
    struct parts *p = r->to;
    if (from == to) return;
    for (int k = 0; k < 3; k++) p->x[k][to] = p->x[k][from], p->v[k][to] = p->v[k][from];
    p->m[to] = p->m[from];
    p->id[to] = p->id[from];
    for (int k = 0; k < (r->gas ? 4 : 2); k++) {
        double *column = p->col[r->gas ? gas[k] : star[k]];
        if (column) column[to] = column[from];
    }
}

static enum err check_mass(const struct reading *r, int64_t row, double m)
{
    if (m >= 0) return OK;
    FAIL(ERR_FORMAT, "%s: particle %ld of type %d (counted from 0) has the mass %g", r->snap.path,
         (long)row, r->type, m);
}

/* Converts the n rows behind the last particle, and keeps those in the box. */
static enum err convert(struct reading *r, const struct mesh *m, int64_t first, int64_t n)
{
    const struct dice *d = r->d;
    struct parts *p = r->to;
    const int64_t at = p->n;
    for (int64_t i = at; i < at + n; i++) {
        bool in = true;
        TRY(check_mass(r, first + i - at, p->m[i]));
        for (int k = 0; k < 3; k++) {
            const double x = p->x[k][i] * d->length, center = d->par->dice.ic_center[k];
            in &= fabs(x - center) < m->boxlen / 2;
            p->x[k][i] = x + m->boxlen / 2 - center;
            p->v[k][i] *= d->speed;
        }
        p->m[i] *= d->mass;
        if (in) keep_row(r, i, p->n++);
        r->outside += !in;
    }
    return OK;
}

static enum err read_batch(struct reading *r, const struct mesh *m, int64_t first, int64_t n)
{
    struct parts *p = r->to;
    double *q = mem_new(sizeof *q * 3 * BATCH, "snapshot batch");
    enum err err = OK;
    TRY_OUT(snap_read(&r->snap, r->type, SNAP_POSITION, first, n, q));
    for (int64_t i = 0; i < 3 * n; i++) p->x[i % 3][p->n + i / 3] = q[i];
    TRY_OUT(snap_read(&r->snap, r->type, SNAP_VELOCITY, first, n, q));
    for (int64_t i = 0; i < 3 * n; i++) p->v[i % 3][p->n + i / 3] = q[i];
    TRY_OUT(snap_read(&r->snap, r->type, SNAP_MASS, first, n, p->m + p->n));
    TRY_OUT(read_ids(r, first, n));
    TRY_OUT(r->gas ? read_gas_columns(r, first, n) : read_star_columns(r, first, n));
    TRY_OUT(convert(r, m, first, n));
out:
    mem_free(q);
    return err;
}

static enum err read_type(struct reading *r, const struct mesh *m, const struct comm *c)
{
    int64_t first, n;
    share(r, c, &first, &n);
    TRY(find_columns(r));
    part_append_dm(r->to, n, m->levelmin);
    for (int64_t i = 0; i < n; i += BATCH)
        TRY(read_batch(r, m, first + i, n - i < BATCH ? n - i : BATCH));
    return OK;
}

/* Whether this reading takes the particles of a type. */
static bool takes(const struct reading *r, int type)
{
    const struct dice *d = r->d;
    if (dice_skips(d, type)) return false;
    return r->gas ? type == 0 || type == d->par->dice.ic_mask_ptype : type > 0;
}

static enum err read_file(struct reading *r, int k, const struct mesh *m, const struct comm *c)
{
    char path[600];
    dice_path(r->d, k, path);
    enum err err = snap_open_galaxies(path, &r->d->layout, &r->snap);
    for (r->type = 0; r->type < DICE_TYPES && err == OK; r->type++)
        if (takes(r, r->type)) err = read_type(r, m, c);
    snap_close(&r->snap);
    return err;
}

static enum err read_files(struct reading *r, const struct mesh *m, const struct comm *c)
{
    for (int k = 0; k < r->d->par->dice.ic_nfile; k++) TRY(read_file(r, k, m, c));
    return OK;
}

static void log_outside(const struct reading *r, const struct comm *c, const char *what)
{
    int64_t n = r->outside;
    comm_add_i64(c, &n, 1);
    if (n) log_info(" %ld %s are outside of the box: they are left out", (long)n, what);
}

enum err dice_read_gas(struct dice *d, const struct mesh *m, const struct comm *c)
{
    struct reading r = {.d = d, .to = &d->gas, .gas = true};
    d->u = part_add(&d->gas, "dice_u", 'd');
    d->z = part_add(&d->gas, "dice_z", 'd');
    d->is_gas = part_add(&d->gas, "dice_gas", 'd');
    d->is_mark = part_add(&d->gas, "dice_mark", 'd');
    TRY(err_agree(c, read_files(&r, m, c)));
    log_outside(&r, c, "particles of gas");
    return OK;
}

enum err dice_particles(struct dice *d, const struct mesh *m, const struct comm *c, struct parts *p)
{
    struct reading r = {.d = d, .to = p};
    TRY(err_agree(c, read_files(&r, m, c)));
    log_outside(&r, c, "particles of dark matter and stars");
    return OK;
}
