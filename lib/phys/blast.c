#include "phys/blast.h"

#include <math.h>
#include <string.h>

#include "base/cgs.h"
#include "base/mem.h"
#include "dom/injection.h"
#include "oct/field_sets.h"
#include "sparse/rows.h"

/* maximum fraction of the central cell's gas that a blast carries */
static const double QUARTER = 0.25;
/* exponent of density in the terminal momentum: Kim & Ostriker 2015 */
static const double DENSITY = -0.17;
static const double ENERGY = 13 / 14.; /* exponent of energy: Cioffi, McKee & Bertschinger 1988 */
/* relative variance below which rounding dominates, and no direction is outwards */
static const double NOISE = 1e-12;

/* Load of a blast: the star's ejecta, and gas of the central cell. */
struct ejecta {
    struct event_home home;
    double mass, v[3], energy, heat; /* heat: from the mixing of gas and ejecta */
    double scalar[];                 /* masses of passive scalars */
};

/* Sums over the cells of a blast, with weights w (volumes or masses), of u = (cell centre - blast
 * position)/radius. */
typedef event_whole whole;
struct totals {
    whole volume, w, wu[3], wu1, wu2;
};

struct blast_job {
    const struct term_run *r;
    struct injection in;
    const struct blast_law *law;
    struct star_elements elements;
    struct star_event *log; /* [in.home.n] log entries */
    struct wave *wave;      /* [in.here.n] blast waves */
    /* [nown] densities before any blast, by level; needed where masses are the weights */
    double (*before[LEVEL_MAX + 1])[8];
    /* [nown] 1: a blast changes the oct; needed where gas is on a device */
    uint8_t *hit[LEVEL_MAX + 1];
};

/* ---- gas on a device ---- */

static void mark_cell(const struct bins_hit *h, event_whole *sum, void *ctx)
{
    const struct blast_job *k = ctx;
#pragma omp atomic write
    k->hit[h->level][h->oct] = 1;
}

/* Marks the octs of central cells: all that load_all changes. */
static void mark_centres(struct blast_job *k)
{
    const struct mesh *m = k->r->mesh;
    for (int l = m->levelmin; l <= m->levelmax && k->r->mirror; l++)
        k->hit[l] = mem_zero((size_t)m->lev[l].nown + 1, k->in.name);
    for (int64_t i = 0; i < k->in.home.n && k->r->mirror; i++)
        k->hit[k->in.centre[i].level][k->in.centre[i].oct] = 1;
}

/* Brings the gas of the marked octs from a device, or sends it back. */
static void marked_move(const struct blast_job *k, bool home)
{
    struct mesh *m = k->r->mesh;
    for (int l = m->levelmin; l <= m->levelmax && k->r->mirror; l++) {
        int64_t n = 0;
        for (lidx i = 0; i < m->lev[l].nown; i++) n += k->hit[l][i];
        struct rows r = {0, mem_new(sizeof *r.oct * (size_t)n + 1, k->in.name)};
        for (lidx i = 0; n > 0 && i < m->lev[l].nown; i++)
            if (k->hit[l][i]) r.oct[r.n++] = i;
        /* the state is lost if the device fails */
        BUG_ON((home ? rows_home : rows_send)(k->r->mirror, m, l, GAS, &r) != OK);
        FREE(r.oct);
    }
}

/* ---- home ---- */

/* Moves gas of the central cell into the ejecta; velocity and specific internal energy of the rest
 * stay constant. */
static void load_ejecta(const struct blast_job *k, const struct blast *b, const struct leaf_cell *c,
                        struct ejecta *o)
{
    const struct term_run *r = k->r;
    double volume = leaf_cell_volume(r->mesh, c->level), v[3];
    double rho = level_gas(&r->mesh->lev[c->level], GAS_DENSITY)[c->oct][c->cell];
    double load = fmin(b->load, QUARTER * rho * volume), share = load / (rho * volume);
    injection_take(&k->in, c, share, load / volume, v, o->scalar);
    o->mass = b->mass + load;
    o->energy = b->energy;
    double reduced = b->mass * (load / o->mass);
    for (int d = 0; d < 3; d++) {
        o->v[d] = (b->mass * b->v[d] + load * v[d]) / o->mass;
        o->heat += 0.5 * reduced * ((b->v[d] - v[d]) * (b->v[d] - v[d]));
    }
    int metal = r->hydro->vars.at[SCALAR_METAL];
    if (metal >= 0) o->scalar[metal - GAS_SCALARS] += b->metals;
    int delayed = r->hydro->vars.at[SCALAR_DELAYED];
    if (delayed >= 0) o->scalar[delayed - GAS_SCALARS] += b->delayed;
    for (int e = 0; e < k->elements.n; e++)
        o->scalar[k->elements.var[e] - GAS_SCALARS] += b->element[e];
}

