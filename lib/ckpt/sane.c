#include "ckpt/sane.h"

#include <math.h>

static enum err bad_value(const char *file, const struct source_parts *p, int64_t i,
                          const char *what, int axis, double x)
{
    const char *name[] = {"_x", "_y", "_z", ""};
    FAIL(ERR_FORMAT, "%s: particle %ld: its %s%s is %g: see inspect -cc", file, (long)p->id[i],
         what, name[axis], x);
}

enum err sane_parts(const char *file, double box, const struct source_parts *p)
{
    for (int d = 0; d < 3; d++) {
        const double *x = p->x[d], *v = p->v[d];
        for (int64_t i = 0; x && i < p->n; i++)
            if (!(fabs(x[i] / box - 0.5) <= 1.5)) return bad_value(file, p, i, "position", d, x[i]);
        for (int64_t i = 0; v && i < p->n; i++)
            if (!isfinite(v[i])) return bad_value(file, p, i, "velocity", d, v[i]);
    }
    for (int64_t i = 0; i < p->n; i++)
        if (!isfinite(p->m[i])) return bad_value(file, p, i, "mass", 3, p->m[i]);
    return OK;
}
