/* phys/stars: star formation. Gas denser than a threshold becomes star particles by a Schmidt law,
 * sampled by Poisson deviates (Rasera & Teyssier 2006; docs/method/stars.md). The random numbers
 * have the cell and the step as key, so the stars do not depend on the ranks. A cell loses the
 * mass, momentum, metals and other scalars of its stars in proportion, at constant velocity and
 * temperature. */
#include "phys/stars.h"

#include <math.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/rng.h"
#include "oct/field_sets.h"
#include "phys/turbulence.h"
#include "sparse/rows.h"

static const double MAX = 0.9; /* maximum fraction of a cell's gas that becomes stars */

static bool wanted(const struct params *p)
{
    return param_stars(p) && !p->physics.sf_virial && !p->run.static_gas;
}

struct births {
    /* numbers of cells that form stars, of stars, and of stars lost for lack of gas */
    int64_t n, stars, lost;
    struct part_birth_cell *location;
    int64_t *count;
};

/* Whether the cell meets the criteria of star formation: leaf, density, temperature, refinement
 * scalar. */
static bool fertile(const struct term_run *r, const struct star_law *law, const struct level *lv,
                    lidx i, int c)
{
    const struct param_refine *p = &r->par->refine;
    double rho = level_gas(lv, GAS_DENSITY)[i][c];
    if (lv->child[i][c] >= 0 || !(rho > law->min)) return false;
    double floor = floor_T2(&law->floor, rho * r->units.hydrogen);
    if (!r->par->physics.sf_virial && star_T2(r, lv, i, c) - floor > law->hottest) return false;
    if (p->ivar_refine <= 0) return true;
    double value = level_gas(lv, p->ivar_refine - 1)[i][c];
    return (p->ivar_refine > 1 ? value / rho : value) > p->var_cut_refine;
}

static struct births_law births_law_of(const struct term_run *r, const struct star_law *law)
{
    static const uint64_t SEED = 0x7374617273; /* ASCII "stars" */
    const double dx = mesh_dx(r->mesh, r->level);
    return (struct births_law){.min = law->min,
                               .rate = law->rate,
                               .volume = dx * dx * dx,
                               .dt = r->dt,
                               .mass = law->mass,
                               .multiple = r->par->sf.poissmeanmult,
                               .seed = star_seed(r->par, SEED) + ((uint64_t)r->level << 48),
                               .step = (uint32_t)r->nstep,
                               .random = r->par->sf.randomize_sf};
}

/* Number of stars of a cell; *lost: number of stars for which it lacks gas. */
static int64_t draw(const struct term_run *r, const struct star_law *law,
                    const struct births_law *w, const struct level *lv, lidx i, int c,
                    int64_t *lost)
{
    double rho = level_gas(lv, GAS_DENSITY)[i][c], mean = births_mean(w, rho);
    if (r->par->physics.sf_virial) mean *= turbulence_efficiency(r, law, i, c);
    double max = floor(MAX * rho * w->volume / law->mass);
    if (max < 1) return 0;
    struct rng g = rng_make(w->seed, births_key(lv->key[i], c), w->step);
    double n = !w->random    ? floor(w->multiple * mean)
               : mean < 1e15 ? (double)rng_poisson(&g, mean)
                             : mean;
    *lost += n > max ? (int64_t)fmin(n - max, 1e15) : 0;
    return (int64_t)fmin(n, max);
}

static void add(struct births *b, lidx i, int c, int64_t n)
{
    if ((b->n & (b->n - 1)) == 0) { /* capacity doubles at powers of two */
        size_t cap = b->n ? 2 * (size_t)b->n : 1;
        b->location = mem_grow(b->location, sizeof *b->location * cap, "star formation");
        b->count = mem_grow(b->count, sizeof *b->count * cap, "star formation");
    }
    b->location[b->n] = (struct part_birth_cell){i, c, 0};
    b->count[b->n++] = n;
    b->stars += n;
}

static struct births find_births(const struct term_run *r, const struct star_law *law)
{
    const struct level *lv = &r->mesh->lev[r->level];
    const struct births_law w = births_law_of(r, law);
    struct births b = {0};
    struct rows octs;
    BUG_ON(rows_births(r->mirror, r->mesh, r->level, &w, &octs) != OK); /* the state is lost */
    BUG_ON(rows_home(r->mirror, r->mesh, r->level, GAS, &octs) != OK);
    for (int64_t k = 0; k < octs.n; k++)
        for (int c = 0; c < 8; c++) {
            const lidx i = octs.oct[k];
            if (!fertile(r, law, lv, i, c)) continue;
            int64_t n = draw(r, law, &w, lv, i, c, &b.lost);
            if (n > 0) add(&b, i, c, n);
        }
    FREE(octs.oct);
    return b;
}