static void load_all(struct blast_job *k)
{
    const struct term_run *r = k->r;
    k->log = mem_new(sizeof *k->log * (size_t)k->in.home.n + 1, k->in.name);
    for (int64_t i = 0; i < k->in.home.n; i++) {
        const struct blast *b = injection_row(&k->in, i);
        const struct leaf_cell *c = &k->in.centre[i];
        const struct level *lv = &r->mesh->lev[c->level];
        k->log[i] = b->log;
        k->log[i].level = c->level;
        k->log[i].rho = level_gas(lv, GAS_DENSITY)[c->oct][c->cell] * r->units.hydrogen;
        k->log[i].T2 = star_T2(r, lv, c->oct, c->cell);
        load_ejecta(k, b, c, injection_load(&k->in, i));
        if (r->ledger && b->log.id > 0) /* the id of debris is negative */
            star_note(&r->ledger->ejected, b->log.id, -1, b->mass / b->log.m, lv, c->oct, c->cell);
    }
}

static void copy_densities(struct blast_job *k)
{
    const struct mesh *m = k->r->mesh;
    for (int l = m->levelmin; l <= m->levelmax && k->law->terminal > 0; l++) {
        size_t bytes = sizeof *k->before[l] * (size_t)m->lev[l].nown;
        k->before[l] = mem_new(bytes + 1, k->in.name);
        if (bytes) memcpy(k->before[l], level_gas(&m->lev[l], GAS_DENSITY), bytes);
    }
}

/* ---- sums over the cells ---- */

/* Binary digits of u after the point, such that 128 bits hold the sum over all cells. */
static int locations(const struct mesh *m)
{
    int deep = 3 * (m->levelmax - m->levelmin);
    return deep > 60 ? 120 - deep : 60;
}

/* Unit of masses: 2^-36 of the ejecta. */
static double quantum(const struct ejecta *b)
{
    return ldexp(b->mass, -36);
}

static whole weight_of(const struct blast_job *k, const struct bins_hit *h, const struct ejecta *b)
{
    const struct mesh *m = k->r->mesh;
    if (!(k->law->terminal > 0)) return (whole)1 << 3 * (m->levelmax - h->level);
    double mass = k->before[h->level][h->oct][h->cell] * leaf_cell_volume(m, h->level);
    return (whole)rint(fmin(mass / quantum(b), 0x1p62));
}

static whole fixed(double u, int bits)
{
    return (whole)rint(ldexp(u, bits));
}

static void totals_cell(const struct bins_hit *h, event_whole *sum, void *ctx)
{
    const struct blast_job *k = ctx;
    struct totals *t = (struct totals *)sum;
    const struct mesh *m = k->r->mesh;
    int bits = k->law->terminal > 0 ? 40 : locations(m);
    whole w = weight_of(k, h, injection_here(&k->in, h->event));
    double u2 = 0;
    for (int d = 0; d < 3; d++) {
        double u = h->r[d] / k->in.here.at[h->event].radius;
        u2 += u * u;
        t->wu[d] += w * fixed(u, bits);
    }
    t->volume += (whole)1 << 3 * (m->levelmax - h->level);
    t->w += w;
    t->wu1 += w * fixed(sqrt(u2), bits);
    t->wu2 += w * fixed(u2, bits);
}

/* ---- the blast ---- */

/* Weighted averages over all cells of a blast: weight w; mean u and |u|; half the variance of u. */
struct shape {
    double w, volume, q[3], u1, half;
};

