/* stencil/waves: see waves.h. */
#include "stencil/waves.h"

#include <math.h>

#include "base/mem.h"

static const char NAME[] = "waves of the force";

/* ---- lists ---- */

void waves_vector(const struct stencil *t, const int n[3], double k[3])
{
    for (int d = 0; d < 3; d++) k[d] = 2 * M_PI * n[d] / t->length[d];
}

static double kappa_of(const struct stencil *t, const int n[3])
{
    double k[3];
    waves_vector(t, n, k);
    return sqrt(k[0] * k[0] + k[1] * k[1] + k[2] * k[2]) * t->length[0] / (2 * M_PI);
}

/* Highest number of waves along axis d: those with |k| up to `highest`, of more than two cells. */
static int reach(const struct stencil *t, int d, double highest)
{
    double by_k = floor(highest * t->length[d] / t->length[0]),
           by_mesh = (double)((t->n[d] - 1) / 2);
    return (int)(by_k < by_mesh ? by_k : by_mesh);
}

static bool is_second(const int k[3])
{
    return k[0] > 0 || (k[0] == 0 && (k[1] > 0 || (k[1] == 0 && k[2] > 0)));
}

/* Finds columns and groups of the sorted waves. */
static void find_groups(struct waves *w)
{
    w->column = mem_new(sizeof(int) * (size_t)(w->n + 1), NAME);
    w->group = mem_new(sizeof(int) * (size_t)(w->n + 1), NAME);
    w->ncolumn = w->ngroup = 0;
    for (int i = 0; i < w->n; i++) {
        bool x = i == 0 || w->k[i][0] != w->k[i - 1][0];
        bool y = x || w->k[i][1] != w->k[i - 1][1];
        if (x) w->group[w->ngroup++] = w->ncolumn;
        if (y) w->column[w->ncolumn++] = i;
    }
    w->group[w->ngroup] = w->ncolumn;
    w->column[w->ncolumn] = w->n;
}

enum err waves_list(struct waves *w, const struct stencil *t, waves_weight *weight,
                    double parameter, double highest, bool half, const char *what)
{
    enum { MOST = 1 << 28 };
    int r[3], side[3], room = 0;
    *w = (struct waves){0};
    for (int d = 0; d < 3; d++) r[d] = reach(t, d, highest), side[d] = 2 * r[d] + 1;
    if ((double)side[0] * side[1] * side[2] > MOST)
        FAIL(ERR_PARAM, "%s: there are too many waves, up to %d x %d x %d", what, side[0], side[1],
             side[2]);
    for (int i = 0; i < side[0] * side[1] * side[2]; i++) {
        const int k[3] = {i / (side[1] * side[2]) - r[0], i / side[2] % side[1] - r[1],
                          i % side[2] - r[2]};
        bool none = k[0] == 0 && k[1] == 0 && k[2] == 0;
        if (none || (half && !is_second(k))) continue;
        if (!(weight(kappa_of(t, k), parameter) > 0)) continue;
        MEM_ROOM(w->k, w->n, room, 64, NAME);
        for (int d = 0; d < 3; d++) w->k[w->n][d] = k[d];
        w->n++;
    }
    if (w->n == 0)
        FAIL(ERR_PARAM, "%s: a mesh of %lld x %lld x %lld cells has no such wave", what,
             (long long)t->n[0], (long long)t->n[1], (long long)t->n[2]);
    w->kappa = mem_new(sizeof *w->kappa * (size_t)w->n, NAME);
    w->amp = mem_zero(sizeof *w->amp * (size_t)w->n, NAME);
    for (int i = 0; i < w->n; i++) w->kappa[i] = kappa_of(t, w->k[i]);
    find_groups(w);
    return OK;
}

void waves_one(struct waves *w)
{
    *w = (struct waves){.n = 1};
    w->k = mem_zero(sizeof *w->k, NAME);
    w->kappa = mem_zero(sizeof *w->kappa, NAME);
    w->amp = mem_zero(sizeof *w->amp, NAME);
    find_groups(w);
}

void waves_free(struct waves *w)
{
    FREE(w->k);
    FREE(w->kappa);
    FREE(w->amp);
    FREE(w->column);
    FREE(w->group);
    *w = (struct waves){0};
}

/* ---- sums ---- */

/* exp(ikx) along one axis: row k of the table is [own] cosines, then [own] sines. */
struct table {
    int reach, own;
    double *at; /* [2 reach + 1][2][own] */
};

