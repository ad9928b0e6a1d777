/* See box.h. */
#include "box.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "formats/formats.h"

enum { CLUSTERS = 20 };

static MUST_USE enum err read_checkpoint(const char *dir, struct box *f);
static MUST_USE enum err make_mesh(int n, bool clusters, struct box *f);

enum err box_open(const char *what, struct box *f)
{
    const char *colon = strchr(what, ':');
    bool clusters = strncmp(what, "clusters:", 9) == 0, uniform = strncmp(what, "uniform:", 8) == 0;
    *f = (struct box){0};
    if (clusters || uniform) return make_mesh((int)strtol(colon + 1, NULL, 10), clusters, f);
    return read_checkpoint(what, f);
}

void box_subcycle(struct box *f, int n, const int *nsubcycle)
{
    double steps = 1;
    for (int l = 1; l <= LEVEL_MAX + 1; l++) {
        f->steps[l] = steps;
        int i = l - f->levelmin;
        if (i >= 0) steps *= nsubcycle[i < n ? i : n - 1];
    }
}

void box_close(struct box *f)
{
    FREE(f->level);
    FREE(f->key);
    FREE(f->cost);
    FREE(f->part);
}

static void box_reserve(struct box *f, int64_t n)
{
    if (n <= f->cap) return;
    f->cap = n + n / 2;
    f->level = mem_grow(f->level, sizeof *f->level * (size_t)f->cap, "field");
    f->key = mem_grow(f->key, sizeof *f->key * (size_t)f->cap, "field");
}

/* Adds the complete levels below the base, whose cost is negligible, as in simulate. */
static void add_complete(struct box *f, int level)
{
    int64_t n = (int64_t)1 << 3 * (level - 1);
    box_reserve(f, f->n + n);
    for (int64_t k = 0; k < n; k++) f->level[f->n] = level, f->key[f->n++] = (okey)k;
}

static double oct_cost(const struct box *f, int64_t i)
{
    double octs = f->level[i] < f->levelmin ? 1 : f->oct_bytes;
    return octs + (f->part ? f->part[i] * f->part_bytes : 0);
}

/* ---- clusters ---- */

struct cluster cluster_get(int i)
{
    return (struct cluster){{(1327 * i + 853) % 10000 / 1e4, (2659 * i + 1741) % 10000 / 1e4,
                             (3967 * i + 2111) % 10000 / 1e4},
                            10 + 4273 * i % 90,
                            0.02 + 0.001 * (5381 * i % 80)};
}

static double weight_at(const double x[3])
{
    double w = 1;
    for (int i = 1; i <= CLUSTERS; i++) {
        struct cluster c = cluster_get(i);
        double r2 = 0;
        for (int a = 0; a < 3; a++) {
            double d = fabs(x[a] - c.x[a]);
            if (d > 0.5) d = 1 - d;
            r2 += d * d;
        }
        w += c.amplitude * exp(-r2 / (2 * c.sigma * c.sigma));
    }
    return w;
}

static enum err make_mesh(int n, bool clusters, struct box *f)
{
    int level = 1;
    while (1 << (level - 1) < n) level++;
    if (n < 2 || 1 << (level - 1) != n) FAIL(ERR_PARAM, "a mesh of %d^3: not a power of two", n);
    *f = (struct box){.levelmin = level, .levelmax = level, .nvar = 5, .oct_bytes = 1};
    for (int l = 1; l <= level; l++) add_complete(f, l);
    f->cost = mem_new(sizeof *f->cost * (size_t)f->n, "field");
    int64_t below = f->n - ((int64_t)1 << 3 * (level - 1));
    for (int64_t i = 0; i < below; i++) f->cost[i] = 1e-9;
#pragma omp parallel for schedule(static)
    for (int64_t i = below; i < f->n; i++) {
        int64_t x[3];
        okey_coords(f->key[i], x);
        double at[3];
        for (int a = 0; a < 3; a++) at[a] = ((double)x[a] + 0.5) / n;
        f->cost[i] = clusters ? weight_at(at) : 1;
    }
    return OK;
}

/* ---- checkpoints ---- */

static enum err add_octs(const struct source_octs *o, void *ctx)
{
    struct box *f = ctx;
    box_reserve(f, f->n + o->n);
    for (int i = 0; i < o->n; i++) f->level[f->n] = o->level, f->key[f->n++] = o->key[i];
    return OK;
}

struct row {
    int level;
    okey key;
};

static int row_order(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    if (x->level != y->level) return x->level - y->level;
    return (x->key > y->key) - (x->key < y->key);
}

static void sort_octs(struct box *f)
{
    struct row *r = mem_new(sizeof *r * (size_t)f->n + 1, "field");
    for (int64_t i = 0; i < f->n; i++) r[i] = (struct row){f->level[i], f->key[i]};
    qsort(r, (size_t)f->n, sizeof *r, row_order);
    for (int64_t i = 0; i < f->n; i++) f->level[i] = r[i].level, f->key[i] = r[i].key;
    FREE(r);
}

