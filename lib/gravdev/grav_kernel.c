/* gravdev/grav_kernel: kernels of gravity. A thread has one cell or one oct.
 *
 * Multigrid cycle of mg_cycle.c: half sweeps, residual and restriction, prolongation, one launch
 * each for levels of many octs; a whole cycle in one block for levels of few octs, where a launch
 * takes longer than its work. Around the cycle (grav.c, force.c on hosts): first guess, values
 * beyond the faces of a refined level, right-hand side, force. Also the gas deposit (deposit.c),
 * the resulting density and refinement criterion, and sums over a level. */
#define VEC_ONE /* must precede vec/vec.h */
#include "dev/kernel.h"
#include "dev/sums.h"
#include "grav/deposit_kern.h"
#include "grav/grav_kern.h"
#include "gravdev/kernels.h"

/* ---- multigrid: one cell ---- */

/* Sum over the neighbours of cell c of oct i; missing neighbours count as zero. */
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
    lidx e = g->boundary ? g->boundary[i] : -1;
    double s = sum_beside(g, i, c), rhs = g->rhs[i][c], *u = &g->u[i][c];
    if (e < 0)
        *u = kern_relax(s, rhs, g->dx2);
    else
        *u = kern_relax_boundary(s, rhs, safe ? g->boundaries[e].safe[c] : g->boundaries[e].diag[c],
                                 g->dx2, *u);
}

PTAH_HD double residual(const struct mg_dev_level *g, int64_t i, int c)
{
    lidx e = g->boundary ? g->boundary[i] : -1;
    double s = sum_beside(g, i, c), rhs = g->rhs[i][c], u = g->u[i][c];
    return e < 0 ? kern_residual(s, rhs, u, g->inv_dx2)
                 : kern_residual_boundary(s, rhs, u, g->boundaries[e].diag[c], g->inv_dx2);
}

/* Corrects cell c of the k-th child of an oct. */
PTAH_HD void correct(const struct mg_dev_level *g, const struct mg_dev_level *fine, int64_t q,
                     int k, int c)
{
    const struct mg_cube *cube = &g->cube[q];
    lidx j = g->child[cube->oct][k], e = j >= 0 && fine->boundary ? fine->boundary[j] : -1;
    double v[8];
    if (k >> g->ndim || j < 0 || (e >= 0 && !(fine->boundaries[e].diag[c] > 0))) return;
    for (int n = 0; n < 8; n++) {
        int oct = 0, cell = 0;
        for (int d = 0, stride = 1; d < 3; d++, stride *= 3) {
            /* Position in the 4³ cells around the oct; the outer cells belong to its neighbours.
             * Along a missing axis all values are the one of the lower cell. */
            int side = d < g->ndim && n >> d & 1 ? (c >> d & 1 ? 1 : -1) : 0,
                at = 1 + (k >> d & 1) + side;
            oct += ((at + 1) >> 1) * stride;
            cell |= ((at + 1) & 1) << d;
        }
        v[n] = cube->nb[oct] >= 0 ? g->u[cube->nb[oct]][cell] : 0.0;
    }
    fine->u[j][c] += kern_prolong_cell(v);
}

/* ---- multigrid: the residual of n octs from `first` on ---- */

/* Shared memory of a block for its norm. */
struct norm_shared {
    struct dev_sum sum;
    struct dev_sum_parts part;
};

/* Residuals of n octs. row, term: workspace for n octs; norm NULL: not computed. */
DEV_FN void residual_octs(const struct mg_dev_level *g, double (*below_u)[8],
                          double (*below_rhs)[8], double *mean, int64_t first, int n,
                          double (*row)[8], struct dev_term *term, struct norm_shared *norm,
                          struct dev_block *b)
{
    PHASE (t, 8 * n) {
        row[t >> 3][t & 7] = residual(g, first + (t >> 3), t & 7);
    }
    PHASE (o, n) {
        int32_t up = below_rhs ? g->up[first + o] : -1;
        const double all = 0.125 * (8 >> g->ndim) * kern_sum8(row[o]);
        if (up >= 0) {
            below_rhs[up >> 3][up & 7] = all;
            below_u[up >> 3][up & 7] = 0;
        }
        if (mean) mean[first + o] = all;
        if (norm) dev_term_of(&norm->sum, &term[o], kern_dot8(row[o], row[o]));
    }
    if (norm) dev_sum_add(&norm->sum, &norm->part, term, n, b);
}

