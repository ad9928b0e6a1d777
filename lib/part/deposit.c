/* part/deposit: deposit of mass and number, cloud in cell (Hockney & Eastwood 1988, §5-2-3).
 *
 * Contributions to cells that do not exist are dropped. Contributions are integers, so their sum
 * does not depend on the order. Contributions of the particles of a block of octs (block.h) are
 * summed in its patch before they are added to the mesh; where particles are few, each adds to the
 * cells of its cloud. The patch has one line of four sums for each cell where a cloud may begin: of
 * the clouds' parts at (0,0), (1,0), (0,1) and (1,1) from there in x and y; the sum of a cell comes
 * from four lines. So a cloud adds to two whole vectors, and no cloud addresses them at another
 * offset. */
#include <math.h>
#include <omp.h>
#include <string.h>

#include "oct/deferred.h"
#include "part/block.h"
#include "part/priv.h"

enum {
    /* Lines before the first, which stay 0, as do the last line of each row and one after all. */
    LINES = BLOCK_SIDE + 1,
    PIECE = 4096 /* minimum number of particles per thread */
};

typedef double real4 __attribute__((vector_size(32)));
typedef int64_t long4 __attribute__((vector_size(32)));

/* For |x| < 2^51, llrint(x) is the difference between the bits of x + SHIFT and the bits of SHIFT.
 */
static const double SHIFT = 0x1.8p52, SHIFT_MAX = 0x1p51;

/* Input and sums of a deposit of particles on level l. */
struct deposit {
    const struct parts *p;
    const struct mesh *m;
    int l;
    struct deposit_rule rule;
    int64_t (*mass)[8], (*number)[8];
};

/* State of one thread. */
struct depositor {
    const struct deposit *g;
    /* octs that only this thread writes during the loop; deferred sums for others */
    struct deferred octs;
    /* block of the sums; block of one oct, for particles outside of `block` */
    struct block block, single;
    long4 mass[LINES + BLOCK_CELLS + 1], number[LINES + BLOCK_CELLS + 1];
};

/* Adds to four consecutive cells of an oct. */
static inline void cells_add(struct depositor *t, lidx oct, int64_t *cells, long4 sum)
{
    if (deferred_is_own(&t->octs, oct)) {
        long4 old;
        memcpy(&old, cells, sizeof old);
        sum += old;
        memcpy(cells, &sum, sizeof sum);
        return;
    }
    for (int k = 0; k < 4; k++) deferred_add(&t->octs, cells + k, sum[k]);
}

/* Contribution of a row of lines to 2² cells, the first at line[0]: line[0] in full, half of the
 * cells of the lines before and after it in x. */
static inline long4 row_part(const long4 *line)
{
    return line[0] + __builtin_shufflevector(line[-1], line[1], 1, 4, 3, 6);
}

/* Adds a column of octs along y, in one plane of the patch, to the mesh: four cells of each from
 * `cell` on. line: line of the first cell in x, in the first row; inside: mask of the cells in the
 * patch. */
static void column_flush(struct depositor *t, int64_t (*all)[8], const lidx *oct, int cell,
                         const long4 *line, long4 inside)
{
    int side = t->block.width / 2 + 1;
    long4 before = {0}, here = {0}, after;
    for (int y = 0; y < side; y++, oct += side, line += 2 * BLOCK_SIDE) {
        bool last = y + 1 == side;
        after = last ? (long4){0} : row_part(line);
        long4 sum = inside & (here + __builtin_shufflevector(before, after, 2, 3, 4, 5));
        if (*oct >= 0) cells_add(t, *oct, all[*oct] + cell, sum);
        before = after;
        if (!last) here = row_part(line + BLOCK_SIDE);
    }
}

/* Adds the sums of a block to the mesh and clears them. The first and the last oct of a row have
 * one cell in the patch. */
static void lines_flush(struct depositor *t, long4 *line, int64_t (*all)[8])
{
    static const long4 first = {0, -1, 0, -1}, both = {-1, -1, -1, -1};
    int width = t->block.width, side = width / 2 + 1;
    for (int z = 0; z < width; z++, line += BLOCK_SIDE * BLOCK_SIDE) {
        const lidx *oct = t->block.oct + side * side * ((z + 1) / 2);
        for (int x = 0; x < side; x++)
            column_flush(t, all, oct + x, ((z + 1) & 1) << 2, line + 2 * x - 1,
                         x == 0          ? first
                         : x + 1 == side ? ~first
                                         : both);
        /* while still in the cache */
        memset(line, 0, sizeof *line * (size_t)(BLOCK_SIDE * (width - 1)));
    }
}

