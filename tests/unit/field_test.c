/* Laws of the fields of a mesh: whatever is done to a mesh, every value of every row of the table
 * is found again: ghosts, migration, copies on a device, octs that are created and removed, the
 * values of split cells, and for what is written both formats, reshaping and restart, on any number
 * of ranks, of runs without gravity, with it, and with the scalar field of another theory.
 *
 * Every field holds noise, a function of field, level, key and cell. The test loops over the table,
 * so that new rows are tested too. Last line: N passed, N failed. */
#include "ckpt_world.h"
#include "curamses/write.h"
#include "dom/ghost.h"
#include "io/dir.h"
#include "oct/fields.h"
#include "reshape/priv.h"
#include "resume/resume.h"
#include "test_device.h"

static double value_of(int f, int l, okey k, int c)
{
    const int v = f - FLD_GAS;
    if (v < 0) return cell_noise(20 + f, l, k, c) - 0.5;
    const double x = cell_noise(v, l, k, c);
    return v == 0 ? 0.1 + x : v == GAS_ENERGY ? 30 + x : x - 0.5;
}

/* Fills all octs of levels first … LMAX, or only own ones, with NAN in ghosts. */
static void fill(struct mesh *m, int first, bool own)
{
    for (int l = first; l <= LMAX; l++)
        for (int f = 0; f < FLD_MAX; f++)
            for (lidx i = 0; mesh_has_field(m, f) && i < m->lev[l].noct; i++)
                for (int c = 0; c < 8; c++)
                    m->lev[l].fld[f][i][c] = own && i >= m->lev[l].nown
                                                 ? NAN
                                                 : value_of(f, l, m->lev[l].key[i], c);
}

static int64_t wrong_in(const struct mesh *m, int f, int l)
{
    const struct level *lv = &m->lev[l];
    int64_t wrong = 0;
    for (lidx i = 0; i < lv->noct; i++)
        for (int c = 0; c < 8; c++) wrong += lv->fld[f][i][c] != value_of(f, l, lv->key[i], c);
    return wrong;
}

static void check_row(int64_t wrong, const struct field_row *r, const char *what)
{
    char text[200];
    snprintf(text, sizeof text, "%s: %s keeps its values (%ld wrong)", what, r->words, (long)wrong);
    check(wrong == 0, text);
}

/* Checks fields of levels first … LMAX; only stored fields, or all. */
static void check_mesh(const struct mesh *m, int first, bool written, const char *what)
{
    for (int i = 0; i < FIELD_ROWS; i++) {
        const struct field_row *r = &field_rows[i];
        int64_t wrong = 0;
        if (written && r->file < FILE_GAS) continue;
        for (int l = first; l <= LMAX; l++)
            for (int k = 0; k < field_row_count(m, r); k++) wrong += wrong_in(m, r->first + k, l);
        check_row(wrong, r, what);
    }
}

/* Catches: a field omitted in the exchange, or in the move to another owner. */
static void test_ranks(struct world *w)
{
    fill(&w->m, 1, true);
    for (int l = 1; l <= LMAX; l++)
        ghost_fill_set(&w->c, &w->m, l, SET_GHOSTED & ~(field_set)SET_FLAG);
    check_mesh(&w->m, 1, false, "ghosts");
    struct domain *d = domain_new(DOMAIN_KSECTION, w->c.size, LMAX, w->m.bounded);
    adapt_redistribute(&w->m, &w->c, w->d, d);
    check_mesh(&w->m, 1, false, "migration");
    adapt_redistribute(&w->m, &w->c, d, w->d);
    domain_free(d);
    check_mesh(&w->m, 1, false, "migration back");
}

