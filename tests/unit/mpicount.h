/* Counts the MPI calls of a rank through the profiling interface of MPI.
 *
 * Tests include this file, and read mpicount.n[MPICOUNT_SENDS] before and after a call, or clear
 * all counters with mpicount_reset(). For other programs it is compiled as a library and preloaded
 * (tests/ptah.py: mpicount). Then MPICOUNT=FILE gets a table when MPI ends: a line for each rank
 * and interval, tab-separated. Interval 0 lasts from the start of MPI to the first coarse step,
 * interval i is the i-th coarse step of this run. A program begins an interval with MPI_Pcontrol(1,
 * name), as comm_mark does.
 *
 * sends: point-to-point messages sent; bytes: their size; partners: number of receivers; rounds:
 * number of waits after messages were begun; then calls of collectives, blocking or not; reduced:
 * bytes contributed to allreduce; seconds: time inside MPI. */
#pragma once
#include <inttypes.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum mpicount_kind {
    MPICOUNT_SENDS,
    MPICOUNT_BYTES,
    MPICOUNT_PARTNERS,
    MPICOUNT_ROUNDS,
    MPICOUNT_ALLREDUCE,
    MPICOUNT_ALLTOALL,  /* including v and w forms */
    MPICOUNT_ALLGATHER, /* including the v form */
    MPICOUNT_NEIGHBOR,  /* all neighbour collectives */
    MPICOUNT_BARRIER,
    MPICOUNT_SCAN, /* including Exscan */
    MPICOUNT_BCAST,
    MPICOUNT_REDUCE,  /* including Reduce_scatter */
    MPICOUNT_GATHER,  /* including the v form */
    MPICOUNT_SCATTER, /* including the v form */
    MPICOUNT_COMMS,   /* communicators created */
    MPICOUNT_REDUCED, /* bytes contributed to allreduce */
    MPICOUNT_KINDS
};

#define MPICOUNT_NAMES                                                                             \
    "sends", "bytes", "partners", "rounds", "allreduce", "alltoall", "allgather", "neighbor",      \
        "barrier", "scan", "bcast", "reduce", "gather", "scatter", "comms", "reduced"

struct mpicount_row {
    int64_t n[MPICOUNT_KINDS];
    double seconds;
};

static struct mpicount {
    int64_t n[MPICOUNT_KINDS]; /* counters of this interval */
    double seconds;
    bool begun; /* messages have begun since the last wait */
    int size;
    unsigned char *peer; /* [size] 1: a message was sent to the rank */
    int nrow;
    struct mpicount_row *row;
} mpicount;

static inline void mpicount_reset(void)
{
    if (mpicount.peer) memset(mpicount.peer, 0, (size_t)mpicount.size);
    memset(mpicount.n, 0, sizeof mpicount.n);
    mpicount.seconds = 0;
    mpicount.begun = false;
}

static void mpicount_interval(void)
{
    struct mpicount *m = &mpicount;
    void *row = realloc(m->row, sizeof *m->row * (size_t)(m->nrow + 1));
    if (!row) PMPI_Abort(MPI_COMM_WORLD, 1);
    m->row = row;
    m->row[m->nrow].seconds = m->seconds;
    memcpy(m->row[m->nrow++].n, m->n, sizeof m->n);
    mpicount_reset();
}

static void mpicount_send(int count, MPI_Datatype type, int to, MPI_Comm comm)
{
    struct mpicount *m = &mpicount;
    int bytes;
    if (to == MPI_PROC_NULL) return;
    PMPI_Type_size(type, &bytes);
    m->n[MPICOUNT_SENDS]++;
    m->n[MPICOUNT_BYTES] += (int64_t)bytes * count;
    m->begun = true;
    if (!m->peer) {
        PMPI_Comm_size(MPI_COMM_WORLD, &m->size);
        m->peer = calloc((size_t)m->size, 1);
    }
    if (m->peer && !m->peer[to]) m->n[MPICOUNT_PARTNERS]++, m->peer[to] = 1;
}

static void mpicount_reduce(int count, MPI_Datatype type)
{
    int bytes;
    PMPI_Type_size(type, &bytes);
    mpicount.n[MPICOUNT_ALLREDUCE]++;
    mpicount.n[MPICOUNT_REDUCED] += (int64_t)bytes * count;
}

static void mpicount_wait(void)
{
    if (mpicount.begun) mpicount.n[MPICOUNT_ROUNDS]++;
    mpicount.begun = false;
}

