/* Messages of the walk along the tree of ranks, counted through MPI's profiling interface: the
 * number of messages follows from the tree, for any data; no collective. Catches: messages that are
 * left out, sent twice or sent to each destination, a hidden collective.
 *
 * test: tier=check timeout=120 mpi=1,2,3,4,5,6,7,8,11,12 */
#include "mpicount.h"

#include "base/mem.h"
#include "check.h"
#include "comm/comm.h"
#include "comm/tree.h"
#include "comm/tuner.h"

static struct comm c;

/* Σ (k − 1) over the levels of the tree (Kim 2026, equation 7). */
static int64_t expected(void)
{
    static const int table[] = {[1] = 0, 1, 2, 2, 4, 3, 6, 3, [12] = 4};
    struct tree t;
    tree_init(&t, c.size);
    int64_t n = tree_messages(&t, c.rank);
    if (c.size <= 8 || c.size == 12) CHECK(n == table[c.size], "%ld of %d ranks", (long)n, c.size);
    return n;
}

static void check_counts(const char *what, int64_t want)
{
    const int64_t *n = mpicount.n;
    CHECK(n[MPICOUNT_SENDS] == want, "%s: %ld messages, %ld expected", what,
          (long)n[MPICOUNT_SENDS], (long)want);
    for (int k = MPICOUNT_ALLREDUCE; k < MPICOUNT_KINDS; k++)
        CHECK(n[k] == 0, "%s: %ld collectives of kind %d", what, (long)n[k], k);
    mpicount_reset();
}

/* Every rank sends `some` numbers to each of the next `reach` ranks. */
static void test_sparse(int reach, int64_t some, int64_t want)
{
    int n = reach < c.size ? reach : c.size, *rank = mem_new(sizeof *rank * (size_t)c.size, "test");
    int64_t *send = mem_zero(sizeof *send * (size_t)(n * some) + 1, "test"), got;
    struct comm_counts to;
    int *dest = mem_new(sizeof *dest * (size_t)(n * some) + 1, "test");
    for (int64_t i = 0; i < n * some; i++) dest[i] = (c.rank + (int)(i / some)) % c.size;
    to = comm_counts_of(n * some, dest, NULL);
    mpicount_reset();
    int64_t *in = comm_exchange(&c, send, &to, sizeof *send, &got, NULL);
    check_counts("sparse", want);
    CHECK(got == n * some, "%ld", (long)got);
    mem_free(in);
    comm_counts_free(&to);
    mem_free(dest);
    mem_free(send);
    mem_free(rank);
}

static void test_fixed(size_t bytes, int64_t want)
{
    size_t n = (size_t)c.size;
    int *peer = mem_new(sizeof *peer * n, "test"), npeer = 0;
    char *block = mem_zero(2 * n * bytes + 1, "test");
    void **buf = mem_new(2 * sizeof *buf * n, "test");
    size_t *len = mem_new(2 * sizeof *len * n, "test");
    for (int r = 0; r < c.size; r++) {
        if (r == c.rank) continue;
        peer[npeer] = r;
        buf[npeer] = block + bytes * (size_t)npeer;
        buf[n + (size_t)npeer] = block + bytes * (n + (size_t)npeer);
        len[npeer] = len[n + (size_t)npeer] = bytes;
        npeer++;
    }
    mpicount_reset();
    comm_swap_end(comm_swap_begin(&c, COMM_BULK_DP, npeer, peer, buf, len, buf + n, len + n));
    check_counts("fixed peers", want);
    mem_free(len);
    mem_free(buf);
    mem_free(block);
    mem_free(peer);
}

int main(int argc, char **argv)
{
    comm_init(&argc, &argv, &c);
    c.tuner = tuner_new("ksection");
    int64_t want = expected();
    for (int reach = 0; reach <= c.size; reach++) test_sparse(reach, 3, want);
    test_sparse(2, 10000, want);
    test_fixed(0, want);
    test_fixed(80, want);
    test_fixed(100000, want);
    tuner_free(&c.tuner);
    int64_t n[2] = {passed, failed};
    comm_add_i64(&c, n, 2);
    if (c.rank == 0) printf("%ld passed, %ld failed\n", (long)n[0], (long)n[1]);
    comm_fini();
    return n[1] != 0;
}
