/* api/table: tables that grow, regions, and names that do not exist. */
#include <math.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include "api/priv.h"
#include "base/mem.h"
#include "base/text.h"
#include "part/column.h"

/* ---- tables ---- */

struct ptah_column *table_add(struct ptah_table *t, const char *name, const char *unit, char type)
{
    t->column = mem_grow(t->column, sizeof *t->column * (size_t)(t->columns + 1), "table");
    struct ptah_column *c = &t->column[t->columns++];
    memset(c, 0, sizeof *c);
    snprintf(c->name, sizeof c->name, "%s", name);
    snprintf(c->unit, sizeof c->unit, "%s", unit);
    c->type = type;
    return c;
}

/* Large arrays are written once, from the start to the end: fewer and larger pages are faster. */
static void prefer_large_pages(void *p, size_t bytes)
{
    const uintptr_t page = 2 << 20, first = ((uintptr_t)p + page - 1) / page * page,
                    end = ((uintptr_t)p + bytes) / page * page;
    if (end > first) (void)!madvise((void *)first, end - first, MADV_HUGEPAGE);
}

enum err table_room(struct ptah_table *t, int64_t *room, int64_t n, const char *path)
{
    double row = 0;
    if (n <= *room) return OK;
    for (int i = 0; i < t->columns; i++) row += part_type_size(t->column[i].type);
    if (row * (double)n > (double)mem_machine())
        FAIL(ERR_LIMIT,
             "%s: %ld rows of %d columns need %.3g GiB of memory; the machine has %.3g: ask for "
             "fewer columns, or for a region",
             path, (long)n, t->columns, row * (double)n / 0x1p30, (double)mem_machine() / 0x1p30);
    for (int i = 0; i < t->columns; i++) {
        struct ptah_column *c = &t->column[i];
        const size_t bytes = (size_t)part_type_size(c->type) * (size_t)n;
        c->data = mem_grow(c->data, bytes + 1, "table");
        prefer_large_pages(c->data, bytes);
    }
    *room = n;
    return OK;
}

void table_trim(struct ptah_table *t, int64_t room, enum err e)
{
    if (e != OK) {
        ptah_table_free(t);
        return;
    }
    for (int i = 0; i < t->columns && room > t->n; i++) {
        struct ptah_column *c = &t->column[i];
        c->data = mem_grow(c->data, (size_t)part_type_size(c->type) * (size_t)t->n + 1, "table");
    }
}

void ptah_table_free(struct ptah_table *t)
{
    for (int i = 0; i < t->columns; i++) FREE(t->column[i].data);
    ptah_free(t->column);
    *t = (struct ptah_table){0};
}

/* ---- regions ---- */

static enum err check_axis(const struct ptah *p, const struct ptah_region *r, int d, double side)
{
    if (!(r->centre[d] >= 0 && r->centre[d] <= side))
        FAIL(ERR_PARAM,
             "%s: the centre of the region is at %g along %c; it must be in the box, from 0 to %g "
             "in code units",
             p->s->path, r->centre[d], 'x' + d, side);
    if (r->shape == 1 && !(r->half[d] > 0 && isfinite(r->half[d])))
        FAIL(ERR_PARAM, "%s: the region has the half-width %g along %c, which must be above 0",
             p->s->path, r->half[d], 'x' + d);
    return OK;
}

enum err zone_of(struct zone *z, const struct ptah *p, const struct ptah_region *r)
{
    const struct source *s = p->s;
    *z = (struct zone){.shape = r->shape, .ndim = s->head.ndim, .radius = r->radius};
    for (int d = 0; d < z->ndim && r->shape; d++) {
        const double side = s->head.boxlen * (double)s->coarse[d] / (double)s->coarse[0];
        TRY(check_axis(p, r, d, side));
        z->centre[d] = r->centre[d], z->half[d] = r->half[d];
        z->side[d] = s->nboundary ? 0 : side;
    }
    if (r->shape == 2 && !(r->radius > 0 && isfinite(r->radius)))
        FAIL(ERR_PARAM, "%s: the radius of the region is %g, which must be finite and above 0",
             s->path, r->radius);
    return OK;
}

/* The distance along axis d from the centre to lo..lo+width, or to its nearest image. */
static double gap(const struct zone *z, int d, double lo, double width)
{
    double a = lo + 0.5 * width - z->centre[d];
    if (z->side[d] > 0) a -= z->side[d] * rint(a / z->side[d]);
    a = fabs(a) - 0.5 * width;
    return a > 0 ? a : 0;
}

bool zone_meets(const struct zone *z, const double lo[3], double width)
{
    double sum = 0;
    for (int d = 0; d < z->ndim && z->shape; d++) {
        const double g = gap(z, d, lo[d], width);
        if (z->shape == 1 && g > z->half[d]) return false;
        sum += g * g;
    }
    return z->shape != 2 || sum <= z->radius * z->radius;
}

/* ---- names ---- */

enum err no_name(const struct ptah *p, const char *name, const char *const list[2])
{
    char all[3000] = "", hint[96] = "";
    const char *is, *best = NULL;
    size_t at = 0;
    int min = near_max(name) + 1;
    for (int k = 0; k < 2; k++)
        for (int i = 0; list[k] && (is = ptah_name(p, list[k], i)); i++) {
            const int d = near_distance(name, is);
            if (d < min) min = d, best = is;
            if (at < sizeof all) at += (size_t)snprintf(all + at, sizeof all - at, " %s", is);
        }
    if (best) snprintf(hint, sizeof hint, " (did you mean %.60s?)", best);
    FAIL(ERR_PARAM, "%s: has no %.60s%s; there are:%s", p->s->path, name, hint, all);
}
