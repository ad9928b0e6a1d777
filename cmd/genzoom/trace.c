/* genzoom/trace: finds the particles within a sphere of a checkpoint, and their initial positions:
 * positions of the cells to which the set assigns their ids (ic_particle_ids, or the order of
 * cells, as simulate numbers them), or positions in an early checkpoint. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "audit/densest.h"
#include "audit/halos.h"
#include "base/log.h"
#include "base/mem.h"
#include "formats/formats.h"
#include "points.h"

struct ids {
    int64_t n, cap, *id;
    bool *found;
};

struct walk {
    const struct source *s;
    const struct zoom_set *set;
    struct trace *t;
    struct ids *ids;
    struct points *p;
    bool densest, halo; /* the centre is not known yet: densest position, or halo */
};

static void ids_add(struct ids *s, int64_t id)
{
    MEM_ROOM(s->id, s->n, s->cap, 1024, "ids");
    s->id[s->n++] = id;
}

MEM_ORDER_OF(by_id, int64_t)

/* Adds the point if its id is searched for and not found yet. */
static void offer(struct ids *s, struct points *p, int64_t id, const double x[3])
{
    int64_t *at = mem_find(&id, s->id, (size_t)s->n, sizeof id, by_id);
    if (!at || s->found[at - s->id]) return;
    s->found[at - s->id] = true;
    points_add(p, x);
}

/* ---- checkpoints ---- */

static enum err take_inside(const struct source_parts *q, void *ctx)
{
    struct walk *w = ctx;
    for (int64_t i = 0; i < q->n; i++) {
        double x[3], r2 = 0;
        if (q->family[i] != FAM_DM) continue;
        source_position(w->s, q, i, x);
        for (int d = 0; d < 3; d++) {
            double far = fabs(x[d] - w->t->center[d]);
            far = fmin(far, 1 - far);
            r2 += far * far;
        }
        if (r2 <= w->t->radius * w->t->radius) ids_add(w->ids, q->id[i]);
    }
    return OK;
}

static enum err take_found(const struct source_parts *q, void *ctx)
{
    struct walk *w = ctx;
    for (int64_t i = 0; i < q->n; i++) {
        double x[3];
        if (q->family[i] != FAM_DM) continue;
        source_position(w->s, q, i, x);
        offer(w->ids, w->p, q->id[i], x);
    }
    return OK;
}

/* Finds the centre of a halo; the radius is twice the radius of 200 times the mean density. */
static enum err find_halo(struct source *s, struct trace *t)
{
    const struct comm alone = {.size = 1};
    struct halos_found f;
    TRY(source_halos(s, &alone, &HALOS_USUAL, &f));
    bool found = t->halo <= f.list.n;
    const struct halo *h = found ? &f.list.at[t->halo - 1] : NULL;
    enum err err = OK;
    if (!found)
        err = err_set(ERR_PARAM, "%s: has %ld halos of at least %ld members, not %d: lower --halo",
                      s->path, (long)f.list.n, (long)HALOS_USUAL.min, t->halo);
    else if (t->radius == 0 && !(h->r[HALO_200M] > 0))
        err = err_set(ERR_PARAM,
                      "%s: halo %d nowhere reaches 200 times the mean density: give --radius",
                      s->path, t->halo);
    else {
        memcpy(t->center, h->x, sizeof t->center);
        if (t->radius == 0) t->radius = fmin(2 * h->r[HALO_200M], 0.5);
    }
    halo_list_free(&f.list);
    return err;
}

/* Compares cosmologies: particles of another one would be traced to wrong positions without an
 * error. */
static void compare_boxes(const struct source *s, const struct cosmo_par *set)
{
    const struct ckpt_head *h = &s->head;
    const struct {
        const char *name;
        double its, theirs;
    } row[] = {{"omega_m", h->omega_m, set->omega_m},
               {"omega_l", h->omega_l, set->omega_l},
               {"H0", h->h0, set->h0},
               {"a box in Mpc/h of", h->boxlen_ini, set->boxlen_ini}};
    for (size_t i = 0; h->cosmo && i < sizeof row / sizeof *row; i++)
        if (!(fabs(row[i].its - row[i].theirs) <= 1e-3 * fabs(row[i].theirs)))
            log_info("genzoom: %s: has %s %g where the initial conditions have %g", s->path,
                     row[i].name, row[i].its, row[i].theirs);
}

