/* stencil/store: checkpoints of the solver (grid/grid.h): fields, time, parameters of the equations
 * for programs that derive values, state of the force, and the times of the next outputs. The
 * change of the fields is not stored: the first substep of a step overwrites it. */
#include <math.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "grid/equations.h"
#include "stencil/force.h"
#include "stencil/run.h"

/* ---- writing ---- */

static void head_fields(const struct stencil *t, struct grid_head *h, double *field[FD_FIELDS])
{
    for (int f = 0; f < FD_FIELDS; f++) {
        if (!t->a.now[f]) continue;
        snprintf(h->field[h->nfield], GRID_NAME, "%s", fd_name[f]);
        field[h->nfield++] = t->a.now[f];
    }
}

enum err stencil_write(struct sim *s, const struct ckpt_head *h)
{
    struct stencil *t = s->run.own;
    double *field[FD_FIELDS];
    struct grid_head g = {.t = s->time.t,
                          .dt = t->dt,
                          .it = s->time.nstep_coarse,
                          .order = t->eq.order,
                          .namelist = h->namelist,
                          .provenance = h->provenance,
                          .backup = h->backup,
                          .overwrite = h->overwrite};
    memcpy(g.n, t->n, sizeof g.n);
    memcpy(g.length, t->length, sizeof g.length);
    head_fields(t, &g, field);
    grid_set_equations(&g, &t->eq);
    onefile_set_next(&g.keys, h);
    if (t->force) g.nstate = force_state(t->force, &g.state);
    return grid_write(s->run.out.dir, s->run.out.ifout, &g, &t->brick, field, &s->run.late.out);
}

enum err stencil_verify(const char *path, int number, const struct comm *c)
{
    struct grid *g = NULL;
    uint64_t digest[2];
    TRY(err_agree(c, grid_open(path, &g)));
    enum err err = grid_digest(g, c, digest); /* reads everything */
    grid_close(&g);
    return err;
}

/* ---- reading ---- */

void stencil_restart_close(struct stencil *t)
{
    grid_close(&t->from);
}

static enum err check_mesh(const struct stencil *t)
{
    const struct grid_head *h = &t->from->head;
    for (int d = 0; d < 3; d++) {
        if (h->n[d] != t->n[d])
            FAIL(ERR_PARAM,
                 "%s: has %ld x %ld x %ld cells, but this run has nx=%ld, ny=%ld and nz=%ld in "
                 "&STENCIL_PARAMS",
                 t->from->path, (long)h->n[0], (long)h->n[1], (long)h->n[2], (long)t->n[0],
                 (long)t->n[1], (long)t->n[2]);
        if (h->length[d] != t->length[d])
            FAIL(ERR_PARAM,
                 "%s: its box has the side l%c=%.15g, but this run has %.15g in &STENCIL_PARAMS",
                 t->from->path, "xyz"[d], h -> length[d], t -> length[d]);
    }
    for (int f = 0; f < FD_FIELDS; f++)
        if (fd_has(&t->eq, f) && grid_field(h, fd_name[f]) < 0)
            FAIL(ERR_PARAM,
                 "%s: has no field %s, which the equations of this run have: set hydro, entropy "
                 "and magnetic in &STENCIL_PARAMS as they were",
                 t->from->path, fd_name[f]);
    return OK;
}

/* Compares the parameters of the checkpoint with those of this run. Rank 0. */
static enum err check_model(const struct sim *s, const struct stencil *t)
{
    char *text = NULL;
    size_t bytes = 0;
    TRY(check_mesh(t));
    TRY(grid_text(t->from, false, &text, &bytes));
    enum err err = sim_compare_namelist(s, text, bytes, t->from->path);
    mem_free(text);
    return err;
}

enum err stencil_restart_open(struct sim *s, struct stencil *t, const char *path)
{
    if (!grid_is(path))
        FAIL(ERR_PARAM,
             "%s: is no checkpoint of solver='stencil' (output_NNNNN with stencil_NNNNN.h5): to "
             "begin with the gas of another run, set init_file in &STENCIL_PARAMS",
             path);
    TRY(err_agree(t->comm, grid_open(path, &t->from)));
    TRY(err_agree(t->comm, sim_restart_from(s, t->from->path, t->from->number)));
    return err_agree(t->comm, t->comm->rank == 0 ? check_model(s, t) : OK);
}

/* This rank's brick, a field at a time. */
static enum err read_fields(struct stencil *t)
{
    const struct brick *b = &t->brick;
    const int64_t n[3] = {b->own[0], b->own[1], b->own[2]};
    for (int f = 0; f < FD_FIELDS && b->own[0]; f++)
        if (t->a.now[f])
            TRY(grid_read(t->from, grid_field(&t->from->head, fd_name[f]), b->first, n,
                          t->a.now[f] + b->start, b->stride));
    return OK;
}

static enum err read_force(struct stencil *t)
{
    double *state = NULL;
    const int n = t->force ? force_state(t->force, &state) : 0;
    if (n == 0) return OK;
    if (t->from->head.nstate != n)
        FAIL(ERR_FORMAT, "%s: has %ld numbers of the state of the force, but this run needs %d",
             t->from->path, (long)t->from->head.nstate, n);
    memcpy(state, t->from->head.state, sizeof *state * (size_t)n);
    return OK;
}

static enum err resume_history(struct sim *s, struct stencil *t, const struct sim_origin *from)
{
    char *text = NULL;
    size_t bytes = 0;
    TRY(grid_text(t->from, true, &text, &bytes));
    sim_history_resume(s, from, text ? text : "");
    mem_free(text);
    return OK;
}

/* The times of outputs, as the header of an octree's checkpoint has them. */
static enum err resume_outputs(struct sim *s, struct stencil *t)
{
    const struct grid_head *g = &t->from->head;
    struct ckpt_head h = {
        .t = g->t, .nstep = (int)g->it, .nstep_coarse = (int)g->it, .noutput = -1};
    onefile_get_next(&g->keys, &h);
    const struct sim_origin from = {t->from->path, "stencil", t->from->number, &h, true};
    sim_output_setup(s);
    sim_output_resume(s, &from);
    TRY(sim_restart_end(s, t->from->path));
    return err_agree(t->comm, t->comm->rank == 0 ? resume_history(s, t, &from) : OK);
}

enum err stencil_restart(struct sim *s, struct stencil *t)
{
    const struct grid_head *g = &t->from->head;
    TRY(err_agree(t->comm, read_fields(t)));
    TRY(err_agree(t->comm, read_force(t)));
    s->time.t = g->t;
    s->time.nstep = s->time.nstep_coarse = (int)g->it;
    t->dt = g->dt;
    log_info(" Restarting from %s: step %ld, t=%.6E", t->from->path, (long)g->it, g->t);
    TRY(resume_outputs(s, t));
    stencil_restart_close(t);
    return OK;
}
