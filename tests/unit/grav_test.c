/* Laws of lib/grav. With mpirun -n 2, 3, 5 every rank also solves the whole problem alone with one
 * thread, as reference, and compares bits. Last line: N passed, N failed. */
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <string.h>

#include "adapt/adapt.h"
#include "base/mem.h"
#include "dom/ghost.h"
#include "grav/grav.h"
#include "grav/grav_rows.h"
#include "grav/mg.h"
#include "grav_world.h"
#include "mpicount.h"

static int64_t passed, failed;
static struct comm all;
static const struct comm alone = {.size = 1};

static void check(bool ok, const char *what)
{
    int64_t bad = !ok;
    comm_max_i64(&all, &bad, 1);
    passed += !bad;
    failed += bad;
    if (bad && all.rank == 0) printf("FAILED: %s\n", what);
}

static double all_max(double x)
{
    comm_max_f64(&all, &x, 1);
    return x;
}

enum { MAX_SHARED = 600 }; /* all octs of level 4 */
static int shared_octs = MAX_SHARED;

static struct grav_par params(double epsilon, int cg_levelmin)
{
    return (struct grav_par){.epsilon = epsilon,
                             .cg_levelmin = cg_levelmin,
                             .mg_shared_octs = shared_octs,
                             .fft_levelmin = 99};
}

static struct grav_par params_fft(double epsilon, enum green green)
{
    return (struct grav_par){.epsilon = epsilon, .cg_levelmin = 99, .green = green};
}

/* Solves all levels; if tfrac > 0 once more, with 1.5 times the source and this time fraction;
 * returns the report of the last solve. */
static struct grav_report world_solve(struct world *w, struct grav_par *p, double tfrac)
{
    struct grav_report rep = {0};
    struct mesh *m = &w->m;
    for (int pass = 0; pass < (tfrac > 0 ? 2 : 1); pass++)
        for (int l = m->levelmin; l <= m->levelmax; l++) {
            struct level *lv = &m->lev[l];
            memcpy(lv->fld[FLD_PHI_OLD], lv->fld[FLD_PHI], sizeof(double[8]) * (size_t)lv->noct);
            double t = l > m->levelmin ? tfrac * pass : 0;
            struct grav_source from = world_source(w, t);
            from.fourpi *= 1 + 0.5 * pass;
            rep = grav_solve(m, &w->c, l, &from, p);
            grav_force(m, &w->c, l, &from, p);
        }
    return rep;
}

/* ---- one periodic level: a Fourier mode is an eigenvector of the 7-point Laplacian ---- */

static double mode_error(struct grav_par p, struct grav_report *rep)
{
    static const int n[3] = {1, 2, 3};
    enum { L = 5 };
    struct world w;
    world_make(&w, &all, DOMAIN_KSECTION, L, L, 2.0, false, NULL);
    struct level *lv = &w.m.lev[L];
    double N = 1 << L, k2 = 0, exact = 0, window = 1, worst = 0;
    for (int d = 0; d < 3; d++) {
        double k = 2 * PI * n[d];
        k2 += p.green == GREEN_SPECTRAL ? k * k : 2 * (1 - cos(k / N)) * N * N;
        exact += k * k;
        window *= pow(sin(0.5 * k / N) / (0.5 * k / N), 4);
    }
    if (p.green == GREEN_PARTICLES)
        k2 /= 1 + (k2 / exact / window - 1) * exp(-pow(sqrt(exact) / N / 0.7, 4));
    for (int pass = 0; pass < 2; pass++) {
        for (lidx i = 0; i < lv->nown; i++)
            for (int k = 0; k < 8; k++) {
                double x[3], phase = 0;
                cell_at(&w.m, L, i, k, x);
                for (int d = 0; d < 3; d++) phase += 2 * PI * n[d] * x[d] / w.m.boxlen;
                lv->fld[FLD_RHO][i][k] = 0.7 + cos(phase);
                if (pass == 1)
                    worst = fmax(worst,
                                 fabs(lv->fld[FLD_PHI][i][k] * k2 / w.from.fourpi + cos(phase)));
            }
        struct grav_source from = {.fourpi = w.from.fourpi, .rho_tot = 0.7};
        if (pass == 0) *rep = grav_solve(&w.m, &w.c, L, &from, &p);
    }
    grav_fini(&p), world_free(&w);
    return all_max(worst);
}

