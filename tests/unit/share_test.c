/* Laws of packed messages and windows (comm/pack, comm/share): identical bytes arrive by each
 * transport, with windows, without, with nodes of two ranks and with windows that are too small;
 * the number of messages does not change. Catches: a block reused before all ranks have read it, a
 * block that is never freed, a header from the wrong peer, data that do not fit into a window and
 * are not sent, common data that each rank of a node has, or that an exchange overwrites, and, by
 * the transport `nodes`, more than one message from a node to another, and ranks that wait for one
 * another for ever: messages above 256 bytes need the CPU of their sender until they have arrived.
 *
 * test: tier=quick mpi=1,2,3,5,6
 * test: tier=check mpi=8,9 */
#include "mpicount.h"

#include <sched.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/rng.h"
#include "check.h"
#include "comm/common.h"
#include "comm/pack.h"
#include "comm/share.h"
#include "comm/transport.h"
#include "comm/tree.h"
#include "comm/tuner.h"

enum { UNDER_WAY = 3, ROUNDS = 12, MAX = 700 };

static struct comm c;
static int lone_from = -1, lone_to; /* unless -1, the only rank that sends, and its destination */

/* Number of values that rank a sends to rank b in an exchange. */
static size_t amount(int number, int a, int b)
{
    if (lone_from >= 0) return a == lone_from && b == lone_to ? MAX : 0;
    uint64_t h = rng_mix((uint64_t)number * 1000003 + (uint64_t)a * 1009 + (uint64_t)b);
    return h % 5 == 0 ? 0 : h % 5 == 1 ? 1 : (h >> 8) % MAX;
}

static uint64_t value(int number, int a, int b, size_t k)
{
    return rng_mix((uint64_t)number << 48 | (uint64_t)a << 32 | (uint64_t)b << 24 | (uint64_t)k);
}

struct packed {
    struct comm_pack k;
    int number, *peer;
    size_t *bytes; /* [2 size] */
};

static void send(struct packed *p, int number)
{
    size_t n = (size_t)c.size;
    p->number = number;
    p->peer = mem_new(sizeof *p->peer * n, "test");
    p->bytes = mem_new(2 * sizeof *p->bytes * n, "test");
    int npeer = 0;
    for (int r = 0; r < c.size; r++) {
        if (r == c.rank) continue;
        p->peer[npeer] = r;
        p->bytes[npeer] = sizeof(uint64_t) * amount(number, c.rank, r);
        p->bytes[n + (size_t)npeer++] = sizeof(uint64_t) * amount(number, r, c.rank);
    }
    comm_pack_new(&p->k, &c, COMM_FINE_DP, npeer, p->peer, p->bytes, p->bytes + n);
    for (int i = 0; i < npeer; i++)
        for (size_t k = 0; k < p->bytes[i] / sizeof(uint64_t); k++)
            ((uint64_t *)p->k.out[i])[k] = value(number, c.rank, p->peer[i], k);
    comm_pack_send(&p->k);
}

static int64_t receive(struct packed *p)
{
    int64_t bad = 0;
    comm_pack_receive(&p->k);
    for (int i = 0; i < p->k.npeer; i++)
        for (size_t k = 0; k < amount(p->number, p->peer[i], c.rank); k++)
            bad += ((const uint64_t *)p->k.in[i])[k] != value(p->number, p->peer[i], c.rank, k);
    comm_pack_free(&p->k);
    mem_free(p->bytes);
    mem_free(p->peer);
    return bad;
}

/* Several exchanges in progress at a time. */
static void test_values(const char *name)
{
    for (int t = 0; t < TRANSPORTS; t++) {
        int64_t bad = 0;
        c.tuner = tuner_new(comm_transport[t].name);
        for (int i = 0; i < ROUNDS; i++) {
            struct packed p[UNDER_WAY];
            for (int k = 0; k < UNDER_WAY; k++) send(&p[k], UNDER_WAY * i + k);
            for (int k = 0; k < UNDER_WAY; k++) bad += receive(&p[k]);
        }
        CHECK(bad == 0, "%s, %s: %ld wrong", name, comm_transport[t].name, (long)bad);
        tuner_free(&c.tuner);
    }
}

