/* clump/around: the leaf cells that touch a cell.
 *
 * Neighbouring leaf cells differ by one level at most, across corners too. So those that touch a
 * cell of level l are among: the eight cells of level l−1 that touch it (one of them is its parent,
 * never a leaf), the 27 around it of level l, and of level l+1 the 4³ in and around it. */

#include "clump/priv.h"
#include "oct/bits.h"

/* ---- sets of the 4³ cells in and around an oct: bit x + 4 y + 16 z, 0 to 3 each; the first cell
 * of the oct is at 1, 1, 1 ---- */

static const uint64_t CUBE3 = 0x077707770777; /* the first three along each axis */

/* Where an oct of the 3³ lies along an axis: which of its cells count, as bits of eight cells, and
 * how far they are moved. */
struct along {
    unsigned char keep[3], down, up;
};

static const struct along ALONG[3] = {
    {{0xaa, 0xcc, 0xf0}, 1, 0}, {{0xff, 0xff, 0xff}, 0, 1}, {{0x55, 0x33, 0x0f}, 0, 3}};

/* The cells of an oct, bits x + 2 y + 4 z, among the 4³. */
static uint64_t cells_of_oct(unsigned cells, int k)
{
    const int at[3] = {k % 3, k / 3 % 3, k / 9};
    int up = 0;
    for (int d = 0; d < 3; d++) {
        const struct along *a = &ALONG[at[d]];
        cells = (cells & a->keep[d]) >> (a->down << d);
        up += a->up << 2 * d;
    }
    return (uint64_t)((cells & 3) | (cells & 12) << 2 | (cells & 48) << 12 | (cells & 192) << 14)
           << up;
}

void around_set(struct around *a, const struct mesh *m, struct spot s)
{
    if (a->level == s.level && a->oct == s.oct) return;
    const struct level *lv = &m->lev[s.level];
    a->m = m;
    a->level = s.level;
    a->oct = s.oct;
    a->there = a->refined = 0;
    mesh_cube(m, s.level, s.oct, a->same);
    for (int k = 0; k < 27; k++) {
        if (a->same[k] < 0) continue;
        const unsigned cells = ~bits_of_leaves(lv->child[a->same[k]]) & 0xff;
        a->there |= cells_of_oct(0xff, k);
        if (cells) a->refined |= cells_of_oct(cells, k);
    }
    if (~a->there && s.level > m->levelmin) mesh_cube(m, s.level - 1, lv->parent[s.oct], a->coarse);
}

static inline int add_leaf(const struct level *lv, lidx oct, int cell, struct spot *s)
{
    if (oct < 0 || lv->child[oct][cell] >= 0) return 0;
    *s = (struct spot){oct, (unsigned char)lv->level, (unsigned char)cell};
    return 1;
}

/* Number of an element of a set, along each axis. */
static inline void element(uint64_t set, int x[3])
{
    const int bit = __builtin_ctzll(set);
    x[0] = bit & 3, x[1] = bit >> 2 & 3, x[2] = bit >> 4;
}

static int add_coarse(const struct around *a, int cell, struct spot *s)
{
    const int slot = oct_slot(&a->m->lev[a->level], a->oct);
    int n = 0, c;
    for (int k = 0; k < 8; k++) {
        int x[3];
        for (int d = 0; d < 3; d++)
            x[d] = (slot >> d & 1) + (k >> d & 1) - ((cell >> d & 1) ? 0 : 1);
        lidx oct = cube_cell(a->coarse, x, &c);
        n += add_leaf(&a->m->lev[a->level - 1], oct, c, &s[n]);
    }
    return n;
}

/* The cells of half the size that touch the middle of 3³ cells, if these are refined: 4³, of which
 * the inner 2³ are in the middle. */
static uint64_t finer_cells(uint64_t cells)
{
    static const uint64_t LOWER[3] = {0x3333333333333333, 0x00ff00ff00ff00ff, 0x00000000ffffffff},
                          UPPER[3] = {0x6666666666666666, 0x0ff00ff00ff00ff0, 0x0000ffffffff0000};
    for (int d = 0; d < 3; d++) cells = (cells & LOWER[d]) | (cells & UPPER[d]) << (1 << 2 * d);
    return cells;
}

static int add_finer(const struct around *a, int cell, uint64_t refined, struct spot *s)
{
    static const int step[4] = {-1, 0, 0, 1}, bit[4] = {1, 0, 1, 0};
    const struct level *lv = &a->m->lev[a->level];
    int n = 0, c;
    for (uint64_t rest = finer_cells(refined); rest; rest &= rest - 1) {
        int f[3], x[3], fine = 0;
        element(rest, f);
        for (int d = 0; d < 3; d++) {
            x[d] = step[f[d]] + (cell >> d & 1);
            fine |= bit[f[d]] << d;
        }
        lidx oct = cube_cell(a->same, x, &c);
        n += add_leaf(lv + 1, lv->child[oct][c], fine, &s[n]);
    }
    return n;
}

int around_leaves(const struct around *a, int cell, struct spot s[AROUND])
{
    const int corner = (cell & 1) | (cell & 2) << 1 | (cell & 4) << 2;
    const uint64_t there = a->there >> corner & CUBE3, refined = a->refined >> corner & CUBE3;
    int n = 0, c;
    if (there != CUBE3 && a->level > a->m->levelmin) n = add_coarse(a, cell, s);
    for (uint64_t rest = there & ~refined; rest; rest &= rest - 1) {
        int x[3];
        element(rest, x);
        for (int d = 0; d < 3; d++) x[d] += (cell >> d & 1) - 1;
        lidx oct = cube_cell(a->same, x, &c);
        s[n++] = (struct spot){oct, (unsigned char)a->level, (unsigned char)c};
    }
    if (refined) n += add_finer(a, cell, refined, &s[n]);
    return n;
}

void spot_centre(const struct mesh *m, struct spot s, double x[3])
{
    okey_cell_centre(m->lev[s.level].key[s.oct], s.cell, 1.0 / (double)((int64_t)1 << s.level), x);
}

void image_near(const struct mesh *m, const double to[3], double x[3])
{
    for (int d = 0; d < 3; d++) {
        if (m->bounded[2 * d]) continue;
        if (x[d] - to[d] > 0.5 * m->boxlen) x[d] -= m->boxlen;
        if (x[d] - to[d] < -0.5 * m->boxlen) x[d] += m->boxlen;
    }
}

void spot_near(const struct mesh *m, struct spot s, const double to[3], double x[3])
{
    spot_centre(m, s, x);
    for (int d = 0; d < 3; d++) x[d] *= m->boxlen;
    image_near(m, to, x);
}
