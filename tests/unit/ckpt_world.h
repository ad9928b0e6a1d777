/* A small refined world of noise, a function of field, level, key and cell, and checks of the state
 * read back. For the tests of lib/ckpt. */
#pragma once
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "adapt/adapt.h"
#include "audit/check.h"
#include "audit/digest.h"
#include "base/mem.h"
#include "base/rng.h"
#include "formats/formats.h"
#include "ramses/write.h"

enum { LMIN = 4, LMAX = 7, NPART = 5000, NVAR = 7 };
static int64_t passed, failed;
static struct comm all;
static const struct comm alone = {.size = 1};
static const double SMALLR = 1e-10, GAMMA = 1.4, BOX = 2;

static void check_on(const struct comm *c, bool ok, const char *what)
{
    int64_t bad = !ok;
    comm_max_i64(c, &bad, 1);
    if (c == &all || all.rank == 0) {
        passed += !bad;
        failed += bad;
    }
    if (bad && all.rank == 0) printf("FAILED: %s\n   %s\n", what, err_message());
}

static void check(bool ok, const char *what)
{
    check_on(&all, ok, what);
}

/* ---- a small world ---- */

struct world {
    struct comm c;
    struct domain *d;
    struct mesh m;
    struct parts p;
    struct ckpt_head h;
};

static double noise(uint64_t a, uint64_t b, uint64_t c)
{
    return (double)(rng_mix(rng_mix(rng_mix(a) + b) + c) >> 11) * 0x1p-53;
}

static double cell_noise(int f, int l, okey k, int cell)
{
    return noise((uint64_t)(100 * f + l), (uint64_t)k, (uint64_t)cell);
}

/* Two nested spheres across the face x = 0. */
static bool want_split(int l, okey k, int cell)
{
    static const double centre[3] = {0.05, 0.5, 0.45}, radius[] = {0.3, 0.17, 0.08};
    int64_t x[3];
    double r2 = 0;
    okey_coords(k, x);
    for (int d = 0; d < 3; d++) {
        double s = ((double)(2 * x[d] + (cell >> d & 1)) + 0.5) * ldexp(1, -l) - centre[d];
        s -= rint(s);
        r2 += s * s;
    }
    return r2 < radius[l - LMIN] * radius[l - LMIN];
}

static void fill_mesh(struct mesh *m)
{
    for (int l = 1; l <= LMAX; l++)
        for (lidx i = 0; i < m->lev[l].noct; i++)
            for (int c = 0; c < 8; c++) {
                const struct level *lv = &m->lev[l];
                for (int v = 0; v < NVAR; v++) {
                    double x = cell_noise(v, l, lv->key[i], c);
                    lv->fld[FLD_U + v][i][c] = v == 0 ? 0.1 + x : v == 4 ? 30 + x : x - 0.5;
                }
                for (int f = FLD_PHI; f <= FLD_FZ && m->gravity; f++)
                    lv->fld[f][i][c] = cell_noise(20 + f, l, lv->key[i], c) - 0.5;
                for (int v = 0; v < m->nphoton; v++)
                    level_photons(lv, v)[i][c] = cell_noise(60 + v, l, lv->key[i], c) - 0.5;
            }
}

static void fill_parts(struct parts *p, const struct comm *c)
{
    part_init(p);
    part_want_all(p, WHEN_STARS);
    part_want_all(p, WHEN_YIELDS);
    part_reserve(p, NPART);
    for (int64_t id = c->rank; id < NPART; id += c->size) {
        int64_t i = p->n++;
        for (int d = 0; d < 3; d++) {
            p->x[d][i] = BOX * noise(1, (uint64_t)id, (uint64_t)d);
            p->v[d][i] = noise(2, (uint64_t)id, (uint64_t)d) - 0.5;
        }
        p->m[i] = noise(3, (uint64_t)id, 0) / NPART;
        p->id[i] = id;
        p->levelp[i] = LMIN + (int)(id % 3);
        p->family[i] = id % 7 == 3 ? FAM_STAR : FAM_DM;
        p->tag[i] = (int8_t)(id % 5);
        p->birth[i] = p->family[i] == FAM_STAR ? -noise(4, (uint64_t)id, 0) : 0;
        p->metal[i] = p->family[i] == FAM_STAR ? noise(5, (uint64_t)id, 0) : 0;
    }
}

