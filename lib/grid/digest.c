/* grid/digest: numbers of the values and the header of a checkpoint, which do not depend on ranks.
 *
 * The number of a value is a finaliser of 64 bits (as in splitmix64) of its bits, xored with a word
 * for its cell and one for its field, in two halves with other constants; those of all cells are
 * added. */
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "grid/priv.h"

static const uint64_t SALT[2] = {0x9e3779b97f4a7c15u, 0xd1b54a32d192ed03u};

static void name_words(const char *name, uint64_t word[2])
{
    for (int k = 0; k < 2; k++) {
        word[k] = SALT[k];
        for (const char *s = name; *s; s++) word[k] = rng_mix(word[k] + (unsigned char)*s);
    }
}

/* Adds n values from cell number `at` on. */
static void add_values(uint64_t sum[2], const uint64_t word[2], int64_t n, const double *v,
                       int64_t at)
{
    uint64_t a = 0, b = 0;
#pragma omp simd reduction(+ : a, b)
    for (int64_t i = 0; i < n; i++) {
        uint64_t bits, cell = (uint64_t)(at + i + 1);
        memcpy(&bits, &v[i], 8);
        a += rng_mix(bits ^ rng_mix(cell * SALT[0] ^ word[0]));
        b += rng_mix((bits + SALT[1]) ^ rng_mix(cell * SALT[1] ^ word[1]));
    }
    sum[0] += a, sum[1] += b;
}

static void add_named(uint64_t sum[2], const char *name, double value)
{
    uint64_t word[2];
    name_words(name, word);
    add_values(sum, word, 1, &value, 0);
}

/* The header's physics. */
static void add_head(const struct grid_head *h, uint64_t sum[2])
{
    add_named(sum, "t", h->t);
    add_named(sum, "dt", h->dt);
    add_named(sum, "it", (double)h->it);
    add_named(sum, "order", h->order);
    for (int d = 0; d < 3; d++) {
        const char cells[] = {'n', (char)('x' + d), 0}, side[] = {'l', (char)('x' + d), 0};
        add_named(sum, cells, (double)h->n[d]);
        add_named(sum, side, h->length[d]);
    }
    uint64_t state[2];
    name_words("state", state);
    add_values(sum, state, h->nstate, h->state, 0);
    for (int i = 0; i < h->nkey; i++) {
        char name[GRID_NAME + 4] = "key ";
        memcpy(name + 4, h->key[i], GRID_NAME);
        if (strncmp(h->key[i], "next_", 5) != 0) add_named(sum, name, h->value[i]);
    }
}

/* Sums mod 2^64 over the ranks, in halves whose sums do not overflow. */
static void sum_ranks(const struct comm *c, uint64_t (*digest)[2], int n)
{
    int64_t half[2 * 2 * (GRID_FIELDS + 1)];
    for (int i = 0; i < 4 * n; i++)
        half[i] = (int64_t)(uint32_t)(digest[i / 4][i / 2 % 2] >> 32 * (i % 2));
    comm_add_i64(c, half, 4 * n);
    for (int i = 0; i < 2 * n; i++)
        digest[i / 2][i % 2] = (uint64_t)half[2 * i] + ((uint64_t)half[2 * i + 1] << 32);
}

/* Adds the planes of this rank of a field. */
static enum err add_field(struct grid *g, const struct comm *c, int field, double *line,
                          uint64_t sum[2])
{
    const int64_t nx = g->head.n[0], ny = g->head.n[1], size[3] = {nx, 1, 1},
                  stride[3] = {1, nx, nx};
    const int64_t end = grid_plane(&g->head, c->rank + 1, c->size);
    uint64_t word[2];
    name_words(g->head.field[field], word);
    for (int64_t z = grid_plane(&g->head, c->rank, c->size); z < end; z++)
        for (int64_t y = 0; y < ny; y++) {
            TRY(grid_read(g, field, (int64_t[3]){0, y, z}, size, line, stride));
            add_values(sum, word, nx, line, (z * ny + y) * nx);
        }
    return OK;
}

enum err grid_digests(struct grid *g, const struct comm *c, uint64_t digest[GRID_FIELDS + 1][2])
{
    const int n = g->head.nfield;
    const bool any = g->any;
    double *line = mem_new(sizeof *line * (size_t)g->head.n[0], "digest batch");
    enum err err = OK;
    memset(digest, 0, sizeof *digest * (size_t)(n + 1));
    g->any = true;
    for (int i = 0; i < n && err == OK; i++) err = add_field(g, c, i, line, digest[i]);
    g->any = any;
    FREE(line);
    TRY(err_agree(c, err));
    sum_ranks(c, digest, n);
    add_head(&g->head, digest[n]);
    return OK;
}

void grid_digest_join(const struct grid *g, uint64_t (*part)[2], uint64_t digest[2])
{
    digest[0] = digest[1] = 0;
    for (int i = 0; i <= g->head.nfield; i++)
        for (int k = 0; k < 2; k++) digest[k] += rng_mix(part[i][k] ^ SALT[k]);
}

enum err grid_digest(struct grid *g, const struct comm *c, uint64_t digest[2])
{
    uint64_t part[GRID_FIELDS + 1][2];
    TRY(grid_digests(g, c, part));
    grid_digest_join(g, part, digest);
    return OK;
}
