/* dev/backend: the interface of a back end. Private to dev. */
#pragma once
#include "dev/dev.h"

enum { DEV_NAME = 100 };
enum dev_way { DEV_PUT, DEV_GET, DEV_COPY };

/* Times of a timed device, one row per kernel. */
enum { DEV_TIMES = 128 };
struct dev_clock {
    int n;
    struct dev_time of[DEV_TIMES];
};
void dev_clock_add(struct dev_clock *c, const char *kernel, int64_t blocks, double seconds);

/* Functions of a back end; devices, streams and events are opaque pointers. */
struct dev_ops {
    const char *kind;
    bool host;
    /* c: receives the times of completed launches (lent), or NULL */
    void *(*open)(const struct dev_how *how, struct dev_clock *c, char name[DEV_NAME],
                  char why[DEV_WHY]);
    void (*close)(void *dev);
    int (*processors)(const void *dev);
    /* number of blocks of a kernel of dev/stages.h that run at the same time; 0: it cannot run */
    int (*together)(void *dev, void *stream, const struct dev_kernel *k);
    void *(*alloc)(void *dev, size_t bytes, const char *name); /* NULL: out of memory */
    void (*release)(void *dev, void *p, size_t bytes);         /* bytes as in alloc */
    void *(*stream_new)(void *dev);
    void (*stream_free)(void *dev, void *stream);
    void *(*event_new)(void *dev);
    void (*event_free)(void *dev, void *event);
    void (*record)(void *dev, void *event, void *stream);
    void (*after)(void *dev, void *stream, void *event);
    bool (*wait)(void *dev, void *stream, char why[DEV_WHY]); /* false: the device failed */
    void (*move)(void *dev, void *stream, enum dev_way way, void *to, const void *from,
                 size_t bytes);
    void (*fill)(void *dev, void *stream, void *to, int byte, size_t bytes);
    /* stages: 0, or number of stages of a kernel of dev/stages.h */
    void (*launch)(void *dev, void *stream, const struct dev_kernel *k, int64_t blocks, int stages,
                   const void *args);
    void (*scan)(void *dev, void *stream, int32_t *to, const int32_t *from, int64_t n);
    void (*sort)(void *dev, void *stream, uint64_t *key, int32_t *value, int64_t n);
};

extern const struct dev_ops dev_ops_host;
#ifdef PTAH_CUDA
extern const struct dev_ops dev_ops_cuda;
#endif
