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

/* Number of dimensions of the meshes that gas_mesh builds from now on. */
static int gas_mesh_ndim = 3;

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

static bool refine_all(const double *x, int l, int levelmin)
{
    return x && l && levelmin;
}

/* Gives an empty mesh its octs. */
static void gas_mesh_fill(struct mesh *m, refine_at *wanted)
{
    for (int l = 1; l <= m->levelmax; l++) {
        lidx n = l > 1 ? m->cells * m->lev[l - 1].nown : 1;
        okey *key = mem_zero(sizeof *key * (size_t)n + 1, "test");
        if (l > 1) n = refine_keys(m, l - 1, l <= m->levelmin ? refine_all : wanted, key);
        mesh_replace(m, l, n, key, 0, NULL, NULL);
        mesh_link_down(m, l);
        mem_free(key);
    }
}

static inline void gas_mesh(struct mesh *m, int levelmin, int levelmax, const struct hydro_par *p,
                            bool gravity, const bool *bounded, refine_at *wanted)
{
    mesh_init(m, levelmin, levelmax, p->nvar, true, gravity, 1.0, bounded);
    mesh_set_ndim(m, gas_mesh_ndim);
    gas_mesh_fill(m, wanted);
}
