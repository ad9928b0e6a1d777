/* Laws of the particle columns: every row of the table and every further column keeps its value
 * through migration, sort, steps, both formats, region cut, reshaping and conversion, on any number
 * of ranks. Ids of new particles do not depend on the number of ranks.
 *
 * Every column holds noise, a function of id and column; a column dropped, swapped, narrowed or
 * left behind is detected. The test loops over the table, so that new rows are tested too. Last
 * line: N passed, N failed. */
#include <unistd.h>

#include "ckpt/cut.h"
#include "ckpt_world.h"
#include "curamses/write.h"
#include "io/dir.h"
#include "reshape/priv.h"

static const char FURTHER[] = "dqihbd"; /* types of further columns */
enum { N = 4000 };

/* Ids around 2^32, including the smallest and the largest. */
static int64_t id_of(int64_t k)
{
    return k == 0 ? INT64_MIN : k == 1 ? INT64_MAX : ((int64_t)1 << 32) - N / 2 + k;
}

static int64_t number_of(int64_t id)
{
    return id == INT64_MIN ? 0 : id == INT64_MAX ? 1 : id - ((int64_t)1 << 32) + N / 2;
}

/* Value of column c of particle number k, as 64-bit integer. */
static int64_t value_of(const struct part_columns *s, int c, int64_t k)
{
    uint64_t bits = rng_mix(rng_mix((uint64_t)k) + (uint64_t)c);
    double real = noise(70, (uint64_t)k, (uint64_t)c);
    int size = part_type_size(part_column(s, c)->type);
    if (c == COL_ID) return id_of(k);
    if (c == COL_LEVEL) return 1 + (int64_t)(bits % LMAX);
    if (c == COL_FAMILY) return (int64_t)(bits % 11) - 5;
    if (c <= COL_Z) real *= BOX;
    if (c > COL_Z && c != COL_MASS) real -= 0.5;
    if (part_type_is_real(part_column(s, c)->type)) {
        memcpy(&bits, &real, sizeof bits);
        return (int64_t)bits;
    }
    return (int64_t)bits >> (64 - 8 * size);
}

static void fill(struct parts *p, const struct comm *c)
{
    part_fini(p);
    part_init(p);
    for (int col = 0; col < COL_COUNT; col++)
        if (part_column(&p->columns, col)->when != WHEN_STARS) part_want(p, col);
    for (int k = 0; FURTHER[k]; k++) {
        char name[16];
        snprintf(name, sizeof name, "further_%d", k);
        if (k == 3) part_want_all(p, WHEN_STARS); /* columns in any order */
        part_add(p, name, FURTHER[k]);
    }
    for (int64_t k = c->rank; k < N; k += c->size) {
        int64_t i = part_append(p, 1);
        for (int col = 0; col < p->columns.n; col++) {
            char type = part_column(&p->columns, col)->type;
            int64_t value = value_of(&p->columns, col, k);
            part_column_narrow(type, 1, &value, (char *)p->col[col] + part_type_size(type) * i);
        }
    }
}

/* Column c of particle i in memory, as 64-bit integer. */
static int64_t value_at(const struct parts *p, int c, int64_t i)
{
    int64_t wide = 0;
    switch (part_type_size(part_column(&p->columns, c)->type)) {
    case 8:
        return ((const int64_t *)p->col[c])[i];
    case 4:
        wide = ((const int32_t *)p->col[c])[i];
        break;
    case 2:
        wide = ((const int16_t *)p->col[c])[i];
        break;
    default:
        wide = ((const int8_t *)p->col[c])[i];
        break;
    }
    return wide;
}

/* Checks that all particles exist once, with all columns except from..to−1. */
static void check_memory(const struct parts *p, const struct comm *c, int from, int to,
                         const char *what)
{
    char text[200];
    int64_t wrong = 0, total[2] = {p->n, 0};
    for (int64_t i = 0; i < p->n; i++) {
        int64_t k = number_of(p->id[i]);
        total[1] += k;
        for (int col = 0; col < p->columns.n; col++)
            if ((col < from || col >= to) && col != COL_LEVEL)
                wrong += value_at(p, col, i) != value_of(&p->columns, col, k);
    }
    comm_add_i64(c, total, 2);
    snprintf(text, sizeof text, "%s: every particle once", what);
    check(total[0] == N && total[1] == (int64_t)N * (N - 1) / 2, text);
    snprintf(text, sizeof text, "%s: columns keep their values", what);
    check(wrong == 0, text);
}

