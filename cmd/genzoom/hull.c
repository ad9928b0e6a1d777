/* genzoom/hull: the convex hull of cubes around points. Corners are added one by one: faces visible
 * from a corner are removed, and faces between the corner and the horizon are added.
 *
 * Points on a grid are a bad case for hulls (many lie in one plane). Coordinates are therefore
 * integers in units of 2^-30 of the box, and visibility of a face from a point is decided exactly:
 * in double precision if the sign is certain, otherwise in 128 bits. Only points strictly above a
 * face see it, so degenerate faces cannot arise. */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "shape.h"

typedef __int128 wide;

enum { FACES_MAX = 1 << 20 };
static const double UNIT = 1073741824.0;

struct face {
    int v[3];
    wide n[3], d; /* normal and offset: n x <= d inside */
    double f[4];  /* normal and offset, rounded */
    double reach; /* sum |n_i|, for error bounds of f and for cubes */
};

struct hull {
    int nvertex, vertices, nface, faces;
    int64_t (*vertex)[3];
    struct face *face;
    int nhorizon, horizon_cap;
    int (*horizon)[2];
};

static void make_face(struct hull *h, int a, int b, int c)
{
    MEM_ROOM(h->face, h->nface, h->faces, 64, "hull");
    struct face *f = &h->face[h->nface++];
    const int64_t *p = h->vertex[a], *q = h->vertex[b], *r = h->vertex[c];
    *f = (struct face){.v = {a, b, c}};
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        f->n[i] = (wide)(q[j] - p[j]) * (r[k] - p[k]) - (wide)(q[k] - p[k]) * (r[j] - p[j]);
        f->f[i] = (double)f->n[i];
        f->reach += fabs(f->f[i]);
    }
    for (int i = 0; i < 3; i++) f->d += f->n[i] * p[i];
    f->f[3] = (double)f->d;
}

/* Whether p is strictly above the face. Coordinates are below 2^33. */
static bool sees(const struct face *f, const int64_t p[3])
{
    double x = f->f[0] * (double)p[0] + f->f[1] * (double)p[1] + f->f[2] * (double)p[2] - f->f[3];
    double sure = 1e-14 * f->reach * 8 * UNIT;
    if (x > sure) return true;
    if (x < -sure) return false;
    return f->n[0] * p[0] + f->n[1] * p[1] + f->n[2] * p[2] > f->d;
}

static void add_horizon_edge(struct hull *h, int a, int b)
{
    for (int i = 0; i < h->nhorizon; i++)
        if (h->horizon[i][0] == b &&
            h->horizon[i][1] == a) { /* an edge shared by two removed faces is not on the horizon */
            memcpy(h->horizon[i], h->horizon[--h->nhorizon], sizeof h->horizon[0]);
            return;
        }
    MEM_ROOM(h->horizon, h->nhorizon, h->horizon_cap, 64, "hull");
    h->horizon[h->nhorizon][0] = a;
    h->horizon[h->nhorizon++][1] = b;
}

static int new_vertex(struct hull *h, const int64_t p[3])
{
    MEM_ROOM(h->vertex, h->nvertex, h->vertices, 64, "hull");
    memcpy(h->vertex[h->nvertex], p, sizeof h->vertex[0]);
    return h->nvertex++;
}

static void add_point(struct hull *h, const int64_t p[3])
{
    h->nhorizon = 0;
    for (int i = 0; i < h->nface;) {
        if (!sees(&h->face[i], p)) {
            i++;
            continue;
        }
        const int *v = h->face[i].v;
        for (int k = 0; k < 3; k++) add_horizon_edge(h, v[k], v[(k + 1) % 3]);
        h->face[i] = h->face[--h->nface];
    }
    if (h->nhorizon == 0) return;
    int v = new_vertex(h, p);
    for (int i = 0; i < h->nhorizon; i++) make_face(h, h->horizon[i][0], h->horizon[i][1], v);
}

static void corner(const int64_t p[3], int64_t half, int k, int64_t out[3])
{
    for (int d = 0; d < 3; d++) out[d] = p[d] + (k >> d & 1 ? half : -half);
}

