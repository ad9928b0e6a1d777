/* Linear waves along the diagonal of a periodic box return to their initial state after one period;
 * the error falls with the square of the cell size. Sound waves in both directions and an entropy
 * wave, amplitude 1e-6 (as Athena's hydro_linwave).
 *
 * Limits: order of the RMS of L1 errors at least 1.9 from 32 to 64 cells; errors of both sound
 * waves equal within 1e-3. Catches: a predictor without its half step (order 1), a slope that is
 * not centred.
 *
 * test: tier=check timeout=300 mpi=1 */
#include <math.h>
#include <stdio.h>

#include "adapt/adapt.h"
#include "base/mem.h"
#include "dom/ghost.h"
#include "hydro/hydro.h"

enum wave { SOUND_RIGHT, SOUND_LEFT, ENTROPY };

static const double GAMMA = 5.0 / 3, AMPLITUDE = 1e-6, TWO_PI = 6.283185307179586, ORDER = 1.9;

struct box {
    struct comm c;
    struct domain *d;
    struct mesh m;
    int l;
};

static void box_make(struct box *b, const struct comm *c, int l)
{
    static const bool periodic[6];
    *b = (struct box){.c = *c, .l = l};
    b->d = domain_new(DOMAIN_KSECTION, c->size, l, periodic);
    mesh_init(&b->m, l, l, 5, true, false, 1.0, periodic);
    adapt_build(&b->m, c, b->d);
}

static void box_free(struct box *b)
{
    mesh_fini(&b->m);
    domain_free(b->d);
}

/* Mean of sin over the cell that begins at phase x, along three directions: 8 sin³(h/2) sin(x +
 * 3h/2) / h³. */
static double mean_sine(double x, double h)
{
    double s = 2 * sin(0.5 * h) / h;
    return s * s * s * sin(x + 1.5 * h);
}

/* Conserved variables of a cell: the background rho = 1, P = 1/gamma (sound speed 1) and an
 * eigenvector. */
static void wave_state(enum wave wave, double sine, double u[5])
{
    double v0 = wave == ENTROPY ? 1 : 0, a = AMPLITUDE * sine, n = 1 / sqrt(3);
    double rho = 1 + a, p = 1 / GAMMA, v = v0;
    if (wave != ENTROPY) {
        p += a;
        v += wave == SOUND_RIGHT ? a : -a;
    }
    u[0] = rho;
    for (int d = 0; d < 3; d++) u[1 + d] = rho * v * n;
    u[4] = p / (GAMMA - 1) + 0.5 * rho * v * v;
}

static double cell_phase(const struct box *b, lidx i, int k)
{
    int64_t o[3], sum = 0;
    okey_coords(b->m.lev[b->l].key[i], o);
    for (int d = 0; d < 3; d++) sum += 2 * o[d] + (k >> d & 1);
    return TWO_PI * (double)sum * mesh_dx(&b->m, b->l);
}

static void wave_set(struct box *b, enum wave wave)
{
    struct level *lv = &b->m.lev[b->l];
    for (lidx i = 0; i < lv->nown; i++)
        for (int k = 0; k < 8; k++) {
            double u[5];
            wave_state(wave, mean_sine(cell_phase(b, i, k), TWO_PI * mesh_dx(&b->m, b->l)), u);
            for (int n = 0; n < 5; n++) lv->fld[FLD_U + n][i][k] = u[n];
        }
}

/* Root of the summed squares of the L1 errors of the conserved variables. */
static double wave_error(const struct box *b, enum wave wave)
{
    const struct level *lv = &b->m.lev[b->l];
    double error[6] = {0};
    for (lidx i = 0; i < lv->nown; i++)
        for (int k = 0; k < 8; k++) {
            double u[5];
            wave_state(wave, mean_sine(cell_phase(b, i, k), TWO_PI * mesh_dx(&b->m, b->l)), u);
            for (int n = 0; n < 5; n++) error[n] += fabs(lv->fld[FLD_U + n][i][k] - u[n]);
            error[5]++;
        }
    comm_add_f64(&b->c, error, 6);
    double sum = 0;
    for (int n = 0; n < 5; n++) sum += error[n] * error[n];
    return sqrt(sum) / error[5];
}

/* Error after one period on 2^l cells along each side. */
static double run(const struct comm *c, int l, enum wave wave, int slope_type)
{
    struct box b;
    struct hydro_par p = {.nvar = 5,
                          .gamma = GAMMA,
                          .smallr = 1e-10,
                          .smallc = 1e-10,
                          .courant_factor = 0.8,
                          .riemann = RIEMANN_HLLC,
                          .slope_type = (enum slope)slope_type,
                          .slope_theta = 1.5,
                          .err_grad_d = -1,
                          .err_grad_p = -1,
                          .err_grad_u = -1};
    box_make(&b, c, l);
    wave_set(&b, wave);
    ghost_fill_hydro(c, &b.m, l);
    double dt = hydro_courant(&b.m, l, &p, NULL), period = 1 / sqrt(3);
    comm_min_f64(c, &dt, 1);
    int steps = (int)ceil(period / dt);
    for (int s = 0; s < steps; s++) {
        hydro_update(&b.m, l, period / steps, 0, &p, NULL, NULL);
        ghost_fill_hydro(c, &b.m, l);
    }
    double error = wave_error(&b, wave);
    box_free(&b);
    return error;
}

int main(int argc, char **argv)
{
    static const char *const name[] = {"sound, right", "sound, left", "entropy"};
    struct comm c;
    int failed = 0;
    double fine[3];
    comm_init(&argc, &argv, &c);
    for (int w = SOUND_RIGHT; w <= ENTROPY; w++) {
        double coarse = run(&c, 5, (enum wave)w, 2), order;
        fine[w] = run(&c, 6, (enum wave)w, 2);
        order = log2(coarse / fine[w]);
        if (c.rank == 0)
            printf("%-14s error %.3e with 32 cells, %.3e with 64: order %.3f (at least %.1f)\n",
                   name[w], coarse, fine[w], order, ORDER);
        failed += !(order >= ORDER);
    }
    double unlike = fabs(fine[SOUND_LEFT] / fine[SOUND_RIGHT] - 1);
    if (c.rank == 0) printf("left and right differ by %.1e (at most 1e-3)\n", unlike);
    failed += !(unlike <= 1e-3);
    comm_fini();
    return failed != 0;
}