static struct shape shape_of(const struct blast_job *k, const struct totals *t)
{
    double unit = ldexp(1, k->law->terminal > 0 ? -40 : -locations(k->r->mesh));
    struct shape s = {.w = (double)t->w,
                      .volume = (double)t->volume *
                                leaf_cell_volume(k->r->mesh, k->r->mesh->levelmax)};
    if (!(s.w > 0)) return s;
    double u2 = (double)t->wu2 / s.w * unit, q2 = 0;
    s.u1 = (double)t->wu1 / s.w * unit;
    for (int d = 0; d < 3; d++) {
        s.q[d] = (double)t->wu[d] / s.w * unit;
        q2 += s.q[d] * s.q[d];
    }
    s.half = u2 - q2 > NOISE * u2 ? 0.5 * (u2 - q2) : 0;
    return s;
}

/* A blast wave: the ejecta, or all gas, get the velocity speed (u - q) in addition to v. */
struct wave {
    struct shape s;
    double speed, heat;
    bool swept;
};

static struct wave wave_of(const struct blast_job *k, const struct ejecta *b,
                           const struct totals *t)
{
    const struct blast_law *law = k->law;
    struct wave o = {.s = shape_of(k, t), .swept = law->terminal > 0, .heat = b->heat};
    if (!(o.s.half > 0)) {
        o.heat += b->energy;
        return o;
    }
    double mass = o.swept ? o.s.w * quantum(b) : b->mass, warm = (1 - law->kinetic) * b->energy;
    o.speed = sqrt(law->kinetic * b->energy / (mass * o.s.half));
    if (o.swept) {
        double n = mass / o.s.volume * k->r->units.hydrogen;
        double max = law->terminal * pow(b->energy / law->supernova, ENERGY) * pow(n, DENSITY);
        double limit = max / (mass * o.s.u1);
        if (limit < o.speed) {
            o.speed = limit;
            warm = 0; /* radiated away before the shell reaches the radius of the blast */
        }
    }
    o.heat += warm;
    return o;
}

/* Adds a share of the ejecta, at velocity w, and of their heat to a cell. */
static void add_ejecta(const struct blast_job *k, const struct ejecta *b, double heat, double share,
                       const double w[3], const struct leaf_cell *c)
{
    const struct level *lv = &k->r->mesh->lev[c->level];
    double per = share / leaf_cell_volume(k->r->mesh, c->level), rho = b->mass * per;
    gas_add(lv, c->oct, c->cell, rho, w, gas_kinetic_v(rho, w[0], w[1], w[2]) + heat * per);
    for (int i = 0; i < k->in.nscalar; i++)
        level_gas(lv, GAS_SCALARS + i)[c->oct][c->cell] += b->scalar[i] * per;
}

/* Adds the velocity w to all gas of the cell, at constant internal energy. */
static void push_gas(const struct blast_job *k, double mass, const double w[3],
                     const struct leaf_cell *c)
{
    const struct level *lv = &k->r->mesh->lev[c->level];
    double rho = level_gas(lv, GAS_DENSITY)[c->oct][c->cell],
           per = mass / leaf_cell_volume(k->r->mesh, c->level);
    double work = 0;
    for (int d = 0; d < 3; d++) {
        double *p = &level_gas(lv, GAS_MOMENTUM + d)[c->oct][c->cell], kick = per * w[d];
        work += gas_kick_work(rho, *p, kick);
        *p += kick;
    }
    gas_add_energy(lv, c->oct, c->cell, work);
}

static void blast_cell(const struct bins_hit *h, event_whole *sum, void *ctx)
{
    const struct blast_job *k = ctx;
    const struct wave *o = &k->wave[h->event];
    const struct ejecta *b = injection_here(&k->in, h->event);
    const struct leaf_cell c = {h->level, h->oct, h->cell};
    double radius = k->in.here.at[h->event].radius, w[3], kick[3];
    for (int d = 0; d < 3; d++) {
        kick[d] = o->speed * (h->r[d] / radius - o->s.q[d]);
        w[d] = b->v[d] + (o->swept ? 0 : kick[d]);
    }
    double weight = (double)weight_of(k, h, b);
    if (o->swept) push_gas(k, weight * quantum(b), kick, &c);
    add_ejecta(k, b, o->heat, weight / o->s.w, w, &c);
}

