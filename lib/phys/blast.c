/* phys/blast: see blast.h. In four steps: a blast goes to the rank of the cell at its centre, its
 * home, which loads it; then to all ranks that it meets; these send the sums over their cells to
 * its home, which returns the totals; each rank then changes its own cells. */
#include "phys/blast.h"

#include <math.h>
#include <string.h>

#include "base/cgs.h"
#include "base/mem.h"
#include "dom/bins.h"

static const double QUARTER = 0.25;  /* of the cell at the centre, at most */
static const double DENSITY = -0.17; /* exponents of the terminal momentum: Kim & Ostriker 2015, */
static const double ENERGY = 13 / 14.; /* Cioffi, McKee & Bertschinger 1988 */
static const double NOISE = 1e-12; /* a variance below it is rounding: no direction is outwards */

/* A loaded blast. */
struct ball {
    struct event_home home;
    double mass, v[3], energy, heat; /* heat: from the mixing of gas and ejecta */
    double scalar[NVAR_MAX];         /* masses */
};

/* Over the cells of a ball, with weights w (volumes or masses): of u = (centre - place)/radius. */
typedef event_whole whole;
struct tally {
    whole volume, w, wu[3], wu1, wu2;
};
enum { TALLY_WORDS = sizeof(struct tally) / sizeof(whole) };

struct blaster {
    const struct term_run *r;
    const struct blast_law *law;
    bool brute;
    size_t bytes; /* of a ball on its way */
    int nscalar;
    struct star_elements elements;
    /* at home */
    int64_t nhome;
    struct event *centre;
    struct ball *loaded;
    struct blast_site *site;
    struct star_event *log;
    struct tally *sum; /* of all ranks */
    /* here */
    struct events here;
    struct ball *ball;   /* [here.n] */
    struct tally *total; /* [here.n] of all ranks */
    /* densities before any blast, by level: masses are weights only where all gas moves */
    double (*before[LEVEL_MAX + 1])[8];
};

/* ---- home ---- */

bool blast_find_site(const struct mesh *m, const double x[3], struct blast_site *s)
{
    for (int d = 0; d < 3; d++)
        if (!(x[d] >= 0 && x[d] < m->boxlen)) return false;
    for (s->level = m->levelmin;; s->level++) {
        const struct level *lv = &m->lev[s->level];
        uint64_t q[3];
        for (int d = 0; d < 3; d++) q[d] = (uint64_t)part_cells(m, s->level, x[d]);
        s->oct = mesh_find(lv, okey_make(q[0] >> 1, q[1] >> 1, q[2] >> 1));
        if (s->oct < 0) return false;
        s->cell = (int)((q[0] & 1) | (q[1] & 1) << 1 | (q[2] & 1) << 2);
        if (lv->child[s->oct][s->cell] < 0) return s->oct < lv->nown;
    }
}

static double cube(double dx)
{
    return dx * dx * dx;
}

/* The ejecta take gas along, at constant velocity and internal energy of what stays. */
static struct ball load_ball(const struct blaster *k, const struct blast *b,
                             const struct blast_site *s)
{
    const struct level *lv = &k->r->mesh->lev[s->level];
    double volume = cube(mesh_dx(k->r->mesh, s->level)),
           *rho = &level_gas(lv, GAS_DENSITY)[s->oct][s->cell];
    double load = fmin(b->load, QUARTER * *rho * volume), share = load / (*rho * volume);
    struct ball o = {.mass = b->mass + load, .energy = b->energy};
    double reduced = b->mass * (load / o.mass), m[3], v[3];
    for (int d = 0; d < 3; d++) {
        double *p = &level_gas(lv, GAS_MOMENTUM + d)[s->oct][s->cell];
        m[d] = *p, v[d] = *p / *rho;
        o.v[d] = (b->mass * b->v[d] + load * v[d]) / o.mass;
        o.heat += 0.5 * reduced * ((b->v[d] - v[d]) * (b->v[d] - v[d]));
        *p -= *p * share;
    }
    gas_add_energy(lv, s->oct, s->cell, -gas_kinetic_mv(m, v) * share);
    for (int i = 0; i < k->nscalar; i++) {
        double *u = &level_gas(lv, GAS_SCALARS + i)[s->oct][s->cell];
        o.scalar[i] = *u * share * volume;
        *u -= *u * share;
    }
    int metal = k->r->hydro->vars.at[SCALAR_METAL];
    if (metal >= 0) o.scalar[metal - GAS_SCALARS] += b->metals;
    int delayed = k->r->hydro->vars.at[SCALAR_DELAYED];
    if (delayed >= 0) o.scalar[delayed - GAS_SCALARS] += b->delayed;
    for (int e = 0; e < k->elements.n; e++)
        o.scalar[k->elements.var[e] - GAS_SCALARS] += b->element[e];
    *rho -= load / volume;
    return o;
}

