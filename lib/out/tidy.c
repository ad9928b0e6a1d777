/* out/tidy: see tidy.h. A signal handler cannot read directories, so it wakes a thread that can. */
#include "out/tidy.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>

#include "io/dir.h"
#include "io/file.h"

static struct {
    volatile sig_atomic_t signal;
    sem_t caught;
    pthread_mutex_t lock; /* protects path */
    char path[PATH_MAX];  /* directory to remove; "": none */
} tidy = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void on_signal(int number)
{
    tidy.signal = number;
    sem_post(&tidy.caught);
}

/* Removes the directory in several attempts, since other threads continue and may create files. */
static void *remove_and_end(void *ctx)
{
    enum { TRIES = 100 };
    while (sem_wait(&tidy.caught) != 0 && errno == EINTR) continue;
    pthread_mutex_lock(&tidy.lock);
    for (int i = 0; i < TRIES && *tidy.path && file_exists(tidy.path); i++) {
        enum err err = dir_remove(tidy.path);
        (void)err;
    }
    raise(tidy.signal); /* the handler has reset itself to the default action */
    return ctx;
}

void tidy_begin(void)
{
    static const int ends[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction a = {.sa_handler = on_signal, .sa_flags = (int)(SA_RESTART | SA_RESETHAND)};
    struct sigaction before;
    pthread_t thread;
    if (sem_init(&tidy.caught, 0, 0) != 0) return;
    if (pthread_create(&thread, NULL, remove_and_end, NULL) != 0) return;
    pthread_detach(thread);
    for (int i = 0; i < (int)(sizeof ends / sizeof *ends); i++)
        if (sigaction(ends[i], NULL, &before) == 0 && before.sa_handler == SIG_DFL)
            /* ignored signals stay ignored (nohup, background jobs of a shell) */
            sigaction(ends[i], &a, NULL);
}

void tidy_hold(void)
{
    pthread_mutex_lock(&tidy.lock);
}

void tidy_let(const char *path)
{
    snprintf(tidy.path, sizeof tidy.path, "%s", path);
    pthread_mutex_unlock(&tidy.lock);
}
