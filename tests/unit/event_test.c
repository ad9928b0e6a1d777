/* event_test: events reach all cells that they overlap, on any number of ranks, and are applied in
 * one order. The reference is a search through all events, images and cells. Catches: an owner
 * of a cell that is left out, an image not shifted or sent across a boundary of the box, an order
 * that follows the ranks, a payload of another event, events sent to all ranks. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "adapt/adapt.h"
#include "base/mem.h"
#include "base/rng.h"
#include "check.h"
#include "dom/event.h"
#include "dom/ghost.h"

enum { LMIN = 3, LMAX = 5, EVENTS = 90 };

static struct comm comm;

struct load { /* payload of an odd size */
    double strength;
    char tag[5];
} __attribute__((packed));

struct world {
    struct mesh m;
    struct domain *d;
    struct event all[EVENTS];
    struct load load[EVENTS];
};

/* Refines levels 4 and 5 around one point. */
static void refine(struct world *w)
{
    const double centre[3] = {0.3, 0.9, 0.6}, radius[LMAX] = {[3] = 0.35, [4] = 0.12};
    for (int l = LMIN; l < LMAX; l++) {
        struct level *lv = &w->m.lev[l];
        double dx = mesh_dx(&w->m, l) / w->m.boxlen;
        for (lidx i = 0; i < lv->nown; i++) {
            int64_t q[3];
            okey_coords(lv->key[i], q);
            for (int c = 0; c < 8; c++) {
                double r2 = 0;
                for (int a = 0; a < 3; a++) {
                    double x = ((double)(2 * q[a] + (c >> a & 1)) + 0.5) * dx - centre[a];
                    r2 += x * x;
                }
                lv->flag[i][c] = r2 < radius[l] * radius[l];
            }
        }
        adapt_refine(&w->m, &comm, w->d, l, NULL, NULL);
    }
}

static void world_make(struct world *w, enum domain_kind kind, const bool bounded[6], double boxlen)
{
    struct rng g = rng_make(7, 1, 0);
    mesh_init(&w->m, LMIN, LMAX, 1, true, false, boxlen, bounded);
    w->d = domain_new(kind, comm.size, LMAX, bounded);
    adapt_build(&w->m, &comm, w->d);
    refine(w);
    for (int i = 0; i < EVENTS; i++) {
        struct event *e = &w->all[i];
        *e = (struct event){.id = 1000 - 7 * i};
        for (int a = 0; a < 3; a++) e->x[a] = boxlen * rng_uniform(&g);
        if (i % 5 == 0) e->x[i % 3] = i % 2 ? 0 : boxlen; /* on the boundary of the box */
        e->radius = boxlen * (i % 4 == 0 ? 0 : i % 4 == 1 ? 0.5 : 0.2) * rng_uniform(&g);
        w->load[i].strength = rng_uniform(&g);
        snprintf(w->load[i].tag, sizeof w->load[i].tag, "%d", i);
    }
}

static void world_free(struct world *w)
{
    mesh_fini(&w->m);
    domain_free(w->d);
}

/* Operation that does not commute, so that the order matters. */
static double strike(double u, const struct event *e, double strength)
{
    return 0.5 * u + strength * (double)e->id + e->x[0];
}

static bool meets(const struct event *e, const double low[3], double side)
{
    double d2 = 0;
    for (int a = 0; a < 3; a++) {
        double d = fmax(fmax(low[a] - e->x[a], e->x[a] - (low[a] + side)), 0);
        d2 += d * d;
    }
    return d2 <= e->radius * e->radius;
}

static void lower_corner(const struct level *lv, lidx i, int c, double dx, double low[3])
{
    int64_t q[3];
    okey_coords(lv->key[i], q);
    for (int a = 0; a < 3; a++) low[a] = (double)(2 * q[a] + (c >> a & 1)) * dx;
}

/* Applies an event to own leaf cells that overlap its ball. */
static void hit_cells(struct world *w, const struct event *e, double strength)
{
    for (int l = LMIN; l <= LMAX; l++) {
        const struct level *lv = &w->m.lev[l];
        double dx = mesh_dx(&w->m, l), low[3];
        for (lidx i = 0; i < lv->nown; i++) {
            for (int c = 0; c < 8; c++) {
                double *u = &lv->fld[FLD_U][i][c];
                lower_corner(lv, i, c, dx, low);
                if (lv->child[i][c] < 0 && meets(e, low, dx)) *u = strike(*u, e, strength);
            }
        }
    }
}

/* Expected value of one cell after all events and images, ordered by id and position. */
static double expected(const struct world *w, const double low[3], double side)
{
    double u = 0;
    for (int i = EVENTS - 1; i >= 0; i--) /* ids ascend */
        for (int k = 0; k < 27; k++) {
            struct event e = w->all[i];
            /* x slowest, as in the order of positions */
            int s[3] = {k / 9 - 1, k / 3 % 3 - 1, k % 3 - 1};
            bool there = true;
            for (int a = 0; a < 3; a++) {
                e.x[a] += s[a] * w->m.boxlen;
                there &= s[a] == 0 || !w->m.bounded[2 * a];
            }
            if (there && meets(&e, low, side)) u = strike(u, &e, w->load[i].strength);
        }
    return u;
}