/* ---- multigrid: one launch per step ---- */

KERNEL(mg_half, struct mg_half_args, struct dev_nothing, DEV_THREADS)
{
    PHASE (t, DEV_THREADS) {
        int64_t at = (int64_t)b->index * DEV_THREADS + t;
        int64_t i = at >> 2, n = a->g.n;
        if (i >= n + (a->red ? a->g.nhalo : 0)) continue;
        relax(&a->g, a->red, a->safe, i < n ? i : a->g.halo[i - n], (int)(at & 3));
    }
}

struct mg_down_shared {
    double row[GRAV_OCTS][8];
    struct dev_term term[GRAV_OCTS];
    struct norm_shared norm;
};

KERNEL(mg_down, struct mg_down_args, struct mg_down_shared, DEV_THREADS)
{
    if (a->norm) dev_sum_clear(&s->norm.sum, b);
    for (int64_t first = (int64_t)b->index * GRAV_OCTS; first < a->g.n;
         first += (int64_t)b->count * GRAV_OCTS) {
        int n = a->g.n - first < GRAV_OCTS ? (int)(a->g.n - first) : GRAV_OCTS;
        residual_octs(&a->g, a->below_u, a->below_rhs, a->mean, first, n, s->row, s->term,
                      a->norm ? &s->norm : NULL, b);
    }
    if (a->norm) dev_sum_flush(a->norm, &s->norm.sum, b);
}

KERNEL(mg_restrict, struct mg_restrict_args, struct dev_nothing, DEV_THREADS)
{
    PHASE (t, DEV_THREADS) {
        int64_t at = (int64_t)b->index * DEV_THREADS + t, row = at >> 3, n = a->g.n;
        int k = (int)(at & 7);
        if (row >= n + a->g.nhalo) continue;
        lidx i = row < n ? (lidx)row : a->g.halo[row - n],
             e = a->g.boundary ? a->g.boundary[i] : -1, j = a->g.child[i][k];
        bool inside = j >= 0 && (e < 0 || a->g.boundaries[e].diag[k] > 0);
        a->g.rhs[i][k] = inside ? a->mean[j] : 0.0;
    }
}

KERNEL(mg_up, struct mg_up_args, struct dev_nothing, DEV_THREADS)
{
    PHASE (t, DEV_THREADS) {
        int64_t at = (int64_t)b->index * DEV_THREADS + t;
        if (at < 64 * (int64_t)a->g.ncube)
            correct(&a->g, &a->fine, at >> 6, (int)(at >> 3 & 7), (int)(at & 7));
    }
}

/* ---- multigrid: one block ---- */

enum { LOW_ROWS = MG_LOW_THREADS / 8 };

/* Arrays of all levels, from the bottom, that sweeps read repeatedly. */
struct mg_low_shared {
    double u[MG_LOW_OCTS][8], rhs[MG_LOW_OCTS][8];
    lidx nbr[MG_LOW_OCTS][6];
    double row[LOW_ROWS][8];
    struct dev_term term[LOW_ROWS];
    struct norm_shared norm;
};

/* View of a level with its u and rhs in shared memory. */
DEV_FN struct mg_dev_level low_level(const struct mg_low_args *a, int k, struct mg_low_shared *s)
{
    struct mg_dev_level g = a->lev[k];
    g.u = s->u + a->first[k];
    g.rhs = s->rhs + a->first[k];
    g.nbr = (const lidx(*)[6])s->nbr + a->first[k];
    return g;
}

