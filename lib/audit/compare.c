#include "audit/compare.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "base/sum.h"
#include "formats/formats.h"

enum { UNSEEN = 0, SEEN = 1, NONE = -1 };

/* An oct or a particle of the first checkpoint. */
struct row {
    okey key; /* key of an oct, or id of a particle */
    int what; /* level of an oct, or family of a particle */
    unsigned char split, state;
};

/* The rows of a pass, their values, and a hash table from key to row. */
struct held {
    int64_t n, room;
    struct row *row;
    double *value; /* [room][width] values, integers by their bits */
    size_t width;
    int64_t *slot;
    uint64_t mask;
};

struct comparison {
    const struct compare_how *how;
    struct compared *out;
    struct source *a, *b;
    struct compare_field *field;     /* fields in both checkpoints */
    int nfield, at[2 * CKPT_FIELDS]; /* number of common fields; indices of the fields in out */
    struct sum (*sum)[2];            /* l1 and norm of each field */
    struct held held;
    int turn, turns;
    bool periodic;
    struct location { /* position of the value compared last */
        double x[3];
        int level;
        int64_t id;
        okey key;
    } best[2 * CKPT_FIELDS][2];
};

static void compare_heads(struct comparison *c);
static void match_names(struct comparison *c);
static enum err compare_cells(struct comparison *c);
static enum err compare_parts(struct comparison *c);
static void compare_sinks(const struct comparison *c);
static void judge(struct compared *out);

enum err ckpt_compare(const char *a, const char *b, const struct compare_how *how,
                      struct compared *out)
{
    struct comparison *c = mem_zero(sizeof *c, "comparison");
    memset(out, 0, sizeof *out);
    c->how = how, c->out = out;
    enum err err = source_open(a, &c->a);
    if (err == OK) err = source_open(b, &c->b);
    if (err == OK && c->a->head.ndim != c->b->head.ndim)
        err = err_set(ERR_PARAM, "%s has %d dimensions, %s has %d: they cannot be compared", a,
                      c->a->head.ndim, b, c->b->head.ndim);
    if (err == OK) {
        c->periodic = c->a->nboundary == 0 && c->b->nboundary == 0;
        c->sum = mem_new(sizeof *c->sum * 2 * CKPT_FIELDS, "comparison");
        compare_heads(c);
        match_names(c);
        err = compare_cells(c);
    }
    if (err == OK) err = compare_parts(c);
    if (err == OK) compare_sinks(c);
    if (err == OK) judge(out);
    FREE(c->sum);
    source_close(&c->a);
    source_close(&c->b);
    FREE(c);
    return err;
}

static bool differ(const struct compare_how *how, double a, double b)
{
    if (a == b || (isnan(a) && isnan(b))) return false;
    return !(fabs(a - b) <= how->atol + how->rtol * fmax(fabs(a), fabs(b)));
}

static void judge(struct compared *out)
{
    out->same = !out->leaves_a && !out->leaves_b && !out->parts_a && !out->parts_b;
    for (int i = 0; i < out->nfield; i++)
        out->same &= out->field[i].in_a >= 0 && out->field[i].in_b >= 0 && !out->field[i].differing;
    for (int i = 0; i < out->npart_field; i++)
        out->same &= out->part[i].in_a >= 0 && out->part[i].in_b >= 0 && !out->part[i].differing;
    out->same &= !out->sinks_a && !out->sinks_b;
    for (int i = 0; i < out->nsink_field; i++)
        out->same &= out->sink[i].in_a >= 0 && out->sink[i].in_b >= 0 && !out->sink[i].differing;
    for (int i = 0; i < out->nvalue; i++) out->same &= !out->value[i].differs;
}

/* ---- header ---- */

static void add_value(struct comparison *c, const char *name, double a, double b, double min)
{
    struct compared *out = c->out;
    struct compare_how how = *c->how;
    BUG_ON(out->nvalue == sizeof out->value / sizeof *out->value);
    if (how.rtol < min) how.rtol = min;
    struct compare_value *v = &out->value[out->nvalue++];
    snprintf(v->name, sizeof v->name, "%s", name);
    v->a = a, v->b = b;
    v->differs = differ(&how, a, b);
}

