#include <math.h>
#include <stdio.h>

#include "base/cgs.h"
#include "base/err.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/rng.h"
#include "io/file.h"
#include "phys/stars.h"

double star_mass(const struct term_run *r)
{
    double share = r->par->physics.m_star, a3 = r->cosmo ? r->aexp * r->aexp * r->aexp : 1;
    double dx = mesh_dx(r->mesh, r->mesh->levelmax);
    return share < 0 ? r->par->physics.n_star / (r->units.hydrogen * a3) * (dx * dx * dx)
                     : share * r->mass_sph;
}

/* Gravitational constant in code units; 1 without cosmology. */
static double gravity(const struct term_run *r)
{
    return r->cosmo ? 3 * r->cosmo->omega_m * r->aexp / (8 * M_PI) : 1;
}

/* Coefficient of rho^1.5 in the star formation rate: eps_star per free-fall time, or t_star at
 * n_star. */
static double rate_of(const struct term_run *r)
{
    const struct param_physics *p = &r->par->physics;
    if (p->eps_star > 0) return p->eps_star * sqrt(32 * gravity(r) / (3 * M_PI));
    double time = p->t_star * 1e9 * CGS_YEAR / r->units.time;
    return 1 / (time * sqrt(p->n_star / r->units.hydrogen));
}

/* Factor of the rate, which without cosmology grows from 0 to 1 over sf_trelax. */
static double settled(const struct term_run *r)
{
    double time = r->par->physics.sf_trelax * 1e6 * CGS_YEAR / r->units.time;
    return time > 0 && !r->cosmo ? fmin(r->t / time, 1) : 1;
}

struct star_law star_law(const struct term_run *r)
{
    return (struct star_law){.mass = star_mass(r),
                             .min = floor_dense(r->par, r->cosmo, &r->units, r->aexp) /
                                    r->units.hydrogen,
                             .hottest = 2e4,
                             .floor = floor_at(r->par, r->cosmo, &r->units, r->aexp),
                             .rate = rate_of(r) * settled(r),
                             .G = gravity(r)};
}

double star_T2(const struct term_run *r, const struct level *lv, lidx i, int c)
{
    const struct gas_cell g = gas_cell_read(lv, i, c);
    double pressure = gas_pressure(gas_cell_internal(&g), r->hydro->gamma);
    return pressure / g.rho * r->units.temperature;
}

double star_explosion(const struct term_run *r)
{
    const struct units *u = &r->units;
    return r->par->feedback.f_esn * CGS_FOE / (10 * RAMSES_MSUN) / (u->velocity * u->velocity);
}

static const uint64_t BLAST = 0x626c617374; /* ASCII "blast" */

struct star_deaths star_deaths(const struct term_run *r)
{
    const struct param_physics *p = &r->par->physics;
    const struct units *u = &r->units;
    double age = p->t_sne * CGS_MYR;
    /* The interval exceeds the step: a star outside of the octs of its level waits for the next
     * coarse step. Older stars exploded in the run that wrote the checkpoint. */
    double wait = 3 * r->coarse_dt * u->time;
    return (struct star_deaths){
        .first = star_birth(r, age + wait),
        .last = star_birth(r, age),
        .specific = star_explosion(r),
        .ejected = r->par->feedback.eta_sn,
        .single = r->par->feedback.eta_ssn,
        .lightest = r->par->feedback.mass_sne_min * RAMSES_MSUN / u->mass,
        .heaviest = r->par->sf.sf_imf ? r->par->feedback.mass_star_max * RAMSES_MSUN / u->mass : 0,
        .boost = fmax(p->mass_gmc * RAMSES_MSUN / u->mass / star_mass(r), 1),
        .seed = star_seed(r->par, BLAST)};
}

double star_ejecta(const struct star_deaths *d, double mass)
{
    if (mass > d->heaviest) return d->ejected * mass;
    return mass >= d->lightest ? d->single * mass : 0;
}

bool star_due(const struct parts *p, const struct star_deaths *d, int64_t i)
{
    return p->family[i] == FAM_STAR && p->tag[i] != STAR_EXPLODED && p->birth[i] <= d->last &&
           p->birth[i] > d->first && star_ejecta(d, p->m[i]) > 0;
}

