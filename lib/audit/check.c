/* audit/check: see check.h. This file holds the checks that read one file at a time. */
#include "audit/check.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "audit/check_priv.h"
#include "base/mem.h"
#include "base/text.h"
#include "ckpt/info.h"
#include "ckpt/manifest.h"
#include "formats/formats.h"
#include "io/file.h"
#include "param/param.h"

static const size_t TEXT_MAX = (size_t)64 << 20;

static enum err check_whole(struct check *k);
static enum err check_everything(struct check *k);
static void find_origin(struct check *k);

enum err ckpt_check(const char *path, const struct check_how *how, struct check_found *found)
{
    struct check *k = mem_zero(sizeof *k, "check");
    *found = (struct check_found){0};
    k->how = how, k->found = found, k->dir = path;
    enum err err = source_open(path, &k->r);
    if (k->r) k->dir = k->r->path;
    if (err != OK) {
        err = check_judge(k, err);
    } else {
        find_origin(k);
        err = check_whole(k);
        if (err == OK && how->depth >= CHECK_ALL && !k->unreadable) err = check_everything(k);
    }
    if (err == OK) check_report_rest(k);
    source_close(&k->r);
    FREE(k);
    return err;
}

/* ---- author and box ---- */

/* Reads a text file of the checkpoint; NULL if absent or the machine failed (k->trouble). */
static char *load_text(struct check *k, enum files_kind kind, char path[PATH_MAX], size_t *n)
{
    char *text = NULL;
    struct stat st;
    if (k->trouble != OK || info_path(k->r, kind, path) != OK) return NULL;
    if (lstat(path, &st) != 0 && (errno == ENOENT || errno == ENOTDIR)) return NULL;
    enum err err = file_load(path, TEXT_MAX, &text, n);
    if (err != OK && err != ERR_LIMIT && !check_tells_damage(k, err)) k->trouble = err;
    return err == OK ? text : NULL;
}

/* Sets k->reach. RAMSES keeps particles that have left the box through a boundary, up to one coarse
 * cell beyond. On a periodic axis rounding may put particles on the upper face. If the boundary
 * faces are not known, every face counts as a boundary. */
static void find_reach(struct check *k, const struct params *p)
{
    struct boundary b = k->r->head.boundary;
    bool face[6];
    if (b.n == 0) boundary_of_params(p, &b);
    boundary_faces(&b, face);
    for (int d = 0; d < 3; d++) {
        bool wall = face[2 * d] || face[2 * d + 1] || (k->bounded && b.n == 0);
        k->reach[d] = wall ? k->r->head.boxlen : source_rounding(k->r);
    }
}

/* Reads the namelist, the only record of smallr and of the boundaries of a box stored as
 * periodic. */
static void find_settings(struct check *k)
{
    struct params *p = mem_zero(sizeof *p, "namelist");
    char path[PATH_MAX];
    size_t n;
    int left_out = 0;
    char *text = load_text(k, FILES_NAMELIST, path, &n);
    param_init(p);
    if (text && param_read_loose(p, text, n, "namelist.txt", &left_out) != OK) param_init(p);
    k->bounded = k->r->nboundary > 0 || p->boundary.nboundary > 0;
    find_reach(k, p);
    k->smallr = k->r->head.smallr > 0 ? k->r->head.smallr : p->hydro.smallr;
    mem_free(text);
    FREE(p);
}

static void find_origin(struct check *k)
{
    char path[PATH_MAX];
    size_t n;
    char *text = load_text(k, FILES_HISTORY, path, &n);
    k->ours = text && strncmp(text, "ptah ", 5) == 0;
    mem_free(text);
    find_settings(k);
    k->gamma = k->r->head.gamma;
}

/* ---- one pass over all files ---- */

struct counts {
    struct check *check;
    int64_t family[FAMILIES]; /* particles per family row */
};

static void take_damage(void *ctx, enum source_damage d, const char *path, const char *location,
                        const char *what)
{
    struct check *k = ctx;
    check_report(k, d == DAMAGE_COUNT ? BAD_COUNT : BAD_FILE, path, location, "%s", what);
    k->unreadable |= d == DAMAGE_MISSING;
}