struct locations {
    struct box *f;
    double boxlen;
    int64_t first[LEVEL_MAX + 2]; /* first oct of each level */
};

static int64_t find_oct(const struct locations *p, int level, okey key)
{
    int64_t lo = p->first[level], hi = p->first[level + 1];
    while (lo < hi) {
        int64_t mid = lo + (hi - lo) / 2;
        if (p->f->key[mid] < key)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < p->first[level + 1] && p->f->key[lo] == key ? lo : -1;
}

static enum err add_parts(const struct source_parts *s, void *ctx)
{
    struct locations *p = ctx;
    double side = (double)((int64_t)1 << (p->f->levelmax - 1));
    for (int64_t i = 0; i < s->n; i++) {
        uint64_t x[3];
        for (int a = 0; a < 3; a++) {
            double u = s->x[a][i] / p->boxlen;
            x[a] = (uint64_t)fmin((u - floor(u)) * side, side - 1);
        }
        okey key = okey_make(x[0], x[1], x[2]);
        int64_t at = -1;
        for (int l = p->f->levelmax; l >= p->f->levelmin && at < 0; l--, key >>= 3)
            at = find_oct(p, l, key);
        if (at < 0) FAIL(ERR_FORMAT, "%s: a particle lies in no oct", s->file);
        p->f->part[at]++;
        p->f->parts++;
    }
    return OK;
}

static MUST_USE enum err read_pieces(struct source *s, struct box *f)
{
    struct locations p = {.f = f, .boxlen = s->head.boxlen};
    for (int k = 0; k < s->npiece; k++) TRY(source_octs(s, k, SOURCE_TREE, add_octs, f));
    sort_octs(f);
    for (int64_t i = f->n - 1; i >= 0; i--) p.first[f->level[i]] = i;
    for (int l = f->levelmax + 1; l <= LEVEL_MAX + 1; l++) p.first[l] = f->n;
    for (int l = f->levelmax; l > 1; l--)
        if (!p.first[l]) p.first[l] = p.first[l + 1];
    if (s->head.particles) {
        f->part = mem_zero(sizeof *f->part * (size_t)f->n, "field");
        for (int k = 0; k < s->npiece; k++) TRY(source_parts(s, k, SOURCE_TREE, add_parts, &p));
    }
    f->cost = mem_new(sizeof *f->cost * (size_t)f->n + 1, "field");
    for (int64_t i = 0; i < f->n; i++) f->cost[i] = oct_cost(f, i);
    return OK;
}

/* Reads a checkpoint. Bytes of an oct and of a particle are those of repartition (lib/reshape). */
static enum err read_checkpoint(const char *dir, struct box *f)
{
    struct source *s;
    TRY(source_open(dir, &s));
    int fields = s->head.nvar + (s->head.gravity ? 6 : 0);
    f->levelmin = s->head.levelmin;
    f->levelmax = s->head.levelmax;
    f->nvar = s->head.nvar > 0 ? s->head.nvar : 1;
    f->oct_bytes = 110 + 8 * 8 * fields;
    f->part_bytes = 75;
    for (int i = 0; i < 6; i++) f->bounded[i] = false;
    enum err err = read_pieces(s, f);
    source_close(&s);
    return err;
}

/* ---- copies ---- */

/* In Morton order the key of a copy is a prefix of the keys in it. */
void box_tile(struct box *f, int tile)
{
    int64_t copies = (int64_t)1 << 3 * tile;
    struct box out = *f;
    out.n = out.cap = 0, out.level = NULL, out.key = NULL;
    for (int l = 1; l <= tile; l++) add_complete(&out, l);
    int64_t top = out.n, n = top + copies * f->n;
    box_reserve(&out, n);
    out.cost = mem_new(sizeof *out.cost * (size_t)n, "field");
    if (f->part) out.part = mem_zero(sizeof *out.part * (size_t)n, "field");
    for (int64_t i = 0; i < top; i++) out.cost[i] = f->cost[0];
    for (int64_t first = 0, last; first < f->n; first = last) {
        for (last = first; last < f->n && f->level[last] == f->level[first];) last++;
        for (int64_t c = 0; c < copies; c++)
            for (int64_t i = first; i < last; i++) {
                out.level[out.n] = f->level[i] + tile;
                out.key[out.n] = (okey)c << 3 * (f->level[i] - 1) | f->key[i];
                out.cost[out.n] = f->cost[i];
                if (f->part) out.part[out.n] = f->part[i];
                out.n++;
            }
    }
    out.levelmin += tile, out.levelmax += tile;
    out.parts *= copies;
    box_close(f);
    *f = out;
}
