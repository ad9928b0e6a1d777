/* advect: the conservation law on rows of cells and faces; advect_kernel.c has the device
 * version. */
#include "advect.h"

#include "patch/courant.h"
#include "patch/sweep.h"

enum { PS = PLANE_STRIDE };

static void trace(struct sweep *s, int y, int k, struct run at)
{
    const int w = s->in.w;
    for (int i = 0; i < 4 * at.fours; i++)
        for (int v = 0; v < ADVECTED; v++) {
            int p = v * PS + at.at + i, r = v * PS + at.r + i;
            const double *q = s->q[k & 3] + p, *lo = s->q[(k - 1) & 3] + p,
                         *hi = s->q[(k + 1) & 3] + p;
            double c = *q + advect_rate(q, lo, hi, w, 0.5 * s->dtdx);
            double x = 0.5 * patch_minmod(q[-1], *q, q[1]), z = 0.5 * patch_minmod(*lo, *q, *hi);
            double b = 0.5 * patch_minmod(q[-w], *q, q[w]);
            s->px[r] = c - x, s->mx[r] = c + x;
            s->py[r] = c - b, s->my[y & 1][r] = c + b;
            s->pz[r] = c - z, s->mz[k & 1][p] = c + z;
        }
}

static void fluxes(struct sweep *s, const struct face_jobs *jobs)
{
    for (const struct face_job *j = jobs->job; j < jobs->job + jobs->n; j++)
        for (int v = 0; v < ADVECTED; v++)
            for (int i = v * PS; i < v * PS + 4 * j->fours; i++)
                j->F[i] = advect_flux(j->dir, j->L[i], j->R[i], s->dtdx);
}

static double signal(const struct law *law, const struct patch_rows *r, double max)
{
    return patch_rows_max(r, 8, max, NULL, advect_signal, NULL);
}

static double step(const struct law *law, double dx, double signal)
{
    return dx / signal;
}

const struct law advect_law = {.nvar = ADVECTED,
                               .nfield = ADVECTED,
                               .field = {ADVECT_FIELD, ADVECT_FIELD + 1},
                               .nflux = ADVECTED,
                               .nsum = ADVECTED,
                               .system = REFLUX_SECOND,
                               .near = true,
                               .mirrored = {true, true},
                               .odd = {0, ADVECT_MIRRORED},
                               .trace = trace,
                               .fluxes = fluxes,
                               .signal = signal,
                               .step = step};
