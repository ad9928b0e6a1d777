/* sph/total: exact sums over the own particles of a rank, by all threads. */
#include "base/sum.h"
#include "sph/sph.h"

void sph_sums(const struct sph *s, int nsum, sph_terms *terms, const void *ctx, struct sum *sum)
{
    const int64_t n = s->p.n, blocks = (n + SPH_BLOCK - 1) / SPH_BLOCK;
    for (int k = 0; k < nsum; k++) sum_init(&sum[k]);
#pragma omp parallel
    {
        double term[SPH_SUMS][SPH_BLOCK];
        struct sum part[SPH_SUMS];
        for (int k = 0; k < nsum; k++) sum_init(&part[k]);
#pragma omp for schedule(static)
        for (int64_t b = 0; b < blocks; b++) {
            const int64_t first = b * SPH_BLOCK, left = n - first;
            const int m = left < SPH_BLOCK ? (int)left : SPH_BLOCK;
            terms(ctx, first, m, term);
            for (int k = 0; k < nsum; k++) sum_add_many(&part[k], m, term[k]);
        }
#pragma omp critical(sph_sums)
        for (int k = 0; k < nsum; k++) sum_join(&sum[k], &part[k]);
    }
}
