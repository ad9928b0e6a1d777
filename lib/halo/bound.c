/* halo/bound: energies of the members of a halo, the sum of kinetic energy relative to the mean
 * velocity of the members and potential energy in the mass of the members, spherically averaged
 * around the densest member.
 *
 * The profile is a histogram of r² whose 16 bins per factor of two are the leading bits of the
 * number. Masses in bins are sums of integers, so that the profile of a halo does not depend on
 * which rank holds which member. Within the 32nd neighbour of the densest member it is flat. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "halo/bins.h"
#include "halo/members.h"

enum { SHIFT = 48, LOWEST = 64, ROWS = (LOWEST + 1) << (52 - SHIFT), TURN = 256 };

struct halo_core {
    double x[3], v[3], r2;
};

struct row {
    int64_t index, bin;
    halo_mass m;
};

struct rows {
    int64_t n, room;
    struct row *at;
};

/* Bin of r2: ROWS bins from 2^-LOWEST to 2, the innermost radii in one. */
static int64_t bin_of(const struct halo_core *c, double r2)
{
    double inner = fmax(c->r2, ldexp(1, -LOWEST));
    return (int64_t)((halo_key(fmax(r2, inner)) - halo_key(ldexp(1, -LOWEST))) >> SHIFT);
}

static double radius_of(int64_t bin)
{
    return sqrt(halo_unkey(halo_key(ldexp(1, -LOWEST)) + ((uint64_t)bin << SHIFT)));
}

static double far2_of(const struct halo_space *s, const struct halo_set *d, int32_t i,
                      const double x[3])
{
    double far2 = 0;
    for (int k = 0; k < 3; k++) {
        double a = halo_offset(s, k, d->x[k][i], x[k]);
        far2 += a * a;
    }
    return far2;
}

static void add_row(struct rows *r, struct row row)
{
    MEM_ROOM(r->at, r->n, r->room, 1024, "halos: profiles");
    r->at[r->n++] = row;
}

/* Adds the masses of this rank's members to the profile; mass: zeros on entry. */
static void fill_profile(const struct halo_space *s, const struct halo_groups *g,
                         const struct halo_part *p, const struct halo_core *c, halo_mass *mass)
{
    for (int64_t k = p->first; k < p->first + p->n; k++) {
        const int32_t i = g->member[k];
        mass[bin_of(c, far2_of(s, g->dark, i, c->x))] += halo_mass_of(s, g->dark->m[i]);
    }
}

/* Potential in each bin, from the mass inside and the shells from the bin outwards. */
static void fill_potential(const struct halo_space *s, const halo_mass *mass, double *potential)
{
    double outer = 0;
    halo_mass inside = 0;
    for (int64_t b = ROWS - 1; b >= 0; b--) {
        outer += halo_mass_get(s, mass[b]) / radius_of(b);
        potential[b] = outer;
    }
    for (int64_t b = 0; b < ROWS; b++) {
        potential[b] = -s->gravity * (potential[b] + halo_mass_get(s, inside) / radius_of(b));
        inside += mass[b];
    }
}

double halo_energy(const struct halo_well *w, int32_t i)
{
    const struct halo_core *c = w->core;
    double energy = w->potential[bin_of(c, far2_of(w->s, w->g->dark, i, c->x))];
    for (int a = 0; a < 3; a++) {
        double v = w->g->dark->v[a][i] - c->v[a];
        energy += 0.5 * v * v;
    }
    return energy;
}

void halo_find_bound(const struct halo_well *w, void *ctx)
{
    const struct halo_part *p = &w->g->parts[w->part];
    struct halo_choice *all = ctx, best = {p->index, INFINITY, INT64_MAX, {0}};
    for (int64_t k = p->first; k < p->first + p->n; k++) {
        const int32_t i = w->g->member[k];
        struct halo_choice m = halo_choice_of(w->g, w->part, i, halo_energy(w, i));
        if (halo_chosen(&m, &best)) best = m;
    }
    all[w->part] = best;
}

/* ---- profiles of several ranks ---- */

MEM_ORDER2(by_location, struct row, index, bin)

