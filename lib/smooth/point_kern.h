/* smooth/point_kern: what follows from the sums over the neighbours of one particle: the next h of
 * the iteration, gradients, the switch of the viscosity. On the host and on devices with the same
 * bits. */
#pragma once
#include <math.h>
#include <stdbool.h>

#include "smooth/kern.h"

/* ---- h ----
 *
 * fill = Σ_b m W / ρ(h) = C Σ f/η³ grows with h, and is 1 at the solution. Newton's
 * method, by at most a fifth of h, keeps a bracket; where it would leave this, or Ω ≤ 0, the
 * bracket is halved instead. `top` is the largest h allowed. */
struct smooth_search {
    double h, lo, hi, top; /* lo 0, hi infinite: not known */
    int steps;
};
enum smooth_found { SMOOTH_SEARCHES, SMOOTH_FOUND, SMOOTH_BEYOND, SMOOTH_LOST };
enum {
    SMOOTH_NEWTON_STEPS = 60, /* from then on the bracket is halved */
    SMOOTH_MOST_STEPS = 400   /* a factor of 1e30 by fifths */
};

PTAH_HD_FN struct smooth_search smooth_search_from(double h, double top)
{
    struct smooth_search s = {h < top ? h : top, 0, INFINITY, top, 0};
    return s;
}

PTAH_HD_FN double smooth_between(const struct smooth_search *s)
{
    if (s->hi == INFINITY) return 1.2 * s->h;
    if (s->lo == 0) return s->h / 1.2;
    return s->hi > 1.5 * s->lo ? sqrt(s->lo * s->hi) : 0.5 * (s->lo + s->hi);
}

PTAH_HD_FN enum smooth_found smooth_search_step(struct smooth_search *s, double tol, double fill,
                                                double omega)
{
    const double h = s->h;
    if (fill == 1) return SMOOTH_FOUND;
    if (fill < 1 && h >= s->top) return SMOOTH_BEYOND;
    if (!(fill >= 0) || s->steps++ == SMOOTH_MOST_STEPS) return SMOOTH_LOST;
    if (fill < 1)
        s->lo = h;
    else
        s->hi = h;
    double next = h + h * (1 - fill) / (3 * omega);
    const bool found = omega > 0 && fabs(next - h) < tol * h && next <= s->top;
    if (found) {
        s->h = next;
        return SMOOTH_FOUND;
    }
    if (next < 0.8 * h) next = 0.8 * h;
    if (next > 1.2 * h) next = 1.2 * h;
    const bool slow = s->steps > SMOOTH_NEWTON_STEPS && s->lo > 0 && s->hi < INFINITY;
    if (!(omega > 0) || next <= s->lo || next >= s->hi || slow) next = smooth_between(s);
    s->h = next < s->top ? next : s->top;
    return fabs(next - h) < tol * h ? SMOOTH_FOUND : SMOOTH_SEARCHES;
}

/* Σ_b m W/ρ and Ω from Σ f and Σ (3f + q f') */
PTAH_HD void smooth_measured(double eta, const enum smooth_kernel k, double f, double change,
                             double *fill, double *omega)
{
    const double norm = kern_norm(k) / (eta * eta * eta);
    *fill = norm * f;
    *omega = 1 - norm / 3 * change;
}

/* The list of a particle has the neighbours within R times a list's h, a little larger than the h
 * of the first step of the iteration; a step to a larger h, or one much smaller, makes a new list.
 * So the list, hence the order of the sums and their last bits, depends on the particle's h and
 * reach alone. */
PTAH_HD double smooth_list_h(double h, double top)
{
    const double wish = 1.05 * h;
    return wish < top ? wish : top;
}

PTAH_HD bool smooth_list_is_old(double list_h, double h)
{
    return h > list_h || h < 0.7 * list_h;
}

/* Why a particle has no h. */
enum smooth_fault { SMOOTH_HAS_H, SMOOTH_BAD_H, SMOOTH_NO_H, SMOOTH_ALONE };

PTAH_HD enum smooth_fault smooth_fault_of(enum smooth_found found, bool everywhere)
{
    if (found == SMOOTH_LOST) return SMOOTH_NO_H;
    return found == SMOOTH_BEYOND && everywhere ? SMOOTH_ALONE : SMOOTH_HAS_H;
}

