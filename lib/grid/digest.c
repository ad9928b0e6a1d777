/* grid/digest: numbers of the values and the header of a checkpoint, which do not depend on ranks
 * (onefile/onefile.h): the place of a value is its cell, the name that of its field. */
#include <string.h>

#include "base/mem.h"
#include "grid/priv.h"

/* The header's physics. */
static void add_head(const struct grid_head *h, uint64_t sum[2])
{
    const struct onefile_head common = grid_common(h);
    onefile_add_head(sum, &common);
    onefile_add_named(sum, "order", h->order);
    for (int d = 0; d < 3; d++) {
        const char cells[] = {'n', (char)('x' + d), 0}, side[] = {'l', (char)('x' + d), 0};
        onefile_add_named(sum, cells, (double)h->n[d]);
        onefile_add_named(sum, side, h->length[d]);
    }
    uint64_t state[2];
    onefile_words("state", state);
    onefile_add(sum, state, h->nstate, h->state, 0);
}

/* Adds the planes of this rank of a field. */
static enum err add_field(struct grid *g, const struct comm *c, int field, double *line,
                          uint64_t sum[2])
{
    const int64_t nx = g->head.n[0], ny = g->head.n[1], size[3] = {nx, 1, 1},
                  stride[3] = {1, nx, nx};
    const int64_t end = grid_plane(&g->head, c->rank + 1, c->size);
    uint64_t word[2];
    onefile_words(g->head.field[field], word);
    for (int64_t z = grid_plane(&g->head, c->rank, c->size); z < end; z++)
        for (int64_t y = 0; y < ny; y++) {
            TRY(grid_read(g, field, (int64_t[3]){0, y, z}, size, line, stride));
            onefile_add(sum, word, nx, line, (z * ny + y) * nx);
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
    onefile_sum_ranks(c, digest, n);
    add_head(&g->head, digest[n]);
    return OK;
}

void grid_digest_join(const struct grid *g, uint64_t (*part)[2], uint64_t digest[2])
{
    onefile_join(g->head.nfield + 1, part, digest);
}

enum err grid_digest(struct grid *g, const struct comm *c, uint64_t digest[2])
{
    uint64_t part[GRID_FIELDS + 1][2];
    TRY(grid_digests(g, c, part));
    grid_digest_join(g, part, digest);
    return OK;
}