static void test_mode(void)
{
    struct grav_report rep;
    double e = mode_error(params(1e-4, 99), &rep);
    check(e < 1e-3 && rep.converged && rep.cycles <= 5,
          "multigrid: mode at 1e-4 in at most 5 cycles (catches a wrong dx²)");
    e = mode_error(params(1e-9, 99), &rep);
    check(e < 1e-8 && rep.converged, "multigrid: mode at 1e-9 (catches a wrong residual)");
    e = mode_error(params(1e-10, 3), &rep);
    check(e < 1e-9 && rep.converged, "conjugate gradient: mode at 1e-10");
    for (int g = GREEN_DISCRETE; g <= GREEN_PARTICLES; g++)
        check(mode_error(params_fft(1, g), &rep) < 1e-13, "Fourier, each Green function");
}

/* Latency: five exchanges per level and cycle, none on shared levels, and a few per solve. */
static void test_exchanges(void)
{
    enum { L = 6, A_SOLVE = 4 };
    struct world w;
    struct grav_par p = params(1e-6, 99);
    world_make(&w, &all, DOMAIN_HILBERT, L, L, 1.0, false, NULL);
    set_ball(&w);
    int64_t before = comm_rounds();
    struct grav_report r = grav_solve(&w.m, &w.c, L, &w.from, &p);
    int64_t rounds = comm_rounds() - before;
    int shared = shared_octs ? 4 : 0; /* highest shared level */
    check(r.cycles > 2 && rounds <= 5 * (L - shared) * r.cycles + A_SOLVE,
          "at most five exchanges a level and cycle");
    check((rounds > 0) == (all.size > 1), "exchanges are counted");
    check(all.size == 1 || shared || rounds > 5 * (L - 3) * r.cycles,
          "mg_shared_octs=0: small levels exchange ghosts as well");
    const struct level *lv = &w.m.lev[L];
    size_t bytes = sizeof lv->fld[FLD_PHI][0] * (size_t)lv->nown;
    void *phi = mem_new(bytes + 1, "test");
    memcpy(phi, lv->fld[FLD_PHI], bytes);
    for (int past = 0; past < 2; past++) {
        for (int i = 0; i < GRAV_CYCLES; i++) p.past_error[L][i] *= past ? 1e9 : 1;
        struct grav_report again = grav_solve(&w.m, &w.c, L, &w.from, &p);
        check(again.cycles == r.cycles && again.error == r.error &&
                  memcmp(phi, lv->fld[FLD_PHI], bytes) == 0,
              past ? "what past solves promise and this one does not keep changes no bit"
                   : "norms that travel late change no bit");
    }
    FREE(phi);
    grav_fini(&p);
    world_free(&w);
}

/* Between sweeps only the black cells of ghosts are sent: half of the bytes. */
static void test_black(void)
{
    enum { L = 4 };
    struct world w;
    struct mg g = {0};
    int64_t n[2];
    world_make(&w, &all, DOMAIN_KSECTION, L, L, 1.0, false, NULL);
    mg_build(&g, &w.m, &w.c, L, NULL);
    struct mg_level *top = &g.lev[L];
    size_t bytes = sizeof top->u[0] * (size_t)top->noct;
    top->u = mg_rows_new(top->noct, "test");
    memset(top->u, 0, bytes);
    memset(top->rhs, 0, bytes);
    for (int whole = 0; whole < 2; whole++) {
        mpicount_reset();
        mg_sweeps(&w.c, top, false, 2, whole);
        n[whole] = mpicount.n[MPICOUNT_BYTES];
    }
    check(3 * n[0] == 2 * n[1], "two sweeps send black cells, and all in the end if asked to");
    check((n[0] > 0) == (all.size > 1), "sweeps send ghosts");
    FREE(top->u);
    mg_free(&g);
    world_free(&w);
}

