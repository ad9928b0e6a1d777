/* comm/spread: least, sum, mean and most over the ranks of a few numbers, in one reduction. */
#pragma once
#include "comm/comm.h"

struct spread {
    int64_t low, high, sum;
    double mean; /* of exact integers: the same on all ranks */
};

/* Of x[0..n-1]; sums below 2^63. (collective) */
void comm_spread(const struct comm *c, int n, const int64_t *x, struct spread *s);

/* (most − mean)/mean; 0 if there is nothing. */
static inline double spread_imbalance(struct spread s)
{
    return s.mean > 0 ? (double)s.high / s.mean - 1 : 0;
}
