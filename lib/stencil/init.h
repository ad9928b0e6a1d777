/* stencil/init: initial fields by name, in own cells (halos stay unset): init_u, init_a,
 * init_lnrho, init_s of &STENCIL_PARAMS. The value of a cell depends on its place, the parameters
 * and, for random fields, the seed: not on the division. */
#pragma once
#include "stencil/stencil.h"

/* Sets t->a.now of all fields that the equations have. An error names the parameter that does not
 * fit the equations or the mesh. (collective, agreed) */
MUST_USE enum err stencil_initial(struct stencil *t);
/* file.c: reads those of init_file; only its headers as long as there are no arrays. Local. */
MUST_USE enum err stencil_read_file(struct stencil *t);