/* Boundary values of coarse levels are computed by rows, and equal the formula cell by cell. */
static void test_boundaries(void)
{
    enum { L = 6 };
    static const double radius[2] = {0.24, 0.13};
    struct world w;
    struct mg g = {0};
    double(*mask)[8] = NULL;
    world_make(&w, &alone, DOMAIN_HILBERT, 4, L, 1.0, false, radius);
    mg_build(&g, &w.m, &w.c, L, NULL);
    int64_t boundaries = 0, same = true;
    for (int k = L - 1; k >= g.bottom; k--) {
        const struct mg_level *lev = &g.lev[k];
        double(*here)[8] = mem_new(sizeof *here * (size_t)lev->noct + 1, "test");
        lidx(*nbr)[6] = mem_new(sizeof *nbr * (size_t)lev->noct + 1, "test");
        for (lidx i = 0; i < lev->noct; i++) {
            mg_mask_cells(lev->child[i], NULL, (const double(*)[8])mask, 3, here[i]);
            for (int f = 0; f < 6; f++)
                nbr[i][f] = lev->nbr[i][f] < lev->noct ? lev->nbr[i][f] : NBR_NONE;
        }
        for (lidx i = 0; i < lev->noct; i++) {
            struct mg_boundary e;
            lidx row = lev->boundary ? lev->boundary[i] : 0;
            same &= (row > 0) == mg_at_boundary((const lidx(*)[6])nbr, (const double(*)[8])here, i);
            boundaries += row > 0;
            mg_boundary_cells((const lidx(*)[6])nbr, (const double(*)[8])here, i, 3, &e);
            for (int q = 0; q < 8; q++)
                same &= !lev->boundary || (lev->boundaries[row].diag[ROW_ORDER[q]] == e.diag[q] &&
                                           lev->boundaries[row].safe[ROW_ORDER[q]] == e.safe[q]);
        }
        FREE(nbr);
        FREE(mask);
        mask = here;
    }
    check(same && boundaries > 50, "boundaries of coarse levels by rows and by cells");
    FREE(mask);
    mg_free(&g);
    world_free(&w);
}

/* ---- the equation holds on a refined level, also at its boundary, with the given boundary values
 * ---- */

/* guess: first guess inside (multigrid: fixed face value), or NULL (conjugate gradient: fixed value
 * beyond the face). */
static double equation_error(const struct world *w, int l, const double (*guess)[8], double fourpi,
                             double tfrac)
{
    const struct mesh *m = &w->m;
    const struct level *lv = &m->lev[l];
    const struct grav_source from = world_source(w, tfrac);
    double worst = 0, h2 = pow(4, l);
    for (lidx i = 0; i < lv->nown; i++)
        for (int k = 0; k < 8; k++) {
            double sum = 0, mid = lv->fld[FLD_PHI][i][k];
            for (int f = 0; f < 6; f++) {
                int s[3] = {0, 0, 0}, bit = 1 << f / 2, q = k ^ bit;
                bool out = ((k & bit) != 0) == (f & 1);
                s[f / 2] = f & 1 ? 1 : -1;
                lidx j = out ? mesh_neighbour(m, l, i, s[0], s[1], s[2]) : i;
                if (j >= 0) {
                    sum += lv->fld[FLD_PHI][j][q] - mid;
                } else { /* parent cell of the missing oct, found by its position */
                    okey key = okey_shift(lv->key[i], l, s[0], s[1], s[2], NULL);
                    double beyond[8];
                    grav_interpol_phi(m, l - 1, mesh_find(&m->lev[l - 1], key >> 3), (int)(key & 7),
                                      &from, beyond);
                    sum += beyond[q] + (guess ? guess[i][k] - mid : 0) - mid;
                }
            }
            double rhs = fourpi * (lv->fld[FLD_RHO][i][k] - w->from.rho_tot);
            worst = fmax(worst, fabs(sum * h2 - rhs));
        }
    return worst;
}

static void test_edge(int cg)
{
    static const double radius[2] = {0.19, 0.11};
    struct world w;
    world_make(&w, &all, DOMAIN_HILBERT, 4, 6, 1.5, false, radius);
    set_ball(&w);
    struct grav_par p = params(1e-10, cg);
    const double tfrac = 0.3;
    const struct grav_source from = {.tfrac = tfrac};
    world_solve(&w, &p, tfrac);
    for (int l = 5; l <= 6; l++) {
        struct level *lv = &w.m.lev[l];
        double(*guess)[8] = mem_new(sizeof *guess * (size_t)lv->nown + 1, "test"),
        peak = w.from.fourpi * ball_density(0, BALL * 1.5);
        for (lidx i = 0; i < lv->nown; i++)
            grav_interpol_phi(&w.m, l - 1, lv->parent[i], oct_slot(lv, i), &from, guess[i]);
        double e = all_max(equation_error(&w, l, cg > l ? (const double(*)[8])guess : NULL,
                                          1.5 * w.from.fourpi, tfrac));
        FREE(guess);
        check(
            e < 1e-8 * peak,
            "refined level: 7-point equation holds up to the edge (catches a wrong boundary term)");
    }
    grav_fini(&p);
    world_free(&w);
}

