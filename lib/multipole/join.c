/* Cells and particles of other ranks. All ranks get the sums of the cells that the bounds of ranks
 * divide. Of the rest a rank sends those cells that groups within the boxes of another rank may
 * meet (a locally essential tree: Salmon 1991), with the particles of cells that these may open. */
#include <string.h>

#include "base/mem.h"
#include "multipole/multipole_priv.h"

enum { BOXES = 48 /* of a rank's groups, at most */ };

/* ---- cells that ranks share ---- */

struct joint {
    mkey key;
    int64_t level;
    struct moments sum;
};

MEM_ORDER2(by_place, struct joint, key, level)

/* Sums of all ranks of the cells that more than one may have, ascending. */
static struct joint *joint_cells(const struct comm *c, const struct forest *f, int64_t *n)
{
    int64_t count = 0, total;
    struct joint *mine = mem_new(sizeof *mine * (size_t)f->ncell + 1, "cells of gravity");
    for (int64_t i = 0; i < f->ncell; i++)
        if (!f->cell[i].own)
            mine[count++] = (struct joint){f->cell[i].key, f->cell[i].level, f->sum[i]};
    struct joint *all = multipole_gather(c, mine, count, sizeof *all, &total);
    mem_sort(all, (size_t)total, sizeof *all, by_place);
    *n = 0;
    for (int64_t i = 0; i < total; i++) {
        struct joint *last = &all[*n - 1];
        if (*n > 0 && by_place(last, &all[i]) == 0)
            moments_add(&last->sum, &all[i].sum, (int64_t[3]){0, 0, 0});
        else
            all[(*n)++] = all[i];
    }
    mem_free(mine);
    return all;
}

static struct cell *finish_joint(const struct forest *f, const struct joint *j, int64_t n)
{
    struct cell *cell = mem_zero(sizeof *cell * (size_t)n + 1, "cells of gravity");
    for (int64_t i = 0; i < n; i++) {
        cell[i].key = j[i].key;
        cell[i].level = (int)j[i].level;
        cell[i].split = true;
        cell_finish(f, &cell[i], &j[i].sum);
    }
    return cell;
}

static bool before(const struct cell *a, const struct cell *b)
{
    return a->key != b->key ? a->key < b->key : a->level < b->level;
}

/* Gives this rank's copies of joint cells the sums of all ranks. */
static void update_joint(struct forest *f, const struct cell *joint)
{
    for (int64_t i = 0, j = 0; i < f->ncell; i++) {
        struct cell *c = &f->cell[i];
        if (c->own) continue;
        while (before(&joint[j], c)) j++;
        int64_t skip = c->skip;
        *c = joint[j];
        c->skip = skip;
    }
}

/* ---- what other ranks need ---- */

struct box {
    double lo[3], hi[3], reach;
    int64_t rank;
};

static struct box box_of(const struct forest *f, int64_t i, int rank)
{
    const struct moments *m = &f->sum[i]; /* of own particles */
    struct box b = {.reach = f->support * m->h, .rank = rank};
    memcpy(b.lo, m->lo, sizeof b.lo);
    memcpy(b.hi, m->hi, sizeof b.hi);
    return b;
}

/* Boxes of a few cells that together have all own particles: large cells are divided first, groups
 * are not. */
static int boxes_of(const struct forest *f, int rank, struct box *box)
{
    int64_t queue[2 * BOXES], child[8];
    int first = 0, last = 0, done = 0;
    if (f->ncell > 0) queue[last++] = 0;
    while (first < last) {
        const struct cell *c = &f->cell[queue[first]];
        int n = 0;
        if (!in_group(f->par, c))
            for (int64_t i = queue[first] + 1; i < c->skip; i = f->cell[i].skip) child[n++] = i;
        bool divide = n > 0 && done + last - first - 1 + n <= BOXES && last + n <= 2 * BOXES;
        if (divide)
            for (int k = 0; k < n; k++) queue[last++] = child[k];
        else
            box[done++] = box_of(f, queue[first], rank);
        first++;
    }
    return done;
}

struct guest {
    double x[3], h;
};

/* Cells and particles on their way, in order of ranks. */
struct parcel {
    int64_t ncell, room, n, nroom; /* cells; particles */
    struct cell *cell;
    int64_t *particle;
    int *cell_to, *particle_to; /* ranks */
};

