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
    enum pk_window order; /* order of the assignment */
    bool interlace; /* whether to use a second mesh, shifted by half a cell; not for samples */
    /* Folding factor f: the box is cut into f³ pieces, which are superposed; modes are f times the
     * modes of the box. */
    int fold;
};

/* An item; lengths in units of the box, any position (it is wrapped). size 0: a point, with shot
 * noise; > 0: the edge of a cube around x with uniform mass, without shot noise; PK_LATTICE: a
 * point of a displaced lattice, without shot noise; PK_SAMPLE: the value of a field that is given
 * on the same mesh: no window, no shot noise. A mesh has samples only or none. */
struct pk_item {
    double x[3], size, m;
    int mesh; /* index of the mesh, 0..nmesh−1 */
};

struct pk;

/* Creates nmesh meshes, one per species. total: Σ |m| of all items, or more. (collective) */
struct pk *pk_new(const struct comm *c, const struct pk_par *par, int nmesh, double total);
void pk_free(struct pk **p);
/* Adds n items, whose positions and masses must be finite. Mass in excess of twice the total is not
 * assigned to the mesh: a caller that cannot trust the masses must compare their sum with the total
 * before requesting spectra. (collective: ranks without items give n = 0) */
void pk_add(struct pk *p, int64_t n, const struct pk_item *item);

struct pk_bin {
    double k;                 /* mean |k| of its modes; unit: fundamental mode of the box, 2π/L */
    double p[PK_BIN_COLUMNS]; /* V = 1: ℓ = 0, 2, 4, corrected; p[0] alone contains shot noise */
    double shot;              /* shot noise contained in p[0] */
    double sigma;             /* Gaussian error of p[0]: p √(2/modes) */
    int64_t modes;            /* number of modes, k and −k both counted */
};

/* Cross spectrum of the sum of the meshes in bit set a and that in set b; a set must not mix
 * samples with other items. turn: 0, or an axis + 1: in place of the real part of a b* the
 * imaginary part of a* b, times twice the wave number along the axis in units of the mesh, by k² if
 * turn_k2. Summed over the axes, with a and b the components of a vector w along the next two, that
 * is w·curl w, by k² w·A, where curl A = w and div A = 0. */
struct pk_pair {
    unsigned a, b;
    int turn;
    bool turn_k2;
};

/* Computes spectra out[pair][bin]. edge: nbin+1, in fundamental modes of the mesh. axis: the line
 * of sight of the multipoles, 0..2, or −1: p[1], p[2] are 0. Empties the meshes. An empty mesh has
 * δ = 0. (collective) */
void pk_spectra(struct pk *p, int npair, const struct pk_pair *pair, int nbin, const double *edge,
                int axis, struct pk_bin *out);
