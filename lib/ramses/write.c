/* ramses/write: writes a mesh as a RAMSES snapshot (docs/method/ckpt.md), which yt, osyris and
 * pynbody read as well.
 *
 * Each rank writes one file of each kind with its own octs and, under their owners, its ghosts. The
 * numbers of octs follow from the order level, owner, Morton, so all links are computed while they
 * are written: no memory is needed except for the numbering (8 bytes per oct) and fixed buffers.
 * Octs beyond the boundary of the box are computed from octs inside it (ramses/boundary_octs.h).
 *
 * All files are written to output_NNNNN.tmp and synced in the background (out/publish.h); when all
 * ranks have agreed that they succeeded, rank 0 renames the directory. */
#include "ramses/write.h"

#include <stdio.h>
#include <unistd.h>

#include "base/mem.h"
#include "out/publish.h"
#include "ramses/exact.h"
#include "ramses/out.h"
#include "ramses/tags.h"

static enum err write_snapshot(struct ramses_out *w, struct out_pending *out);

static enum err write_mesh(const char *dir, int number, const struct ckpt_head *h,
                           const struct mesh *m, const struct parts *p, const struct domain *d,
                           const struct comm *c, struct out_pending *out)
{
    struct ramses_out *w = mem_zero(sizeof *w, "checkpoint");
    struct manifest list = {.backup = h->backup};
    w->o = (struct ckpt_out){.h = h,
                             .m = m,
                             .p = p,
                             .d = d,
                             .c = c,
                             .npart = p ? p->n : 0,
                             .columns = h->particles ? &p->columns : NULL,
                             .list = &list,
                             .sync = &out->sync};
    BUG_ON(domain_nrank(d) != c->size);
    enum err err = out_name(&w->o, dir, number);
    if (err == OK) err = write_snapshot(w, out);
    manifest_fini(&list);
    ramses_out_forget(w);
    FREE(w);
    return err;
}

const struct writer_kind ramses_writer = {
    .name = "RAMSES binary", .by_rank = true, .write = write_mesh, .rewrite = ramses_rewrite};

/* ---- files ---- */

static enum err path_of(const struct ramses_out *w, enum files_kind k, char path[PATH_MAX])
{
    return files_path(w->o.tmp, k, w->o.output, w->o.c->rank + 1, path);
}

static enum err write_kind(const struct ramses_out *w, enum files_kind k,
                           enum err write(const struct ramses_out *w, const char *path))
{
    char path[PATH_MAX];
    TRY(path_of(w, k, path));
    return write(w, path);
}

/* Writes gas and the exact file in one pass. */
static enum err write_gas(const struct ramses_out *w)
{
    char hydro[PATH_MAX], exact[PATH_MAX];
    struct exact_out x;
    TRY(path_of(w, FILES_HYDRO, hydro));
    if (w->o.stored) return w->o.h->hydro ? ramses_write_stored(w, hydro, FILES_HYDRO) : OK;
    TRY(path_of(w, FILES_EXACT, exact));
    enum err err = exact_create(&x, w, exact);
    if (err == OK && w->o.h->hydro) err = ramses_write_hydro(w, hydro, &x);
    return exact_close(&x, err);
}

static enum err write_gravity(const struct ramses_out *w)
{
    char path[PATH_MAX];
    TRY(path_of(w, FILES_GRAV, path));
    if (!w->o.h->gravity) return OK;
    return w->o.stored ? ramses_write_stored(w, path, FILES_GRAV) : ramses_write_grav(w, path);
}

static enum err write_radiation(const struct ramses_out *w)
{
    char path[PATH_MAX], exact[PATH_MAX];
    if (out_photons(&w->o) == 0) return OK;
    TRY(path_of(w, FILES_RT, path));
    TRY(path_of(w, FILES_RT_EXACT, exact));
    return w->o.stored ? ramses_write_stored(w, path, FILES_RT)
                       : ramses_write_radiation(w, path, exact);
}

static enum err write_file(const struct ramses_out *w, enum ramses_file kind)
{
    switch (kind) {
    case RAMSES_GAS:
        return write_gas(w);
    case RAMSES_AMR:
        return write_kind(w, FILES_AMR, ramses_write_amr);
    case RAMSES_GRAV:
        return write_gravity(w);
    case RAMSES_RT:
        return write_radiation(w);
    case RAMSES_PART:
        return w->o.h->particles ? write_kind(w, FILES_PART, ramses_write_part) : OK;
    case RAMSES_FILES:
        break;
    }
    return OK;
}

enum err ramses_write_files(const struct ramses_out *w, int threads)
{
    struct err_first trouble = {.err = OK};
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads) if (threads > 1)
    for (int k = 0; k < RAMSES_FILES; k++)
        if (err_restore(&trouble) == OK) err_save(&trouble, write_file(w, (enum ramses_file)k), k);
    return err_restore(&trouble);
}

/* The clumps of the particles, in their order. */
static enum err write_tags(const struct ramses_out *w, const int32_t *tag)
{
    char path[PATH_MAX];
    struct fort_out f;
    TRY(path_of(w, FILES_UNBINDING, path));
    ramses_out_create(&f, w, path);
    fort_record(&f, tag, sizeof *tag * (size_t)w->o.p->n);
    return fort_close(&f);
}

static enum err write_snapshot(struct ramses_out *w, struct out_pending *out)
{
    bool root = w->o.c->rank == 0;
    TRY(err_agree(w->o.c, ramses_out_number(w)));
    out_count(&w->o);
    TRY(err_agree(w->o.c, root ? out_begin(&w->o) : OK));
    int32_t *tag = w->o.h->tags ? ramses_tags(&w->o) : NULL;
    enum err err = root ? out_texts(&w->o) : OK;
    if (err == OK) err = out_files(&w->o);
    if (err == OK) err = ramses_write_files(w, 1);
    if (err == OK && tag) err = write_tags(w, tag);
    FREE(tag);
    return out_hand_over(&w->o, out, err_agree(w->o.c, err));
}
