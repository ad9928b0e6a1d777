/* turb/force_kern: the acceleration of driven turbulence at the centres of cells, from a field on
 * the nodes of a periodic lattice, TURB_NODES along each axis of the box, for hosts and devices.
 *
 * Two fields belong to two times. A node has the weighted sum of both, and a cell what trilinear
 * interpolation of its nodes gives. Positions of cells in units of the lattice are exact numbers,
 * so all ranks have the same bits. A field of few waves is stored by waves (waves_kern.h). Other
 * fields are a lattice of values, interpolated along x, then y, then z: turb_cells is
 * turb_acceleration of the eight cells of an oct, by vectors, with the same bits. Where cells are
 * as wide as spacings of the lattice, all weights are ½, and means are halves of sums; where they
 * are smaller, an oct lies between eight nodes, which it shares with the octs next in order. */
#pragma once
#include "turb/force.h"
#include "turb/waves_kern.h"

/* Interpolates values of nodes. */
PTAH_HD void turb_between_nodes(const struct turb_force *f, const struct turb_place *p,
                                double out[3])
{
    for (int d = 0; d < 3; d++) {
        double plane[2];
        for (int z = 0; z < 2; z++) {
            double row[2];
            for (int y = 0; y < 2; y++) {
                const int first = (p->at[2][z] * TURB_NODES + p->at[1][y]) * TURB_NODES;
                const int i = 4 * (first + p->at[0][0]) + d, j = 4 * (first + p->at[0][1]) + d;
                row[y] = turb_between(f->wa * f->a[i] + f->wb * f->b[i],
                                      f->wa * f->a[j] + f->wb * f->b[j], p->w[0]);
            }
            plane[z] = turb_between(row[0], row[1], p->w[1]);
        }
        out[d] = turb_between(plane[0], plane[1], p->w[2]);
    }
}

PTAH_HD void turb_at(const struct turb_force *f, const struct turb_place *p, double out[3])
{
    if (f->waves)
        turb_of_waves(f, p, out);
    else
        turb_between_nodes(f, p, out);
}

/* Acceleration of cell c of the oct with this key. */
PTAH_HD void turb_acceleration(const struct turb_force *f, okey key, int c, double out[3])
{
    int64_t q[3];
    struct turb_place p = {{{0, 0}, {0, 0}, {0, 0}}, {0.0, 0.0, 0.0}};
    okey_coords(key, q);
    for (int d = 0; d < f->ndim; d++) turb_axis(f, 2 * q[d] + (c >> d & 1), p.at[d], &p.w[d]);
    turb_at(f, &p, out);
}

#ifndef __CUDACC__
#include "vec/vec4.h"

/* The nodes that the two rows of cells of an oct along an axis have, up to four of them, and the
 * first of each row among them. */
struct turb_rows {
    int n, at[4], first[2];
    double weight[2];
};

static inline struct turb_rows turb_rows_of(const struct turb_force *f, int d, int64_t q)
{
    struct turb_rows r = {1, {0, 0, 0, 0}, {0, 0}, {0.0, 0.0}};
    if (d >= f->ndim) return r;
    int at[2][2];
    for (int c = 0; c < 2; c++) turb_axis(f, 2 * q + c, at[c], &r.weight[c]);
    r.first[1] = at[1][0] == at[0][0] ? 0 : at[1][0] == at[0][1] ? 1 : 2;
    r.n = 2 + r.first[1];
    for (int c = 0; c < 2; c++)
        for (int k = 0; k < 2; k++) r.at[r.first[c] + k] = at[c][k];
    return r;
}

VEC4_INLINE vec4 turb_between4(const vec4 *low, bool axis, double w)
{
    return axis ? low[0] * (1.0 - w) + low[1] * w : low[0];
}

VEC4_INLINE vec4 turb_node(const struct turb_force *f, int i)
{
    return f->wa * vec4_load(f->a + 4 * i) + f->wb * vec4_load(f->b + 4 * i);
}

/* Nodes of one row of the lattice along x, interpolated at both cells: out[2]. */
VEC4_INLINE void turb_row(const struct turb_force *f, const struct turb_rows *x, int first,
                          vec4 out[2])
{
    vec4 node[4];
    for (int i = 0; i < x->n; i++) node[i] = turb_node(f, first + x->at[i]);
    for (int c = 0; c < 2; c++) out[c] = turb_between4(node + x->first[c], true, x->weight[c]);
}

