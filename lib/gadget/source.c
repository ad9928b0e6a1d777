/* gadget/source: particles of a snapshot of Gadget, Arepo or SWIFT (lib/snap) as a checkpoint, for
 * all programs that read checkpoints.
 *
 * Types 1, 2, 3 and 6 are dark matter, type 4 stars, type 5 dark matter or, with black hole masses,
 * others; gas and wind are particles of the family "other". The octree has one level of cells, as
 * many as there are particles, without values. Octs and rows of particles are divided into pieces,
 * which the ranks share. Masses keep their values in solar masses. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cgs.h"
#include "base/mem.h"
#include "ckpt/source.h"
#include "cosmo/cosmo.h"
#include "h5/parse.h"
#include "part/family.h"
#include "snap/snap.h"

enum { PIECE = 1 << 20, PIECES = 4096, LEVELS = 12, REALS = 7, WHOLES = 2 };

struct reader {
    struct snap snap;
    struct snap_units units;
    struct cosmo *cosmo;        /* NULL: no expansion */
    double length, speed, mass; /* code units per unit of the file */
    bool stars, metal, holes;
    okey *key;
    unsigned char *split, (*flag)[8];
    double *buffer; /* [REALS + WHOLES + 3][CKPT_PART_BATCH], rows of the columns, and scratch */
};

/* ---- which files ---- */

/* Whether a file has gas without dark matter, which is read as smoothed particles. */
static bool gas_alone(const char *path)
{
    struct h5_file f;
    const bool gas = h5_open(&f, path) == OK && h5_find(&f, "PartType0/Coordinates") &&
                     !h5_find(&f, "PartType1");
    h5_close(&f);
    return gas;
}

static bool snapshot_is(const char *path)
{
    return snap_is(path) && !gas_alone(path);
}

/* ---- header ---- */

static double total_mass(struct reader *r)
{
    double sum = 0;
    for (int t = 0; t < SNAP_TYPES; t++)
        sum += r->snap.head.mass[t] * (double)r->snap.head.total[t];
    return sum;
}

/* Adds up masses that the header does not tell, where the unit of length depends on them. */
static enum err weigh(struct reader *r, double *total)
{
    double *m = mem_new(sizeof *m * CKPT_PART_BATCH, "snapshot batch");
    struct sum sum;
    enum err err = OK;
    sum_init(&sum);
    sum_add(&sum, total_mass(r));
    for (int t = 0; t < SNAP_TYPES && err == OK; t++) {
        const int64_t all = r->snap.head.mass[t] > 0 ? 0 : r->snap.head.total[t];
        for (int64_t i = 0; i < all && err == OK; i += CKPT_PART_BATCH) {
            const int64_t n = all - i < CKPT_PART_BATCH ? all - i : CKPT_PART_BATCH;
            err = snap_read(&r->snap, t, SNAP_MASS, i, n, m);
            if (err == OK) sum_add_many(&sum, n, m);
        }
    }
    mem_free(m);
    *total = sum_get(&sum);
    return err;
}

static void set_times(struct reader *r, const struct cosmo_par *p, struct ckpt_head *h)
{
    h->t = cosmo_tau(r->cosmo, r->units.a);
    cosmo_at(r->cosmo, h->t, &h->aexp, &h->hexp);
    h->aexp = r->units.a;
    cosmo_units(p, h->aexp, &h->unit_l, &h->unit_d, &h->unit_t);
}

static enum err expanding(struct source *s, struct ckpt_head *h)
{
    struct reader *r = s->impl;
    const struct snap_given none = {0};
    double total = 0;
    if (r->snap.head.length_cm == 0) TRY(weigh(r, &total));
    TRY(snap_units(&r->snap, &none, total, &r->units));
    const struct snap_units *u = &r->units;
    const double omega_b = r->snap.head.omega_b;
    const struct cosmo_par p = {.omega_m = u->omega_m,
                                .omega_l = u->omega_l,
                                .omega_k = 1 - u->omega_m - u->omega_l,
                                .omega_b = isfinite(omega_b) ? omega_b : 0,
                                .h0 = 100 * u->h,
                                .aexp_ini = fmin(u->a, 1),
                                .boxlen_ini = u->box_mpch};
    TRY(err_about(cosmo_new(&p, &r->cosmo), s->path));
    r->length = u->length;
    r->speed = u->speed * u->a / (100 * u->box_mpch);
    h->cosmo = true;
    h->omega_m = p.omega_m, h->omega_l = p.omega_l, h->omega_k = p.omega_k;
    h->omega_b = p.omega_b, h->h0 = p.h0;
    h->aexp_ini = p.aexp_ini, h->boxlen_ini = p.boxlen_ini;
    h->boxlen = 1;
    set_times(r, &p, h);
    r->mass = u->mass * 1e10 * CGS_MSUN / u->h / (h->unit_d * h->unit_l * h->unit_l * h->unit_l);
    return OK;
}

