/* Cells of the octree and their moments. A cell's moments are sums of integers about its corner:
 * sums of children move to the corner of the parent exactly, so a cell is the same whichever way
 * its particles were added up. */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "multipole/multipole_priv.h"
#include "oct/okey.h"

struct cube multipole_cube(const struct comm *c, const struct smooth *s)
{
    double bound[6]; /* lower ones, and the upper ones with the sign changed */
    for (int k = 0; k < 6; k++) bound[k] = INFINITY;
    for (int k = 0; k < 3; k++)
        for (int64_t i = 0; i < s->n; i++) {
            bound[k] = fmin(bound[k], s->x[k][i]);
            bound[k + 3] = fmin(bound[k + 3], -s->x[k][i]);
        }
    comm_min_f64(c, bound, 6);
    struct cube q = {{0, 0, 0}, 1};
    if (bound[0] > -bound[3]) return q;
    double side = 0;
    for (int k = 0; k < 3; k++) {
        q.lo[k] = bound[k];
        side = fmax(side, -bound[k + 3] - bound[k]);
    }
    int binary = 0;
    if (side > 0) frexp(side, &binary); /* side < 2^binary */
    q.unit = ldexp(1, binary - Q_BITS);
    return q;
}

static void whole_position(const struct cube *q, const double x[3], int64_t w[3])
{
    const int64_t most = ((int64_t)1 << Q_BITS) - 1;
    for (int k = 0; k < 3; k++) {
        w[k] = (int64_t)((x[k] - q->lo[k]) / q->unit);
        if (w[k] > most) w[k] = most; /* a difference that was rounded up */
    }
}

/* The halves of a coordinate are interleaved one by one. */
mkey multipole_key(const struct cube *q, const double x[3])
{
    enum { HALF = LEVELS / 2 };
    int64_t w[3];
    whole_position(q, x, w);
    mkey key = 0;
    for (int k = 0; k < 3; k++) {
        uint64_t u = (uint64_t)w[k] >> (Q_BITS - LEVELS);
        mkey high = okey_spread21(u >> HALF), low = okey_spread21(u & (((uint64_t)1 << HALF) - 1));
        key |= (high << (3 * HALF) | low) << k;
    }
    return key;
}

static void corner_of(mkey key, int64_t w[3])
{
    enum { HALF = LEVELS / 2 };
    const uint64_t mask = ((uint64_t)1 << (3 * HALF)) - 1;
    for (int k = 0; k < 3; k++) {
        mkey a = key >> k;
        uint64_t u = okey_squeeze21((uint64_t)(a >> (3 * HALF))) << HALF;
        u |= okey_squeeze21((uint64_t)a & mask);
        w[k] = (int64_t)(u << (Q_BITS - LEVELS));
    }
}

MEM_ORDER2(by_key, struct body, key, id)

void multipole_sort(int64_t n, struct body *b)
{
    mem_sort(b, (size_t)n, sizeof *b, by_key);
}

void moments_zero(struct moments *m)
{
    memset(m, 0, sizeof *m);
    for (int k = 0; k < 3; k++) {
        m->lo[k] = INFINITY;
        m->hi[k] = -INFINITY;
    }
}

static const int FIRST[6] = {0, 1, 2, 0, 0, 1}, SECOND[6] = {0, 1, 2, 1, 2, 2};

void moments_add(struct moments *to, const struct moments *from, const int64_t offset[3])
{
    for (int j = 0; j < 6; j++) {
        int a = FIRST[j], b = SECOND[j];
        to->second[j] += from->second[j] + offset[a] * from->first[b] + offset[b] * from->first[a] +
                         (whole)offset[a] * offset[b] * from->n;
    }
    for (int k = 0; k < 3; k++) {
        to->first[k] += from->first[k] + (whole)offset[k] * from->n;
        to->lo[k] = fmin(to->lo[k], from->lo[k]);
        to->hi[k] = fmax(to->hi[k], from->hi[k]);
    }
    to->n += from->n;
    to->h = fmax(to->h, from->h);
}

static void moments_body(struct moments *to, const struct cube *q, const struct body *b,
                         const int64_t corner[3])
{
    struct moments one = {.n = 1, .h = b->h};
    int64_t w[3];
    whole_position(q, b->x, w);
    for (int k = 0; k < 3; k++) {
        w[k] -= corner[k];
        one.lo[k] = one.hi[k] = b->x[k];
    }
    moments_add(to, &one, w);
}

/* A cell is seen under an angle below θ if the largest side of the box of its particles is less
 * than θ times the distance; the distance of its centre of mass from that of the box is added to
 * the distance (Barnes 1994), lest all mass be at the near end. */
static double opening(const struct forest *f, const struct cell *c)
{
    if (f->par->theta <= 0 || (!c->split && c->n <= FEW)) return INFINITY;
    double side = 0, off2 = 0;
    for (int k = 0; k < 3; k++) {
        double off = c->centre[k] - 0.5 * (c->lo[k] + c->hi[k]);
        side = fmax(side, c->hi[k] - c->lo[k]);
        off2 += off * off;
    }
    double distance = side / f->par->theta + sqrt(off2);
    return distance * distance;
}

