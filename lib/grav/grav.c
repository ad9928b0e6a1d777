/* grav: the Poisson equation of one level, ∇²φ = 4πG (ρ − ρ_tot), 7-point, by multigrid (Guillet &
 * Teyssier 2011, J. Comput. Phys. 230, 4756) or by conjugate gradient.
 *
 * Levels are solved one after the other, coarse to fine ("one-way"): the base level in the whole
 * box, a finer level with Dirichlet values from the next coarser level, frozen into the right-hand
 * side. With φ_o the interpolated value beyond a face and φ_i the first guess inside, the face
 * value is φ_b = (φ_o + φ_i)/2, and the missing neighbour 2φ_b − φ contributes 2φ_b/dx² to the
 * right-hand side and −φ to the operator. */
#include "grav/grav.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "dom/ghost.h"
#include "grav/cached.h"
#include "grav/cg.h"
#include "grav/fourier.h"
#include "grav/grav_rows.h"
#include "grav/interpol.h"
#include "grav/mg.h"
#include "oct/fields.h"

/* While a level is solved in fewer than three dimensions, the cells that repeat others hold zero.
 */
static void hide_repeats(const struct mesh *m, double row[8])
{
    for (int k = m->cells; k < 8; k++) row[k] = 0;
}

static void show_repeats(const struct mesh *m, int l)
{
    double(*phi)[8] = m->lev[l].fld[FLD_PHI];
    for (lidx i = 0; m->ndim < 3 && i < m->lev[l].noct; i++) oct_repeat(m->cells, phi[i]);
}

/* First guess of φ of own oct i: 0 on the periodic base level, the monopole with boundaries,
 * interpolated on finer levels. */
static void guess_oct(struct interpol *here, int l, lidx i, double phi[8])
{
    const struct mesh *m = here->m;
    if (l > m->levelmin) {
        interpol_oct(here, i, phi);
        hide_repeats(m, phi);
        return;
    }
    memset(phi, 0, sizeof(double[8]));
    for (int k = 0; k < m->cells && mesh_has_boundaries(m); k++) {
        double x[3];
        grav_cell_centre(m, l, i, k, x);
        phi[k] = far_phi(m, here->far, x, mesh_dx(m, l));
    }
}

static void guess_phi(struct mesh *m, int l, const struct interpol *boundary)
{
    struct level *lv = &m->lev[l];
    double(*phi)[8] = lv->fld[FLD_PHI];
#pragma omp parallel
    {
        struct interpol here = *boundary;
#pragma omp for schedule(static)
        for (lidx i = 0; i < lv->nown; i++) guess_oct(&here, l, i, phi[i]);
    }
}

/* Subtracts from the right-hand side the values beyond the missing faces of own oct i, which follow
 * from the coarser level and the first guess. */
static void freeze_boundary(struct interpol *here, const struct level *lv, lidx i, double inv_dx2,
                            double rhs[8])
{
    const double *phi = lv->fld[FLD_PHI][i];
    for (int f = 0; f < 2 * here->m->ndim; f++) {
        if (lv->nbr[i][f] >= 0) continue;
        double beyond[8];
        int bit = 1 << f / 2;
        interpol_face(here, i, f, beyond);
        for (int k = 0; k < 8; k++)
            if (((k & bit) != 0) == (f & 1))
                rhs[k] -= kern_frozen(beyond[k ^ bit], phi[k], inv_dx2);
    }
}

/* First guess and right-hand side of own oct i; both need the same cells of the coarser level. */
static void source_oct(struct interpol *here, const struct level *lv, lidx i,
                       const struct grav_source *from, double rhs[8])
{
    guess_oct(here, lv->level, i, lv->fld[FLD_PHI][i]);
    double inv_dx2 = (double)((int64_t)1 << lv->level) * (double)((int64_t)1 << lv->level);
    for (int k = 0; k < 8; k++)
        rhs[k] = kern_source(lv->fld[FLD_RHO][i][k], from->rho_tot, from->fourpi);
    freeze_boundary(here, lv, i, inv_dx2, rhs);
    hide_repeats(here->m, rhs);
}

/* Exchange of right-hand side and first guess of ghosts, in progress until source_end. From then on
 * both arrays are in colour order. */
struct travel {
    struct ghost_rows rows;
    void *arr[2];
    size_t stride[2];
};

