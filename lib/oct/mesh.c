/* oct/mesh: storage of the octree and its links.
 *
 * Neighbours are found without a search: the face neighbour of an oct is a sibling, or a child of
 * its parent's neighbour, so links are made from the coarse levels downwards (mesh_link). The hash
 * table serves the rest: corners across missing octs, and keys that come from other ranks. How a
 * level changes: oct/replace. */
#include "oct/mesh.h"

#include <math.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "oct/find_kern.h"

void mesh_init(struct mesh *m, int levelmin, int levelmax, int nvar, bool hydro, bool gravity,
               double boxlen, const bool bounded[6])
{
    memset(m, 0, sizeof *m);
    m->levelmin = levelmin;
    m->levelmax = levelmax;
    m->nvar = hydro ? nvar : 0;
    m->hydro = hydro;
    m->gravity = gravity;
    m->boxlen = boxlen;
    m->per_boxlen = frexp(boxlen, &(int){0}) == 0.5 ? 1 / boxlen : 0;
    memcpy(m->bounded, bounded, sizeof m->bounded);
    for (int l = 0; l < LEVEL_MAX + 2; l++) m->lev[l].level = l;
}

struct mesh_bytes mesh_bytes(int nvar, bool gravity)
{
    const struct level *lv = NULL;
    return (struct mesh_bytes){.links = sizeof *lv->key + sizeof *lv->child + sizeof *lv->parent +
                                        sizeof *lv->nbr + sizeof *lv->flag +
                                        (gravity ? sizeof *lv->dense : 0),
                               .hash = 2 * sizeof *lv->hash.slot, /* half full, on average */
                               .gas = sizeof **lv->fld * (size_t)nvar,
                               .gravity = gravity ? sizeof **lv->fld * FLD_U : 0,
                               .moments = nvar && gravity ? sizeof(double[3]) : 0};
}

size_t mesh_oct_bytes(int nvar, bool gravity)
{
    struct mesh_bytes b = mesh_bytes(nvar, gravity);
    return b.links + b.hash + b.gas + b.gravity + b.moments;
}

bool mesh_has_field(const struct mesh *m, int f)
{
    return f < FLD_U ? m->gravity : f < FLD_U + m->nvar;
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
    FREE(lv->edge);
    FREE(lv->edge_flux);
    xplan_free(&lv->plan);
    lv->nown = lv->noct = 0;
}

void mesh_fini(struct mesh *m)
{
    for (int l = 0; l < LEVEL_MAX + 2; l++) level_free(&m->lev[l]);
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

/* Neighbour `to` of a cube is across `face` of neighbour `from`: faces from the centre, edges from
 * faces, corners from edges, each by its first path (the others: cube_hard). */
static const struct {
    unsigned char to, from, face;
} WAY[26] = {{4, 13, 4},  {10, 13, 2}, {12, 13, 0}, {14, 13, 1}, {16, 13, 3}, {22, 13, 5},
             {1, 4, 2},   {3, 4, 0},   {5, 4, 1},   {7, 4, 3},   {9, 10, 0},  {11, 10, 1},
             {15, 16, 0}, {17, 16, 1}, {19, 22, 2}, {21, 22, 0}, {23, 22, 1}, {25, 22, 3},
             {0, 1, 0},   {2, 1, 1},   {6, 7, 0},   {8, 7, 1},   {18, 19, 0}, {20, 19, 1},
             {24, 25, 0}, {26, 25, 1}};

/* From oct i across the faces in which s[] is not 0, one after the other, beginning with face
 * `first`: NBR_NONE where the way ends, although the oct may exist. */
static lidx walk(const struct level *lv, lidx i, const int s[3], int first)
{
    for (int k = 0; k < 3 && i >= 0; k++) {
        int d = (first + k) % 3;
        if (s[d]) i = lv->nbr[i][2 * d + (s[d] > 0)];
    }
    return i;
}

/* The neighbour of oct i at s[], among the children of its parent or of an oct beside that: such an
 * oct is here if a child of it is. */
static lidx cube_hard(const struct mesh *m, int l, lidx i, int c)
{
    const struct level *lv = &m->lev[l], *up = &m->lev[l - 1];
    const int s[3] = {c % 3 - 1, c / 3 % 3 - 1, c / 9 - 1};
    int slot = oct_slot(lv, i), across[3], crossed = 0;
    for (int d = 0; d < 3; d++) {
        int bit = slot >> d & 1;
        across[d] = bit + s[d] == 2 ? 1 : bit + s[d] == -1 ? -1 : 0;
        crossed += across[d] != 0;
        slot ^= s[d] ? 1 << d : 0;
    }
    for (int first = 0; l > 1 && first < 3; first++) {
        lidx p = walk(up, lv->parent[i], across, first);
        if (p >= 0) return up->child[p][slot];
        if (p != NBR_NONE || crossed == 1) return p;
    }
    return mesh_neighbour(m, l, i, s[0], s[1], s[2]);
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

void mesh_cube(const struct mesh *m, int l, lidx i, lidx cube[27])
{
    const lidx(*nbr)[6] = m->lev[l].nbr;
    cube[13] = i;
    for (int k = 0; k < 6; k++) cube[WAY[k].to] = nbr[i][WAY[k].face];
    for (int k = 6; k < 26; k++) {
        lidx j = cube[WAY[k].from];
        if (j >= 0) j = nbr[j][WAY[k].face];
        cube[WAY[k].to] = j != NBR_NONE ? j : cube_hard(m, l, i, WAY[k].to);
    }
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
        up->child[p][lv->key[i] & 7] = i;
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
    for (lidx i = 0; i < lv->noct; i++)
        oct_faces((const lidx(*)[6])up->nbr, (const lidx(*)[8])up->child, lv->parent[i],
                  oct_slot(lv, i), lv->nbr[i]);
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