/* Particles on a device. */
static int64_t *born_there(const struct term_run *r, enum part_family family, int other,
                           const double birth[2], int64_t *n)
{
    int64_t *at;
    /* the state is lost if the device fails */
    BUG_ON(part_dev_born(r->few, r->parts, r->level, family, other, birth, n, &at) != OK);
    BUG_ON(part_dev_few_home(r->few, r->parts, *n, at) != OK);
    return at;
}

static bool is_born(const struct parts *p, int64_t i, enum part_family family, int other,
                    const double birth[2])
{
    return p->family[i] == (int8_t)family && p->tag[i] != other && p->birth[i] > birth[0] &&
           p->birth[i] <= birth[1];
}

int64_t *stars_born(const struct term_run *r, enum part_family family, int other,
                    const double birth[2], int64_t *n)
{
    const struct parts *p = r->parts;
    const int64_t begin = p->first[r->level], end = p->first[r->level + 1];
    int64_t max = 0, *at = NULL;
    *n = 0;
    if (r->few && part_dev_has(r->few, LOCATION_DEVICE))
        return born_there(r, family, other, birth, n);
#pragma omp parallel for schedule(static) reduction(+ : max)
    for (int64_t i = begin; i < end; i++) max += is_born(p, i, family, other, birth);
    if (max > 0) at = mem_new(sizeof *at * (size_t)max, "stars");
    for (int64_t i = begin; max > 0 && i < end; i++)
        if (is_born(p, i, family, other, birth)) at[(*n)++] = i;
    return at;
}

int64_t *stars_due(const struct term_run *r, const struct star_deaths *d, int64_t *n)
{
    const double birth[2] = {d->first, d->last};
    int64_t all, *at = stars_born(r, FAM_STAR, STAR_EXPLODED, birth, &all);
    *n = 0;
    for (int64_t k = 0; k < all; k++)
        if (star_due(r->parts, d, at[k])) at[(*n)++] = at[k];
    return at;
}

uint64_t star_seed(const struct params *p, uint64_t purpose)
{
    return purpose ^ (uint64_t)p->stellar.iseed * 0x9E3779B97F4A7C15u;
}

double star_sampled(const struct star_deaths *d, int64_t id)
{
    if (!(d->boost > 1)) return 1;
    struct rng g = rng_make(d->seed, (uint64_t)id, 0);
    return rng_uniform(&g) * d->boost < 1 ? d->boost : 0;
}

/* ---- recipes in the log ---- */

static const char *feedback_of(const struct params *p)
{
    if (param_yields(p))
        return p->physics.f_w > 0 ? "yields from a table, supernovae of type II as blast waves"
                                  : "yields from a table, thermal";
    if (!(p->feedback.eta_sn > 0) && !param_debris(p)) return "none";
    if (param_momentum(p)) return "terminal momentum (Kim & Ostriker 2015)";
    if (param_debris(p)) return "debris and blast waves (RAMSES, Dubois & Teyssier 2008)";
    return "thermal (RAMSES)";
}

static const char *model_of(const struct params *p)
{
    static const char *const name[] = {
        "",
        " (turbulence: Krumholz & McKee 2005)",
        " (turbulence: Padoan & Nordlund 2011)",
        " (turbulence: bound maxima of density)",
        " (turbulence: Padoan et al. 2012)",
        " (turbulence: Hopkins et al. 2013)",
    };
    return p->physics.sf_virial ? name[p->physics.sf_model] : "";
}

void star_log_law(const struct params *p)
{
    if (!param_stars(p)) return;
    log_info(" Stars: Schmidt law with %s%s; feedback: %s",
             p->physics.eps_star > 0 ? "eps_star" : "t_star", model_of(p), feedback_of(p));
}

void star_log_energy(const struct term_run *r, int64_t n, struct sum *energy)
{
    int64_t all = n;
    comm_add_i64(r->comm, &all, 1);
    if (all == 0) return;
    comm_sum(r->comm, energy);
    double erg = sum_get(energy) * r->units.mass * (r->units.velocity * r->units.velocity);
    log_info(" Supernovae: %ld stars, %.9e erg", (long)all, erg);
}

/* ---- time ---- */

/* Conformal time of the proper time `proper` (1/H0), up to the end of the step. */
static double conformal(const struct term_run *r, double proper)
{
    return cosmo_tau(r->history, cosmo_aexp(r->history, proper, r->aexp));
}

double star_birth(const struct term_run *r, double age)
{
    if (!r->cosmo) return r->t - age / r->units.time;
    /* units.time is a²/H0 */
    double hubble = r->units.time / (r->aexp * r->aexp);
    double proper = cosmo_time(r->history, r->aexp) - age / hubble;
    if (r->par->run.use_proper_time) return proper;
    return age == 0 ? r->t : conformal(r, proper);
}