/* Copies levels to shared memory. Levels coarser than the top begin with u = 0, see mg_dev.c. */
DEV_FN void low_begin(const struct mg_low_args *a, struct mg_low_shared *s, struct dev_block *b)
{
    PHASE (t, MG_LOW_THREADS) {
        for (int k = 0; k < a->n; k++) {
            const struct mg_dev_level *g = &a->lev[k];
            const bool top = k == a->n - 1;
            const lidx first = a->first[k];
            for (int i = t; i < 8 * g->n; i += MG_LOW_THREADS) {
                s->u[first + (i >> 3)][i & 7] = top ? g->u[i >> 3][i & 7] : 0;
                s->rhs[first + (i >> 3)][i & 7] = top ? g->rhs[i >> 3][i & 7] : 0;
            }
            for (int i = t; i < 6 * g->n; i += MG_LOW_THREADS)
                s->nbr[first + i / 6][i % 6] = g->nbr[i / 6][i % 6];
        }
    }
}

DEV_FN void low_sweeps(const struct mg_dev_level *g, bool safe, int n, struct dev_block *b)
{
    for (int half = 0; half < 2 * n; half++)
        PHASE (t, 4 * g->n) {
            relax(g, half % 2 == 0, safe, t >> 2, t & 3);
        }
}

/* Residuals of level k, restricted to the next coarser level. */
DEV_FN void low_down(const struct mg_low_args *a, int k, int64_t *norm, struct mg_low_shared *s,
                     struct dev_block *b)
{
    const struct mg_dev_level g = low_level(a, k, s), below = low_level(a, k > 0 ? k - 1 : 0, s);
    if (norm) dev_sum_clear(&s->norm.sum, b);
    for (int first = 0; first < g.n; first += LOW_ROWS) {
        const int n = g.n - first < LOW_ROWS ? g.n - first : LOW_ROWS;
        residual_octs(&g, k > 0 ? below.u : NULL, k > 0 ? below.rhs : NULL, NULL, first, n, s->row,
                      s->term, norm ? &s->norm : NULL, b);
    }
    if (norm) dev_sum_flush(norm, &s->norm.sum, b);
}

/* Corrects level k from the next coarser level. */
DEV_FN void low_up(const struct mg_low_args *a, int k, struct mg_low_shared *s, struct dev_block *b)
{
    const struct mg_dev_level g = low_level(a, k - 1, s), fine = low_level(a, k, s);
    PHASE (t, 64 * g.ncube) {
        correct(&g, &fine, t >> 6, t >> 3 & 7, t & 7);
    }
    low_sweeps(&fine, a->safe, MG_SWEEPS, b);
}

/* A cycle of levels 0 … a->n - 1. */
DEV_FN void low_cycle(const struct mg_low_args *a, struct mg_low_shared *s, struct dev_block *b)
{
    const int top = a->n - 1;
    low_begin(a, s, b);
    for (int k = top; k >= 0; k--) {
        const struct mg_dev_level g = low_level(a, k, s);
        low_sweeps(&g, a->safe, k > 0 ? MG_SWEEPS : MG_BOTTOM_SWEEPS, b);
        if (k > 0) low_down(a, k, k == top ? a->norm[0] : NULL, s, b);
    }
    for (int k = 1; k <= top; k++) low_up(a, k, s, b);
    if (a->norm[1]) low_down(a, top, a->norm[1], s, b);
    PHASE (t, 8 * a->lev[top].n) {
        a->lev[top].u[t >> 3][t & 7] = s->u[a->first[top] + (t >> 3)][t & 7];
    }
}

KERNEL(mg_low, struct mg_low_args, struct mg_low_shared, MG_LOW_THREADS)
{
    low_cycle(a, s, b);
}

/* ---- multigrid: cycles in one launch ---- */

enum { MG_HALVES = 2 * MG_SWEEPS, MG_STAGES = MG_HALVES + 1 /* of a level, down or up */ };

