/* kinds/disk: gas of 8000 K in a layer, as in RAMSES's test of an analytic disc potential
 * (gravity_type of the same test): the profile across the last axis is a Gaussian of 150 code
 * units, around the middle of the box. Velocities and scalars are those of the regions. */
#include <math.h>

#include "base/mem.h"
#include "kinds/kinds.h"

struct disk {
    double middle, per_density; /* pressure over density */
    int axis;
};

static enum err open_disk(const struct kind_setup *s, void **state)
{
    struct disk *k = mem_zero(sizeof *k, "kinds");
    *k = (struct disk){.middle = 0.5 * s->mesh->boxlen,
                       .per_density = 8000 / (s->par->cooling.mu_gas * s->units.temperature),
                       .axis = s->mesh->ndim - 1};
    *state = k;
    return OK;
}

static enum err cell(const void *state, const double x[3], double dx, double *q)
{
    const struct disk *k = state;
    const double height = 150, z = x[k->axis] - k->middle;
    q[GAS_DENSITY] = 0.66 * exp(-z * z / (2 * height * height));
    q[GAS_PRESSURE] = q[GAS_DENSITY] * k->per_density;
    return OK;
}

static void close_disk(void *state)
{
    mem_free(state);
}

const struct kind kind_disk = {.name = "ana_disk_potential",
                               .dims = 1 << 1 | 1 << 2 | 1 << 3,
                               .needs = KIND_GAS,
                               .open = open_disk,
                               .cell = cell,
                               .close = close_disk};
