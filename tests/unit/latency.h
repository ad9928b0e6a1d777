/* A slow network, made through the profiling interface of MPI, and a clock for it.
 *
 * Messages of MPI_Isend arrive `latency.seconds` after they were sent, at the earliest, by a clock
 * that counts the processor time of this process outside of MPI: a wait in MPI_Waitall advances the
 * clock to the arrival of the message. Measurements thus depend neither on the network of the
 * machine nor on other users, and no process really sleeps.
 *
 * For tests with one thread per rank that include this file: only point-to-point messages with
 * MPI_Isend, MPI_Irecv and MPI_Waitall are delayed. */
#pragma once
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { LATENCY_SENT = 1024, LATENCY_POSTED = 256 };

static struct latency {
    double seconds;
    double ahead; /* clock minus processor time: waiting time minus time inside MPI */
    MPI_Comm comm;
    int sent, posted;
    double stamp[LATENCY_SENT]; /* send times of messages, sent as messages themselves */
    struct {
        MPI_Request request;
        int from;
    } post[LATENCY_POSTED]; /* pending receives, in order */
} latency;

static inline double latency_processor(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static inline double latency_now(void)
{
    return latency_processor() + latency.ahead;
}

/* Sets all clocks to zero. (collective) */
static inline void latency_reset(void)
{
    if (latency.comm == 0) PMPI_Comm_dup(MPI_COMM_WORLD, &latency.comm);
    PMPI_Barrier(MPI_COMM_WORLD);
    latency.ahead = -latency_processor();
}

/* Stops the clock during a call of MPI. */
static inline int latency_free(double before, int result)
{
    latency.ahead += before - latency_processor();
    return result;
}

int MPI_Isend(const void *buf, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request *request)
{
    double before = latency_processor(), *stamp = &latency.stamp[latency.sent++ % LATENCY_SENT];
    MPI_Request late;
    *stamp = before + latency.ahead;
    PMPI_Isend(stamp, 1, MPI_DOUBLE, to, 0, latency.comm, &late);
    PMPI_Request_free(&late);
    return latency_free(before, PMPI_Isend(buf, n, type, to, tag, comm, request));
}

int MPI_Irecv(void *buf, int n, MPI_Datatype type, int from, int tag, MPI_Comm comm,
              MPI_Request *request)
{
    double before = latency_processor();
    int result = PMPI_Irecv(buf, n, type, from, tag, comm, request);
    if (latency.posted == LATENCY_POSTED) {
        printf("latency.h: too many receives at a time\n");
        exit(2);
    }
    latency.post[latency.posted].request = *request;
    latency.post[latency.posted++].from = from;
    return latency_free(before, result);
}

int MPI_Waitall(int n, MPI_Request request[], MPI_Status status[])
{
    double before = latency_processor(), now = before + latency.ahead, arrival = now;
    int left = 0, from[LATENCY_POSTED], nfrom = 0;
    for (int i = 0; i < latency.posted; i++) {
        bool mine = false;
        for (int k = 0; k < n; k++) mine |= request[k] == latency.post[i].request;
        if (mine)
            from[nfrom++] = latency.post[i].from;
        else
            latency.post[left++] = latency.post[i];
    }
    latency.posted = left;
    int result = PMPI_Waitall(n, request, status);
    for (int i = 0; i < nfrom; i++) {
        double sent;
        PMPI_Recv(&sent, 1, MPI_DOUBLE, from[i], 0, latency.comm, MPI_STATUS_IGNORE);
        if (sent + latency.seconds > arrival) arrival = sent + latency.seconds;
    }
    latency.ahead += arrival - now;
    return latency_free(before, result);
}