/* ---- interpolation reproduces linear functions; far field beyond boundaries ---- */

/* Far field of a mass outside of the box, interpolated at the boundary x = 0: largest error. */
static double far_field(struct world *w)
{
    const struct grav_source from = {.far = {1, {0.5, 0.4, -1}}};
    struct level *lv = &w->m.lev[4];
    double worst = 0, v[8], x[3], y[3];
    for (lidx i = 0; i < lv->noct; i++)
        for (int k = 0; k < 8; k++) {
            cell_at(&w->m, 4, i, k, x);
            lv->fld[FLD_PHI][i][k] = -1 / distance(w, x, from.far.com);
        }
    for (lidx i = 0; i < lv->nown; i++)
        for (int c = 0; c < 8 && lv->nbr[i][0] == NBR_BOUNDARY; c++) {
            grav_interpol_phi(&w->m, 4, i, c, &from, v);
            cell_at(&w->m, 4, i, c, x);
            for (int k = 0; k < 8; k++) {
                for (int d = 0; d < 3; d++) y[d] = x[d] + ((k >> d & 1) - 0.5) / 32;
                worst = fmax(worst, fabs(v[k] + 1 / distance(w, y, from.far.com)));
            }
        }
    return worst;
}

static void test_interpol(void)
{
    static const double radius[2] = {0.19, 0.11};
    struct world w;
    world_make(&w, &all, DOMAIN_KSECTION, 4, 5, 1.0, true, radius);
    struct level *lv = &w.m.lev[4], *fine = &w.m.lev[5];
    double worst = 0, v[8], x[3];
    for (lidx i = 0; i < lv->noct; i++)
        for (int k = 0; k < 8; k++) {
            cell_at(&w.m, 4, i, k, x);
            lv->fld[FLD_PHI][i][k] = 1 + 2 * x[0] - 3 * x[1] + 5 * x[2];
            lv->fld[FLD_PHI_OLD][i][k] = 1 + x[0];
        }
    for (lidx i = 0; i < fine->nown; i++) {
        const struct grav_source from = {.tfrac = 0.25};
        grav_interpol_phi(&w.m, 4, fine->parent[i], oct_slot(fine, i), &from, v);
        for (int k = 0; k < 8; k++) {
            cell_at(&w.m, 5, i, k, x);
            double now = 1 + 2 * x[0] - 3 * x[1] + 5 * x[2];
            worst = fmax(worst, fabs(v[k] - (now + 0.25 * (now - 1 - x[0]))));
        }
    }
    check(all_max(worst) < 1e-13,
          "interpolation of a linear field is exact in space and time (catches a swapped weight)");
    check(all_max(far_field(&w)) < 2e-3, "beyond boundaries it takes the far field");
    world_free(&w);
}

/* ---- isolated ball: second order ---- */

static double ball_error(int lmin, double epsilon)
{
    static const double radius[2] = {0.24, 0.13};
    struct world w;
    world_make(&w, &all, DOMAIN_KSECTION, lmin, lmin + 2, 3.0, true, radius);
    set_ball(&w);
    struct grav_par p = params(epsilon, 99);
    world_solve(&w, &p, 0);
    double sum[2] = {0, 0};
    for (int l = lmin; l <= lmin + 2; l++) {
        struct level *lv = &w.m.lev[l];
        double vol = pow(mesh_dx(&w.m, l), 3);
        for (lidx i = 0; i < lv->nown; i++)
            for (int k = 0; k < 8; k++) {
                double x[3];
                if (lv->child[i][k] >= 0) continue;
                cell_at(&w.m, l, i, k, x);
                double r = distance(&w, x, w.centre), f = ball_force(r, BALL * 3.0), e2 = 0;
                for (int d = 0; d < 3; d++)
                    e2 += pow(lv->fld[FLD_FX + d][i][k] - f * (x[d] - w.centre[d]) / r, 2);
                sum[0] += e2 * vol;
                sum[1] += f * f * vol;
            }
    }
    comm_add_f64(&all, sum, 2);
    grav_fini(&p);
    world_free(&w);
    return sqrt(sum[0] / sum[1]);
}

