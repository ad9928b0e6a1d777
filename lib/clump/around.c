/* clump/around: the leaf cells that touch a cell.
 *
 * Neighbouring leaf cells differ by one level at most, across corners too. So those that touch a
 * cell of level l are among: the eight cells of level l−1 that touch it (one of them is its parent,
 * never a leaf), the 27 around it of level l, and of level l+1 the 4³ in and around it. */

#include "clump/priv.h"

void around_set(struct around *a, const struct mesh *m, struct spot s)
{
    if (a->level == s.level && a->oct == s.oct) return;
    a->m = m;
    a->level = s.level;
    a->oct = s.oct;
    mesh_cube(m, s.level, s.oct, a->same);
    for (int k = 0; k < 27; k++) a->coarse[k] = NBR_NONE;
    if (s.level > 1) mesh_cube(m, s.level - 1, m->lev[s.level].parent[s.oct], a->coarse);
}

static inline int add_leaf(const struct level *lv, lidx oct, int cell, struct spot *s)
{
    if (oct < 0 || lv->child[oct][cell] >= 0) return 0;
    *s = (struct spot){oct, (unsigned char)lv->level, (unsigned char)cell};
    return 1;
}

int around_leaves(const struct around *a, int cell, struct spot s[AROUND])
{
    const struct mesh *m = a->m;
    const struct level *lv = &m->lev[a->level];
    int n = 0, c, slot = oct_slot(lv, a->oct);
    for (int k = 0; k < 8 && a->level > m->levelmin; k++) {
        int x[3];
        for (int d = 0; d < 3; d++)
            x[d] = (slot >> d & 1) + (k >> d & 1) - ((cell >> d & 1) ? 0 : 1);
        lidx oct = cube_cell(a->coarse, x, &c);
        n += add_leaf(&m->lev[a->level - 1], oct, c, &s[n]);
    }
    for (int k = 0; k < 27; k++) {
        int x[3] = {k % 3 - 1, k / 3 % 3 - 1, k / 9 - 1};
        for (int d = 0; d < 3; d++) x[d] += cell >> d & 1;
        lidx oct = cube_cell(a->same, x, &c);
        n += add_leaf(lv, oct, c, &s[n]);
    }
    for (int k = 0; k < 64 && a->level < m->levelmax; k++) {
        static const int step[4] = {-1, 0, 0, 1}, bit[4] = {1, 0, 1, 0};
        int f[3] = {k & 3, k >> 2 & 3, k >> 4}, x[3], fine = 0;
        for (int d = 0; d < 3; d++) {
            x[d] = step[f[d]] + (cell >> d & 1);
            fine |= bit[f[d]] << d;
        }
        lidx oct = cube_cell(a->same, x, &c);
        if (oct < 0 || lv->child[oct][c] < 0) continue;
        n += add_leaf(&m->lev[a->level + 1], lv->child[oct][c], fine, &s[n]);
    }
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