DEV_FN void stage_half(const struct mg_dev_level *g, bool red, bool safe, struct dev_block *b)
{
    PHASE (t, MG_LOW_THREADS) {
        for (int64_t i = (int64_t)b->index * MG_LOW_THREADS + t; i < 4 * (int64_t)g->n;
             i += (int64_t)b->count * MG_LOW_THREADS)
            relax(g, red, safe, i >> 2, (int)(i & 3));
    }
}

DEV_FN void stage_down(const struct mg_dev_level *g, const struct mg_dev_level *below,
                       int64_t *norm, struct mg_low_shared *s, struct dev_block *b)
{
    if (norm) dev_sum_clear(&s->norm.sum, b);
    for (int64_t first = (int64_t)b->index * LOW_ROWS; first < g->n;
         first += (int64_t)b->count * LOW_ROWS) {
        const int n = g->n - first < LOW_ROWS ? (int)(g->n - first) : LOW_ROWS;
        residual_octs(g, below ? below->u : NULL, below ? below->rhs : NULL, NULL, first, n, s->row,
                      s->term, norm ? &s->norm : NULL, b);
    }
    if (norm) dev_sum_flush(norm, &s->norm.sum, b);
}

DEV_FN void stage_up(const struct mg_dev_level *g, const struct mg_dev_level *fine,
                     struct dev_block *b)
{
    PHASE (t, MG_LOW_THREADS) {
        for (int64_t i = (int64_t)b->index * MG_LOW_THREADS + t; i < 64 * (int64_t)g->ncube;
             i += (int64_t)b->count * MG_LOW_THREADS)
            correct(g, fine, i >> 6, (int)(i >> 3 & 7), (int)(i & 7));
    }
}

KERNEL_STAGES(mg_cycles, struct mg_cycles_args, struct mg_low_shared, MG_LOW_THREADS)
{
    const struct mg_dev_level *lev = a->low.lev;
    const int top = a->levels - 1, m = a->levels - a->low.n, per = mg_stages(m);
    const int cycle = stage / per, i = stage % per, up = i - MG_STAGES * m - 1;
    int64_t *after = a->after + (int64_t)cycle * GRAV_NORM;
    if (up < -1) {
        const int k = top - i / MG_STAGES, step = i % MG_STAGES;
        if (step < MG_HALVES)
            stage_half(&lev[k], step % 2 == 0, a->low.safe, b);
        else
            stage_down(&lev[k], &lev[k - 1], k == top && cycle == 0 ? a->before : NULL, s, b);
    } else if (up == -1) {
        if (b->index == 0) low_cycle(&a->low, s, b);
    } else if (up < MG_STAGES * m) {
        const int k = a->low.n + up / MG_STAGES, step = up % MG_STAGES;
        if (step == 0)
            stage_up(&lev[k - 1], &lev[k], b);
        else
            stage_half(&lev[k], step % 2 == 1, a->low.safe, b);
    } else {
        stage_down(&lev[top], NULL, after, s, b);
    }
}

/* ---- before and after multigrid ---- */

struct phi_near {
    lidx oct[GRAV_OCTS][8]; /* interpol_beside of each oct of the block */
};

KERNEL(phi_guess, struct phi_guess_args, struct phi_near, DEV_THREADS)
{
    const struct level *lv = &a->mesh->lev[a->l];
    const int64_t first = (int64_t)b->index * GRAV_OCTS;
    PHASE (t, DEV_THREADS) {
        int64_t i = first + (t >> 3);
        int x[3], dir[3];
        if (i >= lv->nown || a->far_only) continue;
        interpol_position(lv, (lidx)i, -1, x, dir);
        s->oct[t >> 3][t & 7] = interpol_beside(a->mesh, a->l - 1, lv->parent[i], dir, t & 7);
    }
    PHASE (t, DEV_THREADS) {
        int64_t i = first + (t >> 3), q[3];
        int x[3], dir[3], c = t & 7;
        if (i >= lv->nown) continue;
        interpol_position(lv, (lidx)i, -1, x, dir);
        okey_coords(lv->key[i], q);
        double *phi = &lv->fld[FLD_PHI][i][c];
        if (c >> a->mesh->ndim)
            *phi = 0;
        else if (a->far_only)
            *phi = far_cell(a->mesh, a->l, q, c, a->far, mesh_dx(a->mesh, a->l));
        else
            *phi = interpol_value(a->mesh, a->l - 1, s->oct[t >> 3], x, c, a->tfrac, a->far);
    }
}

