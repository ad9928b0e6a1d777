/* movie/sheet: sums at the sites of a plane, in tiles. */
#include <stdlib.h>

#include "base/mem.h"
#include "movie/priv.h"

static const char MEMORY[] = "movie frame";

void sheet_init(struct sheet *s, int nu, int nv, int site, int64_t empty)
{
    *s = (struct sheet){.nu = nu, .nv = nv, .site = site, .empty = empty};
    s->across = (nu + PAINT_TILE - 1) / PAINT_TILE;
    s->down = (nv + PAINT_TILE - 1) / PAINT_TILE;
    const size_t tiles = (size_t)s->across * (size_t)s->down;
    s->tile = tiles ? mem_zero(sizeof *s->tile * tiles, MEMORY) : NULL;
}

static int tiles_of(const struct sheet *s)
{
    return s->tile ? s->across * s->down : 0;
}

/* Integers of a tile. */
static size_t tile_size(const struct sheet *s)
{
    return (size_t)PAINT_TILE * PAINT_TILE * (size_t)s->site;
}

void sheet_fini(struct sheet *s)
{
    for (int k = 0; k < tiles_of(s); k++) FREE(s->tile[k]);
    FREE(s->tile);
}

int64_t *sheet_tile(struct sheet *s, int k)
{
    if (s->tile[k]) return s->tile[k];
    const size_t n = tile_size(s);
    if (s->empty == 0) return s->tile[k] = mem_zero(sizeof **s->tile * n, MEMORY);
    s->tile[k] = mem_new(sizeof **s->tile * n, MEMORY);
    for (size_t i = 0; i < n; i++) s->tile[k][i] = s->empty;
    return s->tile[k];
}

/* Unsigned addition, which may wrap around in between. */
static void add_tile(const struct sheet *s, int64_t *to, const int64_t *from)
{
    const size_t n = tile_size(s);
    if (s->empty == 0)
        for (size_t i = 0; i < n; i++) to[i] = (int64_t)((uint64_t)to[i] + (uint64_t)from[i]);
    else
        for (size_t i = 0; i < n; i++) to[i] = from[i] > to[i] ? from[i] : to[i];
}

void sheet_join(struct sheet *s, const struct sheet *from)
{
    for (int k = 0; k < tiles_of(s); k++) {
        if (!from->tile[k]) continue;
        if (s->tile[k]) {
            add_tile(s, s->tile[k], from->tile[k]);
            continue;
        }
        s->tile[k] = from->tile[k];
        from->tile[k] = NULL;
    }
}

/* Digits of a sum lie `parts` apart. */
static void shift_site(int64_t *d, int parts, int places)
{
    for (int k = DIGITS - 1; k >= 0; k--)
        for (int j = 0; j < parts; j++)
            d[k * parts + j] = k >= places ? d[(k - places) * parts + j] : 0;
}

void sheet_shift(struct sheet *s, int q, int parts, int places)
{
    const size_t step = (size_t)s->site, n = (size_t)PAINT_TILE * PAINT_TILE;
    for (int k = 0; k < tiles_of(s); k++)
        for (size_t i = 0; s->tile[k] && i < n; i++)
            shift_site(s->tile[k] + i * step + (size_t)(q * parts * DIGITS), parts, places);
}

void sheet_reduce(struct sheet *s, const struct comm *c, int owner)
{
    const size_t n = tile_size(s) + 1; /* number of the tile, then its integers */
    int64_t count = 0, got;
    if (c->size == 1) return;
    for (int k = 0; k < tiles_of(s); k++) count += s->tile[k] != NULL;
    int64_t *item = mem_new(sizeof *item * n * (size_t)count + 1, MEMORY), *at = item;
    int *rank = mem_new(sizeof *rank * (size_t)count + 1, MEMORY);
    for (int64_t i = 0; i < count; i++) rank[i] = owner;
    for (int k = 0; k < tiles_of(s); k++) {
        if (!s->tile[k]) continue;
        at[0] = k;
        memcpy(at + 1, s->tile[k], sizeof *at * (n - 1));
        FREE(s->tile[k]);
        at += n;
    }
    int64_t *in = comm_exchange_by(c, item, count, rank, sizeof *item * n, &got, NULL);
    FREE(item);
    FREE(rank);
    for (int64_t i = 0; i < got; i++)
        add_tile(s, sheet_tile(s, (int)in[(size_t)i * n]), in + (size_t)i * n + 1);
    FREE(in);
}