static struct cell *pack_cell(struct parcel *p, int rank)
{
    if (p->ncell == p->room) {
        p->room = 2 * p->room + 64;
        p->cell = mem_grow(p->cell, sizeof *p->cell * (size_t)p->room, "cells of gravity");
        p->cell_to = mem_grow(p->cell_to, sizeof(int) * (size_t)p->room, "cells of gravity");
    }
    p->cell_to[p->ncell] = rank;
    return &p->cell[p->ncell++];
}

static void pack_particles(struct parcel *p, const struct cell *c, int rank)
{
    if (p->n + c->n > p->nroom) {
        p->nroom = 2 * (p->n + c->n);
        size_t room = (size_t)p->nroom;
        p->particle = mem_grow(p->particle, sizeof(int64_t) * room, "cells of gravity");
        p->particle_to = mem_grow(p->particle_to, sizeof(int) * room, "cells of gravity");
    }
    for (int64_t i = 0; i < c->n; i++) {
        p->particle_to[p->n] = rank;
        p->particle[p->n++] = c->first + i;
    }
}

static bool acts_whole_on_all(const struct cell *c, const struct box *box, int64_t n)
{
    bool all = true;
    for (int64_t i = 0; i < n && all; i++)
        all = multipole_acts(c, box[i].lo, box[i].hi, box[i].reach);
    return all;
}

/* Packs what groups within the boxes of one rank may meet; first of a cell becomes the number of
 * its first particle among those that the rank is sent. */
static void pack_for(const struct forest *f, const struct box *box, int64_t n, struct parcel *p)
{
    const int64_t begin = p->n;
    const int rank = (int)box->rank;
    for (int64_t i = 0; i < f->ncell;) {
        const struct cell *c = &f->cell[i];
        bool closed = acts_whole_on_all(c, box, n);
        if (c->own) {
            struct cell *to = pack_cell(p, rank);
            *to = *c;
            to->own = false;
            to->first = closed || c->split ? -1 : p->n - begin;
            if (to->first >= 0) pack_particles(p, c, rank);
        }
        i = closed || !c->split ? c->skip : i + 1;
    }
}

MEM_ORDER(by_rank, struct box, rank)

static void pack_all(const struct comm *c, const struct forest *f, struct parcel *p)
{
    struct box mine[BOXES];
    int64_t total;
    struct box *box = multipole_gather(c, mine, boxes_of(f, c->rank, mine), sizeof *box, &total);
    mem_sort(box, (size_t)total, sizeof *box, by_rank);
    for (int64_t i = 0, end; i < total; i = end) {
        for (end = i; end < total && box[end].rank == box[i].rank;) end++;
        if (box[i].rank != c->rank) pack_for(f, &box[i], end - i, p);
    }
    mem_free(box);
}

/* Appends the particles of other ranks. */
static void get_particles(const struct comm *c, struct forest *f, const struct sent *s,
                          struct comm_counts *from)
{
    struct guest *out = mem_new(sizeof *out * (size_t)s->n + 1, "particles of gravity");
    for (int64_t i = 0; i < s->n; i++) {
        int64_t j = s->particle[i];
        out[i] = (struct guest){{f->x[0][j], f->x[1][j], f->x[2][j]}, f->h[j]};
    }
    int64_t n;
    struct guest *in = comm_exchange(c, out, &s->to, sizeof *in, &n, from);
    forest_particles(f, f->n + n + 1);
    for (int64_t i = 0; i < n; i++) {
        for (int k = 0; k < 3; k++) f->x[k][f->n + i] = in[i].x[k];
        f->h[f->n + i] = in[i].h;
        f->back[f->n + i] = 1 / in[i].h;
        f->zeta[f->n + i] = 0; /* until it comes */
    }
    f->all = f->n + n;
    mem_free(out);
    mem_free(in);
}

/* Numbers of particles of each rank's cells become those of this rank's arrays. */
static void renumber(const struct forest *f, struct cell *cell, const struct comm_counts *cells,
                     const struct comm_counts *particles)
{
    int64_t at = 0, first = f->n;
    for (int s = 0, p = 0; s < cells->n; s++) {
        for (; p < particles->n && particles->rank[p] < cells->rank[s]; p++)
            first += particles->count[p];
        for (int64_t i = 0; i < cells->count[s]; i++, at++)
            if (cell[at].first >= 0) cell[at].first += first;
    }
}

