/* hole/create: see create.h. Cells that meet the gas criteria, far from all holes, are few: they
 * are sent, as events, to the ranks around, which add up the stars there. Sites that pass are sent
 * to all ranks, which choose the densest. */
#include "hole/create.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cgs.h"
#include "base/mem.h"
#include "dom/injection.h"
#include "phys/stars.h"
#include "tree/tree.h"

/* minimum stellar density, H/cm^3; minimum velocity dispersion, cm/s */
static const double STARS = 0.1, DISPERSION = 20e5;

struct hole_seeding hole_seeding(const struct term_run *r)
{
    const struct param_physics *p = &r->par->physics;
    const struct units *u = &r->units;
    return (struct hole_seeding){
        .dense = p->n_star / u->hydrogen,
        .mass = p->mseed * RAMSES_MSUN / u->mass,
        .apart = fmin(p->r_gal * CGS_KPC / u->length, 0.5 * r->mesh->boxlen),
        .stars = STARS / u->hydrogen,
        .dispersion = DISPERSION / u->velocity,
        .G = r->cosmo ? 3 / (8 * M_PI) * r->cosmo->omega_m * r->aexp : 1,
        .with_stars = param_stars(r->par)};
}

/* Candidate cell for a new hole. */
struct site {
    int64_t home, number;             /* rank of the cell, index of the site on that rank */
    double x[3], dx, oct[3], density; /* oct: vector from the cell to the centre of its oct */
    struct leaf_cell at;
};

struct sites {
    int64_t n, cap;
    struct site *at;
};

struct creation {
    const struct term_run *r;
    const struct hole_seeding *law;
    struct sinks *sinks;
    struct sites own;
};

static void sites_add(struct sites *s, const struct site *a)
{
    MEM_ROOM(s->at, s->n, s->cap, 64, "black holes");
    s->at[s->n++] = *a;
}

/* ---- gas ---- */

/* Density at which a Jeans length is four cells. */
static double unstable(const struct creation *k, const struct level *lv, lidx i, int c, double dx)
{
    const struct hydro_par *h = k->r->hydro;
    const struct gas_cell g = gas_cell_read(lv, i, c);
    double e = gas_cell_internal_m2(&g) / g.rho;
    double c2 = fmax(gas_pressure(e, h->gamma), h->smallc * h->smallc);
    return M_PI * c2 / (k->law->G * 16 * dx * dx);
}

static void look_at_level(struct creation *k, int l)
{
    const struct level *lv = &k->r->mesh->lev[l];
    double dx = mesh_dx(k->r->mesh, l);
    for (lidx i = 0; i < lv->nown; i++)
        for (int c = 0; c < 8; c++) {
            double rho = level_gas(lv, GAS_DENSITY)[i][c];
            if (lv->child[i][c] >= 0 || rho < k->law->dense) continue;
            if (!(rho > unstable(k, lv, i, c, dx))) continue;
            struct site s = {.dx = dx, .density = rho, .at = {l, i, c}};
            okey_cell_centre(lv->key[i], c, dx, s.x);
            for (int d = 0; d < 3; d++) s.oct[d] = (0.5 - (c >> d & 1)) * dx;
            sites_add(&k->own, &s);
        }
}

/* ---- other holes ---- */

static void note(int32_t i, double far2, void *ctx)
{
    *(bool *)ctx = true;
}

/* Builds a tree over the positions of copies or stars. */
static enum err plant(int64_t n, double *x, double reach, struct tree **t)
{
    struct tree_points p = {.n = n, .x = {x, x + n, x + 2 * n}};
    return tree_new(&p, TREE_AUTO, reach, t);
}

