/* A slow network, made through the profiling interface of MPI, and a clock for it.
 *
 * Messages of MPI_Isend arrive `latency.seconds` after they were sent, at the earliest, by a clock
 * that counts the processor time of this process outside of MPI: who waits for a message in
 * MPI_Waitall finds the clock set to its arrival. So what is measured neither depends on the
 * machine's network nor on who else uses the machine, and nobody really sleeps.
 *
 * Include it in a test of one thread per rank; what is sent point to point with MPI_Isend,
 * MPI_Irecv and MPI_Waitall is delayed, nothing else. */
#pragma once
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { LATENCY_SENT = 1024, LATENCY_POSTED = 256 };

static struct latency {
    double seconds;
    double ahead; /* of the processor time: waiting minus what MPI itself took */
    MPI_Comm comm;
    int sent, posted;
    double stamp[LATENCY_SENT]; /* when messages were sent, on their way themselves */
    struct {
        MPI_Request request;
        int from;
    } post[LATENCY_POSTED]; /* receives that were not waited for, in order */
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

/* All clocks to zero. (collective) */
static inline void latency_reset(void)
{
    if (latency.comm == 0) PMPI_Comm_dup(MPI_COMM_WORLD, &latency.comm);
    PMPI_Barrier(MPI_COMM_WORLD);
    latency.ahead = -latency_processor();
}

/* A call of MPI takes no time by the clock. */
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
