/* oct/find_kern: finds octs by their keys, on hosts and devices. */
#pragma once
#include "base/device.h"
#include "oct/mesh.h"

/* The hash table maps the key of a parent to its family, the octs of that parent. These are
 * consecutive in a level, in ascending order, except where some are own octs and some ghosts: each
 * consecutive part has one slot, which holds the index of its first oct. OKHASH_NEAR families with
 * consecutive keys, which are also neighbours in memory, have slots in one cache line. */
enum { OKHASH_NEAR = 16 };

/* Whether oct i is the first of a part, and has a slot in the table. */
PTAH_HD bool okhash_names(const okey *key, lidx i)
{
    return i == 0 || key[i] < key[i - 1] || key[i] >> 3 != key[i - 1] >> 3;
}

/* Slot at which the search for a key begins. */
PTAH_HD uint64_t okhash_slot(const struct okhash *h, okey k)
{
    const okey family = k >> 3;
    uint64_t x = (uint64_t)(family / OKHASH_NEAR);
#ifdef PTAH_MORTON128
    x ^= (uint64_t)(family >> 64) * 0xc2b2ae3d27d4eb4fu;
#endif
    x *= 0x9e3779b97f4a7c15u;
    /* without the second product keys at regular distances collide */
    x = (x ^ x >> 32) * 0x9e3779b97f4a7c15u;
    return x >> h->shift ^ ((uint64_t)family % OKHASH_NEAR);
}

/* Next slot of a search, in another cache line. The step is odd, so that a search reaches all
 * slots. */
PTAH_HD uint64_t okhash_next(const struct okhash *h, uint64_t slot)
{
    return (slot + OKHASH_NEAR + 1) & h->mask;
}

PTAH_HD lidx level_find(const struct level *lv, okey k)
{
    const struct okhash *h = &lv->hash;
    if (lv->noct == 0) return -1;
    for (uint64_t s = okhash_slot(h, k);; s = okhash_next(h, s)) {
        const lidx first = h->slot[s];
        if (first < 0) return -1;
        if (lv->key[first] >> 3 != k >> 3) continue;
        /* In a complete family the first index tried is the right one. */
        lidx i = first + (lidx)(k & 7) - (lidx)(lv->key[first] & 7);
        if (i >= lv->noct) i = lv->noct - 1;
        while (i >= first && lv->key[i] != k) i--;
        if (i >= first) return i;
    }
}

PTAH_HD bool level_key_at(const bool bounded[6], int l, const int64_t x[3], okey *k)
{
    int64_t n = (int64_t)1 << (l - 1);
    for (int d = 0; d < 3; d++)
        if ((x[d] < 0 && bounded[2 * d]) || (x[d] >= n && bounded[2 * d + 1])) return false;
    *k = okey_make((uint64_t)(x[0] & (n - 1)), (uint64_t)(x[1] & (n - 1)),
                   (uint64_t)(x[2] & (n - 1)));
    return true;
}

/* Finds the octs across the six faces of the child in cell `slot` of oct p, from the links of p's
 * level: index, NBR_NONE or NBR_BOUNDARY. Across one face of each axis lies a sibling. */
PTAH_HD void oct_faces(const lidx (*nbr)[6], const lidx (*child)[8], lidx p, int slot, lidx face[6])
{
    for (int d = 0; d < 3; d++) {
        const int high = slot >> d & 1, sibling = slot ^ 1 << d;
        const lidx q = nbr[p][2 * d + high];
        face[2 * d + high] = q >= 0 ? child[q][sibling] : q;
        face[2 * d + 1 - high] = child[p][sibling];
    }
}

/* In fewer than three dimensions the axes that are missing have boundaries on both sides. */
PTAH_HD void faces_missing(int ndim, lidx face[6])
{
    for (int f = 2 * ndim; f < 6; f++) face[f] = NBR_BOUNDARY;
}

/* Links cell `slot` of an oct with `cells` cells to oct i, and the numbers that repeat it. */
PTAH_HD void oct_link_child(lidx child[8], int slot, int cells, lidx i)
{
    for (int c = slot; c < 8; c += cells) child[c] = i;
}

/* Sets the number of slots, mask + 1, of a table for a level with n octs. The caller owns the
 * slots. */
PTAH_HD void okhash_size(struct okhash *h, lidx n)
{
    int bits = 5;
    while (((uint64_t)7 << bits) / 10 < (uint64_t)n) bits++;
    h->mask = ((uint64_t)1 << bits) - 1;
    h->shift = 64 - bits;
}
