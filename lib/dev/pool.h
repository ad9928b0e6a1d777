/* dev/pool: cache of small freed blocks of device memory: a step allocates and frees hundreds of
 * short arrays, and the runtime library takes microseconds for each. Size classes have eight steps
 * from a power of two to the next. Large blocks, and blocks that would exceed POOL_ALL bytes in
 * total, are not cached. Private to dev. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

enum { POOL_CLASSES = 8 * 17, POOL_MIN = 256, POOL_MAX = 1 << 24, POOL_ALL = 1 << 28 };

struct dev_pool {
    size_t bytes; /* bytes in the cache */
    struct dev_pool_class {
        void **p;
        int n, cap;
    } of[POOL_CLASSES];
};

/* Size to request from the library so that the block can be cached. */
size_t pool_size(size_t bytes);
void *pool_take(struct dev_pool *p, size_t bytes); /* NULL: no block of this class */
/* Caches a block; false if it is not accepted. No pending work may use the block. */
bool pool_give(struct dev_pool *p, void *block, size_t bytes);
void *pool_any(struct dev_pool *p); /* removes a block for the caller to free; NULL: none */
void pool_free(struct dev_pool *p); /* the pool must be empty */