/* Catches: a field omitted in a copy to the device or back. */
static void test_mirror(struct world *w)
{
    struct test_mirror on;
    check(test_mirror_open(&on, &w->m, 1, 0) == OK, "a device is there");
    fill(&w->m, 1, false);
    for (int i = 0; i < FIELD_ROWS; i++)
        for (int l = 1, n; l <= LMAX; l++) {
            n = field_row_count(&w->m, &field_rows[i]);
            check(mirror_need(&on.mirror, &w->m, l, field_rows[i].first, n, LOCATION_DEVICE) == OK,
                  "a field goes to the device");
            mirror_wrote(&on.mirror, l, field_rows[i].first, n, LOCATION_DEVICE);
        }
    check(mirror_home(&on.mirror, &w->m, true) == OK, "all fields come home");
    check_mesh(&w->m, 1, false, "device");
    check(test_mirror_close(&on) == 0, "nothing is left on the device");
}

/* ---- between levels ---- */

static void flag_level(struct world *w, int l, bool split)
{
    struct level *lv = &w->m.lev[l];
    for (lidx i = 0; i < lv->nown; i++)
        for (int k = 0; k < 8; k++) lv->flag[i][k] = split && want_split(l, lv->key[i], k);
    adapt_refine(&w->m, &w->c, w->d, l, NULL, NULL);
}

/* Value k of row r in cell c of a new oct, in a cell with these values of the row. */
static double created(const struct field_row *r, int k, int c, const double *cell)
{
    if (r->prolong != PROLONG_LINEAR || r->centre != FIELD_FACE) return cell[k];
    const int axis = k / 2, side = k % 2;
    return (c >> axis & 1) == side ? cell[k] : 0.5 * (cell[2 * axis + side] + cell[k ^ 1]);
}

/* Number of new octs of level l, own ones and ghosts, that differ from the values of their parent
 * cells. */
static int64_t wrong_created(const struct mesh *m, const struct field_row *r, int l)
{
    const struct level *lv = &m->lev[l];
    int64_t wrong = 0;
    for (lidx i = 0; i < lv->noct; i++) {
        double cell[NVAR_MAX];
        const int n = field_row_count(m, r);
        for (int k = 0; k < n; k++)
            cell[k] = value_of(r->first + k, l - 1, lv->key[i] >> 3, (int)(lv->key[i] & 7));
        for (int k = 0; k < n; k++)
            for (int c = 0; c < 8; c++)
                wrong += lv->fld[r->first + k][i][c] != created(r, k, c, cell);
    }
    return wrong;
}

/* Catches: a field missing in new octs, or one that does not preserve its divergence. */
static void test_refinement(struct world *w)
{
    fill(&w->m, 1, false);
    flag_level(w, LMAX - 1, false);
    check(w->m.lev[LMAX].total == 0, "the finest octs are removed");
    check_mesh(&w->m, 1, false, "removed octs");
    flag_level(w, LMAX - 1, true);
    check(w->m.lev[LMAX].total > 0, "octs are created");
    check_mesh(&w->m, LMAX + 1, false, "created octs");
    for (int i = 0; i < FIELD_ROWS; i++)
        check_row(wrong_created(&w->m, &field_rows[i], LMAX), &field_rows[i], "created octs");
}

/* Mean over the cells c0 … of the finer oct that touch value k of row r, by coordinates. */
static double mean_of(const struct field_row *r, int k, int l, okey child)
{
    double sum = 0;
    int n = 0;
    for (int c = 0; c < 8; c++) {
        bool touches = true;
        for (int d = 0; d < 3; d++) {
            const int side = c >> d & 1;
            if (r->centre == FIELD_FACE && d == k / 2) touches &= side == k % 2;
            if (r->centre == FIELD_EDGE && d != k / 4) {
                const int high = (k / 4 + 1) % 3 == d ? k & 1 : k >> 1 & 1;
                touches &= side == high;
            }
        }
        if (!touches) continue;
        sum += value_of(r->first + k, l, child, c);
        n++;
    }
    return sum / n;
}

