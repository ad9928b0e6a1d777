/* rt/batch: cells of a level as a batch of thermochemistry (lib/chem), in cgs units. A value of all
 * cells is one row; octs whose eight cells all belong to the batch are copied as a whole. Private
 * to rt. */
#pragma once
#include "chem/chem.h"
#include "phys/floor.h"
#include "rt/rt.h"

/* Numbers common to all cells of a call. */
struct rt_job {
    const struct rt_run *r;
    const struct rt *rt;
    const struct chem_par *chem;
    struct level *lv;
    struct temperature_floor floor;
    double dt;             /* s */
    double hydrogen;       /* conversion of density to hydrogen nuclei/cm³ */
    double per_T2;         /* energy density per density and T2, code units */
    double unit_n, unit_f; /* of photons and their flux, cgs */
    double unit_e, dx;     /* of energy per volume, cgs; width of a cell, cm */
    double unit_m;         /* of momentum per volume, cgs */
    double volume, decay;  /* of a cell; of the delay of cooling in dt */
    int metal, delayed;    /* variables; −1: none */
    int x[CHEM_FRACTIONS]; /* variables of the fractions; −1: none */
    bool traps;            /* whether dust traps infrared photons, the first non-thermal energy */
    bool pushes;           /* whether photons push the gas */
};

/* Cells of one oct that follow each other in the batch. */
struct row_oct {
    lidx oct;
    int first, n;
    unsigned char cell[8];
};

struct row_cells {
    int n, nocts; /* cells, octs */
    struct row_oct oct[CHEM_BATCH];
};

/* Cells of a batch, and what they keep. */
struct rt_batch {
    struct chem_cells cells;
    struct row_cells rows;
    double rho[CHEM_BATCH], m[3][CHEM_BATCH], energy[CHEM_BATCH];
    double floor[CHEM_BATCH], begun[CHEM_BATCH];
    double trapped[CHEM_BATCH]; /* energy of trapped infrared photons, erg/cm³ */
};

/* Sums of a thread. */
struct rt_account {
    struct sum absorbed[RT_GROUPS], emitted[RT_GROUPS];
    struct chem_stats stats;
    struct err_first *trouble; /* of all threads */
};

/* Appends the cells of oct i without children; the batch has room for eight. */
static inline void rows_add(struct row_cells *r, const struct level *lv, lidx i, int cells)
{
    struct row_oct *o = &r->oct[r->nocts];
    *o = (struct row_oct){.oct = i, .first = r->n};
    for (int c = 0; c < cells; c++)
        if (lv->child[i][c] < 0) o->cell[o->n++] = (unsigned char)c;
    r->n += o->n;
    r->nocts += o->n > 0;
}

/* cells.c: of a sub-step of dt of level l. */
struct rt_job rt_job_of(const struct rt_run *r, int l, double dt);
/* Fills the cells of the batch from the mesh. */
void rt_batch_read(const struct rt_job *j, struct rt_batch *b);
/* Returns them to the mesh, and their photons to the account. */
void rt_batch_write(const struct rt_job *j, struct rt_batch *b, struct rt_account *a);
