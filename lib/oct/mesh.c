/* oct/mesh: storage of the octree and its links.
 *
 * Neighbours are found without a search: the face neighbour of an oct is a sibling, or a child of
 * its parent's neighbour, so links are made from the coarse levels downwards (mesh_link). The hash
 * table serves other searches: corners across missing octs, and keys received from other ranks.
 * Changes of a level: oct/replace. */
#include "oct/mesh.h"

#include <math.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "oct/find_kern.h"

void mesh_init(struct mesh *m, int levelmin, int levelmax, int nvar, bool hydro, int gravity,
               double boxlen, const bool bounded[6])
{
    memset(m, 0, sizeof *m);
    m->levelmin = levelmin;
    m->levelmax = levelmax;
    m->nvar = hydro ? nvar : 0;
    m->hydro = hydro;
    m->gravity = gravity;
    m->magnetic = false;
    m->nphoton = 0;
    m->boxlen = boxlen;
    m->per_boxlen = frexp(boxlen, &(int){0}) == 0.5 ? 1 / boxlen : 0;
    memcpy(m->bounded, bounded, sizeof m->bounded);
    mesh_set_ndim(m, 3);
    for (int l = 0; l < LEVEL_MAX + 2; l++) m->lev[l].level = l;
}

void mesh_set_ndim(struct mesh *m, int ndim)
{
    m->ndim = ndim;
    m->cells = 1 << ndim;
    for (int f = 2 * ndim; f < 6; f++) m->bounded[f] = true;
}

void mesh_set_magnetic(struct mesh *m, bool magnetic)
{
    m->magnetic = magnetic && m->hydro;
}

void mesh_set_energies(struct mesh *m, int n)
{
    for (int l = 0; l < LEVEL_MAX + 2; l++) m->lev[l].nener = n;
}

void mesh_set_photons(struct mesh *m, int groups)
{
    BUG_ON(groups < 0 || groups > PHOTON_GROUPS || (groups > 0 && !m->hydro));
    m->nphoton = PHOTON_VALUES * groups;
}

struct mesh_kind mesh_kind(const struct mesh *m)
{
    return (struct mesh_kind){m->nvar, m->gravity, m->magnetic, m->nphoton};
}

struct mesh_bytes mesh_bytes(struct mesh_kind k)
{
    const struct level *lv = NULL;
    const struct mesh_kind alone = {k.nvar, 0, k.magnetic, 0};
    size_t n[2] = {0}; /* fields that need neither gravity nor radiation, that need gravity */
    for (int f = 0; f < FLD_MAX; f++)
        if (field_exists(f, k)) n[!field_exists(f, alone)]++;
    n[1] -= (size_t)k.nphoton;
    return (struct mesh_bytes){.links = sizeof *lv->key + sizeof *lv->child + sizeof *lv->parent +
                                        sizeof *lv->nbr + sizeof *lv->flag +
                                        (k.gravity ? sizeof *lv->dense : 0),
                               .hash = 2 * sizeof *lv->hash.slot, /* half full, on average */
                               .gas = sizeof **lv->fld * n[0],
                               .gravity = sizeof **lv->fld * n[1],
                               .radiation = sizeof **lv->fld * (size_t)k.nphoton,
                               .moments = k.nvar && k.gravity ? sizeof(double[3]) : 0};
}

size_t mesh_oct_bytes(struct mesh_kind k)
{
    struct mesh_bytes b = mesh_bytes(k);
    return b.links + b.hash + b.gas + b.gravity + b.radiation + b.moments;
}

bool mesh_has_field(const struct mesh *m, int f)
{
    return field_exists(f, mesh_kind(m));
}

void xplan_free(struct xplan *p)
{
    FREE(p->peer);
    FREE(p->sfirst);
    FREE(p->send);
    FREE(p->rfirst);
    FREE(p->recv);
    p->npeer = 0;
}

static void level_free(struct level *lv)
{
    for (int f = 0; f < FLD_MAX; f++) FREE(lv->fld[f]);
    FREE(lv->key);
    FREE(lv->child);
    FREE(lv->parent);
    FREE(lv->nbr);
    FREE(lv->flag);
    FREE(lv->dense);
    FREE(lv->hash.slot);
    for (int s = 0; s < REFLUX_SYSTEMS; s++) {
        FREE(lv->reflux[s].row);
        FREE(lv->reflux[s].flux);
    }
    xplan_free(&lv->plan);
    lv->nown = lv->noct = 0;
}

