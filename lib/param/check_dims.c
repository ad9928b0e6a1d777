/* param/check_dims: refuses what does not exist in the dimensions of the run (dims.def). */
#include <string.h>

#include "param/row.h"

enum err param_check_dims(const struct params *p)
{
    static const char *const only[][4] = {[1][1] = "one dimension", [3][3] = "three dimensions"};
    static const char *const has[] = {"", "one", "two", "three"};
    int ndim = p->run.ndim;
#define DIMS(least, most, holds, setting, what, advice)                                            \
    if ((ndim < (least) || ndim > (most)) && (holds))                                              \
        FAIL(ERR_PARAM, "%s: %s exist in %s only, but this run has %s (run_params/ndim): %s",      \
             setting, what, only[least][most], has[ndim], advice);
#include "param/dims.def"
    return OK;
}