KERNEL(phi_beyond, struct phi_beyond_args, struct phi_near, DEV_THREADS)
{
    const struct level *lv = &a->mesh->lev[a->l];
    const int64_t first = (int64_t)b->index * GRAV_OCTS;
    PHASE (t, DEV_THREADS) {
        int64_t k = first + (t >> 3);
        int x[3], dir[3];
        if (k >= a->n) continue;
        lidx i = a->missing[2 * k];
        int f = a->missing[2 * k + 1];
        if (lv->nbr[i][f] == NBR_BOUNDARY) continue;
        interpol_position(lv, i, f, x, dir);
        s->oct[t >> 3][t & 7] = interpol_beside(a->mesh, a->l - 1, lv->parent[i], dir, t & 7);
    }
    PHASE (t, DEV_THREADS) {
        int64_t k = first + (t >> 3), q[3];
        int x[3], dir[3], c = t & 7;
        if (k >= a->n) continue;
        lidx i = a->missing[2 * k];
        int f = a->missing[2 * k + 1];
        interpol_position(lv, i, f, x, dir);
        okey_coords(lv->key[i], q);
        for (int d = 0; d < 3; d++) q[d] += f >> 1 == d ? (f & 1 ? 1 : -1) : 0;
        a->row[k][c] = lv->nbr[i][f] == NBR_BOUNDARY
                           ? far_cell(a->mesh, a->l, q, c, a->far, 0)
                           : interpol_value(a->mesh, a->l - 1, s->oct[t >> 3], x, c, a->tfrac,
                                            a->far);
    }
}

/* The values beyond face f of oct i: its neighbour's row, or the interpolated row. */
PTAH_HD const double *row_beside(const lidx nbr[6], int f, const double (*fld)[8], int32_t first,
                                 const double (*row)[8])
{
    if (nbr[f] >= 0) return fld[nbr[f]];
    for (int k = 0; k < f; k++) first += nbr[k] < 0;
    return row[first];
}

KERNEL(phi_source, struct phi_source_args, struct dev_nothing, DEV_THREADS)
{
    const struct level *lv = &a->mesh->lev[a->l];
    PHASE (t, DEV_THREADS) {
        int64_t at = (int64_t)b->index * DEV_THREADS + t, i = at >> 3;
        int c = (int)(at & 7);
        double n = (double)((int64_t)1 << a->l);
        if (i >= lv->nown) continue;
        double rhs = kern_source(lv->fld[FLD_RHO][i][c], a->rho_tot, a->fourpi);
        int32_t first = a->first ? a->first[i] : -1;
        for (int d = 0; d < a->mesh->ndim && first >= 0; d++) {
            int f = 2 * d + (c >> d & 1);
            if (lv->nbr[i][f] >= 0) continue;
            const double *beyond = row_beside(lv->nbr[i], f, NULL, first, a->row);
            rhs -= kern_frozen(beyond[c ^ 1 << d], lv->fld[FLD_PHI][i][c], n * n);
        }
        a->rhs[i][c] = c >> a->mesh->ndim ? 0 : rhs;
    }
}

KERNEL(phi_repeat, struct phi_repeat_args, struct dev_nothing, DEV_THREADS)
{
    const struct level *lv = &a->mesh->lev[a->l];
    PHASE (t, DEV_THREADS) {
        int64_t i = (int64_t)b->index * DEV_THREADS + t;
        if (i < lv->noct) oct_repeat(a->mesh->cells, lv->fld[FLD_PHI][i]);
    }
}

