/* resume/parts: reads particles and keeps them on the rank that read them. */
#include <math.h>
#include <string.h>

#include "base/log.h"
#include "base/pages.h"
#include "base/timer.h"
#include "resume/resume.h"

/* Drops particles of sink clouds: the mass of a cloud is the mass of its sink, which makes it
 * anew. */
static void drop_clouds(struct parts *p, int64_t first)
{
    int64_t retained = first;
    for (int64_t k = first; k < p->n; k++) {
        if (p->family[k] == FAM_CLOUD) continue;
        for (int c = 0; c < p->columns.n && retained != k; c++) {
            size_t size = (size_t)part_type_size(part_column(&p->columns, c)->type);
            char *col = p->col[c];
            if (col) memcpy(col + size * (size_t)retained, col + size * (size_t)k, size);
        }
        p->host[retained++] = p->host[k];
    }
    p->n = retained;
}

static enum err take_parts(const struct source_parts *in, void *ctx)
{
    const struct resume *r = ctx;
    struct parts *p = r->parts;
    int64_t first = part_append(p, in->n);
    for (int c = 0; c < p->columns.n; c++) {
        const struct part_column *col = part_column(&p->columns, c);
        size_t size = (size_t)part_type_size(col->type);
        char *to = (char *)p->col[c] + size * (size_t)first;
        pages_touch(to, size * (size_t)in->n);
        if (in->col[c] && !part_column_narrow(col->type, in->n, in->col[c], to))
            FAIL(ERR_LIMIT,
                 "%s: column %s of the particles has a number that does not fit into %ld byte%s",
                 r->from->path, col->name, (long)size, size > 1 ? "s" : "");
    }
    for (int64_t i = 0, k = first; i < in->n; i++, k++) {
        if (in->levelp[i] < 1 || in->levelp[i] > LEVEL_MAX)
            FAIL(ERR_FORMAT, "%s: particle %ld has level %ld, which is impossible: see inspect -cc",
                 r->from->path, (long)in->id[i], (long)in->levelp[i]);
        for (int d = 0; d < 3; d++)
            if (!isfinite(in->x[d][i]) || !isfinite(in->v[d][i]))
                FAIL(ERR_FORMAT,
                     "%s: particle %ld has a position or velocity that is not finite: see inspect "
                     "-cc",
                     r->from->path, (long)in->id[i]);
        if (p->levelp[k] > r->mesh->levelmax) p->levelp[k] = r->mesh->levelmax;
        p->host[k] = -1;
    }
    if (r->drop_clouds) drop_clouds(p, first);
    return OK;
}

enum err resume_parts(struct resume *r)
{
    int first, last;
    enum err err = OK;
    if (!r->parts) return OK;
    resume_pieces(r, &first, &last);
    timer_start("io");
    for (int i = first; i < last && err == OK; i++)
        err = source_parts(r->from, i, SOURCE_STATE, take_parts, r);
    TRY(err_agree(r->comm, err));
    r->particles = r->parts->n;
    comm_add_i64(r->comm, &r->particles, 1);
    log_info(" %ld particles", (long)r->particles);
    return OK;
}
