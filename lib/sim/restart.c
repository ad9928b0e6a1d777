/* sim/restart: from a checkpoint, of any number of files, to the state of a run on any number of
 * ranks.
 *
 * The files are divided among the ranks. The tree and the particles are read first: from them
 * follows the cost of each part of the box, and the domains are balanced before any value is read.
 * Each oct is sent to its owner as a key, the levels are built from the keys (lib/adapt), and the
 * tree is checked, since the contents of a file may be anything. Then the values follow in rounds:
 * every rank reads a batch, all exchange, until none has more; so the memory of the exchange is
 * bounded. The run resumes as if it had not stopped: with the same bits if the checkpoint contains
 * them. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "adapt/adapt.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/timer.h"
#include "comm/tuner.h"
#include "dom/ghost.h"
#include "formats/formats.h"
#include "io/dir.h"
#include "oct/turn.h"
#include "sim/sim.h"

static void restore_head(struct sim *s);
static enum err restore_cosmology(struct sim *s);
static enum err take_columns(struct sim *s);
static enum err read_particles(struct sim *s);
static enum err restore_tree(struct sim *s);
static enum err restore_values(struct sim *s);
static void mend_flags(struct sim *s);
static void say_what(const struct sim *s);
static enum err restore_tuner(struct sim *s);
static enum err check_end(struct sim *s);

enum err sim_restart_open(struct sim *s)
{
    const struct params *p = s->par;
    char path[4096], out[4096];
    if (!s->restart.path && p->run.nrestart <= 0) return OK;
    if (!s->restart.path)
        snprintf(path, sizeof path, "%.4000s/output_%05d", s->out.dir, p->run.nrestart);
    const char *from = s->restart.path ? s->restart.path : path;
    TRY(source_open_state(from, p->hydro.gamma, p->hydro.smallr, &s->restart.from));
    snprintf(out, sizeof out, "%.4000s/output", s->out.dir);
    return dir_outside(out, from);
}

static enum err restart_read(struct sim *s)
{
    TRY(sim_check_model(s));
    restore_head(s);
    TRY(restore_cosmology(s));
    TRY(sim_physics(s));
    sim_output_setup(s);
    sim_output_resume(s);
    say_what(s);
    TRY(check_end(s));
    return err_agree(&s->comm, restore_tuner(s));
}

/* Octs and particles of the checkpoint, from its headers. */
static enum err restart_expect(struct sim *s)
{
    struct source *from = s->restart.from;
    enum err err = OK;
    memcpy(s->noct, from->numbtot, sizeof s->noct);
    if (!s->par->run.pic) return OK;
    TRY(take_columns(s));
    if (!from->kind->ranks) return OK;
    struct source_rank *row = mem_zero(sizeof *row * (size_t)from->nwriter, "restart");
    if (s->comm.rank == 0) err = from->kind->ranks(from, row);
    for (int i = 0; i < from->nwriter; i++) {
        s->diag.particles += row[i].particles;
        mem_free(row[i].partner);
    }
    mem_free(row);
    comm_bcast(&s->comm, &s->diag.particles, sizeof s->diag.particles, 0);
    return err_agree(&s->comm, err);
}

static enum err restart_build(struct sim *s)
{
    TRY(err_agree(&s->comm, rest_copy(&s->restart.rest, s->restart.from)));
    TRY(read_particles(s));
    s->restart.from->late = true; /* an error ends the run */
    TRY(restore_tree(s));
    TRY(restore_values(s));
    adapt_fill(&s->mesh, &s->comm);
    mend_flags(s);
    sim_count_octs(s);
    if (s->par->run.pic) TRY(part_distribute(&s->parts, &s->mesh, &s->comm, s->dom));
    struct sink_run sinks = sim_sinks(s);
    TRY(sinks_restore(&sinks, &s->restart.rest.sinks, s->restart.from->path));
    source_close(&s->restart.from);
    return OK;
}