KERNEL(phi_force, struct phi_force_args, struct dev_nothing, DEV_THREADS)
{
    const struct level *lv = &a->mesh->lev[a->l];
    const double(*phi)[8] = (const double(*)[8])lv->fld[FLD_PHI];
    PHASE (t, DEV_THREADS) {
        int64_t at = (int64_t)b->index * DEV_THREADS + t, i = at >> 3;
        int c = (int)(at & 7);
        double dx = 1.0 / (double)((int64_t)1 << a->l);
        if (i >= lv->nown) continue;
        int32_t first = a->first ? a->first[i] : -1;
        for (int d = a->mesh->ndim; d < 3; d++) lv->fld[FLD_FX + d][i][c] = 0;
        for (int d = 0; d < a->mesh->ndim; d++) {
            const double *lo = row_beside(lv->nbr[i], 2 * d, phi, first, a->row),
                         *hi = row_beside(lv->nbr[i], 2 * d + 1, phi, first, a->row);
            lv->fld[FLD_FX + d][i][c] = force_cell(phi[i], lo, hi, d, c, dx);
        }
    }
}

/* ---- deposit and sums ---- */

KERNEL(gas_moments, struct gas_moments_args, struct dev_nothing, DEV_THREADS)
{
    PHASE (t, DEV_THREADS) {
        int64_t i = (int64_t)b->index * DEV_THREADS + t;
        if (i < a->n) deposit_com(a->mesh, a->l, (lidx)i, a->fine, a->com[i]);
    }
}

/* The cloud of cell k of oct i lies in this oct and its neighbours on the side of the cell. */
DEV_FN void spread(const struct gas_deposit_args *a, lidx i, const double com[3], double mass)
{
    const struct level *lv = &a->mesh->lev[a->l];
    int64_t pos0[3];
    int low[3] = {0}, dir[3] = {0};
    double frac[3] = {0}, x0[3], dx = mesh_dx(a->mesh, a->l);
    okey_coords(lv->key[i], pos0);
    for (int d = 0; d < 3; d++) pos0[d] *= 2;
    cell_centre(a->mesh, a->l, pos0, x0);
    for (int d = 0; d < 3; d++) { /* bounds are constants, so that arrays stay in registers */
        if (d < a->mesh->ndim) frac[d] = deposit_cloud(com[d], x0[d], dx, &low[d]);
        dir[d] = low[d] < 0 ? -1 : 1;
    }
    for (int v = 0; v < 8; v++) {
        int other = 0, cell = 0;
        if (v >> a->mesh->ndim) continue;
        for (int d = 0; d < 3; d++) {
            int pos = low[d] + (v >> d & 1) + 2; /* position 0..5 in the three octs along an axis */
            other |= (pos >> 1 != 1) << d;
            cell |= (pos & 1) << d;
        }
        lidx j = interpol_beside(a->mesh, a->l, i, dir, other);
        if (j >= 0) dev_add_i64(&a->mass[j][cell], llrint(mass * deposit_share(frac, v)));
    }
}

KERNEL(gas_deposit, struct gas_deposit_args, struct dev_nothing, DEV_THREADS)
{
    const struct level *lv = &a->mesh->lev[a->l];
    PHASE (t, DEV_THREADS) {
        int64_t at = (int64_t)b->index * DEV_THREADS + t, i = at >> 3;
        int k = (int)(at & 7);
        if (i >= lv->nown) continue;
        double mass = deposit_quanta(level_gas(lv, GAS_DENSITY)[i][k], a->smallr, a->unit);
        lidx child = a->com ? lv->child[i][k] : -1;
        if (child < 0)
            dev_add_i64(&a->mass[i][k], llrint(mass));
        else if (k < a->mesh->cells)
            spread(a, (lidx)i, a->com[child], mass);
    }
}

struct density_shared {
    unsigned char dense[DEV_THREADS];
};

