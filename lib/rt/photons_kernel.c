/* rt/photons_kernel: photons on a device besides their transport: what leaves the box, limits,
 * sources, what passes between levels, sums. */
#include "patch/across_kern.h"
#include "patch/reflux.h"
#include "rt/kernels.h"

enum { VALUES = PHOTON_VALUES };

/* Index of this thread's item. */
DEV_FN int64_t item_of(const struct dev_block *b, int t)
{
    return (int64_t)b->index * DEV_THREADS + t;
}

/* A number of an own cell that counts, to its repetitions along missing axes, too. */
DEV_FN void set_value(const struct mesh *m, int l, int v, lidx i, int c, double x)
{
    double *row = m->lev[l].fld[FLD_PHOTONS + v][i];
    for (int k = c; k < 8; k += m->cells) row[k] = x;
}

/* ---- what leaves the box ---- */

/* Photons of group g that leave through face f of cell c of oct i per dt/dx and volume. */
DEV_FN double leaving(const struct rt_left_args *a, int g, lidx i, int c, int f)
{
    const double speed = a->num->c;
    double in[VALUES], out[VALUES], flux;
    for (int v = 0; v < VALUES; v++) {
        in[v] = a->mesh->lev[a->l].fld[FLD_PHOTONS + VALUES * g + v][i][c];
        out[v] = a->vacuum ? 0.0 : in[v];
    }
    if (!a->vacuum) rt_beyond(a->num->bound[f], a->num->state[f] + VALUES * g, f, out);
    const double *low = f & 1 ? in : out, *high = f & 1 ? out : in;
    struct m1_waves w[2];
    if (a->hll) {
        w[0] = rt_state_waves(low, f >> 1, speed);
        w[1] = rt_state_waves(high, f >> 1, speed);
    }
    rt_face_flux(low, high, a->hll ? w : NULL, f >> 1, speed, 1, &flux);
    return f & 1 ? flux : -flux;
}

DEV_FN double face_left(const struct rt_left_args *a, int g, lidx i, int f)
{
    const struct mesh *m = a->mesh;
    const double dtdx = a->dt / mesh_dx(m, a->l);
    double all = 0;
    for (int c = 0; c < m->cells; c++)
        if ((c >> (f >> 1) & 1) == (f & 1) && m->lev[a->l].child[i][c] < 0)
            all += dtdx * leaving(a, g, i, c, f);
    return all;
}

KERNEL(photons_left, struct rt_left_args, struct dev_nothing, DEV_THREADS)
{
    const struct level *lv = &a->mesh->lev[a->l];
    const int64_t n = 6 * (int64_t)lv->nown;
    const double volume = mesh_volume(a->mesh, a->l);
    PHASE (t, DEV_THREADS) {
        const int64_t at = item_of(b, t);
        if (at >= n) continue;
        const int f = (int)(at % 6);
        const lidx i = (lidx)(at / 6);
        const bool wall = !a->vacuum && a->num->bound[f] == BOUND_REFLECT;
        const bool edge = f < 2 * a->mesh->ndim && !wall && rt_at_edge(lv, a->l, a->vacuum, i, f);
        for (int g = 0; g < a->groups; g++)
            a->to[g * n + at] = edge ? face_left(a, g, i, f) * volume : 0.0;
    }
}

KERNEL(photons_drop, struct rt_drop_args, struct dev_nothing, DEV_THREADS)
{
    const struct level *lv = &a->mesh->lev[a->l];
    const struct reflux *r = &lv->reflux[REFLUX_RT];
    PHASE (t, DEV_THREADS) {
        const int64_t at = item_of(b, t);
        const int f = (int)(at % 6);
        const lidx i = (lidx)(at / 6);
        if (i >= lv->nown || f >= 2 * a->mesh->ndim || r->row[i] < 0) continue;
        if (!rt_at_edge(lv, a->l, true, i, f)) continue;
        for (int v = 0; v < r->nflux; v++) reflux_row(r, i)[f * r->nflux + v] = 0.0;
    }
}

/* ---- limits ---- */

struct confine_shared {
    double rise[DEV_THREADS];
};

