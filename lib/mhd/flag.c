/* mhd/flag: refinement by gradients of the gas and of its magnetic field (docs/method/step.md).
 *
 * Each quantity is treated in turn: first its value in every cell of the level, then the relative
 * differences across the faces of each cell. */
#include "base/mem.h"
#include "hydro/steep_kern.h"
#include "mhd/interp_kern.h"

/* Quantities after the variables of the gas, of which the momenta stand for velocities, the energy
 * for the pressure: magnetic energy, components of the field. */
enum { JUMP_B2 = GAS_SCALARS, JUMP_B };

/* Relative jumps of a quantity x, divided by the sum of both cells, or, where c exists, by the sum
 * of c: of velocities the sound speed, and both speeds; of a component of the field the square root
 * of the magnetic energy. */
struct jump {
    int quantity;
    double floor, limit;
    double (*x)[8], (*c)[8];
};

static bool is_velocity(const struct jump *q)
{
    return q->quantity >= GAS_MOMENTUM && q->quantity < GAS_MOMENTUM + 3;
}

struct value {
    double x, c;
};

/* Value in a cell of this state (mhd_cell_read). */
static struct value value_of(const struct jump *q, const struct mhd_par *p, const double *u)
{
    const struct hydro_par *g = p->gas;
    const double *faces = u + g->nvar, magnetic = mhd_energy(faces);
    if (q->quantity == JUMP_B2) return (struct value){magnetic, 0.0};
    if (q->quantity >= JUMP_B)
        return (struct value){mhd_centre(faces, q->quantity - JUMP_B), sqrt(magnetic)};
    const double r = hydro_max(u[0], g->smallr),
                 pressure = steep_pressure(r, u[1], u[2], u[3], u[GAS_ENERGY] - magnetic, g->gamma);
    return (struct value){
        steep_quantity(q->quantity, r, u[q->quantity], pressure),
        is_velocity(q) ? steep_sound(r, pressure, g->gamma, g->floor_u * g->floor_u) : 0.0};
}

static void level_values(const struct mesh *m, int l, const struct jump *q, const struct mhd_par *p)
{
#pragma omp parallel for schedule(static)
    for (lidx i = 0; i < m->lev[l].noct; i++)
        for (int c = 0; c < m->cells; c++) {
            double u[MHD_VALUES];
            mhd_cell_read(m, (struct patch_cell){l, i, c}, p->gas->nvar, u);
            const struct value v = value_of(q, p, u);
            q->x[i][c] = v.x;
            q->c[i][c] = v.c;
        }
}

/* Value across face f of a cell. */
static struct value value_across(const struct mesh *m, struct patch_cell own, int f,
                                 const struct jump *q, const struct mhd_par *p)
{
    const struct patch_cell a = patch_across(m, own.level, own.oct, own.cell, f);
    double u[MHD_VALUES], near[MHD_VALUES];
    if (a.oct >= 0 && a.level == own.level)
        return (struct value){q->x[a.oct][a.cell], q->c[a.oct][a.cell]};
    if (a.oct >= 0) {
        mhd_cell_read(m, a, p->gas->nvar, u);
    } else {
        mhd_cell_read(m, own, p->gas->nvar, near);
        mhd_beyond(p, f, 0, near, near, u);
    }
    return value_of(q, p, u);
}

/* Denominator of the relative difference of the cells below and above a face. */
static double jump_scale(const struct jump *q, struct value l, struct value u)
{
    if (q->quantity >= JUMP_B) return l.c + u.c + q->floor;
    return steep_scale(is_velocity(q), l.x, l.c, u.x, u.c, q->floor);
}

static bool is_steep(const struct mesh *m, struct patch_cell own, const struct jump *q,
                     const struct mhd_par *p)
{
    const struct value mid = {q->x[own.oct][own.cell], q->c[own.oct][own.cell]};
    bool steep = false;
    for (int d = 0; d < m->ndim && !steep; d++) {
        const struct value below = value_across(m, own, 2 * d, q, p),
                           above = value_across(m, own, 2 * d + 1, q, p);
        steep = steep_exceeds(mid.x - below.x, above.x - mid.x, jump_scale(q, below, mid),
                              jump_scale(q, mid, above), q->limit);
    }
    return steep;
}

static void flag_jumps(const struct mesh *m, int l, struct jump q, const struct mhd_par *p,
                       unsigned char (*ok)[8])
{
    if (q.limit < 0.0) return;
    level_values(m, l, &q, p);
#pragma omp parallel for schedule(static)
    for (lidx i = 0; i < m->lev[l].nown; i++)
        for (int c = 0; c < m->cells; c++) {
            if (ok[i][c] || !is_steep(m, (struct patch_cell){l, i, c}, &q, p)) continue;
            for (int k = c; k < 8; k += m->cells) ok[i][k] = 1;
        }
}

void mhd_flag(const struct mesh *m, int l, const struct mhd_par *p, unsigned char (*ok)[8])
{
    const struct hydro_par *g = p->gas;
    const struct jump all[] = {
        {GAS_DENSITY, g->floor_d, g->err_grad_d, NULL, NULL},
        {GAS_ENERGY, g->floor_p, g->err_grad_p, NULL, NULL},
        {GAS_MOMENTUM, g->floor_u, g->err_grad_u, NULL, NULL},
        {GAS_MOMENTUM + 1, g->floor_u, g->err_grad_u, NULL, NULL},
        {GAS_MOMENTUM + 2, g->floor_u, g->err_grad_u, NULL, NULL},
        {JUMP_B2, p->floor_b2, p->err_grad_b2, NULL, NULL},
        {JUMP_B, p->floor_b[0], p->err_grad_b[0], NULL, NULL},
        {JUMP_B + 1, p->floor_b[1], p->err_grad_b[1], NULL, NULL},
        {JUMP_B + 2, p->floor_b[2], p->err_grad_b[2], NULL, NULL},
    };
    enum { N = sizeof all / sizeof *all };
    bool any = false;
    for (int k = 0; k < N; k++) any |= all[k].limit >= 0.0;
    if (!any) return;
    const size_t bytes = sizeof(double[8]) * (size_t)m->lev[l].noct + 1;
    double(*x)[8] = mem_new(bytes, "flag scratch"), (*c)[8] = mem_new(bytes, "flag scratch");
    for (int k = 0; k < N; k++) {
        struct jump q = all[k];
        q.x = x, q.c = c;
        flag_jumps(m, l, q, p, ok);
    }
    FREE(c);
    FREE(x);
}
