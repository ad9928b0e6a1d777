/* ckpt/magnetic: the magnetic field of a checkpoint, on the faces of cells, as RAMSES stores it:
 * fields B_x_left, B_x_right, B_y_left … */
#pragma once
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "ckpt/source.h"

struct magnetic {
    int face[6]; /* indices of the fields on the faces −x,+x,−y,+y,−z,+z; -1: no such field */
    int ndim;
    bool there; /* whether all six exist */
};

static inline void magnetic_name(int f, char name[16])
{
    snprintf(name, 16, "B_%c_%s", "xyz"[f / 2], f & 1 ? "right" : "left");
}

static inline struct magnetic magnetic_of(const struct source *r)
{
    struct magnetic m = {.ndim = r->head.ndim, .there = true};
    for (int f = 0; f < 6; f++) {
        char name[16];
        magnetic_name(f, name);
        m.face[f] = -1;
        for (int v = 0; v < source_hydro(r); v++)
            if (strcmp(r->field[v].name, name) == 0) m.face[f] = v;
        m.there &= m.face[f] >= 0;
    }
    return m;
}

/* Of cell c of oct i of a batch of SOURCE_STORED: the field on face f; component d at the centre,
 * the mean of both faces; |B| there; |div B| times the width of the cell, over |B|. */
static inline double magnetic_face(const struct magnetic *m, const struct source_octs *o, int f,
                                   int c, int i)
{
    return o->val[8 * m->face[f] + c][i];
}

static inline double magnetic_centre(const struct magnetic *m, const struct source_octs *o, int d,
                                     int c, int i)
{
    return 0.5 * (magnetic_face(m, o, 2 * d, c, i) + magnetic_face(m, o, 2 * d + 1, c, i));
}

static inline double magnetic_strength(const struct magnetic *m, const struct source_octs *o, int c,
                                       int i)
{
    double b2 = 0;
    for (int d = 0; d < 3; d++)
        b2 += magnetic_centre(m, o, d, c, i) * magnetic_centre(m, o, d, c, i);
    return sqrt(b2);
}

static inline double magnetic_divergence(const struct magnetic *m, const struct source_octs *o,
                                         int c, int i)
{
    double sum = 0;
    for (int d = 0; d < m->ndim; d++)
        sum += magnetic_face(m, o, 2 * d + 1, c, i) - magnetic_face(m, o, 2 * d, c, i);
    return sum == 0 ? 0 : fabs(sum) / magnetic_strength(m, o, c, i);
}
