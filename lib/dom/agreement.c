/* dom/agreement: where two decompositions agree, so that nothing needs to move.
 *
 * The box is divided into cubes (octs of the first few levels) that are one rank's under both. If
 * the finest of these are octs of level L, each oct from level L on lies in one of them, and so has
 * the same owner. Its ghosts depend on whose domains meet the cubes around it, which are the same,
 * and on the owners of octs one and two levels up (domain_near): from level L + 2 on they are the
 * same, too. */
#include "dom/domain_priv.h"

enum { CUBES_TO = 5 }; /* level of the finest cubes that are tried: 16^3 cubes */

static bool finest(const struct domain *d, int level)
{
    return level == CUBES_TO || level == d->levelmax;
}

/* Level of the finest cube needed within the oct; 0 if the decompositions differ, or agree only on
 * finer cubes than are tried. */
static int cubes_agree(const struct domain *a, const struct domain *b, int level, okey key)
{
    int rank = domain_whole(a, level, key), max = level;
    if (rank != domain_whole(b, level, key) || (rank < 0 && finest(a, level))) return 0;
    for (okey c = 0; rank < 0 && c < 8; c++) {
        int l = cubes_agree(a, b, level + 1, key << 3 | c);
        if (l == 0) return 0;
        if (l > max) max = l;
    }
    return max;
}

int domain_agreement(const struct domain *a, const struct domain *b)
{
    int cubes = cubes_agree(a, b, 1, 0);
    return cubes && cubes + 2 <= a->levelmax ? cubes + 2 : a->levelmax + 1;
}

/* Adds the key-range lengths of the cubes within the oct to their ranks. */
static bool ranges_add(const struct domain *d, int level, okey key, hkey *length)
{
    int rank = domain_whole(d, level, key);
    if (rank >= 0) length[rank] += (hkey)1 << 3 * (d->levelmax + 2 - level);
    if (rank >= 0 || finest(d, level)) return rank >= 0;
    for (okey c = 0; c < 8; c++)
        if (!ranges_add(d, level + 1, key << 3 | c, length)) return false;
    return true;
}

/* Domains that are ranges of the Hilbert curve in rank order follow from their lengths. */
struct domain *domain_along(const struct domain *d)
{
    if (d->ndim != 3) return NULL;
    struct domain *h = domain_alloc(DOMAIN_HILBERT, 3, d->nrank, d->levelmax, d->bounded);
    domain_set_margin(h, d->margin);
    hkey *bound = h->hilb.bound;
    bound[d->nrank] = 0;
    bool cubes = ranges_add(d, 1, 0, bound + 1);
    for (int r = 0; r < d->nrank && cubes; r++) bound[r + 1] += bound[r];
    hilbert_finish(h);
    if (cubes && domain_agreement(d, h) <= d->levelmax) return h;
    domain_free(h);
    return NULL;
}
