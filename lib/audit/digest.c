/* audit/digest: see digest.h.
 *
 * The number of a value has two halves. Each is a 64-bit finaliser (two rounds of xor-shift and
 * multiply, as in MurmurHash3 and splitmix64) of the bits of the value, xored with a word for its
 * position and a word for its field. Both words come from the same kind of finaliser, with other
 * constants in each half, so that 128 bits must agree by chance for equal sums. */
#include "audit/digest.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"

static inline uint64_t mix_a(uint64_t x)
{
    x = (x ^ x >> 32) * 0xe9846af9b1a615dul;
    x = (x ^ x >> 32) * 0xe9846af9b1a615dul;
    return x ^ x >> 28;
}

static inline uint64_t mix_b(uint64_t x)
{
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ul;
    x = (x ^ x >> 27) * 0x94d049bb133111ebul;
    return x ^ x >> 31;
}

struct word {
    uint64_t a, b;
};

typedef uint64_t __attribute__((may_alias)) bits64; /* unsigned alias of a double or an integer */

static struct word word_of_name(const char *s)
{
    struct word w = {0x243f6a8885a308d3ul, 0x13198a2e03707344ul};
    for (; *s; s++)
        w = (struct word){mix_a(w.a + (unsigned char)*s), mix_b(w.b ^ (unsigned char)*s) + 1};
    return w;
}

/* Adds a number to a hash chain; a position is a chain over its coordinates. */
static inline struct word word_next(struct word w, uint64_t x)
{
    return (struct word){mix_a(w.a ^ mix_a(x + 0x9e3779b97f4a7c15ul)),
                         mix_b(w.b ^ mix_b(x + 0xd1b54a32d192ed03ul))};
}

/* Sum of hashes over a column of values, with at[] the words of their positions. The lower half is
 * summed in two parts, so that carries fit. */
static hash128 column_sum(int64_t n, const struct word *at, struct word field, const void *values)
{
    const bits64 *v = values;
    uint64_t low = 0, middle = 0, high = 0;
#pragma omp simd reduction(+ : low, middle, high)
    for (int64_t i = 0; i < n; i++) {
        uint64_t a = mix_a(v[i] ^ at[i].a ^ field.a), b = mix_b(v[i] ^ at[i].b ^ field.b);
        low += a & 0xffffffff;
        middle += a >> 32;
        high += b;
    }
    return low + ((hash128)middle << 32) + ((hash128)high << 64);
}

struct fold {
    struct digest *d;
    int tree, first_field, first_part, first_sink, first_stellar; /* first line of each group */
    struct word field[DIGEST_LINES];
    struct word *at; /* [8][CKPT_BATCH] words for cells, or one per particle */
    uint64_t *scratch;
};

static int add_line(struct fold *f, const char *prefix, const char *name)
{
    int i = f->d->n++;
    BUG_ON(i >= DIGEST_LINES);
    snprintf(f->d->line[i].name, sizeof f->d->line[i].name, "%s%s", prefix, name);
    f->field[i] = word_of_name(f->d->line[i].name);
    return i;
}

static enum err fold_octs(const struct source_octs *o, void *ctx)
{
    struct fold *f = ctx;
    const struct source *r = o->source;
    int ncell = source_cells(r);
    struct word level = word_next((struct word){0, 0}, (uint64_t)o->level);
#pragma omp parallel for schedule(static)
    for (int i = 0; i < o->n; i++) {
        struct word w = word_next(level, (uint64_t)o->key[i]);
        uint64_t above = (uint64_t)((unsigned __int128)o->key[i] >> 64);
        if (above) w = word_next(w, above); /* upper word, only beyond the levels of a 64-bit key */
        for (int c = 0; c < ncell; c++) f->at[c * CKPT_BATCH + i] = word_next(w, (uint64_t)c);
        f->scratch[i] = o->split[i];
    }
    f->d->line[f->tree].hash += column_sum(o->n, f->at, f->field[f->tree], f->scratch);
    hash128 part[8 * CKPT_FIELDS];
    int n = 8 * (r->nfield);
#pragma omp parallel for schedule(dynamic)
    for (int k = 0; k < n; k++)
        part[k] = k % 8 >= ncell ? 0
                                 : column_sum(o->n, f->at + k % 8 * CKPT_BATCH,
                                              f->field[f->first_field + k / 8], o->val[k]);
    for (int k = 0; k < n; k++) f->d->line[f->first_field + k / 8].hash += part[k];
    return OK;
}

static enum err fold_parts(const struct source_parts *p, void *ctx)
{
    struct fold *f = ctx;
    const struct source *r = p->source;
    const int64_t *id = p->id, *family = p->family;
    hash128 part[CKPT_FIELDS];
    /* Ids of stars and dark matter may coincide, so the family enters the hash. */
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < p->n; i++)
        f->at[i] = word_next(word_next((struct word){1, 1}, (uint64_t)id[i]), (uint64_t)family[i]);
#pragma omp parallel for schedule(dynamic)
    for (int k = 0; k < r->npart; k++)
        part[k] = column_sum(p->n, f->at, f->field[f->first_part + k], p->col[r->part_at[k]]);
    for (int k = 0; k < r->npart; k++) f->d->line[f->first_part + k].hash += part[k];
    return OK;
}

