/* ramses/source: RAMSES snapshots as sources: primitive variables become conserved ones, corrected
 * by the exact_ files where there are any; what old formats lack is filled in. */
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "ckpt/manifest.h"
#include "ckpt/source.h"
#include "io/file.h"
#include "ramses/exact.h"
#include "ramses/priv.h"

struct reading {
    struct source *s;
    source_octs_fn *octs;
    void *ctx;
    struct exact_in exact;
    double *store;      /* conserved variables, then zeros */
    double **u;         /* [8 nvar] */
    const double **val; /* [8 nvalue] */
    enum err err;       /* of pick_octs */
};

static bool is_ramses(const char *dir)
{
    DIR *d = opendir(dir);
    bool found = false;
    int number;
    if (!d) return false;
    for (struct dirent *e; (e = readdir(d));)
        found |= sscanf(e->d_name, "info_%5d.txt", &number) == 1;
    closedir(d);
    return found;
}

static enum err exact_path(const struct source *s, int file, char path[PATH_MAX])
{
    return ramses_path(s->impl, "exact", file, path, PATH_MAX);
}

/* The exact files count if the first is there. They say nothing to a run with another gamma, which
 * keeps the pressure. */
static enum err open_exact(struct source *s)
{
    char path[PATH_MAX];
    struct exact_in x = {.fd = -1};
    TRY(exact_path(s, 1, path));
    if (!file_exists(path)) return OK;
    enum err err = exact_open(&x, path, s->npiece, 1);
    if (err == OK) {
        s->state = true;
        if (s->gamma == 0) s->gamma = x.gamma;
        if (s->smallr == 0) s->smallr = x.smallr;
        s->exact = x.nvar == 0 || (x.gamma == s->gamma && x.smallr == s->smallr);
        s->head.tout_next = x.tout_next, s->head.aout_next = x.aout_next;
        memcpy(s->head.safe, x.safe, sizeof s->head.safe);
        if (x.t != s->head.t || x.nstep_coarse != s->head.nstep_coarse)
            err = err_set(ERR_FORMAT, "%s: is of step %d, the amr file of step %d", path,
                          x.nstep_coarse, s->head.nstep_coarse);
        else if (x.nvar != s->head.nvar)
            err = err_set(ERR_FORMAT, "%s: has %d variables, the hydro file %d", path, x.nvar,
                          s->head.nvar);
    }
    exact_shut(&x);
    return err;
}

static enum err open_ramses(struct source *s)
{
    struct ramses *r;
    TRY(ramses_open(s->path, &r));
    s->impl = r;
    s->head = r->head;
    s->format = r->format;
    s->narrow = r->narrow;
    s->number = r->number;
    s->npiece = r->ncpu;
    memcpy(s->ordering, r->ordering, sizeof s->ordering);
    if (s->head.ndim != 3)
        FAIL(ERR_LIMIT, "%s: has %d dimension%s; runs have 3 (inspect reads it all the same)",
             s->path, s->head.ndim, s->head.ndim > 1 ? "s" : "");
    if (r->coarse[0] * r->coarse[1] * r->coarse[2] != 1)
        FAIL(ERR_LIMIT,
             "%s: has %ld x %ld x %ld coarse cells inside the box; runs have one (inspect reads it "
             "all the same)",
             s->path, (long)r->coarse[0], (long)r->coarse[1], (long)r->coarse[2]);
    if (s->head.hydro && (r->nhydro < 5 || r->nhydro > NVAR_MAX))
        FAIL(ERR_LIMIT, "%s: has %d gas variables; 5 to %d can be read", s->path, r->nhydro,
             NVAR_MAX);
    for (int i = 5; i < r->nhydro; i++)
        if (strncmp(r->field[i].name, "B_", 2) == 0)
            FAIL(ERR_LIMIT, "%s: has a magnetic field, which this code has not", s->path);
    s->nvalue = r->nhydro + (s->head.gravity ? 4 : 0);
    TRY(source_set_rest(s, r));
    return open_exact(s);
}

