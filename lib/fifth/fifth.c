#include "fifth/fifth.h"

#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "cosmo/cosmo.h"
#include "fifth/model.h"
#include "oct/fields.h"

static const struct fifth_model MODELS[] = {
#define MODEL(symbol, name, asked, law, react, set) {name, set, law, react},
#include "fifth/fifth.def"
};
enum { MODEL_COUNT = sizeof MODELS / sizeof *MODELS };

/* Index of the theory that the parameters ask for; MODEL_COUNT: none. *n: number of them. */
static int asked_of(const struct params *p, int *n)
{
    const bool asked[] = {
#define MODEL(symbol, name, asked, law, react, set) asked,
#include "fifth/fifth.def"
    };
    int at = MODEL_COUNT;
    *n = 0;
    for (int k = MODEL_COUNT - 1; k >= 0; k--)
        if (asked[k]) at = k, (*n)++;
    return at;
}

bool fifth_asked(const struct params *p)
{
    int n;
    asked_of(p, &n);
    return n > 0;
}

static enum err check(const struct params *p, const struct cosmo_par *cosmo, const char *name)
{
    if (!cosmo || !p->run.poisson || p->poisson.gravity_type > 0)
        FAIL(ERR_PARAM, "%s gravity needs cosmo=.true., poisson=.true. and gravity_type=0", name);
    if (!cosmo_is_lambda(&cosmo->dark))
        FAIL(ERR_PARAM,
             "%s gravity has the expansion of a cosmological constant: set w0=-1, wa=0 and "
             "use_ede=.false.",
             name);
    if (!(cosmo->omega_k < 1e-3 && cosmo->omega_k > -1e-3))
        FAIL(ERR_PARAM, "%s gravity needs flat space, but omega_k=%g", name, cosmo->omega_k);
    return OK;
}

enum err fifth_new(const struct params *p, const struct cosmo_par *cosmo,
                   const struct grav_par *grav, struct fifth **out)
{
    const double light = 299792.458; /* km/s */
    int n, k = asked_of(p, &n);
    *out = NULL;
    if (n == 0) return OK;
    if (n > 1)
        FAIL(ERR_PARAM, "use_fr and use_ndgp: a run has one theory of gravity: set the others to "
                        ".false.");
    TRY(check(p, cosmo, MODELS[k].name));
    struct fifth *f = mem_zero(sizeof *f, "fifth force");
    f->model = &MODELS[k];
    f->numbers = (struct fifth_numbers){.omega_m = cosmo->omega_m,
                                        .omega_l = cosmo->omega_l,
                                        .box = 100 * cosmo->boxlen_ini / light};
    f->newton = *grav;
    f->newton.response = NULL, f->newton.minima = NULL, f->newton.fourier = NULL;
    memset(f->newton.cached, 0, sizeof f->newton.cached);
    f->newton.fft_levelmin = 1, f->newton.green = GREEN_DISCRETE;
    f->newton.cg_levelmin = LEVEL_MAX + 2;
    f->newton.verbose = 0, f->verbose = grav->verbose;
    f->strict = p->run.scalar_solver_strict;
    enum err err = f->model->set(f, p);
    if (err != OK) fifth_free(&f);
    *out = f;
    return err;
}

void fifth_free(struct fifth **f)
{
    if (!*f) return;
    grav_fini(&(*f)->newton);
    FREE(*f);
}

const char *fifth_name(const struct fifth *f)
{
    return f->model->name;
}

void fifth_forget(struct fifth *f, int l)
{
    if (f) grav_forget(&f->newton, l);
}

struct fifth_law fifth_law_at(const struct fifth *f, double a)
{
    struct fifth_law law = {0};
    f->model->law(&f->numbers, a, &law);
    return law;
}

static void swap(struct level *lv, int f, int g)
{
    double(*keep)[8] = lv->fld[f];
    lv->fld[f] = lv->fld[g];
    lv->fld[g] = keep;
}

void fifth_lend(struct mesh *m, int l)
{
    for (int k = l - 1; k <= l; k++) swap(&m->lev[k], FLD_PHI, FLD_SCALAR);
}

static enum err report(const struct fifth *f, const struct comm *c, int l,
                       const struct fifth_report *rep)
{
    int64_t unreal = rep->unreal;
    comm_add_i64(c, &unreal, 1);
    if (f->verbose)
        log_info("   ==> Level=%5d %s: %d iterations, %d cycles, error=%10.3E", l, f->model->name,
                 rep->iterations, rep->cycles, rep->error);
    if (unreal > 0)
        log_info("warning: %s: the equation has no real solution in %ld cells of level %d, which "
                 "take the nearest",
                 f->model->name, (long)unreal, l);
    if (rep->converged) return OK;
    if (f->strict)
        FAIL(ERR_LIMIT,
             "the %s field of level %d did not converge: error %.3e after %d iterations: raise "
             "their number or the tolerance, or set scalar_solver_strict=.false.",
             f->model->name, l, rep->error, rep->iterations);
    log_info("warning: the %s field did not converge on level %d: error %.3e after %d iterations",
             f->model->name, l, rep->error, rep->iterations);
    return OK;
}

enum err fifth_solve(struct fifth *f, struct mesh *m, const struct comm *c, int l,
                     const struct grav_source *newton, double aexp, struct fifth_report *rep)
{
    const struct fifth_task t = {f, m, c, l, fifth_law_at(f, aexp), *newton};
    *rep = (struct fifth_report){.converged = true};
    if (m->lev[l].total == 0) return OK;
    (f->model->react ? reaction_solve : derivative_solve)(&t, rep);
    ghosts_set(m, l, SET_SCALAR, true);
    return report(f, c, l, rep);
}

void fifth_force(struct fifth *f, struct mesh *m, const struct comm *c, int l)
{
    struct level *lv = &m->lev[l];
    const struct grav_source from = fifth_boundary(0);
    double(*keep[3])[8];
    for (int d = 0; d < 3; d++) {
        keep[d] = lv->fld[FLD_FX + d];
        lv->fld[FLD_FX + d] = mem_new(sizeof *keep[d] * (size_t)lv->noct + 1, "fifth force");
    }
    fifth_lend(m, l);
    grav_force(m, c, l, &from, &f->newton);
    fifth_lend(m, l);
    for (int d = 0; d < 3; d++) {
        double(*add)[8] = lv->fld[FLD_FX + d];
        lv->fld[FLD_FX + d] = keep[d];
#pragma omp parallel for schedule(static)
        for (lidx i = 0; i < lv->noct; i++)
            for (int k = 0; k < 8; k++) keep[d][i][k] += add[i][k];
        FREE(add);
    }
}
