/* comm/spread: minimum, sum, mean and maximum of numbers over the ranks, in one reduction. */
#pragma once
#include "comm/comm.h"

struct spread {
    int64_t low, high, sum;
    double mean; /* mean of exact integers, equal on all ranks */
};

/* Reduces x[0..n-1]; sums must be below 2^63. (collective) */
void comm_spread(const struct comm *c, int n, const int64_t *x, struct spread *s);

/* Load imbalance (max − mean)/mean; 0 if the mean is 0. */
static inline double spread_imbalance(struct spread s)
{
    return s.mean > 0 ? (double)s.high / s.mean - 1 : 0;
}
