/* grav: the Poisson equation of one level, ∇²φ = 4πG (ρ − ρ_tot), 7-point, by multigrid (Guillet &
 * Teyssier 2011, J. Comput. Phys. 230, 4756) or by conjugate gradient.
 *
 * Levels are solved one after the other, coarse to fine ("one-way"): the base level in the whole
 * box, a finer level with Dirichlet values from the level below, frozen into the right-hand side.
 * With φ_o the interpolated value beyond a face and φ_i the first guess inside, the face value is
 * φ_b = (φ_o + φ_i)/2, and the missing neighbour 2φ_b − φ contributes 2φ_b/dx² to the right-hand
 * side and −φ to the operator. */
#include "grav/grav.h"

#include <math.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "dom/ghost.h"
#include "grav/cg.h"
#include "grav/fourier.h"
#include "grav/interpol.h"
#include "grav/mg.h"

enum { MAX_CYCLES = 10, SWEEPS = 2 };

static bool has_boundaries(const struct mesh *m)
{
    bool any = false;
    for (int f = 0; f < 6; f++) any |= m->bounded[f];
    return any;
}

/* φ: 0 on the periodic base level, the monopole with boundaries, interpolated on finer levels. */
static void guess_phi(struct mesh *m, int l, const struct interpol *edge)
{
    struct level *lv = &m->lev[l];
    double(*phi)[8] = lv->fld[FLD_PHI];
    if (l <= m->levelmin && !has_boundaries(m)) {
        memset(phi, 0, sizeof phi[0] * (size_t)lv->noct);
        return;
    }
#pragma omp parallel
    {
        struct interpol here = *edge;
#pragma omp for schedule(static)
        for (lidx i = 0; i < lv->nown; i++) {
            if (l > m->levelmin) {
                interpol_oct(&here, i, phi[i]);
                continue;
            }
            for (int k = 0; k < 8; k++) {
                double x[3];
                grav_cell_centre(m, l, i, k, x);
                phi[i][k] = far_phi(m, &here.far, x, mesh_dx(m, l));
            }
        }
    }
}

/* Values beyond the missing faces of own oct i, from outside and from the first guess, subtracted
 * from the right-hand side. */
static void freeze_boundary(struct interpol *here, const struct level *lv, lidx i, double inv_dx2,
                            double rhs[8])
{
    const double *phi = lv->fld[FLD_PHI][i];
    for (int f = 0; f < 6; f++) {
        if (lv->nbr[i][f] >= 0) continue;
        double beyond[8];
        int bit = 1 << f / 2;
        interpol_face(here, i, f, beyond);
        for (int k = 0; k < 8; k++)
            if (((k & bit) != 0) == (f & 1))
                rhs[k] -= 2.0 * inv_dx2 * (0.5 * beyond[k ^ bit] + 0.5 * phi[k]);
    }
}

static void source(const struct mesh *m, const struct comm *c, struct mg_level *top, double fourpi,
                   double rho_tot, const struct interpol *edge)
{
    const struct level *lv = &m->lev[top->level];
    double inv_dx2 = (double)((int64_t)1 << lv->level) * (double)((int64_t)1 << lv->level);
#pragma omp parallel
    {
        struct interpol here = *edge;
#pragma omp for schedule(static)
        for (lidx i = 0; i < lv->nown; i++) {
            for (int k = 0; k < 8; k++)
                top->rhs[i][k] = fourpi * (lv->fld[FLD_RHO][i][k] - rho_tot);
            if (top->edge && top->edge[i] >= 0) freeze_boundary(&here, lv, i, inv_dx2, top->rhs[i]);
        }
    }
    void *arr = top->rhs;
    size_t stride = sizeof top->rhs[0];
    ghost_fill_rows(c, COMM_MULTIGRID, top->plan, 1, &arr, &stride);
}

/* Σ residual² dx³ over all ranks; also leaves the mean residuals for the coarse correction. */
static double residual2(const struct comm *c, struct mg_level *top)
{
    struct sum s;
    double dx = 1.0 / (double)((int64_t)1 << top->level);
    sum_init(&s);
    mg_residual(top, &s);
    comm_sum(c, &s);
    return dx * dx * dx * sum_get(&s);
}

