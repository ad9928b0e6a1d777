/* cool/exact_priv: the table of cool/exact.h in memory. Private to cool. */
#pragma once

/* Densities, metallicities, temperatures. */
struct exact_head {
    int L, M, N, nz;
    double low[3], high[3]; /* log10 */
};

struct exact_table {
    struct exact_head head;
    double *z, *T;             /* [nz]; [N], K */
    double *rate, *mu;         /* [nz][L][M][N]: λ per n_H² (cooling positive), mu */
    double *now_rate, *now_mu; /* [L][M][N] at the redshift asked for */
    double z_now;              /* NAN: none yet */
    /* [L][M][N]: log2 of the rate at redshift number ratio_of + 1 over that at ratio_of; NAN where
     * they differ in sign */
    double *ratio;
    int ratio_of; /* -1: none yet */
};
