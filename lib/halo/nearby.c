/* halo/nearby: the other matter that spheres around halos can contain.
 *
 * Most cells of gas are far from all halos. A mesh of 128³ bits marks the regions of the spheres,
 * which all ranks know; only bodies in marked cells are moved to the ranks of the halos and sorted
 * into a tree. A sphere that must grow beyond its region marks a larger one, and the tree is made
 * again (halo/sphere). Results do not depend on the regions. */
#include <math.h>

#include "base/mem.h"
#include "halo/halo_priv.h"

enum { BITS = 7, SIDE = 1 << BITS, WORDS = SIDE * SIDE * SIDE / 64 };

void halo_nearby_init(struct halo_nearby *q, const struct halo_points *all)
{
    *q = (struct halo_nearby){.all = all};
    q->marked = mem_zero(sizeof *q->marked * WORDS, "halos: regions");
    q->set.others = true;
}

void halo_nearby_fini(struct halo_nearby *q)
{
    FREE(q->marked);
    halo_set_free(&q->set);
}

/* ---- marks ---- */

static inline bool is_marked(const uint64_t *marked, const int64_t at[3])
{
    const int64_t i = at[0] + SIDE * (at[1] + SIDE * at[2]);
    return marked[i >> 6] >> (i & 63) & 1;
}

static int64_t bounded(double cell)
{
    return (int64_t)fmin(fmax(cell, 0), SIDE - 1);
}

void halo_nearby_mark(struct halo_nearby *q, const struct halo_space *s, const double x[3],
                      double radius)
{
    const double far = radius * (1 + 1e-9) + 1e-12;
    int64_t lo[3], hi[3];
    for (int k = 0; k < 3; k++) {
        const double low = floor((x[k] - far) * SIDE), high = floor((x[k] + far) * SIDE);
        lo[k] = s->periodic[k] ? (int64_t)low : bounded(low);
        hi[k] = s->periodic[k] ? (int64_t)fmin(high, low + SIDE - 1) : bounded(high);
    }
    uint64_t row[SIDE / 64] = {0};
    for (int64_t a = lo[0]; a <= hi[0]; a++) row[(a & (SIDE - 1)) >> 6] |= (uint64_t)1 << (a & 63);
    for (int64_t c = lo[2]; c <= hi[2]; c++)
        for (int64_t b = lo[1]; b <= hi[1]; b++) {
            const int64_t i = (b & (SIDE - 1)) + SIDE * (c & (SIDE - 1));
            for (int w = 0; w < SIDE / 64; w++) q->marked[i * (SIDE / 64) + w] |= row[w];
        }
}

/* ---- bodies ---- */

/* Leaf cells of oct i in marked cells of the mesh, a bit mask. */
static unsigned marked_leaves(const uint64_t *marked, const struct halo_cells *q, int64_t i)
{
    const int level = q->level[i], shift = level - BITS;
    unsigned leaves = 0;
    int64_t oct[3], at[3];
    okey_coords(q->key[i], oct);
    if (shift > 0) { /* all cells of an oct are in one of the mesh */
        for (int k = 0; k < 3; k++) at[k] = oct[k] >> (shift - 1);
        return is_marked(marked, at) ? q->leaf[i] : 0;
    }
    for (int c = 0; c < 8; c++) {
        for (int k = 0; k < 3; k++) {
            at[k] = 2 * oct[k] + (c >> k & 1);
            if (shift < 0) at[k] = (2 * at[k] + 1) << (-shift - 1); /* the centre */
        }
        leaves |= (unsigned)is_marked(marked, at) << c;
    }
    return leaves & q->leaf[i];
}

static bool is_near(const struct halo_nearby *q, const struct halo_set *s, int64_t i)
{
    int64_t at[3];
    for (int k = 0; k < 3; k++) at[k] = bounded(s->x[k][i] * SIDE);
    return is_marked(q->marked, at);
}

static void put(struct halo_set *to, const double x[3], double m, int kind)
{
    const int64_t i = to->n++;
    for (int k = 0; k < 3; k++) to->x[k][i] = x[k];
    to->m[i] = m;
    to->kind[i] = (unsigned char)kind;
}

/* Makes the set of this rank's bodies in marked cells. */
static void choose(struct halo_nearby *q)
{
    const struct halo_set *others = &q->all->others;
    const struct halo_cells *cells = &q->all->cells;
    unsigned char *leaf = mem_new((size_t)cells->n + 1, "halos: regions");
    int64_t n = 0;
    for (int64_t i = 0; i < others->n; i++) n += is_near(q, others, i);
#pragma omp parallel for schedule(static) reduction(+ : n)
    for (int64_t i = 0; i < cells->n; i++) {
        leaf[i] = (unsigned char)marked_leaves(q->marked, cells, i);
        n += __builtin_popcount(leaf[i]);
    }
    halo_set_free(&q->set);
    halo_set_room(&q->set, n);
    for (int64_t i = 0; i < others->n; i++) {
        const double x[3] = {others->x[0][i], others->x[1][i], others->x[2][i]};
        if (is_near(q, others, i)) put(&q->set, x, others->m[i], others->kind[i]);
    }
    for (int64_t i = 0; i < cells->n; i++)
        for (unsigned left = leaf[i]; left; left &= left - 1) {
            const int c = __builtin_ctz(left);
            const struct halo_point b = halo_cell_body(cells->level[i], cells->key[i], c,
                                                       cells->m[i][c]);
            put(&q->set, b.x, b.m, SPECIES_GAS);
        }
    FREE(leaf);
}

enum err halo_nearby_plant(struct halo_nearby *q, const struct halo_space *s, struct halo_trees *t)
{
    int32_t *order = NULL;
    tree_free(&t->tree[1]);
    comm_or_u64(s->c, q->marked, WORDS);
    choose(q);
    halo_spread_set(s, &q->set);
    enum err err = err_agree(s->c, halo_set_plant(s, &q->set, &order, &t->tree[1]));
    FREE(order);
    t->set[1] = &q->set;
    return err;
}
