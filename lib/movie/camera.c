/* movie/camera: see camera.h. The laws are those of RAMSES's movies as its manual means them. */
#include "movie/camera.h"

#include <math.h>
#include <string.h>

/* The clock of the laws: aexp with cosmology, else time. The turns of a camera are spread over the
 * movie, which lasts from `start` to `end`. */
struct clock {
    double now, start, end;
};

static struct clock clock_at(const struct movie *m, const struct ckpt_head *h)
{
    const bool by_aexp = m->cosmo && m->a1 > 0;
    return (struct clock){.now = by_aexp ? h->aexp : h->t,
                          .start = by_aexp ? m->a0 : m->t0,
                          .end = by_aexp ? m->a1 : m->t1};
}

/* The part of a change over the whole movie that has happened by now. The change begins at `from`
 * and lasts for a time of `lasts`, not positive: `end`. */
static double progress(const struct clock *k, double from, double lasts)
{
    double since = k->now - from;
    if (!(lasts > 0)) lasts = k->end;
    if (!(since > 0)) since = 0;
    if (since > lasts) since = lasts;
    return k->end > k->start ? since / (k->end - k->start) : 0;
}

/* Cosine and sine of an angle in degrees; multiples of a right angle are exact, so that a full turn
 * changes no bit. */
static void turn(double degrees, double *cosine, double *sine)
{
    static const double exact[4][2] = {{1, 0}, {0, 1}, {-1, 0}, {0, -1}};
    double rest = fmod(degrees, 360);
    if (rest < 0) rest += 360;
    const double quarters = rest / 90;
    if (quarters == floor(quarters)) {
        *cosine = exact[(int)quarters % 4][0];
        *sine = exact[(int)quarters % 4][1];
        return;
    }
    *cosine = cos(degrees * (M_PI / 180));
    *sine = sin(degrees * (M_PI / 180));
}

static void place(const struct movie *m, const struct movie_camera *k, const struct ckpt_head *h,
                  struct movie_view *out)
{
    const double x = m->cosmo ? h->aexp : h->t;
    double width[3];
    for (int d = 0; d < 3; d++) {
        const double *c = k->centre[d];
        out->centre[d] = (c[0] == 0 ? h->boxlen / 2 : c[0]) + c[1] * x + c[2] * x * x +
                         c[3] * x * x * x;
        width[d] = k->width[d][0];
    }
    if (width[0] == 0 && width[1] > 0) width[0] = width[1] * m->nw / m->nh;
    if (width[1] == 0 && width[0] > 0) width[1] = width[0] * m->nh / m->nw;
    for (int d = 0; d < 3; d++) {
        out->width[d] = width[d] + k->width[d][1] / h->aexp;
        out->lo[d] = out->centre[d] - out->width[d] / 2;
        out->hi[d] = out->centre[d] + out->width[d] / 2;
    }
}

void movie_view(const struct movie *m, int c, const struct ckpt_head *h, struct movie_view *out)
{
    static const int AXES[3][3] = {{1, 2, 0}, {0, 2, 1}, {0, 1, 2}};
    const struct movie_camera *k = &m->camera[c];
    const struct clock clock = clock_at(m, h);
    const double by_theta = progress(&clock, k->tstart_theta, k->tend_theta),
                 by_phi = progress(&clock, k->tstart_phi, k->tend_phi),
                 theta = k->theta + by_theta * k->dtheta, phi = k->phi + by_phi * k->dphi,
                 dist = k->dist > 0 ? k->dist : h->boxlen;
    *out = (struct movie_view){.law = *k, .nw = m->nw, .nh = m->nh, .ndim = h->ndim};
    out->u = AXES[k->axis][0], out->v = AXES[k->axis][1], out->w = AXES[k->axis][2];
    place(m, k, h, out);
    turn(theta, &out->cos_theta, &out->sin_theta);
    turn(phi, &out->cos_phi, &out->sin_phi);
    out->turned = out->cos_theta != 1 || out->cos_phi != 1;
    out->theta = theta * (M_PI / 180), out->phi = phi * (M_PI / 180);
    out->dist = dist + by_theta * k->ddist;
    out->focal = k->focal > 0 && k->focal <= dist ? k->focal : out->dist;
    out->fov = atan(out->width[0] / 2 / out->focal);
    out->px = out->width[out->u] / m->nw;
    out->py = out->width[out->v] / m->nh;
}

/* ---- times of frames ---- */

static double time_of(double start, double end, int i, int n)
{
    return end > 0 ? start + (end - start) * i / n : INFINITY;
}

bool movie_due(const struct movie *m, int i, double t, double aexp)
{
    return i <= m->last &&
           (t >= time_of(m->t0, m->t1, i, m->last) || aexp >= time_of(m->a0, m->a1, i, m->last));
}

int movie_next(const struct movie *m, int i, double t, double aexp)
{
    while (movie_due(m, i, t, aexp)) i++;
    return i;
}