/* Without expansion code units are those of the file; binary files have Gadget's usual ones. */
static enum err at_rest(struct source *s, struct ckpt_head *h)
{
    struct reader *r = s->impl;
    const struct snap_head *f = &r->snap.head;
    if (!(f->box > 0))
        FAIL(ERR_FORMAT, "%s: header: the box has the side %g: only snapshots of a box can be read",
             s->path, f->box);
    h->unit_l = f->length_cm > 0 ? f->length_cm : CGS_KPC;
    h->unit_d = (f->mass_g > 0 ? f->mass_g : 1e10 * CGS_MSUN) / pow(h->unit_l, 3);
    h->unit_t = h->unit_l / (f->speed_cm > 0 ? f->speed_cm : CGS_KM);
    h->boxlen = f->box;
    h->t = f->a;
    h->aexp = h->h0 = h->omega_m = h->boxlen_ini = h->aexp_ini = 1;
    r->length = r->speed = r->mass = 1;
    return OK;
}

static int64_t particles(const struct reader *r)
{
    int64_t n = 0;
    for (int t = 0; t < SNAP_TYPES; t++) n += r->snap.head.total[t];
    return n;
}

static enum err add_columns(struct source *s)
{
    const struct reader *r = s->impl;
    const int want[] = {COL_X,    COL_Y,  COL_Z,      COL_VX,    COL_VY,   COL_VZ,
                        COL_MASS, COL_ID, COL_FAMILY, COL_BIRTH, COL_METAL};
    struct part_columns all;
    part_columns_init(&all);
    for (size_t k = 0; k < sizeof want / sizeof *want; k++) {
        const int c = want[k];
        if ((c == COL_BIRTH && !r->stars) || (c == COL_METAL && !r->metal)) continue;
        s->column_at[c] = s->npart;
        TRY(source_add_field(s->path, s->part, &s->npart, part_column(&all, c)->name,
                             part_column(&all, c)->type));
    }
    return OK;
}

/* The number at the end of a name such as snapshot_010; 0: there is none. */
static int number_of(const struct snap *s)
{
    const char *end = s->base + strlen(s->base), *at, *dot = strrchr(s->base, '.');
    if (!s->numbered && dot && (strcmp(dot, ".hdf5") == 0 || strcmp(dot, ".h5") == 0)) end = dot;
    for (at = end; at > s->base && at[-1] >= '0' && at[-1] <= '9';) at--;
    return end > at && end - at < 9 ? (int)strtol(at, NULL, 10) : 0;
}

static void allot(struct reader *r)
{
    r->key = mem_new(sizeof *r->key * CKPT_BATCH, "snapshot batch");
    r->split = mem_new(CKPT_BATCH, "snapshot batch");
    r->flag = mem_new(sizeof *r->flag * CKPT_BATCH, "snapshot batch");
    r->buffer = mem_new(sizeof *r->buffer * (REALS + WHOLES + 2 + 3) * CKPT_PART_BATCH,
                        "snapshot batch");
}

