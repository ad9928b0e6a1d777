#include "dev/pool.h"

#include "base/mem.h"

/* Size class of a size, and in *max the maximum size in the class. */
static int class_of(size_t bytes, size_t *max)
{
    int c = 0;
    size_t two = POOL_MIN;
    for (; 2 * two < bytes; two *= 2) c += 8;
    *max = two;
    for (; *max < bytes; *max += two / 8) c++;
    return c;
}

size_t pool_size(size_t bytes)
{
    size_t max = bytes;
    if (bytes <= POOL_MAX) class_of(bytes, &max);
    return max;
}

void *pool_take(struct dev_pool *p, size_t bytes)
{
    size_t max;
    if (bytes > POOL_MAX) return NULL;
    struct dev_pool_class *c = &p->of[class_of(bytes, &max)];
    if (c->n == 0) return NULL;
    p->bytes -= max;
    return c->p[--c->n];
}

bool pool_give(struct dev_pool *p, void *block, size_t bytes)
{
    size_t max;
    if (bytes > POOL_MAX) return false;
    struct dev_pool_class *c = &p->of[class_of(bytes, &max)];
    if (p->bytes + max > POOL_ALL) return false;
    MEM_ROOM(c->p, c->n, c->cap, 16, "device");
    p->bytes += max;
    c->p[c->n++] = block;
    return true;
}

void *pool_any(struct dev_pool *p)
{
    for (int c = 0; c < POOL_CLASSES; c++)
        if (p->of[c].n > 0) return p->of[c].p[--p->of[c].n];
    p->bytes = 0;
    return NULL;
}

void pool_free(struct dev_pool *p)
{
    for (int c = 0; c < POOL_CLASSES; c++) FREE(p->of[c].p);
}
