/* io/aside: see aside.h. */
#include "io/aside.h"

static void *work(void *p)
{
    struct aside *a = p;
    pthread_mutex_lock(&a->lock);
    for (;;) {
        while (!a->job && !a->over) pthread_cond_wait(&a->turn, &a->lock);
        if (!a->job) break;
        pthread_mutex_unlock(&a->lock);
        err_keep(&a->trouble, a->job(a->ctx), 0);
        pthread_mutex_lock(&a->lock);
        a->job = NULL;
        pthread_cond_broadcast(&a->turn);
    }
    pthread_mutex_unlock(&a->lock);
    return NULL;
}

static void start(struct aside *a)
{
    pthread_mutex_init(&a->lock, NULL);
    pthread_cond_init(&a->turn, NULL);
    a->there = pthread_create(&a->thread, NULL, work, a) == 0;
    a->none = !a->there;
}

bool aside_is_done(struct aside *a)
{
    if (!a->there) return true;
    pthread_mutex_lock(&a->lock);
    bool done = !a->job;
    pthread_mutex_unlock(&a->lock);
    return done;
}

enum err aside_wait(struct aside *a)
{
    if (a->there) {
        pthread_mutex_lock(&a->lock);
        while (a->job) pthread_cond_wait(&a->turn, &a->lock);
        pthread_mutex_unlock(&a->lock);
    }
    return err_kept(&a->trouble);
}

enum err aside_begin(struct aside *a, aside_job *job, void *ctx)
{
    TRY(aside_wait(a));
    if (!a->there && !a->none) start(a);
    if (a->none) {
        err_keep(&a->trouble, job(ctx), 0);
        return err_kept(&a->trouble);
    }
    pthread_mutex_lock(&a->lock);
    a->job = job, a->ctx = ctx;
    pthread_cond_broadcast(&a->turn);
    pthread_mutex_unlock(&a->lock);
    return OK;
}

void aside_fini(struct aside *a)
{
    if (a->there) {
        pthread_mutex_lock(&a->lock);
        a->over = true;
        pthread_cond_broadcast(&a->turn);
        pthread_mutex_unlock(&a->lock);
        pthread_join(a->thread, NULL);
    }
    if (a->there || a->none) {
        pthread_cond_destroy(&a->turn);
        pthread_mutex_destroy(&a->lock);
    }
    *a = (struct aside){0};
}
