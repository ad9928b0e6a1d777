/* clump/patch: the cells above the threshold, their peaks, and the saddle points between peaks.
 *
 * Each cell points to the densest leaf cell that touches it, if that cell is denser by more than
 * 1e-4; else the cell is a peak. Following the pointers (steepest ascent) leads each cell to its
 * peak. Cells are labelled by descending density, so one sweep labels all cells whose path stays on
 * this rank; the others follow once ghosts have labels. All else takes cells in the order of the
 * mesh, in which neighbours are near in memory. The density of a saddle between two peaks
 * is the maximum, over pairs of touching cells of the two peaks, of the mean density of the
 * pair. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "clump/priv.h"
#include "dom/ghost.h"

static double density(const struct finder *f, struct spot s)
{
    return f->f->peak[s.level][s.oct][s.cell];
}

static enum err check_finite(const struct finder *f, struct spot s)
{
    double x[3], rho = density(f, s);
    if (isfinite(rho) && isfinite(f->f->mass[s.level][s.oct][s.cell])) return OK;
    spot_centre(f->m, s, x);
    FAIL(ERR_LIMIT,
         "clumps: the density at x=%g, y=%g, z=%g (units of the box) is %g: look at the "
         "state with inspect -cc",
         x[0], x[1], x[2], rho);
}

static enum err find_cells(struct finder *f)
{
    int64_t room = 0;
    for (int l = f->m->levelmin; l <= f->m->levelmax; l++) {
        const struct level *lv = &f->m->lev[l];
        for (lidx i = 0; i < lv->nown; i++)
            for (int k = 0; k < 8; k++) {
                struct spot s = {i, (unsigned char)l, (unsigned char)k};
                if (lv->child[i][k] >= 0) continue;
                double rho = density(f, s);
                if (!isfinite(rho)) return check_finite(f, s);
                if (!(rho > f->par->density)) continue;
                TRY(check_finite(f, s));
                MEM_ROOM(f->cell, f->ncell, room, 4096, "clump cells");
                f->cell[f->ncell++] = (struct patch_cell){.at = s};
            }
    }
    return OK;
}

/* The densest neighbour, the first of equals; level 0 if the cell is a peak. */
static struct spot ascend(const struct finder *f, const struct around *a, int cell)
{
    struct spot s[AROUND], up = {.level = 0};
    double best = f->f->peak[a->level][a->oct][cell] * CLUMP_FLAT;
    int n = around_leaves(a, cell, s);
    for (int k = 0; k < n; k++) {
        double rho = density(f, s[k]);
        if (!(rho > best)) continue;
        best = rho;
        up = s[k];
    }
    return up;
}

static void find_ways(struct finder *f)
{
#pragma omp parallel
    {
        struct around a = {.level = 0};
#pragma omp for schedule(static, 4096)
        for (int64_t i = 0; i < f->ncell; i++) {
            around_set(&a, f->m, f->cell[i].at);
            f->cell[i].up = ascend(f, &a, f->cell[i].at.cell);
        }
    }
}

struct dense {
    uint64_t place; /* ascending where the density descends */
    int64_t at;
};

/* An unsigned number that descends where x ascends. */
static uint64_t descending(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits >> 63 ? bits : ~(bits | (uint64_t)1 << 63);
}

enum { DIGIT = 11, DIGITS = 6 }; /* bits of a digit; digits of 64 bits */

static unsigned digit_of(const struct dense *d, int k)
{
    return (unsigned)(d->place >> DIGIT * k) & ((1u << DIGIT) - 1);
}

/* Sorts by place, digit by digit, and keeps the order of equals; `other` is scratch memory. Returns
 * which of both has the result. */
