/* fd: the equations' numbers, and substeps in blocks of rows.
 *
 * A substep reads each field of a cell from memory about once: a thread takes a block of rows and
 * moves along z, and the planes that the differences of the block reach stay in its cache. */
#include "fd/fd.h"

#include <math.h>
#include <omp.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "fd/rows.h"

const char *const fd_name[FD_FIELDS] = {
#define FIELD(symbol, name, needs) name,
#include "fd/fields.def"
};

const double fd_time[FD_SUBSTEPS] = {0, 1 / 3.0, 0.75};
static const double alpha[FD_SUBSTEPS] = {0, -5 / 9.0, -153 / 128.0};
static const double beta[FD_SUBSTEPS] = {1 / 3.0, 15 / 16.0, 8 / 15.0};

/* Parts that the parameters ask for; frozen ones do not count as parts. */
static int parts_of(const struct fd_par *p)
{
    return (p->flow ? FD_PART_FLOW : 0) | (p->flow && p->entropy ? FD_PART_ENTROPY : 0) |
           (p->magnetic ? FD_PART_MAGNETIC : 0);
}

bool fd_has(const struct fd_par *p, enum fd_field f)
{
    return fd_needs(f) == FD_PART_FLOW || (fd_needs(f) == FD_PART_ENTROPY && p->entropy) ||
           (fd_needs(f) == FD_PART_MAGNETIC && p->magnetic);
}

bool fd_advances(const struct fd_par *p, enum fd_field f)
{
    return parts_of(p) & fd_needs(f);
}

struct fd_stage fd_stage(int i, double dt)
{
    return (struct fd_stage){alpha[i], beta[i], dt, i == 0, i == FD_SUBSTEPS - 1};
}

/* Numbers from an array to the next: a multiple of a page, and three lines of a cache. */
static size_t array_step(const struct brick *b)
{
    enum { PAGE = 4096 / sizeof(double), LINES = 3 * 64 / sizeof(double) };
    return (b->size + PAGE - 1) / PAGE * PAGE + LINES;
}

int fd_array_count(const struct fd_par *p)
{
    int n = 0;
    for (int f = 0; f < FD_FIELDS; f++) n += fd_advances(p, f) ? 3 : fd_has(p, f) ? 1 : 0;
    return n;
}

void fd_arrays_new(const struct fd_par *p, const struct brick *b, struct fd_arrays *a)
{
    const size_t step = array_step(b);
    const size_t n = (size_t)fd_array_count(p);
    *a = (struct fd_arrays){.block = NULL};
    double *at = a->block = mem_zero_wide(sizeof *at * step * n + 1, "fields");
    for (int f = 0; f < FD_FIELDS; f++)
        if (fd_has(p, f)) a->now[f] = at, at += step;
    for (int f = 0; f < FD_FIELDS; f++)
        if (fd_advances(p, f)) a->next[f] = at, at += step;
    for (int f = 0; f < FD_FIELDS; f++)
        if (fd_advances(p, f)) a->change[f] = at, at += step;
}

void fd_arrays_free(struct fd_arrays *a)
{
    FREE(a->block);
    *a = (struct fd_arrays){.block = NULL};
}

static void set_weights(struct fd_law *l, const double dx[3])
{
    static const struct {
        int order, k;
        double first, second, upwind, one;
    } rows[] = {
#define DIFFERENCE(order, k, first, second, upwind, one) {order, k, first, second, upwind, one},
#include "fd/differences.def"
    };
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
        for (int d = 0; d < 3 && rows[r].order == l->order; d++) {
            const int k = rows[r].k;
            const double h = dx[d], pair = 4 * dx[(d + 1) % 3] * dx[(d + 2) % 3];
            l->first[d][k] = rows[r].first / (rows[r].one * h);
            l->second[d][k] = rows[r].second / (rows[r].one * (h * h));
            l->mixed[d][k] = rows[r].second / (rows[r].one * pair);
            l->upwind[d][k] = rows[r].upwind / (rows[r].one * h);
        }
}

struct fd_law fd_law(const struct fd_par *p)
{
    const double gm1 = p->gamma - 1;
    struct fd_law l = {.order = p->order, .parts = parts_of(p)};
    set_weights(&l, p->dx);
    l.nu = p->nu, l.zeta = p->zeta, l.eta = p->eta;
    l.nu_along = 4 * p->nu / 3 + p->zeta, l.nu_mixed = p->nu / 3 + p->zeta;
    l.ohm = p->eta / p->mu0, l.mu0_inv = 1 / p->mu0;
    memcpy(l.bext, p->bext, sizeof l.bext);
    l.chi_cp = p->chi * p->cp, l.k = p->k, l.heat = p->heat;
    l.cs02 = p->cs0 * p->cs0, l.lnrho0 = log(p->rho0), l.gm1 = gm1, l.g_cp = p->gamma / p->cp;
    l.pressure = p->entropy ? 1 / p->gamma : 1;
    l.cp_inv = 1 / p->cp, l.t_inv = gm1 * p->cp;
    l.lorentz = p->magnetic && p->lorentz, l.upwinding = p->upwind;
    l.conducts = p->chi != 0 || p->k != 0;
    return l;
}