/* ---- gradients ---- */

/* The sums of a uniform neighbourhood are this times the unit matrix. */
PTAH_HD double smooth_usual(double eta, const enum smooth_kernel k, double omega, double h)
{
    return omega * (eta * eta * eta) * h / kern_norm(k);
}

/* The inverse of a symmetric positive matrix {xx, xy, xz, yy, yz, zz}, or, where fewer than three
 * directions have neighbours and it is singular, 1/usual times the unit matrix. */
PTAH_HD_FN void smooth_inverse(const double m[6], double usual, double inverse[6])
{
    const double xx = m[3] * m[5] - m[4] * m[4], xy = m[2] * m[4] - m[1] * m[5],
                 xz = m[1] * m[4] - m[2] * m[3];
    const double det = (m[0] * xx + m[1] * xy) + m[2] * xz, mean = (m[0] + m[3] + m[5]) / 3;
    if (det > 1e-10 * (mean * mean * mean)) {
        inverse[0] = xx / det, inverse[1] = xy / det, inverse[2] = xz / det;
        inverse[3] = (m[0] * m[5] - m[2] * m[2]) / det;
        inverse[4] = (m[1] * m[2] - m[0] * m[4]) / det;
        inverse[5] = (m[0] * m[3] - m[1] * m[1]) / det;
        return;
    }
    inverse[0] = inverse[3] = inverse[5] = 1 / usual;
    inverse[1] = inverse[2] = inverse[4] = 0;
}

/* g[3i + j] = Σ_k d[3i + k] inverse[k][j] */
PTAH_HD_FN void smooth_gradient(const double d[9], const double inverse[6], double g[9])
{
    for (int i = 0; i < 3; i++) {
        const double *row = d + 3 * i;
        g[3 * i] = row[0] * inverse[0] + row[1] * inverse[1] + row[2] * inverse[2];
        g[3 * i + 1] = row[0] * inverse[1] + row[1] * inverse[3] + row[2] * inverse[4];
        g[3 * i + 2] = row[0] * inverse[2] + row[1] * inverse[4] + row[2] * inverse[5];
    }
}

/* ---- the switch of Cullen & Dehnen (2010), as Price et al. (2018), section 2.2.9, have it ---- */

/* v, a: gradients ∂_j v_i and ∂_j a_i. */
PTAH_HD_FN double smooth_alpha_loc(const struct smooth_par *p, const double v[9], const double a[9],
                                   double h, double speed)
{
    const double small = 2.2e-16; /* in code units, as the reference has it */
    const double div = v[0] + v[4] + v[8];
    const double curl[3] = {v[7] - v[5], v[2] - v[6], v[3] - v[1]};
    const double square = (v[0] * v[0] + v[4] * v[4] + v[8] * v[8]) +
                          2 * (v[1] * v[3] + v[2] * v[6] + v[5] * v[7]);
    const double change = (a[0] + a[4] + a[8]) - square; /* d(∇·v)/dt */
    const double n = div < 0 ? div * div : 0;
    const double all = n + (curl[0] * curl[0] + curl[1] * curl[1] + curl[2] * curl[2]);
    const double limiter = all > small ? n / all : 1;
    if (!(speed * speed > small)) return p->alpha_min;
    const double alpha = 10 * (h * h) * limiter * (change < 0 ? -change : 0) / (speed * speed);
    if (!(alpha > p->alpha_min)) return p->alpha_min;
    return alpha < p->alpha_max ? alpha : p->alpha_max;
}

/* α after a step dt = decay τ, with its decay implicit: Cullen & Dehnen (2010) raise it to α_loc at
 * once; Morris & Monaghan (1997) have the source max(−∇·v, 0). */
PTAH_HD_FN double smooth_alpha_after(const struct smooth_par *p, double alpha, double loc,
                                     double divv, double decay, double dt)
{
    if (p->alpha_switch == SMOOTH_CD10)
        return alpha < loc ? loc : (alpha + loc * decay) / (1 + decay);
    if (p->alpha_switch != SMOOTH_MM97) return p->alpha_max;
    const double source = divv < 0 ? -divv * dt : 0;
    const double next = (alpha + source + p->alpha_min * decay) / (1 + decay);
    return next < p->alpha_max ? next : p->alpha_max;
}
