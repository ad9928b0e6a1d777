/* deposit/particles: the gas of a checkpoint in memory. */
#include "deposit/particles.h"

#include <math.h>

#include "base/mem.h"
#include "oct/gas_kern.h"

/* Energies that give the pressure of the equation of state; a gas without own energy has those of
 * the ratio 5/3 of specific heats. */
static void make_energies(struct deposit_particles *s)
{
    const struct smooth_par *q = &s->par;
    const bool own = q->eos == SMOOTH_ADIABATIC && q->gamma > 1;
    s->gamma = own ? q->gamma : 5. / 3;
    s->e = mem_new(sizeof *s->e * (size_t)s->p.n + 1, "deposit");
    for (int64_t i = 0; i < s->p.n; i++) {
        double pressure, speed;
        s->e[i] = s->p.u[i];
        if (own) continue;
        smooth_pressure(q, &s->p, i, &pressure, &speed);
        s->e[i] = gas_internal_of(pressure, s->gamma) / smooth_rho(q, s->p.h[i]);
    }
}

static void make_gas(struct deposit_particles *s)
{
    struct deposit_gas *g = &s->gas;
    *g = (struct deposit_gas){.n = s->p.n,
                              .h = s->p.h,
                              .e = s->e,
                              .id = s->p.id,
                              .mass = s->par.mass,
                              .kernel = s->par.kernel};
    for (int d = 0; d < 3; d++) g->x[d] = s->p.x[d], g->v[d] = s->p.v[d];
    s->cube = deposit_cube(g, s->lo, s->periodic ? s->side : NULL);
}

static enum err read_all(struct deposit_particles *s, const char *path)
{
    TRY(sphfile_either_open(path, false, &s->in));
    s->head = s->in->head;
    TRY(sphfile_get_par(s->head, path, &s->par, s->lo, s->side, &s->periodic));
    if (s->head->n == 0)
        FAIL(ERR_PARAM, "%s: has no particles, of which there could be a picture", path);
    smooth_reserve(&s->p, s->head->n);
    return sphfile_either_rows(s->in, 0, s->head->n, &s->p);
}

enum err deposit_open(const char *path, struct deposit_particles **out)
{
    struct deposit_particles *s = *out = mem_zero(sizeof *s, "deposit");
    const enum err err = read_all(s, path);
    if (err == OK) {
        make_energies(s);
        make_gas(s);
    } else {
        deposit_close(out);
    }
    return err;
}

void deposit_close(struct deposit_particles **out)
{
    struct deposit_particles *s = *out;
    if (!s) return;
    smooth_free(&s->p);
    FREE(s->e);
    sphfile_either_close(&s->in);
    FREE(*out);
}

/* ---- the header ---- */

/* Outflow through all faces; edges and corners belong to the faces along the later axes. */
static void open_boundary(struct boundary *b)
{
    b->n = 6;
    for (int f = 0; f < 6; f++) {
        struct boundary_region *r = &b->region[f];
        *r = (struct boundary_region){.face = f, .type = BOUNDARY_OUTFLOW};
        for (int d = 0; d < f / 2; d++) r->low[d] = -1, r->high[d] = 1;
        r->low[f / 2] = r->high[f / 2] = f % 2 ? 1 : -1;
    }
}

/* A unit of the header, 1 if it has none. */
static double unit(const struct deposit_particles *s, const char *name)
{
    double x;
    return sphfile_get(s->head, name, &x) && x > 0 ? x : 1;
}

void deposit_head(const struct deposit_particles *s, struct ckpt_head *h)
{
    const double length = unit(s, "udist"), mass = unit(s, "umass");
    *h = (struct ckpt_head){.ndim = 3,
                            .hydro = true,
                            .nvar = DEPOSIT_VALUES,
                            .gamma = s->gamma,
                            .smallr = DEPOSIT_FLOOR * (double)s->gas.n * s->gas.mass /
                                      pow(s->cube.side, 3),
                            .boxlen = s->cube.side,
                            .t = s->head->t,
                            .nstep = (int)(s->head->it % INT32_MAX),
                            .aexp = 1,
                            .unit_l = length,
                            .unit_d = mass / pow(length, 3),
                            .unit_t = unit(s, "utime")};
    h->nstep_coarse = h->nstep;
    h->h0 = h->omega_m = 1;
    h->boxlen_ini = h->aexp_ini = 1;
    if (s->cube.open) open_boundary(&h->boundary);
    for (int l = 0; l <= LEVEL_MAX; l++) h->dtold[l] = h->dtnew[l] = s->head->dt;
}