static enum err pass_octs(const struct source_octs *o, void *ctx)
{
    (void)o, (void)ctx;
    return OK;
}

static enum err count_parts(const struct source_parts *p, void *ctx)
{
    struct counts *t = ctx;
    for (int64_t i = 0; i < p->n; i++) t->family[family_row(p->family[i])]++;
    check_part_values(t->check, p);
    return OK;
}

/* The full state is read if further files keep its last bits, whose checksums cover all values. */
static enum err ask_state(struct check *k, bool *state)
{
    struct source *s = k->r;
    *state = false;
    if (!s->corrected) return OK;
    enum err err = source_state(s, 0, 0);
    *state = err == OK;
    k->gamma = s->gamma > 0 ? s->gamma : k->gamma,
    k->smallr = s->smallr > 0 ? s->smallr : k->smallr;
    if (*state && s->exact && !s->head.particles && s->nfield == s->nhydro) k->found->sums = true;
    return check_judge(k, err);
}

static enum err read_piece(struct check *k, int piece, bool state, struct counts *t)
{
    struct source *s = k->r;
    enum source_mode mode = state ? SOURCE_TREE : SOURCE_STORED;
    if (s->kind->check_piece) TRY(check_judge(k, s->kind->check_piece(s, piece, take_damage, k)));
    TRY(check_judge(k, source_octs(s, piece, mode, pass_octs, NULL)));
    if (state) {
        struct ckpt_counts was = s->counts; /* the counts before, so that each oct counts once */
        TRY(check_judge(k, source_octs(s, piece, SOURCE_STATE, pass_octs, NULL)));
        s->counts = was;
    }
    return check_judge(k, source_parts(s, piece, SOURCE_STORED, count_parts, t));
}

static enum err read_all(struct check *k, struct counts *t)
{
    bool state;
    enum err err = ask_state(k, &state);
    for (int piece = 0; err == OK && piece < k->r->npiece; piece++)
        err = read_piece(k, piece, state, t);
    return err;
}

/* ---- counts of the text files ---- */

/* Reads one line of the list of families; asterisks mean that the number was too wide. */
static void check_family(struct check *k, const char *path, const char *line, int i, int64_t found)
{
    const char *s = line + 13;
    char location[32];
    int64_t says;
    snprintf(location, sizeof location, "line %d", i + 2);
    if (s[strspn(s, " *\r")] == 0) return;
    if (!text_whole(&s, &says) || !text_line_ends(s))
        check_report(k, BAD_FILE, path, location,
                     "'%.30s' is not the number of particles of family %d",
                     line + 13 + strspn(line + 13, " "), FAMILY_ROW[i].number);
    else if (says != found)
        check_report(k, BAD_COUNT, path, location,
                     "says %ld particles of family %d, the files have %ld", (long)says,
                     FAMILY_ROW[i].number, (long)found);
}

/* Compares RAMSES's list of families: one line per family, 13 columns for the name and 10 or more
 * for the number. Older lists are skipped. */
static void check_families(struct check *k, const struct counts *t)
{
    char path[PATH_MAX], *save = NULL;
    size_t n;
    char *text = load_text(k, FILES_HEADER, path, &n);
    char *line = text ? strtok_r(text, "\n", &save) : NULL;
    bool list = line && line[0] == '#' && strstr(line, "Family");
    for (int i = 0; list && i < FAMILIES && (line = strtok_r(NULL, "\n", &save)); i++) {
        if (strlen(line) <= 13) break;
        check_family(k, path, line, i, t->family[i]);
    }
    mem_free(text);
}

