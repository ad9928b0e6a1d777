/* hydro/drive: the gas takes the acceleration of driven turbulence over a step, at constant
 * internal energy, row by row, so that what cells of a row share is computed once. */
#include "hydro/cell_kern.h"
#include "hydro/gas_law.h"
#include "hydro/hydro.h"
#include "patch/tile.h"

struct drive {
    const struct turb_force *f;
    double smallr;
};

/* Some cells of an oct in one register. */
typedef double cells __attribute__((vector_size(8 * LANES), may_alias, aligned(8)));
typedef long long cells_mask __attribute__((vector_size(8 * LANES)));

static inline cells cells_at(const double *x)
{
    return *(const cells *)x;
}

/* Changes the gas of oct i, its cells from c, by their acceleration a: the operations of
 * hydro_push_cell. */
static inline void push(const struct drive *g, const struct law_row *r, lidx i, int c,
                        const cells a[3])
{
    const cells zero = {0}, least = zero + g->smallr, rho = cells_at(r->u[0][i] + c);
    const cells_mask floor = least > rho, thin = rho < zero + g->f->min_rho;
    const cells d = (cells)(((cells_mask)least & floor) | ((cells_mask)rho & ~floor)),
                step = (cells)((cells_mask)(zero + r->dt) & ~thin); /* thin gas is not driven */
    cells work[3];
    for (int k = 0; k < 3; k++) {
        cells *m = r->u[1 + k] ? (cells *)(r->u[1 + k][i] + c) : NULL;
        const cells dv = a[k] * step, more = d * dv;
        work[k] = dv * ((m ? *m : zero) + 0.5 * more);
        if (m) *m += more;
    }
    *(cells *)(r->u[GAS_ENERGY][i] + c) += work[0] + work[1] + work[2];
}

/* Numbers of four lines along x at the cells from c: lines 2 z + y have the cells 4 z + 2 y + x. */
static inline cells of_lines(const double line[4], int c)
{
    const vec4 x = vec4_load(line);
#ifdef __AVX512F__
    return __builtin_shufflevector(x, x, 0, 0, 1, 1, 2, 2, 3, 3);
#else
    return c ? __builtin_shufflevector(x, x, 2, 2, 3, 3)
             : __builtin_shufflevector(x, x, 0, 0, 1, 1);
#endif
}

static void push_by_waves(const struct drive *g, const struct law_row *r)
{
    struct turb_row found;
    cells term[8 / LANES][TURB_TERMS];
    const struct turb_row *row = turb_row_of(g->f, r->at, &found);
    for (int h = 0; h < 8 / LANES; h++)
        for (int j = 0; j < TURB_TERMS; j++) term[h][j] = of_lines(row->term[j], LANES * h);
    for (uint32_t b = r->octs; b; b &= b - 1) {
        const int x = __builtin_ctz(b);
        struct turb_along own;
        const struct turb_along *along = g->f->along ? g->f->along + r->at[0] + x : &own;
        if (!g->f->along) turb_find_along(g->f, r->at[0] + x, &own);
        for (int h = 0; h < 8 / LANES; h++) {
            cells a[3];
            for (int d = 0; d < 3; d++) {
                a[d] = term[h][d];
                for (int k = 0; k < TURB_WAVES; k++)
                    a[d] += term[h][3 * (k + 1) + d] * cells_at(along->wave[k] + LANES * h);
            }
            push(g, r, r->oct[x], LANES * h, a);
        }
    }
}

static void push_by_nodes(const struct drive *g, const struct law_row *r)
{
    struct turb_near near = {.known = false};
    for (uint32_t b = r->octs; b; b &= b - 1) {
        const int x = __builtin_ctz(b);
        vec4 half[3][2];
        turb_cells(g->f, (const int64_t[3]){r->at[0] + x, r->at[1], r->at[2]}, &near, half);
        for (int c = 0; c < 8; c += LANES) {
            cells a[3];
            for (int d = 0; d < 3; d++) a[d] = cells_at((const double *)half[d] + c);
            push(g, r, r->oct[x], c, a);
        }
    }
}

static void push_row(const struct drive *g, const struct law_row *r)
{
    if (g->f->waves)
        push_by_waves(g, r);
    else
        push_by_nodes(g, r);
}

void gas_drive_row(const struct law *law, const struct law_row *row)
{
    const struct hydro_par *p = ((const struct gas_law *)law)->par;
    push_row(&(struct drive){p->drive, p->smallr}, row);
}

void hydro_drive(struct mesh *m, int l, double dt, const struct turb_force *f, double smallr)
{
    const struct level *lv = &m->lev[l];
    double(*const *u)[8] = lv->fld + FLD_U;
#pragma omp parallel for schedule(static)
    for (lidx i = 0; i < lv->nown; i++) {
        struct law_row r = {dt, u, &i, {0, 0, 0}, 1};
        okey_coords(lv->key[i], r.at);
        push_row(&(struct drive){f, smallr}, &r);
    }
}