static void compare_heads(struct comparison *c)
{
    struct ckpt_head a = c->a->head, b = c->b->head;
    if (!a.hydro) a.gamma = 0;
    if (!b.hydro) b.gamma = 0;
    add_value(c, "levelmin", a.levelmin, b.levelmin, 0);
    add_value(c, "levelmax", a.levelmax, b.levelmax, 0);
    add_value(c, "nstep", a.nstep, b.nstep, 0);
    add_value(c, "nstep_coarse", a.nstep_coarse, b.nstep_coarse, 0);
#define HEAD_REAL(member, name, attribute) add_value(c, name, a.member, b.member, 0);
#include "ckpt/head.def"
    /* text files have 15 digits */
    add_value(c, "unit_l", a.unit_l, b.unit_l, 1e-14);
    add_value(c, "unit_d", a.unit_d, b.unit_d, 1e-14);
    add_value(c, "unit_t", a.unit_t, b.unit_t, 1e-14);
    for (int l = 1; l <= LEVEL_MAX; l++) {
        char name[32];
        if (!c->a->numbtot[l] && !c->b->numbtot[l]) continue;
        snprintf(name, sizeof name, "dtold(%d)", l);
        add_value(c, name, a.dtold[l], b.dtold[l], 0);
        snprintf(name, sizeof name, "dtnew(%d)", l);
        add_value(c, name, a.dtnew[l], b.dtnew[l], 0);
    }
}

/* ---- fields ---- */

static const char *common_name(const char *name)
{
    return strcmp(name, "thermal_pressure") == 0 ? "pressure" : name;
}

/* Union of both lists: entries of the first in order, then entries of the second only. */
static int match_list(const struct ckpt_field *a, int na, const struct ckpt_field *b, int nb,
                      struct compare_field *out)
{
    int n = 0;
    for (int i = 0; i < na; i++, n++) {
        out[n] = (struct compare_field){
            .in_a = i, .in_b = -1, .real = strchr("df", a[i].type) != NULL};
        snprintf(out[n].name, sizeof out[n].name, "%s", common_name(a[i].name));
        out[n].location = strncmp(a[i].name, "position_", 9) == 0;
        for (int j = 0; j < nb; j++)
            if (strcmp(common_name(b[j].name), out[n].name) == 0 &&
                out[n].real == (strchr("df", b[j].type) != NULL))
                out[n].in_b = j;
    }
    for (int j = 0; j < nb; j++) {
        bool found = false;
        for (int i = 0; i < na; i++) found |= out[i].in_b == j;
        if (found) continue;
        out[n] = (struct compare_field){.in_a = -1, .in_b = j};
        snprintf(out[n++].name, sizeof out->name, "%s", common_name(b[j].name));
    }
    return n;
}

static void match_names(struct comparison *c)
{
    const struct source *a = c->a, *b = c->b;
    struct compared *out = c->out;
    out->nfield = match_list(a->field, a->nfield, b->field, b->nfield, out->field);
    for (int i = 0; i < out->nfield; i++) out->field[i].real = true;
    int n = match_list(a->part, a->npart, b->part, b->npart, out->part);
    /* particles are matched by family, which some formats only imply */
    for (int i = 0; i < n; i++)
        if (strcmp(out->part[i].name, "family") != 0) out->part[out->npart_field++] = out->part[i];
}

/* Compares the fields of a list that both checkpoints have. */
static void choose(struct comparison *c, struct compare_field *list, int n)
{
    c->field = list;
    c->nfield = 0;
    for (int i = 0; i < n; i++)
        if (list[i].in_a >= 0 && list[i].in_b >= 0) c->at[c->nfield++] = i;
    for (int i = 0; i < c->nfield; i++)
        for (int k = 0; k < 2; k++) sum_init(&c->sum[i][k]);
    memset(c->best, 0, sizeof c->best);
}

static bool comes_before(const struct location *p, const struct location *q)
{
    if (p->level != q->level) return p->level < q->level;
    if (p->key != q->key) return p->key < q->key;
    return p->id < q->id;
}

/* Updates the maximum difference and its location. Of equal differences the first in an order
 * independent of the passes wins. */
