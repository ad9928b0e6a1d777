/* pk: power spectra of mass on a periodic mesh.
 *
 * Masses are added in batches, as points or as uniform cubes, to a mesh of n³ cells that is
 * distributed over all ranks; then spectra of any pair are computed: P(k) = V ⟨δ_a δ_b*⟩ over the
 * modes of a bin. Assignment by B-splines of order 1..4 (NGP, CIC, TSC, PCS), exact also for cubes;
 * interlaced meshes (Sefusatti et al. 2016, MNRAS 460, 3624). The effects of the mesh are
 * corrected: the window mode by mode, the shot noise with its exact images (Jing 2005, ApJ 620,
 * 559; interlaced: the even images only), and, without interlacing, the aliases of the signal as a
 * power law (with interlacing almost none are left).
 *
 * Mass is deposited as integers and modes are added exactly, so nothing depends on ranks, threads
 * or the order of batches. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "comm/comm.h"

enum pk_window { PK_NGP = 1, PK_CIC, PK_TSC, PK_PCS };
enum { PK_MESHES = 8, PK_BIN_COLUMNS = 3, PK_SAMPLE = -1, PK_LATTICE = -2 };

struct pk_par {
    int n;                /* cells per side */
    enum pk_window order; /* of the assignment */
    bool interlace;       /* a second mesh, shifted by half a cell; not of samples */
    /* f: the box is cut into f³ pieces laid on one another; the modes are f times those of the box
     */
    int fold;
};

/* Lengths in units of the box, any position (it is wrapped). size 0: a point, with shot noise; > 0:
 * the edge of a cube around x, mass spread evenly, none; PK_LATTICE: a point of a displaced
 * lattice, which has none either; PK_SAMPLE: the value of a field that is given on the same mesh:
 * no window, no shot noise. A mesh has samples only or none. */
struct pk_item {
    double x[3], size, m;
    int mesh; /* 0..nmesh−1 */
};

struct pk;

/* total: Σ |m| of all items, or more. nmesh: separate species. (collective) */
struct pk *pk_new(const struct comm *c, const struct pk_par *par, int nmesh, double total);
void pk_free(struct pk **p);
/* Positions and masses are finite. What exceeds twice the total is not assigned to the mesh: a
 * caller that cannot trust the masses compares their sum with the total before it requests spectra.
 * (collective: ranks without items give n = 0) */
void pk_add(struct pk *p, int64_t n, const struct pk_item *item);

struct pk_bin {
    double k;                 /* mean |k| of its modes; fundamental modes of the box, 2π/L */
    double p[PK_BIN_COLUMNS]; /* V = 1: ℓ = 0, 2, 4, corrected; shot noise is in p[0] alone */
    double shot;              /* shot noise in p[0] */
    double sigma;             /* of p[0], Gaussian: p √(2/modes) */
    int64_t modes;            /* k and −k counted both */
};

/* A spectrum of the sum of the meshes in bit set a with that of set b; neither mixes samples with
 * others. */
struct pk_pair {
    unsigned a, b;
};

/* edge: nbin+1, in fundamental modes of the mesh. axis: the line of sight of the multipoles, 0..2,
 * or −1: p[1], p[2] are 0. out[pair][bin]. Empties the meshes. An empty mesh has δ = 0.
 * (collective) */
void pk_spectra(struct pk *p, int npair, const struct pk_pair *pair, int nbin, const double *edge,
                int axis, struct pk_bin *out);
