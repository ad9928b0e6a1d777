/* ramses/amr: writes the amr file of a rank. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "ckpt/gas.h"
#include "ramses/out.h"

static void write_head(struct fort_out *f, const struct ramses_out *w);
static void write_lists(struct fort_out *f, const struct ramses_out *w);
static void write_domains(struct fort_out *f, const struct ramses_out *w);
static void write_block(struct fort_out *f, const struct ramses_block *b);

enum err ramses_write_amr(const struct ramses_out *w, const char *path)
{
    struct fort_out f;
    ramses_out_create(&f, w, path);
    write_head(&f, w);
    write_lists(&f, w);
    write_domains(&f, w);
    for (int l = 1; l <= w->o.nlevel; l++)
        for (int r = 0; r < w->o.c->size + w->o.h->boundary.n && f.err == OK; r++) {
            struct ramses_block b = ramses_block_of(w, l, r);
            if (b.n) write_block(&f, &b);
        }
    return fort_close(&f);
}

/* ---- coarse cells ---- */

/* Number of coarse cells along axis d: 3 with boundaries, of which the second is the box. */
static int coarse_count(const struct ramses_out *w, int d)
{
    return w->boundary_octs ? w->boundary_octs->lay.n[d] : 1;
}

static int32_t coarse_cells(const struct ramses_out *w)
{
    return coarse_count(w, 0) * coarse_count(w, 1) * coarse_count(w, 2);
}

/* Index of the coarse cell at this offset from the box, wrapped around. */
static int32_t coarse_cell(const struct ramses_out *w, const int shift[3])
{
    int at = 0, stride = 1;
    for (int d = 0; d < 3; d++) {
        int n = coarse_count(w, d), skip = n > 1;
        at += stride * ((skip + shift[d] + n) % n);
        stride *= n;
    }
    return 1 + at;
}

/* Writes the records son, flag1, cpu_map of the coarse cells. */
static void write_coarse(struct fort_out *f, const struct ramses_out *w)
{
    int32_t cell[3][BOUNDARY_CODES] = {{0}}, box = coarse_cell(w, (int[3]){0}) - 1;
    size_t bytes = sizeof **cell * (size_t)coarse_cells(w);
    cell[0][box] = w->o.m->lev[1].noct ? w->number[1][0] : 0;
    cell[1][box] = 1;
    cell[2][box] = domain_rank(w->o.d, 1, 0) + 1;
    for (int k = 0; w->boundary_octs && k < w->boundary_octs->lay.ncode; k++) {
        int code = w->boundary_octs->lay.code[k],
            at = coarse_cell(w, w->boundary_octs->lay.rule[code].shift) - 1;
        cell[0][at] = boundary_octs_find(w->boundary_octs, 1, code, 0);
        cell[1][at] = 1;
    }
    for (int i = 0; i < 3; i++) fort_record(f, cell[i], bytes);
}

static void write_head(struct fort_out *f, const struct ramses_out *w)
{
    const struct ckpt_head *h = w->o.h;
    size_t levels = sizeof(double) * (size_t)w->o.nlevel,
           outputs = sizeof(double) * (size_t)h->noutput;
    fort_i4(f, w->o.c->size);
    fort_i4(f, h->ndim);
    fort_record(f, (int32_t[]){coarse_count(w, 0), coarse_count(w, 1), coarse_count(w, 2)}, 12);
    fort_i4(f, w->o.nlevel);
    fort_i4(f, (int32_t)w->o.ngridmax);
    fort_i4(f, h->boundary.n);
    fort_i4(f, w->ngrid);
    fort_r8(f, h->boxlen);
    fort_record(f, (int32_t[]){h->noutput, h->iout, h->ifout}, 12);
    fort_record(f, h->tout, outputs);
    fort_record(f, h->aout, outputs);
    fort_r8(f, h->t);
    fort_record(f, h->dtold + 1, levels);
    fort_record(f, h->dtnew + 1, levels);
    fort_record(f, (int32_t[]){h->nstep, h->nstep_coarse}, 8);
    fort_record(f, (double[]){h->einit, h->mass_tot_0, h->rho_tot}, 24);
    fort_record(f,
                (double[]){h->omega_m, h->omega_l, h->omega_k, h->omega_b, h->h0, h->aexp_ini,
                           h->boxlen_ini},
                56);
    fort_record(f, (double[]){h->aexp, h->hexp, h->aexp_old, h->epot_tot_int, h->epot_tot_old}, 40);
    fort_r8(f, h->mass_sph);
}