/* Heats the central cell of blasts that reach no cell centre. */
static void blast_centres(const struct blast_job *k, const struct totals *sum)
{
    for (int64_t i = 0; i < k->in.home.n; i++) {
        const struct ejecta *b = injection_load(&k->in, i);
        if (sum[i].w == 0) add_ejecta(k, b, b->energy + b->heat, 1, b->v, &k->in.centre[i]);
    }
}

static enum err apply(struct blast_job *k, int64_t n, const struct blast *b, bool *changed)
{
    struct injection *in = &k->in;
    struct injection_sums sums = {.words = sizeof(struct totals) / sizeof(whole)}, none = {0};
    TRY(injection_gather(in, n, sizeof *b, b));
    mark_centres(k);
    marked_move(k, true);
    load_all(k);
    marked_move(k, false);
    TRY(injection_send(in));
    if (k->r->mirror) injection_each(in, &none, mark_cell, k);
    marked_move(k, true);
    copy_densities(k);
    injection_each(in, &sums, totals_cell, k);
    injection_total(in, &sums, true);
    const struct totals *total = (const struct totals *)sums.here;
    k->wave = mem_new(sizeof *k->wave * (size_t)in->here.n + 1, in->name);
    for (int64_t i = 0; i < in->here.n; i++)
        k->wave[i] = wave_of(k, injection_here(in, i), &total[i]);
    injection_each(in, &none, blast_cell, k);
    blast_centres(k, (const struct totals *)sums.home);
    marked_move(k, false);
    injection_sums_free(&none);
    injection_sums_free(&sums);
    *changed |= in->here.n > 0;
    return star_log(k->r, in->home.n, k->log);
}

enum err blast_apply(const struct term_run *r, const struct blast_law *law, int64_t n,
                     const struct blast *b, bool *changed)
{
    if (!injection_any(r->comm, n)) return OK;
    int nscalar = r->hydro->nvar - GAS_SCALARS;
    struct blast_job k = {.r = r,
                          .in = {.comm = r->comm,
                                 .dom = r->dom,
                                 .mesh = r->mesh,
                                 .name = "supernovae",
                                 .nscalar = nscalar,
                                 .bytes = sizeof(struct ejecta) + sizeof(double) * (size_t)nscalar},
                          .law = law,
                          .elements = star_elements(r)};
    enum err err = apply(&k, n, b, changed);
    for (int l = 0; l <= LEVEL_MAX; l++) {
        FREE(k.before[l]);
        FREE(k.hit[l]);
    }
    FREE(k.wave);
    FREE(k.log);
    injection_free(&k.in);
    return err;
}

struct blast blast_from(const struct parts *p, int64_t i)
{
    struct blast b = {
        .at = {.id = p->id[i]},
        .log = {
            .id = p->id[i], .kind = STAR_DEATH, .m = p->m[i], .metal = p->metal ? p->metal[i] : 0}};
    for (int d = 0; d < 3; d++) {
        b.at.x[d] = b.log.x[d] = p->x[d][i];
        b.v[d] = b.log.v[d] = p->v[d][i];
    }
    return b;
}

static enum err radius_of(const struct term_run *r, double *radius)
{
    double bubble = r->par->physics.rbubble * CGS_PC / r->units.length;
    *radius = fmax(2 * mesh_dx(r->mesh, r->mesh->levelmax) / r->aexp, bubble);
    if (2 * *radius > r->mesh->boxlen)
        FAIL(ERR_PARAM,
             "supernovae: blasts of radius %g do not fit into the box of %g (code units): reduce "
             "rbubble, or raise levelmax",
             *radius, r->mesh->boxlen);
    return OK;
}

enum err blast_spread(const struct term_run *r, const struct blast_law *law, int64_t n,
                      struct blast *b, bool *changed)
{
    double radius;
    if (!injection_any(r->comm, n)) return OK;
    TRY(radius_of(r, &radius));
    for (int64_t i = 0; i < n; i++) b[i].at.radius = radius;
    return blast_apply(r, law, n, b, changed);
}
