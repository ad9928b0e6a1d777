/* clump/list: the list of clumps, in an order that does not depend on ranks. */
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/text.h"
#include "clump/priv.h"

/* ---- order by density ---- */

/* Sort key of a peak, sent to the rank responsible for its range of the order. */
struct ranked {
    double max;
    okey label;
};

static int ranked_order(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    if (x->max != y->max) return x->max < y->max ? 1 : -1;
    return (x->label > y->label) - (x->label < y->label);
}

enum { SAMPLES = 4096 };

/* Whether this peak is in the sample; the expected fraction is share/2^32. */
static bool is_sample(okey label, uint64_t share)
{
    uint64_t h = (uint64_t)label ^ (uint64_t)((unsigned __int128)label >> 64);
    h = (h ^ h >> 31) * 0x9e3779b97f4a7c15u;
    h = (h ^ h >> 29) * 0xbf58476d1ce4e5b9u;
    return h >> 32 < share;
}

/* Draws a sample of the peaks of all ranks, sorted and equal on all ranks; at most SAMPLES. */
static int64_t find_samples(const struct finder *f, struct ranked *sample)
{
    int64_t total = f->npeak, n = SAMPLES + 1;
    comm_add_i64(f->c, &total, 1);
    uint64_t share = (uint64_t)1 << 32;
    if (total > SAMPLES / 2) share = (share / (uint64_t)total) * (SAMPLES / 2);
    for (; n > SAMPLES; share /= 2) {
        n = 0;
        for (int64_t i = 0; i < f->npeak; i++) {
            const struct peak *p = &f->peak[i];
            if (!is_sample(p->label, share)) continue;
            if (n < SAMPLES) sample[n] = (struct ranked){p->max, p->label};
            n++;
        }
        n = comm_union(f->c, n, SAMPLES, sizeof *sample, sample, 0, NULL);
    }
    mem_sort(sample, (size_t)n, sizeof *sample, ranked_order);
    return n;
}

static int rank_of(const struct finder *f, const struct ranked *sample, int64_t n,
                   const struct ranked *r)
{
    int64_t lo = 0, hi = n;
    MEM_BISECT(lo, hi, mid, ranked_order(&sample[mid], r) < 0)
    return (int)(lo * f->c->size / (n + 1));
}

struct placed {
    struct ranked r;
    int64_t from; /* index in the receive buffer */
};

static int placed_order(const void *a, const void *b)
{
    const struct placed *x = a, *y = b;
    return ranked_order(&x->r, &y->r);
}

/* Numbers the received peaks by descending density, in receive order. (collective) */
static int64_t *find_places(const struct finder *f, int64_t n, const struct ranked *in)
{
    struct placed *p = mem_new(sizeof *p * (size_t)n + 1, "clump order");
    int64_t *slot = mem_new(sizeof *slot * (size_t)n + 1, "clump order"),
            before = comm_scan_i64(f->c, n);
    for (int64_t i = 0; i < n; i++) p[i] = (struct placed){in[i], i};
    mem_sort(p, (size_t)n, sizeof *p, placed_order);
    for (int64_t i = 0; i < n; i++) slot[p[i].from] = before + i + 1;
    FREE(p);
    return slot;
}

void list_number(struct finder *f)
{
    struct ranked *sample = mem_new(sizeof *sample * SAMPLES, "clump order"),
                  *out = mem_new(sizeof *out * (size_t)f->npeak + 1, "clump order");
    int64_t ns = find_samples(f, sample), n, nback;
    int *rank = mem_new(sizeof *rank * (size_t)f->npeak + 1, "clump order");
    int64_t *order = mem_new(sizeof *order * (size_t)f->npeak + 1, "clump order");
    for (int64_t i = 0; i < f->npeak; i++) {
        struct ranked r = {f->peak[i].max, f->peak[i].label};
        rank[i] = rank_of(f, sample, ns, &r);
    }
    struct comm_counts to = comm_counts_of(f->npeak, rank, order), from;
    for (int64_t i = 0; i < f->npeak; i++)
        out[i] = (struct ranked){f->peak[order[i]].max, f->peak[order[i]].label};
    struct ranked *in = comm_exchange(f->c, out, &to, sizeof *out, &n, &from);
    int64_t *slot = find_places(f, n, in),
            *back = comm_exchange(f->c, slot, &from, sizeof *slot, &nback, NULL);
    BUG_ON(nback != f->npeak);
    for (int64_t i = 0; i < nback; i++) f->peak[order[i]].index = back[i];
    FREE(back);
    FREE(slot);
    FREE(in);
    comm_counts_free(&from);
    comm_counts_free(&to);
    FREE(order);
    FREE(rank);
    FREE(out);
    FREE(sample);
}

/* ---- the list ---- */