static void test_ball(void)
{
    double coarse = ball_error(4, 1e-7), fine = ball_error(5, 1e-7);
    check(fine < 0.004, "isolated ball: force error (catches a wrong 4πG, sign or unit of length)");
    check(coarse > 3.0 * fine,
          "isolated ball: second order with two refined levels (catches a first-order edge)");
    if (all.rank == 0) printf("   force error %.2e → %.2e\n", coarse, fine);
}

/* ---- a periodic density whose potential is known: second order on every level ---- */

/* φ = −exp(κ (Σ cos 2π(x_d − c_d) − 3)), a smooth periodic well of width about 0.06 around c; box
 * of side 1. */
static const double WELL = 8;

/* f = −∇φ; returns ∇²φ. */
static double well(const double c[3], const double x[3], double f[3])
{
    double cosines = 0, sines2 = 0, turn[3];
    for (int d = 0; d < 3; d++) {
        turn[d] = 2 * PI * (x[d] - c[d]);
        cosines += cos(turn[d]);
        sines2 += sin(turn[d]) * sin(turn[d]);
    }
    double e = exp(WELL * (cosines - 3));
    for (int d = 0; d < 3; d++) f[d] = -2 * PI * WELL * e * sin(turn[d]);
    return 4 * PI * PI * WELL * e * (cosines - WELL * sines2);
}

enum { WELL_LEVELS = 3, WELL_NORMS = 3 }; /* norms: L1, L2, L∞ */

/* Errors over the leaf cells of a level. */
struct errors {
    double sum[4]; /* sums of |error|, |error|², volume, |force|² */
    double max;
};

static void well_fill(struct world *w)
{
    struct mesh *m = &w->m;
    struct sum mean; /* the equation has no solution for a nonzero mean on the mesh */
    double x[3], f[3];
    sum_init(&mean);
    for (int l = m->levelmin; l <= m->levelmax; l++)
        for (lidx i = 0; i < m->lev[l].nown; i++)
            for (int k = 0; k < 8; k++) {
                cell_at(m, l, i, k, x);
                m->lev[l].fld[FLD_RHO][i][k] = 1 + well(w->centre, x, f) / w->from.fourpi;
                if (l == m->levelmin) sum_add(&mean, m->lev[l].fld[FLD_RHO][i][k] / pow(8, l));
            }
    comm_sum(&w->c, &mean);
    w->from.rho_tot = sum_get(&mean);
}

static void well_cell(const struct world *w, int l, lidx i, int k, struct errors *e)
{
    const struct level *lv = &w->m.lev[l];
    double x[3], f[3], e2 = 0, vol = pow(mesh_dx(&w->m, l), 3);
    if (lv->child[i][k] >= 0) return;
    cell_at(&w->m, l, i, k, x);
    well(w->centre, x, f);
    for (int d = 0; d < 3; d++) {
        e2 += pow(lv->fld[FLD_FX + d][i][k] - f[d], 2);
        e->sum[3] += vol * f[d] * f[d];
    }
    e->sum[0] += vol * sqrt(e2);
    e->sum[1] += vol * e2;
    e->sum[2] += vol;
    e->max = fmax(e->max, sqrt(e2));
}

/* L1, L2 and L∞ errors of the force on the leaf cells of each level, over the rms force of the box.
 */
static void well_errors(int lmin, struct grav_par p, double out[WELL_LEVELS][WELL_NORMS])
{
    static const double radius[2] = {0.26, 0.14};
    struct world w;
    struct errors e[WELL_LEVELS] = {{{0}, 0}};
    double f2 = 0;
    world_make(&w, &all, DOMAIN_KSECTION, lmin, lmin + WELL_LEVELS - 1, 1.0, false, radius);
    well_fill(&w);
    world_solve(&w, &p, 0);
    for (int q = 0; q < WELL_LEVELS; q++) {
        for (lidx i = 0; i < w.m.lev[lmin + q].nown; i++)
            for (int k = 0; k < 8; k++) well_cell(&w, lmin + q, i, k, &e[q]);
        comm_add_f64(&all, e[q].sum, 4);
        f2 += e[q].sum[3];
    }
    for (int q = 0; q < WELL_LEVELS; q++) {
        out[q][0] = e[q].sum[0] / e[q].sum[2] / sqrt(f2);
        out[q][1] = sqrt(e[q].sum[1] / e[q].sum[2] / f2);
        out[q][2] = all_max(e[q].max) / sqrt(f2);
    }
    grav_fini(&p);
    world_free(&w);
}