/* Blocks that all ranks have read are free: the next block has the offset of the first one. The
 * tuner of c says by which transport. */
static void test_room(void)
{
    struct share_slip first, next;
    if (!c.share) return;
    const size_t usual = comm_share_keep;
    comm_share_keep = 0;
    comm_barrier(&c);
    comm_share_trim(c.share);
    size_t before = mem_now();
    CHECK(share_get(c.share, MAX, 0, &first), "room");
    for (int i = 0; i < 100; i++) {
        struct packed p;
        send(&p, i);
        if (i % 3 == 0) comm_share_trim(c.share); /* unread data must stay */
        CHECK(receive(&p) == 0, "exchange %d", i);
    }
    comm_barrier(&c);
    CHECK(share_get(c.share, MAX, 0, &next) && next.block == first.block, "%u, not %u", next.block,
          first.block);
    size_t more = mem_now() - before, max = 2 * sizeof(uint64_t) * MAX * (size_t)c.size + 8192;
    CHECK(more <= max, "the window has grown by %zu bytes", more);
    comm_share_keep = 8192;
    comm_share_trim(c.share);
    more = mem_now() - before;
    CHECK(more == 4096, "%zu bytes stay beside the first page", more);
    comm_share_keep = 0;
    comm_share_trim(c.share);
    CHECK(mem_now() <= before, "%zu bytes more are held", mem_now() - before);
    comm_share_keep = usual;
}

/* As many messages as without windows, long and short ones; by `nodes` none, on one node. */
static void test_messages(void)
{
    struct tree t;
    tree_init(&t, c.size);
    for (int by = 0; by < TRANSPORTS; by++) {
        struct packed p;
        int64_t some = 0;
        for (int r = 0; r < c.size; r++) some += r != c.rank && amount(4, c.rank, r) > 0;
        const bool each = by == TRANSPORT_p2p || (by == TRANSPORT_nodes && !c.share);
        int64_t want = each ? some : by == TRANSPORT_ksection ? tree_messages(&t, c.rank) : 0;
        c.tuner = tuner_new(comm_transport[by].name);
        mpicount_reset();
        send(&p, 4);
        CHECK(receive(&p) == 0, "values");
        CHECK(mpicount.n[MPICOUNT_SENDS] == want, "%s: %ld messages, not %ld",
              comm_transport[by].name, (long)mpicount.n[MPICOUNT_SENDS], (long)want);
        CHECK(!c.share || mpicount.n[MPICOUNT_BYTES] <= 256 * (want + some), "%ld bytes",
              (long)mpicount.n[MPICOUNT_BYTES]);
        tuner_free(&c.tuner);
    }
}

static int64_t wrong(const struct comm_common *k, size_t n, int number)
{
    int64_t bad = 0;
    for (size_t i = 0; i < n; i++) bad += ((const uint64_t *)k->at)[i] != value(number, 0, 0, i);
    return bad;
}

/* Common data are those of rank 0, also after exchanges; of ranks with windows the first of the
 * node alone has room for them, which is free at the end. */
static void test_common(const char *name, bool shared)
{
    enum { N = 20001 }; /* more than one piece */
    uint64_t *data = c.rank ? NULL : mem_new(sizeof *data * N, "test");
    for (size_t i = 0; i < N && data; i++) data[i] = value(7, 0, 0, i);
    const size_t usual = comm_share_keep;
    comm_share_keep = 0;
    comm_barrier(&c); /* blocks of earlier exchanges have been read */
    comm_share_trim(c.share);
    const size_t before = mem_now();
    struct comm_common k = comm_common_new(&c, data, sizeof *data * N);
    const size_t now = mem_now();
    const bool holds = now - before > sizeof *data * N / 2;
    CHECK((k.share != NULL) == shared, "%s: rank %d", name, c.rank);
    CHECK(holds == (!shared || c.node_rank == 0), "%s: rank %d has %zu bytes", name, c.rank,
          now - before);
    for (int i = 0; i < 20; i++) {
        struct packed p;
        send(&p, i);
        if (i % 3 == 0) comm_share_trim(c.share);
        CHECK(receive(&p) == 0 && wrong(&k, N, 7) == 0, "%s: exchange %d", name, i);
    }
    comm_common_free(&k);
    comm_barrier(&c);
    comm_share_trim(c.share);
    CHECK(mem_now() <= before, "%s: %zu bytes more are held", name, mem_now() - before);
    mem_free(data);
    comm_share_keep = usual;
}

