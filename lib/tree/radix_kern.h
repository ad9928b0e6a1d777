/* tree/radix_kern: inner nodes of a radix tree (Karras 2012, section 4), on the host and on
 * devices: each is made from the keys of the leaves alone. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/device.h"

typedef unsigned __int128 radix_key;

/* Nodes 0..n-2 are inner nodes, node 0 is the root; leaf k is node n-1+k. */
struct radix_nodes {
    int32_t n;            /* leaves */
    const radix_key *key; /* [n] distinct, ascending */
    int32_t (*child)[2];  /* [n-1] NULL: not wanted */
    int32_t (*range)[2];  /* [n-1] first and last leaf */
    int32_t *parent;      /* [2n-1] that of the root is not set */
};

/* Number of equal leading bits. */
PTAH_HD int radix_leading(uint64_t differ)
{
#ifdef __CUDA_ARCH__
    return __clzll((long long)differ);
#else
    return differ ? __builtin_clzl(differ) : 64;
#endif
}

/* Length of the common prefix of leaves i and j in bits; -1: there is no leaf j. */
PTAH_HD int radix_prefix(const struct radix_nodes *r, int32_t i, int64_t j)
{
    if (j < 0 || j >= r->n) return -1;
    radix_key differ = r->key[i] ^ r->key[j];
    uint64_t high = (uint64_t)(differ >> 64);
    return high ? radix_leading(high) : 64 + radix_leading((uint64_t)differ);
}

/* Makes inner node i, whose range begins or ends at leaf i. */
PTAH_HD void radix_make_node(const struct radix_nodes *r, int32_t i)
{
    int dir = radix_prefix(r, i, i + 1) > radix_prefix(r, i, i - 1) ? 1 : -1;
    int min = radix_prefix(r, i, i - dir);
    int64_t max = 2, length = 0;
    while (radix_prefix(r, i, i + max * dir) > min) max *= 2;
    for (int64_t step = max / 2; step >= 1; step /= 2)
        if (radix_prefix(r, i, i + (length + step) * dir) > min) length += step;
    int64_t j = i + length * dir, split = 0;
    int common = radix_prefix(r, i, j);
    for (int64_t step = (length + 1) / 2, left = length;; left = step, step = (left + 1) / 2) {
        if (radix_prefix(r, i, i + (split + step) * dir) > common) split += step;
        if (step <= 1) break;
    }
    int32_t middle = (int32_t)(i + split * dir + (dir < 0 ? -1 : 0));
    int32_t lo = dir > 0 ? i : (int32_t)j, hi = dir > 0 ? (int32_t)j : i;
    int32_t a = lo == middle ? r->n - 1 + middle : middle;
    int32_t b = hi == middle + 1 ? r->n - 1 + middle + 1 : middle + 1;
    if (r->child) r->child[i][0] = a, r->child[i][1] = b;
    r->range[i][0] = lo, r->range[i][1] = hi;
    r->parent[a] = r->parent[b] = i;
}