/* ---- one forest ---- */

static void set_skips(struct forest *f)
{
    int64_t open[LEVELS + 2];
    int depth = 0;
    for (int64_t i = 0; i < f->ncell; i++) {
        for (; depth > 0; depth--) {
            struct cell *c = &f->cell[open[depth - 1]];
            if (f->cell[i].key < c->key + key_span(c->level)) break;
            c->skip = i;
        }
        open[depth++] = i;
    }
    while (depth > 0) f->cell[open[--depth]].skip = f->ncell;
}

/* Cells of lower ranks, own ones and those of higher ranks ascend one after the other. */
static int64_t line_up(const struct forest *f, const struct cell *in, int64_t below, int64_t n,
                       struct cell *line)
{
    int64_t count = below;
    if (below > 0) memcpy(line, in, sizeof *line * (size_t)below);
    for (int64_t i = 0; i < f->ncell; i++)
        if (f->cell[i].own) line[count++] = f->cell[i];
    if (n > below) memcpy(line + count, in + below, sizeof *line * (size_t)(n - below));
    return count + n - below;
}

/* Replaces the cells by own ones, those of other ranks and joint ones, merged. */
static void merge_cells(struct forest *f, const struct cell *in, int64_t below, int64_t n,
                        const struct cell *joint, int64_t njoint)
{
    size_t room = (size_t)(f->ncell + n + njoint) + 1;
    struct cell *line = mem_new(sizeof *line * room, "cells of gravity");
    struct cell *to = mem_new(sizeof *to * room, "cells of gravity");
    int64_t count = line_up(f, in, below, n, line), i = 0, j = 0;
    f->ncell = 0;
    while (i < count || j < njoint) {
        bool from_line = j == njoint || (i < count && before(&line[i], &joint[j]));
        to[f->ncell++] = from_line ? line[i++] : joint[j++];
    }
    mem_free(f->cell);
    mem_free(line);
    f->cell = to;
    f->room = (int64_t)room;
    set_skips(f);
}

static int64_t below_rank(const struct comm_counts *from, int rank)
{
    int64_t sum = 0;
    for (int s = 0; s < from->n && from->rank[s] < rank; s++) sum += from->count[s];
    return sum;
}

void forest_join(const struct comm *c, struct forest *f, struct sent *s)
{
    struct comm_counts to, cells_from, particles_from;
    struct parcel p = {0};
    int64_t njoint, n;
    struct joint *sums = joint_cells(c, f, &njoint);
    struct cell *joint = finish_joint(f, sums, njoint);
    update_joint(f, joint);
    pack_all(c, f, &p);
    to = comm_counts_of(p.ncell, p.cell_to, NULL);
    s->to = comm_counts_of(p.n, p.particle_to, NULL);
    s->n = p.n;
    s->particle = p.particle;
    struct cell *in = comm_exchange(c, p.cell, &to, sizeof *in, &n, &cells_from);
    get_particles(c, f, s, &particles_from);
    renumber(f, in, &cells_from, &particles_from);
    merge_cells(f, in, below_rank(&cells_from, c->rank), n, joint, njoint);
    FREE(f->sum);
    void *block[] = {sums, joint, in, p.cell, p.cell_to, p.particle_to};
    for (size_t k = 0; k < sizeof block / sizeof *block; k++) mem_free(block[k]);
    comm_counts_free(&to);
    comm_counts_free(&cells_from);
    comm_counts_free(&particles_from);
}

void forest_zeta(const struct comm *c, struct forest *f, struct sent *s)
{
    double *out = mem_new(sizeof *out * (size_t)s->n + 1, "particles of gravity");
    for (int64_t i = 0; i < s->n; i++) out[i] = f->zeta[s->particle[i]];
    int64_t n;
    double *in = comm_exchange(c, out, &s->to, sizeof *in, &n, NULL);
    BUG_ON(n != f->all - f->n);
    if (n > 0) memcpy(f->zeta + f->n, in, sizeof *in * (size_t)n);
    mem_free(out);
    mem_free(in);
}

void sent_free(struct sent *s)
{
    comm_counts_free(&s->to);
    FREE(s->particle);
}
