/* heat: a solver with an array of its own, the heat equation on a uniform periodic grid:
 * ∂e/∂t = κ ∇²e, the seven-point operator, explicit in time. Gas of density 1 is at rest; e is its
 * energy per volume. Each rank has a slab of planes in x, two to an oct, and one on either side.
 * tests/property/adding.py makes a module of it, tests/unit/solver_test.c runs it. */
#include <string.h>

#include "base/mem.h"
#include "sim/solver.h"

static const double KAPPA = 0.1;

struct heat {
    const struct comm *comm;
    const struct ckpt_head *head; /* while the source is open */
    int level, n;                 /* n³ cells */
    size_t plane;                 /* n² */
    int first, last;              /* planes of this rank: first..last-1 */
    double *e, *next;             /* [2 + last - first][n][n]: plane first-1 comes first */
};

static double *at(const struct heat *h, int64_t x, int64_t y, int64_t z)
{
    return h->e + ((x - h->first + 1) * h->n + y) * h->n + z;
}

static int first_of(const struct heat *h, int rank)
{
    return 2 * (int)((int64_t)(h->n / 2) * rank / h->comm->size);
}

static int owner(const struct heat *h, int x)
{
    int rank = 0;
    x = (x + h->n) % h->n;
    while (x >= first_of(h, rank + 1)) rank++;
    return rank;
}

/* ---- the equation ---- */

static void fill_ghosts(struct heat *h)
{
    const size_t row = 1 + h->plane, bytes = sizeof(double) * h->plane;
    const int planes = h->last - h->first, rank[2] = {owner(h, h->first - 1), owner(h, h->last)};
    double *out = mem_new(2 * sizeof *out * row, "heat");
    int64_t n;
    out[0] = 1, out[row] = 0; /* it lies above the planes of the receiver, or below them */
    memcpy(out + 1, h->e + h->plane, bytes);
    memcpy(out + row + 1, h->e + (size_t)planes * h->plane, bytes);
    double *in = comm_exchange_by(h->comm, out, planes ? 2 : 0, rank, sizeof *out * row, &n, NULL);
    for (const double *p = in; p < in + (size_t)n * row; p += row)
        memcpy(h->e + (*p > 0 ? (size_t)(planes + 1) * h->plane : 0), p + 1, bytes);
    FREE(in);
    FREE(out);
}

static double dt(const struct sim *s)
{
    double dx = mesh_dx(&s->mesh, s->mesh.levelmin);
    return dx * dx / (8 * KAPPA);
}

static enum err step(struct sim *s, double dt)
{
    struct heat *h = s->run.own;
    const int n = h->n;
    const double dx = mesh_dx(&s->mesh, h->level), share = KAPPA * dt / (dx * dx);
    fill_ghosts(h);
    for (int x = 1; x <= h->last - h->first; x++)
        for (int y = 0; y < n; y++)
            for (int z = 0; z < n; z++) {
                const double *a = h->e + (size_t)x * h->plane, *c = a + y * n + z;
                double sum = (c[h->plane] - *c) + (*(c - h->plane) - *c);
                sum += (a[(y + 1) % n * n + z] - *c) + (a[(y + n - 1) % n * n + z] - *c);
                sum += (a[y * n + (z + 1) % n] - *c) + (a[y * n + (z + n - 1) % n] - *c);
                h->next[c - h->e] = *c + share * sum;
            }
    memcpy(h->e, h->next, (size_t)(1 + h->last - h->first) * h->plane * sizeof *h->e);
    return OK;
}

static void totals(struct sim *s)
{
    const struct heat *h = s->run.own;
    const double dx = mesh_dx(&s->mesh, h->level);
    for (size_t i = h->plane; i < (size_t)(1 + h->last - h->first) * h->plane; i++)
        sum_add(&s->diag.sum.ekin, dx * dx * dx * h->e[i]);
}

/* Octs go to the ranks that have their slabs. */
static void take(struct heat *h, const struct level *lv)
{
    struct packet {
        okey key;
        double e[8];
    } *out = mem_new(sizeof *out * (size_t)lv->nown + 1, "heat"), *in;
    int *rank = mem_new(sizeof *rank * (size_t)lv->nown + 1, "heat");
    int64_t q[3], n;
    for (lidx i = 0; i < lv->nown; i++) {
        okey_coords(lv->key[i], q);
        rank[i] = owner(h, 2 * (int)q[0]);
        out[i].key = lv->key[i];
        memcpy(out[i].e, level_gas(lv, GAS_ENERGY)[i], sizeof out[i].e);
    }
    in = comm_exchange_by(h->comm, out, lv->nown, rank, sizeof *out, &n, NULL);
    for (int64_t i = 0; i < n; i++) {
        okey_coords(in[i].key, q);
        for (int c = 0; c < 8; c++)
            *at(h, 2 * q[0] + (c & 1), 2 * q[1] + (c >> 1 & 1), 2 * q[2] + (c >> 2)) = in[i].e[c];
    }
    FREE(in);
    FREE(rank);
    FREE(out);
}

