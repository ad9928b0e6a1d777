/* gadget/gadget: see gadget.h. Three passes: range of masses and ids, count of each type,
 * particles. Memory use is one batch. */
#include "gadget/gadget.h"

#include <math.h>
#include <stdio.h>
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
    bool binary;
    double length, speed, mass, energy; /* file units per code unit */
    double dm_min, min[GADGET_TYPES], max[GADGET_TYPES];
    int64_t id_min, id_max, cells, left_out[FAMILIES];
    /* Buffers of the rows of a batch; `narrow`: as binary files have them. */
    double *row[GADGET_BLOCKS];
    int64_t *id;
    void *narrow[GADGET_BLOCKS];
    int64_t room;
};

/* ---- units ---- */

static void set_units(struct writer *w, enum gadget_form form)
{
    const struct ckpt_head *h = &w->s->head;
    struct gadget_out *o = &w->out;
    const bool swift = form == GADGET_FORM_SWIFT;
    const double a = h->aexp, little = h->h0 / 100, side = swift ? CGS_MPC : CGS_KPC,
                 per_h = swift ? 1 : little, mass = 1e10 * CGS_MSUN;
    w->length = w->speed = w->mass = w->energy = 1;
    o->time = h->t, o->h = 1;
    o->swift = swift, o->comoving = h->cosmo, o->gamma = h->gamma;
    o->length_cm = h->unit_l, o->speed_cm = h->unit_l / h->unit_t;
    o->mass_g = h->unit_d * h->unit_l * h->unit_l * h->unit_l;
    if (h->cosmo) {
        const double speed = h->unit_l / h->unit_t / CGS_KM;
        w->length = h->unit_l / a / side * per_h;
        w->speed = swift ? speed : speed / sqrt(a);
        w->mass = h->unit_d * h->unit_l * h->unit_l * h->unit_l / mass * per_h;
        const double root = w->speed * w->speed * a;
        w->energy = swift ? speed * speed * a * a : root; /* SWIFT: u a² */
        o->time = a, o->redshift = 1 / a - 1, o->h = little, o->omega_m = h->omega_m,
        o->omega_l = h->omega_l, o->omega_b = h->omega_b, o->dark = h->dark;
        o->length_cm = side, o->mass_g = mass, o->speed_cm = CGS_KM;
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
    const enum gadget_type heavy = w->binary ? GADGET_HEAVY : GADGET_COARSE;
    return t == GADGET_DM && p->m[i] > HEAVY * w->dm_min ? heavy : t;
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

/* Sinks are black holes in HDF5. */
static void count_holes(struct writer *w)
{
    const struct catalog *t = w->s->sinks;
    const struct catalog_column *id = catalog_find(t, "identity");
    w->out.count[GADGET_HOLE] = t->n;
    for (int64_t i = 0; id && id->whole && i < t->n; i++)
        w->id_max = id->whole[i] > w->id_max ? id->whole[i] : w->id_max;
}

static enum err take_census(struct writer *w, bool gas)
{
    struct source *s = w->s;
    w->dm_min = INFINITY, w->id_min = INT64_MAX, w->id_max = 0;
    for (int t = 0; t < GADGET_TYPES; t++) w->min[t] = INFINITY;
    for (int k = 0; k < s->npiece; k++) TRY(source_parts(s, k, SOURCE_STATE, find_range, w));
    for (int k = 0; k < s->npiece; k++) TRY(source_parts(s, k, SOURCE_STATE, count_parts, w));
    for (int k = 0; gas && k < s->npiece; k++) TRY(source_octs(s, k, SOURCE_TREE, count_cells, w));
    if (!w->binary) count_holes(w);
    /* Ids of cells follow the maximum particle id. */
    if (w->id_max > INT64_MAX - w->out.count[GADGET_GAS])
        FAIL(ERR_LIMIT,
             "%s: the ids of cells follow the largest id of a particle, %ld, which leaves none for "
             "%ld cells: leave out --gas",
             s->path, (long)w->id_max, (long)w->out.count[GADGET_GAS]);
    int64_t last = w->id_max + w->out.count[GADGET_GAS];
    w->out.wide_ids = w->id_min < 0 || last > UINT32_MAX;
    for (int t = 1; t < GADGET_TYPES; t++)
        if (w->binary && w->out.count[t] && (float)w->min[t] > 0 && w->min[t] == w->max[t])
            w->out.mass[t] = w->min[t] * w->mass;
    return OK;
}

/* ---- conversion ---- */

static void make_room(struct writer *w, int64_t n)
{
    if (n <= w->room) return;
    size_t k = (size_t)(w->room = n);
    for (int b = 0; b < GADGET_BLOCKS; b++) {
        const size_t width = b <= GADGET_VEL ? 3 : 1;
        w->row[b] = mem_grow(w->row[b], 8 * width * k, "snapshot batch");
        w->narrow[b] = mem_grow(w->narrow[b], 8 * width * k, "snapshot batch");
    }
    w->id = mem_grow(w->id, 8 * k, "snapshot batch");
}

/* A position in 0 <= x < box. */
static double location(const struct writer *w, double x)
{
    double in = x / w->s->head.boxlen, at = (in - floor(in)) * w->out.box;
    return at < w->out.box ? at : 0;
}

/* Rounds n numbers to floats; positions stay below the side of the box. */
static void narrow_row(struct writer *w, int block, int64_t n)
{
    const float box = (float)w->out.box;
    float *to = w->narrow[block];
    for (int64_t i = 0; i < n; i++) {
        to[i] = (float)w->row[block][i];
        if (block == GADGET_POS && !(to[i] < box)) to[i] = nextafterf(box, 0);
    }
}

static void narrow_ids(struct writer *w, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        uint32_t id = (uint32_t)w->id[i];
        memcpy((char *)w->narrow[GADGET_ID] + 4 * i, &id, 4);
    }
}

static enum err hand_on(struct writer *w, enum gadget_type type, int64_t n)
{
    const void *block[GADGET_BLOCKS];
    for (int b = 0; b < GADGET_BLOCKS; b++) {
        const bool whole = b == GADGET_ID;
        block[b] = whole ? (void *)w->id : w->row[b];
        if (!w->binary || (whole && w->out.wide_ids)) continue;
        if (whole)
            narrow_ids(w, n);
        else if (type == GADGET_GAS || b < GADGET_U)
            narrow_row(w, b, b <= GADGET_VEL ? 3 * n : n);
        block[b] = w->narrow[b];
    }
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
                w->row[GADGET_POS][3 * k + d] = location(w, p->x[d][i]);
                w->row[GADGET_VEL][3 * k + d] = p->v[d][i] * w->speed;
            }
            w->row[GADGET_MASS][k] = p->m[i] * w->mass;
            w->id[k++] = p->id[i];
        }
        TRY(hand_on(w, (enum gadget_type)t, k));
    }
    return OK;
}