/* Accelerations of the eight cells, for a level above the lattice's and in fewer dimensions. */
static inline void turb_cells_far(const struct turb_force *f, const int64_t q[3], vec4 cell[8])
{
    const struct turb_rows x = turb_rows_of(f, 0, q[0]), y = turb_rows_of(f, 1, q[1]),
                           z = turb_rows_of(f, 2, q[2]);
    vec4 plane[4][4]; /* [z][cell in x and y] */
    for (int k = 0; k < z.n; k++) {
        vec4 row[2][4]; /* [cell in x][y] */
        for (int j = 0; j < y.n; j++) {
            vec4 both[2];
            turb_row(f, &x, (z.at[k] * TURB_NODES + y.at[j]) * TURB_NODES, both);
            row[0][j] = both[0], row[1][j] = both[1];
        }
        for (int c = 0; c < 4; c++)
            plane[k][c] = turb_between4(row[c & 1] + y.first[c >> 1], f->ndim > 1,
                                        y.weight[c >> 1]);
    }
    for (int c = 0; c < 8; c++) {
        vec4 low[2] = {plane[z.first[c >> 2]][c & 3], plane[0][0]};
        if (f->ndim > 2) low[1] = plane[z.first[c >> 2] + 1][c & 3];
        cell[c] = turb_between4(low, f->ndim > 2, z.weight[c >> 2]);
    }
}

/* The same for cells as wide as the spacings, in the middle of eight of 27 nodes. */
VEC4_INLINE void turb_cells_centred(const struct turb_force *f, const int64_t q[3], vec4 cell[8])
{
    int at[3][3];
    vec4 plane[3][4]; /* four times the means, [z][cell in x and y] */
    for (int d = 0; d < 3; d++)
        for (int k = 0; k < 3; k++) at[d][k] = (int)((2 * q[d] + k) & (TURB_NODES - 1));
    for (int k = 0; k < 3; k++) {
        vec4 row[3][2]; /* twice the means, [y][cell in x] */
        for (int j = 0; j < 3; j++) {
            const int first = (at[2][k] * TURB_NODES + at[1][j]) * TURB_NODES;
            const vec4 mid = turb_node(f, first + at[0][1]);
            row[j][0] = turb_node(f, first + at[0][0]) + mid;
            row[j][1] = mid + turb_node(f, first + at[0][2]);
        }
        for (int c = 0; c < 4; c++) plane[k][c] = row[c >> 1][c & 1] + row[(c >> 1) + 1][c & 1];
    }
    for (int c = 0; c < 8; c++)
        cell[c] = 0.125 * (plane[c >> 2][c & 3] + plane[(c >> 2) + 1][c & 3]);
}

/* Eight nodes around an oct of a fine level. */
struct turb_near {
    int64_t cell[3]; /* of the lattice */
    bool known;
    vec4 node[8];
};

VEC4_INLINE void turb_cells_near(const struct turb_force *f, const int64_t q[3],
                                 struct turb_near *near, vec4 cell[8])
{
    double w[3][2];
    int at[3][2];
    vec4 row[4][2], plane[2][4];
    for (int d = 0; d < 3; d++)
        for (int c = 0; c < 2; c++) turb_axis(f, 2 * q[d] + c, at[d], &w[d][c]);
    bool same = near->known;
    for (int d = 0; d < 3; d++) same &= near->cell[d] == q[d] >> f->shift;
    if (!same) {
        near->known = true;
        for (int d = 0; d < 3; d++) near->cell[d] = q[d] >> f->shift;
        for (int k = 0; k < 8; k++)
            near->node[k] = turb_node(
                f, (at[2][k >> 2] * TURB_NODES + at[1][k >> 1 & 1]) * TURB_NODES + at[0][k & 1]);
    }
    for (int k = 0; k < 8; k++)
        row[k >> 1][k & 1] = near->node[k & 6] * (1.0 - w[0][k & 1]) +
                             near->node[(k & 6) + 1] * w[0][k & 1];
    for (int k = 0; k < 8; k++)
        plane[k >> 2][k & 3] = row[k >> 2 << 1][k & 1] * (1.0 - w[1][k >> 1 & 1]) +
                               row[(k >> 2 << 1) + 1][k & 1] * w[1][k >> 1 & 1];
    for (int c = 0; c < 8; c++)
        cell[c] = plane[0][c & 3] * (1.0 - w[2][c >> 2]) + plane[1][c & 3] * w[2][c >> 2];
}

/* Accelerations of the eight cells of the oct with coordinates q, from a lattice:
 * out[component][half]. near: of the octs before, of the same force; at first 0. */
VEC4_INLINE void turb_cells(const struct turb_force *f, const int64_t q[3], struct turb_near *near,
                            vec4 out[3][2])
{
    vec4 cell[8];
    if (f->ndim < 3 || f->shift < -1)
        turb_cells_far(f, q, cell);
    else if (f->shift < 0)
        turb_cells_centred(f, q, cell);
    else
        turb_cells_near(f, q, near, cell);
    for (int h = 0; h < 2; h++) {
        vec4 column[4];
        vec4_transpose(cell + 4 * h, column);
        for (int d = 0; d < 3; d++) out[d][h] = column[d];
    }
}
#endif