static enum err drop_near(struct creation *k, const struct sink_copies *c)
{
    struct tree *t = NULL;
    int64_t n = c->here.n, retained = 0;
    double *x = mem_new(sizeof *x * 3 * (size_t)n + 1, "black holes");
    for (int64_t i = 0; i < 3 * n; i++) x[i] = c->here.at[i % n].x[i / n];
    enum err err = plant(n, x, k->law->apart, &t);
    for (int64_t i = 0; i < k->own.n && err == OK; i++) {
        bool near = false;
        tree_ball(t, k->own.at[i].x, k->law->apart, note, &near);
        if (!near) k->own.at[retained++] = k->own.at[i];
    }
    k->own.n = retained;
    tree_free(&t);
    FREE(x);
    return err;
}

static enum err leave_room(struct creation *k)
{
    struct sink_context p = {k->r->comm, k->r->dom, k->r->mesh};
    struct sink_copies c;
    if (k->sinks->total == 0) return OK;
    enum err err = sink_call(&p, k->sinks, NULL, k->law->apart, 0, NULL, &c);
    if (err == OK) err = err_agree(k->r->comm, c.here.n ? drop_near(k, &c) : OK);
    sink_copies_free(&c);
    return err;
}

/* ---- stars ---- */

/* Sums over stars: cloud-in-cell mass in the cell; mass, momenta and squared velocities times mass
 * in the oct. */
enum { STAR_CELL, STAR_OCT, STAR_P, STAR_P2 = STAR_P + 3, STAR_SUMS = STAR_P2 + 3 };

struct message {
    int64_t number;
    struct sum sum[STAR_SUMS];
};

struct counting {
    const struct parts *p;
    const int64_t *star; /* indices of the stars in the particle arrays */
    const double *x;     /* position of the site, or of its periodic image */
    const struct site *site;
    struct sum *sum;
};

static void count_star(int32_t i, double far2, void *ctx)
{
    struct counting *q = ctx;
    int64_t at = q->star[i];
    double weight = 1, m = q->p->m[at], dx = q->site->dx;
    bool in = true;
    for (int d = 0; d < 3; d++) {
        double far = q->p->x[d][at] - q->x[d], off = far - q->site->oct[d];
        weight *= fmax(1 - fabs(far) / dx, 0);
        in &= off >= -dx && off < dx;
    }
    sum_add(&q->sum[STAR_CELL], weight * m);
    if (!in) return;
    sum_add(&q->sum[STAR_OCT], m);
    for (int d = 0; d < 3; d++) {
        double v = q->p->v[d][at];
        sum_add(&q->sum[STAR_P + d], m * v);
        sum_add(&q->sum[STAR_P2 + d], m * (v * v));
    }
}

/* Messages to the owners of candidate sites: sums over this rank's stars near a site; a site
 * without such stars gets none. */
struct mail {
    int64_t n, cap;
    struct message *message;
    int *to;
};

static void mail_add(struct mail *m, const struct site *s, const struct message *x)
{
    if (m->n == m->cap) {
        m->cap = 2 * m->cap + 16;
        m->message = mem_grow(m->message, sizeof *m->message * (size_t)m->cap, "black holes");
        m->to = mem_grow(m->to, sizeof *m->to * (size_t)m->cap, "black holes");
    }
    m->message[m->n] = *x;
    m->message[m->n].number = s->number;
    m->to[m->n++] = (int)s->home;
}

static void ask_site(const struct parts *p, const int64_t *star, const struct tree *t,
                     const struct event *at, const struct site *s, struct mail *out)
{
    struct message x;
    bool any = false;
    tree_ball(t, at->x, at->radius, note, &any);
    if (!any) return;
    for (int j = 0; j < STAR_SUMS; j++) sum_init(&x.sum[j]);
    struct counting q = {p, star, at->x, s, x.sum};
    tree_ball(t, at->x, at->radius, count_star, &q);
    mail_add(out, s, &x);
}