static struct dense *dense_sort(int64_t n, struct dense *d, struct dense *other)
{
    int64_t(*count)[1 << DIGIT] = mem_zero(sizeof *count * DIGITS, "clump cells");
    for (int64_t i = 0; i < n; i++)
        for (int k = 0; k < DIGITS; k++) count[k][digit_of(&d[i], k)]++;
    for (int k = 0; k < DIGITS && n > 0; k++) {
        int64_t *next = count[k], sum = 0;
        if (next[digit_of(&d[0], k)] == n) continue; /* all alike */
        for (int b = 0; b < 1 << DIGIT; b++) {
            const int64_t c = next[b];
            next[b] = sum, sum += c;
        }
        for (int64_t i = 0; i < n; i++) other[next[digit_of(&d[i], k)]++] = d[i];
        struct dense *swap = d;
        d = other, other = swap;
    }
    FREE(count);
    return d;
}

MEM_ORDER(peak_order, struct peak, label)

static okey spot_label(const struct finder *f, struct spot s)
{
    return label_make(s.level, f->m->lev[s.level].key[s.oct], s.cell);
}

static void list_peaks(struct finder *f)
{
    for (int64_t i = 0; i < f->ncell; i++) f->npeak += f->cell[i].up.level == 0;
    f->peak = mem_zero(sizeof *f->peak * (size_t)f->npeak + 1, "clump peaks");
    int64_t n = 0;
    for (int64_t i = 0; i < f->ncell; i++) {
        struct spot s = f->cell[i].at;
        if (f->cell[i].up.level) continue;
        f->peak[n++] = (struct peak){.label = spot_label(f, s), .at = s, .max = density(f, s)};
        f->label[s.level][s.oct][s.cell] = f->peak[n - 1].label;
    }
    mem_sort(f->peak, (size_t)n, sizeof *f->peak, peak_order);
}

void patch_ghosts(struct finder *f)
{
    for (int l = f->m->levelmin; l <= f->m->levelmax; l++) {
        void *row = f->label[l];
        size_t stride = sizeof(okey[8]);
        ghost_fill_rows(f->c, COMM_FINE_INT, &f->m->lev[l].plan, 1, &row, &stride);
    }
}

/* Labels unlabelled cells with the label of the cell they point to. Returns the number of cells
 * still unlabelled, which are moved to the front. */
static int64_t follow(struct finder *f, int64_t n, int64_t *left)
{
    int64_t retained = 0;
    for (int64_t j = 0; j < n; j++) {
        const struct patch_cell *p = &f->cell[left[j]];
        okey k = f->label[p->up.level][p->up.oct][p->up.cell];
        f->label[p->at.level][p->at.oct][p->at.cell] = k;
        if (!k) left[retained++] = left[j];
    }
    return retained;
}

/* The cells that are not peaks, by descending density: left[n]; returns n. */
static int64_t order_cells(const struct finder *f, int64_t *left)
{
    int64_t n = 0;
    struct dense *d = mem_new(sizeof *d * 2 * (size_t)f->ncell + 1, "clump cells");
    for (int64_t i = 0; i < f->ncell; i++)
        if (f->cell[i].up.level) d[n++] = (struct dense){descending(density(f, f->cell[i].at)), i};
    const struct dense *in_order = dense_sort(n, d, d + n);
    for (int64_t i = 0; i < n; i++) left[i] = in_order[i].at;
    FREE(d);
    return n;
}

static void label_cells(struct finder *f)
{
    int64_t *left = mem_new(sizeof *left * (size_t)f->ncell + 1, "clump cells");
    int64_t n = order_cells(f, left);
    for (int64_t all = 1; all > 0;) {
        n = follow(f, n, left);
        all = n;
        comm_add_i64(f->c, &all, 1);
        if (f->c->size > 1) patch_ghosts(f);
    }
    FREE(left);
}

enum err patch_find(struct finder *f)
{
    for (int l = f->m->levelmin; l <= f->m->levelmax; l++)
        f->label[l] = mem_zero(sizeof(okey[8]) * (size_t)f->m->lev[l].noct + 1, "clump labels");
    TRY(err_agree(f->c, find_cells(f)));
    find_ways(f);
    list_peaks(f);
    label_cells(f);
    return OK;
}

/* ---- saddle points ---- */

static int edge_order(const void *a, const void *b)
{
    const struct saddle *x = a, *y = b;
    if (x->a != y->a) return x->a < y->a ? -1 : 1;
    if (x->b != y->b) return x->b < y->b ? -1 : 1;
    return (x->v < y->v) - (x->v > y->v);
}