/* Whether any corner of the cube is strictly above any face. */
static bool cube_is_outside(const struct hull *h, const int64_t p[3], int64_t half)
{
    for (int i = 0; i < h->nface; i++) {
        const struct face *f = &h->face[i];
        int64_t far[3];
        for (int d = 0; d < 3; d++) far[d] = p[d] + (f->n[d] > 0 ? half : -half);
        if (sees(f, far)) return true;
    }
    return false;
}

/* Starts the hull as a tetrahedron from four corners of the first cube. */
static void begin(struct hull *h, const int64_t p[3], int64_t half)
{
    static const int at[4] = {0, 1, 2, 4};
    int64_t x[3];
    for (int i = 0; i < 4; i++) {
        corner(p, half, at[i], x);
        new_vertex(h, x);
    }
    make_face(h, 0, 2, 1);
    make_face(h, 0, 1, 3);
    make_face(h, 0, 3, 2);
    make_face(h, 1, 2, 3);
}

static enum err add_cube(struct hull *h, const int64_t p[3], int64_t half)
{
    int64_t x[3];
    if (!cube_is_outside(h, p, half)) return OK;
    for (int k = 0; k < 8; k++) {
        corner(p, half, k, x);
        add_point(h, x);
    }
    if (h->nface > FACES_MAX)
        FAIL(ERR_LIMIT, "the hull of the points has more than %d faces: use --shape ellipsoid",
             FACES_MAX);
    return OK;
}

/* Adds the extreme points in a few directions first: most other points are then inside. */
static enum err add_extremes(struct hull *h, int64_t n, const int64_t (*x)[3], int64_t half)
{
    for (int dir = 0; dir < 343; dir++) {
        int64_t e[3] = {dir % 7 - 3, dir / 7 % 7 - 3, dir / 49 - 3}, best = 0, max = INT64_MIN;
        for (int64_t i = 0; i < n; i++) {
            int64_t s = e[0] * x[i][0] + e[1] * x[i][1] + e[2] * x[i][2];
            if (s > max) max = s, best = i;
        }
        TRY(add_cube(h, x[best], half));
    }
    return OK;
}

static void take_faces(const struct hull *h, struct shape *s)
{
    bool *used = mem_zero(sizeof *used * (size_t)h->nvertex, "hull");
    s->face = mem_new(sizeof *s->face * (size_t)h->nface, "hull");
    s->vertex = mem_new(sizeof *s->vertex * (size_t)h->nvertex, "hull");
    for (int d = 0; d < 3; d++) s->lo[d] = 1e300, s->hi[d] = -1e300;
    for (int i = 0; i < h->nface; i++) {
        const struct face *f = &h->face[i];
        for (int k = 0; k < 3; k++) used[f->v[k]] = true;
        for (int d = 0; d < 3; d++) s->face[s->nface][d] = f->f[d] / f->reach;
        /* margin: rounding must not exclude points of the hull */
        s->face[s->nface++][3] = f->f[3] / f->reach / UNIT + 1e-14;
    }
    for (int i = 0; i < h->nvertex; i++) {
        if (!used[i]) continue;
        for (int d = 0; d < 3; d++) {
            double x = (double)h->vertex[i][d] / UNIT;
            s->vertex[s->nvertex][d] = x;
            s->lo[d] = fmin(s->lo[d], x);
            s->hi[d] = fmax(s->hi[d], x);
        }
        s->nvertex++;
    }
    mem_free(used);
}

enum err shape_hull(struct shape *s, int64_t n, const double (*x)[3], double pad)
{
    struct hull h = {0};
    int64_t(*p)[3] = mem_new(sizeof *p * (size_t)n, "points"), half = (int64_t)ceil(pad * UNIT);
    enum err err = OK;
    BUG_ON(n < 1 || half < 1);
    *s = (struct shape){.kind = SHAPE_HULL};
    for (int64_t i = 0; i < n; i++)
        for (int d = 0; d < 3; d++) p[i][d] = llrint(x[i][d] * UNIT);
    begin(&h, p[0], half);
    TRY_OUT(add_cube(&h, p[0], half));
    TRY_OUT(add_extremes(&h, n, (const int64_t(*)[3])p, half));
    for (int64_t i = 0; i < n; i++) TRY_OUT(add_cube(&h, p[i], half));
    take_faces(&h, s);
out:
    mem_free(h.vertex);
    mem_free(h.face);
    mem_free(h.horizon);
    mem_free(p);
    return err;
}
