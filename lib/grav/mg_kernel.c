/* grav/mg_kernel: the multigrid cycle of mg_cycle.c on a device: half a sweep, the residual and its
 * restriction, prolongation, a launch each for levels of many octs; all of the cycle by one block
 * for those of few, where a launch takes longer than its work. A thread has one cell. */
#include "dev/kernel.h"
#include "grav/grav_kern.h"
#include "grav/kernels.h"
#include "grav/norm_kern.h"

/* ---- one cell ---- */

/* Σ over the neighbours of cell c of oct i, zero for those that are missing. */
PTAH_HD double sum_beside(const struct mg_dev_level *g, int64_t i, int c)
{
    double in[3], out[3];
    for (int d = 0; d < 3; d++) {
        lidx j = g->nbr[i][2 * d + (c >> d & 1)];
        in[d] = g->u[i][c ^ 1 << d];
        out[d] = j >= 0 ? g->u[j][c ^ 1 << d] : 0.0;
    }
    return kern_sum6(c, in, out);
}

PTAH_HD void relax(const struct mg_dev_level *g, bool red, bool safe, int64_t i, int k)
{
    int c = kern_cell(red, k);
    lidx e = g->edge ? g->edge[i] : -1;
    double s = sum_beside(g, i, c), rhs = g->rhs[i][c], *u = &g->u[i][c];
    if (e < 0)
        *u = kern_relax(s, rhs, g->dx2);
    else
        *u = kern_relax_edge(s, rhs, safe ? g->edges[e].safe[c] : g->edges[e].diag[c], g->dx2, *u);
}

PTAH_HD double residual(const struct mg_dev_level *g, int64_t i, int c)
{
    lidx e = g->edge ? g->edge[i] : -1;
    double s = sum_beside(g, i, c), rhs = g->rhs[i][c], u = g->u[i][c];
    return e < 0 ? kern_residual(s, rhs, u, g->inv_dx2)
                 : kern_residual_edge(s, rhs, u, g->edges[e].diag[c], g->inv_dx2);
}

/* Cell c of the k-th child of an oct. */
PTAH_HD void correct(const struct mg_dev_level *g, const struct mg_dev_level *fine, int64_t q,
                     int k, int c)
{
    const struct mg_cube *cube = &g->cube[q];
    lidx j = g->child[cube->oct][k], e = j >= 0 && fine->edge ? fine->edge[j] : -1;
    double v[8];
    if (j < 0 || (e >= 0 && !(fine->edges[e].diag[c] > 0))) return;
    for (int n = 0; n < 8; n++) {
        int oct = 0, cell = 0;
        for (int d = 0, stride = 1; d < 3; d++, stride *= 3) {
            /* in the 4³ cells around the oct, of which the outer ones are its neighbours' */
            int at = 1 + (k >> d & 1) + (n >> d & 1 ? (c >> d & 1 ? 1 : -1) : 0);
            oct += ((at + 1) >> 1) * stride;
            cell |= ((at + 1) & 1) << d;
        }
        v[n] = cube->nb[oct] >= 0 ? g->u[cube->nb[oct]][cell] : 0.0;
    }
    fine->u[j][c] += kern_prolong_cell(v);
}

/* ---- the residual of n octs from `first` on ---- */

DEV_FN void residual_octs(const struct mg_dev_level *g, double (*below_u)[8],
                          double (*below_rhs)[8], int64_t first, int n, union norm_row *row,
                          bool norm, struct dev_block *b)
{
    PHASE (t, 8 * n) {
        row[t >> 3].r[t & 7] = residual(g, first + (t >> 3), t & 7);
    }
    PHASE (o, n) {
        int32_t up = below_rhs ? g->up[first + o] : -1;
        if (up >= 0) {
            below_rhs[up >> 3][up & 7] = 0.125 * kern_sum8(row[o].r);
            below_u[up >> 3][up & 7] = 0;
        }
        if (norm) norm_term(&row[o], kern_dot8(row[o].r, row[o].r));
    }
}

/* ---- a launch each ---- */

struct mg_none {
    int unused;
};

KERNEL(mg_half, struct mg_half_args, struct mg_none, GRAV_THREADS)
{
    PHASE (t, GRAV_THREADS) {
        int64_t at = (int64_t)b->index * GRAV_THREADS + t;
        if (at < 4 * (int64_t)a->g.n) relax(&a->g, a->red, a->safe, at >> 2, (int)(at & 3));
    }
}

struct mg_down_shared {
    union norm_row row[GRAV_OCTS];
    int64_t norm[GRAV_NORM];
};

KERNEL(mg_down, struct mg_down_args, struct mg_down_shared, GRAV_THREADS)
{
    if (a->norm) norm_clear(s->norm, b);
    for (int64_t first = (int64_t)b->index * GRAV_OCTS; first < a->g.n;
         first += (int64_t)b->count * GRAV_OCTS) {
        int n = a->g.n - first < GRAV_OCTS ? (int)(a->g.n - first) : GRAV_OCTS;
        residual_octs(&a->g, a->below_u, a->below_rhs, first, n, s->row, a->norm != NULL, b);
        if (a->norm) norm_add(s->norm, s->row, n, b);
    }
    if (a->norm) norm_flush(a->norm, s->norm, b);
}

KERNEL(mg_up, struct mg_up_args, struct mg_none, GRAV_THREADS)
{
    PHASE (t, GRAV_THREADS) {
        int64_t at = (int64_t)b->index * GRAV_THREADS + t;
        if (at < 64 * (int64_t)a->g.ncube)
            correct(&a->g, &a->fine, at >> 6, (int)(at >> 3 & 7), (int)(at & 7));
    }
}

/* ---- one block ---- */

struct mg_low_shared {
    union norm_row row[MG_LOW_OCTS];
    int64_t norm[GRAV_NORM];
};

DEV_FN void low_sweeps(const struct mg_dev_level *g, bool safe, int n, struct dev_block *b)
{
    for (int half = 0; half < 2 * n; half++)
        PHASE (t, 4 * g->n) {
            relax(g, half % 2 == 0, safe, t >> 2, t & 3);
        }
}

DEV_FN void low_down(const struct mg_low_args *a, int k, int64_t *norm, struct mg_low_shared *s,
                     struct dev_block *b)
{
    const struct mg_dev_level *g = &a->lev[k];
    double(*below_u)[8] = k > 0 ? a->lev[k - 1].u : NULL,
    (*below_rhs)[8] = k > 0 ? a->lev[k - 1].rhs : NULL;
    if (norm) norm_clear(s->norm, b);
    residual_octs(g, below_u, below_rhs, 0, g->n, s->row, norm != NULL, b);
    if (norm) norm_add(s->norm, s->row, g->n, b);
    if (norm) norm_flush(norm, s->norm, b);
}

KERNEL(mg_low, struct mg_low_args, struct mg_low_shared, GRAV_THREADS)
{
    const int top = a->n - 1;
    for (int k = top; k > 0; k--) {
        low_sweeps(&a->lev[k], a->safe, MG_SWEEPS, b);
        low_down(a, k, k == top ? a->norm[0] : NULL, s, b);
    }
    low_sweeps(&a->lev[0], a->safe, MG_BOTTOM_SWEEPS, b);
    for (int k = 1; k <= top; k++) {
        const struct mg_dev_level *g = &a->lev[k - 1];
        PHASE (t, 64 * g->ncube) {
            correct(g, &a->lev[k], t >> 6, t >> 3 & 7, t & 7);
        }
        low_sweeps(&a->lev[k], a->safe, MG_SWEEPS, b);
    }
    if (a->norm[1]) low_down(a, top, a->norm[1], s, b);
}