/* Catches: split cells that do not hold the means, and leaves that are changed. */
static void test_restriction(struct world *w)
{
    const int l = LMIN;
    const struct level *lv = &w->m.lev[l];
    fill(&w->m, 1, false);
    fields_restrict(&w->m, l);
    photons_restrict(&w->m, l);
    for (int j = 0; j < FIELD_ROWS; j++) {
        const struct field_row *r = &field_rows[j];
        int64_t wrong = 0;
        for (int k = 0; k < field_row_count(&w->m, r); k++)
            for (lidx i = 0; i < lv->nown; i++)
                for (int c = 0; c < 8; c++) {
                    const okey key = lv->key[i];
                    const bool mean = (r->restrict_by == RESTRICT_MEAN ||
                                       r->restrict_by == RESTRICT_GROUPS) &&
                                      lv->child[i][c] >= 0;
                    wrong += lv->fld[r->first + k][i][c] !=
                             (mean ? mean_of(r, k, l + 1, key << 3 | (okey)c)
                                   : value_of(r->first + k, l, key, c));
                }
        check_row(wrong, r, "split cells");
    }
}

/* ---- files ---- */

struct look {
    const struct source *s;
    int64_t cells, wrong;
};

static enum err look_at(const struct source_octs *o, void *ctx)
{
    struct look *g = ctx;
    for (int v = 0; v < g->s->nvalue; v++) {
        const int f = field_stored(g->s->values, NVAR, v, 3);
        const bool zero = o->level < LMIN && field_row_of(f)->file == FILE_GRAVITY;
        for (int c = 0; c < 8; c++)
            for (int i = 0; i < o->n; i++, g->cells++)
                g->wrong += o->val[8 * v + c][i] !=
                            (zero ? 0 : value_of(f, o->level, o->key[i], c));
    }
    return OK;
}

static void check_file(const char *path, const char *what)
{
    struct source *s = NULL;
    struct look g = {0};
    char text[200];
    enum err err = source_open_state(path, GAMMA, SMALLR, &s);
    const field_set want = fields_written(
        (struct mesh_kind){NVAR, world_gravity, false, world_groups});
    g.s = s;
    for (int k = 0; err == OK && k < s->npiece; k++)
        err = source_octs(s, k, SOURCE_STATE, look_at, &g);
    for (int v = NVAR; err == OK && v < s->nfield; v++) {
        char name[FIELD_NAME];
        field_name(field_stored(want, NVAR, v, 3), name);
        g.wrong += strcmp(s->field[v].name, name) != 0;
    }
    g.wrong += err == OK && (s->fields != want || s->values != want || s->nhydro != NVAR);
    source_close(&s);
    snprintf(text, sizeof text, "%s, %s gravity, has all written fields (%ld wrong)", what,
             world_gravity ? "with" : "without", (long)g.wrong);
    check(err == OK && g.cells > 0 && g.wrong == 0, text);
}

static void check_restart(const char *path, int gravity, const char *what)
{
    struct mesh m;
    const double cost[LEVEL_MAX + 2] = {0};
    const bool periodic[6] = {false};
    struct resume r = {.comm = &all, .mesh = &m, .gas = &world_gas, .oct_cost = cost};
    mesh_init(&m, LMIN, LMAX, NVAR, true, gravity, BOX, periodic);
    mesh_set_photons(&m, world_groups);
    enum err err = source_open_state(path, GAMMA, SMALLR, &r.from);
    if (err == OK) err = resume_read(&r);
    check(err == OK, what);
    if (err == OK) check_mesh(&m, LMIN, true, what);
    source_close(&r.from);
    mesh_fini(&m);
    domain_free(r.dom);
}

static void reshape_to(const char *from, const char *out, const struct writer_kind *writer,
                       int nrank)
{
    struct source *s;
    struct reshape opt = {.out = out,
                          .writer = writer,
                          .kind = DOMAIN_HILBERT,
                          .nrank = nrank,
                          .overwrite = true,
                          .memory = (int64_t)1 << 30};
    enum err err = source_open_whole(from, &opt.mode, &s);
    if (err == OK) err = reshape_run(&opt, s, &all);
    source_close(&s);
    check(err == OK, "a checkpoint is written anew");
    check_file(out, "a checkpoint that is written anew");
}

