/* Laws of lib/comm, on any number of ranks. Catches: a count that is not added up, a rank's message
 * that the others do not get, items for the wrong rank. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "check.h"
#include "comm/comm.h"

static struct comm c;

/* One rank after the other has trouble, then the last two. */
static void test_agree(void)
{
    for (int bad = -1; bad <= c.size; bad++) {
        bool mine = bad == c.rank || (bad == c.size && c.rank >= c.size - 2);
        int first = bad < c.size ? bad : c.size > 1 ? c.size - 2 : 0;
        char want[32];
        snprintf(want, sizeof want, "rank %d says no", first);
        enum err e = mine ? err_set(ERR_LIMIT, "rank %d says no", c.rank) : OK;
        e = err_agree(&c, e);
        CHECK(e == (bad < 0 ? OK : ERR_LIMIT), "%d", (int)e);
        CHECK(bad < 0 || strcmp(err_message(), want) == 0, "%s", err_message());
    }
}

static void test_sums(void)
{
    struct sum s;
    int64_t n = c.rank + 1, most = c.rank, before = comm_scan_i64(&c, c.rank + 1);
    double least = c.rank + 0.5;
    comm_add_i64(&c, &n, 1);
    comm_max_i64(&c, &most, 1);
    comm_min_f64(&c, &least, 1);
    CHECK(n == c.size * (c.size + 1) / 2 && most == c.size - 1 && least == 0.5, "%ld", (long)n);
    CHECK(before == c.rank * (c.rank + 1) / 2, "%ld before rank %d", (long)before, c.rank);
    sum_init(&s);
    sum_add(&s, c.rank ? 1e-30 : 1e30);
    sum_add(&s, c.rank ? 0 : -1e30);
    comm_sum(&c, &s);
    CHECK(fabs(sum_get(&s) / 1e-30 - (c.size - 1)) < 1e-15, "%g", sum_get(&s));
    sum_init(&s);
    sum_add(&s, c.rank == c.size - 1 ? NAN : 1);
    comm_sum(&c, &s);
    CHECK(isnan(sum_get(&s)), "%g: of a number that is none", sum_get(&s));
    struct sum many[3];
    for (int i = 0; i < 3; i++) sum_init(&many[i]);
    sum_add(&many[0], c.rank + 1);
    sum_add(&many[1], c.rank ? 1 : INFINITY);
    sum_add(&many[2], c.rank ? 0 : 0.5);
    comm_sums(&c, many, 3);
    CHECK(sum_get(&many[0]) == (double)n, "%g of the first sum", sum_get(&many[0]));
    CHECK(isnan(sum_get(&many[1])), "%g of the second, which is not finite", sum_get(&many[1]));
    CHECK(sum_get(&many[2]) == 0.5, "%g of the third", sum_get(&many[2]));
}

/* Rank a sends (a + 2 b) % 4 items to rank b. */
static void test_exchange(void)
{
    enum { MOST = 4 };
    int64_t *count = calloc((size_t)c.size, sizeof *count),
            *from = calloc((size_t)c.size, sizeof *from), n = 0, got;
    int64_t(*item)[3] = calloc((size_t)c.size * MOST, sizeof *item);
    if (!count || !from || !item) abort();
    for (int b = 0; b < c.size; b++) {
        count[b] = (c.rank + 2 * b) % MOST;
        for (int k = 0; k < count[b]; k++, n++) item[n][0] = c.rank, item[n][1] = b, item[n][2] = k;
    }
    int64_t(*in)[3] = comm_exchange(&c, item, count, sizeof *item, &got, from);
    n = 0;
    for (int a = 0; a < c.size; a++) {
        CHECK(from[a] == (a + 2 * c.rank) % MOST, "%ld from rank %d", (long)from[a], a);
        for (int k = 0; k < from[a] && n < got; k++, n++)
            CHECK(in[n][0] == a && in[n][1] == c.rank && in[n][2] == k, "item %d of rank %d", k, a);
    }
    CHECK(n == got, "%ld items of %ld", (long)n, (long)got);
    FREE(in);
    int64_t bytes[64];
    for (int r = 0; r < c.size; r++) bytes[r] = 1 + 3 * (r % 3);
    char mine[8], all[64 * 8];
    memset(mine, 'a' + c.rank, sizeof mine);
    comm_allgather(&c, mine, all, bytes);
    for (int r = 0, at = 0; r < c.size; at += (int)bytes[r], r++)
        CHECK(all[at] == 'a' + r && all[at + bytes[r] - 1] == 'a' + r, "gathered of rank %d", r);
    free(count);
    free(from);
    free(item);
}

int main(int argc, char **argv)
{
    comm_init(&argc, &argv, &c);
    test_agree();
    test_sums();
    test_exchange();
    int64_t n[2] = {passed, failed};
    comm_add_i64(&c, n, 2);
    if (c.rank == 0) printf("%ld passed, %ld failed\n", (long)n[0], (long)n[1]);
    comm_fini();
    return n[1] != 0;
}
