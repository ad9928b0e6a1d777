/* mhd/flag: refinement by gradients of the gas and of its magnetic field (docs/method/step.md).
 *
 * Each quantity is treated in turn: first its value in every cell of the level, then the relative
 * differences across the faces of each cell. */
#include "base/mem.h"
#include "mhd/steep_kern.h"

/* Values of a quantity in all cells of a level. */
struct values {
    struct jump q;
    double (*x)[8], (*c)[8];
};

static void level_values(const struct mesh *m, int l, const struct values *a,
                         const struct mhd_par *p)
{
#pragma omp parallel for schedule(static)
    for (lidx i = 0; i < m->lev[l].noct; i++)
        for (int c = 0; c < m->cells; c++) {
            const struct value v = jump_value_in(m, (struct patch_cell){l, i, c}, &a->q, p);
            a->x[i][c] = v.x;
            a->c[i][c] = v.c;
        }
}

/* Value across face f of a cell. */
static struct value value_across(const struct mesh *m, struct patch_cell own, int f,
                                 const struct values *v, const struct mhd_par *p)
{
    const struct patch_cell a = patch_across(m, own.level, own.oct, own.cell, f);
    if (a.oct < 0) return jump_value_beyond(m, own, f, &v->q, p);
    if (a.level == own.level) return (struct value){v->x[a.oct][a.cell], v->c[a.oct][a.cell]};
    return jump_value_in(m, a, &v->q, p);
}

static bool is_steep(const struct mesh *m, struct patch_cell own, const struct values *v,
                     const struct mhd_par *p)
{
    const struct value mid = {v->x[own.oct][own.cell], v->c[own.oct][own.cell]};
    bool steep = false;
    for (int d = 0; d < m->ndim && !steep; d++)
        steep = jump_is_steep(&v->q, value_across(m, own, 2 * d, v, p), mid,
                              value_across(m, own, 2 * d + 1, v, p));
    return steep;
}

static void flag_jumps(const struct mesh *m, int l, const struct values *v, const struct mhd_par *p,
                       unsigned char (*ok)[8])
{
    if (v->q.limit < 0.0) return;
    level_values(m, l, v, p);
#pragma omp parallel for schedule(static)
    for (lidx i = 0; i < m->lev[l].nown; i++)
        for (int c = 0; c < m->cells; c++) {
            if (ok[i][c] || !is_steep(m, (struct patch_cell){l, i, c}, v, p)) continue;
            for (int k = c; k < 8; k += m->cells) ok[i][k] = 1;
        }
}

bool mhd_flags(const struct mhd_par *p)
{
    bool any = false;
    for (int n = 0; n < JUMPS; n++) any |= jump_of(p, n).limit >= 0.0;
    return any;
}

void mhd_flag(const struct mesh *m, int l, const struct mhd_par *p, unsigned char (*ok)[8])
{
    if (!mhd_flags(p)) return;
    const size_t bytes = sizeof(double[8]) * (size_t)m->lev[l].noct + 1;
    double(*x)[8] = mem_new(bytes, "flag scratch"), (*c)[8] = mem_new(bytes, "flag scratch");
    for (int n = 0; n < JUMPS; n++) {
        const struct values v = {jump_of(p, n), x, c};
        flag_jumps(m, l, &v, p, ok);
    }
    FREE(c);
    FREE(x);
}