/* Energy per volume of a cell that such files have no place for. */
static double non_thermal(const struct writer *w, const struct source_octs *o, int i, int c)
{
    double sum = 0;
    for (int k = 0; k < w->s->head.energy.n; k++) sum += o->val[8 * (GAS_SCALARS + k) + c][i];
    return sum;
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
        if (d == 0) energy -= non_thermal(w, o, i, c);
        w->row[GADGET_POS][3 * k + d] = location(w, ((double)(2 * x[d] + (c >> d & 1)) + 0.5) * dx);
        w->row[GADGET_VEL][3 * k + d] = m / rho * w->speed;
    }
    /* The radius of a ball of 32 cells; SWIFT's smoothing length is shorter than the radius of its
     * quartic kernel by 1.936492 (Dehnen & Aly 2012). */
    const double l = w->length, radius = cbrt(32 * 3 / (4 * M_PI)) * dx * l;
    w->row[GADGET_MASS][k] = rho * dx * dx * dx * w->mass;
    w->row[GADGET_RHO][k] = rho * w->mass / (l * l * l);
    w->row[GADGET_U][k] = energy / rho * w->energy;
    w->row[GADGET_HSML][k] = w->out.swift ? radius / 1.936492 : radius;
    w->id[k] = w->id_max + 1 + w->cells++;
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

static double value_of(const struct catalog *t, const char *name, int axis, int64_t i)
{
    char full[32];
    snprintf(full, sizeof full, axis < 0 ? "%s" : "%s_%c", name, 'x' + axis);
    const struct catalog_column *c = catalog_find(t, full);
    return c && c->real ? c->real[i] : 0;
}

static enum err write_holes(struct writer *w)
{
    const struct catalog *t = w->s->sinks;
    const struct catalog_column *id = catalog_find(t, "identity");
    make_room(w, t->n);
    for (int64_t i = 0; i < t->n; i++) {
        for (int d = 0; d < 3; d++) {
            w->row[GADGET_POS][3 * i + d] = location(w, value_of(t, "position", d, i));
            w->row[GADGET_VEL][3 * i + d] = value_of(t, "velocity", d, i) * w->speed;
        }
        w->row[GADGET_MASS][i] = value_of(t, "mass", -1, i) * w->mass;
        w->row[GADGET_BH_MASS][i] = w->row[GADGET_MASS][i];
        w->id[i] = id && id->whole ? id->whole[i] : i + 1;
    }
    return hand_on(w, GADGET_HOLE, t->n);
}

static enum err write_all(struct writer *w, bool gas)
{
    TRY(gadget_create(&w->out));
    for (int k = 0; k < w->s->npiece; k++) TRY(source_parts(w->s, k, SOURCE_STATE, write_parts, w));
    for (int k = 0; gas && k < w->s->npiece; k++)
        TRY(source_octs(w->s, k, SOURCE_STATE, write_cells, w));
    return w->binary ? OK : write_holes(w);
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
    struct writer w = {
        .s = s,
        .binary = opt->form == GADGET_FORM_BINARY,
        .out = {.layout = opt->form == GADGET_FORM_BINARY ? &gadget_binary : &gadget_hdf5,
                .path = opt->out,
                .provenance = opt->provenance,
                .first.fd = -1,
                .named = opt->named,
                .nfile = opt->nfile > 1 ? opt->nfile : 1,
                .overwrite = opt->overwrite,
                .stars = s->head.stars,
                .metals = s->head.metal}};
    TRY(check_source(opt, s));
    TRY(dir_outside(opt->out, s->path));
    set_units(&w, opt->form);
    enum err err = take_census(&w, opt->gas);
    if (err == OK) {
        err = write_all(&w, opt->gas);
        if (err == OK) err = gadget_finish(&w.out, name, n);
        if (err != OK) gadget_drop(&w.out);
    }
    memcpy(left_out, w.left_out, sizeof w.left_out);
    for (int b = 0; b < GADGET_BLOCKS; b++) {
        FREE(w.row[b]);
        FREE(w.narrow[b]);
    }
    FREE(w.id);
    FREE(w.out.offset);
    return err;
}