static void keep_max(double *max, double d, struct location *best, const struct location *here)
{
    if (d < *max || (d == *max && (d == 0 || !comes_before(here, best)))) return;
    *max = d;
    *best = *here;
}

static void compare_reals(struct comparison *c, int i, double a, double b, double weight,
                          const struct location *here)
{
    struct compare_field *f = &c->field[c->at[i]];
    double d = fabs(a - b), box = c->a->head.boxlen;
    if (isfinite(a) && a != 0) sum_add(&c->sum[i][1], fabs(a) * weight);
    if (a == b || (isnan(a) && isnan(b))) return;
    if (f->location && c->periodic && d > 0.5 * box) {
        d = fabs(box - d);
        b += a > b ? box : -box;
    }
    if (!isfinite(d)) d = INFINITY;
    keep_max(&f->max, d, &c->best[i][0], here);
    double scale = fmax(fabs(a), fabs(b));
    keep_max(&f->max_rel, isfinite(d) ? d / scale : INFINITY, &c->best[i][1], here);
    sum_add(&c->sum[i][0], d * weight);
    f->differing += !isfinite(d) || differ(c->how, a, b);
}

static void compare_whole(struct comparison *c, int i, int64_t a, int64_t b,
                          const struct location *here)
{
    struct compare_field *f = &c->field[c->at[i]];
    double d = fabs((double)a - (double)b);
    sum_add(&c->sum[i][1], fabs((double)a));
    if (a == b) return;
    if (d == 0) d = 1; /* integers beyond 2^53 may differ by 0 as doubles */
    keep_max(&f->max, d, &c->best[i][0], here);
    keep_max(&f->max_rel, d / fmax(fabs((double)a), fabs((double)b)), &c->best[i][1], here);
    sum_add(&c->sum[i][0], d);
    f->differing++;
}

static void finish_fields(struct comparison *c)
{
    for (int i = 0; i < c->nfield; i++) {
        struct compare_field *f = &c->field[c->at[i]];
        const struct location *p = c->best[i];
        f->l1 = sum_get(&c->sum[i][0]);
        f->norm = sum_get(&c->sum[i][1]);
        f->level = p[0].level, f->level_rel = p[1].level;
        f->id = p[0].id, f->id_rel = p[1].id;
        memcpy(f->at, p[0].x, sizeof f->at);
        memcpy(f->at_rel, p[1].x, sizeof f->at_rel);
    }
}

/* ---- rows held in memory ---- */

static uint64_t mix(okey key, int what)
{
    return rng_mix(((uint64_t)key ^ (uint64_t)((unsigned __int128)key >> 64)) +
                   (uint64_t)(what + 8) * 0x9e3779b97f4a7c15u);
}

static bool is_turn(const struct comparison *c, okey key, int what)
{
    return c->turns == 1 || (int)((mix(key, what) >> 40) % (uint64_t)c->turns) == c->turn;
}

/* Number of passes for n rows of this width; an item takes a row, values and two slots. */
static void plan(struct comparison *c, int64_t n, size_t width)
{
    double bytes = (double)n *
                   (double)(sizeof(struct row) + sizeof(double) * width + 4 * sizeof(int64_t));
    double turns = ceil(1.1 * bytes / (double)c->how->memory);
    c->turns = turns < 1 ? 1 : turns > 1 << 20 ? 1 << 20 : (int)turns;
    c->held.width = width;
}

static struct row *add_row(struct held *h, okey key, int what, double **value)
{
    if (h->n == h->room) {
        h->room += h->room / 4 + 1024;
        h->row = mem_grow(h->row, sizeof *h->row * (size_t)h->room, "comparison");
        h->value = mem_grow(h->value, sizeof *h->value * h->width * (size_t)h->room + 1,
                            "comparison");
    }
    *value = h->value + (size_t)h->n * h->width;
    struct row *row = &h->row[h->n++];
    *row = (struct row){.key = key, .what = what};
    return row;
}

static void make_slots(struct held *h)
{
    uint64_t size = 16;
    while (size < 2 * (uint64_t)h->n) size *= 2;
    FREE(h->slot);
    h->slot = mem_new(sizeof *h->slot * size, "comparison");
    h->mask = size - 1;
    for (uint64_t i = 0; i < size; i++) h->slot[i] = NONE;
    for (int64_t i = 0; i < h->n; i++) {
        uint64_t at = mix(h->row[i].key, h->row[i].what) & h->mask;
        while (h->slot[at] != NONE) at = (at + 1) & h->mask;
        h->slot[at] = i;
    }
}

