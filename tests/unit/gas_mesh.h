/* Meshes of one rank for tests of the gas: complete to levelmin, then refined where a function says
 * so and all 26 neighbours exist. */
#pragma once
#include "base/mem.h"
#include "hydro/hydro.h"

/* Whether the cell at x (units of the box) of level l is to be refined. */
typedef bool refine_at(const double *x, int l, int levelmin);

/* Balls around one point, each half as wide as that of the coarser level. */
static inline bool refine_ball(const double *x, int l, int levelmin)
{
    double r = 0.36 / (1 << (l - levelmin)), d2 = 0.0;
    for (int d = 0; d < 3; d++) d2 += (x[d] - 0.55) * (x[d] - 0.55);
    return d2 < r * r;
}

/* Number of dimensions of the meshes that are built from now on. */
static int gas_mesh_ndim = 3;

/* Key of the i-th oct of a complete level; keys have three bits a level in any dimension. */
static inline okey complete_key(lidx i)
{
    okey key = 0;
    for (int b = 0; i >> b * gas_mesh_ndim > 0; b++)
        for (int d = 0; d < gas_mesh_ndim; d++)
            key |= (okey)(i >> (b * gas_mesh_ndim + d) & 1) << (3 * b + d);
    return key;
}

/* Fills the keys of the octs of level l + 1; returns their number. */
static lidx refine_keys(const struct mesh *m, int l, refine_at *wanted, okey *key)
{
    const struct level *lv = &m->lev[l];
    lidx n = 0, cube[27];
    double dx = mesh_dx(m, l) / m->boxlen;
    for (lidx i = 0; i < lv->nown; i++) {
        int64_t x[3];
        okey_coords(lv->key[i], x);
        mesh_cube(m, l, i, cube);
        bool held = false; /* the 26 neighbours must exist for graded refinement */
        for (int c = 0; c < 27; c++) held |= cube[c] == NBR_NONE;
        for (int c = 0; c < m->cells && !held; c++) {
            double y[3];
            for (int d = 0; d < 3; d++) y[d] = ((double)(2 * x[d] + (c >> d & 1)) + 0.5) * dx;
            if (wanted(y, l, m->levelmin)) key[n++] = lv->key[i] << 3 | (okey)c;
        }
    }
    return n;
}

static void gas_mesh(struct mesh *m, int levelmin, int levelmax, const struct hydro_par *p,
                     bool gravity, const bool *bounded, refine_at *wanted)
{
    mesh_init(m, levelmin, levelmax, p->nvar, true, gravity, 1.0, bounded);
    mesh_set_ndim(m, gas_mesh_ndim);
    for (int l = 1; l <= levelmax; l++) {
        lidx n = l <= levelmin ? (lidx)1 << gas_mesh_ndim * (l - 1) : 8 * m->lev[l - 1].nown;
        okey *key = mem_new(sizeof *key * (size_t)n + 1, "test");
        for (lidx i = 0; i < n; i++) key[i] = complete_key(i);
        if (l > levelmin) n = refine_keys(m, l - 1, wanted, key);
        mesh_replace(m, l, n, key, 0, NULL, NULL);
        mesh_link_down(m, l);
        mem_free(key);
    }
}