static void source_begin(struct travel *q, struct mesh *m, const struct comm *c,
                         struct mg_level *top, const struct grav_source *from,
                         const struct interpol *boundary)
{
    struct level *lv = &m->lev[top->level];
#pragma omp parallel
    {
        struct interpol here = *boundary;
#pragma omp for schedule(static)
        for (lidx i = 0; i < lv->nown; i++) {
            source_oct(&here, lv, i, from, top->rhs[i]);
            row_by_colour(top->rhs[i]);
            row_by_colour(top->u[i]);
        }
    }
    *q = (struct travel){.arr = {top->rhs, top->u},
                         .stride = {sizeof top->rhs[0], sizeof top->u[0]}};
    ghost_rows_begin(&q->rows, c, COMM_MULTIGRID, &lv->plan, 2, q->arr, q->stride);
}

static void source_end(struct travel *q)
{
    ghost_rows_end(&q->rows, 2, q->arr, q->stride);
}

/* ---- the iteration ---- */

/* Sum of residual² over own cells; also stores the mean residuals for the coarse correction. */
static void residual(struct mg_level *top, struct sum *norm)
{
    sum_init(norm);
    mg_residual(top, norm);
}

double mg_norm(int ndim, int level, const struct sum *residual2)
{
    return ldexp(sum_get(residual2), -ndim * level);
}

double mg_error(double now, double first, double rho_tot)
{
    return now == 0 ? 0 : sqrt(now / (first + 1e-20 * rho_tot * rho_tot));
}

bool mg_ends(struct grav_par *p, int level, double err, double last, struct grav_report *rep)
{
    rep->error = err;
    rep->converged = err < p->epsilon;
    if (rep->converged || rep->cycles == grav_cycles(p)) return true;
    if (err > 0.5 * last && !p->safe[level]) {
        p->safe[level] = 1;
        if (p->verbose) log_info("   multigrid of level %d: continues in safe mode", level);
    }
    return false;
}

/* Iterates to convergence. Only some errors affect the iteration, by ending it or switching to safe
 * mode. With `late` the host does not wait for errors that were well above epsilon in the last
 * solve of the level: their sum over the ranks is combined with the right-hand side of the next
 * cycle. Returns false if such an error would have had an effect; the solve must be repeated. */
static bool iterate(struct mg *g, const struct comm *c, double rho_tot, struct grav_par *p,
                    bool late, struct grav_report *rep)
{
    struct mg_level *top = &g->lev[g->top];
    const unsigned char *safe = &p->safe[g->top];
    double first = 0, err = 1, last = 1, now[GRAV_CYCLES] = {0};
    struct sum norm;
    bool deferred = false;
    *rep = (struct grav_report){0};
    for (int n = 0;; n++) {
        mg_sweeps(c, top, *safe, MG_SWEEPS, false);
        if (n == 0)
            residual(top, &norm);
        else
            mg_residual(top, NULL);
        mg_correct(g, c, *safe, n == 0 || deferred ? &norm : NULL);
        if (n == 0) first = mg_norm(top->ndim, g->top, &norm);
        if (deferred) {
            last = err;
            now[n - 1] = err = mg_error(mg_norm(top->ndim, g->top, &norm), first, rho_tot);
            if (grav_error_decides(p, g->top, err, last)) return false;
        }
        mg_sweeps(c, top, *safe, MG_SWEEPS, true);
        residual(top, &norm);
        deferred = late && grav_error_late(p, g->top, n);
        if (deferred) continue;
        comm_sum(c, &norm);
        last = err;
        now[n] = err = mg_error(mg_norm(top->ndim, g->top, &norm), first, rho_tot);
        rep->cycles = n + 1;
        if (mg_ends(p, g->top, err, last, rep)) break;
    }
    memcpy(p->past_error[g->top], now, sizeof now);
    return true;
}

/* ---- levels with few octs, solved by every rank ---- */

bool grav_by_all(const struct mesh *m, int ranks, int l, const struct grav_par *p)
{
    return ranks > 1 && l < p->cg_levelmin && m->lev[l].total <= p->mg_shared_octs &&
           !grav_by_fourier(m, l, p);
}

static const struct comm ALONE = {.size = 1};

MEM_ORDER_OF(by_key, okey)

/* Makes the mesh of all n octs of level l and its hierarchy. */
static void whole_make(struct cached *k, const struct mesh *m, int l, int64_t n,
                       const struct whole_row *row)
{
    okey *key = mem_new(sizeof *key * (size_t)n, "multigrid");
    for (int64_t i = 0; i < n; i++) key[i] = row[i].key;
    mem_sort(key, (size_t)n, sizeof *key, by_key);
    mg_whole_mesh(&k->whole, m, l, n, key, l <= m->levelmin);
    mg_build(&k->mg, &k->whole, &ALONE, l, NULL);
    k->made = true;
    FREE(key);
}

