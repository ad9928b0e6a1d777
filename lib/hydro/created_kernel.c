/* hydro/created_kernel: the gas of octs that refinement creates. */
#include "dev/kernel.h"
#include "hydro/interp_kern.h"
#include "hydro/kernels.h"

KERNEL(gas_created, struct gas_created_args, struct dev_nothing, DEV_THREADS)
{
    PHASE (t, DEV_THREADS) {
        int64_t k = (int64_t)b->index * DEV_THREADS + t;
        if (k >= a->n) continue;
        hydro_interp_oct(a->mesh, a->l, a->place[k] >> 3, a->place[k] & 7, a->par,
                         (double(*)[8])(a->row + k * a->width * 8));
    }
}