static enum err snapshot_open(struct source *s)
{
    struct reader *r = s->impl = mem_zero(sizeof *r, "snapshot");
    struct ckpt_head h = {.ndim = 3, .particles = true};
    r->snap.open = -1;
    TRY(snap_open_whole(s->path, &r->snap));
    const int64_t n = particles(r);
    if (n == 0) FAIL(ERR_FORMAT, "%s: has no particles", s->path);
    TRY(snap_has(&r->snap, 4, SNAP_BIRTH, &r->stars));
    TRY(snap_has(&r->snap, 4, SNAP_METAL, &r->metal));
    TRY(snap_has(&r->snap, 5, SNAP_HOLE, &r->holes));
    r->metal = r->metal && r->stars;
    TRY(r->snap.head.comoving ? expanding(s, &h) : at_rest(s, &h));
    h.levelmin = (int)lround(log2((double)n) / 3);
    h.levelmin = h.levelmin < 1 ? 1 : h.levelmin > LEVELS ? LEVELS : h.levelmin;
    h.levelmax = h.levelmin;
    h.gamma = 5. / 3;
    const int64_t pieces = (n + PIECE - 1) / PIECE;
    TRY(source_running(s, &h, pieces > PIECES ? PIECES : (int)pieces));
    s->by_rank = false;
    s->number = number_of(&r->snap);
    TRY(add_columns(s));
    s->head.stars = r->stars, s->head.metal = r->metal;
    snprintf(s->format, sizeof s->format, "%s, particles alone", snap_text(&r->snap));
    snprintf(s->ordering, sizeof s->ordering, "hilbert");
    for (int l = 1; l <= h.levelmin; l++) s->numbtot[l] = (int64_t)1 << 3 * (l - 1);
    allot(r);
    return OK;
}

static void snapshot_close(struct source *s)
{
    struct reader *r = s->impl;
    if (!r) return;
    snap_close(&r->snap);
    cosmo_free(r->cosmo);
    FREE(r->key);
    FREE(r->split);
    FREE(r->flag);
    FREE(r->buffer);
    FREE(s->impl);
}

/* ---- octs: complete levels, divided among the pieces ---- */

static int64_t cut(const struct source *s, int64_t n, int piece)
{
    return (int64_t)((__int128)n * piece / s->npiece);
}

static enum err snapshot_octs(struct source *s, int piece, enum source_mode mode,
                              source_octs_fn *fn, void *ctx)
{
    struct reader *r = s->impl;
    for (int l = 1; l <= s->head.levelmin; l++) {
        const bool leaf = l == s->head.levelmin;
        const int64_t all = (int64_t)1 << 3 * (l - 1), end = cut(s, all, piece + 1);
        memset(r->split, leaf ? 0 : 255, CKPT_BATCH);
        memset(r->flag, leaf ? 0 : 1, sizeof *r->flag * CKPT_BATCH);
        for (int64_t i = cut(s, all, piece); i < end; i += CKPT_BATCH) {
            const int n = end - i < CKPT_BATCH ? (int)(end - i) : CKPT_BATCH;
            for (int k = 0; k < n; k++) r->key[k] = (okey)(i + k);
            if (s->pick && !s->pick->octs(s->pick->ctx, l, n, r->key)) continue;
            const struct source_octs o = {.level = l,
                                          .n = n,
                                          .key = r->key,
                                          .split = r->split,
                                          .flag = (const unsigned char(*)[8])r->flag,
                                          .val = NULL};
            TRY(fn(&o, ctx));
        }
    }
    return OK;
}

/* ---- particles ---- */

static double *row_of(const struct reader *r, int k)
{
    return r->buffer + (size_t)k * CKPT_PART_BATCH;
}

/* Reads a vector into three rows of the buffer. */
static enum err read_vector(struct reader *r, int type, enum snap_column c, int64_t first,
                            int64_t n, double *to[3])
{
    double *q = row_of(r, REALS + WHOLES + 2);
    TRY(snap_read(&r->snap, type, c, first, n, q));
    for (int64_t i = 0; i < n; i++)
        for (int d = 0; d < 3; d++) to[d][i] = q[3 * i + d];
    return OK;
}

/* A position in the box, code units. */
static enum err place(const struct source *s, int type, int64_t row, double *x)
{
    const struct reader *r = s->impl;
    const double box = s->head.boxlen, at = *x * r->length / box;
    if (!(at >= -1 && at <= 2))
        FAIL(ERR_FORMAT,
             "%s: particle %ld of type %d (counted from 0) is at %g in a box of %g: positions may "
             "lie at most one box length outside",
             s->path, (long)row, type, *x, r->snap.head.box);
    const double in = at - floor(at);
    *x = in < 1 ? in * box : 0;
    return OK;
}

