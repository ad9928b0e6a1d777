/* A cluster for calibration: a library that is preloaded (tests/scale/predict.py, real), so that
 * each rank has a core of its own and a network of a given latency, however few cores there are.
 *
 * The clock of a rank counts its processor time outside of MPI and its waits. A message of
 * MPI_Isend arrives SLOW_LATENCY seconds after it was sent; MPI_Waitall advances the clock to the
 * arrivals. A reduction over all ranks sets all clocks to the last, plus a latency for each level
 * of a binary tree. Other calls are free. When MPI ends, SLOW_TABLE gets the clock's time of each
 * interval between marks (MPI_Pcontrol), the maximum over ranks. For one thread a rank. */
#pragma once
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { SENT = 65536, POSTED = 4096, MARKS = 65536, STAMPS = 1 << 14 };

static struct {
    double latency, ahead; /* ahead: clock minus processor time */
    MPI_Comm comm;
    int size, sent, posted, marks;
    double stamp[SENT], mark[MARKS];
    struct {
        MPI_Request request;
        int from, tag;
    } post[POSTED];
} slow;

static double processor(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int leave(double before, int result)
{
    slow.ahead += before - processor();
    return result;
}

int MPI_Init_thread(int *argc, char ***argv, int want, int *have)
{
    int result = PMPI_Init_thread(argc, argv, want, have);
    const char *latency = getenv("SLOW_LATENCY");
    slow.latency = latency ? strtod(latency, NULL) : 0;
    PMPI_Comm_dup(MPI_COMM_WORLD, &slow.comm);
    PMPI_Comm_size(MPI_COMM_WORLD, &slow.size);
    slow.ahead = -processor();
    return result;
}

int MPI_Isend(const void *b, int n, MPI_Datatype d, int to, int tag, MPI_Comm c, MPI_Request *r)
{
    double before = processor(), *stamp = &slow.stamp[slow.sent++ % SENT];
    MPI_Request late;
    *stamp = before + slow.ahead;
    PMPI_Isend(stamp, 1, MPI_DOUBLE, to, tag % STAMPS, slow.comm, &late);
    PMPI_Request_free(&late);
    return leave(before, PMPI_Isend(b, n, d, to, tag, c, r));
}

int MPI_Irecv(void *b, int n, MPI_Datatype d, int from, int tag, MPI_Comm c, MPI_Request *r)
{
    double before = processor();
    int result = PMPI_Irecv(b, n, d, from, tag, c, r);
    if (slow.posted == POSTED) PMPI_Abort(MPI_COMM_WORLD, 1);
    slow.post[slow.posted].request = *r;
    slow.post[slow.posted].tag = tag % STAMPS;
    slow.post[slow.posted++].from = from;
    return leave(before, result);
}

/* Removes the receives that are among r from the list; returns the last arrival of these. */
static double arrivals(int n, const MPI_Request r[], double last)
{
    int left = 0, all = slow.posted;
    for (int i = 0; i < all; i++) {
        int mine = 0;
        for (int k = 0; k < n && !mine; k++) mine = r[k] == slow.post[i].request;
        if (!mine) {
            slow.post[left++] = slow.post[i];
            continue;
        }
        double sent;
        PMPI_Recv(&sent, 1, MPI_DOUBLE, slow.post[i].from, slow.post[i].tag, slow.comm,
                  MPI_STATUS_IGNORE);
        if (sent + slow.latency > last) last = sent + slow.latency;
    }
    slow.posted = left;
    return last;
}

int MPI_Waitall(int n, MPI_Request r[], MPI_Status s[])
{
    double before = processor(), now = before + slow.ahead, last = arrivals(n, r, now);
    int result = PMPI_Waitall(n, r, s);
    slow.ahead += last - now;
    return leave(before, result);
}

int MPI_Allreduce(const void *a, void *b, int n, MPI_Datatype d, MPI_Op o, MPI_Comm c)
{
    double before = processor(), now = before + slow.ahead, last = now;
    int result = PMPI_Allreduce(a, b, n, d, o, c), size, levels = 0;
    PMPI_Comm_size(c, &size);
    if (size == slow.size && size > 1) {
        PMPI_Allreduce(&now, &last, 1, MPI_DOUBLE, MPI_MAX, slow.comm);
        while (1 << levels < size) levels++;
        last += levels * slow.latency;
    }
    slow.ahead += last - now;
    return leave(before, result);
}

int MPI_Pcontrol(const int level, ...)
{
    if (level == 1 && slow.marks < MARKS) slow.mark[slow.marks++] = processor() + slow.ahead;
    return MPI_SUCCESS;
}

int MPI_Finalize(void)
{
    const char *path = getenv("SLOW_TABLE");
    int rank;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = slow.marks - 1; i > 0; i--) slow.mark[i] -= slow.mark[i - 1];
    PMPI_Allreduce(MPI_IN_PLACE, slow.mark, slow.marks, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    FILE *f = rank == 0 && path ? fopen(path, "w") : NULL;
    for (int i = 1; f && i < slow.marks; i++) fprintf(f, "%.9f\n", slow.mark[i]);
    if (f && fclose(f)) PMPI_Abort(MPI_COMM_WORLD, 1);
    return PMPI_Finalize();
}