/* Base levels of 16³, 32³ and 64³ cells, by Fourier transforms or multigrid; two further levels
 * around the well. */
static void test_well(struct grav_par p)
{
    static const double min[WELL_NORMS] = {1.9, 1.9, 1.75};
    double e[3][WELL_LEVELS][WELL_NORMS];
    for (int i = 0; i < 3; i++) well_errors(4 + i, p, e[i]);
    for (int q = 0; q < WELL_LEVELS; q++)
        for (int n = 0; n < WELL_NORMS; n++) {
            double order = log2(e[1][q][n] / e[2][q][n]);
            check(order > min[n], "well: force of second order on each level (catches a "
                                  "first-order guess at an edge)");
            if (all.rank == 0)
                printf("   well, level +%d, norm %d: %.3e %.3e %.3e, order %.2f\n", q, n,
                       e[0][q][n], e[1][q][n], e[2][q][n], order);
        }
    check(e[2][2][1] < 1e-2, "well: force error (catches a wrong source)");
}

/* ---- identical results for any ranks, threads, decomposition and number of shared levels ---- */

static bool same_rows(const struct world *w, const struct world *ref, int l, int fld)
{
    const struct level *a = &w->m.lev[l], *b = &ref->m.lev[l];
    for (lidx i = 0; i < a->noct; i++) { /* including ghosts */
        lidx j = mesh_find(b, a->key[i]);
        if (j < 0 || memcmp(a->fld[fld][i], b->fld[fld][j], sizeof(double[8])) != 0) return false;
    }
    return true;
}

static void test_bits(bool isolated, struct grav_par with, unsigned char safe)
{
    static const double radius[3] = {0.23, 0.16, 0.1};
    struct world ref;
    int threads = omp_get_max_threads();
    omp_set_num_threads(1);
    world_make(&ref, &alone, DOMAIN_HILBERT, 4, 6, 1.0, isolated, radius);
    set_ball(&ref);
    struct grav_par p0 = with;
    memset(p0.safe, safe, sizeof p0.safe);
    struct grav_report r0 = world_solve(&ref, &p0, 0.4);
    check(r0.converged, "converges with two refined levels");
    for (int kind = DOMAIN_KSECTION; kind <= DOMAIN_HILBERT; kind++)
        for (int n = 1; n <= 3; n += 2) {
            omp_set_num_threads(n);
            struct world w;
            world_make(&w, &all, (enum domain_kind)kind, 4, 6, 1.0, isolated, radius);
            set_ball(&w);
            struct grav_par p = with;
            memset(p.safe, safe, sizeof p.safe);
            struct grav_report r = world_solve(&w, &p, 0.4);
            bool same = r.cycles == r0.cycles && r.error == r0.error;
            for (int l = 4; l <= 6; l++)
                for (int f = FLD_PHI; f <= FLD_FZ; f++) same &= same_rows(&w, &ref, l, f);
            check(same, "same bits as alone (catches stale ghosts and sums that depend on order)");
            grav_fini(&p);
            world_free(&w);
        }
    grav_fini(&p0);
    world_free(&ref);
    omp_set_num_threads(threads);
}

/* ---- cached hierarchies ---- */

/* Rounds of messages of the solve of level l. */
static int64_t solve_rounds(struct world *w, int l, struct grav_par *p)
{
    int64_t before = comm_rounds();
    grav_solve(&w->m, &w->c, l, &w->from, p);
    return comm_rounds() - before;
}