/* Wrapper of an MPI call: updates counters, then makes the timed call. */
#define MPICOUNT_CALL(name, sign, args, count)                                                     \
    int MPI_##name sign                                                                            \
    {                                                                                              \
        count;                                                                                     \
        double begin = PMPI_Wtime();                                                               \
        int status = PMPI_##name args;                                                             \
        mpicount.seconds += PMPI_Wtime() - begin;                                                  \
        return status;                                                                             \
    }

#define MPICOUNT_SEND(name)                                                                        \
    MPICOUNT_CALL(name, (const void *b, int n, MPI_Datatype d, int to, int tag, MPI_Comm c),       \
                  (b, n, d, to, tag, c), mpicount_send(n, d, to, c))
#define MPICOUNT_ISEND(name)                                                                       \
    MPICOUNT_CALL(                                                                                 \
        name, (const void *b, int n, MPI_Datatype d, int to, int tag, MPI_Comm c, MPI_Request *r), \
        (b, n, d, to, tag, c, r), mpicount_send(n, d, to, c))
MPICOUNT_SEND(Send)
MPICOUNT_SEND(Ssend)
MPICOUNT_SEND(Rsend)
MPICOUNT_ISEND(Isend)
MPICOUNT_ISEND(Issend)
MPICOUNT_ISEND(Irsend)
MPICOUNT_CALL(Irecv,
              (void *b, int n, MPI_Datatype d, int from, int tag, MPI_Comm c, MPI_Request *r),
              (b, n, d, from, tag, c, r), mpicount.begun = true)
MPICOUNT_CALL(Recv, (void *b, int n, MPI_Datatype d, int from, int tag, MPI_Comm c, MPI_Status *s),
              (b, n, d, from, tag, c, s), )
MPICOUNT_CALL(Sendrecv,
              (const void *b, int n, MPI_Datatype d, int to, int tag, void *rb, int rn,
               MPI_Datatype rd, int from, int rtag, MPI_Comm c, MPI_Status *s),
              (b, n, d, to, tag, rb, rn, rd, from, rtag, c, s),
              (mpicount_send(n, d, to, c), mpicount_wait()))
MPICOUNT_CALL(Wait, (MPI_Request * r, MPI_Status *s), (r, s), mpicount_wait())
MPICOUNT_CALL(Waitall, (int n, MPI_Request r[], MPI_Status s[]), (n, r, s), mpicount_wait())
MPICOUNT_CALL(Waitany, (int n, MPI_Request r[], int *i, MPI_Status *s), (n, r, i, s),
              mpicount_wait())
MPICOUNT_CALL(Waitsome, (int n, MPI_Request r[], int *k, int i[], MPI_Status s[]), (n, r, k, i, s),
              mpicount_wait())
MPICOUNT_CALL(Test, (MPI_Request * r, int *f, MPI_Status *s), (r, f, s), mpicount_wait())
MPICOUNT_CALL(Testall, (int n, MPI_Request r[], int *f, MPI_Status s[]), (n, r, f, s),
              mpicount_wait())

int MPI_Pcontrol(const int level, ...)
{
    if (level == 1) mpicount_interval();
    return MPI_SUCCESS;
}

/* Wrappers of a collective: the nonblocking form has one more argument. */
#define MPICOUNT_BOTH(name, Iname, sign, isign, args, iargs, kind)                                 \
    MPICOUNT_CALL(name, sign, args, mpicount.n[kind]++)                                            \
    MPICOUNT_CALL(Iname, isign, iargs, mpicount.n[kind]++)
#define MPICOUNT_TO_ALL const void *a, int n, MPI_Datatype d, void *b, int m, MPI_Datatype e
#define MPICOUNT_TO_ALL_ARGS a, n, d, b, m, e
#define MPICOUNT_FROM_ALL_V                                                                        \
    const void *a, int n, MPI_Datatype d, void *b, const int m[], const int at[], MPI_Datatype e
#define MPICOUNT_ALL_TO_ALL_V                                                                      \
    const void *a, const int n[], const int from[], MPI_Datatype d, void *b, const int m[],        \
        const int at[], MPI_Datatype e

MPICOUNT_CALL(Allreduce, (const void *a, void *b, int n, MPI_Datatype d, MPI_Op o, MPI_Comm c),
              (a, b, n, d, o, c), mpicount_reduce(n, d))
