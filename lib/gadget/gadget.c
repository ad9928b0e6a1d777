/* gadget/gadget: see gadget.h. Three passes: range of masses and ids, count of each type,
 * particles. Memory use is one batch. */
#include "gadget/gadget.h"

#include <math.h>
#include <string.h>

#include "base/cgs.h"
#include "base/mem.h"
#include "gadget/file.h"
#include "io/dir.h"
#include "oct/gas_kern.h"

/* minimum mass of type 5 dark matter, in units of the minimum particle mass */
static const double HEAVY = 1.5;

struct writer {
    struct source *s;
    struct gadget_out out;
    double length, speed, mass; /* file units per code unit */
    double dm_min, min[GADGET_TYPES], max[GADGET_TYPES];
    int64_t id_min, id_max, cells, left_out[FAMILIES];
    /* Buffers of the rows of a batch. */
    float *pos, *vel, *m, *u, *rho, *hsml;
    void *id;
    int64_t room;
};

/* ---- units ---- */

static void set_units(struct writer *w)
{
    const struct ckpt_head *h = &w->s->head;
    struct gadget_out *o = &w->out;
    double a = h->aexp, little = h->h0 / 100;
    w->length = w->speed = w->mass = 1;
    o->time = h->t, o->h = 1;
    if (h->cosmo) {
        w->length = h->unit_l / a / CGS_KPC * little;
        w->speed = h->unit_l / h->unit_t / CGS_KM / sqrt(a);
        w->mass = h->unit_d * h->unit_l * h->unit_l * h->unit_l / (1e10 * CGS_MSUN) * little;
        o->time = a, o->redshift = 1 / a - 1, o->h = little, o->omega_m = h->omega_m,
        o->omega_l = h->omega_l;
    }
    o->box = h->boxlen * w->length;
}

/* ---- counting ---- */

static const enum gadget_type TYPE[FAMILIES] = {
#define FAMILY(symbol, number, name, header, species, gadget) GADGET_##gadget,
#include "part/families.def"
};

static enum gadget_type type_of(const struct writer *w, const struct source_parts *p, int64_t i)
{
    if (!family_has_mass(p->family[i])) return GADGET_NONE;
    enum gadget_type t = TYPE[family_row(p->family[i])];
    return t == GADGET_DM && p->m[i] > HEAVY * w->dm_min ? GADGET_HEAVY : t;
}

static enum err find_range(const struct source_parts *p, void *ctx)
{
    struct writer *w = ctx;
    for (int64_t i = 0; i < p->n; i++) {
        if (!(p->m[i] >= 0 && isfinite(p->m[i])))
            FAIL(ERR_FORMAT,
                 "%s: particle %ld has the mass %g, which must be finite and at least 0: see "
                 "inspect -cc",
                 w->s->path, (long)p->id[i], p->m[i]);
        for (int d = 0; d < 3; d++)
            if (!isfinite(p->x[d][i]) || !isfinite(p->v[d][i]))
                FAIL(ERR_FORMAT,
                     "%s: particle %ld has a position or velocity that is not finite: see inspect "
                     "-cc",
                     w->s->path, (long)p->id[i]);
        if (p->family[i] == FAM_DM) w->dm_min = fmin(w->dm_min, p->m[i]);
        if (type_of(w, p, i) == GADGET_NONE) continue;
        w->id_min = p->id[i] < w->id_min ? p->id[i] : w->id_min;
        w->id_max = p->id[i] > w->id_max ? p->id[i] : w->id_max;
    }
    return OK;
}

static enum err count_parts(const struct source_parts *p, void *ctx)
{
    struct writer *w = ctx;
    for (int64_t i = 0; i < p->n; i++) {
        enum gadget_type t = type_of(w, p, i);
        if (t == GADGET_NONE) {
            w->left_out[family_row(p->family[i])]++;
            continue;
        }
        w->out.count[t]++;
        w->min[t] = fmin(w->min[t], p->m[i]);
        w->max[t] = fmax(w->max[t], p->m[i]);
    }
    return OK;
}