static enum err walk_parts(const char *path, source_parts_fn *fn, struct walk *w)
{
    struct source *s;
    TRY(source_open_state(path, 5.0 / 3, 1e-10, &s));
    enum err err = source_in_space(s, "zooms");
    w->s = s;
    compare_boxes(s, &w->set->g.par);
    if (s->head.hydro && s->head.cosmo) w->t->omega_b = s->head.omega_b;
    if (err == OK && !s->head.particles)
        err = err_set(ERR_PARAM,
                      "%s: has no particles to trace: give a checkpoint with dark matter", path);
    if (err == OK && w->halo) err = find_halo(s, w->t);
    if (err == OK && w->densest) err = source_densest(s, w->t->radius, w->t->center);
    w->densest = w->halo = false;
    if (err == OK) err = source_all_parts(s, fn, w);
    source_close(&s);
    return err;
}

/* ---- the set ---- */

static void cell_center(const struct ics_level *ic, int l, const int64_t i[3], double x[3])
{
    for (int d = 0; d < 3; d++) x[d] = ldexp((double)(ic->off[d] + i[d]) + 0.5, -l);
}

static enum err find_in_file(const struct zoom_set *s, int l, struct ids *ids, struct points *p)
{
    const struct ics_level *ic = &s->g.lev[l];
    struct ics_file f;
    enum err err = OK;
    TRY(ics_open(&f, ic->dir, "ic_particle_ids", true));
    int64_t *row = mem_new(sizeof *row * (size_t)ic->head.n[0], "rows");
    double x[3];
    for (int64_t k = 0; k < ic->head.n[2]; k++)
        for (int64_t j = 0; j < ic->head.n[1]; j++) {
            TRY_OUT(ics_ids(&f, k, j, 1, row));
            for (int64_t i = 0; i < ic->head.n[0]; i++) {
                cell_center(ic, l, (int64_t[3]){i, j, k}, x);
                offer(ids, p, row[i], x);
            }
        }
out:
    mem_free(row);
    ics_close(&f);
    return err;
}

/* Finds ids in sets without an id file: ids are 1 + the index of the cell, level after level, each
 * in the order of its file. */
static void find_in_order(const struct zoom_set *s, struct ids *ids, struct points *p)
{
    for (int64_t i = 0; i < ids->n; i++) {
        int64_t at = ids->id[i];
        if (at-- < 1) continue;
        for (int l = s->g.levelmin; l <= s->g.levelmax; l++) {
            const struct ics_level *ic = &s->g.lev[l];
            int64_t nx = ic->head.n[0], ny = ic->head.n[1], cells = nx * ny * ic->head.n[2];
            double x[3];
            if (at < cells) {
                cell_center(ic, l, (int64_t[3]){at % nx, at / nx % ny, at / nx / ny}, x);
                offer(ids, p, ids->id[i], x);
                break;
            }
            at -= cells;
        }
    }
}

static enum err find_in_set(const struct zoom_set *s, struct ids *ids, struct points *p)
{
    if (!s->lev[s->g.levelmin].ids) {
        find_in_order(s, ids, p);
        return OK;
    }
    for (int l = s->g.levelmin; l <= s->g.levelmax; l++) TRY(find_in_file(s, l, ids, p));
    return OK;
}

enum err points_trace(struct points *p, struct trace *t, const struct zoom_set *s)
{
    struct ids ids = {0};
    struct walk w = {
        .set = s, .t = t, .ids = &ids, .p = p, .densest = t->densest, .halo = t->halo > 0};
    enum err err = OK;
    TRY_OUT(walk_parts(t->path, take_inside, &w));
    if (ids.n == 0)
        TRY_OUT(err_set(ERR_PARAM,
                        "%s: there is no dark matter within %g of the centre: change --center or "
                        "--radius, which are in units of the box",
                        t->path, t->radius));
    mem_sort(ids.id, (size_t)ids.n, sizeof *ids.id, by_id);
    for (int64_t i = 1; i < ids.n; i++)
        if (ids.id[i] == ids.id[i - 1])
            TRY_OUT(err_set(
                ERR_FORMAT,
                "%s: two dark matter particles have the id %lld, so that they cannot be traced",
                t->path, (long long)ids.id[i]));
    ids.found = mem_zero(sizeof *ids.found * (size_t)ids.n, "ids");
    TRY_OUT(t->from ? walk_parts(t->from, take_found, &w) : find_in_set(s, &ids, p));
    t->ids = ids.n;
    for (int64_t i = 0; i < ids.n; i++)
        if (!ids.found[i])
            TRY_OUT(
                err_set(ERR_PARAM, "particle %lld of %s is not in %s (%lld of %lld are)%s",
                        (long long)ids.id[i], t->path, t->from ? t->from : "the initial conditions",
                        (long long)p->n, (long long)ids.n,
                        t->from ? "" : "; give an early checkpoint of the same run with --from"));
out:
    mem_free(ids.id);
    mem_free(ids.found);
    return err;
}
