/* clump/members: energies of particles in clumps, and the list of the members of all clumps. */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "clump/heaps.h"

double heap_potential(const struct heaps *b, const struct finder *f, int32_t k, double r)
{
    int n = f->par->unbind.nbin;
    const double *radius = b->r + (int64_t)k * (n + 1), *phi = b->phi + (int64_t)k * (n + 1);
    int at = heap_shell(radius, n, r);
    double slope = (phi[at] - phi[at - 1]) / (radius[at] - radius[at - 1]);
    return phi[at - 1] + slope * (r - radius[at - 1]);
}

double heap_energy(const struct heaps *b, const struct finder *f, int32_t k, int64_t i)
{
    double kinetic = 0, r = sqrt(heap_distance2(f, &b->at[k], i));
    for (int d = 0; d < 3; d++) {
        double v = f->p->v[d][i] - b->at[k].v[d];
        kinetic += 0.5 * v * v;
    }
    return kinetic + heap_potential(b, f, k, r);
}

void heaps_list(const struct heaps *b, struct finder *f)
{
    const struct parts *p = f->p;
    int64_t *own = mem_new(sizeof *own * (size_t)f->npeak + 1, "clump members");
    int64_t *index = mem_new(sizeof *index * (size_t)b->s.n + 1, "clump members"), n = 0;
    for (int64_t k = 0; k < f->npeak; k++) own[k] = f->peak[k].index;
    share_fetch(&b->s, f, sizeof *index, own, index);
    for (int64_t i = 0; i < b->n; i++) n += b->now[i] >= 0;
    struct clump_member *m = mem_new(sizeof *m * (size_t)n + 1, "clump members");
    f->out->member = m;
    f->out->nmember = n;
    for (int64_t i = 0; i < b->n; i++) {
        int32_t k = b->now[i];
        if (k < 0) continue;
        *m++ = (struct clump_member){.id = p->id[i],
                                     .clump = index[k],
                                     .energy = heap_energy(b, f, k, i),
                                     .x = {p->x[0][i], p->x[1][i], p->x[2][i]}};
    }
    FREE(index);
    FREE(own);
}
