/* phys/term: runs source terms, and checks what they declare; see term.h. */
#include "phys/term.h"

#include "base/checksum.h"
#include "base/mem.h"
#include "base/timer.h"
#include "dom/ghost.h"

#define TERM(name) extern const struct term term_##name;
#include "phys/terms.def"
#undef TERM

static const struct term *const TERMS[] = {
#define TERM(name) &term_##name,
#include "phys/terms.def"
#undef TERM
};
enum { NTERM = sizeof TERMS / sizeof *TERMS };

bool terms_wanted(const struct params *p, int stage)
{
    for (int i = 0; i < NTERM; i++)
        if ((TERMS[i]->stages & stage) && TERMS[i]->wanted(p)) return true;
    return false;
}

/* One at most: a second that finds no memory could not undo the first. */
const char *terms_lack(const struct params *p, int stage)
{
    int n = 0;
    for (int i = 0; i < NTERM; i++) {
        const struct term *t = TERMS[i];
        if (!(t->stages & stage) || !t->wanted(p)) continue;
        if (!t->there || n++ > 0) return t->name;
        if (t->lacks(p)) return t->lacks(p);
    }
    return NULL;
}

enum err terms_run_there(const struct term_run *r)
{
    for (int i = 0; i < NTERM; i++) {
        if (!(TERMS[i]->stages & r->stage) || !TERMS[i]->wanted(r->par)) continue;
        timer_start(TERMS[i]->name);
        TRY(TERMS[i]->there(r));
    }
    return OK;
}

/* ---- holding a term to what it says ---- */

/* Sums of the bits of one field of one level, and of the particles. */
struct witness {
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

static struct witness *witness_new(const struct term_run *r)
{
    struct witness *w = mem_zero(sizeof *w, "term check");
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

static enum err compare(const struct term_run *r, const struct term *t, const struct witness *a,
                        const struct witness *b, bool changed)
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
    if (!(writes & SET_PARTS) && a->parts != b->parts)
        FAIL(ERR_LIMIT,
             "check_ghosts: source term %s wrote particles, which its struct term does not declare",
             t->name);
    return OK;
}

static enum err apply_checked(const struct term_run *r, const struct term *t, bool agree,
                              bool *changed)
{
    struct witness *before = witness_new(r);
    enum err err = t->apply(r, changed);
    struct witness *after = witness_new(r);
    if (err == OK) err = compare(r, t, before, after, *changed);
    mem_free(after);
    mem_free(before);
    return agree ? err_agree(r->comm, err) : err;
}

/* ---- running ---- */

/* Stale ghosts that the term reads. */
static void fill_stale(const struct term_run *r, int l, field_set set)
{
    for (int f = 0; f < FLD_MAX; f++)
        if (field_in(set, f) && r->mesh->lev[l].fld[f] && !r->mesh->lev[l].valid[f])
            ghost_fill(r->comm, r->mesh, l, 1, &f);
}

static enum err term_apply(const struct term_run *r, const struct term *t, bool agree,
                           bool *changed)
{
    int first = r->level, last = r->stage == TERM_LEVEL ? r->level : r->mesh->levelmax;
    BUG_ON(t->writes & ~(field_set)(SET_GAS | SET_PARTS));
    timer_start(t->name);
    for (int l = first; l <= last; l++) {
        fill_stale(r, l, t->ghosts);
        ghosts_set(r->mesh, l, t->writes, false);
    }
    return r->check ? apply_checked(r, t, agree, changed) : t->apply(r, changed);
}

enum err terms_run_list(const struct term_run *r, const struct term *const *list, int n,
                        field_set *wrote)
{
    if (wrote) *wrote = 0;
    for (int i = 0; i < n; i++) {
        if (!(list[i]->stages & r->stage) || !list[i]->wanted(r->par)) continue;
        bool changed = false;
        TRY(term_apply(r, list[i], wrote, &changed));
        if (!wrote) continue;
        int64_t any = changed;
        comm_max_i64(r->comm, &any, 1);
        if (any) *wrote |= list[i]->writes;
    }
    return OK;
}

enum err terms_run(const struct term_run *r, field_set *wrote)
{
    return terms_run_list(r, TERMS, NTERM, wrote);
}
