/* genzoom/hull: the convex hull of cubes around points, by Quickhull (Barber, Dobkin & Huhdanpaa
 * 1996): each point that is outside is kept by a face that it sees; the farthest point of a face
 * removes all faces that it sees, and faces between it and the horizon are added, which share the
 * points of the removed ones. A point that sees none of these is inside. The cubes of the extreme
 * points of a few directions come first, since most others are within their hull.
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

enum { FACES_MAX = 1 << 20, NONE = -1 };
static const double UNIT = 1073741824.0;

struct face {
    int v[3];
    wide n[3], d;    /* normal and offset: n x <= d inside */
    double f[4];     /* normal and offset, rounded */
    double reach;    /* sum |n_i|, for error bounds of f */
    int64_t outside; /* first of the points that it keeps; NONE: it keeps none */
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
    *f = (struct face){.v = {a, b, c}, .outside = NONE};
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        f->n[i] = (wide)(q[j] - p[j]) * (r[k] - p[k]) - (wide)(q[k] - p[k]) * (r[j] - p[j]);
        f->f[i] = (double)f->n[i];
        f->reach += fabs(f->f[i]);
    }
    for (int i = 0; i < 3; i++) f->d += f->n[i] * p[i];
    f->f[3] = (double)f->d;
}

/* The rounded height of p above the face, times the length of its normal. */
static double above(const struct face *f, const int64_t p[3])
{
    return f->f[0] * (double)p[0] + f->f[1] * (double)p[1] + f->f[2] * (double)p[2] - f->f[3];
}

/* Whether p is strictly above the face. Coordinates are below 2^33. */
static bool sees(const struct face *f, const int64_t p[3])
{
    const double x = above(f, p);
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

/* Points in lists of faces: p[i] is followed by p[next[i]]. */
struct points {
    int64_t *next;
    int64_t (*p)[3];
};

/* Gives the points of a list to the faces from `first` on; those that see none are inside. */
static void share(struct hull *h, const struct points *q, int64_t list, int first)
{
    for (int64_t i = list, then; i != NONE; i = then) {
        int k = first;
        then = q->next[i];
        while (k < h->nface && !sees(&h->face[k], q->p[i])) k++;
        if (k == h->nface) continue;
        q->next[i] = h->face[k].outside;
        h->face[k].outside = i;
    }
}

/* Removes the faces that p sees; their edges towards other faces are the horizon. Returns the list
 * of the points that they kept. */
static int64_t remove_seen(struct hull *h, const struct points *q, const int64_t p[3])
{
    int64_t list = NONE;
    h->nhorizon = 0;
    for (int i = 0; i < h->nface;) {
        struct face *f = &h->face[i];
        if (!sees(f, p)) {
            i++;
            continue;
        }
        for (int64_t k = f->outside, then; k != NONE; k = then)
            then = q->next[k], q->next[k] = list, list = k;
        for (int k = 0; k < 3; k++) add_horizon_edge(h, f->v[k], f->v[(k + 1) % 3]);
        *f = h->face[--h->nface];
    }
    return list;
}

static int64_t farthest(const struct face *f, const struct points *q)
{
    int64_t best = f->outside;
    double most = -1;
    for (int64_t i = f->outside; i != NONE; i = q->next[i]) {
        const double x = above(f, q->p[i]);
        if (x > most) most = x, best = i;
    }
    return best;
}

/* Makes the farthest point of the face a corner. */
static enum err add_corner(struct hull *h, const struct points *q, int face)
{
    const int64_t i = farthest(&h->face[face], q), list = remove_seen(h, q, q->p[i]);
    const int v = new_vertex(h, q->p[i]), first = h->nface;
    for (int k = 0; k < h->nhorizon; k++) make_face(h, h->horizon[k][0], h->horizon[k][1], v);
    share(h, q, list, first); /* the point itself sees no face any more */
    if (h->nface > FACES_MAX)
        FAIL(ERR_LIMIT, "the hull of the points has more than %d faces: use --shape ellipsoid",
             FACES_MAX);
    return OK;
}

/* Extends the hull to all points. */
static enum err add_points(struct hull *h, int64_t n, int64_t (*p)[3])
{
    struct points q = {.p = p, .next = mem_new(sizeof *q.next * (size_t)n, "hull")};
    enum err err = OK;
    for (int64_t i = 0; i < n; i++) q.next[i] = i + 1 < n ? i + 1 : NONE;
    share(h, &q, 0, 0);
    for (bool any = true; any && err == OK;) {
        any = false;
        for (int i = 0; i < h->nface && err == OK; i++) {
            if (h->face[i].outside == NONE) continue;
            any = true;
            err = add_corner(h, &q, i);
        }
    }
    mem_free(q.next);
    return err;
}

static void corner(const int64_t p[3], int64_t half, int k, int64_t out[3])
{
    for (int d = 0; d < 3; d++) out[d] = p[d] + (k >> d & 1 ? half : -half);
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

/* Corners of cubes. */
struct cubes {
    int64_t n, cap, half;
    int64_t (*p)[3];
};

static void add_cube(struct cubes *c, const int64_t p[3])
{
    for (int k = 0; k < 8; k++) {
        MEM_ROOM(c->p, c->n, c->cap, 1024, "hull");
        corner(p, c->half, k, c->p[c->n++]);
    }
}

/* The cubes of the extreme points in 26 directions. */
static void add_extremes(struct cubes *c, int64_t n, const int64_t (*x)[3])
{
    for (int dir = 0; dir < 27; dir++) {
        int64_t e[3] = {dir % 3 - 1, dir / 3 % 3 - 1, dir / 9 - 1}, best = 0, max = INT64_MIN;
        for (int64_t i = 0; i < n; i++) {
            int64_t s = e[0] * x[i][0] + e[1] * x[i][1] + e[2] * x[i][2];
            if (s > max) max = s, best = i;
        }
        add_cube(c, x[best]);
    }
}

/* Extends the hull to the cubes, and forgets them. */
static enum err enclose(struct hull *h, struct cubes *c)
{
    enum err err = c->n > 0 ? add_points(h, c->n, c->p) : OK;
    c->n = 0;
    return err;
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
    struct cubes c = {.half = (int64_t)ceil(pad * UNIT)};
    int64_t(*p)[3] = mem_new(sizeof *p * (size_t)n, "points");
    enum err err = OK;
    BUG_ON(n < 1 || c.half < 1);
    *s = (struct shape){.kind = SHAPE_HULL};
    for (int64_t i = 0; i < n; i++)
        for (int d = 0; d < 3; d++) p[i][d] = llrint(x[i][d] * UNIT);
    begin(&h, p[0], c.half);
    add_cube(&c, p[0]);
    add_extremes(&c, n, (const int64_t(*)[3])p);
    TRY_OUT(enclose(&h, &c));
    for (int64_t i = 0; i < n; i++)
        if (cube_is_outside(&h, p[i], c.half)) add_cube(&c, p[i]);
    TRY_OUT(enclose(&h, &c));
    take_faces(&h, s);
out:
    mem_free(c.p);
    mem_free(h.vertex);
    mem_free(h.face);
    mem_free(h.horizon);
    mem_free(p);
    return err;
}