/* Solves on the whole mesh; phi receives the potential of its octs. */
static struct grav_report iterate_whole(struct cached *k, int l, int64_t n, double rho_tot,
                                        const struct whole_row *row, struct grav_par *p,
                                        double (*phi)[8])
{
    struct grav_report rep;
    double(*rhs)[8] = k->mg.lev[l].rhs;
    k->mg.lev[l].u = phi;
    for (int64_t i = 0; i < n; i++) {
        lidx j = mesh_find(&k->whole.lev[l], row[i].key);
        BUG_ON(j < 0);
        memcpy(phi[j], row[i].phi, sizeof phi[j]);
        memcpy(rhs[j], row[i].rhs, sizeof rhs[j]);
    }
    mg_by_colour(phi, (lidx)n);
    mg_by_colour(rhs, (lidx)n);
    iterate(&k->mg, &ALONE, rho_tot, p, false, &rep);
    mg_in_order(phi, (lidx)n);
    return rep;
}

struct whole_row *whole_new(const struct mesh *m, int l)
{
    const struct level *lv = &m->lev[l];
    struct whole_row *row = mem_zero(sizeof *row * (size_t)lv->total, "multigrid");
    for (lidx i = 0; i < lv->nown; i++) row[i].key = lv->key[i];
    return row;
}

struct grav_report whole_solve(const struct mesh *m, const struct comm *c, int l, double rho_tot,
                               struct whole_row *row, struct grav_par *p, double (*phi)[8])
{
    const struct level *lv = &m->lev[l];
    struct cached *k = cached_get(&p->cached[l], m, l);
    int64_t n = comm_union_min(c, lv->nown, lv->total, sizeof *row, row, 0, NULL, p->minima);
    double(*all)[8] = mg_rows_new(n, "multigrid");
    if (k->made)
        mg_allocate(&k->mg);
    else
        whole_make(k, m, l, n, row);
    struct grav_report rep = iterate_whole(k, l, n, rho_tot, row, p, all);
    for (lidx i = 0; i < lv->noct; i++)
        memcpy(phi[i], all[mesh_find(&k->whole.lev[l], lv->key[i])], sizeof phi[i]);
    mg_release(&k->mg);
    FREE(all);
    FREE(row);
    return rep;
}

static struct grav_report solve_whole(struct mesh *m, const struct comm *c, int l,
                                      const struct grav_source *from,
                                      const struct interpol *boundary, struct grav_par *p)
{
    struct level *lv = &m->lev[l];
    struct whole_row *row = whole_new(m, l);
    struct interpol here = *boundary;
    for (lidx i = 0; i < lv->nown; i++) {
        source_oct(&here, lv, i, from, row[i].rhs);
        memcpy(row[i].phi, lv->fld[FLD_PHI][i], sizeof row[i].phi);
    }
    struct grav_report rep = whole_solve(m, c, l, from->rho_tot, row, p, lv->fld[FLD_PHI]);
    ghosts_set(m, l, SET_PHI, true);
    return rep;
}

/* Allocates the potential of a level, uninitialised. */
static double (*phi_anew(struct level *lv))[8]
{
    FREE(lv->fld[FLD_PHI]);
    return lv->fld[FLD_PHI] = mg_rows_new(lv->noct, "mesh gravity");
}

/* Provides the hierarchy of level l, with its arrays. */
static void hierarchy(struct cached *k, const struct mesh *m, const struct comm *c, int l,
                      struct grav_par *p)
{
    if (k->made) {
        mg_allocate(&k->mg);
        return;
    }
    k->mg.shared_max = 2 * (int64_t)p->mg_shared_octs; /* the coarse solve costs little */
    k->mg.try_shared = p->shared_level[l];
    k->mg.minima = p->minima;
    mg_build(&k->mg, m, c, l, NULL);
    p->shared_level[l] = k->mg.try_shared;
    k->made = true;
}

