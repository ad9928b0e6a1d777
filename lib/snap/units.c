/* snap/units: the units of a cosmological snapshot. Files of Gadget have lengths in units of h^-1,
 * masses in h^-1, and velocities of √a km/s; binary ones do not tell whether a length is Mpc/h or
 * kpc/h, but the mass of the box does: Ω_m ρ_crit L³. Files of SWIFT have no h, and proper peculiar
 * velocities. */
#include <math.h>
#include <string.h>

#include "base/cgs.h"
#include "snap/snap.h"

/* Critical density today, 3 H0²/(8πG), 1e10 solar masses / h per (Mpc/h)³. */
static double critical(void)
{
    const double h0 = 100 * CGS_KM / CGS_MPC, rho = 3 * h0 * h0 / (8 * M_PI * CGS_G);
    return rho * CGS_MPC * CGS_MPC * CGS_MPC / (1e10 * CGS_MSUN);
}

static enum err take_cosmology(const struct snap *s, const struct snap_given *g,
                               struct snap_units *u)
{
    const struct snap_head *h = &s->head;
    u->a = h->a;
    u->h = g->h0 > 0 ? g->h0 / 100 : h->h;
    u->omega_m = g->omega_m > 0 ? g->omega_m : h->omega_m;
    if (!(u->a > 0 && u->a <= 10))
        FAIL(ERR_FORMAT,
             "%s: header: the time, %g, is not an expansion factor above 0 and at most 10", s->path,
             u->a);
    if (!(h->box > 0)) FAIL(ERR_FORMAT, "%s: header: the box has the side %g", s->path, h->box);
    if (!(u->h > 0 && u->h < 10))
        FAIL(ERR_PARAM,
             "%s: does not tell the Hubble constant (its h is %g): set gadget_h0, in km/s/Mpc",
             s->path, u->h);
    if (!(u->omega_m > 0 && u->omega_m < 10))
        FAIL(ERR_PARAM,
             "%s: does not tell the density of matter (its Omega_m is %g): set "
             "gadget_omega_m",
             s->path, u->omega_m);
    u->omega_l = isfinite(h->omega_l) ? h->omega_l : 1 - u->omega_m;
    return OK;
}

/* Finds the unit of length, Mpc/h, from the mass of the box, 1e10 solar masses / h. */
static enum err weigh(const struct snap *s, double total, const struct snap_units *u, double *unit)
{
    const double side = cbrt(total / (u->omega_m * critical()));
    for (*unit = 1; *unit > 1e-4; *unit /= 1000)
        if (total > 0 && fabs(side / (s->head.box * *unit) - 1) < 0.2) return OK;
    FAIL(ERR_PARAM,
         "%s: its unit of length cannot be found: particles of %g (in 1e10 Msun/h) in a box of %g "
         "are not those of Omega_m=%g in Mpc/h or kpc/h: set gadget_unit, in Mpc/h",
         s->path, total, s->head.box, u->omega_m);
}

enum err snap_units(const struct snap *s, const struct snap_given *g, double total,
                    struct snap_units *u)
{
    const struct snap_head *h = &s->head;
    const bool swift = h->code == SNAP_SWIFT;
    double unit = g->unit;
    *u = (struct snap_units){.from = "gadget_unit"};
    TRY(take_cosmology(s, g, u));
    const double little = swift ? u->h : 1;
    u->mass = h->mass_g > 0 ? h->mass_g / (1e10 * CGS_MSUN) * little : 1;
    if (!(unit > 0) && h->length_cm > 0) {
        unit = h->length_cm / CGS_MPC * little;
        u->from = "the units of the file";
    }
    if (!(unit > 0)) {
        TRY(weigh(s, total * u->mass, u, &unit));
        u->from = "the mass of the box";
    }
    u->box_mpch = h->box * unit;
    u->length = 1 / h->box;
    u->speed = (h->speed_cm > 0 ? h->speed_cm / CGS_KM : 1) * (swift ? 1 : sqrt(u->a));
    u->mean = u->omega_m * critical() * pow(u->box_mpch, 3);
    if (!(u->box_mpch > 0 && u->box_mpch < 1e9 && u->speed > 0 && isfinite(u->speed)))
        FAIL(ERR_FORMAT, "%s: a box of %g Mpc/h and velocities in %g km/s make no sense", s->path,
             u->box_mpch, u->speed);
    return OK;
}