/* Sends the cells that have become stars to where the gas is. */
static enum err send_gas(const struct term_run *r, const struct births *b)
{
    struct rows octs = {b->n, mem_new(sizeof *octs.oct * (size_t)b->n + 1, "star formation")};
    for (int64_t i = 0; i < b->n; i++) octs.oct[i] = b->location[i].oct;
    rows_tidy(&octs);
    enum err err = rows_send(r->mirror, r->mesh, r->level, GAS, &octs);
    FREE(octs.oct);
    return err;
}

/* ---- particles ---- */

static void inherit_elements(const struct term_run *r, const struct star_elements *s,
                             const struct part_birth_cell *at, int64_t k)
{
    const struct level *lv = &r->mesh->lev[r->level];
    for (int e = 0; e < s->n; e++)
        *star_element(r->parts, s, e, k) = level_gas(lv, s->var[e])[at->oct][at->cell] /
                                           level_gas(lv, GAS_DENSITY)[at->oct][at->cell];
}

/* Creates star k at the centre of its cell, with the velocity of its gas. */
static void star_born(const struct term_run *r, const struct part_birth_cell *at, int64_t k,
                      double m, double birth, enum part_family family)
{
    const struct level *lv = &r->mesh->lev[r->level];
    struct parts *p = r->parts;
    int64_t o[3];
    int metal = r->hydro->vars.at[SCALAR_METAL];
    double rho = level_gas(lv, GAS_DENSITY)[at->oct][at->cell];
    okey_coords(lv->key[at->oct] << 3 | (okey)at->cell, o);
    for (int d = 0; d < 3; d++) {
        p->x[d][k] = ((double)o[d] + 0.5) * mesh_dx(r->mesh, r->level);
        p->v[d][k] = level_gas(lv, GAS_MOMENTUM + d)[at->oct][at->cell] / rho;
    }
    p->m[k] = m;
    p->family[k] = (int8_t)family;
    p->tag[k] = 0;
    p->birth[k] = birth;
    if (p->birth_mass) p->birth_mass[k] = m;
    if (metal >= 0) p->metal[k] = level_gas(lv, metal)[at->oct][at->cell] / rho;
}

/* Removes mass m from the gas of a cell; other conserved variables decrease in proportion. */
static void gas_left(const struct term_run *r, const struct part_birth_cell *at, double m)
{
    const struct level *lv = &r->mesh->lev[r->level];
    double dx = mesh_dx(r->mesh, r->level), rho = level_gas(lv, GAS_DENSITY)[at->oct][at->cell];
    double left = rho - m / (dx * dx * dx);
    gas_cell_scale(lv, at->oct, at->cell, r->hydro->nvar, left / rho);
    level_gas(lv, GAS_DENSITY)[at->oct][at->cell] = left;
}

/* Notes for tracers that gas of the cell has become star k; before gas_left. What becomes debris
 * keeps its tracers in the cell. */
static void note_birth(const struct term_run *r, const struct part_birth_cell *at, int64_t k)
{
    const struct level *lv = &r->mesh->lev[r->level];
    const double dx = mesh_dx(r->mesh, r->level),
                 gas = level_gas(lv, GAS_DENSITY)[at->oct][at->cell] * (dx * dx * dx);
    if (!r->ledger) return;
    star_note(&r->ledger->born, r->parts->id[k], k, r->parts->m[k] / gas, lv, at->oct, at->cell);
}

/* Creates a debris particle with the ejecta of a star of mass m and gas of the cell. As in RAMSES
 * its id is minus the number of single stars. Returns the mass that the cell loses to both. */
