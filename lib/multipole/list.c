/* multipole/list: lists of what acts on a group: cells as wholes, particles beyond the softening,
 * and particles that may be within it, each in the order of keys. Which list has a cell follows
 * from the cell and the group alone. */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "multipole/multipole_priv.h"

static inline double larger(double a, double b)
{
    return a > b ? a : b;
}

/* Square of the distance of two boxes. */
static inline double gap2(const double lo[3], const double hi[3], const double other_lo[3],
                          const double other_hi[3])
{
    double d[3];
    for (int k = 0; k < 3; k++) d[k] = larger(0, larger(lo[k] - other_hi[k], other_lo[k] - hi[k]));
    return (d[0] * d[0] + d[1] * d[1]) + d[2] * d[2];
}

/* Every operation rounds monotonically: what holds for a box holds for each box within it. */
static inline bool is_apart(const struct cell *c, const double lo[3], const double hi[3],
                            double reach)
{
    double most = larger(c->reach, reach);
    return gap2(lo, hi, c->lo, c->hi) > most * most;
}

static inline bool is_closed(const struct cell *c, const double lo[3], const double hi[3],
                             double reach)
{
    return gap2(lo, hi, c->centre, c->centre) > c->open2 && is_apart(c, lo, hi, reach);
}

bool multipole_acts(const struct cell *c, const double lo[3], const double hi[3], double reach)
{
    return is_closed(c, lo, hi, reach);
}

static void make_room(struct terms *t, int columns, int64_t more)
{
    if (t->n + more + 8 <= t->room) return;
    t->room = 2 * (t->n + more + 8);
    for (int k = 0; k < columns; k++)
        t->at[k] = mem_grow(t->at[k], sizeof(double) * (size_t)t->room, "lists of gravity");
}

static void add_cell(struct terms *t, const struct cell *c)
{
    make_room(t, TERM_QUAD + 6, 1);
    int64_t i = t->n++;
    for (int k = 0; k < 3; k++) t->at[TERM_X + k][i] = c->centre[k];
    t->at[TERM_MASS][i] = c->mass;
    for (int k = 0; k < 6; k++) t->at[TERM_QUAD + k][i] = c->quad[k];
}

static void add_particles(struct terms *t, const struct forest *f, const struct cell *c, bool soft)
{
    const double *from[] = {f->x[0], f->x[1], f->x[2], NULL, f->back, f->zeta};
    BUG_ON(c->first < 0);
    make_room(t, soft ? TERM_ZETA + 1 : TERM_MASS + 1, c->n);
    for (int k = 0; k <= (soft ? TERM_ZETA : TERM_MASS); k++)
        if (k != TERM_MASS)
            memcpy(t->at[k] + t->n, from[k] + c->first, sizeof(double) * (size_t)c->n);
    for (int64_t i = 0; i < c->n; i++) t->at[TERM_MASS][t->n + i] = 1;
    t->n += c->n;
}

/* Fills up the last vector with terms of weight 0 at the position of the last one. */
static void pad(struct terms *t, int columns)
{
    for (int64_t i = t->n; i % 8 != 0; i++)
        for (int k = 0; k < columns; k++) t->at[k][i] = k < TERM_MASS ? t->at[k][i - 1] : 0;
}

/* The soft list alone. */
void lists_soft(const struct forest *f, const struct cell *g, struct lists *l)
{
    l->far.n = l->plain.n = l->soft.n = 0;
    for (int64_t i = 0; i < f->ncell;) {
        const struct cell *c = &f->cell[i];
        bool apart = is_apart(c, g->lo, g->hi, g->reach);
        BUG_ON(!apart && c->split && c->skip == i + 1);
        if (!apart && !c->split) add_particles(&l->soft, f, c, true);
        i = apart ? c->skip : i + 1;
    }
    pad(&l->soft, TERM_ZETA + 1);
}

void lists_find(const struct forest *f, const struct cell *g, struct lists *l)
{
    l->far.n = l->plain.n = l->soft.n = 0;
    for (int64_t i = 0; i < f->ncell;) {
        const struct cell *c = &f->cell[i];
        if (is_closed(c, g->lo, g->hi, g->reach)) {
            add_cell(&l->far, c);
            i = c->skip;
            continue;
        }
        BUG_ON(c->split && c->skip == i + 1); /* cells within it should have been sent */
        if (!c->split) {
            bool soft = !is_apart(c, g->lo, g->hi, g->reach);
            add_particles(soft ? &l->soft : &l->plain, f, c, soft);
        }
        i++; /* to a child, or, without children, to the next */
    }
    pad(&l->far, TERM_QUAD + 6);
    pad(&l->plain, TERM_MASS + 1);
    pad(&l->soft, TERM_ZETA + 1);
}

void lists_free(struct lists *l)
{
    for (int k = 0; k < TERM_QUAD + 6; k++) {
        FREE(l->far.at[k]);
        FREE(l->plain.at[k]);
        FREE(l->soft.at[k]);
    }
}
