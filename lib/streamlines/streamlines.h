/* streamlines: stream lines of a vector field on a square of pixels, evenly spaced (Jobard & Lefer
 * 1997): no line comes closer to another than half of the separation, and new lines begin at a
 * separation from those that exist. The lines depend on the field alone, in every bit. */
#pragma once

struct streamlines_field {
    int n;
    const double *u, *v; /* [n*n] components to the right and up, lowest row first; NaN: none */
};

struct streamlines {
    int n;           /* number of lines */
    int *end;        /* [n] points of all lines up to this one: line i begins at end[i - 1] */
    double (*at)[2]; /* points in units of the side of the square, along the field */
    int room, points, points_room;
};

/* separation: in units of the side. streamlines_free frees *out. */
void streamlines_make(const struct streamlines_field *f, double separation,
                      struct streamlines *out);
void streamlines_free(struct streamlines *l);
/* Number of points of line i; *first: its first point. */
int streamlines_points(const struct streamlines *l, int i, const double (**first)[2]);