/* Catches: a field omitted by a writer, a reader or the restart. */
static void test_files(struct world *w)
{
    char path[256];
    fill(&w->m, 1, false);
    check(part_distribute(&w->p, &w->m, &w->c, w->d) == OK, "particles are distributed");
    check(world_write(w, &ramses_writer, 1, path, sizeof path) == OK, "RAMSES binary is written");
    check_file(path, "RAMSES binary");
    check_restart(path, world_gravity, "restart from RAMSES binary");
    check_restart(path, 0, "restart without gravity from RAMSES binary");
    reshape_to(path, "a_00001", &ramses_writer, 3);
#ifdef PTAH_HDF5
    check(world_write(w, &hdf5_writer, 2, path, sizeof path) == OK, "HDF5 is written");
    check_file(path, "HDF5");
    check_restart(path, world_gravity, "restart from HDF5");
    check_restart(path, 0, "restart without gravity from HDF5");
    reshape_to("a_00001", "b_00001", &hdf5_writer, 1);
    reshape_to("b_00001", "a_00001", &ramses_writer, 2);
#endif
}

/* ---- the table ---- */

/* Catches: memory missing in forecasts, a slot shared by two values. */
static void test_table(const struct mesh *m)
{
    size_t n = 0;
    for (int f = 0; f < FLD_MAX; f++) n += mesh_has_field(m, f);
    const struct mesh_bytes b = mesh_bytes(mesh_kind(m));
    check(b.gas + b.gravity + b.radiation == n * sizeof(double[8]), "all fields count as memory");
    const struct mesh_bytes none = mesh_bytes((struct mesh_kind){.nvar = 0});
    check(none.gas + none.gravity + none.radiation == 0, "no field, no memory");
    for (int f = 0; f < FLD_MAX; f++)
        for (int g = 0; g < f; g++) {
            const struct field_place p = field_place(f), q = field_place(g);
            if (field_row_of(f) == field_row_of(g) && field_row_of(f)->centre != FIELD_CELL)
                check(p.fixed != q.fixed || p.side != q.side, "each value has its own place");
        }
}

static void remove_all(void)
{
    static const char *const name[] = {"output_00001", "output_00002", "a_00001", "b_00001"};
    for (int i = 0; i < 4; i++)
        if (dir_remove(name[i]) != OK) printf("%s\n", err_message());
}

/* Catches: a number of values in gravity files that is taken for another's. */
static void test_numbers(void)
{
    field_set own = 0;
    for (int i = 0; i < FIELD_ROWS; i++)
        if (field_rows[i].file == FILE_GRAVITY) own |= (field_set)1 << i;
    check(fields_of_gravity(fields_count(own, FILE_GRAVITY, 3), 3, own) == own,
          "files of this code have its rows, whatever other codes mean by their number");
    check(fields_of_gravity(3, 3, 0) == SET_FORCE, "three values are the force");
    check(fields_of_gravity(4, 3, 0) == (SET_PHI | SET_FORCE), "four are potential and force");
    check(fields_of_gravity(5, 3, 0) == (SET_RHO | SET_PHI | SET_FORCE), "five have the density");
    check(fields_of_gravity(4, 2, 0) == (SET_RHO | SET_PHI | SET_FORCE), "so have four in a plane");
    check(field_stored(fields_of_gravity(5, 3, 0), 0, 0, 3) == FLD_RHO, "the density comes first");
    check(fields_of_gravity(2, 3, 0) == 0 && fields_of_gravity(6, 3, 0) == 0,
          "no code writes two or six");
}

static void test_world(bool clean)
{
    struct world w;
    if (all.rank == 0) remove_all();
    comm_barrier(&all);
    world_new(&w, all, false);
    test_table(&w.m);
    test_ranks(&w);
    test_mirror(&w);
    test_files(&w);
    test_refinement(&w);
    test_restriction(&w);
    world_free(&w);
    comm_barrier(&all);
    if (all.rank == 0 && clean) remove_all();
}

int main(int argc, char **argv)
{
    comm_init(&argc, &argv, &all);
    for (int gravity = 0; gravity < 3; gravity++) {
        world_gravity = gravity;
        world_groups = 2 * gravity;
        test_world(argc == 1);
    }
    test_numbers();
    if (all.rank == 0) printf("%lld passed, %lld failed\n", (long long)passed, (long long)failed);
    comm_bcast(&all, &failed, sizeof failed, 0);
    comm_fini();
    return failed != 0;
}