static void test_all(const char *name)
{
    size_t min = comm_share_min;
    test_values(name);
    comm_share_min = 1;
    test_values(name);
    test_room();
    comm_share_min = min;
    test_messages();
    test_common(name, c.share != NULL);
}

static void with_windows(const char *name)
{
    size_t before = mem_now();
    c.share = comm_share_new(&c);
    CHECK((c.size > 1) == (c.share != NULL), "%s: this system has no windows", name);
    for (int r = 0; r < c.size && c.share; r++)
        CHECK(comm_share_near(c.share, r), "rank %d is of this node", r);
    test_all(name);
    comm_share_free(&c.share);
    CHECK(mem_now() == before, "%zu bytes are left", mem_now() - before);
}

/* A block that a rank has posted stays until that rank has sent it as a gate, although the other
 * ranks of its node have read all that they need and it begins the next exchange. */
static void test_posted(void)
{
    lone_from = share_gate(c.share, 0, share_nodes(c.share) - 1);
    lone_to = c.size - 1;
    const bool late = share_node_of(c.share, c.rank) == 0 && c.rank != lone_from;
    struct packed p, next;
    int64_t bad = 0;
    c.tuner = tuner_new("nodes");
    if (!late) send(&p, 0); /* the gate cannot send yet: a rank of its node has not posted */
    comm_barrier(&c);
    if (late) send(&p, 0), bad += receive(&p);
    comm_barrier(&c);
    send(&next, 1);
    if (!late) bad += receive(&p);
    bad += receive(&next);
    CHECK(bad == 0, "%ld of a block that was free too early", (long)bad);
    tuner_free(&c.tuner);
    lone_from = -1;
}

/* Nodes of ranks: at most one message leaves a node for another, whatever their ranks, and the
 * ranks of a node send about as many; values are right with several exchanges in progress. */
static void test_gates(int ranks)
{
    enum { NUMBER = 4 };
    const size_t usual = comm_nodes_whole;
    char of[8];
    if (c.size % ranks != 0 || c.size == ranks) return;
    snprintf(of, sizeof of, "%d", ranks);
    setenv("PTAH_NODE_RANKS", of, 1);
    comm_nodes(&c);
    c.share = comm_share_new(&c);
    CHECK(share_nodes(c.share) == c.size / ranks, "nodes");
    test_values("gates");
    comm_nodes_whole = 2000;
    test_values("gates, and long parcels point to point");
    comm_nodes_whole = usual;
    test_posted();
    c.tuner = tuner_new("nodes");
    test_room();
    struct packed p;
    mpicount_reset();
    send(&p, NUMBER);
    CHECK(receive(&p) == 0, "values");
    int64_t sent[2] = {mpicount.n[MPICOUNT_SENDS]}, most = sent[0], other = c.size / ranks - 1;
    comm_max_i64(&c, &most, 1);
    comm_add_i64(&c, sent, 1);
    CHECK(sent[0] > 0 && sent[0] <= other * (other + 1), "%ld messages", (long)sent[0]);
    CHECK(most <= (other + ranks) / ranks, "%ld messages of a rank", (long)most);
    tuner_free(&c.tuner);
    comm_share_free(&c.share);
    unsetenv("PTAH_NODE_RANKS");
    comm_nodes(&c);
}

/* Values of a rank for another in an exchange under load: many from a node to the next one, one to
 * the node before, and any number otherwise; in some exchanges nothing to most ranks. */
static size_t load_of(int number, int a, int b, int ranks, size_t most)
{
    const int nodes = c.size / ranks, ahead = (b / ranks - a / ranks + nodes) % nodes;
    const uint64_t h = rng_mix((uint64_t)number * 77773 + (uint64_t)a * 1013 + (uint64_t)b);
    if (number % 3 == 0) return ahead == 1 ? most : 1;
    if (number % 3 == 1) return h % 4 ? 0 : (h >> 8) % most;
    return (h >> 8) % most;
}

