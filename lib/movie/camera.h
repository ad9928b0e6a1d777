/* movie/camera: cameras, their laws in time, the times of frames, and the names that frames have.
 *
 * A camera is what &MOVIE_PARAMS says about it; a view is a camera at one time. Lengths are in code
 * units, angles of cameras in degrees, of views in radians. Positions relative to the centre are
 * turned by theta about z, then by phi about x. */
#pragma once
#include <stdbool.h>

#include "base/err.h"
#include "ckpt/ckpt.h"
#include "param/param.h"

enum { MOVIE_CAMERAS = 5, MOVIE_VARIABLES = 50, MOVIE_NAME = 16, MOVIE_PIXELS_MAX = 16384 };

enum movie_shader {
    SHADER_SQUARE, /* the face of a cell, not turned */
    SHADER_CUBE,   /* the projection of the turned cell */
    SHADER_SPHERE  /* a disc */
};

/* Methods by which values q of cells at a pixel become one: means Σwq/Σw, of weights of a cell
 * divided by the number of pixels that it covers, or otherwise. */
enum movie_method { MEAN_MASS, MEAN_DENSITY, MEAN_VOLUME, METHOD_SUM, METHOD_MIN, METHOD_MAX };

struct movie_camera {
    int axis;            /* line of sight: 0, 1 or 2 */
    double centre[3][4]; /* coefficients of a polynomial in time; first 0: middle of the box */
    double width[3][2];  /* full widths: w[0] + w[1]/aexp along x, y, z */
    double theta, phi;
    double dtheta, dphi, ddist; /* changes over the whole movie */
    double tstart_theta, tstart_phi, tend_theta, tend_phi;
    double focal, dist; /* not positive: the distance; boxlen */
    bool perspective;
    double smooth; /* size of a footprint in cells */
    enum movie_shader shader;
    enum movie_method method;
    bool zoom_only;
    int ivar; /* variable of the gas that selects cells, from 0; −1: all cells */
    double varmin, varmax;
};

/* Subjects of a map: gas, weighted by the camera's method, or sums over particles in a pixel. */
enum movie_quantity {
#define VARIABLE(symbol, ...) MOVIE_##symbol,
#include "movie/variables.def"
    MOVIE_QUANTITIES
};

struct movie_variable {
    char name[MOVIE_NAME]; /* as in the namelist: the name of its files */
    enum movie_quantity quantity;
    int scalar; /* variable of the gas, from 0, for MOVIE_SCALAR */
};

struct movie {
    int ncamera, nvariable;
    struct movie_camera camera[MOVIE_CAMERAS];
    struct movie_variable variable[MOVIE_VARIABLES];
    int nw, nh;   /* pixels of every frame */
    int levelmax; /* finest level drawn */
    /* Frame i = first…last is due at t >= t0 + (t1 − t0) i/last, with `cosmo` at aexp instead, or,
     * if both are given, at the earlier; an end that is not positive is none. */
    int first, last;
    bool cosmo;
    double t0, t1, a0, a1;
    /* cut of zoom_only: scalar zoom_ivar (from 0; −1: none) per mass above zoom_cut, particles
     * lighter than mass_cut */
    int zoom_ivar;
    double zoom_cut, mass_cut;
};

/* A camera at a time. Axes: u to the right, v up, w along the line of sight, towards the camera. */
struct movie_view {
    int u, v, w;
    double centre[3], width[3], lo[3], hi[3]; /* along x, y, z */
    double cos_theta, sin_theta, cos_phi, sin_phi;
    double theta, phi, dist, focal, fov; /* dist: of the camera from the centre */
    double px, py;                       /* sides of a pixel */
    int nw, nh, ndim;
    bool turned; /* whether theta or phi is not 0 */
    struct movie_camera law;
};

/* The contents of a run that can be drawn. gas: names of the variables (lent); NULL: no gas. */
struct movie_kinds {
    const struct gas_vars *gas;
    int ndim;
    bool magnetic;
};

/* The movie of a run, from its parameters. An error about what cannot be drawn. last = 0:
 * movie=.false., or there are no times of frames. */
MUST_USE enum err movie_of(const struct params *p, const struct movie_kinds *k, struct movie *out);
/* Camera c at the time of a header. */
void movie_view(const struct movie *m, int c, const struct ckpt_head *h, struct movie_view *out);
/* Variable of this name (dens, var6, …). */
MUST_USE enum err movie_variable(const char *name, const struct movie_kinds *k,
                                 struct movie_variable *out);
bool movie_of_particles(enum movie_quantity q); /* a sum over particles; otherwise of the gas */
const char *movie_help(enum movie_quantity q);  /* what it is, in words */
enum err movie_shader(const char *name, enum movie_shader *out);
enum err movie_method(const char *name, enum movie_method *out);
/* Whether frame i exists and is due at time t and expansion factor aexp. */
bool movie_due(const struct movie *m, int i, double t, double aexp);
/* The first frame from i on that is not due yet. */
int movie_next(const struct movie *m, int i, double t, double aexp);