/* Catches: a column that does not migrate, is not sorted, or is swapped through the wrong one. */
static void test_memory(struct world *w)
{
    fill(&w->p, &w->c);
    check(part_distribute(&w->p, &w->m, &w->c, w->d) == OK, "particles are distributed");
    check_memory(&w->p, &w->c, 0, 0, "migration and sort");
    for (int l = 1; l <= LMAX; l++)
        for (int f = FLD_FX; f <= FLD_FZ; f++)
            for (lidx i = 0; i < w->m.lev[l].noct; i++)
                for (int k = 0; k < 8; k++) w->m.lev[l].fld[f][i][k] = 0;
    for (int step = 0; step < 4; step++) {
        for (int l = LMIN; l <= LMAX; l++) {
            part_enter(&w->p, &w->m, &w->c, w->d, l);
            part_hand_down(&w->p, &w->m, &w->c, w->d, l);
        }
        for (int l = LMAX; l >= LMIN; l--) {
            part_move(&w->p, &w->m, l, 0.4 / (1 << l));
            if (l < LMAX) part_merge(&w->p, &w->m, l);
        }
    }
    check_memory(&w->p, &w->c, COL_X, COL_Z + 1, "steps");
}

/* ---- files ---- */

struct look {
    const struct source *s;
    const struct cut *cut;
    int64_t n, sum, wrong, outside;
};

static bool in_cut(const struct cut *c, int64_t k)
{
    double r2 = 0;
    for (int d = 0; d < 3; d++) {
        int64_t bits = value_of(NULL, COL_X + d, k);
        double x;
        memcpy(&x, &bits, sizeof x);
        x = (x - c->centre[d]) / BOX;
        x -= rint(x);
        r2 += x * x;
    }
    return r2 <= c->radius * c->radius / (BOX * BOX);
}

static enum err look_at(const struct source_parts *p, void *ctx)
{
    struct look *g = ctx;
    const struct part_columns *s = &g->s->columns;
    for (int64_t i = 0; i < p->n; i++) {
        int64_t k = number_of(p->id[i]);
        g->n++;
        g->sum += k;
        if (g->cut) g->outside += !in_cut(g->cut, k);
        for (int c = 0; c < s->n; c++) {
            int64_t bits;
            g->wrong += !p->col[c];
            if (!p->col[c]) continue;
            memcpy(&bits, (const char *)p->col[c] + 8 * i, 8);
            g->wrong += bits != value_of(s, c, k);
        }
    }
    return OK;
}

/* Counts wrong columns in a checkpoint, or in a region (cut) of it. */
static enum err look(const char *path, const struct cut *cut, struct look *g)
{
    struct source *s = NULL;
    *g = (struct look){.cut = cut};
    TRY(source_open_state(path, GAMMA, SMALLR, &s));
    if (cut) TRY(source_cut(s, cut, &s));
    g->s = s;
    enum err err = OK;
    for (int k = 0; k < s->npiece && err == OK; k++)
        err = source_parts(s, k, SOURCE_STATE, look_at, g);
    for (int k = 0; FURTHER[k]; k++) {
        char name[16];
        snprintf(name, sizeof name, "further_%d", k);
        int c = part_column_find(&s->columns, name);
        g->wrong += c != COL_COUNT + k || part_column(&s->columns, c)->type != FURTHER[k];
    }
    for (int c = 0; c < COL_COUNT; c++) g->wrong += !s->columns.has[c];
    source_close(&s);
    return err;
}

static void check_file(const char *path, const char *what)
{
    struct look g;
    char text[300];
    enum err err = look(path, NULL, &g);
    snprintf(text, sizeof text, "%s: %s: every particle once, with all its columns (%ld wrong)",
             what, path, (long)g.wrong);
    check(err == OK && g.n == N && g.sum == (int64_t)N * (N - 1) / 2 && g.wrong == 0, text);
}

static void check_region(const char *path)
{
    struct cut cut = {.shape = CUT_SPHERE, .centre = {0.1, 1.2, 1.9}, .radius = 0.5};
    struct cut asked = cut;
    struct look g;
    int64_t want = 0;
    for (int64_t k = 0; k < N; k++) want += in_cut(&cut, k);
    enum err err = look(path, &asked, &g);
    check(err == OK && g.n == want && want > 100 && g.outside == 0, "a region has its particles");
    /* no levels deeper than those of the cut, which would become its levels */
    check(g.wrong == 0, "a region: columns keep their values");
}

