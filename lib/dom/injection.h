/* dom/injection: supernovae and black holes change the gas within a radius, on any rank and level.
 *
 * An event goes to the rank of the leaf cell at its centre, its home, which decides what it injects
 * (its load) and may take gas of that cell; the load goes to all ranks whose cells it meets. These
 * sum over their cells, which the home adds up and returns; then each changes its own cells. Sums
 * are of whole numbers, and events have the order of their ids: nothing depends on ranks or
 * threads. */
#pragma once
#include "dom/bins.h"
#include "oct/gas_kern.h"

struct leaf_cell {
    int level;
    lidx oct;
    int cell;
};
double leaf_cell_volume(const struct mesh *m, int level);

struct injection {
    const struct comm *comm;
    const struct domain *dom;
    const struct mesh *mesh;
    const char *name;   /* for the memory */
    int nscalar;        /* of the gas */
    size_t bytes;       /* of a load, which begins with its struct event_home; a multiple of 8 */
    struct events home; /* of this rank's cells, with a row each; negative radius: nothing to do */
    struct leaf_cell *centre; /* [home.n] */
    char *load;               /* [home.n][bytes], at first 0 */
    struct events here;       /* events that meet this rank, with their loads */
    struct event_home *from;  /* [here.n] */
    struct bins *bins;        /* of here */
};

/* Are there events on any rank? (collective) */
bool injection_any(const struct comm *c, int64_t n);
/* The n rows of this rank, each `bytes` long with its event first, go to their homes. On error all
 * ranks return it. (collective) */
MUST_USE enum err injection_gather(struct injection *j, int64_t n, size_t bytes, const void *rows);
/* Loads go to all ranks that they meet. On error all ranks return it. (collective) */
MUST_USE enum err injection_send(struct injection *j);
void injection_free(struct injection *j);

void *injection_row(const struct injection *j, int64_t i);        /* of home event i */
void *injection_load(const struct injection *j, int64_t i);       /* of home event i */
const void *injection_here(const struct injection *j, int64_t i); /* the load of event i here */

/* Takes a share of the gas of a cell, which is rho of its density, at the velocity of the cell, v;
 * what stays keeps velocity and internal energy. scalar: the masses of its scalars. */
void injection_take(const struct injection *j, const struct leaf_cell *c, double share, double rho,
                    double v[3], double *scalar);

/* Sums of whole numbers over the cells of events. */
struct injection_sums {
    int words;         /* an event; 0: none */
    event_whole *here; /* [here.n][words] */
    event_whole *home; /* [home.n][words] of all ranks */
};
/* A visit of a cell adds to the sums of the event; it may change the cell. */
typedef void injection_visit(const struct bins_hit *h, event_whole *sum, void *ctx);
/* Visits this rank's own cells within the radius of each event, as bins_each does. */
void injection_each(const struct injection *j, struct injection_sums *t, injection_visit *visit,
                    void *ctx);
/* Makes t->home. back: t->here becomes the total as well. (collective) */
void injection_total(const struct injection *j, struct injection_sums *t, bool back);
void injection_sums_free(struct injection_sums *t);
