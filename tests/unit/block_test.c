/* Blocks of octs whose particles share a patch of the mesh: the same bits whatever the size of
 * blocks and the order of particles. Last line: N passed, N failed.
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

/* The mesh side of one step of LMIN after every so many particles have changed places; one of them
 * has half of all mass. Deposits are confirmed by brute force. */
static void step_disordered(struct world *w, int depth, int64_t every)
{
    double dt[LEVEL_MAX];
    for (int k = 0; k < LEVEL_MAX; k++) dt[k] = 1;
    world_mesh(w, alone, DOMAIN_KSECTION, LMIN, LMAX, 1, periodic_box);
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
    w->p.first[LMIN + 1] = NPART; /* all, as none were handed down */
    part_synchro(&w->p, &w->m, LMIN, dt, dt);
    part_move(&w->p, &w->m, LMIN, 1);
}

/* Sorted particles in blocks of octs, strays among them, and no order at all: the same bits. */
static void test_disorder(void)
{
    static const int64_t every[] = {64, 5, 1};
    struct world ref, w;
    step_disordered(&ref, 0, 0);
    check(ref.wrong_cells == 0, "deposits with one heavy particle agree with brute force");
    for (int depth = 0; depth <= 2; depth++)
        for (int k = 0; k < 3; k++) {
            step_disordered(&w, depth, every[k]);
            /* a stray is given the block's place, or that of another oct */
            check(w.digest == ref.digest, "deposits do not depend on the order of particles");
            check(same_particles(&w, &ref, NPART), "nor do kicks, nor on the size of blocks");
            world_free(&w);
        }
    world_free(&ref);
}

int main(int argc, char **argv)
{
    comm_init(&argc, &argv, &all);
    test_disorder();
    if (all.rank == 0) printf("%lld passed, %lld failed\n", (long long)passed, (long long)failed);
    comm_fini();
    return failed != 0;
}
