/* stencil/force: see force.h. */
#include "stencil/force.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "stencil/turb.h"
#include "stencil/waves.h"

struct force {
    double constant[3];
    struct waves shell, wave; /* waves to choose from; the one of a step. No wave: n is 0 */
    double sigma;
    struct driven *driven;
    double time; /* since the start of the run: all that the process needs to resume */
};

static enum err waves_new(const struct stencil *t, struct force *f);

enum err force_new(const struct stencil *t, struct force **out)
{
    const struct param_stencil *p = &t->par->stencil;
    const char *name = p->forcing;
    *out = NULL;
    if (strcmp(name, "none") == 0) return OK;
    if (!t->eq.flow)
        FAIL(ERR_PARAM, "stencil_params/forcing='%s' needs a gas that moves: set hydro=.true.",
             name);
    struct force *f = *out = mem_zero(sizeof *f, "force");
    enum err e = OK;
    if (strcmp(name, "constant") == 0) {
        memcpy(f->constant, p->f_const, sizeof f->constant);
    } else if (strcmp(name, "turb") == 0) {
        e = driven_new(t, &f->driven);
    } else {
        f->sigma = strcmp(name, "helical") == 0 ? p->sigma : 0;
        e = waves_new(t, f);
    }
    if (e != OK) force_free(out);
    return e;
}

void force_free(struct force **f)
{
    if (!*f) return;
    waves_free(&(*f)->shell);
    waves_free(&(*f)->wave);
    driven_free(&(*f)->driven);
    FREE(*f);
}

int force_state(struct force *f, double **state)
{
    *state = f && f->driven ? &f->time : NULL;
    return *state ? 1 : 0;
}

/* ---- helical waves (Brandenburg 2001, section 2) ---- */

static double in_shell(double kappa, double kf)
{
    return kappa > kf - 0.5 && kappa < kf + 0.5;
}

static enum err waves_new(const struct stencil *t, struct force *f)
{
    const double kf = t->par->stencil.kf;
    char what[64];
    snprintf(what, sizeof what, "stencil_params/kf=%g", kf);
    TRY(waves_list(&f->shell, t, in_shell, kf, kf + 0.5, false, what));
    waves_one(&f->wave);
    return OK;
}

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void cross(const double a[3], const double b[3], double c[3])
{
    for (int d = 0; d < 3; d++)
        c[d] = a[(d + 1) % 3] * b[(d + 2) % 3] - a[(d + 2) % 3] * b[(d + 1) % 3];
}

/* A unit vector across k: k×e/|k×e| with a random direction e. */
static void unit_across(struct rng *g, const double k[3], double v[3])
{
    double square;
    do {
        double z = 2 * rng_uniform(g) - 1, angle = 2 * M_PI * rng_uniform(g), r = sqrt(1 - z * z);
        const double e[3] = {r * cos(angle), r * sin(angle), z};
        cross(k, e, v);
        square = dot(v, v);
    } while (square < 1e-6 * dot(k, k));
    for (int d = 0; d < 3; d++) v[d] /= sqrt(square);
}

/* Chooses the wave of step `it`: N (v − iσ v×k/|k|)/sqrt(1+σ²) exp(iφ), with v across k. */
static void choose(struct force *f, const struct stencil *t, int64_t it, double dt)
{
    enum { PURPOSE = 0x666f7263 }; /* 'forc' */
    const struct param_stencil *p = &t->par->stencil;
    struct rng g = rng_make(rng_mix((uint64_t)p->seed ^ PURPOSE), (uint64_t)it, 0);
    int i = (int)(rng_uniform(&g) * f->shell.n);
    double k[3], v[3], w[3], phase = M_PI * (2 * rng_uniform(&g) - 1);
    waves_vector(t, f->shell.k[i], k);
    unit_across(&g, k, v);
    cross(v, k, w);
    const double length = sqrt(dot(k, k)), cs = t->eq.cs0;
    const double size = p->f0 * cs * sqrt(length * cs / dt) / sqrt(1 + f->sigma * f->sigma);
    for (int d = 0; d < 3; d++) {
        double re = size * v[d], im = -size * f->sigma * w[d] / length;
        f->wave.k[0][d] = f->shell.k[i][d];
        f->wave.amp[0][d][0] = re * cos(phase) - im * sin(phase);
        f->wave.amp[0][d][1] = re * sin(phase) + im * cos(phase);
    }
}

/* ---- a step ---- */

static void add_constant(const struct stencil *t, const double a[3], double dt, double *const u[3])
{
    const struct brick *b = &t->brick;
#pragma omp parallel for collapse(2) schedule(static)
    for (int z = 0; z < b->own[2]; z++)
        for (int y = 0; y < b->own[1]; y++)
            for (int d = 0; d < 3; d++) {
                double *row = u[d] + stencil_at(b, 0, y, z);
                for (int x = 0; x < b->own[0]; x++) row[x] += dt * a[d];
            }
}

void force_kick(struct force *f, const struct stencil *t, int64_t it, double dt, double *const u[3])
{
    if (f->driven) {
        waves_add(driven_at(f->driven, f->time), t, dt, log(t->par->turb.turb_min_rho), u);
        f->time += dt;
    } else if (f->wave.n > 0) {
        choose(f, t, it, dt);
        waves_add(&f->wave, t, dt, -HUGE_VAL, u);
    } else {
        add_constant(t, f->constant, dt, u);
    }
}