KERNEL(photons_confine, struct rt_confine_args, struct confine_shared, DEV_THREADS)
{
    const struct level *lv = &a->mesh->lev[a->l];
    const double volume = mesh_volume(a->mesh, a->l);
    for (int g = 0; g < a->groups; g++) {
        PHASE (t, DEV_THREADS) {
            const int64_t at = item_of(b, t);
            const lidx i = (lidx)(at >> 3);
            const int c = (int)(at & 7);
            if (i >= lv->nown) continue;
            double(*const *u)[8] = lv->fld + FLD_PHOTONS + VALUES * g;
            const double more = rt_confine_cell(&u[0][i][c], &u[1][i][c], &u[2][i][c], &u[3][i][c],
                                                a->c, a->small);
            s->rise[t] = c < a->mesh->cells && lv->child[i][c] < 0 ? more : 0.0;
        }
        PHASE (t, DEV_THREADS / 8) {
            const int64_t i = (int64_t)b->index * (DEV_THREADS / 8) + t;
            double sum = 0;
            for (int c = 0; c < 8 && i < lv->nown; c++) sum += s->rise[8 * t + c];
            if (i < lv->nown) a->to[g * (int64_t)lv->nown + i] = sum * volume;
        }
    }
}

/* ---- sums ---- */

struct count_shared {
    struct dev_term term[DEV_THREADS];
    struct dev_sum sum;
    struct dev_sum_parts part;
};

/* Photons of group g in a leaf cell; 0: it is none. */
DEV_FN double inside(const struct rt_count_args *a, int g, int64_t at)
{
    const struct level *lv = &a->mesh->lev[a->l];
    const lidx i = (lidx)(at >> 3);
    const int c = (int)(at & 7);
    if (c >= a->mesh->cells || lv->child[i][c] >= 0) return 0.0;
    return lv->fld[FLD_PHOTONS + VALUES * g][i][c] * mesh_volume(a->mesh, a->l);
}

KERNEL(photons_sum, struct rt_count_args, struct count_shared, DEV_THREADS)
{
    const int g = b->index % a->groups;
    const int64_t first = (int64_t)(b->index / a->groups) * DEV_THREADS,
                  step = (int64_t)(b->count / a->groups) * DEV_THREADS;
    dev_sum_clear(&s->sum, b);
    for (int64_t i0 = first; i0 < a->n; i0 += step) {
        PHASE (t, DEV_THREADS) {
            double x = 0.0;
            if (i0 + t < a->n) x = a->x ? a->x[g * a->n + i0 + t] : inside(a, g, i0 + t);
            dev_term_of(&s->sum, &s->term[t], x);
        }
        dev_sum_add(&s->sum, &s->part, s->term, DEV_THREADS, b);
    }
    dev_sum_flush(a->to[g], &s->sum, b);
}

/* ---- sources ---- */

KERNEL(photons_shine, struct rt_shine_args, struct dev_nothing, DEV_THREADS)
{
    const double volume = mesh_volume(a->mesh, a->l);
    PHASE (t, DEV_THREADS) {
        const int64_t at = item_of(b, t);
        if (at >= a->n) continue;
        const struct rt_reached x = a->cell[at];
        double u[VALUES];
        for (int v = 0; v < VALUES; v++)
            u[v] = a->mesh->lev[a->l].fld[FLD_PHOTONS + VALUES * a->group + v][x.oct][x.cell];
        a->to[a->n + at] = -u[0] * volume;
        rt_shine(&a->source, x.part, u);
        a->to[at] = u[0] * volume;
        for (int v = 0; v < VALUES; v++)
            set_value(a->mesh, a->l, VALUES * a->group + v, x.oct, x.cell, u[v]);
    }
}

/* ---- between levels ---- */

KERNEL(photons_receive, struct rt_receive_args, struct dev_nothing, DEV_THREADS)
{
    const struct mesh *m = a->mesh;
    const struct level *lv = &m->lev[a->l];
    PHASE (t, DEV_THREADS) {
        const int64_t at = item_of(b, t);
        const lidx i = (lidx)(at >> 3);
        const int c = (int)(at & 7);
        if (i >= lv->nown || c >= m->cells || lv->child[i][c] >= 0) continue;
        for (int f = 0; f < 2 * m->ndim; f++) {
            const double *row = reflux_across(lv, lv + 1, i, c, f, REFLUX_RT, m->nphoton);
            for (int v = 0; row && v < m->nphoton; v++)
                set_value(m, a->l, v, i, c, lv->fld[FLD_PHOTONS + v][i][c] + row[v]);
        }
    }
}

KERNEL(photons_means, struct rt_restrict_args, struct dev_nothing, DEV_THREADS)
{
    const struct mesh *m = a->mesh;
    const struct level *lv = &m->lev[a->l];
    PHASE (t, DEV_THREADS) {
        const int64_t at = item_of(b, t);
        const lidx i = (lidx)(at >> 3);
        const int c = (int)(at & 7);
        if (i >= lv->nown || lv->child[i][c] < 0) continue;
        for (int v = 0; v < m->nphoton; v++) {
            double sum = 0;
            for (int k = 0; k < 8; k++) sum += lv[1].fld[FLD_PHOTONS + v][lv->child[i][c]][k];
            lv->fld[FLD_PHOTONS + v][i][c] = sum / 8;
        }
    }
}