static enum err count_cells(const struct source_octs *o, void *ctx)
{
    struct writer *w = ctx;
    for (int i = 0; i < o->n; i++) w->out.count[GADGET_GAS] += 8 - __builtin_popcount(o->split[i]);
    return OK;
}

static enum err take_census(struct writer *w, bool gas)
{
    struct source *s = w->s;
    w->dm_min = INFINITY, w->id_min = INT64_MAX, w->id_max = 0;
    for (int t = 0; t < GADGET_TYPES; t++) w->min[t] = INFINITY;
    for (int k = 0; k < s->npiece; k++) TRY(source_parts(s, k, SOURCE_STATE, find_range, w));
    for (int k = 0; k < s->npiece; k++) TRY(source_parts(s, k, SOURCE_STATE, count_parts, w));
    for (int k = 0; gas && k < s->npiece; k++) TRY(source_octs(s, k, SOURCE_TREE, count_cells, w));
    /* Ids of cells follow the maximum particle id. */
    if (w->id_max > INT64_MAX - w->out.count[GADGET_GAS])
        FAIL(ERR_LIMIT,
             "%s: the ids of cells follow the largest id of a particle, %ld, which leaves none for "
             "%ld cells: leave out --gas",
             s->path, (long)w->id_max, (long)w->out.count[GADGET_GAS]);
    int64_t last = w->id_max + w->out.count[GADGET_GAS];
    w->out.wide_ids = w->id_min < 0 || last > UINT32_MAX;
    for (int t = 1; t < GADGET_TYPES; t++)
        if (w->out.count[t] && (float)w->min[t] > 0 && w->min[t] == w->max[t])
            w->out.mass[t] = w->min[t] * w->mass;
    return OK;
}

/* ---- conversion ---- */

static void make_room(struct writer *w, int64_t n)
{
    if (n <= w->room) return;
    size_t k = (size_t)(w->room = n);
    w->pos = mem_grow(w->pos, 12 * k, "snapshot batch");
    w->vel = mem_grow(w->vel, 12 * k, "snapshot batch");
    w->id = mem_grow(w->id, 8 * k, "snapshot batch");
    w->m = mem_grow(w->m, 4 * k, "snapshot batch");
    w->u = mem_grow(w->u, 4 * k, "snapshot batch");
    w->rho = mem_grow(w->rho, 4 * k, "snapshot batch");
    w->hsml = mem_grow(w->hsml, 4 * k, "snapshot batch");
}

/* A position in 0 <= x < box, also after rounding to float. */
static float location(const struct writer *w, double x)
{
    double in = x / w->s->head.boxlen;
    float at = (float)((in - floor(in)) * w->out.box), box = (float)w->out.box;
    return at < box ? at : nextafterf(box, 0);
}

static void put_id(struct writer *w, int64_t k, int64_t id)
{
    uint32_t narrow = (uint32_t)id;
    if (w->out.wide_ids)
        memcpy((char *)w->id + 8 * k, &id, 8);
    else
        memcpy((char *)w->id + 4 * k, &narrow, 4);
}

static enum err hand_on(struct writer *w, enum gadget_type type, int64_t n)
{
    const void *block[GADGET_BLOCKS] = {w->pos, w->vel, w->id, w->m, w->u, w->rho, w->hsml};
    return n ? gadget_put(&w->out, type, n, block) : OK;
}

static enum err write_parts(const struct source_parts *p, void *ctx)
{
    struct writer *w = ctx;
    make_room(w, p->n);
    for (int t = 1; t < GADGET_TYPES; t++) {
        int64_t k = 0;
        for (int64_t i = 0; i < p->n; i++) {
            if ((int)type_of(w, p, i) != t) continue;
            for (int d = 0; d < 3; d++) {
                w->pos[3 * k + d] = location(w, p->x[d][i]);
                w->vel[3 * k + d] = (float)(p->v[d][i] * w->speed);
            }
            w->m[k] = (float)(p->m[i] * w->mass);
            put_id(w, k++, p->id[i]);
        }
        TRY(hand_on(w, (enum gadget_type)t, k));
    }
    return OK;
}