static enum err count_stars(const struct creation *k, const struct events *here, double reach,
                            struct mail *out)
{
    const struct parts *p = k->r->parts;
    struct tree *t = NULL;
    int64_t n = 0;
    int64_t *star = mem_new(sizeof *star * (size_t)p->n + 1, "black holes");
    for (int64_t i = 0; i < p->n; i++)
        if (p->family[i] == FAM_STAR) star[n++] = i;
    double *x = mem_new(sizeof *x * 3 * (size_t)n + 1, "black holes");
    for (int64_t i = 0; i < 3 * n; i++) x[i] = p->x[i / n][star[i % n]];
    enum err err = n ? plant(n, x, reach, &t) : OK;
    for (int64_t i = 0; i < here->n && err == OK && n; i++) {
        struct site s;
        memcpy(&s, here->payload + sizeof s * (size_t)i, sizeof s);
        ask_site(p, star, t, &here->at[i], &s, out);
    }
    tree_free(&t);
    FREE(x);
    FREE(star);
    return err;
}

/* Whether the stars belong to a bulge: high density and high velocity dispersion. */
static bool bulge(const struct creation *k, const struct site *s, const struct sum sum[STAR_SUMS])
{
    double volume = s->dx * s->dx * s->dx, m = sum_get(&sum[STAR_OCT]), most2 = 0;
    if (sum_get(&sum[STAR_CELL]) < k->law->dense * volume) return false;
    if (!(m > k->law->stars * 8 * volume)) return false;
    for (int d = 0; d < 3; d++) {
        double v = sum_get(&sum[STAR_P + d]) / m;
        most2 = fmax(most2, sum_get(&sum[STAR_P2 + d]) / m - v * v);
    }
    return most2 > k->law->dispersion * k->law->dispersion;
}

static enum err send_sites(struct creation *k, double reach, struct events *here)
{
    int64_t n = k->own.n, before = comm_scan_i64(k->r->comm, n);
    struct event *at = mem_zero(sizeof *at * (size_t)n + 1, "black holes");
    for (int64_t i = 0; i < n; i++) {
        struct site *s = &k->own.at[i];
        s->home = k->r->comm->rank, s->number = i;
        at[i] = (struct event){
            .id = before + i, .x = {s->x[0], s->x[1], s->x[2]}, .radius = fmin(reach, 3 * s->dx)};
    }
    enum err err = event_route(k->r->comm, k->r->dom, k->r->mesh, n, at, sizeof *k->own.at,
                               k->own.at, here);
    FREE(at);
    return err;
}

MEM_ORDER(by_number, struct message, number)

/* Adds up the messages about each site, and keeps the sites that are in bulges, in the order of
 * their numbers. */
static void keep_bulges(struct creation *k, struct message *in, int64_t n)
{
    int64_t retained = 0;
    mem_sort(in, (size_t)n, sizeof *in, by_number);
    for (int64_t i = 0, next; i < n; i = next) {
        for (next = i + 1; next < n && in[next].number == in[i].number; next++)
            for (int j = 0; j < STAR_SUMS; j++) sum_join(&in[i].sum[j], &in[next].sum[j]);
        const struct site *s = &k->own.at[in[i].number];
        if (bulge(k, s, in[i].sum)) k->own.at[retained++] = *s;
    }
    k->own.n = retained;
}

/* Requests the sums over stars, and keeps the sites in bulges. (collective) */
static enum err ask_stars(struct creation *k)
{
    const struct comm *c = k->r->comm;
    struct events here = {0};
    struct mail mail = {0};
    double reach = fmin(3 * mesh_dx(k->r->mesh, k->r->mesh->levelmin), 0.5 * k->r->mesh->boxlen);
    TRY(send_sites(k, reach, &here));
    enum err err = err_agree(c, here.n ? count_stars(k, &here, reach, &mail) : OK);
    if (err == OK) {
        int64_t got;
        struct message *in = comm_exchange_by(c, mail.message, mail.n, mail.to, sizeof *in, &got,
                                              NULL);
        keep_bulges(k, in, got);
        FREE(in);
    }
    FREE(mail.message);
    FREE(mail.to);
    events_free(&here);
    return err;
}

/* ---- the densest ---- */