MPICOUNT_CALL(Iallreduce,
              (const void *a, void *b, int n, MPI_Datatype d, MPI_Op o, MPI_Comm c, MPI_Request *r),
              (a, b, n, d, o, c, r), mpicount_reduce(n, d))
MPICOUNT_BOTH(Alltoall, Ialltoall, (MPICOUNT_TO_ALL, MPI_Comm c),
              (MPICOUNT_TO_ALL, MPI_Comm c, MPI_Request *r), (MPICOUNT_TO_ALL_ARGS, c),
              (MPICOUNT_TO_ALL_ARGS, c, r), MPICOUNT_ALLTOALL)
MPICOUNT_BOTH(Alltoallv, Ialltoallv, (MPICOUNT_ALL_TO_ALL_V, MPI_Comm c),
              (MPICOUNT_ALL_TO_ALL_V, MPI_Comm c, MPI_Request *r), (a, n, from, d, b, m, at, e, c),
              (a, n, from, d, b, m, at, e, c, r), MPICOUNT_ALLTOALL)
MPICOUNT_CALL(Alltoallw,
              (const void *a, const int n[], const int from[], const MPI_Datatype d[], void *b,
               const int m[], const int at[], const MPI_Datatype e[], MPI_Comm c),
              (a, n, from, d, b, m, at, e, c), mpicount.n[MPICOUNT_ALLTOALL]++)
MPICOUNT_BOTH(Allgather, Iallgather, (MPICOUNT_TO_ALL, MPI_Comm c),
              (MPICOUNT_TO_ALL, MPI_Comm c, MPI_Request *r), (MPICOUNT_TO_ALL_ARGS, c),
              (MPICOUNT_TO_ALL_ARGS, c, r), MPICOUNT_ALLGATHER)
MPICOUNT_BOTH(Allgatherv, Iallgatherv, (MPICOUNT_FROM_ALL_V, MPI_Comm c),
              (MPICOUNT_FROM_ALL_V, MPI_Comm c, MPI_Request *r), (a, n, d, b, m, at, e, c),
              (a, n, d, b, m, at, e, c, r), MPICOUNT_ALLGATHER)
MPICOUNT_BOTH(Neighbor_alltoall, Ineighbor_alltoall, (MPICOUNT_TO_ALL, MPI_Comm c),
              (MPICOUNT_TO_ALL, MPI_Comm c, MPI_Request *r), (MPICOUNT_TO_ALL_ARGS, c),
              (MPICOUNT_TO_ALL_ARGS, c, r), MPICOUNT_NEIGHBOR)
MPICOUNT_BOTH(Neighbor_alltoallv, Ineighbor_alltoallv, (MPICOUNT_ALL_TO_ALL_V, MPI_Comm c),
              (MPICOUNT_ALL_TO_ALL_V, MPI_Comm c, MPI_Request *r), (a, n, from, d, b, m, at, e, c),
              (a, n, from, d, b, m, at, e, c, r), MPICOUNT_NEIGHBOR)
MPICOUNT_BOTH(Neighbor_allgather, Ineighbor_allgather, (MPICOUNT_TO_ALL, MPI_Comm c),
              (MPICOUNT_TO_ALL, MPI_Comm c, MPI_Request *r), (MPICOUNT_TO_ALL_ARGS, c),
              (MPICOUNT_TO_ALL_ARGS, c, r), MPICOUNT_NEIGHBOR)
MPICOUNT_BOTH(Barrier, Ibarrier, (MPI_Comm c), (MPI_Comm c, MPI_Request *r), (c), (c, r),
              MPICOUNT_BARRIER)
MPICOUNT_CALL(Scan, (const void *a, void *b, int n, MPI_Datatype d, MPI_Op o, MPI_Comm c),
              (a, b, n, d, o, c), mpicount.n[MPICOUNT_SCAN]++)
MPICOUNT_CALL(Exscan, (const void *a, void *b, int n, MPI_Datatype d, MPI_Op o, MPI_Comm c),
              (a, b, n, d, o, c), mpicount.n[MPICOUNT_SCAN]++)
MPICOUNT_BOTH(Bcast, Ibcast, (void *b, int n, MPI_Datatype d, int root, MPI_Comm c),
              (void *b, int n, MPI_Datatype d, int root, MPI_Comm c, MPI_Request *r),
              (b, n, d, root, c), (b, n, d, root, c, r), MPICOUNT_BCAST)
