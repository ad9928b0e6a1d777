/* Laws of observe/live: digest, profile and map of a running mesh equal those of a checkpoint
 * written at this time, bit by bit, on any number of ranks. Last line: N passed, N failed.
 * test: tier=quick timeout=120 mpi=1,3 */
#include "observe/live.h"

#include "ckpt_world.h"
#include "view/map.h"
#include "view/profile.h"

static struct profile profile;
static struct map map;
static const struct profile_options PROFILE = {
    .centre = {0.1, 0.5, 0.5}, .radius = 0.4, .bins = 12};
static const struct map_options MAP = {
    .field = "density", .pixels = 32, .centre = {0.5, 0.5, 0.5}, .width = 1, .depth = 1, .axis = 2};

static enum err look(struct source *s, void *ctx)
{
    profile = (struct profile){0}, map = (struct map){0};
    TRY(profile_make(&profile, s, &PROFILE));
    memset(&s->counts, 0, sizeof s->counts);
    return map_make(&map, s, &MAP);
}

int main(int argc, char **argv)
{
    static struct world w;
    static struct digest a, b;
    struct source *live, *file;
    char path[64];
    comm_init(&argc, &argv, &all);
    world_new(&w, all, false);
    const struct live l = {&w.h, &w.m, &w.p, &all, "output_00007", 7};
    check(world_write(&w, &ramses_writer, 7, path, sizeof path) == OK, "the checkpoint is written");
    check(source_live(&l, &live) == OK, "the mesh is a source");
    check(source_open(path, &file) == OK, "the checkpoint is read");
    check(digest_snapshot(live, &all, &a) == OK && digest_snapshot(file, &all, &b) == OK &&
              same_digest(&a, &b),
          "one digest");
    check(live_on_root(live, look, NULL) == OK, "rank 0 reads all pieces");
    if (all.rank == 0) {
        struct profile p = profile;
        struct map m = map;
        check_on(&alone, look(file, NULL) == OK, "the checkpoint is looked at");
        check_on(&alone, !memcmp(p.row, profile.row, sizeof *p.row * (size_t)p.n), "one profile");
        check_on(&alone, !memcmp(m.sum, map.sum, sizeof *m.sum * (size_t)(m.n * m.n)), "one map");
        profile_free(&p), map_free(&m);
        profile_free(&profile), map_free(&map);
    }
    source_close(&live);
    source_close(&file);
    world_free(&w);
    if (all.rank == 0) printf("%ld passed, %ld failed\n", (long)passed, (long)failed);
    comm_fini();
    return failed != 0;
}
