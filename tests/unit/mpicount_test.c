/* Laws of mpicount.h: it counts exactly the MPI calls of lib/comm. Catches: a call that is not
 * wrapped, a round counted per message, partners counted per message. */
#include "mpicount.h"

#include "base/mem.h"
#include "check.h"
#include "comm/comm.h"

static struct comm c;

/* Every rank sends 2 messages of 24 bytes to each of its neighbours on a ring. */
static void test_round(void)
{
    int peer[2] = {(c.rank + 1) % c.size, (c.rank + c.size - 1) % c.size};
    int npeer = c.size == 1 ? 0 : c.size == 2 ? 1 : 2;
    char out[2][24] = {{0}}, in[2][24];
    void *sbuf[2] = {out[0], out[1]}, *rbuf[2] = {in[0], in[1]};
    size_t bytes[2] = {24, 24};
    mpicount_reset();
    for (int i = 0; i < 2; i++) comm_wait(comm_post(&c, npeer, peer, sbuf, bytes, rbuf, bytes));
    CHECK(mpicount.n[MPICOUNT_SENDS] == 2 * npeer, "%ld", (long)mpicount.n[MPICOUNT_SENDS]);
    CHECK(mpicount.n[MPICOUNT_BYTES] == 48 * npeer, "%ld", (long)mpicount.n[MPICOUNT_BYTES]);
    CHECK(mpicount.n[MPICOUNT_PARTNERS] == npeer, "%ld", (long)mpicount.n[MPICOUNT_PARTNERS]);
    CHECK(mpicount.n[MPICOUNT_ROUNDS] == (npeer ? 2 : 0), "%ld", (long)mpicount.n[MPICOUNT_ROUNDS]);
}

static void test_collectives(void)
{
    double x = 1;
    int64_t n = 1, max = c.size > 1;
    mpicount_reset();
    comm_add_f64(&c, &x, 1);
    comm_max_i64(&c, &n, 1);
    comm_barrier(&c);
    comm_scan_i64(&c, 1);
    comm_bcast(&c, &x, sizeof x, 0);
    CHECK(mpicount.n[MPICOUNT_ALLREDUCE] == 2 * max, "%ld", (long)mpicount.n[MPICOUNT_ALLREDUCE]);
    CHECK(mpicount.n[MPICOUNT_BARRIER] == max, "%ld", (long)mpicount.n[MPICOUNT_BARRIER]);
    CHECK(mpicount.n[MPICOUNT_SCAN] == max, "%ld", (long)mpicount.n[MPICOUNT_SCAN]);
    CHECK(mpicount.n[MPICOUNT_BCAST] == max, "%ld", (long)mpicount.n[MPICOUNT_BCAST]);
    CHECK(mpicount.n[MPICOUNT_REDUCED] == 16 * max, "%ld", (long)mpicount.n[MPICOUNT_REDUCED]);
    for (int k = 0; k < MPICOUNT_KINDS; k++) {
        bool called = k == MPICOUNT_ALLREDUCE || k == MPICOUNT_REDUCED || k == MPICOUNT_BARRIER ||
                      k == MPICOUNT_SCAN || k == MPICOUNT_BCAST;
        CHECK(called || !mpicount.n[k], "kind %d: %ld", k, (long)mpicount.n[k]);
    }
}

/* A mark ends an interval: its counts are stored, and counters restart. */
static void test_mark(void)
{
    double x = 1;
    int rows = mpicount.nrow;
    if (c.size == 1) return;
    mpicount_reset();
    comm_add_f64(&c, &x, 1);
    comm_mark(&c);
    CHECK(mpicount.nrow == rows + 1 && mpicount.row[rows].n[MPICOUNT_ALLREDUCE] == 1, "%d rows",
          mpicount.nrow);
    CHECK(mpicount.n[MPICOUNT_ALLREDUCE] == 0, "%ld", (long)mpicount.n[MPICOUNT_ALLREDUCE]);
}

int main(int argc, char **argv)
{
    comm_init(&argc, &argv, &c);
    test_round();
    test_collectives();
    test_mark();
    printf("rank %d: %d passed, %d failed\n", c.rank, passed, failed);
    comm_fini();
    return failed > 0;
}
