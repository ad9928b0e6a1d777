#include "comm/spread.h"

#include "base/mem.h"
#include "comm/transport.h"

struct triple {
    int64_t low, sum, high;
};

static void join(void *in, void *inout, int *n, MPI_Datatype *type)
{
    const struct triple *a = in;
    struct triple *b = inout;
    for (int i = 0; i < *n; i++) {
        if (a[i].low < b[i].low) b[i].low = a[i].low;
        if (a[i].high > b[i].high) b[i].high = a[i].high;
        b[i].sum += a[i].sum;
    }
}

void comm_spread(const struct comm *c, int n, const int64_t *x, struct spread *s)
{
    struct triple *t = mem_new(sizeof *t * (size_t)n + 1, "comm");
    for (int i = 0; i < n; i++) t[i] = (struct triple){x[i], x[i], x[i]};
    if (c->size > 1) comm_reduce_by(t, n, sizeof *t, join);
    for (int i = 0; i < n; i++)
        s[i] = (struct spread){t[i].low, t[i].high, t[i].sum, (double)t[i].sum / c->size};
    mem_free(t);
}
