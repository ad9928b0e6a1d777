/* observe/trees: merger trees of the clumps of successive outputs, in each checkpoint
 * (make_mergertree), in RAMSES's files. The trees continue from the files of the output before,
 * which may be the checkpoint that the run resumed from; method: docs/method/trees.md. */
#include <stdlib.h>
#include <string.h>

#include "base/cgs.h"
#include "base/log.h"
#include "base/mem.h"
#include "ckpt/files.h"
#include "lineage/files.h"
#include "lineage/tables.h"
#include "observe/cone.h"
#include "observe/observe.h"
#include "oct/field_sets.h"

static bool wanted(const struct params *p)
{
    return p->run.make_mergertree;
}

/* Trees in the making; all but `par` is on rank 0. */
struct trees {
    const struct param_mergertree *par;
    struct lineage_clumps now;
    struct lineage_groups earlier; /* of the output before; output 0: there is none */
    struct lineage_past past;
    struct lineage_links links;
};

/* Number at the end of the name of an output's directory; 0: none. */
static int number_of(const char *dir)
{
    size_t n = strlen(dir);
    while (n > 0 && dir[n - 1] >= '0' && dir[n - 1] <= '9') n--;
    return (int)strtol(dir + n, NULL, 10);
}

static enum err read_last(const struct observation *o, struct trees *t)
{
    bool found = false;
    if (!*o->last) return OK;
    TRY(lineage_read(o->last, t->par->make_mock_galaxies, &t->earlier, &t->past, &found));
    t->earlier.output = number_of(o->last);
    return OK;
}

/* Damaged files end the run when it resumes, not at its first output. */
static enum err check(const struct observation *o)
{
    struct lineage_groups g;
    struct lineage_past past;
    bool found;
    TRY(lineage_read(o->last, o->par->mergertree.make_mock_galaxies, &g, &past, &found));
    if (!found) log_info(" Trees: %s has no progenitors: the trees begin anew", o->last);
    lineage_groups_free(&g);
    lineage_past_free(&past);
    return OK;
}

/* Ids of all tracers of the output before, then of the galaxies of past progenitors. */
static int64_t *all_ids(const struct trees *t, int64_t tracers)
{
    int64_t *id = mem_new(sizeof *id * (size_t)(tracers + t->past.n) + 1, "lineage");
    if (tracers) memcpy(id, t->earlier.particle, sizeof *id * (size_t)tracers);
    for (int64_t i = 0; i < t->past.n; i++) id[tracers + i] = t->past.at[i].galaxy;
    return id;
}

/* As in RAMSES, the peak mass of a sub-clump stays as it was when it became one. */
static void freeze_satellites(struct trees *t)
{
    for (int64_t b = 0; b < t->now.groups.n; b++) {
        int64_t a = t->links.progenitor[b];
        bool is_main = t->now.at[b].parent == t->now.at[b].index;
        if (a >= 0 && !is_main) t->now.groups.peak[b] = t->earlier.peak[a];
    }
}

static void report(const struct trees *t)
{
    int64_t n[4] = {0};
    for (int64_t b = 0; b < t->links.n_later; b++) {
        n[0] += t->links.progenitor[b] >= 0;
        n[1] += t->links.jumped[b] >= 0;
    }
    for (int64_t a = 0; a < t->links.n_earlier; a++)
        n[2] += t->links.merged[a] && t->links.descendant[a] >= 0,
            n[3] += t->links.merged[a] && t->links.descendant[a] < 0;
    log_info(" Trees: %ld clumps, %ld with a progenitor, %ld after a gap, %ld new; %ld merged, %ld "
             "lost",
             (long)t->now.groups.n, (long)n[0], (long)n[1], (long)(t->now.groups.n - n[0] - n[1]),
             (long)n[2], (long)n[3]);
}

/* Adds a text of this rank to the checkpoint. */
static struct ckpt_file *add_file(struct observation *o, enum files_kind kind)
{
    struct ckpt_file *f = &o->file[o->nfile++];
    f->kind = kind;
    return f;
}

/* Whether RAMSES writes tables: not of the first output, and not without clumps. (collective) */
static bool has_tables(const struct observation *o, const struct clumps *k)
{
    int64_t n = k->nmember;
    comm_add_i64(o->comm, &n, 1);
    return n > 0;
}