double star_age(const struct term_run *r, double birth)
{
    double a, hexp, proper = birth;
    if (!r->cosmo) return (r->t - birth) * r->units.time;
    if (!r->par->run.use_proper_time) {
        cosmo_at(r->history, birth, &a, &hexp);
        proper = cosmo_time(r->history, a);
    }
    double hubble = r->units.time / (r->aexp * r->aexp);
    return (cosmo_time(r->history, r->aexp) - proper) * hubble;
}

/* ---- log ---- */

struct star_event star_event(const struct term_run *r, int kind, const struct level *lv, lidx oct,
                             int cell, int64_t k)
{
    const struct parts *p = r->parts;
    struct star_event e = {.id = p->id[k], .kind = kind, .level = lv->level, .m = p->m[k]};
    for (int d = 0; d < 3; d++) {
        e.x[d] = p->x[d][k];
        e.v[d] = p->v[d][k];
    }
    e.rho = level_gas(lv, GAS_DENSITY)[oct][cell] * r->units.hydrogen;
    e.T2 = star_T2(r, lv, oct, cell);
    e.metal = p->metal ? p->metal[k] : 0;
    return e;
}

void star_note(struct star_swaps *s, int64_t id, int64_t at, double share, const struct level *lv,
               lidx oct, int cell)
{
    MEM_ROOM(s->row, s->n, s->room, 16, "tracers");
    struct star_swap *w = &s->row[s->n++];
    *w = (struct star_swap){.id = id, .at = at, .share = share, .level = lv->level};
    okey_coords(lv->key[oct] << 3 | (okey)cell, w->cell);
}

struct star_elements star_elements(const struct term_run *r)
{
    struct star_elements s = {.n = yields_elements(r->yields)};
    for (int e = 0; e < s.n; e++) {
        const char *name = yields_element(r->yields, e);
        s.var[e] = gas_vars_find(&r->hydro->vars, name);
        s.column[e] = part_column_find(&r->parts->columns, name);
        BUG_ON(s.var[e] < 0 || s.column[e] < 0);
    }
    return s;
}

static int event_order(const void *a, const void *b)
{
    const struct star_event *x = a, *y = b;
    if (x->id != y->id) return x->id < y->id ? -1 : 1;
    for (int d = 0; d < 3; d++) /* debris particles share ids */
        if (x->x[d] != y->x[d]) return x->x[d] < y->x[d] ? -1 : 1;
    return 0;
}

static void print_event(FILE *f, const struct term_run *r, const struct star_event *e)
{
    fprintf(f, "%d %ld %d %.12e", (int)e->kind, (long)e->id, (int)e->level, e->m);
    for (int d = 0; d < 3; d++) fprintf(f, " %.12e", e->x[d]);
    for (int d = 0; d < 3; d++) fprintf(f, " %.12e", e->v[d]);
    fprintf(f, " %.12e %.12e %.12e %.12e %.12e\n", e->rho, e->T2, e->metal, r->t, r->aexp);
}

static enum err append(const struct term_run *r, int64_t n, const struct star_event *e)
{
    FILE *f;
    TRY(file_append(STAR_LOG, &f));
    if (fseek(f, 0, SEEK_END) == 0 && ftell(f) == 0)
        fprintf(f, "# event id level m x y z vx vy vz nH T2 metallicity t a\n");
    for (int64_t i = 0; i < n; i++) print_event(f, r, &e[i]);
    bool bad = ferror(f) != 0;
    bad = fclose(f) != 0 || bad;
    if (bad) FAIL(ERR_FILE, "%s: cannot be written: is the disk full?", STAR_LOG);
    return OK;
}

enum err star_log(const struct term_run *r, int64_t n, struct star_event *e)
{
    if (!r->par->sf.sf_log_properties) return OK;
    int64_t loud = 0;
    for (int64_t i = 0; i < n; i++)
        if (e[i].kind != STAR_QUIET) e[loud++] = e[i];
    n = loud;
    int64_t all;
    struct star_event *in = comm_exchange_root(r->comm, e, n, sizeof *e, &all);
    mem_sort(in, (size_t)all, sizeof *in, event_order);
    enum err err = all > 0 ? append(r, all, in) : OK;
    FREE(in);
    return err_agree(r->comm, err);
}
