/* kinds/region: the regions of &INIT_PARAMS alone (ics/ics_region.c). */
#include "kinds/kinds.h"

const struct kind kind_region = {.name = "region", .dims = 0xe};
