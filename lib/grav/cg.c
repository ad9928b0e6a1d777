/* grav/cg: conjugate gradient for A φ = b, A φ = mean of the 2 ndim neighbours − φ, b = dx² 4πG(ρ −
 * ρ_tot)/(2 ndim) and boundary values on the right-hand side; r = b − Aφ. Scalar products are exact
 * sums of per-oct sums. */
#include "grav/cg.h"

#include <math.h>

#include "base/mem.h"
#include "dom/ghost.h"
#include "grav/grav_kern.h"

enum { MAX_STEPS = 10000 };

struct cg {
    const struct comm *c;
    const struct level *lv;
    int cells;    /* of an oct; the others hold zero */
    double faces; /* number of neighbours of a cell */
    double (*phi)[8], (*r)[8], (*p)[8], (*z)[8];
};

static void first_residual(struct cg *s, const struct grav_source *from,
                           const struct interpol *boundary)
{
    const struct level *lv = s->lv;
    double dx = 1.0 / (double)((int64_t)1 << lv->level), fact = from->fourpi * dx * dx / s->faces;
#pragma omp parallel
    {
        struct interpol here = *boundary;
        double beyond[6][8];
#pragma omp for schedule(static)
        for (lidx i = 0; i < lv->nown; i++) {
            const double *n[6];
            double sum[8];
            kern_rows_boundary((const double(*)[8])s->phi, lv->nbr[i], n);
            for (int f = 0; f < (int)s->faces; f++)
                if (lv->nbr[i][f] < 0) {
                    interpol_face(&here, i, f, beyond[f]);
                    n[f] = beyond[f];
                }
            kern_sum(s->phi[i], n, sum);
            for (int k = 0; k < s->cells; k++)
                s->r[i][k] = s->phi[i][k] - sum[k] / s->faces +
                             fact * (lv->fld[FLD_RHO][i][k] - from->rho_tot);
        }
    }
}

/* Computes z := A p, with zero outside. */
static void apply(struct cg *s)
{
    const struct level *lv = s->lv;
#pragma omp parallel for schedule(static)
    for (lidx i = 0; i < lv->nown; i++) {
        const double *n[6];
        double sum[8];
        kern_rows_boundary((const double(*)[8])s->p, lv->nbr[i], n);
        kern_sum(s->p[i], n, sum);
        for (int k = 0; k < s->cells; k++) s->z[i][k] = sum[k] / s->faces - s->p[i][k];
    }
}

static double dot(const struct cg *s, double (*a)[8], double (*b)[8])
{
    struct sum total;
    sum_init(&total);
#pragma omp parallel
    {
        struct sum part;
        sum_init(&part);
#pragma omp for schedule(static)
        for (lidx i = 0; i < s->lv->nown; i++) sum_add(&part, kern_dot8(a[i], b[i]));
#pragma omp critical(cg_dot)
        sum_join(&total, &part);
    }
    comm_sum(s->c, &total);
    return sum_get(&total);
}

/* Computes y := a x + b y on own octs. */
static void combine(const struct cg *s, double a, double (*x)[8], double b, double (*y)[8])
{
#pragma omp parallel for schedule(static)
    for (lidx i = 0; i < s->lv->nown; i++)
        for (int k = 0; k < 8; k++) y[i][k] = a * x[i][k] + b * y[i][k];
}

static struct grav_report iterate(struct cg *s, double epsilon)
{
    struct grav_report rep = {.converged = true};
    void *arr = s->p;
    size_t stride = sizeof s->p[0];
    double r2 = dot(s, s->r, s->r), first = sqrt(r2), error = first;
    combine(s, 1.0, s->r, 0.0, s->p);
    while (first > 0 && rep.cycles < MAX_STEPS) {
        rep.cycles++;
        ghost_fill_rows(s->c, COMM_MULTIGRID, &s->lv->plan, 1, &arr, &stride);
        apply(s);
        double alpha = r2 / dot(s, s->p, s->z);
        combine(s, alpha, s->p, 1.0, s->phi);
        combine(s, -alpha, s->z, 1.0, s->r);
        error = sqrt(r2);
        if (error <= epsilon * first) break;
        double next = dot(s, s->r, s->r);
        if (next == 0) break;
        combine(s, 1.0, s->r, next / r2, s->p);
        r2 = next;
    }
    rep.error = first > 0 ? error / first : 0;
    rep.converged = first == 0 || rep.cycles < MAX_STEPS;
    return rep;
}

struct grav_report cg_solve(struct mesh *m, const struct comm *c, int l,
                            const struct grav_source *from, const struct interpol *boundary,
                            double epsilon)
{
    struct level *lv = &m->lev[l];
    size_t bytes = sizeof(double[8]) * (size_t)lv->noct + 1;
    struct cg s = {.c = c, .lv = lv, .cells = m->cells, .faces = 2 * m->ndim};
    s.phi = lv->fld[FLD_PHI];
    s.r = mem_zero(bytes, "conjugate gradient");
    s.p = mem_zero(bytes, "conjugate gradient");
    s.z = mem_zero(bytes, "conjugate gradient");
    ghost_fill(c, m, l, 1, (int[]){FLD_PHI});
    first_residual(&s, from, boundary);
    struct grav_report rep = iterate(&s, epsilon);
    ghost_fill(c, m, l, 1, (int[]){FLD_PHI});
    FREE(s.r);
    FREE(s.p);
    FREE(s.z);
    return rep;
}