static enum err give_octs(const struct ramses *r, const struct ramses_octs *in, void *ctx)
{
    struct reading *g = ctx;
    const struct source *s = g->s;
    int nvar = r->nhydro;
    char file[PATH_MAX];
    ramses_file(r, "hydro", in->file, file);
    struct source_octs o = {.level = in->level,
                            .n = in->n,
                            .file = file,
                            .key = in->key,
                            .split = in->split,
                            .flag = in->flag};
    if (in->val) {
        for (int c = 0; nvar && c < 8; c++) {
            const double *prim[NVAR_MAX];
            double *u[NVAR_MAX];
            for (int v = 0; v < nvar; v++) prim[v] = in->val[8 * v + c], u[v] = g->u[8 * v + c];
            exact_conserved(nvar, s->gamma, s->smallr, in->n, prim, u);
        }
        if (s->exact && nvar) TRY(exact_correct(&g->exact, in->level, in->n, g->u));
        for (int i = 0; i < 8 * nvar; i++) g->val[i] = g->u[i];
        /* The last three fields are the force, before them is phi if there is one. */
        for (int k = 0; s->head.gravity && k < 4; k++) {
            int at = nvar + r->ngrav - 4 + k;
            for (int c = 0; c < 8; c++)
                g->val[8 * (nvar + k) + c] = at < nvar ? g->store + 8 * (size_t)nvar * CKPT_PITCH
                                                       : in->val[8 * at + c];
        }
        o.val = g->val;
    }
    return g->octs(&o, g->ctx);
}

/* What is passed over is so in the exact file too. */
static bool pick_octs(void *ctx, int level, int n, const okey *key)
{
    struct reading *g = ctx;
    const struct ckpt_pick *pick = g->s->pick;
    if (pick->octs(pick->ctx, level, n, key)) return true;
    if (g->exact.path && g->err == OK) g->err = exact_skip(&g->exact, level, n);
    return false;
}

static enum err octs_ramses(struct source *s, int piece, bool values, source_octs_fn *fn, void *ctx)
{
    struct ramses *r = s->impl;
    struct reading g = {.s = s, .octs = fn, .ctx = ctx};
    bool exact = values && s->exact && r->nhydro;
    char path[PATH_MAX];
    enum err err = OK;
    if (values) {
        size_t rows = 8 * (size_t)r->nhydro;
        g.store = mem_zero(sizeof *g.store * (rows + 1) * CKPT_PITCH, "snapshot batch");
        g.u = mem_new(sizeof *g.u * rows + 1, "snapshot batch");
        g.val = mem_new(sizeof *g.val * 8 * (size_t)s->nvalue + 1, "snapshot batch");
        for (size_t i = 0; i < rows; i++) g.u[i] = g.store + i * CKPT_PITCH;
    }
    if (exact) err = exact_path(s, piece + 1, path);
    if (exact && err == OK) err = manifest_check_file(r->list, r->dir, strrchr(path, '/') + 1);
    if (exact && err == OK) err = exact_open(&g.exact, path, s->npiece, piece + 1);
    if (exact && err == OK &&
        (g.exact.nvar != r->nhydro ||
         (r->nhydro && (g.exact.gamma != s->gamma || g.exact.smallr != s->smallr))))
        err = err_set(ERR_FORMAT, "%s: differs from that of file 1", path);
    struct ckpt_pick pick = {.octs = pick_octs, .ctx = &g};
    r->pick = s->pick ? &pick : NULL;
    r->late = s->late;
    if (err == OK) err = ramses_read_octs(r, piece + 1, values, give_octs, &g);
    r->pick = NULL;
    r->late = false;
    if (err == OK) err = g.err;
    if (exact && err == OK) err = exact_at_end(&g.exact);
    exact_shut(&g.exact);
    FREE(g.store);
    FREE(g.u);
    FREE(g.val);
    return err;
}

const struct source_kind source_ramses = {.name = "RAMSES binary",
                                          .is = is_ramses,
                                          .open = open_ramses,
                                          .close = source_files_close,
                                          .octs = octs_ramses,
                                          .parts = source_files_parts,
                                          .text = source_files_text};