static void reshape_to(const char *from, const char *out, const struct writer_kind *writer,
                       int nrank)
{
    struct source *s;
    struct reshape opt = {
        .out = out, .writer = writer, .kind = DOMAIN_HILBERT, .nrank = nrank, .overwrite = true};
    enum err err = source_open_whole(from, &opt.mode, &s);
    if (err == OK) err = reshape_run(&opt, s, &all);
    source_close(&s);
    check(err == OK, "a checkpoint is written anew");
    check_file(out, "reshaping");
}

/* Catches: a column omitted or with a changed type in a writer, a reader, the cut or the temporary
 * files. */
static void test_files(struct world *w)
{
    char path[256];
    fill(&w->p, &w->c);
    check(part_distribute(&w->p, &w->m, &w->c, w->d) == OK, "particles are distributed");
    check(world_write(w, &ramses_writer, 1, path, sizeof path) == OK, "RAMSES binary is written");
    check_file(path, "RAMSES binary");
    check_region(path);
    reshape_to(path, "a_00001", &ramses_writer, 3);
#ifdef PTAH_HDF5
    w->h.deflate = w->c.size % 2;
    check(world_write(w, &hdf5_writer, 2, path, sizeof path) == OK, "HDF5 is written");
    check_file(path, "HDF5");
    check_region(path);
    reshape_to("a_00001", "b_00001", &hdf5_writer, 1);
    reshape_to("b_00001", "a_00001", &ramses_writer, 2);
    reshape_to(path, "b_00001", &hdf5_writer, 1);
#endif
}

/* A number that does not fit into its column is an error. */
static void test_narrow(void)
{
    static const char type[] = "qihb";
    for (int k = 0; type[k]; k++) {
        int bits = 8 * part_type_size(type[k]);
        int64_t out, low = -((int64_t)1 << (bits - 2)) * 2, wide[2] = {low, -(low + 1)};
        check(part_column_narrow(type[k], 1, &wide[0], &out) &&
                  part_column_narrow(type[k], 1, &wide[1], &out),
              "the least and the greatest number fit");
        if (bits == 64) continue;
        wide[0]--, wide[1]++;
        check(!part_column_narrow(type[k], 1, &wide[0], &out) &&
                  !part_column_narrow(type[k], 1, &wide[1], &out),
              "those beyond them do not");
    }
}

/* ---- new particles ---- */

/* Number of particles made in a cell: 0 to 3. */
static int made_in(int l, okey cell)
{
    double x = noise(80, (uint64_t)l, (uint64_t)cell);
    return x < 0.9 ? 0 : x < 0.95 ? 1 : x < 0.98 ? 2 : 3;
}

/* Makes stars of level l, not in the order of their ids; the metallicity encodes their position. */
static int64_t make_stars(struct world *w, int l, int64_t next)
{
    const struct level *lv = &w->m.lev[l];
    int64_t n = 0, total;
    struct part_birth_cell *location = mem_new(sizeof *location * 24 * (size_t)lv->nown + 1,
                                               "test");
    for (int turn = 2; turn >= 0; turn--)
        for (lidx i = 0; i < lv->nown; i++)
            for (int c = 0; c < 8; c++)
                if (lv->child[i][c] < 0 && made_in(l, lv->key[i] << 3 | (okey)c) > turn)
                    location[n++] = (struct part_birth_cell){i, c, turn};
    int64_t first = part_create(&w->p, &w->m, &w->c, l, n, location, next, &total);
    for (int64_t i = 0; i < n; i++) {
        int64_t o[3];
        okey cell = lv->key[location[i].oct] << 3 | (okey)location[i].cell;
        okey_coords(cell, o);
        for (int d = 0; d < 3; d++) {
            w->p.x[d][first + i] = ((double)o[d] + 0.5) * mesh_dx(&w->m, l);
            w->p.v[d][first + i] = 0;
        }
        w->p.m[first + i] = 1.0 / N;
        w->p.family[first + i] = FAM_STAR;
        w->p.tag[first + i] = (int8_t)l;
        w->p.birth[first + i] = (double)location[i].number;
        w->p.metal[first + i] = (double)cell;
    }
    FREE(location);
    return total;
}

/* Expected ids, without the code under test: cells of level l along the curve. */
static int64_t count_ids(struct world *whole, int l, int64_t next, uint64_t *digest)
{
    const struct level *lv = &whole->m.lev[l];
    for (lidx i = 0; i < lv->noct; i++)
        for (int c = 0; c < 8; c++) {
            okey cell = lv->key[i] << 3 | (okey)c;
            for (int k = 0; lv->child[i][c] < 0 && k < made_in(l, cell); k++)
                *digest += rng_mix(rng_mix(rng_mix((uint64_t)cell) + (uint64_t)k) +
                                   (uint64_t)next++);
        }
    return next;
}