static void test_kept(void)
{
    enum { L = 6 };
    static const double radius[2] = {0.24, 0.13};
    struct world w;
    struct grav_par p = params(1e-5, 99), fresh = p;
    world_make(&w, &all, DOMAIN_KSECTION, 4, L, 1.0, false, radius);
    set_ball(&w);
    world_solve(&w, &p, 0);
    for (int change = 0; change < 2; change++) {
        struct level *lv = &w.m.lev[L];
        if (change) world_refine(&w, L - 1, 0.09);
        size_t bytes = sizeof lv->fld[FLD_PHI][0] * (size_t)lv->noct;
        int64_t rounds = solve_rounds(&w, L, &p);
        void *phi = mem_new(bytes + 1, "test");
        memcpy(phi, lv->fld[FLD_PHI], bytes);
        int64_t anew = solve_rounds(&w, L, &fresh);
        check(memcmp(phi, lv->fld[FLD_PHI], bytes) == 0,
              change ? "a hierarchy of octs that are no more is not used"
                     : "a hierarchy that is kept changes no bit");
        check(shared_octs || (rounds < anew) == (all.size > 1 && !change),
              "it is built when a list of octs has changed, and then alone");
        FREE(phi);
        grav_fini(&fresh);
        fresh = params(1e-5, 99);
    }
    grav_fini(&p);
    world_free(&w);
}

/* ---- gas deposit ---- */

/* Multigrid and Fourier transforms solve the same equation; forces are compared, which have no free
 * constant. The plan cached in struct grav_par must be renewed when the domains change. */
static void test_fourier(void)
{
    static const double radius[1] = {0.2};
    struct world ref, w;
    struct grav_par mg = params(1e-10, 99), fft = params_fft(1e-10, GREEN_DISCRETE);
    world_make(&ref, &alone, DOMAIN_HILBERT, 4, 5, 1.0, false, radius);
    set_ball(&ref);
    world_solve(&ref, &mg, 0);
    for (int kind = DOMAIN_KSECTION; kind <= DOMAIN_HILBERT; kind++) {
        double worst = 0, max = 0;
        world_make(&w, &all, (enum domain_kind)kind, 4, 5, 1.0, false, radius);
        set_ball(&w);
        world_solve(&w, &fft, 0);
        for (int l = 4; l <= 5; l++)
            for (lidx i = 0; i < w.m.lev[l].noct; i++) {
                lidx j = mesh_find(&ref.m.lev[l], w.m.lev[l].key[i]);
                for (int k = 0; k < 8; k++)
                    for (int d = FLD_FX; d <= FLD_FZ; d++) {
                        double f = ref.m.lev[l].fld[d][j][k];
                        max = fmax(max, fabs(f));
                        worst = fmax(worst, fabs(w.m.lev[l].fld[d][i][k] - f));
                    }
            }
        check(all_max(worst) < 1e-9 * all_max(max),
              "Fourier solver = multigrid to 1e-9, also on the finer level");
        grav_forget(&fft, 1);
        world_free(&w);
    }
    grav_fini(&fft);
    grav_fini(&mg);
    world_free(&ref);
}

static void set_gas(struct world *w)
{
    for (int l = w->m.levelmax; l >= w->m.levelmin; l--) {
        struct level *lv = &w->m.lev[l], *up = l < w->m.levelmax ? &w->m.lev[l + 1] : NULL;
        for (lidx i = 0; i < lv->nown; i++)
            for (int k = 0; k < 8; k++) {
                double x[3], mean = 0;
                cell_at(&w->m, l, i, k, x);
                lidx j = lv->child[i][k];
                for (int q = 0; q < 8 && j >= 0; q++) mean += up->fld[FLD_U][j][q] / 8;
                lv->fld[FLD_U][i][k] = j >= 0 ? mean
                                              : 1.1 + sin(17 * x[0]) * cos(9 * x[1]) + 0.05 * x[2];
            }
        ghost_fill_hydro(&w->c, &w->m, l);
    }
}

/* Deposits all levels into RHO; returns the mass on the base level, and its first moment in
 * moment[3]. */
