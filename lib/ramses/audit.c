/* ramses/audit: data from RAMSES files that the checks and the lists of domains need in addition to
 * octs and particles: lists of files, consistency of headers, decomposition of the box, ghost octs
 * of a rank. */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "ramses/priv.h"

enum { SMALL = 1 << 26 }; /* maximum elements of a table */

enum err ramses_file(const struct source *s, enum files_kind k, int piece, char path[PATH_MAX])
{
    return ramses_path(s->impl, k, piece + 1, path);
}

/* ---- lists of files ---- */

struct names {
    const struct source *s;
    enum files_kind kind;
    int found;
    source_damage_fn *fn;
    void *ctx;
};

/* Reports a file of a rank that does not exist. */
static enum err check_name(void *ctx, const char *name, const struct files_name *f)
{
    struct names *k = ctx;
    char path[PATH_MAX], text[100];
    if (f->kind != k->kind || f->number != k->s->number) return OK;
    k->found++;
    if (f->rank >= 1 && f->rank <= k->s->npiece) return OK;
    snprintf(path, sizeof path, "%.3800s/%.250s", k->s->path, name);
    snprintf(text, sizeof text, "belongs to no rank: the checkpoint has %d files of each kind",
             k->s->npiece);
    k->fn(k->ctx, DAMAGE_FILE, path, "", text);
    return OK;
}

/* Reports surplus and missing files of a kind. */
static enum err check_names(const struct source *s, enum files_kind kind, bool expected,
                            source_damage_fn *fn, void *ctx)
{
    struct names k = {.s = s, .kind = kind, .fn = fn, .ctx = ctx};
    TRY(files_each(s->path, check_name, &k));
    for (int piece = 0; (k.found || expected) && piece < s->npiece; piece++) {
        char path[PATH_MAX];
        struct stat st;
        TRY(ramses_file(s, kind, piece, path));
        if (lstat(path, &st) == 0) continue;
        if (errno != ENOENT) FAIL(ERR_FILE, "%s: %s", path, strerror(errno));
        fn(ctx, DAMAGE_MISSING, path, "", "is missing");
    }
    return OK;
}

enum err ramses_check_files(struct source *s, source_damage_fn *fn, void *ctx)
{
    const struct ckpt_head *h = &s->head;
    bool gas = h->hydro || info_has(s, FILES_GAS_NAMES),
         part = h->particles || info_has(s, FILES_PART_NAMES);
    TRY(check_names(s, FILES_AMR, true, fn, ctx));
    TRY(check_names(s, FILES_HYDRO, gas, fn, ctx));
    TRY(check_names(s, FILES_GRAV, h->gravity, fn, ctx));
    TRY(check_names(s, FILES_PART, part, fn, ctx));
    const bool photons = h->radiation.groups > 0 || info_has(s, FILES_RT_INFO);
    TRY(check_names(s, FILES_RT, photons, fn, ctx));
    TRY(check_names(s, FILES_RT_EXACT, photons && !s->foreign, fn, ctx));
    return check_names(s, FILES_EXACT, false, fn, ctx);
}

/* ---- consistency of headers ---- */

static void compare_heads(const struct source *s, const struct source *own, const char *path,
                          source_damage_fn *fn, void *ctx)
{
    const struct ckpt_head *h = &s->head, *o = &own->head;
    char text[200];
    if (o->nstep_coarse != h->nstep_coarse || o->nstep != h->nstep || o->t != h->t) {
        snprintf(text, sizeof text, "is of step %d, time %.17g; file 1 is of step %d, time %.17g",
                 o->nstep_coarse, o->t, h->nstep_coarse, h->t);
        fn(ctx, DAMAGE_COUNT, path, "header", text);
    }
    for (int l = 1; l <= LEVEL_MAX; l++) {
        if (own->numbtot[l] == s->numbtot[l]) continue;
        snprintf(text, sizeof text, "level %d has %ld octs in all; in file 1 it has %ld", l,
                 (long)own->numbtot[l], (long)s->numbtot[l]);
        fn(ctx, DAMAGE_COUNT, path, "header", text);
    }
}

