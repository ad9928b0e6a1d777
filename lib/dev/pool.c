/* dev/pool: see pool.h. */
#include "dev/pool.h"

#include "base/mem.h"

/* The class of a size and, of all in it, the largest. */
static int class_of(size_t bytes, size_t *most)
{
    int c = 0;
    size_t two = POOL_LEAST;
    for (; 2 * two < bytes; two *= 2) c += 8;
    *most = two;
    for (; *most < bytes; *most += two / 8) c++;
    return c;
}

size_t pool_size(size_t bytes)
{
    size_t most = bytes;
    if (bytes <= POOL_MOST) class_of(bytes, &most);
    return most;
}

void *pool_take(struct dev_pool *p, size_t bytes)
{
    size_t most;
    if (bytes > POOL_MOST) return NULL;
    struct dev_pool_class *c = &p->of[class_of(bytes, &most)];
    if (c->n == 0) return NULL;
    p->bytes -= most;
    return c->p[--c->n];
}

bool pool_give(struct dev_pool *p, void *block, size_t bytes)
{
    size_t most;
    if (bytes > POOL_MOST) return false;
    struct dev_pool_class *c = &p->of[class_of(bytes, &most)];
    if (p->bytes + most > POOL_ALL) return false;
    if (c->n == c->cap) {
        c->cap = 2 * c->cap + 16;
        c->p = mem_grow(c->p, sizeof *c->p * (size_t)c->cap, "device");
    }
    p->bytes += most;
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
