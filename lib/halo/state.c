/* halo/state: see state.h. */
#include "halo/state.h"

#include <math.h>

#include "base/mem.h"
#include "oct/fields.h"

struct bodies {
    int64_t n;
    struct halo_body *at;
};

static double wrapped(double x, bool periodic)
{
    if (!periodic) return x;
    x -= floor(x);
    return x < 1 ? x : 0;
}

static void put_particles(struct bodies *b, const struct parts *q, double box,
                          const bool periodic[3])
{
    for (int64_t i = 0; i < q->n; i++) {
        struct halo_body *p = &b->at[b->n];
        if (q->family[i] <= 0) continue; /* tracers have no mass */
        *p = (struct halo_body){.m = q->m[i],
                                .id = q->id[i],
                                .kind = q->family[i] == FAM_DM     ? HALO_DM
                                        : q->family[i] == FAM_STAR ? HALO_STAR
                                                                   : HALO_GAS};
        for (int k = 0; k < 3; k++) {
            p->x[k] = wrapped(q->x[k][i] / box, periodic[k]);
            p->v[k] = q->v[k][i];
        }
        b->n++;
    }
}

static void put_gas(struct bodies *b, const struct mesh *m, int l)
{
    const struct level *lv = &m->lev[l];
    double size = ldexp(1, -l), volume = pow(size * m->boxlen, 3);
    for (lidx i = 0; i < lv->nown; i++) {
        int64_t at[3];
        okey_coords(lv->key[i], at);
        for (int c = 0; c < 8; c++) {
            if (lv->child[i][c] >= 0) continue;
            struct halo_body *p = &b->at[b->n++];
            *p = (struct halo_body){.m = lv->fld[FLD_U][i][c] * volume, .kind = HALO_GAS};
            for (int k = 0; k < 3; k++) p->x[k] = ((double)(2 * at[k] + (c >> k & 1)) + 0.5) * size;
        }
    }
}

struct halo_body *halo_state(const struct mesh *m, const struct parts *p, const bool periodic[3],
                             int64_t *n)
{
    int64_t room = p->n;
    for (int l = m->levelmin; l <= m->levelmax && m->hydro; l++) room += 8 * m->lev[l].nown;
    struct bodies b = {.at = mem_new(sizeof *b.at * (size_t)room + 1, "halos: bodies")};
    put_particles(&b, p, m->boxlen, periodic);
    for (int l = m->levelmin; l <= m->levelmax && m->hydro; l++) put_gas(&b, m, l);
    *n = b.n;
    return b.at;
}