/* Compares the header of each file with the header of the first. */
enum err ramses_check_piece(struct source *s, int piece, source_damage_fn *fn, void *ctx)
{
    struct source *twin = mem_new(sizeof *twin, "check");
    struct ramses r = *(struct ramses *)s->impl;
    struct amr_head a = {0};
    struct fort_in f = {.fd = -1};
    char path[PATH_MAX];
    memcpy(twin, s, sizeof *twin);
    twin->out_times = NULL;
    r.s = twin;
    enum err err = ramses_file(s, FILES_AMR, piece, path);
    if (err == OK) err = fort_open(&f, path);
    if (err == OK) err = ramses_amr_head(&f, &r, &a, true);
    if (err == OK) compare_heads(s, twin, path, fn, ctx);
    fort_shut(&f);
    ramses_amr_head_free(&a);
    FREE(twin->out_times);
    FREE(twin);
    return err;
}

/* ---- decomposition of the box ---- */

static enum err get_words(struct fort_in *f, const char *what, int64_t n, int64_t **p)
{
    struct fort_rec rec;
    TRY(fort_expect(f, what, 4 * n, &rec));
    *p = mem_new(sizeof **p * (size_t)n + 8, "domains");
    for (int64_t i = 0; i < n; i++) {
        int32_t x;
        TRY(fort_load(f, &rec, 4, i, 1, &x));
        (*p)[i] = x;
    }
    return OK;
}

static enum err get_reals(struct fort_in *f, const char *what, int64_t n, double **p)
{
    struct fort_rec rec;
    TRY(fort_next_real(f, what, n, &rec));
    *p = mem_new(sizeof **p * (size_t)n + 8, "domains");
    return fort_load_real(f, &rec, n, 0, (size_t)n, *p);
}

/* A finite number of 16 bytes (IEEE 754 binary128), for which not all processors have a type. */
static double of_quad(const uint64_t word[2])
{
    const int power = (int)(word[1] >> 48 & 0x7fff);
    unsigned __int128 digits = (unsigned __int128)(word[1] & 0xffffffffffff) << 64 | word[0];
    if (power) digits |= (unsigned __int128)1 << 112;
    const double size = ldexp((double)digits, (power ? power : 1) - 16383 - 112);
    return word[1] >> 63 ? -size : size;
}

/* Reads the bounds of domains; keys are doubles, or 16 bytes wide (QUADHILBERT). */
static enum err get_bounds(struct fort_in *f, const struct ramses *r, struct source_domains *d)
{
    struct fort_rec rec;
    TRY(fort_next(f, "bound keys", &rec));
    int64_t width = r->wide_keys ? 16 : r->s->narrow ? 4 : 8, n = rec.bytes / width;
    if (rec.bytes != n * width || n < 2 || n > SMALL)
        FAIL(ERR_FORMAT,
             "%s: record %ld (bound keys) at byte %ld has an impossible length of %ld bytes",
             f->path, (long)rec.number, (long)rec.at, (long)rec.bytes);
    d->nbound = n;
    d->bound = mem_new(sizeof *d->bound * (size_t)n, "domains");
    for (int64_t i = 0; i < n; i++) {
        uint64_t wide[2];
        if (width == 16) {
            TRY(fort_load(f, &rec, 16, i, 1, wide));
            d->bound[i] = of_quad(wide);
        } else {
            TRY(fort_load_real(f, &rec, n, i, 1, &d->bound[i]));
        }
    }
    return OK;
}

static enum err get_ksection(struct fort_in *f, int nrank, struct source_domains *d)
{
    int32_t n[3];
    int64_t *factor = NULL;
    for (int i = 0; i < 3; i++) TRY(fort_get_i4(f, "tree of domains", &n[i]));
    if (n[0] < 0 || n[0] > 31 || n[1] < 0 || n[1] > nrank + 1 || n[2] < 0 || n[2] > 3 * nrank + 4)
        FAIL(ERR_FORMAT, "%s: the tree of domains has impossible sizes: the file is damaged",
             f->path);
    d->nlev = n[0], d->kmax = n[1], d->nnode = n[2];
    enum err err = get_words(f, "factors", d->nlev, &factor);
    FREE(factor);
    TRY(err);
    TRY(get_words(f, "axes", d->nlev, &d->axis));
    TRY(get_reals(f, "cut planes", d->nnode * (d->kmax > 1 ? d->kmax - 1 : 0), &d->cut));
    TRY(get_words(f, "children", d->nnode * d->kmax, &d->next));
    TRY(get_words(f, "ranks", d->nnode, &d->rank));
    TRY(get_reals(f, "boxes", 3 * (int64_t)nrank, &d->lo));
    return get_reals(f, "boxes", 3 * (int64_t)nrank, &d->hi);
}