static void take_home(struct blaster *k, const struct events *sent)
{
    const struct term_run *r = k->r;
    size_t n = (size_t)sent->n + 1;
    k->centre = mem_new(sizeof *k->centre * n, "supernovae");
    k->loaded = mem_new(sizeof *k->loaded * n, "supernovae");
    k->site = mem_new(sizeof *k->site * n, "supernovae");
    k->log = mem_new(sizeof *k->log * n, "supernovae");
    for (int64_t i = 0; i < sent->n; i++) {
        struct blast b;
        struct blast_site s;
        if (!blast_find_site(r->mesh, sent->at[i].x, &s)) continue;
        memcpy(&b, sent->payload + sizeof b * (size_t)i, sizeof b);
        const struct level *lv = &r->mesh->lev[s.level];
        int64_t j = k->nhome++;
        k->centre[j] = b.at;
        k->site[j] = s;
        k->log[j] = b.log;
        k->log[j].level = s.level;
        k->log[j].rho = level_gas(lv, GAS_DENSITY)[s.oct][s.cell] * r->units.hydrogen;
        k->log[j].T2 = star_T2(r, lv, s.oct, s.cell);
        k->loaded[j] = load_ball(k, &b, &s);
        k->loaded[j].home = (struct event_home){r->comm->rank, j};
    }
}

/* To the homes. */
static enum err send_home(struct blaster *k, int64_t n, const struct blast *b)
{
    const struct term_run *r = k->r;
    struct events sent;
    TRY(event_route_home(r->comm, r->dom, r->mesh, n, sizeof *b, b, &sent));
    take_home(k, &sent);
    events_free(&sent);
    return OK;
}

/* From there to all that they meet. */
static enum err send_out(struct blaster *k)
{
    const struct term_run *r = k->r;
    char *row = mem_new(k->bytes * (size_t)k->nhome + 1, "supernovae");
    for (int64_t i = 0; i < k->nhome; i++)
        memcpy(row + k->bytes * (size_t)i, &k->loaded[i], k->bytes);
    enum err err = event_route(r->comm, r->dom, r->mesh, k->nhome, k->centre, k->bytes, row,
                               &k->here);
    FREE(row);
    return err;
}

static void unpack(struct blaster *k)
{
    k->ball = mem_zero(sizeof *k->ball * (size_t)k->here.n + 1, "supernovae");
    for (int64_t i = 0; i < k->here.n; i++)
        memcpy(&k->ball[i], k->here.payload + k->bytes * (size_t)i, k->bytes);
}

static void keep_densities(struct blaster *k)
{
    const struct mesh *m = k->r->mesh;
    for (int l = m->levelmin; l <= m->levelmax && k->law->terminal > 0; l++) {
        size_t bytes = sizeof *k->before[l] * (size_t)m->lev[l].nown;
        k->before[l] = mem_new(bytes + 1, "supernovae");
        if (bytes) memcpy(k->before[l], level_gas(&m->lev[l], GAS_DENSITY), bytes);
    }
}

/* ---- sums over the cells ---- */

/* Binary places of u, so that 128 bits hold the sum of all cells. */
static int places(const struct mesh *m)
{
    int deep = 3 * (m->levelmax - m->levelmin);
    return deep > 60 ? 120 - deep : 60;
}

/* Masses are whole multiples of 2^-36 ejecta. */
static double quantum(const struct ball *b)
{
    return ldexp(b->mass, -36);
}

static whole weight_of(const struct blaster *k, const struct bins_hit *h, const struct ball *b)
{
    const struct mesh *m = k->r->mesh;
    if (!(k->law->terminal > 0)) return (whole)1 << 3 * (m->levelmax - h->level);
    double mass = k->before[h->level][h->oct][h->cell] * cube(mesh_dx(m, h->level));
    return (whole)rint(fmin(mass / quantum(b), 0x1p62));
}

struct tallies {
    const struct blaster *k;
    struct tally *of; /* [thread][event] */
};