enum err sim_restart(struct sim *s)
{
    TRY(restart_read(s));
    return s->expect ? restart_expect(s) : restart_build(s);
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

/* A refinement must not remove an oct that has children or is to get some. Flags of a checkpoint
 * that ask for it are replaced by those that keep the octs as they are. */
static void mend_flags(struct sim *s)
{
    struct mesh *m = &s->mesh;
    int64_t bad = 0;
    for (int l = m->levelmin + 1; l <= m->levelmax; l++) bad += count_contradictions(m, l);
    comm_add_i64(&s->comm, &bad, 1);
    if (bad == 0) return;
    log_info(" The refinement flags of %ld octs in the checkpoint contradict those of their "
             "parents: the mesh stays as it is until cells are flagged again",
             (long)bad);
    for (int l = 1; l < m->levelmax; l++) {
        struct level *lv = &m->lev[l];
        for (lidx i = 0; i < lv->nown; i++)
            for (int c = 0; c < 8; c++) lv->flag[i][c] = lv->child[i][c] >= 0;
        ghost_fill_flags(&s->comm, m, l);
    }
}

static void say_what(const struct sim *s)
{
    const struct source *f = s->restart.from;
    log_info(" Restarting from %s: %s, %d file%s, coarse step %d, t=%.6E a=%.6E", f->path,
             f->format, f->npiece, f->npiece > 1 ? "s" : "", s->time.nstep_coarse, s->time.t,
             s->time.aexp);
    if (!f->exact)
        log_info(" It does not contain all bits of the state: the run resumes to round-off, not "
                 "bit for bit");
    bool sinks = s->sinks && strcmp(f->left_out, "sink particles") == 0;
    if (*f->left_out && !sinks) log_info(" Carried along unchanged: %s", f->left_out);
}

/* The transports that the run before found to be the fastest. */
static enum err restore_tuner(struct sim *s)
{
    char *text;
    size_t bytes;
    TRY(source_text(s->restart.from, "compilation", &text, &bytes));
    char *lines = mem_new(bytes + 1, "restart");
    if (bytes) memcpy(lines, text, bytes);
    lines[bytes] = 0;
    tuner_resume(&s->comm, lines);
    if (s->comm.rank == 0) sim_history_resume(s, lines);
    mem_free(lines);
    mem_free(text);
    return OK;
}

/* A run that searches for the newest checkpoint may find itself at its end; a user who names one
 * wants to resume. */
static enum err check_end(struct sim *s)
{
    if (!sim_at_end(s)) return OK;
    if (s->par->run.nrestart >= 0)
        FAIL(ERR_PARAM,
             "%s: coarse step %d, t=%g, a=%g is at or beyond the end that the namelist sets: raise "
             "nstepmax, or tout, "
             "tend, aout or aend",
             s->restart.from->path, s->time.nstep_coarse, s->time.t, s->time.aexp);
    log_info(" The checkpoint is at the end of the run: nothing to do");
    s->end.done = true;
    return OK;
}

/* ---- header ---- */

static void restore_head(struct sim *s)
{
    const struct ckpt_head *h = &s->restart.from->head;
    s->time.t = h->t;
    s->time.nstep = h->nstep;
    s->time.nstep_coarse = h->nstep_coarse;
    memcpy(s->time.dtold, h->dtold, sizeof s->time.dtold);
    memcpy(s->time.dtnew, h->dtnew, sizeof s->time.dtnew);
    s->diag.einit = h->einit;
    s->diag.mass_tot_0 = h->mass_tot_0;
    s->matter.rho_tot = h->rho_tot;
    s->time.aexp = h->aexp;
    s->time.hexp = h->hexp;
    s->diag.aexp_old = h->aexp_old;
    s->diag.epot_tot_int = h->epot_tot_int;
    s->diag.epot_tot_old = h->epot_tot_old;
    memcpy(s->grav.safe, h->safe, sizeof s->grav.safe);
}

static enum err restore_cosmology(struct sim *s)
{
    const struct ckpt_head *h = &s->restart.from->head;
    if (!s->par->run.cosmo) return OK;
    s->refine.mass_sph = h->mass_sph;
    s->cosmo_par.omega_m = h->omega_m;
    s->cosmo_par.omega_l = h->omega_l;
    s->cosmo_par.omega_k = h->omega_k;
    s->cosmo_par.omega_b = h->omega_b;
    s->cosmo_par.h0 = h->h0;
    s->cosmo_par.aexp_ini = h->aexp_ini;
    s->cosmo_par.boxlen_ini = h->boxlen_ini;
    if (!(h->aexp > 0) || !isfinite(h->t) || !isfinite(h->hexp))
        FAIL(ERR_FORMAT,
             "%s: the expansion factor, %g, must be above 0 and the time, %g, and expansion rate "
             "finite: the checkpoint is damaged",
             s->restart.from->path, h->aexp, h->t);
    return sim_cosmology(s);
}

/* The pieces of this rank are first..last-1: neighbouring files, whose domains are neighbours too.
 */
static void my_pieces(const struct sim *s, int *first, int *last)
{
    int64_t n = s->restart.from->npiece, size = s->comm.size, rank = s->comm.rank;
    *first = (int)(n * rank / size);
    *last = (int)(n * (rank + 1) / size);
}

/* ---- particles ---- */

/* Clouds of sinks are made anew: theirs is the mass of the sinks. */
static void drop_clouds(struct parts *p, int64_t first)
{
    int64_t kept = first;
    for (int64_t k = first; k < p->n; k++) {
        if (p->family[k] == FAM_CLOUD) continue;
        for (int c = 0; c < p->columns.n && kept != k; c++) {
            size_t size = (size_t)part_type_size(part_column(&p->columns, c)->type);
            char *col = p->col[c];
            if (col) memcpy(col + size * (size_t)kept, col + size * (size_t)k, size);
        }
        p->host[kept++] = p->host[k];
    }
    p->n = kept;
}

static enum err take_parts(const struct source_parts *in, void *ctx)
{
    struct sim *s = ctx;
    struct parts *p = &s->parts;
    int64_t first = part_append(p, in->n);
    for (int c = 0; c < p->columns.n; c++) {
        const struct part_column *col = part_column(&p->columns, c);
        size_t size = (size_t)part_type_size(col->type);
        if (in->col[c] && !part_column_narrow(col->type, in->n, in->col[c],
                                              (char *)p->col[c] + size * (size_t)first))
            FAIL(ERR_LIMIT,
                 "%s: column %s of the particles has a number that does not fit into %ld byte%s",
                 s->restart.from->path, col->name, (long)size, size > 1 ? "s" : "");
    }
    for (int64_t i = 0, k = first; i < in->n; i++, k++) {
        if (in->levelp[i] < 1 || in->levelp[i] > LEVEL_MAX)
            FAIL(ERR_FORMAT, "%s: particle %ld has level %ld, which is impossible: see inspect -cc",
                 s->restart.from->path, (long)in->id[i], (long)in->levelp[i]);
        for (int d = 0; d < 3; d++)
            if (!isfinite(in->x[d][i]) || !isfinite(in->v[d][i]))
                FAIL(ERR_FORMAT,
                     "%s: particle %ld has a position or velocity that is not finite: see inspect "
                     "-cc",
                     s->restart.from->path, (long)in->id[i]);
        if (p->levelp[k] > s->mesh.levelmax) p->levelp[k] = s->mesh.levelmax;
        p->host[k] = -1;
    }
    if (s->sinks) drop_clouds(p, first);
    return OK;
}

/* The run has the columns of its checkpoint. */
static enum err take_columns(struct sim *s)
{
    const struct part_columns *from = &s->restart.from->columns;
    s->parts.columns = *from;
    for (int c = 0; c < from->n; c++)
        if (from->has[c]) part_want(&s->parts, c);
    return sim_star_columns(s);
}

static enum err read_particles(struct sim *s)
{
    int first, last;
    enum err err = OK;
    if (!s->par->run.pic) return OK;
    TRY(take_columns(s));
    my_pieces(s, &first, &last);
    timer_start("io");
    for (int i = first; i < last && err == OK; i++)
        err = source_parts(s->restart.from, i, SOURCE_STATE, take_parts, s);
    TRY(err_agree(&s->comm, err));
    s->diag.particles = s->parts.n;
    comm_add_i64(&s->comm, &s->diag.particles, 1);
    log_info(" %ld particles", (long)s->diag.particles);
    return OK;
}

/* ---- tree ---- */

/* An oct that is sent to its owner. */
struct seed {
    okey key;
    unsigned char split, flag, level, unused[5];
};

struct forest {
    struct sim *s;
    int64_t n[LEVEL_MAX + 2], cap[LEVEL_MAX + 2];
    struct seed *seed[LEVEL_MAX + 2];
    /* expected work of a rank: octs, then particles */
    int64_t nitem, item_cap;
    int *level;
    okey *key;
    double *cost;
};

static enum err take_seeds(const struct source_octs *o, void *ctx)
{
    struct forest *f = ctx;
    int l = o->level;
    int levelmax = f->s->mesh.levelmax;
    if (l > levelmax) return OK; /* levelmax was lowered */
    if (f->n[l] + o->n > f->cap[l]) {
        f->cap[l] = 2 * f->cap[l] + o->n;
        f->seed[l] = mem_grow(f->seed[l], sizeof *f->seed[l] * (size_t)f->cap[l], "restart");
    }
    struct seed *to = f->seed[l] + f->n[l];
    for (int i = 0; i < o->n; i++) {
        unsigned flag = 0;
        for (int c = 0; c < 8; c++) flag |= (unsigned)(o->flag[i][c] != 0) << c;
        to[i] = (struct seed){
            .key = o->key[i], .split = l < levelmax ? o->split[i] : 0, .flag = (unsigned char)flag};
    }
    f->n[l] += o->n;
    return OK;
}

static void add_item(struct forest *f, int level, okey key, double cost)
{
    if (f->nitem && f->level[f->nitem - 1] == level && f->key[f->nitem - 1] == key) {
        f->cost[f->nitem - 1] += cost;
        return;
    }
    if (f->nitem == f->item_cap) {
        f->item_cap = 2 * f->item_cap + 1024;
        f->level = mem_grow(f->level, sizeof *f->level * (size_t)f->item_cap, "restart");
        f->key = mem_grow(f->key, sizeof *f->key * (size_t)f->item_cap, "restart");
        f->cost = mem_grow(f->cost, sizeof *f->cost * (size_t)f->item_cap, "restart");
    }
    f->level[f->nitem] = level;
    f->key[f->nitem] = key;
    f->cost[f->nitem++] = cost;
}

/* Particles are charged to their base oct: finer ones may still be on other ranks. */
static void weigh(struct forest *f)
{
    struct sim *s = f->s;
    int base = s->mesh.levelmin;
    double side = (double)((int64_t)1 << (base - 1));
    struct sim_weights w = sim_weights(s);
    for (int l = 1; l <= s->mesh.levelmax; l++)
        for (int64_t i = 0; i < f->n[l]; i++) add_item(f, l, f->seed[l][i].key, w.oct[l]);
    for (int64_t i = 0; i < s->parts.n; i++) {
        uint64_t q[3];
        for (int d = 0; d < 3; d++)
            q[d] = (uint64_t)fmin(fmax(s->parts.x[d][i] / s->mesh.boxlen * side, 0), side - 1);
        add_item(f, base, okey_make(q[0], q[1], q[2]), w.part[base]);
    }
}

static void make_domains(struct forest *f)
{
    struct sim *s = f->s;
    enum domain_kind kind = strcmp(s->par->run.ordering, "hilbert") == 0 ? DOMAIN_HILBERT
                                                                         : DOMAIN_KSECTION;
    s->dom = domain_new(kind, s->comm.size, s->mesh.levelmax, s->mesh.bounded);
    if (s->comm.size == 1) return;
    weigh(f);
    struct domain *d = domain_balance(
        s->dom, kind, &s->comm,
        &(struct domain_load){.n = f->nitem, .level = f->level, .key = f->key, .cost = f->cost},
        NULL);
    domain_free(s->dom);
    s->dom = d;
    FREE(f->level);
    FREE(f->key);
    FREE(f->cost);
}

static int seed_order(const void *a, const void *b)
{
    const struct seed *x = a, *y = b;
    return (x->key > y->key) - (x->key < y->key);
}

/* The octs of level l, wherever they were read, to their owners. */
static void exchange_seeds(struct forest *f, int l)
{
    struct sim *s = f->s;
    int64_t n = f->n[l], *order = mem_new(sizeof *order * (size_t)n + 1, "restart");
    struct seed *out = mem_new(sizeof *out * (size_t)n + 1, "restart");
    int *rank = mem_new(sizeof *rank * (size_t)n + 1, "restart");
    for (int64_t i = 0; i < n; i++) rank[i] = domain_rank(s->dom, l, f->seed[l][i].key);
    struct comm_counts to = comm_counts_of(n, rank, order);
    for (int64_t i = 0; i < n; i++) out[i] = f->seed[l][order[i]];
    FREE(f->seed[l]);
    f->seed[l] = comm_exchange(&s->comm, out, &to, sizeof *out, &f->n[l], NULL);
    comm_counts_free(&to);
    FREE(rank);
    FREE(out);
    FREE(order);
}

/* The same, in Morton order, and none twice. */
static enum err send_seeds(struct forest *f, int l)
{
    struct sim *s = f->s;
    if (s->comm.size > 1) exchange_seeds(f, l);
    bool sorted = true;
    for (int64_t i = 1; i < f->n[l]; i++) sorted &= f->seed[l][i - 1].key < f->seed[l][i].key;
    if (!sorted) qsort(f->seed[l], (size_t)f->n[l], sizeof *f->seed[l], seed_order);
    if (f->n[l] > INT32_MAX)
        FAIL(ERR_LIMIT, "a rank would hold %ld octs of level %d: use more ranks", (long)f->n[l], l);
    for (int64_t i = 1; i < f->n[l]; i++)
        if (f->seed[l][i - 1].key == f->seed[l][i].key)
            FAIL(ERR_FORMAT, "%s: an oct of level %d occurs twice: the checkpoint is damaged",
                 s->restart.from->path, l);
    return OK;
}

/* Checks that every oct on this rank has its parent here (before links are made). */
static enum err check_parents(const struct sim *s, int l)
{
    const struct level *lv = &s->mesh.lev[l], *up = &s->mesh.lev[l - 1];
    int64_t octs = lv->nown;
    comm_add_i64(&s->comm, &octs, 1);
    if (l <= s->mesh.levelmin && octs != (int64_t)1 << 3 * (l - 1))
        FAIL(ERR_FORMAT,
             "%s: level %d has %ld octs and is not complete, as levels up to levelmin must be: the "
             "checkpoint is damaged",
             s->restart.from->path, l, (long)octs);
    for (lidx i = 0; l > 1 && i < lv->noct; i++) {
        bool same = i > 0 && lv->key[i] >> 3 == lv->key[i - 1] >> 3; /* siblings */
        if (!same && mesh_find(up, lv->key[i] >> 3) < 0)
            FAIL(ERR_FORMAT, "%s: an oct of level %d has no parent: the checkpoint is damaged",
                 s->restart.from->path, l);
    }
    return OK;
}

/* Do the 27 cells around the parent of an oct exist? */
static bool is_graded(const struct mesh *m, int l, lidx i)
{
    lidx cube[27];
    int slot = oct_slot(&m->lev[l], i);
    mesh_cube(m, l - 1, m->lev[l].parent[i], cube);
    bool good = true;
    for (int k = 0; k < 27; k++) {
        int s[3] = {k % 3 - 1, k / 3 % 3 - 1, k / 9 - 1};
        bool touches = true;
        for (int d = 0; d < 3; d++) touches &= s[d] == 0 || (s[d] > 0) == (slot >> d & 1);
        good &= !touches || cube[k] != NBR_NONE;
    }
    return good;
}

static enum err check_links(const struct forest *f, int l)
{
    const struct mesh *m = &f->s->mesh;
    const struct level *lv = &m->lev[l];
    for (lidx i = 0; i < lv->nown; i++) {
        unsigned split = 0;
        for (int c = 0; c < 8; c++) split |= (unsigned)(lv->child[i][c] >= 0) << c;
        if (split != f->seed[l][i].split)
            FAIL(ERR_FORMAT,
                 "%s: the refined cells of level %d and the octs of level %d do not match: the "
                 "checkpoint is damaged",
                 f->s->restart.from->path, l, l + 1);
        if (l > m->levelmin && !is_graded(m, l, i))
            FAIL(ERR_FORMAT,
                 "%s: an oct of level %d touches one that is more than a level coarser: the "
                 "checkpoint is damaged",
                 f->s->restart.from->path, l);
    }
    return OK;
}

static void set_flags(const struct forest *f, int l)
{
    const struct mesh *m = &f->s->mesh;
    const struct level *lv = &m->lev[l];
    for (lidx i = 0; i < lv->nown; i++)
        for (int c = 0; c < 8; c++)
            lv->flag[i][c] = l < m->levelmin || (l < m->levelmax && (f->seed[l][i].flag >> c & 1));
}

static enum err grow_tree(struct forest *f)
{
    struct sim *s = f->s;
    struct mesh *m = &s->mesh;
    int first, last;
    enum err err = OK;
    my_pieces(s, &first, &last);
    for (int i = first; i < last && err == OK; i++)
        err = source_octs(s->restart.from, i, SOURCE_TREE, take_seeds, f);
    TRY(err_agree(&s->comm, err));
    make_domains(f);
    for (int l = 1; l <= m->levelmax; l++) {
        TRY(err_agree(&s->comm, send_seeds(f, l)));
        okey *key = mem_new(sizeof *key * (size_t)f->n[l] + 1, "restart");
        for (int64_t i = 0; i < f->n[l]; i++) key[i] = f->seed[l][i].key;
        adapt_install(m, &s->comm, s->dom, l, (lidx)f->n[l], key);
        FREE(key);
        TRY(err_agree(&s->comm, check_parents(s, l)));
    }
    adapt_link(m);
    for (int l = 1; l <= m->levelmax && err == OK; l++) {
        err = check_links(f, l);
        set_flags(f, l);
    }
    return err_agree(&s->comm, err);
}

static enum err restore_tree(struct sim *s)
{
    timer_start("io");
    struct forest f = {.s = s};
    enum err err = grow_tree(&f);
    for (int l = 0; l < LEVEL_MAX + 2; l++) FREE(f.seed[l]);
    FREE(f.level);
    FREE(f.key);
    FREE(f.cost);
    return err;
}

/* ---- values ---- */

enum { SOME = 64 }; /* octs that are turned at a time */

struct stream {
    struct sim *s;
    int nvalue, field[NVAR_MAX + 4]; /* value of the source → field, -1: not needed */
    size_t row;                      /* bytes: key, level, values */
    int64_t placed;
    struct comm_counts to;
    char *out;
    lidx last[LEVEL_MAX + 2];
    bool ended; /* all ranks know of the error */
};

/* Where variable v of the checkpoint is stored: in the scalar of its name if both know it,
 * otherwise in the variable of the same number, unless that is a scalar that the checkpoint has
 * elsewhere. */
static int variable_of(const struct sim *s, int v)
{
    const struct gas_vars *from = s->restart.from->head.gas, *to = &s->hydro.vars;
    if (!from || v < GAS_SCALARS || v >= from->n) return v;
    int named = gas_vars_find(to, from->name[v]);
    if (named >= 0) return named;
    return v < to->n && gas_vars_find(from, to->name[v]) >= 0 ? -1 : v;
}

static void stream_init(struct stream *t, struct sim *s)
{
    static const int grav[4] = {FLD_PHI, FLD_FX, FLD_FY, FLD_FZ};
    const struct source *f = s->restart.from;
    int nvar = f->head.hydro ? f->head.nvar : 0;
    *t = (struct stream){.s = s, .nvalue = f->nvalue};
    for (int v = 0; v < nvar; v++) {
        int to = variable_of(s, v);
        t->field[v] = to >= 0 && to < s->mesh.nvar ? FLD_U + to : -1;
    }
    for (int k = 0; nvar + k < f->nvalue; k++) t->field[nvar + k] = s->mesh.gravity ? grav[k] : -1;
    t->row = 16 + sizeof(okey) + sizeof(double[8]) * (size_t)t->nvalue;
}

/* The local index of an oct of this rank: usually that after the last one of its level. */
static enum err own_place(struct stream *t, int l, okey key, lidx *place)
{
    const struct level *lv = &t->s->mesh.lev[l];
    lidx i = t->last[l] + 1;
    if (i >= lv->nown || lv->key[i] != key) i = mesh_find(lv, key);
    if (i < 0 || i >= lv->nown)
        FAIL(ERR_FORMAT, "%s: changed while it was read: resume again when it is complete",
             t->s->restart.from->path);
    t->placed++;
    *place = t->last[l] = i;
    return OK;
}

static enum err place_row(struct stream *t, const char *row)
{
    okey key;
    int32_t l;
    lidx i = -1;
    memcpy(&key, row, sizeof key);
    memcpy(&l, row + sizeof key, sizeof l);
    TRY(own_place(t, l, key, &i));
    for (int v = 0; v < t->nvalue; v++)
        if (t->field[v] >= 0)
            memcpy(t->s->mesh.lev[l].fld[t->field[v]][i],
                   row + 16 + sizeof key + sizeof(double[8]) * (size_t)v, sizeof(double[8]));
    return OK;
}

/* All ranks send what they have packed; *any: some rank has more to come. (collective) */
static enum err exchange_rows(struct stream *t, enum err mine, bool more, bool *any)
{
    const struct comm *c = &t->s->comm;
    t->ended = true;
    TRY(err_agree(c, mine));
    int64_t left = more, n;
    comm_max_i64(c, &left, 1);
    *any = left;
    char *in = comm_exchange(c, t->out, &t->to, t->row, &n, NULL);
    enum err err = OK;
    for (int64_t i = 0; i < n && err == OK; i++) err = place_row(t, in + t->row * (size_t)i);
    FREE(in);
    FREE(t->out);
    comm_counts_free(&t->to);
    TRY(err_agree(c, err));
    t->ended = false;
    return OK;
}

/* Value v of octs at..at+n-1 of a batch, n <= SOME, by oct. */
static void some_octs(const struct source_octs *o, int v, int at, int n, double out[SOME][8])
{
    turn_columns(o->val + 8 * v, at, n, out, 1);
}

/* Value v of octs at.. of a batch, SOME at most, to their places. */
static void place_some(const struct stream *t, const struct source_octs *o, const int *rank,
                       const lidx *to, int v, int at)
{
    double some[SOME][8];
    int n = o->n - at < SOME ? o->n - at : SOME;
    double(*fld)[8] = t->s->mesh.lev[o->level].fld[t->field[v]];
    some_octs(o, v, at, n, some);
    for (int i = 0; i < n; i++)
        if (rank[at + i] < 0) memcpy(fld[to[at + i]], some[i], sizeof some[i]);
}

/* The octs of a batch that this rank owns need not be packed. */
static enum err place_own(struct stream *t, const struct source_octs *o, const int *rank)
{
    lidx *to = mem_new(sizeof *to * (size_t)o->n + 1, "restart");
    enum err err = OK;
    for (int i = 0; i < o->n && err == OK; i++)
        if (rank[i] < 0) err = own_place(t, o->level, o->key[i], &to[i]);
    int n = err == OK ? o->n : 0;
#pragma omp parallel for collapse(2) schedule(static)
    for (int v = 0; v < t->nvalue; v++)
        for (int at = 0; at < n; at += SOME)
            if (t->field[v] >= 0) place_some(t, o, rank, to, v, at);
    mem_free(to);
    return err;
}

/* Rows for the others. */
static void pack_rows(struct stream *t, const struct source_octs *o, const int *rank)
{
    int64_t *order = mem_new(sizeof *order * (size_t)o->n + 1, "restart"), total;
    int *place = mem_new(sizeof *place * (size_t)o->n + 1, "restart");
    t->to = comm_counts_of(o->n, rank, order);
    total = comm_counts_total(&t->to);
    t->out = mem_new(t->row * (size_t)total + 1, "restart");
    for (int64_t k = 0; k < total; k++) place[order[k]] = (int)k;
    for (int v = 0; v < t->nvalue && total; v++)
        for (int at = 0; at < o->n; at += SOME) {
            double some[SOME][8];
            some_octs(o, v, at, o->n - at < SOME ? o->n - at : SOME, some);
            for (int i = at; i < o->n && i < at + SOME; i++) {
                if (rank[i] < 0) continue;
                char *row = t->out + t->row * (size_t)place[i];
                if (v == 0) memset(row, 0, sizeof o->key[i] + 16);
                memcpy(row, &o->key[i], sizeof o->key[i]);
                memcpy(row + sizeof o->key[i], &o->level, sizeof o->level);
                memcpy(row + 16 + sizeof o->key[i] + sizeof some[0] * (size_t)v, some[i - at],
                       sizeof some[0]);
            }
        }
    FREE(place);
    FREE(order);
}

static enum err send_values(const struct source_octs *o, void *ctx)
{
    struct stream *t = ctx;
    const struct sim *s = t->s;
    bool any;
    if (o->level > s->mesh.levelmax) return OK;
    int *rank = mem_new(sizeof *rank * (size_t)o->n + 1, "restart");
    for (int i = 0; i < o->n; i++) {
        rank[i] = s->comm.size > 1 ? domain_rank(s->dom, o->level, o->key[i]) : 0;
        if (rank[i] == s->comm.rank) rank[i] = -1;
    }
    enum err err = place_own(t, o, rank);
    if (s->comm.size > 1) pack_rows(t, o, rank);
    FREE(rank);
    return s->comm.size > 1 ? exchange_rows(t, err, true, &any) : err;
}

static enum err read_values(struct stream *t)
{
    struct sim *s = t->s;
    int first, last;
    enum err err = OK;
    my_pieces(s, &first, &last);
    for (int i = first; i < last && err == OK; i++)
        err = source_octs(s->restart.from, i, SOURCE_STATE, send_values, t);
    if (t->ended) return err;
    for (bool any = true; any;) TRY(exchange_rows(t, err, false, &any));
    int64_t octs = 0;
    for (int l = 1; l <= s->mesh.levelmax; l++) octs += s->mesh.lev[l].nown;
    if (t->placed != octs)
        err = err_set(ERR_FORMAT, "%s: changed while it was read: resume again when it is complete",
                      s->restart.from->path);
    return err_agree(&s->comm, err);
}

static enum err restore_values(struct sim *s)
{
    struct stream t;
    if (s->restart.from->nvalue == 0) return OK;
    s->restart.from->tree_known = true;
    stream_init(&t, s);
    enum err err = read_values(&t);
    FREE(t.out);
    comm_counts_free(&t.to);
    return err;
}
