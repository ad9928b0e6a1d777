/* phys/term: runs source terms, and checks their declarations; see term.h. */
#include "phys/term.h"

#include "base/checksum.h"
#include "base/mem.h"
#include "base/timer.h"
#include "dom/ghost.h"

#define TERM(name, when) extern const struct term term_##name;
#include "oct/field_sets.h"
#include "phys/terms.def"
#undef TERM

static const struct term *const ROWS[] = {
#define TERM(name, when) &term_##name,
#include "phys/terms.def"
#undef TERM
};
const struct term_list TERMS = {ROWS, sizeof ROWS / sizeof *ROWS};

enum when { EARLY, LATE };
static const enum when WHEN[] = {
#define TERM(name, when) when,
#include "phys/terms.def"
#undef TERM
};

int terms_early(void)
{
    int n = 0;
    while (n < TERMS.n && WHEN[n] == EARLY) n++;
    for (int i = n; i < TERMS.n; i++) BUG_ON(WHEN[i] == EARLY);
    return n;
}

static bool runs(const struct term *t, const struct params *p, int stage)
{
    return (t->stages & stage) && t->wanted(p);
}

bool terms_wanted(const struct params *p, int stage)
{
    for (int i = 0; i < TERMS.n; i++)
        if (runs(TERMS.at[i], p, stage)) return true;
    return false;
}

bool term_limits(const struct params *p, const struct term *t)
{
    return t->limit && runs(t, p, TERM_LEVEL);
}

/* ---- on a device ---- */

struct terms_dev {
    const struct term_list *list;
    void **context; /* [list->n] contexts of the terms */
};

/* Part of a term without a kernel; NULL: every part has one, so that a rank may run it on the host
 * or the device. */
static const char *lack(const struct term *t, const struct params *p)
{
    return !t->device || t->ghosts ? t->name : t->device->lacks ? t->device->lacks(p) : NULL;
}

struct terms_dev *terms_dev_new(const struct term_list *t, const struct params *p, struct mirror *x,
                                const char **lacks)
{
    struct terms_dev *d = mem_zero(sizeof *d, "device");
    *lacks = NULL;
    d->list = t;
    d->context = mem_zero(sizeof *d->context * (size_t)t->n, "device");
    for (int i = 0; i < t->n; i++) {
        const char *why = lack(t->at[i], p);
        if (!runs(t->at[i], p, TERM_LEVEL)) continue;
        if (why && !t->at[i]->sparse && !*lacks) *lacks = why;
        if (!why && t->at[i]->device->open) d->context[i] = t->at[i]->device->open(x);
    }
    return d;
}

bool term_runs(const struct term_list *t, int i, const struct term_run *r)
{
    return runs(t->at[i], r->par, r->stage);
}

void terms_dev_free(struct terms_dev **d)
{
    if (!*d) return;
    for (int i = 0; i < (*d)->list->n; i++)
        if ((*d)->context[i]) (*d)->list->at[i]->device->close((*d)->context[i]);
    FREE((*d)->context);
    FREE(*d);
}

enum err terms_dev_run(struct terms_dev *d, const struct term_run *r, int i, bool *done)
{
    const struct term *t = d->list->at[i];
    *done = false;
    if (!runs(t, r->par, r->stage) || lack(t, r->par)) return OK;
    timer_start(t->name);
    TRY(t->device->apply(r, d->context[i]));
    *done = true;
    return OK;
}

/* ---- checks of declarations ---- */

/* Checksums of one field of one level, and of the particles. */
struct snapshot {
    uint64_t own[LEVEL_MAX + 2][FIELD_ALL], ghost[LEVEL_MAX + 2][FIELD_ALL], parts;
};

static uint64_t part_sum(const struct parts *p)
{
    uint64_t sum = (uint64_t)p->n;
    size_t bytes = sizeof(double) * (size_t)p->n;
    for (int d = 0; d < 3; d++)
        sum = 31 * sum + checksum_of(p->x[d], bytes) + 7 * checksum_of(p->v[d], bytes);
    return 31 * sum + checksum_of(p->m, bytes);
}

