/* convert: the cells and particles of an octree for ParaView and VisIt (export/vtk.h). */
#include "export/vtk.h"

#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "convert.h"
#include "io/dir.h"
#include "io/temp.h"

/* The end of OUT says which file is written; without such an end, cells (.htg) and particles. */
enum kind { BOTH, HTG, VTU, VTP };

static enum kind kind_of(const struct request *r)
{
    static const char *const END[] = {[HTG] = ".htg", [VTU] = ".vtu", [VTP] = ".vtp"};
    const bool single = r->out && r->npath == 1 && strcmp(r->paths[0], "-") != 0;
    const char *end = single ? strrchr(r->out, '.') : NULL;
    if (single && strcmp(r->out, "-") == 0) return VTU;
    for (int k = HTG; end && k <= VTP; k++)
        if (strcmp(end, END[k]) == 0) return (enum kind)k;
    return BOTH;
}

static enum err open_source(const struct request *r, const char *in, struct source **s)
{
    TRY(source_open(in, s));
    if (!r->region && !r->cut.levelmax) return OK;
    struct source *whole = *s;
    return source_cut(whole, &r->cut, s);
}

/* Path with a suffix, and a check that it may be written. */
static enum err name_file(const struct request *r, const struct source *s, enum kind kind,
                          const char *suffix, char *path, size_t n)
{
    const bool single = r->out && r->npath == 1 && strcmp(r->paths[0], "-") != 0;
    TRY(convert_name_export(r, "output", s->number, suffix, path, n));
    const size_t k = strlen(path);
    if (strcmp(path, "-") == 0) return OK;
    if (single && kind == BOTH && (size_t)snprintf(path + k, n - k, ".%s", suffix) >= n - k)
        FAIL(ERR_FILE, "%.80s…: the path is too long", path);
    TRY(temp_may_write(path, r->force));
    return dir_outside(path, s->path);
}

static enum err write_cells(const struct request *r, struct source *s, enum kind kind,
                            const struct vtk_out *o)
{
    static const double lo[3] = {0, 0, 0}, hi[3] = {1, 1, 1};
    struct export_list list = {0};
    enum err err = r->fields ? export_find(&list, s, r->fields) : export_find_stored(&list, s);
    for (int i = 0; i < list.n && err == OK; i++)
        if (list.field[i].number < 0)
            err = err_set(ERR_PARAM, "%s: %s is of particles, which -f vtk writes as points",
                          s->path, list.field[i].name);
    if (err == OK) err = export_prepare(&list, lo, hi);
    if (err == OK) err = (kind == VTU ? vtk_write_vtu : vtk_write_htg)(&list, o);
    export_free(&list);
    return err;
}

static enum err write_files(const struct request *r, struct source *s, char *path, size_t n)
{
    const enum kind kind = kind_of(r);
    const bool parts = kind == VTP || (kind == BOTH && s->head.particles);
    char points[PATH_MAX];
    struct vtk_out o = {
        .path = path, .force = r->force, .physical = r->physical, .memory = r->memory};
    if (kind == VTP && !s->head.particles)
        FAIL(ERR_PARAM, "%s: has no particles for %s", s->path, r->out);
    if (kind != VTP) TRY(name_file(r, s, kind, kind == VTU ? "vtu" : "htg", path, n));
    if (parts) TRY(name_file(r, s, kind, "vtp", points, sizeof points));
    if (kind != VTP) TRY(write_cells(r, s, kind, &o));
    o.path = points;
    if (parts) TRY(vtk_write_vtp(s, &o));
    if (kind == VTP)
        snprintf(path, n, "%s", points);
    else if (parts)
        log_info("convert: %s: the particles are in %s", s->path, points);
    return OK;
}

enum err convert_vtk(const struct request *r, const char *in, char *path, size_t n)
{
    struct source *s = NULL;
    enum err err = open_source(r, in, &s);
    if (err == OK) err = write_files(r, s, path, n);
    source_close(&s);
    return err;
}
