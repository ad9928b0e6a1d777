/* pk: see pk.h. This file has the meshes and the assignment of mass to them; spectra are in
 * spectrum.c. */
#include "pk/pk_priv.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "pk/window.h"

enum { BATCH = 65536 }; /* items that a rank sends per round */

struct pk *pk_new(const struct comm *c, const struct pk_par *par, int nmesh, double total)
{
    BUG_ON(nmesh < 1 || nmesh > PK_MESHES || par->order < 1 || par->order > 4 || par->fold < 1 ||
           !(total > 0 && isfinite(total)));
    struct pk *p = mem_zero(sizeof *p, "pk");
    p->c = c;
    p->par = *par;
    p->nmesh = nmesh;
    p->rows = PK_ROWS;
    p->fft = fft_new(c, par->n);
    p->pitch = (size_t)par->n + PK_PAD;
    p->plane = (size_t)p->fft->count[1] * p->pitch + WINDOW_REACH * PK_PAD + PK_PAD;
    /* lower bound, so that the inverse is finite too */
    p->quantum = fmax(ldexp(1, (int)ceil(log2(total)) - 61), DBL_MIN);
    p->max = total;
    for (int i = 0; i < nmesh; i++) {
        sum_init(&p->m[i]);
        sum_init(&p->m2[i]);
    }
    return p;
}

void pk_free(struct pk **pp)
{
    struct pk *p = *pp;
    if (!p) return;
    fft_free(&p->fft);
    for (int i = 0; i < PK_MESHES; i++)
        for (int h = 0; h < 2; h++) FREE(p->mass[i][h]);
    FREE(p->cell);
    FREE(p->tile);
    FREE(p->item);
    FREE(*pp);
}

/* ---- assignment ---- */

static size_t mesh_bytes(const struct pk *p)
{
    return sizeof(int64_t) * (pk_row(p, 0, p->fft->count[2]) + PK_PAD);
}

static bool same_kind(const struct pk_item *a, const struct pk_item *b)
{
    return a->size == b->size ||
           ((a->size > 0) == (b->size > 0) && (a->size == PK_SAMPLE) == (b->size == PK_SAMPLE));
}

/* Allocates a mesh at its first use: absent species need no memory. */
static void need_mesh(struct pk *p, int mesh, bool sample)
{
    for (int h = 0; h < 1 + (p->par.interlace && !sample); h++)
        if (!p->mass[mesh][h]) p->mass[mesh][h] = mem_zero(mesh_bytes(p), "pk mesh");
}

/* Checks the leading items of one kind and one mesh, and returns their number. own: items of this
 * rank, whose masses are counted. */
static int look_at(struct pk *p, int64_t n, const struct pk_item *item, bool own, double *taken)
{
    double m[SUM_BATCH], m2[SUM_BATCH], zero = 0, size = 0;
    window4 zeros = {0};
    int k = 0;
    for (; k < n && k < SUM_BATCH; k++) {
        const struct pk_item *it = &item[k];
        window4 line;
        if (it->mesh != item->mesh || !same_kind(it, item)) break;
        pk_item_line(it, &line);
        zeros += 0 * line;
        m[k] = it->m;
        m2[k] = it->size == 0 ? it->m * it->m : 0; /* no shot noise of a lattice */
    }
#pragma omp simd reduction(+ : zero, size)
    for (int i = 0; i < k; i++) {
        zero += 0 * m[i];
        size += fabs(m[i]);
    }
    zero += zeros[0] + zeros[1] + zeros[2];
    BUG_ON(item->mesh < 0 || item->mesh >= p->nmesh || zero != 0); /* NaN: not finite */
    *taken += size;
    if (!own) return k;
    sum_add_many(&p->m[item->mesh], k, m);
    if (item->size == PK_SAMPLE) p->sampled |= 1u << item->mesh;
    if (item->size <= 0) sum_add_many(&p->m2[item->mesh], k, m2);
    return k;
}

/* Assigns the items that overlap this rank's block. */
static void assign_all(struct pk *p, int64_t n, const struct pk_item *item, bool own)
{
    for (int64_t i = 0, end; i < n; i = end) {
        int found;
        for (end = i; end < n && same_kind(&item[i], &item[end]); end += found) {
            found = look_at(p, n - end, &item[end], own, &p->taken);
            need_mesh(p, item[end].mesh, item[i].size == PK_SAMPLE);
        }
        if (!(p->taken <= 2 * p->max)) return; /* cells could overflow beyond 2^62 units */
        item[i].size > 0 ? pk_cubes(p, end - i, item + i) : pk_points(p, end - i, item + i);
    }
}

