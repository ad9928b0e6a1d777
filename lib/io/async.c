#include "io/async.h"

static void *work(void *p)
{
    struct async *a = p;
    pthread_mutex_lock(&a->lock);
    for (;;) {
        while (!a->job && !a->over) pthread_cond_wait(&a->turn, &a->lock);
        if (!a->job) break;
        pthread_mutex_unlock(&a->lock);
        err_save(&a->trouble, a->job(a->ctx), 0);
        pthread_mutex_lock(&a->lock);
        a->job = NULL;
        pthread_cond_broadcast(&a->turn);
    }
    pthread_mutex_unlock(&a->lock);
    return NULL;
}

static void start(struct async *a)
{
    pthread_mutex_init(&a->lock, NULL);
    pthread_cond_init(&a->turn, NULL);
    a->exists = pthread_create(&a->thread, NULL, work, a) == 0;
    a->none = !a->exists;
}

bool async_is_done(struct async *a)
{
    if (!a->exists) return true;
    pthread_mutex_lock(&a->lock);
    bool done = !a->job;
    pthread_mutex_unlock(&a->lock);
    return done;
}

enum err async_wait(struct async *a)
{
    if (a->exists) {
        pthread_mutex_lock(&a->lock);
        while (a->job) pthread_cond_wait(&a->turn, &a->lock);
        pthread_mutex_unlock(&a->lock);
    }
    return err_restore(&a->trouble);
}

enum err async_begin(struct async *a, async_job *job, void *ctx)
{
    TRY(async_wait(a));
    if (!a->exists && !a->none) start(a);
    if (a->none) {
        err_save(&a->trouble, job(ctx), 0);
        return err_restore(&a->trouble);
    }
    pthread_mutex_lock(&a->lock);
    a->job = job, a->ctx = ctx;
    pthread_cond_broadcast(&a->turn);
    pthread_mutex_unlock(&a->lock);
    return OK;
}

void async_fini(struct async *a)
{
    if (a->exists) {
        pthread_mutex_lock(&a->lock);
        a->over = true;
        pthread_cond_broadcast(&a->turn);
        pthread_mutex_unlock(&a->lock);
        pthread_join(a->thread, NULL);
    }
    if (a->exists || a->none) {
        pthread_cond_destroy(&a->turn);
        pthread_mutex_destroy(&a->lock);
    }
    *a = (struct async){0};
}
