/* lineage/galaxies: mock galaxies of clumps and orphans; see tables.h.
 *
 * The mean mass of stars in a halo is equation 3 of Behroozi, Wechsler & Conroy (2013) with the
 * parameters of their section 5; its logarithm has a normal scatter. The mass of a main clump is
 * its mass now, that of a sub-clump or of an orphan the greatest that it had. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "lineage/fortran.h"
#include "lineage/tables.h"

/* Parameters at one time: logarithms of the characteristic mass (solar masses) and of its ratio of
 * stars to mass; slopes; scatter in dex. */
struct relation {
    double log_m1, log_e, alpha, delta, gamma, scatter;
};

static struct relation relation_at(double a)
{
    double nu = exp(-4 * a * a), b = a - 1, z = 1 / a - 1;
    return (struct relation){.log_m1 = 11.514 + nu * (-1.793 * b - 0.251 * z),
                             .log_e = -1.777 + nu * (-0.006 * b) - 0.119 * b,
                             .alpha = -1.412 + nu * (0.731 * b),
                             .delta = 3.508 + nu * (2.608 * b - 0.043 * z),
                             .gamma = 0.316 + nu * (1.319 * b + 0.279 * z),
                             .scatter = 0.218 - 0.023 * b};
}

static double shape(const struct relation *r, double x)
{
    return -log10(pow(10, r->alpha * x) + 1) +
           r->delta * pow(log10(1 + exp(x)), r->gamma) / (1 + exp(pow(10, -x)));
}

double lineage_stellar_mass(const struct lineage_galaxy_par *p, double mass, int64_t id)
{
    static const uint64_t SEED = 0x6d6f636b67616c61u; /* any number of its own */
    struct relation r = relation_at(p->aexp);
    struct rng g = rng_make(SEED, (uint64_t)id, (uint32_t)p->output);
    double x = log10(mass * p->solar) - r.log_m1;
    return pow(10, r.log_e + r.log_m1 + shape(&r, x) - shape(&r, 0) + r.scatter * rng_normal(&g));
}

/* ---- the list ---- */

MEM_ORDER(order_spot, struct lineage_spot, id)

static struct lineage_galaxy galaxy_of_clump(const struct lineage_clumps *now, int64_t b,
                                             const struct lineage_galaxy_par *p)
{
    const int64_t id = now->groups.particle[now->groups.first[b]];
    const bool is_main = now->at[b].parent == now->at[b].index;
    struct lineage_galaxy g = {.kind = is_main ? LINEAGE_MAIN : LINEAGE_SATELLITE,
                               .clump = now->groups.id[b],
                               .particle = id,
                               .mass = is_main ? now->whole[b] : now->groups.peak[b]};
    g.stars = lineage_stellar_mass(p, g.mass, id);
    memcpy(g.x, now->galaxy[b], sizeof g.x);
    return g;
}

struct lineage_galaxy *lineage_galaxies(const struct lineage_clumps *now,
                                        const struct lineage_past *past, int64_t n,
                                        const struct lineage_spot *spot,
                                        const struct lineage_galaxy_par *p, int64_t *count)
{
    struct lineage_galaxy *g = mem_new(sizeof *g * (size_t)(now->groups.n + past->n) + 1,
                                       "galaxies");
    *count = now->groups.n;
    for (int64_t b = 0; b < now->groups.n; b++) g[b] = galaxy_of_clump(now, b, p);
    for (int64_t i = 0; i < past->n; i++) {
        struct lineage_spot want = {.id = past->at[i].galaxy};
        const struct lineage_spot *s = mem_find(&want, spot, (size_t)n, sizeof *spot, order_spot);
        if (!s) continue;
        g[(*count)++] = (struct lineage_galaxy){
            .kind = LINEAGE_ORPHAN,
            .particle = s->id,
            .mass = past->at[i].peak,
            .stars = lineage_stellar_mass(p, past->at[i].peak, s->id),
            .x = {s->x[0], s->x[1], s->x[2]}};
    }
    return g;
}

void lineage_place_orphans(const struct clumps *k, const struct comm *c,
                           const struct lineage_groups *groups, int64_t n, struct lineage_galaxy *g)
{
    int64_t orphans = 0;
    int64_t *id = mem_new(sizeof *id * (size_t)n + 1, "galaxies");
    struct lineage_place *at = mem_new(sizeof *at * (size_t)n + 1, "galaxies");
    for (int64_t i = 0; i < n; i++)
        if (g[i].kind == LINEAGE_ORPHAN) id[orphans++] = g[i].particle;
    lineage_find(k, c, groups, orphans, id, at);
    for (int64_t i = n - 1; i >= 0; i--) {
        if (g[i].kind != LINEAGE_ORPHAN) continue;
        const int64_t row = at[--orphans].group;
        g[i].clump = row < 0 ? 0 : groups->id[row];
    }
    FREE(at);
    FREE(id);
}

/* ---- the table ---- */

static void write_galaxy(FILE *f, const struct lineage_galaxy *g)
{
    fprintf(f, "%20ld ", g->kind == LINEAGE_ORPHAN ? 0L : (long)g->clump);
    fortran_real(f, 20, 12, g->stars);
    for (int d = 0; d < 3; d++) {
        fprintf(f, " ");
        fortran_real(f, 20, 12, g->x[d]);
    }
    fprintf(f, " %20ld\n", (long)g->particle);
}

char *lineage_galaxies_text(int64_t n, const struct lineage_galaxy *g, size_t *bytes)
{
    static const char *const NAME[] = {"Associated_clump",  "Stellar_Mass[M_Sol]", "x", "y", "z",
                                       "Galaxy_Particle_ID"};
    char *text;
    FILE *f = open_memstream(&text, bytes);
    if (!f) mem_exhausted("galaxies");
    for (int i = 0; i < 6; i++) fprintf(f, "%20s%s", NAME[i], i < 5 ? " " : "\n");
    for (int64_t i = 0; i < n; i++) write_galaxy(f, &g[i]);
    return mem_close_text(f, &text, bytes, "galaxies");
}