static whole fixed(double u, int bits)
{
    return (whole)rint(ldexp(u, bits));
}

static void tally_cell(const struct bins_hit *h, void *ctx)
{
    const struct tallies *c = ctx;
    const struct blaster *k = c->k;
    const struct event *e = &k->here.at[h->event];
    struct tally *t = &c->of[h->thread * k->here.n + h->event];
    bool heavy = k->law->terminal > 0;
    int bits = heavy ? 40 : places(k->r->mesh);
    whole w = weight_of(k, h, &k->ball[h->event]);
    double u2 = 0;
    for (int d = 0; d < 3; d++) {
        double u = h->r[d] / e->radius;
        u2 += u * u;
        t->wu[d] += w * fixed(u, bits);
    }
    t->volume += (whole)1 << 3 * (k->r->mesh->levelmax - h->level);
    t->w += w;
    t->wu1 += w * fixed(sqrt(u2), bits);
    t->wu2 += w * fixed(u2, bits);
}

static void tally_join(struct tally *a, const struct tally *b)
{
    a->volume += b->volume;
    a->w += b->w;
    a->wu1 += b->wu1;
    a->wu2 += b->wu2;
    for (int d = 0; d < 3; d++) a->wu[d] += b->wu[d];
}

static void tally_here(struct blaster *k, const struct bins *bins)
{
    int64_t n = k->here.n;
    int threads = bins_threads();
    struct tallies c = {k, mem_zero(sizeof *c.of * (size_t)(n * threads) + 1, "supernovae")};
    (k->brute ? bins_each_brute : bins_each)(bins, k->r->mesh, tally_cell, &c);
    for (int64_t i = n; i < n * threads; i++) tally_join(&c.of[i % n], &c.of[i]);
    k->total = c.of;
}

/* Sums here become totals of all ranks. (collective) */
static void tally_all(struct blaster *k)
{
    struct event_home *home = mem_new(sizeof *home * (size_t)k->here.n + 1, "supernovae");
    for (int64_t i = 0; i < k->here.n; i++) home[i] = k->ball[i].home;
    k->sum = mem_zero(sizeof *k->sum * (size_t)k->nhome + 1, "supernovae");
    event_sums(k->r->comm, k->here.n, home, TALLY_WORDS, &k->total->volume, &k->sum->volume, true);
    FREE(home);
}

/* ---- the blast ---- */

/* Of all cells of a ball: weight w; mean u and |u|; half the variance of u. */
struct shape {
    double w, volume, q[3], u1, half;
};

static struct shape shape_of(const struct blaster *k, const struct tally *t)
{
    double unit = ldexp(1, k->law->terminal > 0 ? -40 : -places(k->r->mesh));
    struct shape s = {.w = (double)t->w,
                      .volume = (double)t->volume *
                                cube(mesh_dx(k->r->mesh, k->r->mesh->levelmax))};
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

/* How it spreads: the ejecta, or all gas, get the velocity speed (u - q) beside v. */
struct wave {
    struct shape s;
    double speed, heat;
    bool swept;
};

static struct wave wave_of(const struct blaster *k, const struct ball *b, const struct tally *t)
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
        double most = law->terminal * pow(b->energy / law->supernova, ENERGY) * pow(n, DENSITY);
        double limit = most / (mass * o.s.u1);
        if (limit < o.speed) {
            o.speed = limit;
            warm = 0; /* radiated away before the shell is as large as the ball */
        }
    }
    o.heat += warm;
    return o;
}

/* Ejecta of velocity w, and heat, to a cell: a share of what there is. */
static void add_ejecta(const struct blaster *k, const struct ball *b, double heat, double share,
                       const double w[3], const struct blast_site *c)
{
    const struct level *lv = &k->r->mesh->lev[c->level];
    double per = share / cube(mesh_dx(k->r->mesh, c->level)), rho = b->mass * per;
    gas_add(lv, c->oct, c->cell, rho, w, gas_kinetic_v(rho, w[0], w[1], w[2]) + heat * per);
    for (int i = 0; i < k->nscalar; i++)
        level_gas(lv, GAS_SCALARS + i)[c->oct][c->cell] += b->scalar[i] * per;
}