void cell_finish(const struct forest *f, struct cell *c, const struct moments *m)
{
    const double u = f->cube.unit, n = (double)m->n;
    int64_t corner[3];
    double mean[3], second[6];
    corner_of(c->key, corner);
    for (int k = 0; k < 3; k++) {
        mean[k] = (double)m->first[k] / n;
        c->centre[k] = f->cube.lo[k] + ((double)corner[k] + mean[k]) * u;
        c->lo[k] = m->lo[k];
        c->hi[k] = m->hi[k];
    }
    for (int j = 0; j < 6; j++)
        second[j] = ((double)m->second[j] - (double)m->first[FIRST[j]] * mean[SECOND[j]]) * u * u;
    double trace = second[0] + second[1] + second[2];
    for (int j = 0; j < 6 && f->par->quadrupole; j++)
        c->quad[j] = 3 * second[j] - (j < 3 ? trace : 0);
    c->mass = n;
    c->n = m->n;
    c->reach = f->support * m->h;
    c->open2 = opening(f, c);
}

int64_t forest_cell(struct forest *f)
{
    if (f->ncell == f->room) {
        f->room = 2 * f->room + 64;
        f->cell = mem_grow(f->cell, sizeof *f->cell * (size_t)f->room, "cells of gravity");
        f->sum = mem_grow(f->sum, sizeof *f->sum * (size_t)f->room, "moments of gravity");
    }
    memset(&f->cell[f->ncell], 0, sizeof *f->cell);
    return f->ncell++;
}

int64_t multipole_find(const struct body *b, int64_t begin, int64_t end, mkey key)
{
    while (begin < end) {
        int64_t middle = begin + (end - begin) / 2;
        if (b[middle].key < key)
            begin = middle + 1;
        else
            end = middle;
    }
    return begin;
}

struct range {
    int64_t begin, end; /* bodies */
    mkey key;
    int level;
};

static void grow_cell(struct forest *f, const struct body *b, struct range r);

static void grow_children(struct forest *f, const struct body *b, struct range r, int64_t at)
{
    const mkey span = key_span(r.level + 1);
    int64_t corner[3], child_corner[3], begin = r.begin;
    corner_of(r.key, corner);
    for (int k = 0; k < 8; k++) {
        struct range child = {begin, r.end, r.key + (mkey)(unsigned)k * span, r.level + 1};
        if (k < 7) child.end = multipole_find(b, begin, r.end, child.key + span);
        begin = child.end;
        if (child.begin == child.end) continue;
        int64_t place = f->ncell;
        grow_cell(f, b, child);
        corner_of(child.key, child_corner);
        for (int j = 0; j < 3; j++) child_corner[j] -= corner[j];
        moments_add(&f->sum[at], &f->sum[place], child_corner);
    }
}

/* A cell that the bounds of the rank divide has more particles than a group of all ranks
 * (deal.c). */
static void grow_cell(struct forest *f, const struct body *b, struct range r)
{
    const bool own = r.key >= f->low && r.key + key_span(r.level) <= f->end;
    const bool split = r.level < LEVELS && (!own || r.end - r.begin > f->par->leaf);
    int64_t at = forest_cell(f), corner[3];
    moments_zero(&f->sum[at]);
    f->cell[at] = (struct cell){
        .key = r.key, .level = r.level, .split = split, .own = own, .first = r.begin};
    if (split) {
        grow_children(f, b, r, at);
    } else {
        corner_of(r.key, corner);
        for (int64_t i = r.begin; i < r.end; i++)
            moments_body(&f->sum[at], &f->cube, &b[i], corner);
    }
    f->cell[at].skip = f->ncell;
    cell_finish(f, &f->cell[at], &f->sum[at]);
}

void forest_particles(struct forest *f, int64_t room)
{
    if (room <= f->nroom) return;
    f->nroom = room;
    double **column[] = {&f->x[0], &f->x[1], &f->x[2], &f->h, &f->back, &f->zeta};
    for (size_t k = 0; k < sizeof column / sizeof *column; k++)
        *column[k] = mem_grow(*column[k], sizeof(double) * (size_t)room, "particles of gravity");
}

void forest_grow(struct forest *f, const struct body *b)
{
    forest_particles(f, f->n + 1);
    for (int64_t i = 0; i < f->n; i++) {
        for (int k = 0; k < 3; k++) f->x[k][i] = b[i].x[k];
        f->h[i] = b[i].h;
        f->back[i] = 1 / b[i].h;
        f->zeta[i] = b[i].omega; /* until ζ is known */
    }
    f->all = f->n;
    if (f->n > 0) grow_cell(f, b, (struct range){0, f->n, 0, 0});
}

void forest_free(struct forest *f)
{
    double **column[] = {&f->x[0], &f->x[1], &f->x[2], &f->h, &f->back, &f->zeta};
    for (size_t k = 0; k < sizeof column / sizeof *column; k++) FREE(*column[k]);
    FREE(f->cell);
    FREE(f->sum);
}