/* Writes cell c of oct i as particle k; val: conserved variables. */
static void put_cell(struct writer *w, const struct source_octs *o, int i, int c, int64_t k)
{
    int64_t x[3];
    double box = w->s->head.boxlen, dx = ldexp(box, -o->level), rho = o->val[c][i],
           energy = o->val[32 + c][i];
    okey_coords(o->key[i], x);
    for (int d = 0; d < 3; d++) {
        double m = o->val[8 * (1 + d) + c][i];
        energy -= gas_kinetic_part(rho, m);
        w->pos[3 * k + d] = location(w, ((double)(2 * x[d] + (c >> d & 1)) + 0.5) * dx);
        w->vel[3 * k + d] = (float)(m / rho * w->speed);
    }
    double a = w->s->head.cosmo ? w->s->head.aexp : 1, speed2 = w->speed * w->speed * a,
           l = w->length;
    w->m[k] = (float)(rho * dx * dx * dx * w->mass);
    w->rho[k] = (float)(rho * w->mass / (l * l * l));
    w->u[k] = (float)(energy / rho * speed2);
    w->hsml[k] = (float)(cbrt(32 * 3 / (4 * M_PI)) * dx * l); /* radius of a ball of 32 cells */
    put_id(w, k, w->id_max + 1 + w->cells++);
}

static enum err write_cells(const struct source_octs *o, void *ctx)
{
    struct writer *w = ctx;
    int64_t k = 0;
    make_room(w, 8 * (int64_t)o->n);
    for (int i = 0; i < o->n; i++)
        for (int c = 0; c < 8; c++)
            if (!(o->split[i] >> c & 1)) put_cell(w, o, i, c, k++);
    return hand_on(w, GADGET_GAS, k);
}

static enum err write_all(struct writer *w, bool gas)
{
    TRY(gadget_create(&w->out));
    for (int k = 0; k < w->s->npiece; k++) TRY(source_parts(w->s, k, SOURCE_STATE, write_parts, w));
    for (int k = 0; gas && k < w->s->npiece; k++)
        TRY(source_octs(w->s, k, SOURCE_STATE, write_cells, w));
    return OK;
}

static enum err check_source(const struct gadget *opt, const struct source *s)
{
    const struct ckpt_head *h = &s->head;
    if (opt->gas && !h->hydro) FAIL(ERR_PARAM, "%s: has no gas: leave out --gas", s->path);
    if (!opt->gas && !h->particles)
        FAIL(ERR_PARAM, "%s: has no particles: use --gas to write the cells", s->path);
    if (h->cosmo && !(h->aexp > 0 && h->h0 > 0 && h->unit_l > 0 && h->unit_d > 0 && h->unit_t > 0))
        FAIL(ERR_FORMAT, "%s: its units must be positive: a=%g H0=%g unit_l=%g unit_d=%g unit_t=%g",
             s->path, h->aexp, h->h0, h->unit_l, h->unit_d, h->unit_t);
    return OK;
}

enum err gadget_write(const struct gadget *opt, struct source *s, char *name, size_t n,
                      int64_t left_out[FAMILIES])
{
    struct writer w = {.s = s,
                       .out = {.path = opt->out,
                               .first.fd = -1,
                               .named = opt->named,
                               .nfile = opt->nfile > 1 ? opt->nfile : 1,
                               .overwrite = opt->overwrite,
                               .stars = s->head.stars,
                               .metals = s->head.metal}};
    TRY(check_source(opt, s));
    TRY(dir_outside(opt->out, s->path));
    set_units(&w);
    enum err err = take_census(&w, opt->gas);
    if (err == OK) {
        err = write_all(&w, opt->gas);
        if (err == OK) err = gadget_finish(&w.out, name, n);
        if (err != OK) gadget_drop(&w.out);
    }
    memcpy(left_out, w.left_out, sizeof w.left_out);
    FREE(w.pos);
    FREE(w.vel);
    FREE(w.id);
    FREE(w.m);
    FREE(w.u);
    FREE(w.rho);
    FREE(w.hsml);
    return err;
}
