/* curl: see curl.h. */
#include "curl/curl.h"

#include <math.h>

#include "base/log.h"
#include "base/mem.h"
#include "ckpt/magnetic.h"

/* An oct by its key, and its field at the centres of cells. */
struct place {
    okey key;
    int64_t at;
};
struct octs {
    int64_t n, room, room_b;
    struct place *place; /* [n], ascending once all is read */
    double (*b)[3][8];   /* [n] */
};

struct curl {
    int ndim;
    bool periodic;
    double lo[3], hi[3], dx[LEVEL_MAX + 1];
    struct magnetic field;
    struct octs level[LEVEL_MAX + 1];
};

/* Whether an oct, or one beside it, meets the region or, in a periodic box, an image of it. */
static bool is_near(const struct curl *q, const int64_t x[3], double side)
{
    for (int d = 0; d < q->ndim; d++) {
        const double lo = ((double)x[d] - 1) * side, hi = ((double)x[d] + 2) * side;
        bool meets = false;
        for (int image = -q->periodic; image <= q->periodic; image++)
            meets |= lo + image < q->hi[d] && hi + image > q->lo[d];
        if (!meets) return false;
    }
    return true;
}

static enum err bad_face(const struct curl *q, const struct source_octs *o, int f, int c, int i)
{
    char name[16], file[PATH_MAX];
    double x[3] = {0};
    const double size = ldexp(1, -o->level);
    okey_cell_centre(o->key[i], c, size, x);
    magnetic_name(f, name);
    source_file(o->source, FILES_HYDRO, o->piece, file);
    FAIL(ERR_FORMAT,
         "%s: level %d, cell at %.9g %.9g %.9g of the box: %s is %g, and has no curl: see inspect "
         "-cc",
         file, o->level, x[0], x[1], x[2], name, magnetic_face(&q->field, o, f, c, i));
}

static enum err take_oct(struct curl *q, const struct source_octs *o, int i)
{
    struct octs *l = &q->level[o->level];
    MEM_ROOM(l->b, l->n, l->room_b, 256, "field of the current");
    MEM_ROOM(l->place, l->n, l->room, 256, "octs of the current");
    for (int c = 0; c < 1 << q->ndim; c++)
        for (int d = 0; d < 3; d++) {
            for (int f = 2 * d; f < 2 * d + 2; f++)
                if (!isfinite(magnetic_face(&q->field, o, f, c, i))) return bad_face(q, o, f, c, i);
            l->b[l->n][d][c] = magnetic_centre(&q->field, o, d, c, i);
        }
    l->place[l->n] = (struct place){o->key[i], l->n};
    l->n++;
    return OK;
}

static enum err take_octs(const struct source_octs *o, void *ctx)
{
    struct curl *q = ctx;
    for (int i = 0; i < o->n; i++) {
        int64_t x[3];
        okey_coords(o->key[i], x);
        if (is_near(q, x, ldexp(2, -o->level))) TRY(take_oct(q, o, i));
    }
    return OK;
}

MEM_ORDER(by_key, struct place, key)

static enum err read_pieces(struct curl *q, struct source *r)
{
    for (int piece = 0; piece < r->npiece; piece++) {
        if (r->npiece > 1) log_live("reading file %d of %d", piece + 1, r->npiece);
        TRY(source_octs(r, piece, SOURCE_STORED, take_octs, q));
    }
    log_live(NULL);
    for (int l = 0; l <= LEVEL_MAX; l++)
        mem_sort(q->level[l].place, (size_t)q->level[l].n, sizeof *q->level[l].place, by_key);
    return OK;
}

enum err curl_read(struct source *r, const double lo[3], const double hi[3], struct curl **out)
{
    struct curl *q = mem_zero(sizeof *q, "current");
    q->ndim = r->head.ndim;
    q->periodic = r->nboundary == 0;
    q->field = magnetic_of(r);
    for (int d = 0; d < 3; d++) q->lo[d] = lo[d], q->hi[d] = hi[d];
    for (int l = 1; l <= LEVEL_MAX; l++) q->dx[l] = source_dx(r, l);
    *out = q;
    const enum err err = read_pieces(q, r);
    if (err != OK) curl_free(out);
    return err;
}

void curl_free(struct curl **q)
{
    if (!*q) return;
    for (int l = 0; l <= LEVEL_MAX; l++) {
        FREE((*q)->level[l].place);
        FREE((*q)->level[l].b);
    }
    FREE(*q);
}

/* The field of an oct; NULL: there is none. */
static const double (*field_of(const struct curl *q, int level, okey key))[8]
{
    const struct octs *l = &q->level[level];
    const struct place *p = mem_find(&(struct place){key, 0}, l->place, (size_t)l->n,
                                     sizeof *l->place, by_key);
    return p ? l->b[p->at] : NULL;
}

/* The field of the oct with the neighbour of a cell along axis d (up: on the upper side), which is
 * cell ^ 1 << d there; NULL: there is no neighbour of this level. */
static const double (*beside(const struct curl *q, int level, okey key, int cell, int d,
                             bool up))[8]
{
    int step[3] = {0, 0, 0};
    bool outside = false;
    if ((cell >> d & 1) != up) return field_of(q, level, key);
    step[d] = up ? 1 : -1;
    const okey other = okey_shift(key, level, step[0], step[1], step[2], &outside);
    return outside && !q->periodic ? NULL : field_of(q, level, other);
}

bool curl_at(const struct curl *q, int level, okey key, int cell, double j[3])
{
    const double(*here)[8] = field_of(q, level, key);
    double by[3][3] = {{0}}; /* derivative of component [e] along axis [d] */
    if (!here) return false;
    for (int d = 0; d < q->ndim; d++) {
        const double(*lo)[8] = beside(q, level, key, cell, d, false),
              (*hi)[8] = beside(q, level, key, cell, d, true);
        const double width = ((lo != NULL) + (hi != NULL)) * q->dx[level];
        for (int e = 0; e < 3; e++)
            by[d][e] = ((hi ? hi[e][cell ^ 1 << d] : here[e][cell]) -
                        (lo ? lo[e][cell ^ 1 << d] : here[e][cell])) /
                       width;
    }
    for (int d = 0; d < 3; d++) {
        const int e = (d + 1) % 3, f = (d + 2) % 3;
        j[d] = by[e][f] - by[f][e];
    }
    return true;
}
