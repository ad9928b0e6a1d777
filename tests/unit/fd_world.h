/* A periodic mesh on one rank, for tests of fd: arrays of its fields, with halos that are filled
 * here, cell by cell. */
#pragma once
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "fd/fd.h"

struct fd_world {
    struct fd_par par;
    struct brick brick;
    struct fd_arrays a;
};

static inline int64_t fd_world_at(const struct brick *b, int x, int y, int z)
{
    return b->start + x + y * b->stride[1] + z * b->stride[2];
}

static inline void fd_world_nan(const struct brick *b, double *f)
{
    for (size_t i = 0; f && i < b->size; i++) f[i] = __builtin_nan("");
}

static inline double *fd_world_array(const struct brick *b)
{
    double *f = mem_new(b->size * sizeof *f, "test");
    fd_world_nan(b, f);
    return f;
}

static inline void fd_world_init(struct fd_world *w, const struct fd_par *p, const int n[3])
{
    struct brick *b = &w->brick;
    *w = (struct fd_world){.par = *p};
    *b = (struct brick){.halo = fd_halo(p), .p = {1, 1, 1}, .start = 0};
    int64_t step = 1;
    for (int d = 0; d < 3; d++) {
        b->n[d] = b->own[d] = n[d];
        b->stride[d] = step;
        b->start += b->halo * step;
        step *= n[d] + 2 * b->halo;
    }
    b->size = (size_t)step + 8;
    fd_arrays_new(p, b, &w->a);
    for (int f = 0; f < FD_FIELDS; f++) {
        fd_world_nan(b, w->a.now[f]);
        fd_world_nan(b, w->a.next[f]);
        fd_world_nan(b, w->a.change[f]);
    }
}

static inline void fd_world_fini(struct fd_world *w)
{
    fd_arrays_free(&w->a);
}

static inline int fd_world_wrap(int x, int n)
{
    return (x % n + n) % n;
}

/* Halos of one array. */
static inline void fd_world_fill(const struct brick *b, double *f)
{
    const int h = b->halo, *n = b->own;
    for (int z = -h; z < n[2] + h; z++)
        for (int y = -h; y < n[1] + h; y++)
            for (int x = -h; x < n[0] + h; x++)
                f[fd_world_at(b, x, y, z)] = f[fd_world_at(
                    b, fd_world_wrap(x, n[0]), fd_world_wrap(y, n[1]), fd_world_wrap(z, n[2]))];
}

static inline void fd_world_fill_all(struct fd_world *w)
{
    for (int f = 0; f < FD_FIELDS; f++)
        if (w->a.now[f]) fd_world_fill(&w->brick, w->a.now[f]);
}

static inline void fd_world_swap(struct fd_world *w)
{
    fd_arrays_swap(&w->a);
}

/* One step, all cells at once. */
static inline void fd_world_step(struct fd_world *w, double dt)
{
    for (int i = 0; i < FD_SUBSTEPS; i++) {
        fd_world_fill_all(w);
        fd_substep(&w->par, &w->brick, (const int[3]){0, 0, 0}, w->brick.own, &w->a, i, dt);
        fd_world_swap(w);
    }
}

static inline double *fd_world_cell(const struct fd_world *w, enum fd_field f, int x, int y, int z)
{
    return &w->a.now[f][fd_world_at(&w->brick, x, y, z)];
}