KERNEL(gas_density, struct gas_density_args, struct density_shared, DEV_THREADS)
{
    const struct level *lv = &a->mesh->lev[a->l];
    const int64_t first = (int64_t)b->index * GRAV_OCTS;
    PHASE (t, DEV_THREADS) {
        int64_t i = first + (t >> 3);
        int k = t & 7,
            j = k & (a->mesh->cells - 1); /* deposits are in cells that repeat no other */
        if (i >= lv->nown) continue;
        int64_t gas = a->gas ? a->gas[i][j] : 0, rest = a->mass ? a->mass[i][j] : 0;
        lv->fld[FLD_RHO][i][k] = deposit_density(rest + gas, a->quantum, a->vol);
        if (a->dense)
            s->dense[t] = deposit_dense(
                a->gas ? deposit_density(gas, a->quantum, a->vol) / a->unit : 0,
                a->number ? a->number[i][j] : 0, a->number_quantum, a->m_refine);
    }
    PHASE (o, a->dense ? GRAV_OCTS : 0) {
        unsigned bits = 0;
        for (int k = 0; k < 8; k++) bits |= (unsigned)s->dense[8 * o + k] << k;
        if (first + o < lv->nown) a->dense[first + o] = (unsigned char)bits;
    }
}

struct energy_shared {
    struct dev_term term[DEV_THREADS];
    double top[DEV_THREADS];
    struct norm_shared norm;
};

KERNEL(phi_energy, struct phi_energy_args, struct energy_shared, DEV_THREADS)
{
    const struct level *lv = &a->mesh->lev[a->l];
    dev_sum_clear(&s->norm.sum, b);
    PHASE (t, DEV_THREADS) {
        s->top[t] = 0;
    }
    for (int64_t first = (int64_t)b->index * DEV_THREADS; first < lv->nown;
         first += (int64_t)b->count * DEV_THREADS) {
        int n = lv->nown - first < DEV_THREADS ? (int)(lv->nown - first) : DEV_THREADS;
        PHASE (t, n) {
            lidx i = (lidx)(first + t);
            for (int k = 0; k < 8; k++) {
                double rho = fabs(lv->fld[FLD_RHO][i][k]);
                s->top[t] = rho > s->top[t] ? rho : s->top[t];
            }
            if (a->sum) dev_term_of(&s->norm.sum, &s->term[t], force_energy(lv, i, a->factor));
        }
        if (a->sum) dev_sum_add(&s->norm.sum, &s->norm.part, s->term, n, b);
    }
    for (int half = DEV_THREADS / 2; half > 0; half /= 2)
        PHASE (t, half) {
            s->top[t] = s->top[t + half] > s->top[t] ? s->top[t + half] : s->top[t];
        }
    PHASE (t, 1) {
        a->top[b->index] = s->top[0];
    }
    if (a->sum) dev_sum_flush(a->sum, &s->norm.sum, b);
}

struct mass_shared {
    struct dev_term term[4][DEV_THREADS];
    struct dev_sum sum[4];
    struct dev_sum_parts part;
};

KERNEL(gas_mass, struct gas_mass_args, struct mass_shared, DEV_THREADS)
{
    const struct level *lv = &a->mesh->lev[a->l];
    for (int j = 0; j < 4; j++) dev_sum_clear(&s->sum[j], b);
    for (int64_t first = (int64_t)b->index * DEV_THREADS; first < lv->nown;
         first += (int64_t)b->count * DEV_THREADS) {
        int n = lv->nown - first < DEV_THREADS ? (int)(lv->nown - first) : DEV_THREADS;
        PHASE (t, n) {
            double sum[4];
            deposit_leaves(a->mesh, a->l, (lidx)(first + t), a->smallr, sum);
            for (int j = 0; j < 4; j++) dev_term_of(&s->sum[j], &s->term[j][t], sum[j]);
        }
        for (int j = 0; j < 4; j++) dev_sum_add(&s->sum[j], &s->part, s->term[j], n, b);
    }
    for (int j = 0; j < 4; j++) dev_sum_flush(a->sum + j * GRAV_NORM, &s->sum[j], b);
}