/* Compares the numbers of the info file with the header, to the digits of the info file. */
static void check_info(struct check *k)
{
    const struct ckpt_head *h = &k->r->head;
    const struct {
        enum info_key key;
        double expected;
    } row[] = {{INFO_STEP, h->nstep_coarse}, {INFO_TIME, h->t},
               {INFO_AEXP, h->aexp},         {INFO_H0, h->h0},
               {INFO_OMEGA_M, h->omega_m},   {INFO_OMEGA_L, h->omega_l},
               {INFO_OMEGA_K, h->omega_k},   {INFO_OMEGA_B, h->omega_b}};
    struct info info;
    char path[PATH_MAX];
    if (!info_has(k->r, FILES_INFO) || info_path(k->r, FILES_INFO, path) != OK) return;
    enum err err = info_read(k->r, &info);
    if (err != OK && !check_tells_damage(k, err)) k->trouble = err;
    if (err != OK && check_tells_damage(k, err)) check_report_message(k);
    for (size_t i = 0; err == OK && i < sizeof row / sizeof *row; i++) {
        double says = info.value[row[i].key], x = row[i].expected;
        if (isnan(says) || fabs(says - x) <= 1e-12 * fabs(x)) continue;
        check_report(k, BAD_COUNT, path, info_key(row[i].key),
                     "is %.15g, in the binary files it is %.15g", says, x);
    }
}

/* Reports a file that Ptah would list but the list lacks; pieces are checked by their format. */
static enum err check_unlisted(void *ctx, const char *name, const struct files_name *f)
{
    struct check *k = ctx;
    char path[PATH_MAX];
    if (!files_has_role(f->kind, FILES_LISTED) || files_has_role(f->kind, FILES_PIECE) ||
        manifest_has(k->r->list, name))
        return OK;
    snprintf(path, sizeof path, "%.3800s/%.250s", k->r->path, name);
    check_report(k, BAD_FILE, path, "",
                 "is not in the list of checksums: it belongs to another checkpoint");
    return OK;
}

/* Compares each file with the list of checksums. The readers then skip this comparison, since a
 * reader stops at the first damage; their own checks locate the damage within a file. */
static enum err check_list(struct check *k)
{
    struct source *r = k->r;
    if (!r->list) return OK;
    for (int64_t i = 0; i < r->list->n; i++) {
        enum err err = manifest_check_file(r->list, r->path, r->list->row[i].name);
        if (err == OK) continue;
        if (!check_tells_damage(k, err)) return err;
        check_report_message(k);
    }
    k->found->sums = true;
    TRY(files_each(r->path, check_unlisted, k));
    manifest_free(&r->list);
    return OK;
}

static enum err check_whole(struct check *k)
{
    struct source *r = k->r;
    struct counts t = {.check = k};
    TRY(check_list(k));
    if (r->kind->check_files) TRY(r->kind->check_files(r, take_damage, k));
    if (k->unreadable) return OK; /* totals cannot match without the missing files */
    TRY(read_all(k, &t));
    for (int l = 1; l <= LEVEL_MAX; l++) {
        k->found->octs += r->counts.octs[l];
        k->found->leaves += source_cells(r) * r->counts.octs[l] - r->counts.split[l];
    }
    k->found->particles = r->counts.particles;
    k->found->sums |= r->sums;
    check_info(k);
    if (k->unreadable) return k->trouble;
    check_families(k, &t);
    TRY(k->trouble);
    enum err err = source_check_tree(r);
    bool unreadable = k->unreadable;
    TRY(check_judge(k, err));
    k->unreadable = unreadable; /* the tree itself is readable */
    return OK;
}

static enum err check_everything(struct check *k)
{
    struct tree_table t;
    const struct source *r = k->r;
    if (r->coarse[0] * r->coarse[1] * r->coarse[2] != 1)
        FAIL(ERR_LIMIT, "%s: has %ld coarse cells; -cc needs one coarse cell, -c takes any",
             r->path, (long)(r->coarse[0] * r->coarse[1] * r->coarse[2]));
    enum err err = tree_table_read(k->r, &t);
    if (err == OK) err = check_tree(k, &t);
    if (err == OK) err = check_cells(k, &t);
    if (err == OK) err = check_magnetic(k, &t);
    if (err == OK) err = check_parts(k, &t);
    tree_table_free(&t);
    return err;
}
