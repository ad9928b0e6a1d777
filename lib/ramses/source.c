/* ramses/source: RAMSES snapshots as sources (read.h). For the state of a run, primitive variables
 * are converted to conserved ones, corrected by the exact files if they exist; columns that old
 * formats lack are filled in. */
#include <limits.h>
#include <omp.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "ckpt/gas.h"
#include "oct/field_sets.h"
#include "ramses/exact.h"
#include "ramses/priv.h"

enum { RUN = 1024 }; /* octs at a time: the rows prefetched and the rows of a cell fit into L2 */

struct reading {
    const struct source *s;
    const struct ckpt_pick *pick;
    source_octs_fn *octs;
    void *ctx;
    struct exact_in exact;
    double *store;      /* conserved variables, then zeros */
    double **u;         /* [8 nvar] rows of conserved variables */
    double *photons;    /* [8 groups][CKPT_PITCH] densities, of files of RAMSES itself */
    const double **val; /* [8 nvalue] rows of all values */
    enum err err;       /* error of pick_octs */
};

static bool is_ramses(const char *dir)
{
    struct files_name last;
    int found;
    return files_count(dir, FILES_INFO, -1, &found, &last) == OK && found > 0;
}

static enum err exact_path(const struct source *s, int file, char path[PATH_MAX])
{
    return ramses_path(s->impl, FILES_EXACT, file, path);
}

/* Whether the gas may have n non-thermal energies: the number that its names give, or, as long as
 * they are not known, no more than its variables. */
static bool energies_fit(const struct source *s, int n)
{
    if (s->ordered) return n == s->head.energy.n;
    return n == 0 || n + GAS_SCALARS <= s->head.nvar;
}

/* Opens the exact file if the first one exists. Exact files do not apply to a run with another
 * gamma, where the pressure stays the same. */
static enum err open_exact(struct source *s)
{
    char path[PATH_MAX];
    struct exact_in x = {.fd = -1};
    TRY(exact_path(s, 1, path));
    enum err err = exact_open(&x, path, s->npiece, 1);
    if (err == OK) {
        s->state = true;
        if (s->gamma == 0) s->gamma = x.gamma;
        if (s->smallr == 0) s->smallr = x.smallr;
        const bool fits = energies_fit(s, x.energy.n);
        if (fits) s->energy = s->head.energy = x.energy;
        s->exact = x.nvar == 0 || (x.gamma == s->gamma && x.smallr == s->smallr);
        s->head.tout_next = x.tout_next, s->head.aout_next = x.aout_next;
        memcpy(s->head.safe, x.safe, sizeof s->head.safe);
        memcpy(s->head.far, x.far, sizeof s->head.far);
        if (!fits)
            err = err_set(ERR_FORMAT, "%s: has %d non-thermal energies, but the gas has not", path,
                          x.energy.n);
        else if (x.t != s->head.t || x.nstep_coarse != s->head.nstep_coarse)
            err = err_set(ERR_FORMAT, "%s: belongs to coarse step %d, but the amr file to step %d",
                          path, x.nstep_coarse, s->head.nstep_coarse);
        else if (x.nvar != s->head.nvar)
            err = err_set(ERR_FORMAT, "%s: has %d variables, but the hydro file has %d", path,
                          x.nvar, s->head.nvar);
    }
    exact_shut(&x);
    return err;
}

static enum err ramses_state(struct source *s)
{
    struct ckpt_head *h = &s->head;
    if (s->coarse[0] * s->coarse[1] * s->coarse[2] != 1)
        FAIL(ERR_LIMIT,
             "%s: has %ld x %ld x %ld coarse cells inside the box; simulate needs exactly one "
             "(inspect can read this one)",
             s->path, (long)s->coarse[0], (long)s->coarse[1], (long)s->coarse[2]);
    if (s->foreign) source_take_fields(s, NULL);
    const int missing = 3 - source_velocities(s);
    if (h->hydro && (s->nhydro < GAS_SCALARS - missing || s->nhydro > NVAR_MAX - missing))
        FAIL(ERR_LIMIT, "%s: has %d gas variables; %d to %d can be read", s->path, s->nhydro,
             GAS_SCALARS - missing, NVAR_MAX - missing);
    TRY(source_check_magnetic(s));
    source_state_gas(s);
    s->values = fields_state(s->fields, h->gravity);
    source_count_state(s);
    return s->corrected ? open_exact(s) : OK;
}