static int densest(const void *a, const void *b)
{
    const struct site *x = a, *y = b;
    if (x->density != y->density) return x->density < y->density ? 1 : -1;
    for (int d = 0; d < 3; d++)
        if (x->x[d] != y->x[d]) return x->x[d] > y->x[d] ? 1 : -1;
    return 0;
}

/* Keeps the sites that are not near a denser site that is kept; returns their number. */
static int64_t choose(const struct creation *k, struct site *at, int64_t n)
{
    int64_t retained = 0;
    mem_sort(at, (size_t)n, sizeof *at, densest);
    for (int64_t i = 0; i < n; i++) {
        bool near = false;
        for (int64_t j = 0; j < retained && !near; j++) {
            double r[3], r2 = 0;
            sink_between(k->r->mesh, at[i].x, at[j].x, r);
            for (int d = 0; d < 3; d++) r2 += r[d] * r[d];
            near = r2 <= k->law->apart * k->law->apart;
        }
        if (!near) at[retained++] = at[i];
    }
    return retained;
}

static void give_birth(const struct creation *k, const struct site *s, int64_t id)
{
    const struct level *lv = &k->r->mesh->lev[s->at.level];
    double volume = s->dx * s->dx * s->dx;
    double max = s->density - unstable(k, lv, s->at.oct, s->at.cell, s->dx) / 4;
    struct sink *a = sinks_add(k->sinks, 1);
    a->id = id;
    a->m = fmin(k->law->mass, max * volume);
    a->birth = k->r->t;
    a->born = 1;
    for (int d = 0; d < 3; d++) {
        a->x[d] = s->x[d];
        a->v[d] = level_gas(lv, GAS_MOMENTUM + d)[s->at.oct][s->at.cell] / s->density;
    }
    double left = 1 - a->m / (s->density * volume);
    gas_cell_scale(lv, s->at.oct, s->at.cell, k->r->hydro->nvar, left);
    if (k->r->ledger)
        star_note(&k->r->ledger->captured, id, -1, a->m / volume, lv, s->at.oct, s->at.cell);
}

static enum err check_number(const struct creation *k, int64_t born)
{
    int64_t all = k->sinks->total + born, max = k->r->par->amr.nsinkmax;
    if (all > max)
        FAIL(ERR_LIMIT,
             "%ld new black holes would make %ld, more than nsinkmax=%ld of &AMR_PARAMS: raise "
             "nsinkmax",
             (long)born, (long)all, (long)max);
    return OK;
}

static enum err bear(struct creation *k, int64_t *born)
{
    int64_t all = k->own.n;
    comm_add_i64(k->r->comm, &all, 1);
    if (all == 0) return OK;
    struct site *at = mem_new(sizeof *at * (size_t)(all + k->own.n) + 1, "black holes");
    if (k->own.n) memcpy(at, k->own.at, sizeof *at * (size_t)k->own.n);
    for (int64_t i = 0; i < k->own.n; i++) at[i].home = k->r->comm->rank;
    comm_union(k->r->comm, k->own.n, all, sizeof *at, at, 0, NULL);
    *born = choose(k, at, all);
    enum err err = check_number(k, *born);
    for (int64_t i = 0; i < *born && err == OK; i++)
        if (at[i].home == k->r->comm->rank) give_birth(k, &at[i], k->sinks->made + 1 + i);
    if (err == OK) k->sinks->made += *born;
    FREE(at);
    return err;
}

enum err hole_create(const struct term_run *r, const struct hole_seeding *law, struct sinks *s,
                     int64_t *born)
{
    struct creation k = {.r = r, .law = law, .sinks = s};
    *born = 0;
    for (int l = r->mesh->levelmin; l <= r->mesh->levelmax; l++) look_at_level(&k, l);
    int64_t any = k.own.n;
    comm_add_i64(r->comm, &any, 1);
    enum err err = any ? leave_room(&k) : OK;
    if (err == OK && any && law->with_stars) err = ask_stars(&k);
    if (err == OK && any) err = bear(&k, born);
    FREE(k.own.at);
    return err;
}