struct loaded {
    int number, *peer;
    size_t *bytes;
    void **buf; /* [2 size] as bytes: sent, received */
    struct comm_swap *swap;
};

static void load(struct loaded *p, int number, int ranks, size_t most)
{
    const size_t n = (size_t)c.size;
    int npeer = 0;
    p->number = number;
    p->peer = mem_new(sizeof *p->peer * n, "test");
    p->bytes = mem_zero(2 * sizeof *p->bytes * n, "test");
    p->buf = mem_zero(2 * sizeof *p->buf * n, "test");
    for (int r = 0; r < c.size; r++) {
        if (r == c.rank) continue;
        const size_t i = (size_t)npeer;
        p->peer[npeer++] = r;
        p->bytes[i] = sizeof(uint64_t) * load_of(number, c.rank, r, ranks, most);
        p->bytes[n + i] = sizeof(uint64_t) * load_of(number, r, c.rank, ranks, most);
        p->buf[i] = mem_new(p->bytes[i] + 1, "test");
        p->buf[n + i] = mem_zero(p->bytes[n + i] + 1, "test");
        for (size_t k = 0; k < p->bytes[i] / sizeof(uint64_t); k++)
            ((uint64_t *)p->buf[i])[k] = value(number, c.rank, r, k);
    }
    p->swap = comm_swap_begin(&c, COMM_FINE_DP, npeer, p->peer, p->buf, p->bytes, p->buf + n,
                              p->bytes + n);
}

static int64_t unload(struct loaded *p)
{
    const size_t n = (size_t)c.size;
    int64_t bad = 0;
    comm_swap_end(p->swap);
    for (size_t i = 0; i + 1 < n; i++)
        for (size_t k = 0; k < p->bytes[n + i] / sizeof(uint64_t); k++)
            bad += ((const uint64_t *)p->buf[n + i])[k] != value(p->number, p->peer[i], c.rank, k);
    for (size_t i = 0; i < 2 * n; i++) mem_free(p->buf[i]);
    mem_free(p->buf);
    mem_free(p->bytes);
    mem_free(p->peer);
    return bad;
}

/* Exchanges by `nodes` under load, with nodes of this many ranks: several in progress that end in
 * another order than they began, ranks that are late, calls of MPI between, pages of windows that
 * are returned. With three nodes of three ranks the gates of all pairs differ: there a gate that
 * does not send while it waits stops all. */
static void test_load(const char *name, int ranks, int rounds, size_t most)
{
    enum { PROGRESS = 5 };
    static const int order[] = {1, 0, 3, 2, 4};
    const size_t before = mem_now(), usual = comm_share_keep;
    int64_t bad = 0;
    comm_share_keep = 0;
    c.share = comm_share_new(&c);
    CHECK(share_nodes(c.share) == c.size / ranks, "nodes");
    c.tuner = tuner_new("nodes");
    for (int i = 0; i < rounds; i++) {
        struct loaded p[PROGRESS];
        for (int k = 0; k < PROGRESS; k++) {
            load(&p[k], i * PROGRESS + k, ranks, most);
            for (int n = rng_mix((uint64_t)(i * c.size + c.rank)) % 7 ? 0 : 50; n > 0; n--)
                sched_yield();
        }
        if (i % 4 == 1) comm_barrier(&c);
        for (int k = 0; k < PROGRESS; k++) {
            bad += unload(&p[i % 2 ? order[k] : k]);
            comm_share_trim(c.share);
        }
    }
    CHECK(bad == 0, "%s: %ld wrong", name, (long)bad);
    tuner_free(&c.tuner);
    comm_share_free(&c.share);
    CHECK(mem_now() == before, "%s: %zu bytes are left", name, mem_now() - before);
    comm_share_keep = usual;
}

/* A rank whose window is full, before it posts or before it posts as a gate, waits until another
 * rank of its node has read what fills it. */
