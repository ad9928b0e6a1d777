/* cone/view: the shapes of cones, from parameters, and the shell of a coarse step. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cgs.h"
#include "cone/priv.h"
#include "cosmo/cosmo.h"

/* RAMSES's numbers: speed of light, km/s; directions of the frame, degrees; opening angle from
 * which the cone is the whole sky, degrees; minimum distance along the line of sight, Mpc. */
static const double CONE_C = 299792.5, THETA = 25, PHI = 17, WHOLE_SKY = 44, NEAREST_MPC = 1e-5;
/* minimum distance along the axis of cuRAMSES's cones, boxes */
static const double NEAREST_BOX = 1e-6;
/* maximum number of replicas that a step may search */
static const double REPLICAS = 1e8;

static const double DEGREE = 3.14159265358979323846 / 180;

static void view_open(const struct param_lightcone *p, double box_mpc, struct cone_view *v)
{
    double c = cos(THETA * DEGREE), s = sin(THETA * DEGREE), cp = cos(PHI * DEGREE),
           sp = sin(PHI * DEGREE);
    const double axis[3][3] = {{c * cp, c * sp, -s}, {-sp, cp, 0}, {cp * s, sp * s, c}};
    bool open = p->thetay_cone < WHOLE_SKY && p->thetaz_cone < WHOLE_SKY;
    *v = (struct cone_view){.kind = open ? CONE_OPEN : CONE_SKY,
                            .observer = {0.5, 0.5, 0.5},
                            .tangent = {tan(p->thetay_cone * DEGREE), tan(p->thetaz_cone * DEGREE)},
                            .nearest = NEAREST_MPC / box_mpc,
                            .hi = {1, 1, 1}};
    memcpy(v->axis, axis, sizeof axis);
}

static bool view_box(int number, int edge, const double *observer, const double *lo,
                     const double *hi, struct cone_view *v)
{
    if (!(lo[0] < hi[0] && lo[1] < hi[1] && lo[2] < hi[2])) return false;
    *v = (struct cone_view){.kind = CONE_BOX,
                            .number = number,
                            .axis = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
                            .nearest = NEAREST_BOX,
                            .along = abs(edge) - 1,
                            .sign = edge > 0 ? 1 : -1};
    memcpy(v->observer, observer, sizeof v->observer);
    memcpy(v->lo, lo, sizeof v->lo);
    memcpy(v->hi, hi, sizeof v->hi);
    return true;
}

int cone_views(const struct param_lightcone *p, double box_mpc, struct cone_view v[CONE_VIEWS])
{
    int n = 0;
    n += view_box(1, p->elongated_axis_cone1, p->observer_cone1, p->minboxr_cone1, p->maxboxr_cone1,
                  &v[n]);
    n += view_box(2, p->elongated_axis_cone2, p->observer_cone2, p->minboxr_cone2, p->maxboxr_cone2,
                  &v[n]);
    if (n == 0) view_open(p, box_mpc, &v[n++]);
    return n;
}

void cone_turn(const struct cone_view *v, const double r[3], double out[3])
{
    for (int i = 0; i < 3; i++)
        out[i] = v->axis[i][0] * r[0] + v->axis[i][1] * r[1] + v->axis[i][2] * r[2];
}

bool cone_view_holds(const struct cone_view *v, const double at[3], double turned[3])
{
    cone_turn(v, at, turned);
    if (v->kind == CONE_SKY) return true;
    if (v->kind == CONE_OPEN)
        return turned[0] > v->nearest && fabs(turned[1]) <= v->tangent[0] * turned[0] &&
               fabs(turned[2]) <= v->tangent[1] * turned[0];
    for (int d = 0; d < 3; d++) {
        double x = at[d] + v->observer[d];
        if (d != v->along && !(x >= v->lo[d] && x < v->hi[d])) return false;
    }
    double far = v->sign * at[v->along];
    return far > v->nearest;
}

bool cone_view_meets(const struct cone_view *v, const double mid[3], const double half[3])
{
    double at[3], reach = sqrt(half[0] * half[0] + half[1] * half[1] + half[2] * half[2]);
    if (v->kind == CONE_SKY) return true;
    if (v->kind == CONE_BOX) {
        for (int d = 0; d < 3; d++)
            if (d != v->along && (mid[d] - half[d] + v->observer[d] >= v->hi[d] ||
                                  mid[d] + half[d] + v->observer[d] < v->lo[d]))
                return false;
        return v->sign * mid[v->along] + half[v->along] > v->nearest;
    }
    cone_turn(v, mid, at);
    double far = at[0] + reach;
    return far > v->nearest && fabs(at[1]) - reach <= v->tangent[0] * far &&
           fabs(at[2]) - reach <= v->tangent[1] * far;
}

/* Box around a slice of a cone: its corners near and far, in the frame of the box. */
static void bounds_open(const struct cone_view *v, double near, double far, double lo[3],
                        double hi[3])
{
    double ty = v->tangent[0], tz = v->tangent[1];
    double x[2] = {near / sqrt(1 + ty * ty + tz * tz), far};
    for (int d = 0; d < 3; d++) lo[d] = INFINITY, hi[d] = -INFINITY;
    for (int k = 0; k < 8; k++) {
        double u = x[k & 1], c[3] = {u, (k & 2 ? u : -u) * ty, (k & 4 ? u : -u) * tz};
        for (int d = 0; d < 3; d++) {
            double q = v->axis[0][d] * c[0] + v->axis[1][d] * c[1] + v->axis[2][d] * c[2];
            lo[d] = fmin(lo[d], q), hi[d] = fmax(hi[d], q);
        }
    }
}

