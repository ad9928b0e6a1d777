/* hydro_flag compared with a direct implementation of the criterion, cell by cell: each quantity
 * alone and all together, at coarse–fine boundaries and boundaries of the box, with negative
 * pressures. Catches, among others: a jump that is missed, a neighbour of another cell, a floor
 * left out.
 *
 * test: tier=quick */
#include <math.h>
#include <stdio.h>

#include "base/mem.h"
#include "check.h"
#include "gas_mesh.h"
#include "hydro/interp_kern.h"

static struct hydro_par flag_par(void)
{
    return (struct hydro_par){.nvar = 5,
                              .gamma = 1.4,
                              .smallr = 1e-10,
                              .smallc = 1e-10,
                              .err_grad_d = -1,
                              .err_grad_p = -1,
                              .err_grad_u = -1,
                              .floor_d = 1e-10,
                              .floor_p = 1e-2,
                              .floor_u = 1e-10};
}

/* Waves, and noise from a linear congruential generator. */
static void fill(struct mesh *m)
{
    uint64_t seed = 5;
    for (int l = m->levelmin; l <= m->levelmax; l++) {
        double(**u)[8] = m->lev[l].fld + FLD_U;
        for (lidx i = 0; i < m->lev[l].nown; i++) {
            for (int k = 0; k < 8; k++) {
                double noise[5];
                for (int v = 0; v < 5; v++) {
                    seed = seed * 6364136223846793005u + 1442695040888963407u;
                    noise[v] = (double)(int64_t)seed * 0x1p-63;
                }
                u[0][i][k] = 2.0 + sin(0.1 * i) + 0.2 * noise[0];
                for (int v = 1; v < 4; v++) u[v][i][k] = cos(0.2 * i + v) + 0.3 * noise[v];
                u[4][i][k] = 3.0 + sin(0.3 * i) + 0.3 * noise[4];
            }
        }
    }
}

/* Density, velocities, pressure, sound speed. */
static void flag_state(const double *u, const struct hydro_par *p, double *q)
{
    double ekin = 0;
    q[0] = fmax(u[0], p->smallr);
    for (int d = 1; d <= 3; d++) q[d] = u[d] / q[0];
    for (int d = 1; d <= 3; d++) ekin += 0.5 * q[0] * (q[d] * q[d]);
    q[4] = (p->gamma - 1.0) * (u[4] - ekin);
    q[5] = sqrt(fmax(p->gamma * q[4] / q[0], p->floor_u * p->floor_u));
}

/* Relative jump of quantity v between two cells, lower cell first. */
static double jump(const double *a, const double *b, int v, const struct hydro_par *p)
{
    double s = a[v] + b[v] + (v == 0 ? p->floor_d : p->floor_p);
    if (v >= 1 && v <= 3) s = a[5] + b[5] + fabs(b[v]) + fabs(a[v]) + p->floor_u;
    return fabs((b[v] - a[v]) / s);
}

/* Direct implementation of the criterion for one cell. */
static bool is_flagged(const struct mesh *m, int l, lidx i, int c, const struct hydro_par *p)
{
    const double limit[5] = {p->err_grad_d, p->err_grad_u, p->err_grad_u, p->err_grad_u,
                             p->err_grad_p};
    double u[NVAR_MAX], mid[6], side[2][6];
    bool steep = false;
    for (int v = 0; v < p->nvar; v++) u[v] = m->lev[l].fld[FLD_U + v][i][c];
    flag_state(u, p, mid);
    for (int d = 0; d < 3; d++) {
        for (int s = 0; s < 2; s++) {
            hydro_state_across(m, l, i, c, 2 * d + s, p, u);
            flag_state(u, p, side[s]);
        }
        for (int v = 0; v < 5; v++)
            steep |= limit[v] >= 0 &&
                     2.0 * fmax(jump(side[0], mid, v, p), jump(mid, side[1], v, p)) > limit[v];
    }
    return steep;
}

static int flag_compare(const struct mesh *m, const struct hydro_par *p)
{
    int n = 0, wrong = 0;
    for (int l = m->levelmin; l <= m->levelmax; l++) {
        unsigned char(*ok)[8] = mem_zero(8 * (size_t)m->lev[l].noct, "test");
        hydro_flag(m, l, p, ok);
        for (lidx i = 0; i < m->lev[l].nown; i++) {
            for (int c = 0; c < 8; c++) {
                n += ok[i][c];
                wrong += ok[i][c] != is_flagged(m, l, i, c, p);
            }
        }
        mem_free(ok);
    }
    CHECK(wrong == 0, "%d cells flagged otherwise than by the formula", wrong);
    return n;
}

/* Tests each criterion alone and all together, at coarse–fine boundaries and boundaries of the
 * box. */
static void test_flags(void)
{
    const bool box[6] = {false, false, true, true, false, false};
    for (int k = 0; k < 12; k++) {
        struct hydro_par p = flag_par();
        struct mesh m;
        int n;
        p.bound[2] = BOUND_REFLECT;
        p.bound[3] = BOUND_OUTFLOW;
        if (k % 4 == 0 || k % 4 == 3) p.err_grad_d = k < 4 ? 0.25 : 0.5;
        if (k % 4 == 1 || k % 4 == 3) p.err_grad_p = k < 4 ? 0.3 : 0.8;
        if (k % 4 == 2 || k % 4 == 3) p.err_grad_u = k < 4 ? 0.4 : 0.6;
        gas_mesh(&m, 3, 5, &p, false, box, refine_ball);
        fill(&m);
        for (lidx i = 0; k >= 8 && i < m.lev[4].nown; i += 3) /* pressures below zero */
            m.lev[4].fld[FLD_U + 4][i][i & 7] *= -0.3;
        n = flag_compare(&m, &p);
        CHECK(n > 100 && n < 8 * (m.lev[3].nown + m.lev[4].nown + m.lev[5].nown) - 50, "%d: %d", k,
              n);
        mesh_fini(&m);
    }
}

int main(void)
{
    test_flags();
    printf("steep_test: %d passed, %d failed\n", passed, failed);
    return failed != 0;
}