static enum err read_records(struct fort_in *f, const struct ramses *r, struct source_domains *d)
{
    const struct source *s = r->s;
    /* header, state, lists, counts, boundary lists, free memory, ordering */
    TRY(fort_skip(f, "header", 23 - r->no_mass_sph + (s->nboundary ? 3 : 0) + 2));
    if (strcmp(s->ordering, "bisection") == 0) return OK;
    return strcmp(s->ordering, "ksection") != 0 ? get_bounds(f, r, d)
                                                : get_ksection(f, s->nwriter, d);
}

enum err ramses_domains(struct source *s, struct source_domains *d)
{
    char path[PATH_MAX];
    struct fort_in f;
    TRY(ramses_file(s, FILES_AMR, 0, path));
    enum err err = fort_open(&f, path);
    if (err == OK) err = read_records(&f, s->impl, d);
    fort_shut(&f);
    return err;
}

/* ---- octs of a rank ---- */

/* Counts own octs and ghosts from the lists in the amr file's header. */
static void count_lists(const struct source *s, int rank, const struct amr_head *a,
                        struct source_rank *row)
{
    int nlist = s->npiece + s->nboundary, room = 0;
    for (int i = 0; i < nlist; i++) {
        int64_t n = 0;
        for (int l = 0; l < a->nlevelmax; l++) {
            int64_t k = a->numbl[(size_t)l * (size_t)nlist + (size_t)i];
            if (i == rank && l < LEVEL_MAX) row->octs[l + 1] = k;
            n += k;
        }
        if (i == rank || n == 0) continue;
        row->ghosts += n;
        if (i >= s->npiece) continue;
        if (row->npartner == room)
            row->partner = mem_grow(row->partner, sizeof *row->partner * (size_t)(room += 16),
                                    "domains");
        row->partner[row->npartner++] = i + 1;
    }
}

static void add_bytes(const struct source *s, int rank, struct source_rank *row)
{
    for (int k = 0; k < FILES_KINDS; k++) {
        char path[PATH_MAX];
        struct stat st;
        if (files_has_role((enum files_kind)k, FILES_PIECE) &&
            ramses_file(s, (enum files_kind)k, rank, path) == OK && stat(path, &st) == 0)
            row->bytes += st.st_size;
    }
}

static enum err count_particles(const struct source *s, int rank, struct source_rank *row)
{
    char path[PATH_MAX];
    struct fort_in f;
    if (!s->head.particles) return OK;
    TRY(ramses_file(s, FILES_PART, rank, path));
    enum err err = fort_open(&f, path);
    if (err == OK) err = ramses_part_head(&f, s->impl, &row->particles, NULL);
    fort_shut(&f);
    return err;
}

static enum err read_rank(struct source *s, int rank, struct source_rank *row)
{
    char path[PATH_MAX];
    struct fort_in f;
    struct amr_head a = {0};
    TRY(ramses_file(s, FILES_AMR, rank, path));
    enum err err = fort_open(&f, path);
    if (err == OK) err = ramses_amr_head(&f, s->impl, &a, false);
    fort_shut(&f);
    if (err == OK) count_lists(s, rank, &a, row);
    ramses_amr_head_free(&a);
    if (err == OK) err = count_particles(s, rank, row);
    if (err == OK) add_bytes(s, rank, row);
    return err;
}

enum err ramses_ranks(struct source *s, struct source_rank *row)
{
    for (int rank = 0; rank < s->npiece; rank++) TRY(read_rank(s, rank, &row[rank]));
    return OK;
}
