/* dom/injection: change of the gas within a radius by supernovae and black holes, on any rank and
 * level.
 *
 * An event goes to the rank of the leaf cell at its centre, its home rank, which determines the
 * injected amounts (the load) and may take gas from that cell; the load goes to all ranks whose
 * cells are within the radius. These ranks sum over their cells; the home rank adds up the sums and
 * returns the total; then each rank changes its own cells. Sums are integers, and events are
 * ordered by id: nothing depends on ranks or threads. */
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

/* Whether there are events on any rank. (collective) */
bool injection_any(const struct comm *c, int64_t n);
/* Sends the n rows of this rank, each `bytes` long with its event first, to their home ranks. All
 * ranks return an error together. (collective) */
MUST_USE enum err injection_gather(struct injection *j, int64_t n, size_t bytes, const void *rows);
/* Sends the loads to all ranks that they reach. All ranks return an error together. (collective) */
MUST_USE enum err injection_send(struct injection *j);
void injection_free(struct injection *j);

void *injection_row(const struct injection *j, int64_t i);        /* row of home event i */
void *injection_load(const struct injection *j, int64_t i);       /* load of home event i */
const void *injection_here(const struct injection *j, int64_t i); /* load of event i of `here` */

/* Removes a share of the gas of a cell: density rho, at the velocity v of the cell; the remaining
 * gas keeps velocity and specific internal energy. scalar: removed masses of scalars. */
void injection_take(const struct injection *j, const struct leaf_cell *c, double share, double rho,
                    double v[3], double *scalar);

/* Integer sums over the cells of events. */
struct injection_sums {
    int words;         /* integers per event; 0: none */
    event_whole *here; /* [here.n][words] sums over this rank's cells */
    event_whole *home; /* [home.n][words] sums over all ranks */
};
/* Visit of a cell: adds to the sums of the event; may change the cell. */
typedef void injection_visit(const struct bins_hit *h, event_whole *sum, void *ctx);
/* Visits this rank's own cells within the radius of each event, in the order of bins_each. */
void injection_each(const struct injection *j, struct injection_sums *t, injection_visit *visit,
                    void *ctx);
/* Computes t->home. back: t->here receives the totals too. (collective) */
void injection_total(const struct injection *j, struct injection_sums *t, bool back);
void injection_sums_free(struct injection_sums *t);