static struct grav_report solve_multigrid(struct mesh *m, const struct comm *c, int l,
                                          const struct grav_source *from,
                                          const struct interpol *boundary, struct grav_par *p)
{
    struct cached *k = cached_get(&p->cached[l], m, l);
    struct mg *g = &k->mg;
    struct grav_report rep;
    unsigned char safe = p->safe[l];
    struct mg_level *top = &g->lev[l];
    struct travel source;
    top->level = l;
    top->u = phi_anew(&m->lev[l]);
    top->rhs = mem_new(sizeof *top->rhs * (size_t)m->lev[l].noct + 1, "multigrid");
    source_begin(&source, m, c, top, from, boundary);
    hierarchy(k, m, c, l, p); /* overlaps the exchange of the source */
    source_end(&source);
    if (!iterate(g, c, from->rho_tot, p, c->size > 1 && g->share, &rep)) {
        p->safe[l] = safe;
        guess_phi(m, l, boundary);
        ghost_fill(c, m, l, 1, (int[]){FLD_PHI});
        mg_by_colour(top->u, m->lev[l].noct);
        iterate(g, c, from->rho_tot, p, false, &rep);
    }
    mg_in_order(top->u, m->lev[l].noct);
    ghosts_set(m, l, SET_PHI, true);
    mg_release(g);
    return rep;
}

static bool complete(int l, int64_t octs)
{
    return octs == (int64_t)1 << 3 * (l - 1);
}

struct fourier_green grav_green(const struct grav_par *p)
{
    return (struct fourier_green){
        .kind = p->green, .response = p->response, .ctx = p->response_ctx, .fixed = p->fft_fixed};
}

static void solve_fourier(struct mesh *m, const struct comm *c, int l,
                          const struct grav_source *from, struct grav_par *p)
{
    struct fourier_green green = grav_green(p);
    fourier_solve(&p->fourier, m, c, l, from->fourpi, from->rho_tot, &green);
    ghost_fill(c, m, l, 1, (int[]){FLD_PHI});
    grav_log_fourier(l, p);
}

void grav_log_fourier(int l, const struct grav_par *p)
{
    if (p->verbose) log_info("   ==> Level=%5d Fourier transform", l);
}

void grav_fini(struct grav_par *p)
{
    fourier_free(&p->fourier);
    grav_forget(p, 1);
}

void grav_forget(struct grav_par *p, int l)
{
    for (; l <= LEVEL_MAX; l++) cached_free(&p->cached[l]);
}

bool grav_by_fourier(const struct mesh *m, int l, const struct grav_par *p)
{
    return l >= p->fft_levelmin && l < p->cg_levelmin && complete(l, m->lev[l].total) &&
           m->ndim == 3 && !mesh_has_boundaries(m);
}

void grav_log(int l, const struct grav_report *rep, const struct grav_par *p, bool cg)
{
    if (p->verbose) log_info("   ==> Level=%5d Step=%5d Error=%10.3E", l, rep->cycles, rep->error);
    if (!rep->converged)
        log_info("warning: the %s Poisson solver did not converge on level %d: error %.3e after %d "
                 "steps",
                 cg ? "conjugate gradient" : "multigrid", l, rep->error, rep->cycles);
}

void grav_keep(struct level *lv)
{
    void *phi = lv->fld[FLD_PHI];
    lv->fld[FLD_PHI] = lv->fld[FLD_PHI_OLD];
    lv->fld[FLD_PHI_OLD] = phi;
}

struct grav_report grav_solve(struct mesh *m, const struct comm *c, int l,
                              const struct grav_source *from, struct grav_par *p)
{
    struct grav_report rep = {.converged = true};
    if (p->analytic || m->lev[l].total == 0) return rep;

    if (grav_by_fourier(m, l, p)) {
        solve_fourier(m, c, l, from, p);
        return rep;
    }
    struct interpol boundary;
    interpol_init(&boundary, m, l - 1, from);
    bool cg = l >= p->cg_levelmin;
    if (cg) {
        guess_phi(m, l, &boundary);
        rep = cg_solve(m, c, l, from, &boundary, p->epsilon);
    } else if (grav_by_all(m, c->size, l, p))
        rep = solve_whole(m, c, l, from, &boundary, p);
    else
        rep = solve_multigrid(m, c, l, from, &boundary, p);
    show_repeats(m, l);
    grav_log(l, &rep, p, cg);
    return rep;
}

enum err grav_accepted(int l, const struct grav_report *rep, const struct grav_par *p)
{
    if (rep->converged || !p->strict) return OK;
    FAIL(ERR_LIMIT,
         "abort_on_mg_nonconvergence=.true.: the potential of level %d has the error %.1e after %d "
         "cycles, above epsilon=%g: raise mg_maxiter or epsilon in &POISSON_PARAMS",
         l, rep->error, rep->cycles, p->epsilon);
}
