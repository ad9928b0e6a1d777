/* oct/find_kern: octs by their keys, on hosts and devices. */
#pragma once
#include "base/device.h"
#include "oct/mesh.h"

/* Where the search for a key begins in the table of a level. */
PTAH_HD uint64_t okhash_slot(const struct okhash *h, okey k)
{
    uint64_t x = (uint64_t)k;
#ifdef PTAH_MORTON128
    x ^= (uint64_t)(k >> 64) * 0xc2b2ae3d27d4eb4fu;
#endif
    return x * 0x9e3779b97f4a7c15u >> h->shift;
}

PTAH_HD lidx level_find(const struct level *lv, okey k)
{
    const struct okhash *h = &lv->hash;
    if (lv->noct == 0) return -1;
    for (uint64_t s = okhash_slot(h, k);; s = (s + 1) & h->mask) {
        lidx i = h->slot[s];
        if (i < 0 || lv->key[i] == k) return i;
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

/* The oct across face f of the child in cell `slot` of oct p, from the links of p's level: index,
 * NBR_NONE or NBR_BOUNDARY. */
PTAH_HD lidx oct_across(const lidx (*nbr)[6], const lidx (*child)[8], lidx p, int slot, int f)
{
    int bit = 1 << (f >> 1);
    bool leaves = ((slot & bit) != 0) == (f & 1);
    lidx q = leaves ? nbr[p][f] : p;
    return q >= 0 ? child[q][slot ^ bit] : q;
}

/* Places of the table of a level with n octs: 1 << this. */
PTAH_HD int okhash_bits(lidx n)
{
    int bits = 4;
    while (((uint64_t)7 << bits) / 10 < (uint64_t)n) bits++;
    return bits;
}
