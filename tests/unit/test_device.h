/* Device of tests: the emulated one, or that of PTAH_TEST_DEVICE (tests/gpu/run). */
#pragma once
#include <stdlib.h>

#include "oct/mirror.h"

static inline const char *test_device(void)
{
    const char *kind = getenv("PTAH_TEST_DEVICE");
    return kind ? kind : "host";
}

/* A device with a mirror of a mesh. */
struct test_mirror {
    struct dev *dev;
    struct dev_stream *stream;
    struct mirror mirror;
};

static bool test_apart; /* devices opened from now on have no kernels of stages */

/* max: bytes of device memory, 0: no limit. m: mesh whose stale copies become NaN; NULL: stale
 * copies are kept. test_mirror_close must be called after errors too. */
static inline enum err test_mirror_open(struct test_mirror *t, struct mesh *m, uint64_t seed,
                                        size_t max)
{
    char why[DEV_WHY];
    const struct dev_how how = {
        .kind = test_device(), .seed = seed, .max = max, .apart = test_apart};
    *t = (struct test_mirror){.dev = dev_open(&how, why)};
    if (!t->dev) FAIL(ERR_LIMIT, "%s", why);
    t->stream = dev_stream_new(t->dev);
    enum err err = mirror_init(&t->mirror, t->dev, t->stream);
    t->mirror.spoils = m;
    return err;
}

/* The caller must first free, after dev_settle, everything allocated on the stream. Returns the
 * bytes that were not freed. */
static inline size_t test_mirror_close(struct test_mirror *t)
{
    dev_settle(t->dev);
    mirror_fini(&t->mirror);
    dev_stream_free(&t->stream);
    size_t left = t->dev ? dev_bytes(t->dev) : 0;
    dev_close(&t->dev);
    return left;
}