MPICOUNT_BOTH(Reduce, Ireduce,
              (const void *a, void *b, int n, MPI_Datatype d, MPI_Op o, int root, MPI_Comm c),
              (const void *a, void *b, int n, MPI_Datatype d, MPI_Op o, int root, MPI_Comm c,
               MPI_Request *r),
              (a, b, n, d, o, root, c), (a, b, n, d, o, root, c, r), MPICOUNT_REDUCE)
MPICOUNT_CALL(Reduce_scatter,
              (const void *a, void *b, const int n[], MPI_Datatype d, MPI_Op o, MPI_Comm c),
              (a, b, n, d, o, c), mpicount.n[MPICOUNT_REDUCE]++)
MPICOUNT_CALL(Reduce_scatter_block,
              (const void *a, void *b, int n, MPI_Datatype d, MPI_Op o, MPI_Comm c),
              (a, b, n, d, o, c), mpicount.n[MPICOUNT_REDUCE]++)
MPICOUNT_CALL(Gather, (MPICOUNT_TO_ALL, int root, MPI_Comm c), (MPICOUNT_TO_ALL_ARGS, root, c),
              mpicount.n[MPICOUNT_GATHER]++)
MPICOUNT_CALL(Gatherv, (MPICOUNT_FROM_ALL_V, int root, MPI_Comm c), (a, n, d, b, m, at, e, root, c),
              mpicount.n[MPICOUNT_GATHER]++)
MPICOUNT_CALL(Scatter, (MPICOUNT_TO_ALL, int root, MPI_Comm c), (MPICOUNT_TO_ALL_ARGS, root, c),
              mpicount.n[MPICOUNT_SCATTER]++)
MPICOUNT_CALL(Comm_dup, (MPI_Comm c, MPI_Comm *out), (c, out), mpicount.n[MPICOUNT_COMMS]++)
MPICOUNT_CALL(Comm_split, (MPI_Comm c, int color, int key, MPI_Comm *out), (c, color, key, out),
              mpicount.n[MPICOUNT_COMMS]++)
MPICOUNT_CALL(Dist_graph_create_adjacent,
              (MPI_Comm c, int n, const int from[], const int nw[], int m, const int to[],
               const int mw[], MPI_Info info, int reorder, MPI_Comm *out),
              (c, n, from, nw, m, to, mw, info, reorder, out), mpicount.n[MPICOUNT_COMMS]++)

static void mpicount_print(FILE *f, int rank, int n, const struct mpicount_row *row)
{
    for (int i = 0; i < n; i++) {
        fprintf(f, "%d\t%d", rank, i);
        for (int k = 0; k < MPICOUNT_KINDS; k++) fprintf(f, "\t%" PRId64, row[i].n[k]);
        fprintf(f, "\t%.6f\n", row[i].seconds);
    }
}

/* Rank 0 writes the lines of all ranks, one rank after the other. */
static void mpicount_write(const char *path)
{
    static const char *const names[] = {MPICOUNT_NAMES};
    struct mpicount *m = &mpicount;
    int rank, size;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &size);
    mpicount_interval();
    if (rank) {
        PMPI_Send(m->row, m->nrow * (int)sizeof *m->row, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
        return;
    }
    FILE *f = fopen(path, "w");
    if (!f) PMPI_Abort(MPI_COMM_WORLD, 1);
    fprintf(f, "rank\tinterval");
    for (int k = 0; k < MPICOUNT_KINDS; k++) fprintf(f, "\t%s", names[k]);
    fprintf(f, "\tseconds\n");
    mpicount_print(f, 0, m->nrow, m->row);
    for (int r = 1; r < size; r++) {
        MPI_Status s;
        int bytes;
        PMPI_Probe(r, 1, MPI_COMM_WORLD, &s);
        PMPI_Get_count(&s, MPI_BYTE, &bytes);
        struct mpicount_row *row = malloc((size_t)bytes);
        if (!row) PMPI_Abort(MPI_COMM_WORLD, 1);
        PMPI_Recv(row, bytes, MPI_BYTE, r, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        mpicount_print(f, r, bytes / (int)sizeof *row, row);
        free(row);
    }
    if (fclose(f)) PMPI_Abort(MPI_COMM_WORLD, 1);
}

int MPI_Finalize(void)
{
    const char *path = getenv("MPICOUNT");
    if (path && *path) mpicount_write(path);
    free(mpicount.row);
    free(mpicount.peer);
    mpicount = (struct mpicount){0};
    return PMPI_Finalize();
}