static double deposit(struct world *w, double moment[3])
{
    const double quantum = 0x1p-58;
    struct mesh *m = &w->m;
    double(*com[LEVEL_MAX + 2])[3] = {0};
    int64_t total = 0;
    struct sum first[3];
    for (int d = 0; d < 3; d++) sum_init(&first[d]);
    set_gas(w);
    grav_moments(m, &w->c, m->levelmin, com);
    for (int l = m->levelmin; l <= m->levelmax; l++) {
        struct level *lv = &m->lev[l];
        int64_t(*mass)[8] = mem_zero(sizeof *mass * (size_t)lv->noct + 1, "test");
        grav_deposit_gas(m, l, quantum, l < m->levelmax ? (const double(*)[3])com[l + 1] : NULL,
                         1e-10, mass);
        ghost_add_i64(&w->c, &lv->plan, 1, &mass);
        for (lidx i = 0; i < lv->nown; i++)
            for (int k = 0; k < 8; k++) {
                double x[3];
                lv->fld[FLD_RHO][i][k] = (double)mass[i][k];
                if (l > m->levelmin) continue;
                cell_at(m, l, i, k, x);
                total += mass[i][k];
                for (int d = 0; d < 3; d++) sum_add(&first[d], (double)mass[i][k] * quantum * x[d]);
            }
        ghost_fill(&w->c, m, l, 1, (int[]){FLD_RHO});
        FREE(mass);
    }
    for (int l = m->levelmin; l <= m->levelmax; l++) FREE(com[l]);
    comm_add_i64(&w->c, &total, 1);
    for (int d = 0; d < 3; d++) {
        comm_sum(&w->c, &first[d]);
        moment[d] = sum_get(&first[d]);
    }
    return (double)total * quantum;
}

static void gas_moments(struct world *w, double out[4])
{
    for (int j = 0; j < 4; j++) out[j] = 0;
    for (int l = w->m.levelmin; l <= w->m.levelmax; l++)
        for (lidx i = 0; i < w->m.lev[l].nown; i++)
            for (int k = 0; k < 8; k++) {
                double x[3], mass = w->m.lev[l].fld[FLD_U][i][k] * pow(mesh_dx(&w->m, l), 3);
                if (w->m.lev[l].child[i][k] >= 0) continue;
                cell_at(&w->m, l, i, k, x);
                out[0] += mass;
                for (int d = 0; d < 3; d++) out[1 + d] += mass * x[d];
            }
    comm_add_f64(&w->c, out, 4);
}

static void test_deposit(void)
{
    static const double radius[2] = {0.2, 0.12};
    struct world w, ref;
    double at[3], want[4], at_ref[3];
    /* refined away from the boundaries: no mass is lost */
    world_make(&w, &all, DOMAIN_KSECTION, 4, 6, 1.0, true, radius);
    double mass = deposit(&w, at);
    gas_moments(&w, want);
    check(fabs(mass - want[0]) < 1e-12 * want[0],
          "deposit: mass of the base level (catches split cells counted twice)");
    double off = 0;
    for (int d = 0; d < 3; d++) off = fmax(off, fabs(at[d] - want[1 + d]));
    check(off < 1e-12,
          "deposit: first moment is that of the leaves (catches pseudo-particles at cell centres)");
    world_free(&w);

    world_make(&w, &all, DOMAIN_HILBERT, 4, 6, 1.0, false, radius);
    world_make(&ref, &alone, DOMAIN_HILBERT, 4, 6, 1.0, false, radius);
    int threads = omp_get_max_threads();
    omp_set_num_threads(all.size == 1 ? 4 : 1); /* spinning threads starve other ranks */
    deposit(&w, at);
    omp_set_num_threads(1);
    deposit(&ref, at_ref);
    omp_set_num_threads(threads);
    bool same = true;
    for (int l = 4; l <= 6; l++) same &= same_rows(&w, &ref, l, FLD_RHO);
    check(same, "deposit: same bits as alone (catches shares lost between ranks or threads)");
    world_free(&w);
    world_free(&ref);
}

int main(int argc, char **argv)
{
    comm_init(&argc, &argv, &all);
    test_mode();
    test_black();
    test_boundaries();
    test_edge(99);
    test_edge(5);
    test_interpol();
    test_ball();
    test_well(params_fft(1e-6, GREEN_DISCRETE));
    test_well(params(1e-6, 99));
    for (int shared = 0; shared < 2; shared++) {
        shared_octs = shared ? MAX_SHARED : 0;
        test_exchanges();
        test_kept();
        for (int isolated = 0; isolated < 2; isolated++) test_bits(isolated, params(1e-5, 99), 0);
    }
    for (int isolated = 0; isolated < 2; isolated++) {
        shared_octs = isolated ? 100 : 0;
        test_bits(isolated, params(1e-5, 99), 1);
        test_bits(isolated, params(1e-5, 5), 0);
    }
    test_bits(false, params_fft(1e-5, GREEN_DISCRETE), 0);
    test_fourier();
    test_deposit();
    if (all.rank == 0) printf("%d passed, %d failed\n", (int)passed, (int)failed);
    comm_fini();
    return failed != 0;
}