void mesh_fini(struct mesh *m)
{
    for (int l = 0; l < LEVEL_MAX + 2; l++) level_free(&m->lev[l]);
}

void mesh_flag_all(struct mesh *m, int l)
{
    struct level *lv = &m->lev[l];
    for (lidx i = 0; i < lv->noct; i++)
        for (int c = 0; c < 8; c++) lv->flag[i][c] = c < m->cells;
}

void mesh_empty(struct mesh *m)
{
    const struct mesh was = *m;
    mesh_fini(m);
    mesh_init(m, was.levelmin, was.levelmax, was.nvar, was.hydro, was.gravity, was.boxlen,
              was.bounded);
    mesh_set_ndim(m, was.ndim);
    mesh_set_magnetic(m, was.magnetic);
    mesh_set_energies(m, was.lev[0].nener);
    mesh_set_photons(m, was.nphoton / PHOTON_VALUES);
}

int64_t mesh_own_octs(const struct mesh *m)
{
    int64_t n = 0;
    for (int l = 1; l <= m->levelmax; l++) n += m->lev[l].nown;
    return n;
}

lidx mesh_find(const struct level *lv, okey k)
{
    return level_find(lv, k);
}

/* ---- neighbours ---- */

bool mesh_key_at(const struct mesh *m, int l, const int64_t x[3], okey *k)
{
    return level_key_at(m->bounded, l, x, k);
}

lidx mesh_neighbour(const struct mesh *m, int l, lidx i, int dx, int dy, int dz)
{
    const struct level *lv = &m->lev[l];
    okey k;
    int64_t x[3];
    okey_coords(lv->key[i], x);
    x[0] += dx, x[1] += dy, x[2] += dz;
    return mesh_key_at(m, l, x, &k) ? mesh_find(lv, k) : NBR_BOUNDARY;
}

/* Finds one oct of mesh_corner, through a face of one found before, or by its key if all of these
 * are missing. */
static lidx corner_oct(const struct mesh *m, int l, int slot, int k, const lidx oct[8])
{
    int s[3];
    for (int d = 0; d < 3; d++) {
        const int high = slot >> d & 1;
        const lidx from = k >> d & 1 ? oct[k ^ 1 << d] : NBR_NONE;
        if (from != NBR_NONE) return from >= 0 ? m->lev[l].nbr[from][2 * d + high] : from;
        s[d] = k >> d & 1 ? 2 * high - 1 : 0;
    }
    return mesh_neighbour(m, l, oct[0], s[0], s[1], s[2]);
}

void mesh_corner(const struct mesh *m, int l, lidx i, int slot, int axes, lidx oct[8])
{
    oct[0] = i;
    for (int k = 1; k <= axes; k++)
        if (!(k & ~axes)) oct[k] = corner_oct(m, l, slot, k, oct);
}

/* Finds all octs of mesh_corner, fast if none is missing. */
static inline void corner_octs(const struct mesh *m, int l, lidx p, int slot, lidx oct[8])
{
    const lidx(*nbr)[6] = (const lidx(*)[6])m->lev[l].nbr;
    const int y = 2 + (slot >> 1 & 1), z = 4 + (slot >> 2);
    oct[0] = p;
    oct[1] = nbr[p][slot & 1];
    oct[2] = nbr[p][y];
    oct[4] = nbr[p][z];
    oct[3] = oct[1] >= 0 ? nbr[oct[1]][y] : NBR_NONE;
    if (oct[2] >= 0 && oct[3] >= 0) {
        oct[5] = nbr[oct[1]][z];
        oct[6] = nbr[oct[2]][z];
        oct[7] = nbr[oct[3]][z];
        return;
    }
    mesh_corner(m, l, p, slot, 7, oct);
}

bool mesh_is_graded(const struct mesh *m, int l, lidx i)
{
    lidx around[8];
    bool good = true;
    corner_octs(m, l - 1, m->lev[l].parent[i], oct_slot(&m->lev[l], i), around);
    for (int k = 0; k < 8; k++) good &= around[k] != NBR_NONE;
    return good;
}