static enum err setup(struct sim *s)
{
    const struct mesh *m = &s->mesh;
    if (!m->hydro || m->gravity || s->par->run.pic || m->levelmin < m->levelmax ||
        mesh_has_boundaries(m))
        FAIL(ERR_PARAM, "run_params/solver='heat' needs a periodic uniform grid of gas alone: set "
                        "hydro=.true. and levelmax=levelmin, without poisson, pic and nboundary");
    struct heat *h = s->run.own = mem_zero(sizeof *h, "heat");
    *h = (struct heat){.comm = &s->comm, .level = m->levelmin, .n = 1 << m->levelmin};
    h->plane = (size_t)h->n * (size_t)h->n;
    h->first = first_of(h, s->comm.rank), h->last = first_of(h, s->comm.rank + 1);
    size_t bytes = sizeof *h->e * (size_t)(2 + h->last - h->first) * h->plane;
    h->e = mem_zero(bytes, "heat"), h->next = mem_zero(bytes, "heat");
    take(h, &m->lev[h->level]);
    return OK;
}

static void fini(struct sim *s)
{
    struct heat *h = s->run.own;
    if (h) mem_free(h->e), mem_free(h->next);
    FREE(s->run.own);
}

/* ---- to checkpoints ---- */

static enum err open_grid(struct source *s)
{
    const struct heat *h = s->impl;
    for (int l = 1; l <= h->level; l++) s->numbtot[l] = (int64_t)1 << 3 * (l - 1);
    return source_running(s, h->head, h->comm->size);
}

/* Oct x of level l alone: larger batches are faster. Split cells have the energy of one within. */
static enum err oct(const struct heat *h, int l, const int64_t x[3], source_octs_fn *fn, void *ctx)
{
    static const double zero = 0, one = 1;
    static const unsigned char flag[1][8];
    const int up = h->level - l;
    const okey key = okey_make((uint64_t)x[0], (uint64_t)x[1], (uint64_t)x[2]);
    const double *val[8 * NVAR_MAX];
    for (int v = 0; v < 8 * NVAR_MAX; v++) val[v] = v / 8 == GAS_DENSITY ? &one : &zero;
    for (int k = 0; k < 8; k++) {
        const int c = up ? 0 : k;
        val[8 * GAS_ENERGY + k] = at(h, (2 * x[0] << up) + (c & 1), (2 * x[1] << up) + (c >> 1 & 1),
                                     (2 * x[2] << up) + (c >> 2));
    }
    const unsigned char split = up ? 255 : 0;
    const struct source_octs o = {
        .level = l, .n = 1, .key = &key, .split = &split, .flag = flag, .val = val};
    return fn(&o, ctx);
}

/* An oct is of the rank that has its first plane of cells. */
static enum err octs(struct source *s, int piece, enum source_mode mode, source_octs_fn *fn,
                     void *ctx)
{
    const struct heat *h = s->impl;
    for (int l = 1; l <= h->level; l++) {
        const int64_t n = (int64_t)1 << (l - 1);
        for (int64_t i = 0; i < n * n * n; i++) {
            const int64_t x[3] = {i / (n * n), i / n % n, i % n}, from = x[0] << (h->level - l + 1);
            if (from >= h->first && from < h->last) TRY(oct(h, l, x, fn, ctx));
        }
    }
    return OK;
}

static const struct source_kind GRID = {
    .name = "grid of heat", .open = open_grid, .octs = octs, .state = source_running_state};

static enum err source(struct sim *s, const struct ckpt_head *head, struct source **out)
{
    struct heat *h = s->run.own;
    h->head = head;
    return err_agree(h->comm, source_open_with(&GRID, "heat", h, out));
}

const struct solver heat_solver = {.name = "heat",
                                   .setup = setup,
                                   .dt = dt,
                                   .totals = totals,
                                   .step = step,
                                   .source = source,
                                   .fini = fini};