static struct grav_report iterate(struct mg *g, const struct comm *c, double rho_tot,
                                  struct grav_par *p)
{
    struct mg_level *top = &g->lev[g->top];
    struct grav_report rep = {0};
    double first = 0, err = 1, last;
    for (;;) {
        rep.cycles++;
        for (int s = 0; s < SWEEPS; s++) mg_sweep(c, top, p->safe[g->top]);
        if (rep.cycles == 1)
            first = residual2(c, top);
        else
            mg_residual(top, NULL);
        mg_correct(g, c, p->safe[g->top]);
        for (int s = 0; s < SWEEPS; s++) mg_sweep(c, top, p->safe[g->top]);
        last = err;
        double now = residual2(c, top);
        err = now == 0 ? 0 : sqrt(now / (first + 1e-20 * rho_tot * rho_tot));
        if (err < p->epsilon || rep.cycles == MAX_CYCLES) break;
        if (err > 0.5 * last && !p->safe[g->top]) {
            p->safe[g->top] = 1;
            if (p->verbose) log_info("   multigrid of level %d: continues in safe mode", g->top);
        }
    }
    rep.error = err;
    rep.converged = err < p->epsilon;
    return rep;
}

static struct grav_report solve_multigrid(struct mesh *m, const struct comm *c, int l,
                                          double fourpi, double rho_tot,
                                          const struct interpol *edge, struct grav_par *p)
{
    struct mg g;
    mg_build(&g, m, c, l, p->mg_shared_octs);
    g.lev[l].u = m->lev[l].fld[FLD_PHI];
    source(m, c, &g.lev[l], fourpi, rho_tot, edge);
    struct grav_report rep = iterate(&g, c, rho_tot, p);
    mg_free(&g);
    return rep;
}

static bool complete(int l, int64_t octs)
{
    return octs == (int64_t)1 << 3 * (l - 1);
}

static void solve_fourier(struct mesh *m, const struct comm *c, int l, double fourpi,
                          double rho_tot, struct grav_par *p)
{
    struct fourier_green green = {
        .spectral = p->spectral, .response = p->response, .ctx = p->response_ctx};
    fourier_solve(&p->fourier, m, c, l, fourpi, rho_tot, &green);
    ghost_fill(c, m, l, 1, (int[]){FLD_PHI});
    if (p->verbose) log_info("   ==> Level=%5d Fourier transform", l);
}

void grav_fini(struct grav_par *p)
{
    fourier_free(&p->fourier);
}

struct grav_report grav_solve(struct mesh *m, const struct comm *c, int l, double fourpi,
                              double rho_tot, double tfrac, double mass, const double com[3],
                              struct grav_par *p)
{
    struct grav_report rep = {.converged = true};
    int64_t total = m->lev[l].nown;
    comm_add_i64(c, &total, 1);
    if (p->gravity_type > 0 || total == 0) return rep;

    if (l >= p->fft_levelmin && l < p->cg_levelmin && complete(l, total) && !has_boundaries(m)) {
        solve_fourier(m, c, l, fourpi, rho_tot, p);
        return rep;
    }
    struct interpol edge;
    interpol_init(&edge, m, l - 1, tfrac, mass, com);
    guess_phi(m, l, &edge);
    ghost_fill(c, m, l, 1, (int[]){FLD_PHI});
    bool cg = l >= p->cg_levelmin;
    if (cg)
        rep = cg_solve(m, c, l, fourpi, rho_tot, &edge, p->epsilon);
    else
        rep = solve_multigrid(m, c, l, fourpi, rho_tot, &edge, p);
    if (p->verbose) log_info("   ==> Level=%5d Step=%5d Error=%10.3E", l, rep.cycles, rep.error);
    if (!rep.converged)
        log_info("warning: the %s Poisson solver did not converge on level %d: error %.3e after %d "
                 "steps",
                 cg ? "conjugate gradient" : "multigrid", l, rep.error, rep.cycles);
    return rep;
}