/* Converts octs first..last-1 to conserved variables, in one part of a batch. */
static void make_state(struct reading *g, const struct source_octs *in, int part, int first,
                       int last)
{
    const struct source *s = g->s;
    const int nvar = s->head.nvar, ndim = s->head.ndim, velocities = source_velocities(s);
    const int field = fields_faces(s->fields, s->nhydro);
    const struct gas_equation gas = {nvar, s->gamma, s->smallr, &s->energy};
    const double *none = g->store + 8 * (size_t)nvar * CKPT_PITCH;
    for (int at = first; at < last; at += RUN)
        for (int c = 0; c < 1 << ndim; c++) {
            int n = last - at < RUN ? last - at : RUN;
            const double *prim[NVAR_MAX], *b[6];
            double *u[NVAR_MAX];
            for (int f = 0; field >= 0 && f < 6; f++) b[f] = in->val[8 * (field + f) + c] + at;
            for (int v = 0; v < nvar; v++) {
                const int k = gas_in_file(velocities, v);
                prim[v] = (k < 0 ? none : in->val[8 * k + c]) + at;
                u[v] = g->u[8 * v + c] + at;
            }
            gas_conserved(&gas, n, prim, u);
            if (field >= 0) gas_add_field(n, b, u[GAS_ENERGY]);
            if (s->exact) exact_correct(&g->exact, part, at, n, c, u);
        }
}

/* Divides the densities of photons by the reduced speed of light. */
static void give_photons(struct reading *g, int n)
{
    const struct source *s = g->s;
    const int first = s->nvalue - PHOTON_VALUES * s->head.radiation.groups;
    for (int k = 0; k < 8 * s->head.radiation.groups; k++) {
        const double **row = &g->val[8 * (first + PHOTON_VALUES * (k / 8)) + k % 8];
        double *to = g->photons + k * CKPT_PITCH;
        memcpy(to, *row, sizeof *to * (size_t)n);
        photons_from_file(n, s->head.radiation.c, NULL, to);
        *row = to;
    }
}

static enum err give_octs(const struct source_octs *in, void *ctx)
{
    struct reading *g = ctx;
    const struct source *s = g->s;
    int nvar = s->nhydro ? s->head.nvar : 0, parts = omp_get_max_threads(),
        repeat = (1 << s->head.ndim) - 1;
    struct source_octs o = *in;
    if (in->val) {
        if (s->exact && nvar) TRY(exact_begin(&g->exact, in->level, in->n, parts));
#pragma omp parallel for schedule(static)
        for (int k = 0; k < parts; k++)
            if (nvar) make_state(g, in, k, gas_cut(in->n, k, parts), gas_cut(in->n, k + 1, parts));
        if (s->exact && nvar) TRY(exact_end(&g->exact));
        for (int i = 0; i < 8 * nvar; i++) g->val[i] = g->u[(i & ~7) | (i & repeat)];
        for (int v = nvar; v < s->nvalue; v++) {
            const int at = source_value_of(s, field_stored(s->values, nvar, v, 3));
            for (int c = 0; c < 8; c++)
                g->val[8 * v + c] = at < 0 ? g->store + 8 * (size_t)nvar * CKPT_PITCH
                                           : in->val[8 * at + (c & repeat)];
        }
        if (s->foreign && s->values & PHOTONS) give_photons(g, in->n);
        o.val = g->val;
    }
    return g->octs(&o, g->ctx);
}

