/* dev/pool: small blocks of device memory that were given back, for arrays to come: a step makes
 * and frees hundreds of short ones, and the run-time library takes microseconds for each. Sizes
 * have eight steps from a power of two to the next. What is large, or would be more than POOL_ALL
 * bytes, is not kept. Private to dev. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

enum { POOL_CLASSES = 8 * 17, POOL_MIN = 256, POOL_MAX = 1 << 24, POOL_ALL = 1 << 28 };

struct dev_pool {
    size_t bytes; /* kept */
    struct dev_pool_class {
        void **p;
        int n, cap;
    } of[POOL_CLASSES];
};

/* The size to ask the library for, so that the block can be kept. */
size_t pool_size(size_t bytes);
void *pool_take(struct dev_pool *p, size_t bytes); /* NULL: there is none */
/* false: it is not kept. Nothing that uses it is under way. */
bool pool_give(struct dev_pool *p, void *block, size_t bytes);
void *pool_any(struct dev_pool *p); /* one that the library gets back; NULL: there is none left */
void pool_free(struct dev_pool *p); /* the pool must be empty */
