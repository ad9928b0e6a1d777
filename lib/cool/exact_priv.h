/* cool/exact_priv: the table of cool/exact.h in memory. Private to cool. */
#pragma once

/* Sizes and limits of the axes: densities, metallicities, temperatures. */
struct exact_head {
    int L, M, N, nz;
    double low[3], high[3]; /* limits, log10 */
};

struct exact_table {
    struct exact_head head;
    double *z, *T;     /* [nz] redshifts; [N] temperatures, K */
    double *rate, *mu; /* [nz][L][M][N] λ per n_H² (cooling positive), mean molecular weight */
    double *now_rate, *now_mu; /* [L][M][N] values at redshift z_now */
    double z_now;              /* current redshift; NAN: not set */
    /* [L][M][N] log2 of the rate at redshift index ratio_of + 1 over the rate at ratio_of; NAN
     * where the signs differ */
    double *ratio;
    int ratio_of; /* index of the lower redshift; -1: not set */
};