double fd_symbol(const struct fd_par *p, int axis, double theta)
{
    const struct fd_law l = fd_law(p);
    double sum = 0;
    for (int k = 1; k <= fd_halo(p); k++) sum += l.first[axis][k] * sin(k * theta);
    return 2 * sum;
}

static fd_advance *chosen(const struct fd_law *l)
{
    fd_advance *const *table = l->order == 2   ? fd_advance_2
                               : l->order == 4 ? fd_advance_4
                               : l->order == 6 ? fd_advance_6
                                               : fd_advance_8;
    return table[l->parts];
}

enum { BLOCK_MIN = 8, BLOCK_Z = 32 };

/* The part of a core's second cache that planes of a block may take, in bytes: half of it, which
 * is what other arrays and other programs leave. */
static int64_t cache_part(void)
{
    const int64_t least = 384 << 10;
#ifdef _SC_LEVEL2_CACHE_SIZE
    const int64_t most = 1 << 20, half = sysconf(_SC_LEVEL2_CACHE_SIZE) / 2;
    return half < least ? least : half > most ? most : half;
#else
    return least;
#endif
}

/* Whether the arrays are so large that next values leave the caches before they are read: they then
 * need not be read into the caches to be written. */
static bool goes_past(const struct fd_par *p, const struct brick *b)
{
    const double bytes = (double)b->size * sizeof(double) * fd_array_count(p);
    return bytes > 16.0 * (double)cache_part();
}

/* Rows along y of a block of a box of `rows` × `planes` rows: its planes fit into the cache, blocks
 * are of equal width, and threads have some blocks each where that leaves them wide enough. */
static int block_rows(const struct fd_par *p, const struct brick *b, int rows, int planes)
{
    int fields = 0;
    for (int f = 0; f < FD_FIELDS; f++) fields += fd_has(p, f);
    const int64_t row = 8 * b->stride[1] * (p->order + 1) * fields;
    int64_t wide = cache_part() / (row > 0 ? row : 1) - p->order;
    const int layers = (planes + BLOCK_Z - 1) / BLOCK_Z, threads = omp_get_max_threads();
    const int many = threads > 1 ? 3 * threads / layers : 1;
    if (many > 0 && wide > rows / many) wide = rows / many;
    if (wide < BLOCK_MIN) wide = BLOCK_MIN;
    const int64_t blocks = (rows + wide - 1) / wide;
    return (int)((rows + blocks - 1) / blocks);
}

/* The lanes of a vector that a short row does not fill are cells behind it. */
void fd_check_room(const struct fd_par *p, const struct brick *b)
{
    const int r = fd_halo(p);
    if (b->own[0] == 0) return;
    int64_t last = b->start + (b->own[1] - 1 + r) * b->stride[1] +
                   (b->own[2] - 1 + r) * b->stride[2];
    int reach = b->own[0] < 8 ? 8 : b->own[0];
    BUG_ON(last + reach > (int64_t)b->size);
}

bool fd_wraps(const struct brick *b)
{
    for (int d = 0; d < 3; d++)
        if (b->p[d] == 1 && b->own[d] < b->halo) return false;
    return true;
}

void fd_substep(const struct fd_par *p, const struct brick *b, const int lo[3], const int hi[3],
                const struct fd_arrays *a, int i, double dt)
{
    const struct fd_law law = fd_law(p);
    struct fd_rows r = {.law = &law, .start = b->start, .halo = b->halo, .stage = fd_stage(i, dt)};
    memcpy(r.stride, b->stride, sizeof r.stride);
    memcpy(r.own, b->own, sizeof r.own);
    for (int d = 0; d < 3; d++) r.wraps[d] = fd_wraps(b) && b->p[d] == 1;
    for (int k = 0; k < FD_FIELDS; k++) {
        r.now[k] = a->now[k] ? a->now[k] : a->now[FD_UX];
        r.next[k] = a->next[k], r.change[k] = a->change[k];
    }
    fd_advance *f = chosen(&law);
    if (!f || lo[0] >= hi[0] || lo[1] >= hi[1] || lo[2] >= hi[2]) return;
    fd_check_room(p, b);
    r.past = goes_past(p, b);
    r.keeps = r.wraps[0] && r.past && b->own[0] >= 3 * FD_END / 2;
    const int wide = block_rows(p, b, hi[1] - lo[1], hi[2] - lo[2]);
    const int ny = (hi[1] - lo[1] + wide - 1) / wide;
    const int nz = (hi[2] - lo[2] + BLOCK_Z - 1) / BLOCK_Z;
#pragma omp parallel for schedule(static)
    for (int k = 0; k < ny * nz; k++) {
        const int y = lo[1] + k % ny * wide, z = lo[2] + k / ny * BLOCK_Z;
        const int from[3] = {lo[0], y, z};
        const int to[3] = {hi[0], y + wide < hi[1] ? y + wide : hi[1],
                           z + BLOCK_Z < hi[2] ? z + BLOCK_Z : hi[2]};
        f(&r, from, to);
    }
}

double fd_diffusivity(const struct fd_par *p)
{
    double d = 0;
    if (p->flow) d = fmax(d, 4 * p->nu / 3 + p->zeta);
    if (p->magnetic) d = fmax(d, p->eta);
    if (p->flow && p->entropy) d = fmax(d, p->gamma * p->chi);
    return d;
}
