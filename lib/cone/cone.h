/* cone: light cones, the matter that an observer at a = 1 sees in each coarse step. Method:
 * docs/method/cone.md.
 *
 * Lengths are in boxes: comoving, and relative to the observer in the frame of the cone's axes.
 * Local, unless a function says otherwise. */
#pragma once
#include "ckpt/ckpt.h"
#include "comm/comm.h"
#include "cosmo/cosmo.h"
#include "param/param.h"
#include "part/part.h"

/* Shape of a cone: within two opening angles around an axis; the whole sky; along an edge of the
 * box, within a part of its cross section. */
enum cone_kind { CONE_OPEN, CONE_SKY, CONE_BOX };

struct cone_view {
    enum cone_kind kind;
    int number; /* number of cuRAMSES's observer, 1 or 2; 0: RAMSES's cone */
    double observer[3];
    double axis[3][3];   /* rows: unit vectors of the frame; the first one is the line of sight */
    double tangent[2];   /* CONE_OPEN: of the half opening angles along the second and third axis */
    double nearest;      /* minimum distance along the line of sight */
    int along, sign;     /* CONE_BOX: edge 0, 1, 2, and direction, +1 or −1 */
    double lo[3], hi[3]; /* CONE_BOX: part of the box, with lo = 0 and hi = 1 along the edge */
};

/* CONE_RAMSES: positions at the end of the step, in the shell of distances that light crosses in
 * it. CONE_CROSSING: the event at which the line between the positions at both ends of the step
 * meets the light that reaches the observer. */
enum cone_rule { CONE_RAMSES, CONE_CROSSING };

/* A coarse step: [0] its beginning, [1] its end. */
struct cone_shell {
    enum cone_rule rule;
    int step; /* number of the coarse step that begins now */
    double aexp[2], z[2], distance[2];
    double dtau; /* length of the step, code units */
    /* first and second derivatives of distance and aexp at both ends, by the fraction of the
     * step */
    double fall[2][2], rise[2][2];
    double zmax;    /* maximum redshift of an event */
    double box_mpc; /* comoving length of the box, Mpc */
};

/* The views that the parameters ask for; returns their number. */
enum { CONE_VIEWS = 2 };
int cone_views(const struct param_lightcone *p, double box_mpc, struct cone_view v[CONE_VIEWS]);
/* Sets the shell of the coarse step that has just ended. Returns false if no event of it is wanted.
 */
bool cone_shell_of(const struct ckpt_head *h, const struct params *p, struct cone_shell *s);
/* The cosmology of a header; ramses: with the errors of RAMSES's tables. */
struct cosmo_par cone_cosmology(const struct ckpt_head *h, bool ramses);
/* Checks what is known only in a run: flat space, and a number of replicas that can be searched. */
MUST_USE enum err cone_check(const struct ckpt_head *h, const struct param_lightcone *p);

/* Points to be searched, in a box of length 1. was: positions at the beginning of the step
 * (cone_place), 0: not known, then x − v dtau; NULL: the points do not move. birth: time of birth
 * of points whose earlier position is not known, 0: they are older than the step; NULL: of all.
 * clock: the time at both ends of the step. */
struct cone_points {
    int64_t n;
    const double *x[3], *v[3];
    const int32_t *was[3];
    const double *birth;
    double clock[2];
    /* Half the edge of a cube around each point, 0: none. Then a point has an event if its cube may
     * be in the view, whose parts the caller tests. */
    double half;
};

struct cone_event {
    int64_t at; /* index of the point */
    int32_t
        image[3]; /* replica of the box: position in it plus image − observer, before rotation */
    double r[3], z;
};

struct cone_events {
    int64_t n, room;
    struct cone_event *at;
};

/* Position in the box as an integer that is not 0: the world line of a point ends in a step where
 * it begins in the next one, in all bits. */
int32_t cone_place(double x);
/* Appends the events of all points and replicas, in no order. */
void cone_select(const struct cone_view *v, const struct cone_shell *s, const struct cone_points *p,
                 struct cone_events *out);
void cone_events_free(struct cone_events *e);
/* Redshift at which light that arrives at a = 1 passes the distance far, in or near the shell. */
double cone_redshift(const struct cone_shell *s, double far);
/* Orders events by replica, then by the id of their points. */
void cone_events_sort(struct cone_events *e, const int64_t *id);
/* Turns a vector into the frame of a view. */
void cone_turn(const struct cone_view *v, const double r[3], double out[3]);

/* A galaxy at a particle. */
struct cone_galaxy {
    int64_t id;          /* of the particle */
    int64_t kind, clump; /* 1: of a main clump, 2: of a sub-clump, 3: orphan; number of the clump */
    double mass, stars;  /* of the halo, code units; of the stars, solar masses */
};
/* Galaxies of all ranks, on rank 0; elsewhere n = 0. */
struct cone_galaxies {
    int64_t n;
    struct cone_galaxy *at;
};

/* ---- files ---- */

/* The part of a step that one view needs; all pointers are lent. */
struct cone_slice {
    const struct comm *comm;
    const struct ckpt_head *head;
    const char *dir; /* directory of outputs */
    const struct cone_view *view;
    const struct cone_shell *shell;
    const struct parts *parts;
    const struct cone_events *events; /* of the particles, in order */
    const struct mesh *mesh;          /* its leaf cells are written, too; NULL: no gas */
    const struct catalog *sinks;      /* sinks of all ranks, on each of them; NULL: not written */
    const struct cone_events *seen;   /* of the sinks, on rank 0 */
    const struct cone_galaxies *galaxies; /* the slice has only these; NULL: it has particles */
};

/* Events of all sinks of a catalog; clock: the times at both ends of the step. Local. */
void cone_select_sinks(const struct cone_view *v, const struct cone_shell *s,
                       const struct catalog *sinks, const double clock[2], struct cone_events *out);

/* The directory of a slice, NNNNN the number of the step: cone_NNNNN, or of cuRAMSES's observers
 * light_cone/cone_NNNNN/observerN; galaxies have cone_gal_NNNNN in place of cone_NNNNN.
 * The functions below replace an older one at once, or leave it as it was. (collective, agreed)
 *
 * cone_write_ramses: files as RAMSES writes them; no directory if no rank has events. */
MUST_USE enum err cone_write_ramses(const struct cone_slice *s);
/* Files as cuRAMSES writes them: particles, gas, sinks, and info_NNNNN.txt. */
MUST_USE enum err cone_write_curamses(const struct cone_slice *s);
/* Galaxies as RAMSES writes them, with three values more than particles: the mass, the kind and the
 * number of the clump. All are in one file, in the order of replica and identity; no directory if
 * there are none. */
MUST_USE enum err cone_write_galaxies(const struct cone_slice *s);
/* cone_NNNNN.h5, cone_gal_NNNNN.h5: all events in the order of replica and identity. */
MUST_USE enum err cone_write_hdf5(const struct cone_slice *s);
/* cone_NNNNN.fits: numbers and masses of the particles in pixels of HEALPix, in ring order. */
MUST_USE enum err cone_write_healpix(const struct cone_slice *s, int nside);
/* An error if this program was built without the library that the format needs. */
MUST_USE enum err cone_can_healpix(void);
MUST_USE enum err cone_can_hdf5(void);