/* Adds a table of sinks or stars; rows are identified by id, or by number without ids. */
static void fold_table(struct fold *f, const struct catalog *t, int first)
{
    const struct catalog_column *id = catalog_find(t, "identity");
    for (int k = 0; k < t->ncol; k++)
        for (int64_t i = 0; i < t->n; i++) {
            struct word at = word_next((struct word){2, 2},
                                       id && id->whole ? (uint64_t)id->whole[i] : (uint64_t)i);
            const struct catalog_column *c = &t->col[k];
            f->d->line[first + k].hash += column_sum(
                1, &at, f->field[first + k], c->real ? (void *)&c->real[i] : (void *)&c->whole[i]);
        }
}

static void add_value(struct fold *f, int line, const char *name, double x)
{
    struct word at = word_of_name(name);
    f->d->line[line].hash += column_sum(1, &at, f->field[line], &x);
}

/* Adds the time and everything on which the next steps depend. Steps of empty levels are
 * excluded. */
static void fold_time(struct fold *f, const struct source *r)
{
    struct ckpt_head h = r->head;
    int line = add_line(f, "", "time");
    if (!h.hydro) h.gamma = 0;
#define HEAD_REAL(member, name, attribute) add_value(f, line, #member, h.member);
#include "ckpt/head.def"
    add_value(f, line, "nstep", h.nstep);
    add_value(f, line, "nstep_coarse", h.nstep_coarse);
    for (int l = 1; l <= LEVEL_MAX; l++) {
        char name[32];
        if (!r->counts.octs[l]) continue;
        snprintf(name, sizeof name, "dtold %d", l);
        add_value(f, line, name, h.dtold[l]);
        snprintf(name, sizeof name, "dtnew %d", l);
        add_value(f, line, name, h.dtnew[l]);
    }
}

static hash128 join(const struct fold *f)
{
    hash128 sum = 0;
    for (int i = 0; i < f->d->n; i++) {
        hash128 h = f->d->line[i].hash;
        struct word w = word_next(word_next(f->field[i], (uint64_t)h), (uint64_t)(h >> 64));
        sum += w.a + ((hash128)w.b << 64);
    }
    return sum;
}

/* Orders columns by name, since each format has its own order of sink columns. */
static int by_name(const void *a, const void *b)
{
    const struct digest_line *p = a, *q = b;
    return strcmp(p->name, q->name);
}

static void sort_lines(struct digest *d, int first, int n)
{
    mem_sort(d->line + first, (size_t)n, sizeof *d->line, by_name);
}

/* Sums over the ranks: hashes mod 2^128 in four parts, and counts. */
static void sum_ranks(struct source *r, const struct comm *c, struct digest *d)
{
    int64_t part[4 * DIGEST_LINES];
    for (int i = 0; i < 4 * d->n; i++)
        part[i] = (int64_t)(uint32_t)(d->line[i / 4].hash >> 32 * (i % 4));
    comm_add_i64(c, part, 4 * d->n);
    for (int i = 0; i < d->n; i++) {
        d->line[i].hash = 0;
        for (int k = 0; k < 4; k++) d->line[i].hash += (hash128)(uint64_t)part[4 * i + k] << 32 * k;
    }
    comm_add_i64(c, r->counts.octs, LEVEL_MAX + 2);
    comm_add_i64(c, r->counts.split, LEVEL_MAX + 2);
    comm_add_i64(c, &r->counts.particles, 1);
}

enum err digest_snapshot(struct source *r, const struct comm *c, struct digest *d)
{
    struct fold f = {.d = d};
    size_t n = 8 * CKPT_BATCH > CKPT_PART_BATCH ? 8 * CKPT_BATCH : CKPT_PART_BATCH;
    enum err err = OK;
    *d = (struct digest){0};
    f.tree = add_line(&f, "", "tree");
    f.first_field = d->n;
    for (int i = 0; i < r->nfield; i++) add_line(&f, "", r->field[i].name);
    f.first_part = d->n;
    for (int i = 0; i < r->npart; i++) add_line(&f, "particle.", r->part[i].name);
    f.first_sink = d->n;
    for (int i = 0; i < r->sinks->ncol; i++) add_line(&f, "sink.", r->sinks->col[i].name);
    f.first_stellar = d->n;
    for (int i = 0; i < r->stellar->ncol; i++) add_line(&f, "stellar.", r->stellar->col[i].name);
    f.at = mem_new(sizeof *f.at * n, "digest batch");
    f.scratch = mem_new(sizeof *f.scratch * CKPT_BATCH, "digest batch");
    memset(&r->counts, 0, sizeof r->counts);
    for (int piece = c->rank; err == OK && piece < r->npiece; piece += c->size) {
        if (piece == 0) fold_table(&f, r->sinks, f.first_sink);
        if (piece == 0) fold_table(&f, r->stellar, f.first_stellar);
        err = source_octs(r, piece, SOURCE_STORED, fold_octs, &f);
        if (err == OK) err = source_parts(r, piece, SOURCE_STORED, fold_parts, &f);
    }
    err = err_agree(c, err);
    if (err == OK) sum_ranks(r, c, d);
    if (err == OK) err = source_check_tree(r);
    if (err == OK) fold_time(&f, r);
    d->state = join(&f);
    sort_lines(d, f.first_sink, r->sinks->ncol);
    sort_lines(d, f.first_stellar, r->stellar->ncol);
    FREE(f.scratch);
    FREE(f.at);
    return err;
}

void digest_hex(hash128 h, char hex[33])
{
    snprintf(hex, 33, "%016lx%016lx", (unsigned long)(h >> 64), (unsigned long)h);
}
