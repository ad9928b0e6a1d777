/* fifth/ndgp: the braneworld of Dvali, Gabadadze & Porrati 2000, with dark energy that makes its
 * expansion that of a cosmological constant (Schmidt 2009). Its field has
 *
 *     ∇²ψ + κ ((∇²ψ)² − (∂i∂jψ)²) = 1/(3β) · source of φ,    κ = 1/(6 Ω_rc β a⁴),
 *     β = 1 ± 2 H r_c (1 + dlnH/(3 dln a)),    H0 r_c = 1/(2 √Ω_rc),
 *
 * with + for the normal branch, and − for the self-accelerating one. */
#include <math.h>

#include "fifth/model.h"

enum err ndgp_set(struct fifth *f, const struct params *p)
{
    const struct param_ndgp *q = &p->ndgp;
    if (!(q->omega_rc > 0 && q->omega_rc < 1e6))
        FAIL(ERR_PARAM, "ndgp_params/omega_rc=%g must be above 0 and below 1e6", q->omega_rc);
    if (q->ndgp_branch != 1 && q->ndgp_branch != -1)
        FAIL(ERR_PARAM, "ndgp_params/ndgp_branch=%d must be 1 (normal) or -1 (self-accelerating)",
             q->ndgp_branch);
    f->numbers.omega_rc = q->omega_rc, f->numbers.branch = q->ndgp_branch;
    f->eps = q->ndgp_eps, f->most = q->n_iter_ndgp;
    return OK;
}

void ndgp_law(const struct fifth_numbers *n, double a, struct fifth_law *law)
{
    double matter = n->omega_m / (a * a * a), curve = 1 - n->omega_m - n->omega_l,
           e2 = matter + n->omega_l + curve / (a * a),
           slope = (-1.5 * matter - curve / (a * a)) / e2; /* dlnH/dlna */
    double beta = 1 + n->branch * sqrt(e2 / n->omega_rc) * (1 + slope / 3);
    law->coupling = 1 / (3 * beta);
    law->kappa = 1 / (6 * n->omega_rc * beta * a * a * a * a);
}