static int family_of(const struct reader *r, int type, double birth)
{
    if (type == 0) return FAM_OTHER;
    if (type == 4) return r->stars && !(birth > 0) ? FAM_OTHER : FAM_STAR;
    return type == 5 && r->holes ? FAM_OTHER : FAM_DM;
}

/* Birth of stars, from the expansion factor to the time of the code. */
static enum err read_birth(struct reader *r, int type, int64_t first, int64_t n, double *birth,
                           int64_t *family)
{
    memset(birth, 0, sizeof *birth * (size_t)n);
    if (type == 4 && r->stars) TRY(snap_read(&r->snap, type, SNAP_BIRTH, first, n, birth));
    for (int64_t i = 0; i < n; i++) {
        family[i] = family_of(r, type, birth[i]);
        if (family[i] != FAM_STAR) birth[i] = 0;
        if (family[i] == FAM_STAR && r->cosmo && r->stars) birth[i] = cosmo_tau(r->cosmo, birth[i]);
    }
    return OK;
}

static enum err hand(struct source *s, int type, int64_t first, int64_t n, source_parts_fn *fn,
                     void *ctx)
{
    struct reader *r = s->impl;
    double *x[3], *v[3], *m = row_of(r, 6), *birth = row_of(r, REALS + WHOLES),
                         *metal = row_of(r, REALS + WHOLES + 1);
    int64_t *id = (int64_t *)row_of(r, REALS), *family = (int64_t *)row_of(r, REALS + 1);
    const void *column[11];
    for (int d = 0; d < 3; d++) x[d] = row_of(r, d), v[d] = row_of(r, 3 + d);
    for (int k = 0; k < 9; k++) column[k] = row_of(r, k);
    column[9] = birth, column[10] = metal;
    TRY(read_vector(r, type, SNAP_POSITION, first, n, x));
    for (int64_t i = 0; i < 3 * n; i++) TRY(place(s, type, first + i / 3, &x[i % 3][i / 3]));
    if (!source_picks_parts(s, n, column)) return OK;
    TRY(read_vector(r, type, SNAP_VELOCITY, first, n, v));
    TRY(snap_read(&r->snap, type, SNAP_ID, first, n, id));
    TRY(snap_read(&r->snap, type, SNAP_MASS, first, n, m));
    TRY(read_birth(r, type, first, n, birth, family));
    memset(metal, 0, sizeof *metal * (size_t)n);
    if (r->metal && type == 4) TRY(snap_read(&r->snap, type, SNAP_METAL, first, n, metal));
    for (int64_t i = 0; i < n; i++) {
        m[i] *= r->mass;
        for (int d = 0; d < 3; d++) v[d][i] *= r->speed;
    }
    return source_hand_parts(s, n, column, fn, ctx);
}

static enum err snapshot_parts(struct source *s, int piece, source_parts_fn *fn, void *ctx)
{
    struct reader *r = s->impl;
    for (int t = 0; t < SNAP_TYPES; t++) {
        const int64_t all = r->snap.head.total[t], end = cut(s, all, piece + 1);
        for (int64_t i = cut(s, all, piece); i < end; i += CKPT_PART_BATCH)
            TRY(hand(s, t, i, end - i < CKPT_PART_BATCH ? end - i : CKPT_PART_BATCH, fn, ctx));
    }
    return OK;
}

/* ---- the rest ---- */

static enum err snapshot_state(struct source *s)
{
    s->values = s->fields;
    source_count_state(s);
    return OK;
}

static enum err snapshot_file(const struct source *s, enum files_kind k, int piece,
                              char path[PATH_MAX])
{
    const struct reader *r = s->impl;
    snap_path(&r->snap, r->snap.open >= 0 ? r->snap.open : 0, path);
    return OK;
}

const struct source_kind snapshot_kind = {.name = "snapshot of Gadget",
                                          .is = snapshot_is,
                                          .open = snapshot_open,
                                          .close = snapshot_close,
                                          .octs = snapshot_octs,
                                          .parts = snapshot_parts,
                                          .state = snapshot_state,
                                          .file = snapshot_file};