static int world_gravity = 1;     /* of worlds that are made, as of struct mesh */
static int world_groups = 0;      /* of photons */
static struct gas_vars world_gas; /* the first scalar is the metallicity */

static void world_new_in(struct world *w, struct comm c, bool isolated, enum domain_kind kind)
{
    const bool bounded[6] = {isolated, isolated, false, false, isolated, isolated};
    static const double times[4] = {1, 2, 0.5, 0.75}; /* tout, aout */
    memset(w, 0, sizeof *w);
    gas_vars_init(&world_gas);
    gas_vars_add(&world_gas, "metallicity");
    while (world_gas.n < NVAR) gas_vars_add(&world_gas, NULL);
    w->c = c;
    w->d = domain_new(kind, c.size, LMAX, bounded);
    mesh_init(&w->m, LMIN, LMAX, NVAR, true, world_gravity, BOX, bounded);
    mesh_set_photons(&w->m, world_groups);
    adapt_build(&w->m, &w->c, w->d);
    for (int l = LMIN; l < LMAX; l++) {
        struct level *lv = &w->m.lev[l];
        for (lidx i = 0; i < lv->nown; i++)
            for (int k = 0; k < 8; k++) lv->flag[i][k] = want_split(l, lv->key[i], k);
        adapt_refine(&w->m, &w->c, w->d, l, NULL, NULL);
    }
    fill_mesh(&w->m);
    fill_parts(&w->p, &c);
    w->h = (struct ckpt_head){.ndim = 3,
                              .levelmin = LMIN,
                              .levelmax = LMAX,
                              .hydro = true,
                              .gravity = world_gravity > 0,
                              .particles = true,
                              .stars = true,
                              .metal = true,
                              .nvar = NVAR,
                              .gamma = GAMMA,
                              .smallr = SMALLR,
                              .boxlen = BOX,
                              .noutput = 2,
                              .iout = 1,
                              .ifout = 2,
                              .tout = times,
                              .aout = times + 2,
                              .radiation = {.groups = world_groups, .c = 0.7, .x = 1},
                              .t = 0.25,
                              .nstep = 12,
                              .nstep_coarse = 3,
                              .h0 = 1,
                              .aexp = 1,
                              .omega_m = 0.3,
                              .unit_l = 3.085677581e24,
                              .unit_d = 1e-29,
                              .unit_t = 1.7e-17,
                              .gas = &world_gas,
                              .namelist = "&RUN_PARAMS\n/\n",
                              .provenance = c.size > 1 ? "written by many\n" : "written by one\n"};
    for (int l = 1; l <= LMAX; l++) w->h.dtold[l] = 0.1 * l, w->h.dtnew[l] = 0.2 * l;
}

static inline void world_new(struct world *w, struct comm c, bool isolated)
{
    world_new_in(w, c, isolated, DOMAIN_HILBERT);
}

static void world_free(struct world *w)
{
    part_fini(&w->p);
    mesh_fini(&w->m);
    domain_free(w->d);
}

/* ---- reading back ---- */

struct seen {
    int64_t cells, wrong, split_wrong, parts, parts_wrong, parts_outside;
    int64_t last_id; /* the largest id */
};

static void primitive(const double u[NVAR], double q[NVAR])
{
    double rho = u[0] > SMALLR ? u[0] : SMALLR, e = u[4];
    for (int v = 1; v <= 3; v++) e = e - 0.5 * (u[v] * u[v]) / rho;
    for (int v = 0; v < NVAR; v++) q[v] = v == 0 ? u[0] : v == 4 ? (GAMMA - 1) * e : u[v] / rho;
}

