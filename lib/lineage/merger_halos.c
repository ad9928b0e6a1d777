/* lineage/merger_halos: halos as groups of merger trees. */
#include <float.h>
#include <math.h>

#include "base/cgs.h"
#include "base/mem.h"
#include "lineage/merger_priv.h"

static struct merger_node node_of(const struct halo *h, const struct halo_box *b)
{
    const double mass = halo_solar(b), kpc = b->boxlen * b->unit_l / CGS_KPC;
    const double speed = b->unit_l / b->unit_t / CGS_KM;
    struct merger_node n = {.members = h->number,
                            .mass = h->mass * mass,
                            .m200m = h->m[HALO_200M] * mass,
                            .r200m = h->r[HALO_200M] * kpc,
                            .m200c = h->m[HALO_200C] * mass,
                            .r200c = h->r[HALO_200C] * kpc,
                            .mvir = h->m[HALO_VIR] * mass,
                            .rvir = h->r[HALO_VIR] * kpc,
                            .sigma = h->sigma * speed,
                            .spin = h->spin};
    for (int k = 0; k < 3; k++) n.x[k] = h->x[k], n.v[k] = h->v[k] * speed;
    return n;
}

static int by_energy(const void *a, const void *b)
{
    const struct halo_tracer *p = a, *q = b;
    if (p->halo != q->halo) return p->halo < q->halo ? -1 : 1;
    if (p->energy != q->energy) return p->energy < q->energy ? -1 : 1;
    return (p->id > q->id) - (p->id < q->id);
}

/* Gathers the tracers of all ranks on rank 0. (collective) */
static void gather_tracers(const struct halo_list *l, const struct comm *c,
                           struct lineage_groups *out)
{
    int64_t n, k = 0;
    struct halo_tracer *all = comm_exchange_root(c, l->tracer, l->ntracers, sizeof *all, &n);
    mem_sort(all, (size_t)n, sizeof *all, by_energy);
    lineage_groups_make(out, l->n, n);
    merger_noise_make(out);
    for (int64_t i = 0; i < l->n; i++) {
        out->id[i] = i + 1;
        out->mass[i] = out->peak[i] = fmax(l->at[i].mass, DBL_MIN);
        out->noise[i] = merger_noise(l->at[i].number);
        for (; k < n && all[k].halo == i; k++) out->particle[k] = all[k].id;
        out->first[i + 1] = k;
    }
    FREE(all);
}

void merger_of_halos(const struct halo_list *l, const struct halo_box *b, const struct comm *c,
                     struct merger_groups *out)
{
    *out = (struct merger_groups){.node = NULL};
    gather_tracers(l, c, &out->links);
    out->node = mem_new(sizeof *out->node * (size_t)l->n + 1, "trees: groups");
    for (int64_t i = 0; i < l->n; i++) {
        out->node[i] = node_of(&l->at[i], b);
        out->node[i].number = i + 1;
        out->node[i].within = -1;
    }
    for (int64_t k = 0; k < l->nids; k++) out->nmember += l->ids[k].n;
    out->member = mem_new(sizeof *out->member * (size_t)out->nmember + 1, "trees: members");
    struct merger_member *to = out->member;
    for (int64_t k = 0; k < l->nids; k++)
        for (int64_t i = 0; i < l->ids[k].n; i++)
            *to++ = (struct merger_member){l->member[l->ids[k].first + i], l->ids[k].halo + 1};
}