/* Writes the records headb, tailb, numbb. */
static void write_boundary_lists(struct fort_out *f, const struct ramses_out *w)
{
    int nb = w->o.h->boundary.n;
    size_t lists = (size_t)w->o.nlevel * (size_t)nb;
    if (nb == 0) return;
    int32_t *v = mem_zero(sizeof *v * 3 * lists, "checkpoint");
    for (int l = 1; l <= w->o.nlevel; l++)
        for (int i = 0; i < nb; i++) {
            struct ramses_block b = ramses_block_of(w, l, w->o.c->size + i);
            int32_t *to = v + (l - 1) * nb + i;
            if (b.n) to[0] = b.first, to[lists] = b.first + b.n - 1, to[2 * lists] = b.n;
        }
    for (int i = 0; i < 3; i++) fort_record(f, v + (size_t)i * lists, sizeof *v * lists);
    FREE(v);
}

/* Writes the records headl, taill, numbl, numbtot, the boundary lists, and the free list.
 * numbtot is 8 bytes wide, as with LONGINT, if requested or necessary. */
static void write_lists(struct fort_out *f, const struct ramses_out *w)
{
    size_t lists = (size_t)w->o.nlevel * (size_t)w->o.c->size, ntot = 10 * (size_t)w->o.nlevel;
    int32_t *v = mem_new(sizeof *v * (lists > ntot ? lists : ntot), "checkpoint");
    int64_t *wide = mem_zero(sizeof *wide * ntot, "checkpoint"), greatest = 0;
    for (size_t i = 0; i < lists; i++) v[i] = w->count[i] ? w->first[i] : 0;
    fort_record(f, v, sizeof *v * lists);
    for (size_t i = 0; i < lists; i++) v[i] = w->count[i] ? w->first[i] + w->count[i] - 1 : 0;
    fort_record(f, v, sizeof *v * lists);
    fort_record(f, w->count, sizeof *v * lists);
    for (int l = 1; l <= w->o.nlevel; l++) {
        int64_t *row = wide + 10 * (l - 1);
        row[0] = w->o.total[l], row[1] = w->o.min[l], row[2] = w->o.max[l],
        row[3] = w->o.total[l] / w->o.c->size;
        if (row[0] > greatest) greatest = row[0];
    }
    for (size_t i = 0; i < ntot; i++) v[i] = (int32_t)wide[i];
    if (w->o.h->longint || greatest > INT32_MAX)
        fort_record(f, wide, sizeof *wide * ntot);
    else
        fort_record(f, v, sizeof *v * ntot);
    write_boundary_lists(f, w);
    int32_t n = w->ngrid, max = (int32_t)w->o.ngridmax, free = n < max;
    fort_record(f, (int32_t[]){free ? n + 1 : 0, free ? max : 0, max - n, n, n}, 20);
    FREE(wide);
    FREE(v);
}

static void write_bounds(struct fort_out *f, const struct ramses_out *w)
{
    size_t n = (size_t)w->o.c->size + 1;
    double *bound = mem_new(sizeof *bound * n, "checkpoint");
    domain_bound_keys(w->o.d, bound);
    fort_record(f, bound, sizeof *bound * n);
    FREE(bound);
}

