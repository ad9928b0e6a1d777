/* movie/light: the luminosity of stars by their age.
 *
 * Bolometric luminosity of an instantaneous burst with a Salpeter mass function up to 100 solar
 * masses at twice the solar metallicity (Starburst99, Leitherer et al. 1999). The power law beyond
 * 1 Gyr, and the constant before 1 Myr, are those of RAMSES. */
#include <math.h>

#include "base/cgs.h"
#include "base/mem.h"
#include "cosmo/cosmo.h"
#include "movie/priv.h"

/* log10 of solar luminosities per solar mass, from log10(age/yr) = 6 on, in steps of 0.05 */
enum { STEPS = 60 };
static const double STEP = 0.05, EARLY = 3.2, SLOPE = -0.979362, LATE = 9.08855;
static const double TABLE[STEPS + 1] = {
    3.227, 3.236, 3.243, 3.248, 3.250, 3.246, 3.235, 3.216, 3.189, 3.154, 3.110, 3.058, 2.999,
    2.934, 2.864, 2.791, 2.715, 2.639, 2.563, 2.487, 2.413, 2.341, 2.270, 2.202, 2.135, 2.069,
    2.005, 1.942, 1.880, 1.819, 1.758, 1.699, 1.642, 1.586, 1.531, 1.478, 1.426, 1.374, 1.323,
    1.272, 1.221, 1.169, 1.117, 1.065, 1.014, 0.965, 0.918, 0.874, 0.833, 0.793, 0.753, 0.712,
    0.667, 0.618, 0.567, 0.518, 0.474, 0.438, 0.401, 0.347, 0.248};

struct light {
    struct cosmo *cosmo; /* NULL: none, or births are proper times */
    double now;          /* time as births are counted */
    double year;         /* years in its unit */
    double unit;         /* of a solar luminosity per solar mass over c² and mass, code units */
};

static double solar(double years)
{
    const double x = log10(years), at = (x - 6) / STEP;
    if (!(years > 0) || x < 6) return EARLY;
    if (x >= 9) return SLOPE * x + LATE;
    const int i = (int)at;
    return TABLE[i] + (at - i) * (TABLE[i + 1] - TABLE[i]);
}

enum err light_new(const struct paint_par *par, struct light **out)
{
    const struct ckpt_head *h = par->head;
    struct cosmo_par k = ckpt_cosmology(h);
    k.aexp_ini = fmin(1e-5, h->aexp / 2);
    struct light *l = *out = mem_zero(sizeof *l, "movie frame");
    double second = h->unit_t;
    l->now = h->t;
    l->unit = CGS_LSUN / CGS_MSUN / (CGS_C * CGS_C) * h->unit_t;
    if (h->cosmo) {
        if (!(h->aexp > 0)) FAIL(ERR_FORMAT, "the expansion factor is %g", h->aexp);
        TRY(cosmo_new(&k, &l->cosmo));
        second = h->unit_t / (h->aexp * h->aexp);
        l->now = cosmo_time(l->cosmo, h->aexp);
    }
    l->year = second / CGS_YEAR;
    if (par->proper_time) cosmo_free(l->cosmo), l->cosmo = NULL;
    return OK;
}

void light_free(struct light **l)
{
    if (*l) cosmo_free((*l)->cosmo);
    FREE(*l);
}

double light_of(const struct light *l, double birth, double mass)
{
    double a, hexp;
    if (l->cosmo) {
        cosmo_at(l->cosmo, birth, &a, &hexp);
        birth = cosmo_time(l->cosmo, a);
    }
    return mass * l->unit * pow(10, solar((l->now - birth) * l->year));
}