static double debris_born(const struct term_run *r, const struct part_birth_cell *at, int64_t star,
                          int64_t k, int64_t count, double birth)
{
    const struct level *lv = &r->mesh->lev[r->level];
    struct parts *p = r->parts;
    double dx = mesh_dx(r->mesh, r->level), m = p->m[star];
    double gas = level_gas(lv, GAS_DENSITY)[at->oct][at->cell] * (dx * dx * dx);
    double load = fmin(r->par->physics.f_w * m, 0.5 * (gas - m));
    double ejecta = r->par->feedback.eta_sn * m, yield = r->par->feedback.yield;
    star_born(r, at, k, load + ejecta, birth, FAM_DEBRIS);
    p->host[k] = at->oct;
    p->levelp[k] = r->level;
    p->id[k] = -count;
    p->m[star] = m - ejecta;
    if (r->hydro->vars.at[SCALAR_METAL] >= 0)
        p->metal[k] += ejecta * yield * (1 - p->metal[k]) / (load + ejecta);
    return m + load;
}

/* One more than the largest id, wherever particles are. */
static enum err next_id(const struct term_run *r, int64_t *next)
{
    static const char WHAT[] = "stars cannot form";
    int64_t max;
    if (!r->few) return part_next_id(r->parts, r->comm, WHAT, next);
    BUG_ON(part_dev_max_id(r->few, r->parts, &max) != OK); /* the state is lost */
    return part_id_after(max, r->comm, WHAT, next);
}

/* Sends n new particles to a device that has the others. */
static enum err send_new(const struct term_run *r, int64_t first, int64_t n)
{
    int64_t *at = mem_new(sizeof *at * (size_t)n + 1, "star formation");
    for (int64_t i = 0; i < n; i++) at[i] = first + i;
    enum err err = part_dev_few_send(r->few, r->parts, n, at);
    FREE(at);
    return err;
}

static enum err give_birth(const struct term_run *r, const struct star_law *law,
                           const struct births *b)
{
    int64_t total, next = 0;
    TRY(next_id(r, &next));
    BUG_ON(part_dev_insert(r->few, r->parts, r->level, b->n) != OK); /* the state is lost */
    int64_t first = part_create(r->parts, r->mesh, r->comm, r->level, b->n, b->location, next,
                                &total);
    if (r->ledger && next + total > INT32_MAX)
        FAIL(ERR_LIMIT,
             "stars cannot take tracers: the column partp of star tracers holds ids up to %d, and "
             "that of a new star is %ld: give smaller ids in ic_particle_ids",
             INT32_MAX, (long)(next + total - 1));
    if (param_debris(r->par)) BUG_ON(part_dev_insert(r->few, r->parts, r->level, b->n) != OK);
    int64_t debris = param_debris(r->par) ? part_insert(r->parts, r->level, b->n) : -1;
    struct star_event *e = mem_new(sizeof *e * (size_t)b->n + 1, "star formation");
    double birth = star_birth(r, 0);
    const struct star_elements elements = star_elements(r); /* zero elements with debris */
    for (int64_t i = 0; i < b->n; i++) {
        const struct part_birth_cell *at = &b->location[i];
        double m = (double)b->count[i] * law->mass, taken = m;
        star_born(r, at, first + i, m, birth, FAM_STAR);
        inherit_elements(r, &elements, at, first + i);
        if (debris >= 0) taken = debris_born(r, at, first + i, debris + i, b->count[i], birth);
        e[i] = star_event(r, STAR_BIRTH, &r->mesh->lev[r->level], at->oct, at->cell, first + i);
        note_birth(r, at, first + i);
        gas_left(r, at, taken);
    }
    BUG_ON(send_gas(r, b) != OK || send_new(r, first, b->n) != OK); /* the state is lost */
    if (debris >= 0) BUG_ON(send_new(r, debris, b->n) != OK);
    enum err err = star_log(r, b->n, e);
    FREE(e);
    return err;
}

enum err stars_form(const struct term_run *r, bool *changed)
{
    struct star_law law = star_law(r);
    if (r->par->physics.sf_virial) {
        turbulence_update(r);
        *changed = true;
    }
    struct births b = find_births(r, &law);
    int64_t sum[3] = {b.n, b.stars, b.lost};
    enum err err = OK;
    comm_add_i64(r->comm, sum, 3);
    if (sum[0] > 0) {
        *changed = true;
        err = give_birth(r, &law, &b);
        log_info(" Level %d: %ld new stars, mass %.6e%s", r->level, (long)sum[0],
                 (double)sum[1] * law.mass, sum[2] ? "; there was not enough gas for more" : "");
    }
    FREE(b.location);
    FREE(b.count);
    return err;
}

const struct term term_stars = {.name = "stars",
                                .stages = TERM_LEVEL,
                                .wanted = wanted,
                                .reads = GAS | PARTS,
                                .writes = GAS | PARTS,
                                .apply = stars_form,
                                .sparse = true};