/* Writes the ten records of cuRAMSES's k-section tree; lengths in code units. */
static void write_tree(struct fort_out *f, const struct ramses_out *w)
{
    struct domain_tree t;
    domain_tree(w->o.d, &t);
    size_t levels = sizeof(int32_t) * (size_t)t.nlev, nodes = (size_t)t.nnode, k = (size_t)t.kmax,
           box = 3 * (size_t)w->o.c->size;
    for (size_t i = 0; i < nodes * (k - 1); i++) t.cut[i] *= w->o.h->boxlen;
    for (size_t i = 0; i < box; i++) t.low[i] *= w->o.h->boxlen, t.high[i] *= w->o.h->boxlen;
    fort_i4(f, t.nlev);
    fort_i4(f, t.kmax);
    fort_i4(f, t.nnode);
    fort_record(f, t.factor, levels);
    fort_record(f, t.axis, levels);
    fort_record(f, t.cut, sizeof *t.cut * nodes * (k - 1));
    fort_record(f, t.next, sizeof *t.next * nodes * k);
    fort_record(f, t.rank, sizeof *t.rank * nodes);
    fort_record(f, t.low, sizeof *t.low * box);
    fort_record(f, t.high, sizeof *t.high * box);
    domain_tree_free(&t);
}

static void write_domains(struct fort_out *f, const struct ramses_out *w)
{
    bool hilbert = domain_kind(w->o.d) == DOMAIN_HILBERT;
    char ordering[129];
    snprintf(ordering, sizeof ordering, "%-128s", hilbert ? "hilbert" : "ksection");
    fort_record(f, ordering, 128);
    (hilbert ? write_bounds : write_tree)(f, w);
    write_coarse(f, w);
}

/* ---- octs ---- */

static int32_t index_of(const struct ramses_out *w, int cell, int32_t number)
{
    return number ? (int32_t)(coarse_cells(w) + cell * w->o.ngridmax + number) : 0;
}

static int32_t cell_index(const struct ramses_out *w, int level, lidx oct, int cell)
{
    return index_of(w, cell, w->number[level][oct]);
}

/* Code of the coarse cell beyond a face of the box. */
static int face_code(int face)
{
    static const int stride[3] = {1, 3, 9};
    return BOUNDARY_BOX + (face & 1 ? 1 : -1) * stride[face / 2];
}

/* Numbers of an oct's parent, the last, and of the parent's neighbours across its faces; 0: not on
 * this rank. Siblings follow each other, so the numbers are computed once for all of them. */
enum { PARENT = 6 };
struct kin {
    lidx parent; /* -1: none yet */
    int32_t number[PARENT + 1];
};

/* The number of the neighbour of oct p of a level across a face, also beyond the boundary. */
static int32_t number_beyond(const struct ramses_out *w, int level, lidx p, int face)
{
    const struct level *lv = &w->o.m->lev[level];
    lidx q = lv->nbr[p][face];
    int step = face & 1 ? 1 : -1, d = face / 2;
    if (q == NBR_BOUNDARY && w->boundary_octs)
        return boundary_octs_find(w->boundary_octs, level, face_code(face), p);
    if (q < 0)
        q = mesh_find(lv, okey_shift(lv->key[p], level, d == 0 ? step : 0, d == 1 ? step : 0,
                                     d == 2 ? step : 0, NULL));
    return q < 0 ? 0 : w->number[level][q];
}

static void find_kin(const struct ramses_out *w, int level, lidx parent, struct kin *k)
{
    if (k->parent == parent) return;
    k->parent = parent;
    k->number[PARENT] = w->number[level - 1][parent];
    for (int face = 0; face < 2 * w->o.h->ndim; face++)
        k->number[face] = number_beyond(w, level - 1, parent, face);
}

/* Index of the cell of a level at coordinates x, which may be beyond the boundary; 0: not on this
 * rank. */
static int32_t cell_at(const struct ramses_out *w, int level, const int64_t x[3])
{
    int64_t oct[3], last = ((int64_t)1 << level) - 1;
    int slot = 0;
    for (int d = 0; d < 3; d++) {
        int64_t y = w->o.m->bounded[2 * d] ? x[d] : x[d] & last;
        slot |= (int)(y & 1) << d;
        oct[d] = (y - (y & 1)) / 2;
    }
    int code = boundary_octs_split(level, oct);
    lidx i = mesh_find(&w->o.m->lev[level],
                       okey_make((uint64_t)oct[0], (uint64_t)oct[1], (uint64_t)oct[2]));
    if (i < 0) return 0;
    return code == BOUNDARY_BOX
               ? cell_index(w, level, i, slot)
               : index_of(w, slot, boundary_octs_find(w->boundary_octs, level, code, i));
}

