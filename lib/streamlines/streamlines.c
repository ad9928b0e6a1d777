/* streamlines: see lines.h. */
#include "streamlines/streamlines.h"

#include <math.h>
#include <stdbool.h>

#include "base/mem.h"

/* Least steps per separation, and per pixel; points of a line; least distance to another line, as a
 * share of the separation. */
enum { STEPS = 10, PIXEL_STEPS = 2, LONGEST = 100000 };
static const double NEAR = 0.5;
/* Speeds below this share of the greatest have no direction. */
static const double STILL = 1e-6;

/* Points of finished lines by squares as wide as the separation, and the line under way. */
struct tracing {
    const struct streamlines_field *f;
    struct streamlines *out;
    double separation, step, still;
    int steps;           /* per separation */
    int squares;         /* along a side */
    int *head, *next;    /* [squares²] newest point of a square, [points] the one before; -1 */
    int room;            /* of next */
    double (*way[2])[2]; /* points against the field and along it; the first of both: the seed */
    int n[2], way_room[2];
};

/* ---- the field ---- */

/* Direction of the field at x by bilinear interpolation; false: none. */
static bool direction(const struct tracing *t, const double x[2], double to[2])
{
    const int n = t->f->n;
    int k[2];
    double w[2], u = 0, v = 0;
    if (!(x[0] >= 0 && x[0] <= 1 && x[1] >= 0 && x[1] <= 1)) return false;
    for (int d = 0; d < 2; d++) {
        const double y = fmin(fmax(x[d] * n - 0.5, 0), n - 1);
        k[d] = (int)fmin(y, n > 1 ? n - 2 : 0);
        w[d] = y - k[d];
    }
    for (int b = 0; b < 2; b++)
        for (int a = 0; a < 2; a++) {
            const double share = (a ? w[0] : 1 - w[0]) * (b ? w[1] : 1 - w[1]);
            if (share == 0) continue;
            const long at = (long)(k[1] + b) * n + k[0] + a;
            u += share * t->f->u[at], v += share * t->f->v[at];
        }
    const double speed = hypot(u, v);
    if (!(speed > t->still)) return false;
    to[0] = u / speed, to[1] = v / speed;
    return true;
}

/* Advances x by a step (sign: along the field or against it) by the scheme of Runge and Kutta. The
 * line ends where there is no direction, or it turns back within a step. */
static bool advance(const struct tracing *t, double sign, double x[2])
{
    static const double PART[] = {0, 0.5, 0.5, 1}, WEIGHT[] = {1, 2, 2, 1};
    double k[2] = {0}, first[2] = {0}, sum[2] = {0};
    for (int s = 0; s < 4; s++) {
        const double h = sign * t->step * PART[s], y[2] = {x[0] + h * k[0], x[1] + h * k[1]};
        if (!direction(t, y, k)) return false;
        if (s == 0) first[0] = k[0], first[1] = k[1];
        if (k[0] * first[0] + k[1] * first[1] <= 0) return false;
        for (int d = 0; d < 2; d++) sum[d] += WEIGHT[s] * k[d];
    }
    for (int d = 0; d < 2; d++) x[d] += sign * t->step * sum[d] / 6;
    return x[0] >= 0 && x[0] <= 1 && x[1] >= 0 && x[1] <= 1;
}

/* ---- distances ---- */

static int square_of(const struct tracing *t, double x)
{
    return (int)fmin(fmax(x / t->separation, 0), t->squares - 1);
}

/* Whether a point of a finished line is closer to x than `far`, at most a separation. */
static bool is_beside(const struct tracing *t, const double x[2], double far)
{
    const int a = square_of(t, x[0]), b = square_of(t, x[1]);
    for (int j = b > 0 ? b - 1 : 0; j <= b + 1 && j < t->squares; j++)
        for (int i = a > 0 ? a - 1 : 0; i <= a + 1 && i < t->squares; i++)
            for (int p = t->head[j * t->squares + i]; p >= 0; p = t->next[p])
                if (hypot(t->out->at[p][0] - x[0], t->out->at[p][1] - x[1]) < far) return true;
    return false;
}

/* Whether x comes back to its own line, except to what is less than two separations behind, and to
 * the neighbourhood of the seed, where the line may close. */
static bool meets_itself(const struct tracing *t, const double x[2], int way)
{
    for (int w = 0; w < 2; w++)
        for (int i = t->steps; i < t->n[w]; i++) {
            const int behind = w == way ? t->n[way] - i : t->n[way] + i;
            const double *p = t->way[w][i];
            if (behind > 2 * t->steps && hypot(p[0] - x[0], p[1] - x[1]) < NEAR * t->separation)
                return true;
        }
    return false;
}

/* ---- one line ---- */