/* Selects octs; skipped octs are skipped in the exact file too. */
static bool pick_octs(void *ctx, int level, int n, const okey *key)
{
    struct reading *g = ctx;
    const struct ckpt_pick *pick = g->pick;
    if (pick->octs(pick->ctx, level, n, key)) return true;
    if (g->exact.path && g->err == OK) g->err = exact_skip(&g->exact, level, n);
    return false;
}

static enum err open_piece(struct reading *g, int piece)
{
    const struct source *s = g->s;
    char path[PATH_MAX];
    TRY(exact_path(s, piece + 1, path));
    TRY(manifest_check_file(s->list, s->path, strrchr(path, '/') + 1));
    TRY(exact_open(&g->exact, path, s->npiece, piece + 1));
    if (g->exact.nvar != s->head.nvar || g->exact.gamma != s->gamma || g->exact.smallr != s->smallr)
        FAIL(ERR_FORMAT, "%s: its number of variables, gamma or smallr differs from that of file 1",
             path);
    return OK;
}

static enum err octs_state(struct source *s, int piece, source_octs_fn *fn, void *ctx)
{
    struct reading g = {.s = s, .octs = fn, .ctx = ctx};
    bool exact = s->exact && s->nhydro;
    size_t rows = s->nhydro ? 8 * (size_t)s->head.nvar : 0;
    const struct ckpt_pick *was = s->pick, pick = {.octs = pick_octs, .ctx = &g};
    g.pick = was;
    g.store = mem_zero(sizeof *g.store * (rows + 1) * CKPT_PITCH, "snapshot batch");
    g.u = mem_new(sizeof *g.u * rows + 1, "snapshot batch");
    g.val = mem_new(sizeof *g.val * 8 * (size_t)s->nvalue + 1, "snapshot batch");
    for (size_t i = 0; i < rows; i++) g.u[i] = g.store + i * CKPT_PITCH;
    g.photons = mem_new(sizeof *g.photons * 8 * CKPT_PITCH * (size_t)s->head.radiation.groups + 1,
                        "snapshot batch");
    enum err err = exact ? open_piece(&g, piece) : OK;
    if (was) s->pick = &pick;
    if (err == OK) err = ramses_read_octs(s->impl, piece + 1, true, give_octs, &g);
    s->pick = was;
    if (err == OK) err = g.err;
    if (exact && err == OK) err = exact_at_end(&g.exact);
    exact_shut(&g.exact);
    FREE(g.store);
    FREE(g.u);
    FREE(g.photons);
    FREE(g.val);
    return err;
}

static enum err ramses_octs(struct source *s, int piece, enum source_mode mode, source_octs_fn *fn,
                            void *ctx)
{
    if (mode == SOURCE_STATE) return octs_state(s, piece, fn, ctx);
    return ramses_read_octs(s->impl, piece + 1, mode == SOURCE_STORED, fn, ctx);
}

static enum err ramses_parts(struct source *s, int piece, source_parts_fn *fn, void *ctx)
{
    return ramses_read_parts(s->impl, piece + 1, fn, ctx);
}

static void ramses_close(struct source *s)
{
    FREE(s->impl);
}

static enum err ramses_text(struct source *s, enum files_kind k, char **text, size_t *bytes)
{
    return info_text(s, k, text, bytes);
}

const struct source_kind ramses_kind = {.name = "RAMSES binary",
                                        .is = is_ramses,
                                        .open = ramses_open,
                                        .close = ramses_close,
                                        .octs = ramses_octs,
                                        .parts = ramses_parts,
                                        .state = ramses_state,
                                        .text = ramses_text,
                                        .file = ramses_file,
                                        .check_files = ramses_check_files,
                                        .check_piece = ramses_check_piece,
                                        .domains = ramses_domains,
                                        .ranks = ramses_ranks};