/* Fills the records index, next, prev. */
static void fill_list(const void *ctx, int64_t first, int64_t n, char *rows, size_t stride)
{
    const struct ramses_block *b = ctx;
    int32_t *index = (int32_t *)rows, *next = (int32_t *)(rows + stride),
            *prev = (int32_t *)(rows + 2 * stride);
    for (int64_t i = 0; i < n; i++) {
        int32_t k = b->first + (int32_t)(first + i);
        index[i] = k;
        next[i] = first + i + 1 < b->n ? k + 1 : 0;
        prev[i] = first + i > 0 ? k - 1 : 0;
    }
}

/* Fills the records xg. */
static void fill_centre(const void *ctx, int64_t first, int64_t n, char *rows, size_t stride)
{
    const struct ramses_block *b = ctx;
    const struct level *lv = &b->w->o.m->lev[b->level];
    double side = ldexp(1, 1 - b->level);
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < n; i++) {
        const struct boundary_rule *r = ramses_block_rule(b, (int32_t)(first + i), NULL);
        okey key = lv->key[b->oct[first + i]];
        int64_t x[3];
        if (r)
            boundary_octs_position(r, b->level, key, x);
        else
            okey_coords(key, x);
        for (int d = 0; d < b->w->o.h->ndim; d++)
            ((double *)(rows + (size_t)d * stride))[i] = ((double)x[d] + 0.5) * side +
                                                         (coarse_count(b->w, d) > 1);
    }
}

/* Ranks of cells, cached from oct to oct: usually an ancestor two levels up belongs to a single
 * rank. */
struct ranks {
    okey above;
    int whole; /* rank of all cells in `above`, or -1 */
};

static void cell_ranks(const struct domain *d, int level, okey key, struct ranks *r, int rank[8])
{
    if (level > 2 && r->above != key >> 6)
        *r = (struct ranks){key >> 6, domain_whole(d, level - 2, key >> 6)};
    if (level <= 2 || r->whole < 0)
        domain_cell_ranks(d, level, key, rank);
    else
        for (int c = 0; c < 8; c++) rank[c] = r->whole;
}

/* maximum number of records */
enum { LINKS = 1 + 6 + 3 * 8 };

static int links(const struct ramses_out *w)
{
    return 1 + 2 * w->o.h->ndim + 3 * ramses_out_cells(w);
}

/* Index of the cell beyond a face of the oct's parent cell, on level 1 a coarse cell. */
static int32_t cell_beyond(const struct ramses_block *b, int slot, int face, const struct kin *k)
{
    int shift[3] = {0}, bit = 1 << face / 2;
    bool leaves = ((slot & bit) != 0) == (face & 1);
    if (b->level > 1) return index_of(b->w, slot ^ bit, k->number[leaves ? face : PARENT]);
    shift[face / 2] = face & 1 ? 1 : -1;
    return coarse_cell(b->w, shift);
}

/* Fills father, nbor, son, cpu_map, flag1 of one oct: column i of the rows. */
static void link_oct(const struct ramses_block *b, lidx oct, int64_t i,
                     int32_t rows[LINKS][GAS_TILE], struct ranks *r, struct kin *k)
{
    static const unsigned char unflagged[8];
    const struct ramses_out *w = b->w;
    const struct level *lv = &w->o.m->lev[b->level];
    const lidx *child = lv->child[oct];
    const int32_t *number = w->number[b->level + 1];
    const unsigned char *flag = lv->flag ? lv->flag[oct] : unflagged;
    const int slot = oct_slot(lv, oct);
    int row = 0, faces = 2 * w->o.h->ndim, cells = ramses_out_cells(w);
    if (b->level > 1) find_kin(w, b->level, lv->parent[oct], k);
#define NEXT_ROW rows[row++][i]
    NEXT_ROW = b->level == 1 ? coarse_cell(w, (int[3]){0}) : index_of(w, slot, k->number[PARENT]);
    for (int face = 0; face < faces; face++) NEXT_ROW = cell_beyond(b, slot, face, k);
    for (int c = 0; c < cells; c++) NEXT_ROW = child[c] >= 0 ? number[child[c]] : 0;
    int rank[8];
    cell_ranks(w->o.d, b->level, lv->key[oct], r, rank);
    for (int c = 0; c < cells; c++) NEXT_ROW = rank[c] + 1;
    for (int c = 0; c < cells; c++) NEXT_ROW = (child[c] >= 0) | (flag[c] != 0);
}