static void keep(struct tracing *t, int way, const double x[2])
{
    MEM_ROOM(t->way[way], t->n[way], t->way_room[way], 256, "stream lines");
    t->way[way][t->n[way]][0] = x[0], t->way[way][t->n[way]][1] = x[1];
    t->n[way]++;
}

/* Follows the field from the seed; true: back at the seed, which closes the line. */
static bool follow(struct tracing *t, const double seed[2], int way)
{
    double x[2] = {seed[0], seed[1]};
    keep(t, way, x);
    while (t->n[way] < LONGEST && advance(t, way ? 1 : -1, x)) {
        if (t->n[way] > 2 && hypot(x[0] - seed[0], x[1] - seed[1]) < 0.75 * t->step) {
            keep(t, way, seed);
            return true;
        }
        if (is_beside(t, x, NEAR * t->separation) || meets_itself(t, x, way)) return false;
        keep(t, way, x);
    }
    return false;
}

static void add_point(struct tracing *t, const double x[2])
{
    struct streamlines *l = t->out;
    const int square = square_of(t, x[1]) * t->squares + square_of(t, x[0]);
    MEM_ROOM(l->at, l->points, l->points_room, 1024, "stream lines");
    MEM_ROOM(t->next, l->points, t->room, 1024, "stream lines");
    l->at[l->points][0] = x[0], l->at[l->points][1] = x[1];
    t->next[l->points] = t->head[square];
    t->head[square] = l->points++;
}

/* Adds the line through a seed, unless it is too close to others or too short. */
static void add_line(struct tracing *t, const double seed[2])
{
    double to[2];
    if (is_beside(t, seed, (1 - 1e-9) * t->separation) || !direction(t, seed, to)) return;
    t->n[0] = t->n[1] = 0;
    const bool closed = follow(t, seed, 1);
    if (closed)
        keep(t, 0, seed);
    else
        (void)follow(t, seed, 0);
    if (!closed && t->n[0] + t->n[1] - 2 < t->steps) return;
    for (int i = t->n[0] - 1; i > 0; i--) add_point(t, t->way[0][i]);
    for (int i = 0; i < t->n[1]; i++) add_point(t, t->way[1][i]);
    MEM_ROOM(t->out->end, t->out->n, t->out->room, 64, "stream lines");
    t->out->end[t->out->n++] = t->out->points;
}

/* ---- all lines ---- */

/* Lines beside line i, from seeds at a separation on both sides of each of its points. */
static void add_beside(struct tracing *t, int i)
{
    const int first = i ? t->out->end[i - 1] : 0, last = t->out->end[i];
    for (int p = first; p < last; p++)
        for (int side = -1; side <= 1; side += 2) {
            const double x[2] = {t->out->at[p][0], t->out->at[p][1]};
            double to[2];
            if (!direction(t, x, to)) continue;
            add_line(t, (double[]){x[0] - side * t->separation * to[1],
                                   x[1] + side * t->separation * to[0]});
        }
}

static double greatest(const struct streamlines_field *f)
{
    double max = 0;
    for (long i = 0; i < (long)f->n * f->n; i++) max = fmax(max, hypot(f->u[i], f->v[i]));
    return max;
}

void streamlines_make(const struct streamlines_field *f, double separation, struct streamlines *out)
{
    *out = (struct streamlines){.n = 0};
    struct tracing t = {.f = f,
                        .out = out,
                        .separation = separation,
                        .steps = (int)fmax(STEPS, ceil(PIXEL_STEPS * separation * f->n)),
                        .still = STILL * greatest(f),
                        .squares = (int)ceil(1 / separation)};
    t.step = separation / t.steps;
    t.head = mem_new(sizeof *t.head * (size_t)(t.squares * t.squares), "stream lines");
    for (int i = 0; i < t.squares * t.squares; i++) t.head[i] = -1;
    int done = 0;
    add_line(&t, (double[]){0.5, 0.5});
    /* seeds all over the square, for parts that no line leads to */
    for (int k = 0; k <= 4 * t.squares * t.squares; k++) {
        for (; done < out->n; done++) add_beside(&t, done);
        const double a = k % (2 * t.squares) + 0.5, b = (double)(k / (2 * t.squares)) + 0.5;
        add_line(&t, (double[]){a / (2 * t.squares), b / (2 * t.squares)});
    }
    for (int w = 0; w < 2; w++) FREE(t.way[w]);
    FREE(t.head);
    FREE(t.next);
}

void streamlines_free(struct streamlines *l)
{
    FREE(l->end);
    FREE(l->at);
}

int streamlines_points(const struct streamlines *l, int i, const double (**first)[2])
{
    const int begin = i ? l->end[i - 1] : 0;
    *first = (const double(*)[2])(l->at + begin);
    return l->end[i] - begin;
}
