/* sph/series: energies.txt in the directory of outputs, a row every diag_every steps: the columns
 * of Phantom's .ev files behind the number of the step. Sums are exact, so that the text depends on
 * neither ranks nor restarts. */
#include <limits.h>
#include <math.h>
#include <stdio.h>

#include "base/log.h"
#include "observe/series.h"
#include "sph/run.h"

static const char NAME[] = "energies.txt";

enum { TIME, EKIN, ETHERM, EMAG, EPOT, ETOT, TOTMOM, ANGTOT, RHOMAX, RHOMEAN, DT, COLUMNS };
static const char NAMES[] =
    "# it time ekin etherm emag epot etot totmom angtot rhomax rhomean dt\n";

static void path_of(const struct sim *s, char path[PATH_MAX])
{
    snprintf(path, PATH_MAX, "%.4000s/%s", s->run.out.dir, NAME);
}

enum err sph_series_begin(struct sim *s, const struct sph *t, int64_t it)
{
    char path[PATH_MAX];
    path_of(s, path);
    if (t->par->sph.diag_every == 0 || s->run.end.done) return OK;
    return err_agree(t->comm, t->comm->rank == 0 ? series_begin(path, NAMES, it) : OK);
}

bool sph_series_due(const struct sph *t, int64_t it)
{
    const int every = t->par->sph.diag_every;
    return every > 0 && it % every == 0;
}

/* ---- a row ---- */

enum { SUM_KINETIC, SUM_THERMAL, SUM_RHO, SUM_P, SUM_L = SUM_P + 3, SUMS = SUM_L + 3 };
_Static_assert((int)SUMS <= (int)SPH_SUMS, "room of sph_sums");

/* Angular momentum about the origin, per mass. */
static void spin(const double x[3], const double v[3], double l[3])
{
    for (int d = 0; d < 3; d++) {
        const int e = (d + 1) % 3, f = (d + 2) % 3;
        l[d] = x[e] * v[f] - x[f] * v[e];
    }
}

/* Thermal energy per mass: that of an isothermal gas is 3/2 c², as Phantom counts it. */
static double thermal(const struct sph *t, int64_t i)
{
    double pressure, c;
    if (t->eq.eos == SMOOTH_ADIABATIC) return t->p.u[i];
    smooth_pressure(&t->eq, &t->p, i, &pressure, &c);
    return 1.5 * c * c;
}

/* The terms of a body, in column i. */
static void add(double m, const double x[3], const double v[3], double (*term)[SPH_BLOCK], int i)
{
    double l[3];
    spin(x, v, l);
    term[SUM_KINETIC][i] = 0.5 * m * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    for (int d = 0; d < 3; d++) term[SUM_P + d][i] = m * v[d], term[SUM_L + d][i] = m * l[d];
}

static void gas_terms(const void *ctx, int64_t first, int n, double (*term)[SPH_BLOCK])
{
    const struct sph *t = ctx;
    const struct smooth *p = &t->p;
    const double m = t->eq.mass;
    for (int k = 0; k < n; k++) {
        const int64_t i = first + k;
        const double x[3] = {p->x[0][i], p->x[1][i], p->x[2][i]},
                     v[3] = {p->v[0][i], p->v[1][i], p->v[2][i]};
        add(m, x, v, term, k);
        term[SUM_THERMAL][k] = m * thermal(t, i);
        term[SUM_RHO][k] = smooth_rho(&t->eq, p->h[i]);
    }
}

/* The density is largest where h is least. */
static double largest_density(const struct sph *t)
{
    const double *h = t->p.h;
    double least = INFINITY, most = 0;
#pragma omp parallel for simd schedule(static) reduction(min : least)
    for (int64_t i = 0; i < t->p.n; i++) least = least < h[i] ? least : h[i];
    if (least < INFINITY) most = smooth_rho(&t->eq, least);
    comm_max_f64(t->comm, &most, 1);
    return most;
}

static void add_sinks(const struct sph *t, struct sum sum[SUMS])
{
    double term[SUMS][SPH_BLOCK] = {0};
    for (int k = 0; k < t->nsink && t->comm->rank == 0; k++) {
        const struct sph_sink *q = &t->sink[k];
        add(q->m, q->x, q->v, term, 0);
        for (int i = 0; i < SUMS; i++) sum_add(&sum[i], term[i][0]);
        for (int d = 0; d < 3; d++) sum_add(&sum[SUM_L + d], q->spin[d]);
    }
}

static double length(const double v[3])
{
    return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

static void measure(const struct sph *t, double row[COLUMNS])
{
    struct sum sum[SUMS];
    double total[SUMS];
    sph_sums(t, SUMS, gas_terms, t, sum);
    add_sinks(t, sum);
    comm_sums(t->comm, sum, SUMS);
    row[RHOMAX] = largest_density(t);
    for (int i = 0; i < SUMS; i++) total[i] = sum_get(&sum[i]);
    row[EKIN] = total[SUM_KINETIC];
    row[ETHERM] = total[SUM_THERMAL];
    row[EMAG] = 0;
    row[EPOT] = t->epot;
    row[ETOT] = row[EKIN] + row[ETHERM] + row[EPOT];
    row[TOTMOM] = length(total + SUM_P);
    row[ANGTOT] = length(total + SUM_L);
    row[RHOMEAN] = total[SUM_RHO] / (double)(t->total ? t->total : 1);
}

enum err sph_series_row(struct sim *s, const struct sph *t, int64_t it, double dt)
{
    char path[PATH_MAX];
    double row[COLUMNS], sum = 0;
    measure(t, row);
    row[TIME] = s->time.t, row[DT] = dt;
    for (int i = 0; i < COLUMNS; i++) sum += row[i];
    if (!isfinite(sum)) {
        s->run.end.broken = true;
        return OK;
    }
    log_info(" Step=%7ld t=%12.5E dt=%10.3E ekin=%12.5E etherm=%12.5E epot=%12.5E etot=%14.7E",
             (long)it, row[TIME], dt, row[EKIN], row[ETHERM], row[EPOT], row[ETOT]);
    path_of(s, path);
    return err_agree(t->comm, t->comm->rank == 0 ? series_append(path, it, COLUMNS, row) : OK);
}