static void compare(const struct world *w)
{
    int64_t wrong = 0, touched = 0;
    for (int l = LMIN; l <= LMAX; l++) {
        const struct level *lv = &w->m.lev[l];
        double dx = mesh_dx(&w->m, l);
        for (lidx i = 0; i < lv->nown; i++) {
            for (int c = 0; c < 8; c++) {
                double low[3], u = 0;
                lower_corner(lv, i, c, dx, low);
                if (lv->child[i][c] < 0) u = expected(w, low, dx);
                wrong += lv->fld[FLD_U][i][c] != u;
                touched += u != 0;
            }
        }
    }
    comm_add_i64(&comm, &touched, 1);
    CHECK(wrong == 0, "%ld cells", (long)wrong);
    CHECK(touched > 1000, "only %ld cells in all", (long)touched);
}

/* No rank receives events further than half an oct of levelmin from its domain. */
static void check_near(const struct world *w, const struct events *got)
{
    int64_t n = (int64_t)1 << (LMAX - 1), far = 0;
    double oct = w->m.boxlen / (double)n;
    for (int64_t i = 0; i < got->n; i++) {
        struct event wide = got->at[i];
        bool near = false;
        wide.radius += sqrt(3) * 0.5 * (w->m.boxlen / (1 << (LMIN - 1)) + oct) + 1e-9;
        for (okey k = 0; k < (okey)(n * n * n) && !near; k++) {
            int64_t q[3];
            double low[3];
            okey_coords(k, q);
            for (int a = 0; a < 3; a++) low[a] = (double)q[a] * oct;
            near = domain_rank(w->d, LMAX, k) == comm.rank && meets(&wide, low, oct);
        }
        far += !near;
    }
    CHECK(far == 0, "%ld of %ld", (long)far, (long)got->n);
}

static void test_routing(enum domain_kind kind, const bool bounded[6], double boxlen)
{
    struct world *w = mem_zero(sizeof *w, "test");
    world_make(w, kind, bounded, boxlen);
    struct event mine[EVENTS];
    struct load load[EVENTS];
    struct events got;
    int n = 0;
    for (int i = 0; i < EVENTS; i++) {
        if (i * 5 % 7 % comm.size != comm.rank) continue;
        mine[n] = w->all[i];
        load[n++] = w->load[i];
    }
    enum err e = event_route(&comm, w->d, &w->m, n, mine, sizeof *load, load, &got);
    CHECK(e == OK, "%s", e == OK ? "" : err_message());
    bool whole = true, sorted = true;
    for (int64_t i = 0; i < got.n; i++) {
        const struct event *v = &got.at[i];
        int k = (int)(1000 - v->id) / 7;
        struct load l;
        memcpy(&l, got.payload + sizeof l * (size_t)i, sizeof l);
        whole &= memcmp(&l, &w->load[k], sizeof l) == 0 && v->radius == w->all[k].radius;
        sorted &= i == 0 || got.at[i - 1].id <= v->id;
        hit_cells(w, v, l.strength);
    }
    CHECK(whole);
    CHECK(sorted);
    compare(w);
    check_near(w, &got);
    events_free(&got);
    world_free(w);
    mem_free(w);
}

static void test_refused(void)
{
    const bool bounded[6] = {false};
    struct world *w = mem_zero(sizeof *w, "test");
    struct events got;
    world_make(w, DOMAIN_KSECTION, bounded, 2);
    const struct event bad[3] = {
        {1, {0.5, 2.5, 0.5}, 0.1}, {2, {1, 1, 1}, 1.01}, {3, {NAN, 1, 1}, 0}};
    for (int i = 0; i < 3; i++) {
        int n = comm.rank == comm.size - 1;
        enum err e = event_route(&comm, w->d, &w->m, n, &bad[i], 0, NULL, &got);
        CHECK(e != OK && strstr(err_message(), "must lie in the box"));
    }
    CHECK(event_route(&comm, w->d, &w->m, 0, NULL, 0, NULL, &got) == OK && got.n == 0);
    events_free(&got);
    world_free(w);
    mem_free(w);
}

int main(int argc, char **argv)
{
    const bool open[6] = {false}, closed[6] = {true, true, true, true, true, true},
               slab[6] = {false, false, true, true, false, false};
    comm_init(&argc, &argv, &comm);
    for (int kind = DOMAIN_KSECTION; kind <= DOMAIN_HILBERT; kind++) {
        test_routing((enum domain_kind)kind, open, 1);
        test_routing((enum domain_kind)kind, closed, 2.5);
        test_routing((enum domain_kind)kind, slab, 1);
    }
    test_refused();
    if (comm.rank == 0) printf("%d passed, %d failed\n", passed, failed);
    comm_fini();
    return failed > 0;
}
