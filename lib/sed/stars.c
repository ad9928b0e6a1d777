/* sed/stars: photons of star particles; see stars.h. */
#include "sed/stars.h"

#include <math.h>

#include "base/cgs.h"
#include "base/mem.h"

static const double METAL_MIN = 1e-4; /* lowest metallicity of stars, as in RAMSES */

/* ---- ages and masses ---- */

/* Proper time in s at a code time. */
struct watch {
    const struct term_run *r;
    double unit; /* s per unit of proper time */
};

static struct watch watch_of(const struct term_run *r)
{
    double a2 = r->cosmo ? r->aexp * r->aexp : 1;
    return (struct watch){r, r->units.time / a2};
}

static double watch_read(const struct watch *w, double t)
{
    double a, hexp;
    if (!w->r->cosmo) return t * w->unit;
    cosmo_at(w->r->history, t, &a, &hexp);
    return cosmo_time(w->r->history, a) * w->unit;
}

/* Proper time of a birth, which is proper or conformal in the column of particles. */
static double watch_birth(const struct watch *w, double birth)
{
    bool proper = w->r->cosmo && w->r->par->run.use_proper_time;
    return proper ? birth * w->unit : watch_read(w, birth);
}

/* Mass of a star at its birth: stars above the age of supernovae have lost ejecta. */
static double born_mass(const struct term_run *r, int64_t i, double age)
{
    const struct parts *p = r->parts;
    const struct param_feedback *f = &r->par->feedback;
    if (p->birth_mass && p->birth_mass[i] > 0) return p->birth_mass[i];
    return age > r->par->physics.t_sne * CGS_MYR ? p->m[i] / (1 - f->eta_sn) : p->m[i];
}

static double metal_of(const struct term_run *r, int64_t i)
{
    double Z = r->parts->metal ? r->parts->metal[i] : r->par->physics.z_ave * 0.02;
    return fmax(Z, METAL_MIN);
}

static bool shines(const struct parts *p, int64_t i)
{
    return p->family[i] == FAM_STAR;
}

/* ---- cells ---- */

/* Coordinate of a cell, 0 or 1, in an oct: the nearest to cell `at` of n along the box. */
static int64_t inside(int64_t at, int64_t oct, int64_t n)
{
    int64_t off = at - 2 * oct;
    if (off > n / 2) off -= n;
    if (off < -n / 2) off += n;
    return off > 0;
}

/* The leaf cell, in the oct that has the star, nearest to it; -1: none of this rank. */
static int cell_of(const struct term_run *r, int64_t i)
{
    const struct level *lv = &r->mesh->lev[r->level];
    const struct parts *p = r->parts;
    int64_t o[3];
    int c = 0;
    if (p->host[i] < 0 || p->host[i] >= lv->nown) return -1;
    okey_coords(lv->key[p->host[i]], o);
    for (int d = 0; d < r->mesh->ndim; d++) {
        int64_t at = (int64_t)floor(mesh_cells(r->mesh, r->level, p->x[d][i]));
        c |= (int)inside(at, o[d], (int64_t)1 << r->level) << d;
    }
    return lv->child[p->host[i]][c] < 0 ? c : -1;
}

/* ---- emission ---- */

struct source {
    lidx oct;
    int cell;
    int64_t id, at; /* id and index of the star */
    double N[SED_GROUPS];
};

static int source_order(const void *a, const void *b)
{
    const struct source *x = a, *y = b;
    if (x->oct != y->oct) return x->oct < y->oct ? -1 : 1;
    if (x->cell != y->cell) return x->cell - y->cell;
    return (x->id > y->id) - (x->id < y->id);
}

/* The stars of the level, by cell and id. */
static struct source *sources(const struct term_run *r, int64_t *n)
{
    const struct parts *p = r->parts;
    int64_t begin = p->first[r->level], end = p->first[r->level + 1], count = 0;
#pragma omp parallel for schedule(static) reduction(+ : count)
    for (int64_t i = begin; i < end; i++) count += shines(p, i);
    *n = 0;
    if (count == 0) return NULL;
    struct source *s = mem_new(sizeof *s * (size_t)count, "star light");
    for (int64_t i = begin; i < end; i++) {
        int c = shines(p, i) ? cell_of(r, i) : -1;
        if (c >= 0) s[(*n)++] = (struct source){p->host[i], c, p->id[i], i, {0}};
    }
    mem_sort(s, (size_t)*n, sizeof *s, source_order);
    return s;
}

/* Densities of photons that a star adds to its cell; `per`: density per photon and solar mass, and
 * mass of 1. */
static void emit(const struct term_run *r, const struct sed_stars *s, const struct watch *w,
                 const double at[2], double per, struct source *a)
{
    double birth = watch_birth(w, r->parts->birth[a->at]), age = at[1] - birth;
    double mass = born_mass(r, a->at, age) * per;
    sed_emission(s->sed, at[0] - birth, age, metal_of(r, a->at), a->N);
    for (int g = 0; g < sed_bands(s->sed)->n; g++) {
        a->N[g] *= mass;
        if (sed_by_energy(s->sed)) a->N[g] = s->egy[g] > 0 ? a->N[g] / s->egy[g] : 0;
    }
}