static void block_flush(struct depositor *t)
{
    if (t->block.level < 0) return;
    lines_flush(t, t->mass + LINES, t->g->mass);
    if (t->g->number) lines_flush(t, t->number + LINES, t->g->number);
}

/* Deposits a particle that is outside of the block or of its host, or very heavy. If it left the
 * host by less than an oct, its cells lie in the 27 octs around the host. No cells exist further
 * out: a particle moves by less than one oct per step. */
static void deposit_single(struct depositor *t, int64_t i, double wm, double wn)
{
    const struct deposit *g = t->g;
    struct block *b = &t->single;
    int64_t cell[3];
    double w[3], vol[8];
    if (b->level < 0 || b->low != g->p->host[i]) block_set(b, g->m, g->l, g->p->host[i], 0);
    cloud_find(g->p, g->m, g->l, i, cell, w);
    cloud_volumes(w, vol);
    for (int c = 0; c < 8; c++) {
        int oct = 0, slot = 0, stride = 1;
        bool in = true;
        for (int d = 0; d < 3; d++, stride *= 3) {
            /* offset from the first cell of the 27 octs: 0..5 */
            int64_t x = (cell[d] + (c >> d & 1) - b->base[d] + 1) & b->wrap[d];
            in &= (uint64_t)x < 6;
            oct += stride * (int)(x >> 1 & 3);
            slot |= (int)(x & 1) << d;
        }
        lidx o = in ? b->oct[oct] : NBR_NONE;
        if (o >= 0) deferred_put(&t->octs, o, &g->mass[o][slot], llrint(wm * vol[c]));
        if (o >= 0 && g->number)
            deferred_put(&t->octs, o, &g->number[o][slot], llrint(wn * vol[c]));
    }
}

/* Deposits particle begin + k without a block. */
static void deposit_alone(struct depositor *t, const struct clouds *c, int64_t begin, int k,
                          const double weight[2])
{
    const struct deposit *g = t->g;
    struct cells cells;
    int64_t first[3];
    double w[3], vol[8];
    for (int d = 0; d < 3; d++) first[d] = (int64_t)c->cell[d][k], w[d] = c->w[d][k];
    if (!cells_find(&cells, g->m, g->l, g->p->host[begin + k], first)) {
        deposit_single(t, begin + k, weight[0], weight[1]);
        return;
    }
    cloud_volumes(w, vol);
    for (int j = 0; j < 8; j++) {
        const lidx o = cells.oct[j];
        if (o < 0) continue;
        deferred_put(&t->octs, o, &g->mass[o][cells.at[j]], llrint(weight[0] * vol[j]));
        if (g->number)
            deferred_put(&t->octs, o, &g->number[o][cells.at[j]], llrint(weight[1] * vol[j]));
    }
}

/* Weights of particles in the sums of mass and number, in quanta. */
static void weights_find(const struct deposit *g, int64_t begin, int n, double *wm, double *wn)
{
    const struct deposit_rule rule = g->rule;
    const int8_t *family = g->p->family + begin;
    const double *m = g->p->m + begin;
    int others = 0;
    for (int k = 0; k < n; k++) others += family[k] != FAM_DM;
    if (others)
        for (int k = 0; k < n; k++) deposit_weights(&rule, family[k], m[k], &wm[k], &wn[k]);
    else /* dark matter only */
        for (int k = 0; k < n; k++) deposit_weights(&rule, FAM_DM, m[k], &wm[k], &wn[k]);
}

/* Adds the two halves in z of a cloud, each four parts, times the particle's weight. */
static inline void cloud_add(long4 *line, const real4 low, const real4 high, double weight)
{
    real4 shift = {SHIFT, SHIFT, SHIFT, SHIFT};
    line[0] += (long4)(weight * low + shift) - (long4)shift;
    line[BLOCK_SIDE * BLOCK_SIDE] += (long4)(weight * high + shift) - (long4)shift;
}

/* Deposits particles from … to-1, counted from `begin`, all of one block. */
static void block_deposit(struct depositor *t, const struct clouds *c, int64_t begin, int from,
                          int to, const double *wm, const double *wn)
{
    bool number = t->g->number != NULL;
    for (int k = from; k < to; k++) {
        if (c->at[k] < 0) {
            deposit_single(t, begin + k, wm[k], wn[k]);
            continue;
        }
        double x = c->w[0][k], y = c->w[1][k], z = c->w[2][k];
        real4 part = (real4){1.0 - x, x, 1.0 - x, x} * (real4){1.0 - y, 1.0 - y, y, y};
        real4 low = part * (1.0 - z), high = part * z;
        cloud_add(t->mass + LINES + c->at[k], low, high, wm[k]);
        if (number) cloud_add(t->number + LINES + c->at[k], low, high, wn[k]);
    }
}

