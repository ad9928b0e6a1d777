/* rt/dev_priv: the state of radiation on a device. Private to rt. */
#pragma once
#include "patch/patch_dev.h"
#include "rt/kernels.h"
#include "rt/rt_dev.h"

/* Sums of the ledger; INSIDE is emptied at each use. */
enum rt_kind { RT_EMITTED, RT_ABSORBED, RT_LEFT, RT_RAISED, RT_INSIDE, RT_KINDS };

/* Cells of a level that sources of the namelist reach, as long as its leaf cells stay. */
struct rt_reach {
    uint64_t octs[2]; /* change counters of the octs of the level, and of the finer level */
    bool known;
    int64_t n[PARAM_REGIONS];
    struct rt_reached *cell[PARAM_REGIONS];
};

struct rt_dev {
    struct patch_dev patch;
    struct mirror *mirror; /* lent, as its device and stream, ghosts and rt */
    struct dev *dev;
    struct dev_stream *stream;
    struct ghost_dev *ghosts;
    struct rt *rt;
    struct rt_numbers *num, sent; /* on the device; the host copy that was sent */
    bool known;
    struct rt_reach reach[LEVEL_MAX + 2];
    struct dev_room old, terms; /* photons before transport; terms of sums */
    int64_t (*ledger)[RT_GROUPS][DEV_SUM];
    struct chem_tables *tables;              /* of rates, on the device */
    struct dev_room rest, absorbed, emitted; /* rt_cells_args */
    int32_t *nrest;
    struct rt_cell_stats *stats;
    int64_t counted; /* terms of the sums since the ledger was fetched */
};

struct rt_law;
/* Kernels of transport; a: their arguments, lent. */
struct patch_kernels rt_dev_kernels(struct rt_dev *d, const struct rt_law *law,
                                    struct rt_tile_args *a);
/* Adds the n numbers x of each of the groups first, first + 1, … to sums of the ledger. */
void rt_dev_count(struct rt_dev *d, const double *x, int64_t n, enum rt_kind kind, int first,
                  int groups);
/* cells_dev.c: brings what the chemistry of level l needs. */
MUST_USE enum err rt_dev_cells_begin(struct rt_dev *d, const struct rt_run *r, int l);
/* sources.c: the own leaf cells of level l that source k of the namelist reaches, in ascending
 * order; *cell: owner: caller, mem_free. */
int64_t rt_sources_reach(const struct rt_run *r, int l, int k, struct rt_reached **cell);
/* sources.c: source k as kernels see it, for dt seconds. */
struct rt_shine rt_source_shine(const struct rt_run *r, int l, int k, double dt);
