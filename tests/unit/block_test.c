/* Blocks of octs whose particles share a patch of the mesh: results do not depend on the size of
 * blocks or the order of particles, bit by bit. Last line: N passed, N failed.
 *
 * test: mpi=1 */
#include "part_world.h"

static void swap_particles(struct parts *p, int64_t i, int64_t j)
{
#define SWAP(a, type)                                                                              \
    do {                                                                                           \
        type swap = (a)[i];                                                                        \
        (a)[i] = (a)[j];                                                                           \
        (a)[j] = swap;                                                                             \
    } while (0)
    for (int d = 0; d < 3; d++) {
        SWAP(p->x[d], double);
        SWAP(p->v[d], double);
    }
    SWAP(p->m, double);
    SWAP(p->id, int64_t);
    SWAP(p->levelp, int32_t);
    SWAP(p->family, int8_t);
    SWAP(p->tag, int8_t);
    SWAP(p->host, lidx);
#undef SWAP
}

/* Mesh side of a step of LMIN after every n-th particle was exchanged with another; one particle
 * has half of all mass. Deposits are confirmed by brute force. */
static void step_disordered(struct world *w, const bool bounded[6], int depth, int64_t every)
{
    double dt[LEVEL_MAX];
    for (int k = 0; k < LEVEL_MAX; k++) dt[k] = 1;
    world_mesh(w, alone, DOMAIN_KSECTION, LMIN, LMAX, 1, bounded);
    world_particles(w, NPART, 0);
    for (int64_t i = 0; i < NPART; i++)
        if (w->p.id[i] == 77) w->p.m[i] = 0.5;
    set_field(&w->m, field_noise);
    part_enter(&w->p, &w->m, &w->c, w->d, LMIN);
    w->p.block_depth = depth;
    for (int64_t i = 0; every > 0 && i < NPART; i += every)
        swap_particles(&w->p, i, (int64_t)(mix((uint64_t)i) % NPART));
    struct grid g = deposit(w, LMIN, 0, 0);
    digest_grid(w, LMIN, &g);
    w->wrong_cells += brute_differs(w, LMIN, &g);
    grid_free(&g);
    w->p.first[LMIN + 1] = NPART; /* all particles, since none were handed down */
    part_synchro(&w->p, &w->m, LMIN, dt, dt);
    part_move(&w->p, &w->m, LMIN, 1);
}

/* Particles sorted in blocks of octs, with strays among them, and in random order give the same
 * bits. Along an axis with boundaries, cells below a patch are not at the other end of the box. */
static void test_disorder(const bool bounded[6])
{
    static const int64_t every[] = {64, 5, 1};
    struct world ref, w;
    step_disordered(&ref, bounded, 0, 0);
    /* brute force assumes a periodic box */
    check(bounded[0] || ref.wrong_cells == 0,
          "deposits with one heavy particle agree with brute force");
    for (int depth = 0; depth <= 2; depth++)
        for (int k = 0; k < 3; k++) {
            step_disordered(&w, bounded, depth, every[k]);
            /* strays are placed in their block, or in another oct */
            check(w.digest == ref.digest, "deposits do not depend on the order of particles");
            check(same_particles(&w, &ref, NPART), "nor do kicks, nor on the size of blocks");
            world_free(&w);
        }
    world_free(&ref);
}

/* Between the two kicks of a step: removes some particles, and adds two in the slots of removed
 * ones. */
static void step_changed(struct world *w, bool keeps, bool removes)
{
    double dt[LEVEL_MAX];
    for (int k = 0; k < LEVEL_MAX; k++) dt[k] = 1;
    world_mesh(w, alone, DOMAIN_KSECTION, LMIN, LMAX, 1, periodic_box);
    world_particles(w, NPART, 0);
    set_field(&w->m, field_noise);
    struct parts *p = &w->p;
    part_enter(p, &w->m, &w->c, w->d, LMIN);
    for (int k = LMIN + 1; k < LEVEL_MAX + 3; k++) p->first[k] = NPART;
    part_synchro(p, &w->m, LMIN, dt, dt);
    check(p->retained[LMIN] == NPART, "the force is kept for the second kick");
    if (!keeps) p->retained[LMIN] = 0;
    if (removes) part_remove(p, &w->m, LMIN, 3, (int64_t[]){5, 6, 100});
    for (int64_t i = part_insert(p, LMIN, 2), k = 40; i < p->n; i++, k++) {
        for (int d = 0; d < 3; d++) p->x[d][i] = p->x[d][k], p->v[d][i] = p->v[d][k];
        p->host[i] = p->host[k];
        p->id[i] = NPART + k;
    }
    part_move(p, &w->m, LMIN, 1);
}

/* Fails if part_remove keeps stored forces, or if new particles inherit them. */
static void test_kept(void)
{
    for (int removes = 0; removes < 2; removes++) {
        struct world ref, w;
        step_changed(&ref, false, removes);
        step_changed(&w, true, removes);
        bool same = w.p.n == ref.p.n;
        for (int64_t i = 0; same && i < w.p.n; i++)
            for (int d = 0; d < 3; d++)
                same &= w.p.id[i] == ref.p.id[i] && w.p.x[d][i] == ref.p.x[d][i] &&
                        w.p.v[d][i] == ref.p.v[d][i];
        check(same, "the second kick has the force of the first, or finds it again");
        world_free(&w);
        world_free(&ref);
    }
}

int main(int argc, char **argv)
{
    comm_init(&argc, &argv, &all);
    test_disorder(periodic_box);
    test_disorder((const bool[6]){true, true, false, false, true, true});
    test_kept();
    if (all.rank == 0) printf("%lld passed, %lld failed\n", (long long)passed, (long long)failed);
    comm_fini();
    return failed != 0;
}