/* Catches: ids in the order of ranks, or duplicate; a new particle on the wrong level, or lost. */
static void test_new_particles(struct world *w)
{
    struct world whole;
    int64_t before = ((int64_t)1 << 32) - 100, next = before, want = before, n, bad = 0;
    uint64_t digest = 0;
    world_new(&whole, alone, false);
    part_fini(&w->p);
    part_init(&w->p);
    part_want_all(&w->p, WHEN_STARS);
    part_want_all(&w->p, WHEN_YIELDS);
    check(part_distribute(&w->p, &w->m, &w->c, w->d) == OK, "no particles are distributed");
    for (int l = LMIN; l <= LMAX; l++) {
        part_enter(&w->p, &w->m, &w->c, w->d, l);
        part_hand_down(&w->p, &w->m, &w->c, w->d, l);
    }
    for (int l = LMAX; l >= LMIN; l--) {
        if (l < LMAX) part_merge(&w->p, &w->m, l);
        next += make_stars(w, l, next);
        want = count_ids(&whole, l, want, &digest);
        for (int64_t i = w->p.first[l]; i < w->p.n; i++)
            bad += w->p.first[l + 1] != w->p.n || w->p.host[i] < 0 || w->p.levelp[i] < l;
    }
    uint64_t sum = 0;
    for (int64_t i = 0; i < w->p.n; i++)
        sum += rng_mix(rng_mix(rng_mix((uint64_t)w->p.metal[i]) + (uint64_t)w->p.birth[i]) +
                       (uint64_t)w->p.id[i]);
    int64_t mine = (int64_t)sum;
    n = w->p.n;
    comm_add_i64(&w->c, &n, 1);
    comm_add_i64(&w->c, &mine, 1);
    check(next == want && n == want - before && n > 1000, "all new particles are counted");
    check((uint64_t)mine == digest, "ids follow the cells, whichever rank they are on");
    check(bad == 0, "new particles belong to their level");
    part_enter(&w->p, &w->m, &w->c, w->d, LMIN);
    for (int l = LMIN; l <= LMAX; l++) {
        if (l > LMIN) part_enter(&w->p, &w->m, &w->c, w->d, l);
        part_hand_down(&w->p, &w->m, &w->c, w->d, l);
        for (int64_t i = w->p.first[l]; i < w->p.first[l + 1]; i++) bad += w->p.tag[i] != l;
    }
    check(bad == 0 && w->p.first[LMAX + 1] == w->p.n,
          "in the next step new particles are found on the level of their cell");
    world_free(&whole);
}

static void remove_all(void)
{
    static const char *const name[] = {"output_00001", "output_00002", "a_00001", "b_00001"};
    for (int i = 0; i < 4; i++)
        if (dir_remove(name[i]) != OK) printf("%s\n", err_message());
}

/* A particle at or beyond the upper face of the box belongs to the base oct at the lower face. */
static void test_base_oct(void)
{
    static const struct {
        double x;
        uint64_t oct;
    } at[] = {{0, 0}, {0.5, 1}, {1.999, 3}, {2, 0}, {2.6, 1}, {-0.1, 3}, {-1e-300, 0}};
    const struct ckpt_head h = {.ndim = 3, .levelmin = 3, .boxlen = 2};
    bool right = true;
    for (int i = 0; i < 7; i++)
        for (int j = 0; j < 7; j++) {
            const double *const x[3] = {&at[i].x, &at[j].x, &at[1].x};
            right &= reshape_base_oct(&h, x, 0) == okey_make(at[i].oct, at[j].oct, 1);
        }
    check_on(&alone, right, "octs of positions at the sides of the box and beyond");
}

int main(int argc, char **argv)
{
    struct world w;
    comm_init(&argc, &argv, &all);
    if (all.rank == 0) remove_all();
    comm_barrier(&all);
    world_new(&w, all, false);
    test_memory(&w);
    test_files(&w);
    test_new_particles(&w);
    test_narrow();
    test_base_oct();
    world_free(&w);
    comm_barrier(&all);
    if (all.rank == 0 && argc == 1) remove_all();
    if (all.rank == 0) printf("%lld passed, %lld failed\n", (long long)passed, (long long)failed);
    comm_bcast(&all, &failed, sizeof failed, 0);
    comm_fini();
    return failed != 0;
}
