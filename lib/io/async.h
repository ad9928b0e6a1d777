/* io/async: jobs on a thread beside this one, one at a time, in order: what was computed is written
 * while the next is computed. If the system has no thread left, a job is done at once. */
#pragma once
#include <pthread.h>
#include <stdbool.h>

#include "base/err.h"

typedef enum err async_job(void *ctx);

/* Zeroed at first. */
struct async {
    bool there; /* the thread */
    bool none;  /* there is none to be had */
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t turn;
    async_job *job; /* NULL: it waits */
    void *ctx;
    bool over;
    struct err_first trouble;
};

/* Waits for the job before; after an error, which it returns, this one is not done. ctx is lent
 * until the job has ended. */
MUST_USE enum err async_begin(struct async *a, async_job *job, void *ctx);
/* Has the job ended? Does not wait. */
bool async_is_done(struct async *a);
/* Waits for the job. The error of a job, with its sentence. */
MUST_USE enum err async_wait(struct async *a);
void async_fini(struct async *a); /* waits; as zeroed */
