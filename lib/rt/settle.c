/* rt/settle: photons that pass from a level to the coarser one while a step of that has several
 * sub-steps (rt_nsubcycle > 1).
 *
 * A level makes its sub-steps before the coarser one, whose cells then hold states of the begin of
 * its step. If the fluxes of all these sub-steps were kept for the first sub-step of the coarser
 * level, a cell beside its boundary could be asked for many times what it contains. Therefore such
 * cells take part in each sub-step of the finer level: they receive its fluxes at once, and the
 * finer level sees what is left of them. The sub-steps of the coarser level leave out the faces of
 * refined cells, as they do anyway.
 *
 * So nothing is counted twice or not at all: the sum over all leaf cells does not change, to
 * round-off. Nor does a density become negative: the flux of GLF from a cell through its lower and
 * upper faces along an axis is no more than c N together, so that the fine level takes, in a
 * sub-step of c dt/dx_fine = courant/3, no more than courant/2 of N through all its faces. (For one
 * face, with a = c dt/dx and states U and U' beside it: the cell becomes (1 - a/2) U - (a/2) f(U)/c
 * + (a/2)(U' - f(U')/c). States of N >= 0 and |F| <= cN are convex, and U -+ f(U)/c are two of
 * these.) Slopes of interpolation raise that bound by a quarter. The limits of rt_confine stay for
 * what HLL and slopes leave.
 *
 * RAMSES-RT lets the coarser level have a flux of its own through these faces, and photons are lost
 * or made. With one sub-step there is no difference: then both use registers. */
#include "base/mem.h"
#include "dom/ghost.h"
#include "patch/across_kern.h"
#include "patch/edges.h"
#include "patch/reflux.h"
#include "rt/law.h"
#include "rt/rt.h"

void rt_registers_exchange(const struct rt_run *r, int l)
{
    struct level *lv = &r->mesh->lev[l];
    struct ghost_rows e = {0};
    if (!lv->plan.shared) return;
    ghost_rows_room(&e, r->comm, COMM_BULK_FLUX, &lv->plan, false,
                    reflux_row_bytes(r->mesh->nphoton, 0));
    reflux_pack(lv, REFLUX_RT, e.pack.out);
    comm_pack_send(&e.pack);
    comm_pack_receive(&e.pack);
    reflux_unpack(lv, REFLUX_RT, e.pack.in);
    comm_pack_free(&e.pack);
}

/* Adds the register of the fine oct across face f of cell c of oct i of level l. */
static void cell_receive(const struct mesh *m, int l, lidx i, int c, int f)
{
    const struct level *lv = &m->lev[l];
    const double *row = reflux_across(lv, lv + 1, i, c, f, REFLUX_RT, m->nphoton);
    for (int v = 0; row && v < m->nphoton; v++)
        if (lv->fld[FLD_PHOTONS + v]) lv->fld[FLD_PHOTONS + v][i][c] += row[v];
}

static void oct_receive(const struct mesh *m, int l, lidx i)
{
    const struct level *lv = &m->lev[l];
    const unsigned all = (1u << m->cells) - 1, own = refined_cells(lv, i, m->cells);
    unsigned any = 0;
    for (int f = 0; f < 2 * m->ndim && own != all; f++) {
        const lidx j = lv->nbr[i][f];
        const unsigned out = j >= 0 ? refined_cells(lv, j, m->cells) : 0;
        const unsigned beside = all & ~own & refined_across(own, out, f);
        for (unsigned b = beside; b; b &= b - 1) cell_receive(m, l, i, __builtin_ctz(b), f);
        any |= beside;
    }
    for (int v = 0; any && v < m->nphoton; v++) oct_repeat(m->cells, lv->fld[FLD_PHOTONS + v][i]);
}

void rt_host_settle(const struct rt_run *r, int l)
{
    struct mesh *m = r->mesh;
    struct level *up = &m->lev[l - 1];
    int f[RT_VALUES];
    if (l <= m->levelmin) return;
    rt_registers_exchange(r, l);
#pragma omp parallel for schedule(static)
    for (lidx i = 0; i < up->nown; i++) oct_receive(m, l - 1, i);
    rt_host_confine(r->rt, m, l - 1);
    rt_registers_clear(m, l);
    for (int v = 0; v < m->nphoton; v++) f[v] = FLD_PHOTONS + v;
    ghost_fill(r->comm, m, l - 1, m->nphoton, f);
}