/* Finds the first unmatched row of this key and marks it as matched. */
static struct row *take_row(struct held *h, okey key, int what, const double **value)
{
    for (uint64_t at = mix(key, what) & h->mask; h->slot[at] != NONE; at = (at + 1) & h->mask) {
        struct row *row = &h->row[h->slot[at]];
        if (row->key != key || row->what != what || row->state == SEEN) continue;
        row->state = SEEN;
        *value = h->value + (size_t)h->slot[at] * h->width;
        return row;
    }
    return NULL;
}

static void held_fini(struct held *h)
{
    FREE(h->row);
    FREE(h->value);
    FREE(h->slot);
    *h = (struct held){0};
}

/* ---- cells ---- */

static enum err hold_octs(const struct source_octs *o, void *ctx)
{
    struct comparison *c = ctx;
    for (int i = 0; i < o->n; i++) {
        double *v;
        if (!is_turn(c, o->key[i], o->level)) continue;
        add_row(&c->held, o->key[i], o->level, &v)->split = o->split[i];
        for (int f = 0; f < c->nfield; f++)
            for (int k = 0; k < 8; k++)
                *v++ = k < source_cells(o->source) ? o->val[8 * c->field[c->at[f]].in_a + k][i] : 0;
    }
    return OK;
}

static int leaves_of(const struct source *r, unsigned char split)
{
    return source_cells(r) - __builtin_popcount(split);
}

static struct location cell_place(const struct source *r, int level, okey key, int cell)
{
    struct location p = {.level = level, .key = key, .id = cell};
    int64_t x[3];
    okey_coords(key, x);
    for (int d = 0; d < 3; d++)
        p.x[d] = ((double)(2 * x[d] + (cell >> d & 1)) + 0.5) * source_dx(r, level);
    return p;
}

static void compare_oct(struct comparison *c, const struct source_octs *o, int i,
                        const struct row *row, const double *v)
{
    double dx = source_dx(c->a, o->level), volume = dx;
    for (int d = 1; d < c->a->head.ndim; d++) volume *= dx;
    for (int k = 0; k < source_cells(c->a); k++) {
        bool leaf_a = !(row->split >> k & 1), leaf_b = !(o->split[i] >> k & 1);
        c->out->leaves_a += leaf_a && !leaf_b;
        c->out->leaves_b += leaf_b && !leaf_a;
        if (!leaf_a || !leaf_b) continue;
        c->out->leaves++;
        struct location here = cell_place(c->a, o->level, o->key[i], k);
        for (int f = 0; f < c->nfield; f++)
            compare_reals(c, f, v[8 * f + k], o->val[8 * c->field[c->at[f]].in_b + k][i], volume,
                          &here);
    }
}

static enum err meet_octs(const struct source_octs *o, void *ctx)
{
    struct comparison *c = ctx;
    for (int i = 0; i < o->n; i++) {
        const double *v;
        if (!is_turn(c, o->key[i], o->level)) continue;
        const struct row *row = take_row(&c->held, o->key[i], o->level, &v);
        if (row)
            compare_oct(c, o, i, row, v);
        else
            c->out->leaves_b += leaves_of(o->source, o->split[i]);
    }
    return OK;
}

static enum err read_cells(struct source *r, source_octs_fn *fn, struct comparison *c)
{
    enum source_mode mode = c->nfield > 0 ? SOURCE_STORED : SOURCE_TREE;
    memset(&r->counts, 0, sizeof r->counts);
    for (int piece = 0; piece < r->npiece; piece++) TRY(source_octs(r, piece, mode, fn, c));
    return source_check_tree(r);
}