/* Gathers the rows of halos of this rank that have parts on other ranks, by index and bin. */
static struct rows gather_rows(const struct halo_space *s, const struct halo_groups *g,
                               const struct halo_core *core)
{
    struct rows send = {0}, got = {0};
    int *rank = NULL;
    int64_t ranks = 0;
    halo_mass *mass = mem_new(sizeof *mass * ROWS, "halos: profiles");
    for (int64_t k = 0; k < g->nparts; k++) {
        const struct halo_part *p = &g->parts[k];
        if (!halo_is_shared(p)) continue;
        memset(mass, 0, sizeof *mass * ROWS);
        fill_profile(s, g, p, &core[k], mass);
        for (int64_t b = 0; b < ROWS; b++)
            if (mass[b]) add_row(&send, (struct row){p->index, b, mass[b]});
        rank = mem_grow(rank, sizeof *rank * (size_t)(send.n + 1), "halos: profiles");
        while (ranks < send.n) rank[ranks++] = p->owner;
    }
    FREE(mass);
    got.at = comm_exchange_by(s->c, send.at, send.n, rank, sizeof *send.at, &got.n, NULL);
    FREE(send.at);
    FREE(rank);
    mem_sort(got.at, (size_t)got.n, sizeof *got.at, by_location);
    return got;
}

struct owner {
    const struct halo_space *s;
    struct rows rows;
};

static void reply_potential(void *ctx, int64_t n, const void *item, void *answer)
{
    const struct owner *o = ctx;
    const int64_t *index = item;
    double *potential = answer;
    halo_mass *mass = mem_new(sizeof *mass * ROWS, "halos: profiles");
    for (int64_t i = 0; i < n; i++) {
        int64_t low = 0, high = o->rows.n; /* first row of the halo */
        MEM_BISECT(low, high, middle, o->rows.at[middle].index < index[i])
        memset(mass, 0, sizeof *mass * ROWS);
        for (; low < o->rows.n && o->rows.at[low].index == index[i]; low++)
            mass[o->rows.at[low].bin] += o->rows.at[low].m;
        fill_potential(o->s, mass, potential + ROWS * i);
    }
    FREE(mass);
}

/* An action on each part. */
struct visit {
    halo_well_fn *fn;
    void *ctx;
};

/* Visits parts first..end-1 of halos that other ranks share, whose number limits the number of
 * potentials in memory. (collective) */
static void visit_shared(const struct owner *o, const struct halo_groups *g,
                         const struct halo_core *core, int64_t first, int64_t end,
                         const struct visit *v)
{
    struct halo_question q = {sizeof(int64_t), sizeof(double) * ROWS, reply_potential, (void *)o};
    int64_t n = 0, index[TURN] = {0}, part[TURN];
    int rank[TURN] = {0};
    for (int64_t k = first; k < end; k++) {
        if (!halo_is_shared(&g->parts[k])) continue;
        part[n] = k;
        rank[n] = g->parts[k].owner;
        index[n++] = g->parts[k].index;
    }
    double *potential = halo_ask(o->s->c, &q, n, index, rank);
    for (int64_t i = 0; i < n; i++) {
        struct halo_well w = {o->s, g, part[i], &core[part[i]], potential + ROWS * i};
        v->fn(&w, v->ctx);
    }
    FREE(potential);
}

static void visit_whole(const struct halo_space *s, const struct halo_groups *g,
                        const struct halo_core *core, const struct visit *v)
{
    halo_mass *mass = mem_new(sizeof *mass * ROWS, "halos: profiles");
    double *potential = mem_new(sizeof *potential * ROWS, "halos: profiles");
    for (int64_t k = 0; k < g->nparts; k++) {
        if (halo_is_shared(&g->parts[k])) continue;
        struct halo_well w = {s, g, k, &core[k], potential};
        memset(mass, 0, sizeof *mass * ROWS);
        fill_profile(s, g, &g->parts[k], &core[k], mass);
        fill_potential(s, mass, potential);
        v->fn(&w, v->ctx);
    }
    FREE(potential);
    FREE(mass);
}

void halo_each_well(const struct halo_space *s, const struct halo_groups *g, const struct halo *h,
                    const double *core2, halo_well_fn *fn, void *ctx)
{
    const struct visit v = {fn, ctx};
    struct halo_core *of_halo = mem_new(sizeof *of_halo * (size_t)g->n + 1, "halos: profiles");
    for (int64_t k = 0; k < g->n; k++) {
        of_halo[k].r2 = core2[k];
        memcpy(of_halo[k].x, h[k].x, sizeof h[k].x);
        memcpy(of_halo[k].v, h[k].v, sizeof h[k].v);
    }
    struct halo_core *core = halo_send_parts(s, g, of_halo, sizeof *core);
    FREE(of_halo);
    visit_whole(s, g, core, &v);
    struct owner o = {s, gather_rows(s, g, core)};
    int64_t turns = (g->nparts + TURN - 1) / TURN;
    comm_max_i64(s->c, &turns, 1);
    for (int64_t t = 0; t < turns; t++) {
        int64_t first = t * TURN < g->nparts ? t * TURN : g->nparts, end = first + TURN;
        visit_shared(&o, g, core, first, end < g->nparts ? end : g->nparts, &v);
    }
    FREE(o.rows.at);
    FREE(core);
}
