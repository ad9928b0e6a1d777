/* convert: smoothed particles between checkpoints of solver='sph', dumps of Phantom, snapshots of
 * Gadget-4, and PolyData of VTK (sphfile/either.h). A dump that becomes a dump is the same byte for
 * byte. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "convert.h"
#include "io/dir.h"
#include "io/temp.h"
#include "sphfile/either.h"
#include "sphfile/gadget4.h"

/* Particles of the input in memory, and what the result needs to know. */
struct gas {
    struct sphfile_either *in;
    struct smooth p;
    struct smooth_par par;
    char *namelist, *history;
};

typedef enum err write_fn(const struct request *r, struct gas *g, const char *path);
static write_fn write_sph, write_phantom, write_gadget4, write_vtp;

/* name: as in formats/formats.def. file: of the output with this number, in OUT. lost: what it
 * cannot hold; NULL: nothing. */
static const struct result {
    const char *name, *file;
    write_fn *write;
    const char *lost;
} RESULTS[] = {
    {"sph", "output_%05d", write_sph, NULL},
    {"phantom", "sph_%05d", write_phantom,
     "accelerations, and digits of h, alpha and div v beyond single precision"},
    {"gadget4", "snapshot_%03d.hdf5", write_gadget4,
     "point masses, alpha, div v, accelerations, and the corner of the box, which positions are "
     "counted from"},
    {"vtp", "sph_%05d.vtp", write_vtp, "point masses and parameters"},
};
enum { NRESULT = sizeof RESULTS / sizeof *RESULTS };

/* A checkpoint becomes a dump by default, other files a checkpoint. */
static const struct result *result_of(const struct request *r, const char *in)
{
    for (int i = 0; i < NRESULT && r->format; i++)
        if (format_is(r->format, RESULTS[i].name)) return &RESULTS[i];
    return r->format ? NULL : &RESULTS[sphfile_is(in)];
}

bool convert_has_particles(const struct request *r, const char *in)
{
    if (r->deposit || r->uniform || !result_of(r, in)) return false;
    /* An octree becomes a snapshot of Gadget-4 too. */
    const bool octree = format_is(r->format, "gadget4") && format_of(in) &&
                        !(format_is(format_of(in), "sph"));
    return !octree && (r->format || sphfile_either_is(in));
}

const char *convert_particles_name(const struct request *r, const char *in)
{
    return !r->cooling && convert_has_particles(r, in) ? result_of(r, in)->name : NULL;
}

/* ---- reading ---- */

static enum err read_texts(const struct request *r, struct gas *g)
{
    char *before = NULL, from[PATH_MAX];
    size_t n;
    if (g->in->file) TRY(sphfile_text(g->in->file, false, &g->namelist, &n));
    if (g->in->file) TRY(sphfile_text(g->in->file, true, &before, &n));
    snprintf(from, sizeof from, "%s", g->in->path);
    plain_line(from);
    const size_t room = strlen(r->provenance) + strlen(from) + (before ? strlen(before) : 0) + 256;
    g->history = mem_new(room, "provenance");
    snprintf(g->history, room, "%sfrom: %s (%s, output %d)\n%s", r->provenance, from, g->in->kind,
             g->in->number, before ? before : "");
    mem_free(before);
    return OK;
}

static enum err read_gas(const struct request *r, const char *in, struct gas *g)
{
    double lo[3], side[3];
    bool periodic;
    if (!sphfile_either_is(in))
        FAIL(ERR_PARAM,
             "%s: -f %s is for smoothed particles: a checkpoint of solver='sph', a dump of Phantom "
             "or a snapshot of Gadget-4",
             in, r->format->name);
    TRY(sphfile_either_open(in, false, &g->in));
    TRY(sphfile_get_par(g->in->head, in, &g->par, lo, side, &periodic));
    TRY(read_texts(r, g));
    return sphfile_either_rows(g->in, 0, g->in->head->n, &g->p);
}

/* ---- results ---- */

/* Path of the result: OUT for a single file; else a name in the directory OUT, which is created. */
static enum err name_result(const struct request *r, const struct result *to, const struct gas *g,
                            char *path, size_t n)
{
    const bool single = r->out && r->npath == 1 && strcmp(r->paths[0], "-") != 0 &&
                        to->write != write_sph;
    const char *dir = r->out ? r->out : to->name;
    char name[64];
    snprintf(name, sizeof name, to->file, g->in->number);
    if (!single) TRY(dir_make(dir));
    const int k = single ? snprintf(path, n, "%s", dir) : snprintf(path, n, "%s/%s", dir, name);
    if (k < 0 || (size_t)k >= n) FAIL(ERR_FILE, "%.80s…: the path is too long", dir);
    return to->write == write_sph ? OK : temp_may_write(path, r->force);
}

static enum err write_sph(const struct request *r, struct gas *g, const char *path)
{
    const struct comm alone = {.size = 1};
    struct sphfile_head h = *g->in->head;
    struct out_pending out = {.lock = -1};
    h.namelist = g->namelist, h.provenance = g->history, h.overwrite = r->force;
    TRY(sphfile_write(r->out ? r->out : "sph", g->in->number, &h, &alone, &g->p, &out));
    return out_publish(&out, &alone);
}

/* A dump keeps also what is not in the columns of a checkpoint. */
static enum err write_phantom(const struct request *r, struct gas *g, const char *path)
{
    struct phantom *d = NULL;
    enum err err = phantom_is(g->in->path) ? phantom_read(g->in->path, &d)
                                           : phantom_of(g->in->head, &g->par, &g->p, &d);
    if (err == OK) err = phantom_write(path, d);
    phantom_free(&d);
    return err;
}

static enum err write_gadget4(const struct request *r, struct gas *g, const char *path)
{
    return gadget4_write(path, g->in->head, &g->par, &g->p);
}

static enum err write_vtp(const struct request *r, struct gas *g, const char *path)
{
    return convert_vtp(path, g->in->head->t, &g->par, &g->p);
}

static void log_losses(const struct result *to, const struct gas *g)
{
    const bool same = to->write == write_phantom && phantom_is(g->in->path);
    if (to->lost && !same)
        log_info("convert: %s: left out, since %s cannot hold it: %s", g->in->path, to->name,
                 to->lost);
}

enum err convert_particles(const struct request *r, const char *in, char *path, size_t n)
{
    const struct result *to = result_of(r, in);
    struct gas g = {0};
    enum err err = read_gas(r, in, &g);
    if (err == OK) err = name_result(r, to, &g, path, n);
    if (err == OK) err = to->write(r, &g, path);
    if (err == OK) log_losses(to, &g);
    mem_free(g.namelist);
    FREE(g.history);
    smooth_free(&g.p);
    sphfile_either_close(&g.in);
    return err;
}