static enum err compare_cells(struct comparison *c)
{
    int64_t octs = 0;
    enum err err = OK;
    choose(c, c->out->field, c->out->nfield);
    for (int l = 1; l <= LEVEL_MAX; l++) octs += c->a->numbtot[l] > 0 ? c->a->numbtot[l] : 0;
    plan(c, octs, 8 * (size_t)c->nfield);
    c->out->turns = c->turns;
    for (c->turn = 0; err == OK && c->turn < c->turns; c->turn++) {
        c->held.n = 0;
        err = read_cells(c->a, hold_octs, c);
        make_slots(&c->held);
        if (err == OK) err = read_cells(c->b, meet_octs, c);
        for (int64_t i = 0; i < c->held.n; i++)
            if (c->held.row[i].state == UNSEEN)
                c->out->leaves_a += leaves_of(c->a, c->held.row[i].split);
    }
    finish_fields(c);
    held_fini(&c->held);
    return err;
}

/* ---- particles ---- */

/* The key of a particle. Particles are matched by id. Particles of a sink's cloud and supernova
 * debris share ids and are distinguished by position. */
static okey part_key(const struct source_parts *p, int64_t i, int family)
{
    uint64_t key = (uint64_t)p->id[i];
    bool shared = family == FAM_CLOUD || family == FAM_DEBRIS;
    for (int d = 0; shared && d < p->source->head.ndim; d++) {
        uint64_t bits;
        memcpy(&bits, p->x[d] + i, sizeof bits);
        key = mix((okey)(key ^ bits), d);
    }
    return (okey)key;
}

static enum err hold_parts(const struct source_parts *p, void *ctx)
{
    struct comparison *c = ctx;
    for (int64_t i = 0; i < p->n; i++) {
        int family = (int)p->family[i];
        double *v;
        okey key = part_key(p, i, family);
        if (!is_turn(c, key, family)) continue;
        add_row(&c->held, key, family, &v);
        for (int f = 0; f < c->nfield; f++)
            memcpy(v + f, (const double *)p->col[p->source->part_at[c->field[c->at[f]].in_a]] + i,
                   8);
    }
    return OK;
}

static enum err meet_parts(const struct source_parts *p, void *ctx)
{
    struct comparison *c = ctx;
    const int64_t *id = p->id;
    for (int64_t i = 0; i < p->n; i++) {
        int family = (int)p->family[i];
        const double *v;
        okey key = part_key(p, i, family);
        if (!is_turn(c, key, family)) continue;
        if (!take_row(&c->held, key, family, &v)) {
            c->out->parts_b++;
            continue;
        }
        struct location here = {.level = family, .id = id[i]};
        for (int d = 0; d < p->source->head.ndim; d++) here.x[d] = p->x[d][i];
        c->out->parts++;
        for (int f = 0; f < c->nfield; f++) {
            const struct compare_field *g = &c->field[c->at[f]];
            const void *b = p->col[p->source->part_at[g->in_b]];
            int64_t whole;
            memcpy(&whole, v + f, sizeof whole);
            if (g->real)
                compare_reals(c, f, v[f], ((const double *)b)[i], 1, &here);
            else
                compare_whole(c, f, whole, ((const int64_t *)b)[i], &here);
        }
    }
    return OK;
}

static enum err count_parts(const struct source_parts *p, void *ctx)
{
    *(int64_t *)ctx += p->n;
    return OK;
}

static enum err read_parts(struct source *r, source_parts_fn *fn, void *ctx)
{
    r->counts.particles = 0;
    for (int piece = 0; piece < r->npiece; piece++)
        TRY(source_parts(r, piece, SOURCE_STORED, fn, ctx));
    return OK;
}

static enum err count_tags(const struct source_parts *p, void *ctx)
{
    const int64_t *tag = p->tag;
    for (int64_t i = 0; tag && i < p->n; i++) *(int64_t *)ctx += tag[i] != 0;
    return OK;
}

/* Supplies tags of 0 where a checkpoint has no tag column, which is equivalent. */
static enum err match_tags(struct comparison *c)
{
    struct compared *out = c->out;
    for (int i = 0; i < out->npart_field; i++) {
        struct compare_field *f = &out->part[i];
        int64_t n = 0;
        if (strcmp(f->name, "tag") != 0 || (f->in_a >= 0 && f->in_b >= 0)) continue;
        TRY(read_parts(f->in_a >= 0 ? c->a : c->b, count_tags, &n));
        if (n == 0 && c->a->head.particles && c->b->head.particles) {
            memmove(f, f + 1, sizeof *f * (size_t)(--out->npart_field - i));
            break;
        }
    }
    return OK;
}