static void name_others(struct finder *f)
{
    struct share s;
    okey *label = mem_new(sizeof *label * 2 * (size_t)f->npeak + 1, "clump list");
    int64_t *own = mem_new(sizeof *own * (size_t)f->npeak + 1, "clump list");
    for (int64_t i = 0; i < f->npeak; i++) {
        label[2 * i] = f->peak[i].parent;
        label[2 * i + 1] = f->peak[i].halo;
        own[i] = f->peak[i].index;
    }
    share_make(&s, f, 2 * f->npeak, label);
    int64_t *index = mem_new(sizeof *index * (size_t)s.n + 1, "clump list");
    share_fetch(&s, f, sizeof *index, own, index);
    for (int64_t i = 0; i < f->npeak; i++) {
        struct peak *p = &f->peak[i];
        p->c.index = p->index;
        p->c.level = p->level;
        p->c.parent = index[share_find(&s, p->parent)];
        p->c.halo = f->par->saddle > 0 ? index[share_find(&s, p->halo)] : 0;
    }
    FREE(index);
    FREE(own);
    share_free(&s);
}

/* Decides which lists a peak enters, by RAMSES's cuts; the list of halos is cut on mass alone. */
static void choose(const struct finder *f, struct peak *p)
{
    const struct clump_par *par = f->par;
    double mass = par->by_particles ? p->c.part_mass : p->c.halo_mass;
    bool heavy = mass > par->mass * par->min_mass;
    p->c.listed = p->relevance > par->relevance && heavy;
    p->c.is_halo = par->saddle > 0 && p->halo == p->label && p->c.ncell > 0 && heavy;
}

MEM_ORDER(index_order, struct clump, index)

static void send_rows(struct finder *f, int64_t peaks)
{
    int64_t n = 0;
    struct clump *row = mem_new(sizeof *row * (size_t)f->npeak + 1, "clump list");
    int *rank = mem_new(sizeof *rank * (size_t)f->npeak + 1, "clump list");
    for (int64_t i = 0; i < f->npeak; i++) {
        const struct clump *k = &f->peak[i].c;
        bool of_tree = f->par->unbind.trees && f->peak[i].relevance > f->par->relevance;
        if (!k->listed && !k->is_halo && !of_tree) continue;
        rank[n] = (int)((__int128)(k->index - 1) * f->c->size / peaks);
        row[n++] = *k;
    }
    f->out->at = comm_exchange_by(f->c, row, n, rank, sizeof *row, &f->out->n, NULL);
    mem_sort(f->out->at, (size_t)f->out->n, sizeof *f->out->at, index_order);
    FREE(rank);
    FREE(row);
}

void list_make(struct finder *f)
{
    struct clumps *k = f->out;
    int64_t all[4] = {f->ncell, f->npeak, 0, 0};
    name_others(f);
    for (int64_t i = 0; i < f->npeak; i++) {
        const struct peak *p = &f->peak[i];
        choose(f, &f->peak[i]);
        all[2] += p->relevance > 0;
        all[3] += f->par->saddle > 0 && p->relevance > f->par->relevance && p->halo == p->label;
    }
    comm_add_i64(f->c, all, 4);
    k->cells = all[0], k->peaks = all[1], k->relevant = all[2], k->halos = all[3];
    k->has_halos = f->par->saddle > 0;
    k->min_mass = f->par->min_mass;
    k->by_particles = f->par->by_particles;
    send_rows(f, k->peaks);
}

/* ---- RAMSES's files ---- */

/* Writes a row; numbers wider than Fortran's field are written in full. */
static void write_clump(FILE *f, const struct clumps *k, const struct clump *c)
{
    double mass = k->by_particles ? c->part_mass : c->mass;
    fprintf(f, "%8ld ", (long)c->index);
    if (!k->by_particles) fprintf(f, "%8ld ", (long)c->halo);
    fprintf(f, "%2d %10ld %10ld", c->level, (long)c->parent, (long)c->ncell);
    fprintf(f, " %18.9E %18.9E %18.9E %18.9E %18.9E %18.9E %18.9E %18.9E\n", c->x[0], c->x[1],
            c->x[2], c->min, c->max, plain_number(mass / c->volume), mass,
            plain_number(c->relevance));
}

static void write_halo(FILE *f, const struct clumps *k, const struct clump *c)
{
    fprintf(f, "%10ld %10ld %18.9E %18.9E %18.9E %18.9E %18.9E\n", (long)c->index,
            (long)c->ncell_halo, c->x[0], c->x[1], c->x[2], c->max,
            k->by_particles ? c->part_mass : c->halo_mass);
}

char *clump_text(const struct clumps *k, bool halos, size_t *bytes)
{
    static const char PLACE[] = "  peak_x             peak_y             peak_z     ";
    char *text;
    FILE *f = open_memstream(&text, bytes);
    if (!f) mem_exhausted("clump list");
    if (halos)
        fprintf(f, "     index      ncell  %s        rho+               mass      \n", PLACE);
    else
        fprintf(f,
                "   index %s lev   parent      ncell  %s        rho-               rho+      "
                "         rho_av             mass_cl            relevance   \n",
                k->by_particles ? "" : " halo  ", PLACE);
    for (int64_t i = 0; i < k->n; i++) {
        if (halos && k->at[i].is_halo) write_halo(f, k, &k->at[i]);
        if (!halos && k->at[i].listed) write_clump(f, k, &k->at[i]);
    }
    return mem_close_text(f, &text, bytes, "clump list");
}