/* Links the clumps to those of the output before. (collective) */
static void link_clumps(struct observation *o, const struct clumps *k, struct trees *t)
{
    bool root = o->comm->rank == 0;
    int64_t tracers = root ? lineage_tracers(&t->earlier) : 0;
    int64_t n = tracers + (root ? t->past.n : 0);
    int64_t *id = all_ids(t, tracers);
    struct lineage_place *at = mem_new(sizeof *at * (size_t)n + 1, "lineage");
    lineage_find(k, o->comm, &t->now.groups, n, id, at);
    if (root) lineage_link(&t->earlier, at, &t->now.groups, &t->past, at + tracers, &t->links);
    FREE(at);
    FREE(id);
    if (o->number > 1 && has_tables(o, k)) {
        struct ckpt_file *f = add_file(o, FILES_MERGERTREE);
        f->text = lineage_links_text(&t->now, root ? &t->earlier : NULL, &t->past, &t->links,
                                     k->min_mass, &f->bytes);
    }
    if (!root) return;
    report(t);
    struct lineage_par par = {.max_past = t->par->max_past_snapshots};
    lineage_carry(&par, &t->earlier, &t->now.groups, &t->links, &t->past);
    freeze_satellites(t);
}

/* The galaxies of the light cone. (collective, agreed) */
static enum err show_galaxies(struct observation *o, const struct clumps *k, const struct trees *t,
                              int64_t n, struct lineage_galaxy *g)
{
    struct cone_galaxies seen = {.n = n};
    if (!o->par->run.lightcone) return OK;
    lineage_place_orphans(k, o->comm, &t->now.groups, n, g);
    seen.at = mem_new(sizeof *seen.at * (size_t)n + 1, "galaxies");
    for (int64_t i = 0; i < n; i++)
        seen.at[i] = (struct cone_galaxy){.id = g[i].particle,
                                          .kind = (int64_t)g[i].kind,
                                          .clump = g[i].clump,
                                          .mass = g[i].mass,
                                          .stars = g[i].stars};
    enum err err = observe_cone_galaxies(o, &seen);
    FREE(seen.at);
    return err;
}

/* (collective, agreed) */
static enum err make_galaxies(struct observation *o, const struct clumps *k, const struct trees *t)
{
    const struct ckpt_head *h = o->head;
    double size = h->unit_l, solar = h->unit_d * size * size * size / CGS_MSUN;
    struct lineage_galaxy_par par = {.aexp = h->aexp, .solar = solar, .output = o->number};
    struct ckpt_file *f = add_file(o, FILES_GALAXIES);
    int64_t n, count = 0;
    struct lineage_spot *spot = lineage_spots(&t->past, o->parts, o->comm, &n);
    struct lineage_galaxy *g = lineage_galaxies(&t->now, &t->past, n, spot, &par, &count);
    f->text = lineage_galaxies_text(count, g, &f->bytes);
    enum err err = show_galaxies(o, k, t, count, g);
    FREE(g);
    FREE(spot);
    return err;
}

static void keep_for_next(struct observation *o, const struct trees *t)
{
    if (o->comm->rank > 0) return;
    lineage_files(&t->now.groups, &t->past, t->par->make_mock_galaxies, o->head->longint,
                  &o->file[o->nfile]);
    o->nfile += LINEAGE_FILES;
}

static enum err run(struct observation *o)
{
    const struct param_mergertree *p = &o->par->mergertree;
    struct trees t = {.par = p};
    const struct clumps *k;
    TRY(observe_clumps(o, &k));
    TRY(err_agree(o->comm, o->comm->rank == 0 ? read_last(o, &t) : OK));
    lineage_clumps_make(k, o->comm, p->nmost_bound, p->use_exclusive_mass, &t.now);
    t.now.groups.output = o->number;
    link_clumps(o, k, &t);
    enum err err = p->make_mock_galaxies && has_tables(o, k) ? make_galaxies(o, k, &t) : OK;
    keep_for_next(o, &t);
    lineage_links_free(&t.links);
    lineage_clumps_free(&t.now);
    lineage_groups_free(&t.earlier);
    lineage_past_free(&t.past);
    return err;
}

const struct observer observer_trees = {.name = "merger trees",
                                        .wanted = wanted,
                                        .when = OBSERVE_WITHIN,
                                        .reads = GAS | PARTS,
                                        .table = FILES_KINDS,
                                        .check = check,
                                        .run = run};