/* Sorts edges and keeps the highest edge of each pair of peaks; returns their number. */
static int64_t edges_tidy(int64_t n, struct saddle *e)
{
    int64_t retained = 0;
    mem_sort(e, (size_t)n, sizeof *e, edge_order);
    for (int64_t i = 0; i < n; i++)
        if (i == 0 || e[i].a != e[i - 1].a || e[i].b != e[i - 1].b) e[retained++] = e[i];
    return retained;
}

struct saddles {
    int64_t n, room;
    struct saddle *at;
};

static void saddle_add(struct saddles *e, struct saddle new)
{
    if (e->n > 0) { /* fast path: neighbours of a cell mostly share one label */
        struct saddle *last = &e->at[e->n - 1];
        if (last->a == new.a && last->b == new.b) {
            if (new.v > last->v) last->v = new.v;
            return;
        }
    }
    if (e->n == e->room) {
        e->n = edges_tidy(e->n, e->at);
        e->room = 2 * e->n + 4096;
        e->at = mem_grow(e->at, sizeof *e->at * (size_t)e->room, "clump saddles");
    }
    e->at[e->n++] = new;
}

static void cell_edges(const struct finder *f, const struct around *a, int cell, struct saddles *e)
{
    struct spot s[AROUND];
    okey mine = f->label[a->level][a->oct][cell];
    double rho = f->f->peak[a->level][a->oct][cell];
    int n = around_leaves(a, cell, s);
    for (int k = 0; k < n; k++) {
        okey other = f->label[s[k].level][s[k].oct][s[k].cell];
        if (other == 0 || other == mine) continue;
        saddle_add(e, (struct saddle){mine, other, (rho + density(f, s[k])) / 2, 0});
    }
}

/* Finds the saddle points between the clumps of own cells and their neighbours. */
static struct saddles local_edges(const struct finder *f)
{
    struct saddles all = {0};
#pragma omp parallel
    {
        struct around a = {.level = 0};
        struct saddles e = {0};
#pragma omp for schedule(static, 4096)
        for (int64_t i = 0; i < f->ncell; i++) {
            around_set(&a, f->m, f->cell[i].at);
            cell_edges(f, &a, f->cell[i].at.cell, &e);
        }
#pragma omp critical(clump_edges)
        for (int64_t i = 0; i < e.n; i++) saddle_add(&all, e.at[i]);
        FREE(e.at);
    }
    all.n = edges_tidy(all.n, all.at);
    return all;
}

/* Sends edges to the ranks that own their peaks a. */
void saddles_send(struct finder *f, int64_t n, const struct saddle *e)
{
    int *rank = mem_new(sizeof *rank * (size_t)n + 1, "clump saddles");
    for (int64_t i = 0; i < n; i++) rank[i] = label_rank(f, e[i].a);
    FREE(f->saddle);
    f->saddle = comm_exchange_by(f->c, e, n, rank, sizeof *e, &f->nsaddle, NULL);
    f->nsaddle = edges_tidy(f->nsaddle, f->saddle);
    FREE(rank);
}

void patch_saddles(struct finder *f)
{
    struct saddles e = local_edges(f);
    saddles_send(f, e.n, e.at);
    FREE(e.at);
    okey *label = mem_new(sizeof *label * (size_t)f->nsaddle + 1, "clump saddles");
    double *own = mem_new(sizeof *own * (size_t)f->npeak + 1, "clump saddles");
    for (int64_t i = 0; i < f->nsaddle; i++) label[i] = f->saddle[i].b;
    for (int64_t i = 0; i < f->npeak; i++) own[i] = f->peak[i].max;
    struct share s;
    share_make(&s, f, f->nsaddle, label);
    double *max = mem_new(sizeof *max * (size_t)s.n + 1, "clump saddles");
    share_fetch(&s, f, sizeof *max, own, max);
    for (int64_t i = 0; i < f->nsaddle; i++)
        f->saddle[i].bmost = max[share_find(&s, f->saddle[i].b)];
    FREE(max);
    FREE(own);
    share_free(&s);
}