static enum err see_octs(const struct source_octs *o, void *ctx)
{
    struct seen *s = ctx;
    for (int i = 0; i < o->n; i++)
        for (int c = 0; c < 8; c++) {
            double u[NVAR], q[NVAR];
            for (int v = 0; v < NVAR; v++) {
                double x = cell_noise(v, o->level, o->key[i], c);
                u[v] = v == 0 ? 0.1 + x : v == 4 ? 30 + x : x - 0.5;
            }
            primitive(u, q);
            bool split = o->split[i] >> c & 1,
                 want = o->level < LMIN || (o->level < LMAX && want_split(o->level, o->key[i], c));
            s->cells++;
            s->split_wrong += split != want || o->flag[i][c] != want;
            for (int v = 0; v < NVAR; v++) s->wrong += o->val[8 * v + c][i] != q[v];
            for (int k = 0; k < 4; k++) {
                int f = k == 0 ? FLD_PHI : FLD_FX + k - 1;
                double x = o->level < LMIN ? 0 : cell_noise(20 + f, o->level, o->key[i], c) - 0.5;
                s->wrong += o->val[8 * (NVAR + k) + c][i] != x;
            }
        }
    return OK;
}

static enum err see_parts(const struct source_parts *p, void *ctx)
{
    struct seen *s = ctx;
    const int64_t *id = p->id;
    for (int64_t i = 0; i < p->n; i++) {
        uint64_t k = (uint64_t)id[i];
        bool star = id[i] % 7 == 3;
        for (int d = 0; d < 3; d++) {
            s->parts_wrong += p->x[d][i] != BOX * noise(1, k, (uint64_t)d);
            s->parts_outside += !(p->x[d][i] >= 0 && p->x[d][i] < BOX);
            s->parts_wrong += p->v[d][i] != noise(2, k, (uint64_t)d) - 0.5;
        }
        s->parts_wrong += p->m[i] != noise(3, k, 0) / NPART;
        s->parts_wrong += p->levelp[i] != LMIN + id[i] % 3;
        s->parts_wrong += p->family[i] != (star ? FAM_STAR : FAM_DM);
        s->parts_wrong += p->tag[i] != id[i] % 5;
        s->parts_wrong += p->birth[i] != (star ? -noise(4, k, 0) : 0);
        s->parts_wrong += p->metal[i] != (star ? noise(5, k, 0) : 0);
        if (id[i] > s->last_id) s->last_id = id[i];
        s->parts++;
    }
    return OK;
}

/* Writes output_NNNNN of the world in the working directory, to disk; path (size n) receives its
 * name. */
static inline enum err world_write(struct world *w, const struct writer_kind *k, int number,
                                   char *path, size_t n)
{
    struct out_pending *out = mem_zero(sizeof *out, "test");
    enum err err = k->write(".", number, &w->h, &w->m, &w->p, k->by_rank ? w->d : NULL, &w->c, out);
    if (err == OK) err = out_publish(out, &w->c);
    snprintf(path, n, "./output_%05d", number);
    FREE(out);
    return err;
}

static inline enum err see(const char *path, struct seen *s)
{
    struct source *r;
    *s = (struct seen){0};
    enum err err = source_open(path, &r);
    for (int k = 0; err == OK && k < 2; k++)
        s->wrong += r->head.tout[k] != 1 + k || r->head.aout[k] != 0.5 + 0.25 * k;
    for (int k = 0; err == OK && k < r->npiece; k++) {
        err = source_octs(r, k, SOURCE_STORED, see_octs, s);
        if (err == OK) err = source_parts(r, k, SOURCE_STORED, see_parts, s);
    }
    if (err == OK) err = source_check_tree(r);
    source_close(&r);
    return err;
}

static inline enum err digest_of(const char *path, struct digest *d)
{
    struct source *r;
    enum err err = source_open(path, &r);
    if (err == OK) err = digest_snapshot(r, &alone, d);
    source_close(&r);
    return err;
}

static inline bool same_digest(const struct digest *a, const struct digest *b)
{
    bool same = a->n == b->n && a->state == b->state && a->n > 10;
    for (int i = 0; same && i < a->n; i++)
        same = a->line[i].hash == b->line[i].hash && !strcmp(a->line[i].name, b->line[i].name);
    return same;
}