static enum err compare_parts(struct comparison *c)
{
    int64_t n = 0;
    enum err err = match_tags(c);
    if (err == OK) err = read_parts(c->a, count_parts, &n);
    choose(c, c->out->part, c->out->npart_field);
    plan(c, n, (size_t)c->nfield);
    for (c->turn = 0; err == OK && c->turn < c->turns; c->turn++) {
        c->held.n = 0;
        err = read_parts(c->a, hold_parts, c);
        make_slots(&c->held);
        if (err == OK) err = read_parts(c->b, meet_parts, c);
        for (int64_t i = 0; i < c->held.n; i++) c->out->parts_a += c->held.row[i].state == UNSEEN;
    }
    finish_fields(c);
    held_fini(&c->held);
    return err;
}

/* ---- sinks ---- */

/* The row of the sink with this id, or with this number if the table has no ids; -1 if none. */
static int64_t find_sink(const struct catalog *t, const struct catalog *from, int64_t i)
{
    const struct catalog_column *a = catalog_find(from, "identity"),
                                *b = catalog_find(t, "identity");
    if (!a || !b || !a->whole || !b->whole) return i < t->n ? i : -1;
    for (int64_t k = 0; k < t->n; k++) /* usually finds the sink at the first index */
        if (b->whole[(i + k) % t->n] == a->whole[i]) return (i + k) % t->n;
    return -1;
}

static double sink_value(const struct catalog_column *c, int64_t i)
{
    return c->real ? c->real[i] : (double)c->whole[i];
}

/* The difference of two values; unequal integers differ by at least 1, even if equal as doubles. */
static double sink_difference(const struct catalog_column *x, int64_t i,
                              const struct catalog_column *y, int64_t k)
{
    double d = fabs(sink_value(x, i) - sink_value(y, k));
    bool whole = x->whole && y->whole;
    return !whole ? d : x->whole[i] == y->whole[k] ? 0 : fmax(d, 1);
}

static void compare_column(const struct comparison *c, const struct catalog_column *x,
                           const struct catalog_column *y, struct compare_field *f)
{
    const struct catalog *a = c->a->sinks, *b = c->b->sinks;
    const struct catalog_column *id = catalog_find(a, "identity");
    for (int64_t i = 0; i < a->n; i++) {
        int64_t k = find_sink(b, a, i);
        if (k < 0) continue;
        double p = sink_value(x, i), q = sink_value(y, k), d = sink_difference(x, i, y, k);
        f->norm += fabs(p);
        if (d == 0 || (isnan(p) && isnan(q))) continue;
        if (!isfinite(d)) d = INFINITY;
        f->l1 += d;
        f->differing += (x->whole && y->whole) || differ(c->how, p, q);
        if (d > f->max) f->max = d, f->id = f->id_rel = id && id->whole ? id->whole[i] : i;
        f->max_rel = fmax(f->max_rel, d / fmax(fabs(p), fabs(q)));
    }
}

static void compare_sinks(const struct comparison *c)
{
    const struct catalog *a = c->a->sinks, *b = c->b->sinks;
    struct compared *out = c->out;
    for (int64_t i = 0; i < a->n; i++) out->sinks += find_sink(b, a, i) >= 0;
    out->sinks_a = a->n - out->sinks, out->sinks_b = b->n - out->sinks;
    for (int k = 0; k < a->ncol; k++) {
        const struct catalog_column *other = catalog_find(b, a->col[k].name);
        struct compare_field *f = &out->sink[out->nsink_field++];
        *f = (struct compare_field){.in_a = k, .in_b = other ? 0 : -1, .real = true};
        snprintf(f->name, sizeof f->name, "%s", a->col[k].name);
        if (other) compare_column(c, &a->col[k], other, f);
    }
    for (int k = 0; k < b->ncol; k++) {
        if (catalog_find(a, b->col[k].name)) continue;
        struct compare_field *f = &out->sink[out->nsink_field++];
        *f = (struct compare_field){.in_a = -1, .in_b = k};
        snprintf(f->name, sizeof f->name, "%s", b->col[k].name);
    }
}
