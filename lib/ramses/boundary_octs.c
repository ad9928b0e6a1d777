#include "ramses/boundary_octs.h"

#include <stdint.h>

#include "base/mem.h"

/* Octs of the box at its boundary; bit 2d: below along axis d, 2d+1: above. */
struct touching {
    lidx oct;
    unsigned faces;
};

static int64_t find_touching(const struct mesh *m, int l, struct touching **out)
{
    const struct level *lv = &m->lev[l];
    int64_t last = ((int64_t)1 << (l - 1)) - 1, n = 0, room = 0;
    *out = NULL;
    for (lidx i = 0; i < lv->noct; i++) {
        int64_t x[3];
        unsigned faces = 0;
        okey_coords(lv->key[i], x);
        for (int d = 0; d < 3; d++)
            faces |= (unsigned)(m->bounded[2 * d] && x[d] == 0) << 2 * d |
                     (unsigned)(m->bounded[2 * d + 1] && x[d] == last) << (2 * d + 1);
        if (!faces) continue;
        if (n == room)
            room = 2 * room + 256, *out = mem_grow(*out, sizeof **out * (size_t)room, "checkpoint");
        (*out)[n++] = (struct touching){i, faces};
    }
    return n;
}

void boundary_octs_number(struct boundary_octs *b, const struct mesh *m, int l, int32_t first)
{
    struct boundary_octs_level *e = &b->level[l];
    struct touching *t;
    int64_t n = find_touching(m, l, &t), room = 0;
    e->first = first, e->n = 0;
    int region = 0;
    for (int k = 0; k < b->lay.ncode; k++) {
        const struct boundary_rule *r = &b->lay.rule[b->lay.code[k]];
        unsigned need = 0;
        for (int d = 0; d < 3; d++)
            if (r->shift[d]) need |= 1u << (2 * d + (r->shift[d] > 0));
        while (region <= r->region) e->region[region++] = e->n;
        e->at[k] = e->n;
        for (int64_t i = 0; i < n; i++) {
            if ((t[i].faces & need) != need) continue;
            if (e->n == room)
                room = 2 * room + n,
                e->ref = mem_grow(e->ref, sizeof *e->ref * (size_t)room, "checkpoint");
            e->ref[e->n++] = t[i].oct;
        }
    }
    while (region <= b->nregion) e->region[region++] = e->n;
    FREE(t);
}

void boundary_octs_free(struct boundary_octs **b)
{
    for (int l = 0; *b && l < LEVEL_MAX + 2; l++) FREE((*b)->level[l].ref);
    FREE(*b);
}

static int32_t end_of(const struct boundary_octs *b, int l, int k)
{
    return k + 1 < b->lay.ncode ? b->level[l].at[k + 1] : b->level[l].n;
}

int32_t boundary_octs_find(const struct boundary_octs *b, int l, int code, lidx ref)
{
    const struct boundary_octs_level *e = &b->level[l];
    int k = 0;
    while (k < b->lay.ncode && b->lay.code[k] != code) k++;
    if (k == b->lay.ncode) return 0;
    int32_t lo = e->at[k], hi = end_of(b, l, k);
    while (lo < hi) {
        int32_t mid = lo + (hi - lo) / 2;
        if (e->ref[mid] == ref) return e->first + mid;
        if (e->ref[mid] < ref)
            lo = mid + 1;
        else
            hi = mid;
    }
    return 0;
}

int boundary_octs_code(const struct boundary_octs *b, int l, int32_t i, int32_t *end)
{
    int k = 0;
    while ((*end = end_of(b, l, k)) <= i) k++;
    return b->lay.code[k];
}

void boundary_octs_position(const struct boundary_rule *r, int l, okey ref, int64_t x[3])
{
    int64_t n = (int64_t)1 << (l - 1);
    okey_coords(ref, x);
    for (int d = 0; d < 3; d++) x[d] = r->shift[d] < 0 ? -1 : r->shift[d] > 0 ? n : x[d];
}

int boundary_octs_split(int l, int64_t x[3])
{
    int64_t n = (int64_t)1 << (l - 1);
    int shift[3];
    for (int d = 0; d < 3; d++) {
        shift[d] = x[d] < 0 ? -1 : x[d] >= n;
        if (shift[d]) x[d] = shift[d] < 0 ? 0 : n - 1;
    }
    return shift[0] + 1 + 3 * (shift[1] + 1) + 9 * (shift[2] + 1);
}
