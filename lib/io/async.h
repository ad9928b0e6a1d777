/* io/async: jobs on a second thread, one at a time, in order, to overlap output with computation.
 * If the system cannot create a thread, a job runs at once. */
#pragma once
#include <pthread.h>
#include <stdbool.h>

#include "base/err.h"

typedef enum err async_job(void *ctx);

/* A job thread; initialised with zeros. */
struct async {
    bool exists; /* whether the thread exists */
    bool none;   /* whether the thread could not be created */
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t turn;
    async_job *job; /* the running job; NULL: idle */
    void *ctx;
    bool over;
    struct err_first trouble;
};

/* Starts a job after the previous one has ended; if that failed, returns its error and does not
 * start the job. ctx is lent until the job has ended. */
MUST_USE enum err async_begin(struct async *a, async_job *job, void *ctx);
/* Whether the job has ended; does not wait. */
bool async_is_done(struct async *a);
/* Waits for the job. Returns its error, with its message. */
MUST_USE enum err async_wait(struct async *a);
void async_fini(struct async *a); /* Waits for the job and ends the thread; a is zeroed. */