/* Index of the child of cell c of an oct beyond the boundary, which exists next to the box; 0:
 * none. */
static int32_t child_beyond(const struct ramses_block *b, lidx ref, const struct boundary_rule *r,
                            int c)
{
    const struct ramses_out *w = b->w;
    int before = 0;
    for (int d = 0; d < 3; d++) {
        int bit = c >> d & 1;
        if (r->shift[d] && bit != (r->shift[d] < 0)) return 0;
        before |= (r->shift[d] ? r->shift[d] > 0 : bit) << d;
    }
    lidx child = w->o.m->lev[b->level].child[ref][before];
    int code = r->shift[0] + 1 + 3 * (r->shift[1] + 1) + 9 * (r->shift[2] + 1);
    return child < 0 ? 0 : boundary_octs_find(w->boundary_octs, b->level + 1, code, child);
}

/* Fills father, nbor, son, cpu_map, flag1 of an oct beyond the boundary; ref: its reference. */
static void link_beyond(const struct ramses_block *b, lidx ref, const struct boundary_rule *r,
                        int64_t i, int32_t rows[LINKS][GAS_TILE])
{
    const struct ramses_out *w = b->w;
    const struct level *lv = &w->o.m->lev[b->level];
    int64_t x[3];
    int row = 0, cells = ramses_out_cells(w), shift[3];
    boundary_octs_position(r, b->level, lv->key[ref], x);
    memcpy(shift, r->shift, sizeof shift);
    NEXT_ROW = b->level == 1 ? coarse_cell(w, shift) : cell_at(w, b->level - 1, x);
    for (int face = 0; face < 2 * w->o.h->ndim; face++) {
        int step = face & 1 ? 1 : -1;
        x[face / 2] += step, shift[face / 2] += step;
        NEXT_ROW = b->level == 1 ? coarse_cell(w, shift) : cell_at(w, b->level - 1, x);
        x[face / 2] -= step, shift[face / 2] -= step;
    }
    for (int c = 0; c < cells; c++) NEXT_ROW = child_beyond(b, ref, r, c);
    for (int c = 0; c < cells; c++) NEXT_ROW = 0;
    for (int c = 0; c < cells; c++) {
        int from = r->from[c];
        NEXT_ROW = lv->child[ref][from] >= 0 || (lv->flag && lv->flag[ref][from]);
    }
#undef NEXT_ROW
}

static void fill_links(const void *ctx, int64_t first, int64_t n, char *rows, size_t stride)
{
    const struct ramses_block *b = ctx;
    struct ranks r = {~(okey)0, -1};
    struct kin kin = {.parent = -1};
    int nrow = links(b->w);
#pragma omp parallel for schedule(static) firstprivate(r, kin)
    for (int64_t at = 0; at < n; at += GAS_TILE) {
        int32_t tile[LINKS][GAS_TILE];
        int64_t k = n - at < GAS_TILE ? n - at : GAS_TILE;
        for (int64_t i = 0; i < k; i++) {
            const struct boundary_rule *beyond = ramses_block_rule(b, (int32_t)(first + at + i),
                                                                   NULL);
            lidx oct = b->oct[first + at + i];
            if (beyond)
                link_beyond(b, oct, beyond, i, tile);
            else
                link_oct(b, oct, i, tile, &r, &kin);
        }
        for (int row = 0; row < nrow; row++)
            memcpy(rows + (size_t)row * stride + sizeof **tile * (size_t)at, tile[row],
                   sizeof **tile * (size_t)k);
    }
}

static void write_block(struct fort_out *f, const struct ramses_block *b)
{
    fort_table(f, 3, sizeof(int32_t), b->n, fill_list, b);
    fort_table(f, b->w->o.h->ndim, sizeof(double), b->n, fill_centre, b);
    fort_table(f, links(b->w), sizeof(int32_t), b->n, fill_links, b);
}