/* ---- items to the ranks of their rows ---- */

/* Sets hit[part] = 1 for the parts of the mesh along one axis that overlap cells first ..
 * first+n-1. */
static void meet(int first, int n, int cells, const int *part_of, unsigned char *hit)
{
    if (n > cells) n = cells;
    for (int i = 0; i < n; i++) hit[part_of[pk_wrap(first + i, cells)]] = 1;
}

/* Lists the ranks (ascending) that need the item. */
static int ranks_of(const struct pk *p, const struct pk_item *it, unsigned char *hit, int *rank)
{
    int n = p->par.n, ny = p->grid[0], nz = p->grid[1], found = 0;
    const struct pk_cells to = pk_cells_of(p);
    window4 x;
    pk_cells(&to, it, &x);
    memset(hit, 0, (size_t)(ny + nz));
    for (int d = 1; d < 3; d++) {
        double size = fmax(it->size, 0) * p->par.fold * n, reach = 0.5 * (size + p->par.order);
        int first = (int)floor(x[d] - reach - 0.5), cells = (int)ceil(2 * reach) + 3;
        meet(first, cells, n, p->part[d - 1], hit + (d == 1 ? 0 : ny));
    }
    for (int z = 0; z < nz; z++)
        for (int y = 0; y < ny; y++)
            if (hit[y] && hit[ny + z]) rank[found++] = y + ny * z;
    return found;
}

/* Finds the grid of ranks from the owners of the rows of the mesh. */
static void learn_grid(struct pk *p)
{
    int n = p->par.n;
    for (int d = 0; d < 2; d++) p->part[d] = mem_new(sizeof(int) * (size_t)n, "pk");
    p->grid[0] = fft_rank(p->fft, n - 1, 0) + 1;
    p->grid[1] = p->c->size / p->grid[0];
    for (int i = 0; i < n; i++) {
        p->part[0][i] = fft_rank(p->fft, i, 0);
        p->part[1][i] = fft_rank(p->fft, 0, i) / p->grid[0];
    }
}

static void forget_grid(struct pk *p)
{
    FREE(p->part[0]);
    FREE(p->part[1]);
}

/* Sends at most BATCH items of this rank in one round. */
static void send_batch(struct pk *p, int64_t n, const struct pk_item *item)
{
    int size = p->c->size;
    unsigned char *hit = mem_new((size_t)(p->grid[0] + p->grid[1]), "pk");
    int *rank = mem_new(sizeof *rank * (size_t)size, "pk");
    int64_t *count = mem_zero(sizeof *count * (size_t)size, "pk"),
            *next = mem_zero(sizeof *next * (size_t)size, "pk");
    int64_t total = 0, got;
    for (int64_t i = 0; i < n; i++)
        for (int k = ranks_of(p, &item[i], hit, rank); k > 0; k--) count[rank[k - 1]]++;
    for (int r = 0; r < size; total += count[r], r++) next[r] = total;
    struct pk_item *out = mem_new(sizeof *out * (size_t)total + 1, "pk");
    for (int64_t i = 0; i < n; i++)
        for (int k = ranks_of(p, &item[i], hit, rank); k > 0; k--)
            out[next[rank[k - 1]]++] = item[i];
    struct pk_item *in = comm_exchange_all(p->c, out, count, sizeof *out, &got, NULL);
    assign_all(p, got, in, false);
    FREE(in);
    FREE(out);
    FREE(next);
    FREE(count);
    FREE(rank);
    FREE(hit);
}

void pk_add(struct pk *p, int64_t n, const struct pk_item *item)
{
    double all = 0;
    if (p->c->size == 1) {
        assign_all(p, n, item, true);
        return;
    }
    for (int64_t i = 0; i < n;) i += look_at(p, n - i, &item[i], true, &all);
    int64_t rounds = (n + BATCH - 1) / BATCH;
    comm_max_i64(p->c, &rounds, 1);
    learn_grid(p);
    for (int64_t r = 0; r < rounds; r++) {
        int64_t first = r * BATCH < n ? r * BATCH : n, last = first + BATCH < n ? first + BATCH : n;
        send_batch(p, last - first, item + first);
    }
    forget_grid(p);
}
