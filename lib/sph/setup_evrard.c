/* sph/setup_evrard: the collapse of a cold sphere of gas (Evrard 1988): mass and radius 1, density
 * 1/(2π r), thermal energy 0.05 G per mass, at rest. */
#include <math.h>

#include "sph/setup.h"

/* A lattice of spacing dx fills the sphere with mass r³ below r. Radii shrink to r^(3/2), and the
 * mass below r is r², as that of a density ~ 1/r is. */
static bool evrard_at(const struct setup *k, int64_t i, struct setup_point *q)
{
    double y[3];
    setup_at(k, i, y);
    const double r = sqrt(y[0] * y[0] + y[1] * y[1] + y[2] * y[2]);
    if (!(r < 1)) return false;
    for (int d = 0; d < 3; d++) q->x[d] = y[d] * sqrt(r);
    /* at the centre the density is the mean one of the volume of a particle */
    const double dx = 2 / (double)k->par->npx, inner = fmax(r, dx / 2);
    q->rho = 1 / (2 * M_PI * inner * sqrt(inner));
    q->u = 0.05 * k->par->g;
    return true;
}

/* A lattice about a point through which it is its own mirror image, so that the centre of mass is
 * the origin: of close packing, the middle between neighbours in adjacent planes. */
enum err setup_evrard(struct setup *k)
{
    double step[3];
    setup_steps(k->lattice, step);
    const double dx = 2 / (double)k->par->npx;
    const double hcp[3] = {0.25, 1 / 6.0, 0.5};
    struct setup_block *b = &k->block[0];
    k->nblock = 1;
    for (int d = 0; d < 3; d++) {
        const double c = step[d] * dx;
        b->n[d] = k->par->npx;
        b->lo[d] = -1;
        if (k->lattice == SETUP_HCP) {
            const int64_t below = 2 * ((int64_t)ceil(1 / c / 2) + 1);
            b->n[d] = 2 * below;
            b->lo[d] = -c * ((double)below + hcp[d]);
        }
        b->side[d] = c * (double)b->n[d];
    }
    k->n = setup_places(b);
    k->mass = 1;
    k->open = true;
    k->place = evrard_at;
    return OK;
}