lidx *mesh_halo(lidx nown, lidx noct, const lidx (*nbr)[6], lidx *n)
{
    lidx *halo = mem_new(sizeof *halo * (size_t)(noct - nown) + 1, "mesh");
    *n = 0;
    for (lidx i = nown; i < noct; i++) {
        bool touches = false;
        for (int f = 0; f < 6; f++) touches |= nbr[i][f] >= 0 && nbr[i][f] < nown;
        if (touches) halo[(*n)++] = i;
    }
    return halo;
}

/* Cells, along x, of the octs around the child in cell c of a parent; 8 is added beyond the first
 * parent. Factors: 1 along x, 2 along y, 4 along z. */
static const unsigned char ALONG[2][3] = {{8 + 1, 0, 1}, {0, 1, 8}};

/* Finds the 27 octs around oct i among the children of its parent and of the seven octs around
 * that; an oct is present only if its parent is. */
void mesh_cube(const struct mesh *m, int l, lidx i, lidx cube[27])
{
    if (l == 1) {
        for (int k = 0; k < 27; k++)
            cube[k] = mesh_neighbour(m, l, i, k % 3 - 1, k / 3 % 3 - 1, k / 9 - 1);
        return;
    }
    const int slot = oct_slot(&m->lev[l], i);
    const unsigned char *x = ALONG[slot & 1], *y = ALONG[slot >> 1 & 1], *z = ALONG[slot >> 2];
    lidx up[8], child[8][8];
    corner_octs(m, l - 1, m->lev[l].parent[i], slot, up);
    for (int k = 0; k < 8; k++)
        if (up[k] >= 0)
            memcpy(child[k], m->lev[l - 1].child[up[k]], sizeof child[k]);
        else
            for (int c = 0; c < 8; c++) child[k][c] = up[k];
    for (int k = 0; k < 9; k++) {
        const lidx *row = child[0] + 2 * y[k % 3] + 4 * z[k / 3];
        for (int c = 0; c < 3; c++) cube[3 * k + c] = row[x[c]];
    }
    for (int k = 0; k < 27 && m->ndim < 3; k++)
        if (k / 9 != 1 || (m->ndim < 2 && k / 3 % 3 != 1)) cube[k] = NBR_BOUNDARY;
}

/* ---- links ---- */

enum { PARALLEL_FROM = 1024 /* octs */ };

static void link_parents(struct mesh *m, int l)
{
    struct level *lv = &m->lev[l], *up = &m->lev[l - 1];
    lv->links++;
    up->links++;
    if (l == 1) {
        for (lidx i = 0; i < lv->noct; i++) lv->parent[i] = -1;
        return;
    }
    memset(up->child, 0xff, sizeof up->child[0] * (size_t)up->noct);
    lidx p = -1;
    for (lidx i = 0; i < lv->noct; i++) {
        okey k = lv->key[i] >> 3;
        if (p < 0 || up->key[p] != k) p = mesh_find(up, k);
        BUG_ON(p < 0);
        lv->parent[i] = p;
        oct_link_child(up->child[p], oct_slot(lv, i), m->cells, i);
    }
}

void mesh_link_neighbours(struct mesh *m, int l)
{
    struct level *lv = &m->lev[l], *up = &m->lev[l - 1];
    if (l == 1) {
        for (lidx i = 0; i < lv->noct; i++)
            for (int f = 0; f < 6; f++) lv->nbr[i][f] = m->bounded[f] ? NBR_BOUNDARY : i;
        return;
    }
#pragma omp parallel for schedule(static) if (lv->noct >= PARALLEL_FROM)
    for (lidx i = 0; i < lv->noct; i++) {
        oct_faces((const lidx(*)[6])up->nbr, (const lidx(*)[8])up->child, lv->parent[i],
                  oct_slot(lv, i), lv->nbr[i]);
        faces_missing(m->ndim, lv->nbr[i]);
    }
}

void mesh_link_down(struct mesh *m, int l)
{
    link_parents(m, l);
    mesh_link_neighbours(m, l);
}

void mesh_link(struct mesh *m, int l)
{
    mesh_link_down(m, l);
    if (l < m->levelmax) link_parents(m, l + 1);
}