static void test_full(int begun)
{
    enum { BLOCKS = 64, SMALLEST = 1024 };
    struct loaded p;
    struct share_slip full[BLOCKS + 1] = {{0, 0}}; /* that of rank 0 of the node, on rank 1 */
    c.share = comm_share_new(&c);
    c.tuner = tuner_new("nodes");
    if (begun) load(&p, 0, 1, 1500);
    if (begun) comm_barrier(&c); /* all have posted */
    int n = 0;
    for (size_t bytes = comm_share_max; bytes >= SMALLEST && c.node_rank == 0; bytes /= 2)
        while (n < BLOCKS && share_get_soon(c.share, bytes, 1, &full[n])) n++;
    const int next = share_rank(c.share, 1), from = share_rank(c.share, 0);
    CHECK(n < BLOCKS, "%d blocks", n);
    if (c.node_rank == 0) MPI_Send(full, sizeof full, MPI_BYTE, next, 1, MPI_COMM_WORLD);
    if (c.node_rank == 1)
        MPI_Recv(full, sizeof full, MPI_BYTE, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (!begun) load(&p, 0, 1, 1500);
    if (c.node_rank == 1) usleep(20000);
    for (int i = 0; c.node_rank == 1 && full[i].data; i++) share_done(c.share, from, full[i]);
    const int64_t bad = unload(&p);
    CHECK(bad == 0, "full windows: %ld wrong", (long)bad);
    tuner_free(&c.tuner);
    comm_share_free(&c.share);
}

/* Small parcels; parcels that go point to point; full windows. */
static void test_loads(int ranks)
{
    const size_t whole = comm_nodes_whole, max = comm_share_max;
    char of[8];
    if (c.size % ranks != 0 || c.size == ranks) return;
    snprintf(of, sizeof of, "%d", ranks);
    setenv("PTAH_NODE_RANKS", of, 1);
    comm_nodes(&c);
    test_load("load", ranks, 40, 1500);
    comm_nodes_whole = 3000;
    test_load("load, and long parcels", ranks, 40, 1500);
    comm_nodes_whole = whole;
    comm_share_max = (size_t)1 << 26;
    test_full(false);
    test_full(true);
    comm_share_max = max;
    unsetenv("PTAH_NODE_RANKS");
    comm_nodes(&c);
}

/* Nodes of two ranks; with an odd number of ranks the last one is alone. */
static void test_nodes(void)
{
    size_t min = comm_share_min;
    setenv("PTAH_NODE_RANKS", "2", 1);
    comm_nodes(&c);
    c.share = comm_share_new(&c);
    bool alone = c.rank == c.size - 1 && c.size % 2;
    CHECK(alone == (c.share == NULL), "rank %d", c.rank);
    CHECK(c.node_rank == c.rank % 2, "rank %d", c.rank);
    for (int r = 0; r < c.size; r++)
        CHECK(comm_share_near(c.share, r) == (!alone && r / 2 == c.rank / 2), "rank %d", r);
    comm_share_min = 1;
    test_values("nodes of two");
    test_common("nodes of two", !alone);
    comm_share_min = min;
    comm_share_free(&c.share);
    setenv("PTAH_NODE_RANKS", "1", 1);
    comm_nodes(&c);
    CHECK(comm_share_new(&c) == NULL, "nodes of one");
    unsetenv("PTAH_NODE_RANKS");
    comm_nodes(&c);
}

int main(int argc, char **argv)
{
    size_t usual = comm_share_max, piece = comm_piece_max;
    setenv("OMPI_MCA_btl_vader_eager_limit", "256", 0); /* both names of Open MPI */
    setenv("OMPI_MCA_btl_sm_eager_limit", "256", 0);
    comm_init(&argc, &argv, &c);
    test_all("messages");
    with_windows("windows");
    test_nodes();
    test_gates(2);
    test_gates(3);
    test_loads(2);
    test_loads(3);
    comm_share_max = 3 * 4096;
    c.share = comm_share_new(&c);
    test_values("too small");
    test_common("too small", false);
    comm_piece_max = 64; /* data that do not fit are sent in pieces */
    test_values("too small, short pieces");
    comm_share_free(&c.share);
    comm_share_max = usual, comm_piece_max = piece;
    int64_t n[2] = {passed, failed};
    comm_add_i64(&c, n, 2);
    if (c.rank == 0) printf("%ld passed, %ld failed\n", (long)n[0], (long)n[1]);
    comm_fini();
    return n[1] != 0;
}