/* All gas of the cell gets the velocity w more, at constant internal energy. */
static void push_gas(const struct blaster *k, double mass, const double w[3],
                     const struct blast_site *c)
{
    const struct level *lv = &k->r->mesh->lev[c->level];
    double rho = level_gas(lv, GAS_DENSITY)[c->oct][c->cell],
           per = mass / cube(mesh_dx(k->r->mesh, c->level));
    double work = 0;
    for (int d = 0; d < 3; d++) {
        double *p = &level_gas(lv, GAS_MOMENTUM + d)[c->oct][c->cell], kick = per * w[d];
        work += gas_kick_work(rho, *p, kick);
        *p += kick;
    }
    gas_add_energy(lv, c->oct, c->cell, work);
}

struct strike {
    const struct blaster *k;
    struct wave *wave; /* [event] */
};

static void strike_cell(const struct bins_hit *h, void *ctx)
{
    const struct strike *s = ctx;
    const struct blaster *k = s->k;
    const struct wave *o = &s->wave[h->event];
    const struct ball *b = &k->ball[h->event];
    const struct blast_site c = {h->level, h->oct, h->cell};
    double radius = k->here.at[h->event].radius, w[3], kick[3];
    for (int d = 0; d < 3; d++) {
        kick[d] = o->speed * (h->r[d] / radius - o->s.q[d]);
        w[d] = b->v[d] + (o->swept ? 0 : kick[d]);
    }
    double weight = (double)weight_of(k, h, b);
    if (o->swept) push_gas(k, weight * quantum(b), kick, &c);
    add_ejecta(k, b, o->heat, weight / o->s.w, w, &c);
}

/* Blasts that reach no cell centre heat the cell that they are in. */
static void strike_homes(struct blaster *k)
{
    for (int64_t i = 0; i < k->nhome; i++) {
        const struct ball *b = &k->loaded[i];
        if (k->sum[i].w == 0) add_ejecta(k, b, b->energy + b->heat, 1, b->v, &k->site[i]);
    }
}

static void strike(struct blaster *k, const struct bins *bins)
{
    struct strike s = {k, mem_new(sizeof *s.wave * (size_t)k->here.n + 1, "supernovae")};
    for (int64_t i = 0; i < k->here.n; i++) s.wave[i] = wave_of(k, &k->ball[i], &k->total[i]);
    (k->brute ? bins_each_brute : bins_each)(bins, k->r->mesh, strike_cell, &s);
    strike_homes(k);
    FREE(s.wave);
}

static void blaster_free(struct blaster *k)
{
    for (int l = 0; l <= LEVEL_MAX; l++) FREE(k->before[l]);
    FREE(k->total);
    FREE(k->ball);
    FREE(k->sum);
    FREE(k->log);
    FREE(k->site);
    FREE(k->loaded);
    FREE(k->centre);
    events_free(&k->here);
}

static enum err apply(struct blaster *k, int64_t n, const struct blast *b, bool *changed)
{
    TRY(send_home(k, n, b));
    TRY(send_out(k));
    unpack(k);
    keep_densities(k);
    struct bins *bins = bins_new(k->r->mesh, k->here.n, k->here.at);
    tally_here(k, bins);
    tally_all(k);
    strike(k, bins);
    bins_free(bins);
    *changed |= k->here.n > 0;
    return star_log(k->r, k->nhome, k->log);
}

static enum err apply_by(const struct term_run *r, const struct blast_law *law, int64_t n,
                         const struct blast *b, bool *changed, bool brute)
{
    int nscalar = r->hydro->nvar - GAS_SCALARS;
    struct blaster k = {.r = r, .law = law, .brute = brute, .nscalar = nscalar};
    k.elements = star_elements(r);
    k.bytes = offsetof(struct ball, scalar) + sizeof(double) * (size_t)nscalar;
    int64_t all = n;
    comm_add_i64(r->comm, &all, 1);
    if (all == 0) return OK;
    enum err err = apply(&k, n, b, changed);
    blaster_free(&k);
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

enum err blast_apply(const struct term_run *r, const struct blast_law *law, int64_t n,
                     const struct blast *b, bool *changed)
{
    return apply_by(r, law, n, b, changed, false);
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
    int64_t all = n;
    comm_add_i64(r->comm, &all, 1);
    if (all == 0) return OK;
    TRY(radius_of(r, &radius));
    for (int64_t i = 0; i < n; i++) b[i].at.radius = radius;
    return blast_apply(r, law, n, b, changed);
}

enum err blast_apply_brute(const struct term_run *r, const struct blast_law *law, int64_t n,
                           const struct blast *b, bool *changed)
{
    return apply_by(r, law, n, b, changed, true);
}