static void deposit_some(struct depositor *t, int64_t begin, int n, int64_t left)
{
    const struct deposit *g = t->g;
    struct block *b = &t->block;
    const lidx *host = g->p->host + begin;
    struct clouds c;
    double wm[CLOUDS], wn[CLOUDS];
    clouds_find(&c, g->p, g->m, g->l, begin, n);
    weights_find(g, begin, n, wm, wn);
    for (int from = 0, to; from < n; from = to) {
        if (b->level < 0 ||
            (!block_has(b, host[from]) && !block_stray(b, left - from, host + from))) {
            int depth = block_depth(g->m, g->l, left - from, host + from, g->p->block_depth);
            if (depth == 0) {
                deposit_alone(t, &c, begin, from, (double[2]){wm[from], wn[from]});
                to = from + 1;
                continue;
            }
            block_flush(t);
            block_set(b, g->m, g->l, host[from], depth);
        }
        to = block_end(b, left, host, from, n);
        clouds_put(&c, b, g->m->lev[g->l].key, host, from, to);
        for (int k = from; k < to; k++)
            if (!(fabs(wm[k]) < SHIFT_MAX && fabs(wn[k]) < SHIFT_MAX)) c.at[k] = -1;
        block_deposit(t, &c, begin, from, to, wm, wn);
    }
}

/* Host of the first particles of a piece; one stray among the first three does not change it. */
static lidx piece_host(const lidx *host)
{
    lidx low = host[0] < host[1] ? host[0] : host[1], high = host[0] < host[1] ? host[1] : host[0],
         top = high < host[2] ? high : host[2];
    return low > top ? low : top;
}

/* Deposits particles begin..end-1, nearly sorted by host: each thread takes a piece, and owns the
 * octs from the first host of its piece to the first host of the next piece. */
static void deposit_run(const struct deposit *g, int64_t begin, int64_t end)
{
    int64_t n = end - begin, wish = n / PIECE + 1;
    int max = omp_get_max_threads();
#pragma omp parallel num_threads(wish < max ? (int)wish : max)
    {
        int me = omp_get_thread_num(), nt = omp_get_num_threads();
        struct depositor t = {.g = g, .octs.high = g->m->lev[g->l].noct};
        lidx high = 0;
        t.block.level = t.single.level = -1;
        for (int s = 1; s <= me + 1 && s < nt; s++) {
            lidx h = piece_host(g->p->host + begin + n * s / nt);
            high = h > high ? h : high;
            if (s == me) t.octs.low = high;
            if (s == me + 1) t.octs.high = high;
        }
        int64_t stop = begin + n * (me + 1) / nt;
        for (int64_t b = begin + n * me / nt; b < stop; b += CLOUDS)
            deposit_some(&t, b, stop - b < CLOUDS ? (int)(stop - b) : CLOUDS, stop - b);
        block_flush(&t);
#pragma omp barrier
        deferred_end(&t.octs);
    }
}

struct deposit_rule part_deposit_rule(const struct parts *p, int l, double quantum, double mass_cut,
                                      int cic_levelmax)
{
    return (struct deposit_rule){.per_mass = 1 / quantum,
                                 .mass_cut = mass_cut > 0 ? mass_cut : INFINITY,
                                 .mass_sph = p->mass_sph,
                                 .dm_mass = cic_levelmax <= 0 || l <= cic_levelmax,
                                 .dm_number = cic_levelmax <= 0 || l < cic_levelmax,
                                 .is_static = p->is_static};
}

void part_deposit(const struct parts *p, const struct mesh *m, int l, double quantum,
                  double mass_cut, int cic_levelmax, int64_t (*mass)[8], int64_t (*number)[8])
{
    struct deposit g = {.p = p,
                        .m = m,
                        .l = l,
                        .rule = part_deposit_rule(p, l, quantum, mass_cut, cic_levelmax),
                        .mass = mass,
                        .number = number};
    int64_t begin = p->first[l];
    for (int k = l + 1; begin < p->n; k++) { /* pieces of the last step, each nearly sorted */
        int64_t end = k > m->levelmax ? p->n : p->run[k];
        if (end > begin) deposit_run(&g, begin, end);
        begin = end > begin ? end : begin;
    }
}