/* Adds densities to a cell, and to the numbers that repeat it. */
static void put(const struct mesh *m, const struct sed_light *l, lidx oct, int cell,
                const double N[SED_GROUPS])
{
    for (int g = 0; g < l->n; g++)
        for (int c = cell; c < 8; c += m->cells) l->N[g][oct][c] += N[g];
}

/* Adds the sources to their cells; cells[]: what each cell got. Returns their number. */
static int64_t deposit(const struct term_run *r, int64_t n, const struct source *s,
                       struct sed_light *light, struct sed_shine *cells)
{
    double volume = mesh_volume(r->mesh, r->level);
    int64_t ncell = 0;
    for (int64_t i = 0; i < n; i++) {
        struct sed_shine *c = ncell ? &cells[ncell - 1] : NULL;
        if (!c || c->oct != s[i].oct || c->cell != s[i].cell) {
            c = &cells[ncell++];
            *c = (struct sed_shine){.oct = s[i].oct, .cell = s[i].cell};
        }
        for (int g = 0; g < light->n; g++) c->N[g] += s[i].N[g];
    }
    for (int64_t k = 0; k < ncell; k++) {
        put(r->mesh, light, cells[k].oct, cells[k].cell, cells[k].N);
        for (int g = 0; g < light->n; g++) sum_add(&light->emitted[g], cells[k].N[g] * volume);
    }
    return ncell;
}

void sed_stars_emit(const struct term_run *r, const struct sed_stars *s, double t0, double t1,
                    struct sed_light *light, struct sed_shines *shines)
{
    struct watch w = watch_of(r);
    const double at[2] = {watch_read(&w, t0), watch_read(&w, t1)};
    double per = s->escape * r->units.density / mesh_volume(r->mesh, r->level) / RAMSES_MSUN /
                 light->unit_np;
    int64_t n;
    struct source *a = sources(r, &n);
    if (shines) *shines = (struct sed_shines){0};
    if (n == 0) {
        FREE(a);
        return;
    }
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < n; i++) emit(r, s, &w, at, per, &a[i]);
    struct sed_shine *cells = mem_new(sizeof *cells * (size_t)n, "star light");
    int64_t ncell = deposit(r, n, a, light, cells);
    FREE(a);
    if (shines)
        *shines = (struct sed_shines){ncell, cells};
    else
        FREE(cells);
}

/* ---- means over all stars ---- */

/* Sums of a group: of rates, and of rates times properties. */
enum { MEAN_RATE, MEAN_EGY, MEAN_CSN, MEAN_CSE = MEAN_CSN + SED_IONS, MEANS = MEAN_CSE + SED_IONS };

static void add_means(const double rate, const struct sed_props *p, struct sum s[MEANS])
{
    sum_add(&s[MEAN_RATE], rate);
    sum_add(&s[MEAN_EGY], rate * p->egy);
    for (int j = 0; j < SED_IONS; j++) {
        sum_add(&s[MEAN_CSN + j], rate * p->csn[j]);
        sum_add(&s[MEAN_CSE + j], rate * p->cse[j]);
    }
}

static int64_t add_stars(const struct term_run *r, const struct sed *sed, double t,
                         struct sum (*sums)[MEANS])
{
    const struct parts *p = r->parts;
    struct watch w = watch_of(r);
    double now = watch_read(&w, t), rate[SED_GROUPS];
    struct sed_props props[SED_GROUPS];
    int64_t n = 0;
    for (int64_t i = 0; i < p->n; i++) {
        if (!shines(p, i)) continue;
        double age = now - watch_birth(&w, p->birth[i]), mass = born_mass(r, i, age);
        n++;
        sed_at(sed, age, metal_of(r, i), rate, props);
        for (int g = 0; g < sed_bands(sed)->n; g++) add_means(rate[g] * mass, &props[g], sums[g]);
    }
    return n;
}

static struct sed_props mean_of(const struct sum s[MEANS])
{
    double rate = sum_get(&s[MEAN_RATE]);
    struct sed_props p = {.egy = sum_get(&s[MEAN_EGY]) / rate};
    for (int j = 0; j < SED_IONS; j++) {
        p.csn[j] = sum_get(&s[MEAN_CSN + j]) / rate;
        p.cse[j] = sum_get(&s[MEAN_CSE + j]) / rate;
    }
    return p;
}

void sed_stars_mean(const struct term_run *r, const struct sed_stars *s, double t,
                    struct sed_props props[SED_GROUPS], int64_t *stars)
{
    const struct sed_bands *b = sed_bands(s->sed);
    struct sum(*sums)[MEANS] = mem_new(sizeof *sums * SED_GROUPS, "star light");
    struct sed_props first[SED_GROUPS];
    for (int g = 0; g < b->n; g++)
        for (int k = 0; k < MEANS; k++) sum_init(&sums[g][k]);
    *stars = add_stars(r, s->sed, t, sums);
    comm_add_i64(r->comm, stars, 1);
    comm_sums(r->comm, sums[0], MEANS * b->n);
    sed_first(s->sed, first);
    for (int g = 0; g < b->n; g++)
        if (sed_band_fed(b, g))
            props[g] = sum_get(&sums[g][MEAN_RATE]) > 0 ? mean_of(sums[g]) : first[g];
    FREE(sums);
}