static struct snapshot *snapshot_new(const struct term_run *r)
{
    struct snapshot *w = mem_zero(sizeof *w, "term check");
    for (int l = 1; l <= r->mesh->levelmax; l++) {
        const struct level *lv = &r->mesh->lev[l];
        for (int f = 0; f < FIELD_ALL && lv->noct; f++) {
            size_t row;
            const char *p = field_array(lv, f, &row);
            if (!p) continue;
            w->own[l][f] = checksum_of(p, row * (size_t)lv->nown);
            w->ghost[l][f] = checksum_of(p + row * (size_t)lv->nown,
                                         row * (size_t)(lv->noct - lv->nown));
        }
    }
    w->parts = part_sum(r->parts);
    return w;
}

static const char *name_of(int f)
{
    field_set one = 1;
    while (!field_in(one, f)) one <<= 1;
    return field_set_name(one);
}

static enum err compare(const struct term_run *r, const struct term *t, const struct snapshot *a,
                        const struct snapshot *b, bool changed)
{
    field_set writes = changed ? t->writes : 0;
    for (int l = 1; l <= r->mesh->levelmax; l++)
        for (int f = 0; f < FIELD_ALL; f++) {
            bool mine = field_in(writes, f) && (r->stage == TERM_COARSE || l == r->level);
            if (a->ghost[l][f] != b->ghost[l][f])
                FAIL(ERR_LIMIT,
                     "check_ghosts: source term %s wrote ghosts of %s on level %d: only the owner "
                     "of a cell may write it (phys/term.h)",
                     t->name, name_of(f), l);
            if (!mine && a->own[l][f] != b->own[l][f])
                FAIL(ERR_LIMIT,
                     "check_ghosts: source term %s wrote %s on level %d, which its struct term "
                     "does not declare",
                     t->name, name_of(f), l);
        }
    if (!(writes & PARTS) && a->parts != b->parts)
        FAIL(ERR_LIMIT,
             "check_ghosts: source term %s wrote particles, which its struct term does not declare",
             t->name);
    return OK;
}

static enum err apply_checked(const struct term_run *r, const struct term *t, bool *changed)
{
    struct snapshot *before = snapshot_new(r);
    enum err err = t->apply(r, changed);
    struct snapshot *after = snapshot_new(r);
    /* where fields are on a device, the host's rows are copies for a while */
    if (err == OK && !r->mirror) err = compare(r, t, before, after, *changed);
    mem_free(after);
    mem_free(before);
    /* other ranks may run a term of levels that has kernels on their devices, without checks */
    bool alone = r->stage == TERM_LEVEL && !lack(t, r->par);
    return alone ? err : err_agree(r->comm, err);
}

/* ---- running ---- */

/* Fills stale ghosts that the term reads. */
static void fill_stale(const struct term_run *r, int l, field_set set)
{
    const struct level *lv = &r->mesh->lev[l];
    int f[FIELD_ALL], n = mesh_fields(r->mesh, set, f);
    for (int i = 0; i < n; i++)
        if (lv->fld[f[i]] && !lv->valid[f[i]]) ghost_fill(r->comm, r->mesh, l, 1, &f[i]);
}

static enum err term_apply(const struct term_run *r, const struct term *t, bool *changed)
{
    int first = r->level, last = r->stage == TERM_LEVEL ? r->level : r->mesh->levelmax;
    BUG_ON(t->writes & ~(field_set)(GAS | PARTS));
    BUG_ON(r->mirror && t->ghosts); /* the host's rows may be stale */
    timer_start(t->name);
    for (int l = first; l <= last; l++) {
        fill_stale(r, l, t->ghosts);
        ghosts_set(r->mesh, l, t->writes, false);
    }
    return r->check ? apply_checked(r, t, changed) : t->apply(r, changed);
}

enum err terms_run(const struct term_list *t, int first, const struct term_run *r, field_set *wrote)
{
    if (wrote) *wrote = 0;
    for (int i = first; i < t->n; i++) {
        if (!runs(t->at[i], r->par, r->stage)) continue;
        bool changed = false;
        TRY(term_apply(r, t->at[i], &changed));
        if (!wrote) continue;
        int64_t any = changed;
        comm_max_i64(r->comm, &any, 1);
        if (any) *wrote |= t->at[i]->writes;
    }
    return OK;
}