void cone_view_images(const struct cone_view *v, double near, double far, double margin,
                      struct cone_range *r)
{
    double lo[3], hi[3];
    for (int d = 0; d < 3; d++) lo[d] = -far, hi[d] = far;
    if (v->kind == CONE_OPEN) bounds_open(v, near, far, lo, hi);
    for (int d = 0; d < 3 && v->kind == CONE_BOX; d++) {
        lo[d] = d == v->along ? v->sign > 0 ? 0 : -far : v->lo[d] - v->observer[d];
        hi[d] = d == v->along ? v->sign > 0 ? far : 0 : v->hi[d] - v->observer[d];
    }
    r->count = 1;
    for (int d = 0; d < 3; d++) {
        r->lo[d] = floor(lo[d] - margin + v->observer[d]);
        r->hi[d] = floor(hi[d] + margin + v->observer[d]);
        r->count *= r->hi[d] - r->lo[d] + 1;
    }
}

/* ---- the shell ---- */

struct cosmo_par cone_cosmology(const struct ckpt_head *h, bool ramses)
{
    struct cosmo_par p = ckpt_cosmology(h);
    p.ramses = ramses;
    return p;
}

static enum cone_rule rule_of(const struct param_lightcone *p)
{
    return strcmp(p->cone_rule, "crossing") == 0 ? CONE_CROSSING : CONE_RAMSES;
}

/* Comoving distance at expansion factor a, in boxes: those beyond a = 1 are negative. RAMSES
 * takes −D(|z|) there, and a rounded speed of light. */
static double distance(const struct ckpt_head *h, enum cone_rule rule, bool ramses, double a)
{
    const struct cosmo_par par = cone_cosmology(h, ramses);
    double hubble = (rule == CONE_RAMSES ? CONE_C : CGS_C / CGS_KM) / (100 * h->boxlen_ini);
    if (rule == CONE_RAMSES && a > 1) return -hubble * cosmo_distance(&par, 1 / (2 - 1 / a));
    return hubble * cosmo_distance(&par, a);
}

bool cone_shell_of(const struct ckpt_head *h, const struct params *par, struct cone_shell *s)
{
    const struct param_lightcone *p = &par->lightcone;
    const struct cosmo_par cosmos = cone_cosmology(h, false);
    /* a header knows no step before the first one */
    const double before = h->nstep_coarse > 1 ? h->aexp_old : h->aexp_ini;
    *s = (struct cone_shell){.rule = rule_of(p),
                             .step = h->nstep_coarse,
                             .aexp = {before, h->aexp},
                             .dtau = h->dtold[h->levelmin],
                             .zmax = p->zmax_cone,
                             .box_mpc = h->boxlen_ini / (h->h0 / 100)};
    const bool exact = s->rule == CONE_CROSSING;
    const double step = CGS_C / CGS_KM / (100 * h->boxlen_ini) * s->dtau;
    if (h->nstep_coarse < (exact ? 1 : 2)) return false;
    for (int i = 0; i < 2; i++) {
        s->z[i] = 1 / s->aexp[i] - 1;
        s->distance[i] = distance(h, s->rule, par->run.ramses_cosmology, s->aexp[i]);
        s->rise[0][i] = cosmo_dadtau(&cosmos, s->aexp[i]) * s->dtau;
        s->rise[1][i] = cosmo_d2adtau2(&cosmos, s->aexp[i]) * s->dtau * s->dtau;
        /* dD/dτ = −c a/H0 */
        s->fall[0][i] = -step * s->aexp[i];
        s->fall[1][i] = -step * s->rise[0][i];
    }
    if (exact) return s->z[1] < s->zmax && s->distance[0] >= 0;
    return s->z[0] <= s->zmax && fabs(s->z[0] - s->z[1]) >= 1e-6;
}

enum err cone_check(const struct ckpt_head *h, const struct param_lightcone *p)
{
    struct cone_view v[CONE_VIEWS];
    double box_mpc = h->boxlen_ini / (h->h0 / 100), a = 1 / (1 + p->zmax_cone);
    if (!(fabs(1 - h->omega_m - h->omega_l) <= 1e-6))
        FAIL(ERR_PARAM,
             "lightcone=.true. needs flat space, but omega_m + omega_l = %g + %g is not 1: set "
             "lightcone=.false.",
             h->omega_m, h->omega_l);
    int n = cone_views(p, box_mpc, v);
    for (int i = 0; i < n; i++) {
        struct cone_range r;
        double far = distance(h, rule_of(p), false, fmax(a, h->aexp_ini));
        /* a step spans a tenth of an e-fold of a at most, in which light crosses a tenth of c/H0 */
        cone_view_images(&v[i], v[i].kind == CONE_OPEN ? 0.8 * far : 0, far, 0, &r);
        if (r.count > REPLICAS)
            FAIL(ERR_PARAM,
                 "a light cone to zmax_cone=%g is %.0f boxes long, and a step of it would search "
                 "%.2g replicas of the box: lower zmax_cone or the opening angles, or take a "
                 "larger box",
                 p->zmax_cone, far, r.count);
    }
    return OK;
}
