/* resume/resume: see resume.h. The order of reading, which rank reads which batch, and repair of
 * refinement flags that cannot be followed. */
#include "resume/resume.h"

#include "adapt/adapt.h"
#include "base/log.h"
#include "dom/ghost.h"

/* Batches of a piece that several ranks share in turn. All these ranks see all batches of the
 * piece, so that their counts agree. */
struct turns {
    struct ckpt_pick pick;
    const struct source *from;
    int64_t batch;
};

static void share_pieces(const struct resume *r, struct turns *t);
static void mend_flags(const struct resume *r);

static enum err read_all(struct resume *r)
{
    r->from->late = true; /* an error ends the run, so files may be checked late */
    TRY(resume_parts(r));
    TRY(resume_tree(r));
    return resume_values(r);
}

enum err resume_read(struct resume *r)
{
    struct turns turns;
    share_pieces(r, &turns);
    enum err err = read_all(r);
    r->from->pick = NULL;
    r->from->share = r->from->sharers = 0;
    if (err != OK) return err;
    adapt_fill(r->mesh, r->comm);
    mend_flags(r);
    return OK;
}

static bool my_turn(struct turns *t)
{
    return t->batch++ % t->from->sharers == t->from->share;
}

static bool my_octs(void *turns, int level, int n, const okey *key)
{
    return my_turn(turns);
}

static bool my_parts(void *turns, int64_t n, const double *const x[3])
{
    return my_turn(turns);
}

/* With fewer pieces than ranks, several consecutive ranks share a piece. */
static void share_pieces(const struct resume *r, struct turns *t)
{
    int64_t n = r->from->npiece, size = r->comm->size, piece = n * r->comm->rank / size;
    if (n >= size) return;
    int64_t first = (piece * size + n - 1) / n, end = ((piece + 1) * size + n - 1) / n;
    *t = (struct turns){.pick = {my_octs, my_parts, t}, .from = r->from};
    r->from->pick = &t->pick;
    r->from->share = (int)(r->comm->rank - first);
    r->from->sharers = (int)(end - first);
}

/* Own octs of level l that are to be removed although their cells are flagged or split. */
static int64_t count_contradictions(const struct mesh *m, int l)
{
    const struct level *lv = &m->lev[l], *up = &m->lev[l - 1];
    int64_t n = 0;
    for (lidx i = 0; i < lv->nown; i++) {
        bool used = false;
        for (int c = 0; c < 8; c++) used |= lv->flag[i][c] || lv->child[i][c] >= 0;
        n += used && !up->flag[lv->parent[i]][oct_slot(lv, i)];
    }
    return n;
}

/* A refinement must not remove an oct that has children or will get some. Checkpoint flags that ask
 * for this are replaced by flags that keep the octs as they are. */
static void mend_flags(const struct resume *r)
{
    struct mesh *m = r->mesh;
    int64_t bad = 0;
    for (int l = m->levelmin + 1; l <= m->levelmax; l++) bad += count_contradictions(m, l);
    comm_add_i64(r->comm, &bad, 1);
    if (bad == 0) return;
    log_info(" The refinement flags of %ld octs in the checkpoint contradict those of their "
             "parents: the mesh stays as it is until cells are flagged again",
             (long)bad);
    for (int l = 1; l < m->levelmax; l++) {
        struct level *lv = &m->lev[l];
        for (lidx i = 0; i < lv->nown; i++)
            for (int c = 0; c < m->cells; c++) lv->flag[i][c] = lv->child[i][c] >= 0;
        ghost_fill_flags(r->comm, m, l);
    }
}
