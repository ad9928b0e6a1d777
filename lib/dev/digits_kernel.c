/* dev/digits_kernel: packs exact sums of the device for the host (dev/digits.h). */
#include "dev/digits_kern.h"

KERNEL(digits_pack, struct digits_pack_args, struct digits_shared, DEV_THREADS)
{
    digits_write(a->from, a->n, a->width, a->to, s, b);
}