static struct table table_new(const struct waves *w, const struct stencil *t, int d)
{
    const struct brick *b = &t->brick;
    struct table e = {.own = b->own[d]};
    for (int i = 0; i < w->n; i++) {
        int k = w->k[i][d] < 0 ? -w->k[i][d] : w->k[i][d];
        if (k > e.reach) e.reach = k;
    }
    e.at = mem_new(sizeof(double) * 2 * (size_t)e.own * (size_t)(2 * e.reach + 1), NAME);
    for (int k = -e.reach; k <= e.reach; k++) {
        double *c = e.at + 2 * (int64_t)e.own * (k + e.reach), *s = c + e.own;
        for (int i = 0; i < e.own; i++) {
            double phase = 2 * M_PI * (double)((b->first[d] + i) * k % t->n[d]) / (double)t->n[d];
            c[i] = cos(phase), s[i] = sin(phase);
        }
    }
    return e;
}

static const double *table_row(const struct table *e, int k)
{
    return e->at + 2 * (int64_t)e->own * (k + e->reach);
}

/* to += a exp(ikx) of cell i along the axis, three components */
static void add_product(const struct table *e, int k, int i, double (*a)[2], double (*to)[2])
{
    const double *row = table_row(e, k), c = row[i], s = row[e->own + i];
    for (int d = 0; d < 3; d++) {
        to[d][0] += a[d][0] * c - a[d][1] * s;
        to[d][1] += a[d][0] * s + a[d][1] * c;
    }
}

/* force[3][own] = Re Σ a exp(ikx) along a row; a: of the groups */
static void sum_row(const struct waves *w, const struct table *e, double (*a)[3][2], double *force)
{
    const int n = e->own;
    for (int i = 0; i < 3 * n; i++) force[i] = 0;
    for (int g = 0; g < w->ngroup; g++) {
        const double *c = table_row(e, w->k[w->column[w->group[g]]][0]), *s = c + n;
        for (int d = 0; d < 3; d++) {
            const double re = a[g][d][0], im = a[g][d][1];
            for (int x = 0; x < n; x++) force[d * n + x] += re * c[x] - im * s[x];
        }
    }
}

static void add_row(const struct stencil *t, int y, int z, double dt, double lowest,
                    const double *force, double *const u[3])
{
    const int n = t->brick.own[0];
    const int64_t at = stencil_at(&t->brick, 0, y, z);
    const double *lnrho = lowest > -HUGE_VAL ? t->a.now[FD_LNRHO] + at : NULL;
    for (int d = 0; d < 3; d++)
        for (int x = 0; x < n; x++)
            if (!lnrho || lnrho[x] >= lowest) u[d][at + x] += dt * force[d * n + x];
}

void waves_add(const struct waves *w, const struct stencil *t, double dt, double lowest,
               double *const u[3])
{
    const struct brick *b = &t->brick;
    if (b->own[0] == 0) return;
    struct table e[3];
    for (int d = 0; d < 3; d++) e[d] = table_new(w, t, d);
    const size_t amp = sizeof *w->amp;
#pragma omp parallel
    {
        double(*column)[3][2] = mem_new(amp * (size_t)w->ncolumn, NAME);
        double(*group)[3][2] = mem_new(amp * (size_t)w->ngroup, NAME);
        double *force = mem_new(sizeof(double) * 3 * (size_t)b->own[0], NAME);
#pragma omp for schedule(static)
        for (int z = 0; z < b->own[2]; z++) {
            memset(column, 0, amp * (size_t)w->ncolumn);
            for (int j = 0; j < w->ncolumn; j++)
                for (int i = w->column[j]; i < w->column[j + 1]; i++)
                    add_product(&e[2], w->k[i][2], z, w->amp[i], column[j]);
            for (int y = 0; y < b->own[1]; y++) {
                memset(group, 0, amp * (size_t)w->ngroup);
                for (int j = 0, g = 0; j < w->ncolumn; j++) {
                    g += j == w->group[g + 1];
                    add_product(&e[1], w->k[w->column[j]][1], y, column[j], group[g]);
                }
                sum_row(w, &e[0], group, force);
                add_row(t, y, z, dt, lowest, force, u);
            }
        }
        mem_free(column);
        mem_free(group);
        mem_free(force);
    }
    for (int d = 0; d < 3; d++) FREE(e[d].at);
}
