/* grafic_test: GRAFIC2 files, read and written back, broken in one place each, and levels of which
 * one file has another header. Catches, among others: a byte order that is not swapped, ids
 * converted through doubles, a damaged record taken as data, a file of another time or position
 * taken for one of its level, lost omega_b of the headers. */
#include "base/mem.h"
#include "ics_world.h"

/* Replaces bytes of a file. */
static void poke(const char *name, long at, const void *p, size_t n)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", tmp, name);
    FILE *f = fopen(path, "r+b");
    fseek(f, at, SEEK_SET);
    fwrite(p, 1, n, f);
    fclose(f);
}

static const struct file SMALL = {
    .n = {6, 5, 4}, .real = {1.5f, 0, 3, 4.5f, 0.02f, 0.3f, 0.7f, 70}, .width = 4};

/* Around ±2^53, where doubles lose integers, and at the ends of 64 bits. */
static const int64_t FIRST[] = {0, ((int64_t)1 << 53) - 10200, -((int64_t)1 << 53) - 10200,
                                INT64_MAX - 30405, INT64_MIN};

static void check_ids(struct file h, int width, int64_t first)
{
    struct grafic f;
    int64_t id[3][6];
    float plane[5][6];
    double rows[6];
    h.width = width;
    h.first = first;
    write_file(tmp, "ids", &h, location, 0, true);
    CHECK(grafic_open(&f, tmp, "ids", true) == OK && f.width == width);
    CHECK(grafic_read_ids(&f, 1, 1, 3, &id[0][0]) == OK);
    for (int j = 0; j < 3; j++)
        for (int i = 0; i < 6; i++) CHECK(id[j][i] == first + 10000 + 100 * (1 + j) + i);
    if (width == 8) {
        CHECK(says(grafic_read_planes(&f, 0, 1, &plane[0][0]), ERR_FORMAT, "8-byte"));
        CHECK(says(grafic_read_rows(&f, 0, 0, 1, rows), ERR_FORMAT, "8-byte"));
    }
    grafic_close(&f);
}

static void test_grafic_round_trip(void)
{
    for (int order = 0; order < 2; order++) {
        struct file h = SMALL;
        struct grafic f;
        float plane[2][5][6];
        double rows[3][6];
        h.swap = order;
        write_file(tmp, "a", &h, location, 0.5, false);
        CHECK(grafic_exists(tmp, "a") && !grafic_exists(tmp, "b"));
        CHECK(grafic_open(&f, tmp, "a", true) == OK);
        CHECK(f.head.n[0] == 6 && f.head.n[1] == 5 && f.head.n[2] == 4 && f.head.dx == 1.5 &&
              f.head.off[2] == 4.5);
        CHECK(f.head.h0 == 70 && f.head.astart == (double)0.02f && f.swap == order && f.width == 4);
        CHECK(grafic_read_planes(&f, 2, 2, &plane[0][0][0]) == OK);
        CHECK(plane[0][0][0] == location(0, 0, 2, 0.5) && plane[1][4][5] == location(5, 4, 3, 0.5));
        CHECK(plane[1][2][1] == location(1, 2, 3, 0.5));
        CHECK(grafic_read_rows(&f, 3, 2, 3, &rows[0][0]) == OK);
        for (int j = 0; j < 3; j++)
            for (int i = 0; i < 6; i++) CHECK(rows[j][i] == (double)plane[1][2 + j][i]);
        grafic_close(&f);
        check_ids(h, 4, 0);
        for (size_t i = 0; i < sizeof FIRST / sizeof *FIRST; i++) check_ids(h, 8, FIRST[i]);
    }
}

static void test_grafic_damage(void)
{
    const long plane = 6 * 5 * 4, first = 52; /* marker of plane 1 */
    struct file h = SMALL;
    struct grafic f;
    float out[4 * 5 * 6], nan = NAN;
    double rows[30];
    int32_t n;
    CHECK(says(grafic_open(&f, tmp, "none", true), ERR_FILE, "none: cannot open"));
    write_file(tmp, "a", &h, location, 0, false);
    truncate(path_in(tmp, "a"), first + 3 * (plane + 8));
    CHECK(says(grafic_open(&f, tmp, "a", true), ERR_FORMAT, "truncated"));
    truncate(path_in(tmp, "a"), 30);
    CHECK(says(grafic_open(&f, tmp, "a", true), ERR_FORMAT, "ends at byte 30"));
    write_file(tmp, "a", &h, location, 0, false);
    poke("a", 0, &(int32_t){45}, 4);
    CHECK(says(grafic_open(&f, tmp, "a", true), ERR_FORMAT, "not a GRAFIC file"));
    write_file(tmp, "a", &h, location, 0, false);
    poke("a", first + 2 * (plane + 8) - 4, &(int32_t){9}, 4); /* end of plane 2 */
    CHECK(grafic_open(&f, tmp, "a", true) == OK);
    CHECK(grafic_read_planes(&f, 0, 1, out) == OK);
    CHECK(says(grafic_read_planes(&f, 0, 2, out), ERR_FORMAT, "plane 2 of 4"));
    CHECK(says(grafic_read_rows(&f, 1, 0, 1, rows), ERR_FORMAT, "markers 120 and 9"));
    grafic_close(&f);
    write_file(tmp, "a", &h, location, 0, false);
    poke("a", first + 2 * (plane + 8) + 4 + 4 * (6 * 3 + 2), &nan, 4);
    CHECK(grafic_open(&f, tmp, "a", true) == OK);
    CHECK(says(grafic_read_planes(&f, 0, 4, out), ERR_FORMAT,
               "plane 3 of 4: the value at row 4, column 3"));
    CHECK(grafic_read_rows(&f, 2, 0, 3, rows) == OK);
    CHECK(says(grafic_read_rows(&f, 2, 2, 2, rows), ERR_FORMAT, "row 4, column 3"));
    grafic_close(&f);
    static const struct {
        int word;
        float value;
        const char *text;
    } bad[] = {{3, 0, "cell size"},         {3, -1, "cell size"},
               {5, INFINITY, "not finite"}, {7, 1.5f, "expansion factor"},
               {7, 0, "expansion factor"},  {10, 0, "h0"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        write_file(tmp, "a", &h, location, 0, false);
        poke("a", 4 + 4 * bad[i].word, &bad[i].value, 4);
        CHECK(says(grafic_open(&f, tmp, "a", true), ERR_FORMAT, bad[i].text));
    }
    for (int i = 0; i < 3; i++) {
        n = (int32_t[]){0, -5, 100000}[i];
        write_file(tmp, "a", &h, location, 0, false);
        poke("a", 8, &n, 4);
        CHECK(says(grafic_open(&f, tmp, "a", true), ERR_FORMAT, "along y"));
    }
    n = 7;
    write_file(tmp, "a", &h, location, 0, false);
    poke("a", 8, &n, 4);
    CHECK(says(grafic_open(&f, tmp, "a", true), ERR_FORMAT, "6 x 7 x 4"));
}

/* Every number in the header of every file of a level is compared, whether a run reads the file or
 * not. */
static void test_alike(void)
{
    static const char *const name[] = {"ic_velbx",  "ic_velcz",      "ic_poscy",
                                       "ic_refmap", "ic_pvar_00001", "ic_tempb",
                                       "ic_massc",  "ic_velcx",      "ic_particle_ids"};
    static const struct {
        int at;
        float value;
        const char *text;
    } bad[] = {{0, 8.001f, "has cells of 8.001 Mpc where ic_deltab has 8"},
               {2, 33.f, "has the offset 33 along y where ic_deltab has 32"},
               {4, 0.05f, "astart, omega_m, omega_v, h0 = 0.05, 0.3, 0.7, 70 where ic_deltab has"},
               {5, 0.31f, "0.02, 0.31, 0.7, 70 where"},
               {6, 0.71f, "0.02, 0.3, 0.71, 70 where"},
               {7, 71, "0.02, 0.3, 0.7, 71 where"}};
    struct ics_grafic g = {0};
    for (size_t f = 0; f < sizeof name / sizeof *name; f++) {
        bool ids = f == 8;
        for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
            struct file h = LEVEL_4;
            only_file(&h);
            write_file(dirs[1], name[f], &h, delta, 4, ids);
            CHECK(open_files(&g, 3, 2, 0.06, 10) == OK);
            ics_grafic_close(&g);
            h.real[bad[i].at] = bad[i].value;
            write_file(dirs[1], name[f], &h, delta, 4, ids);
            CHECK(says(open_files(&g, 3, 2, 0.06, 10), ERR_FORMAT, bad[i].text));
            CHECK(strstr(err_message(), name[f]) != NULL);
        }
        struct file h = LEVEL_4;
        only_file(&h);
        h.n[1] = 6;
        write_file(dirs[1], name[f], &h, delta, 4, ids);
        CHECK(says(open_files(&g, 3, 2, 0.06, 10), ERR_FORMAT,
                   "has 6 cells along y where ic_deltab has 8"));
    }
    /* files that are no field of a set are ignored */
    only_file(&LEVEL_4);
    write_file(dirs[1], "ic_velcx.old", &SMALL, delta, 4, false);
    write_file(dirs[1], "ic_refmap_2", &SMALL, delta, 4, false);
    CHECK(open_files(&g, 3, 2, 0.06, 10) == OK);
    ics_grafic_close(&g);
}

static enum err open_baryons(struct ics_grafic *g, bool gas, bool given)
{
    const struct ics_set set = {.levelmin = 3,
                                .nlev = 2,
                                .dir = dir_list,
                                .cosmo = true,
                                .gas = gas,
                                .omega_b = 0.06,
                                .omega_b_given = given,
                                .aexp_ini = 10};
    return ics_grafic_open(g, &set, &ONE);
}

/* Headers of 48 bytes end with omega_b. */
static void test_baryons(void)
{
    struct ics_grafic g = {0};
    struct file h = LEVEL_4;
    double whole[8][8], small[8][8];
    struct grafic f;
    for (int order = 0; order < 2; order++) {
        h = LEVEL_4, h.swap = order;
        only_file(&h);
        CHECK(grafic_open(&f, dirs[1], "ic_deltab", true) == OK && isnan(f.head.omega_b));
        CHECK(grafic_read_rows(&f, 3, 0, 8, &small[0][0]) == OK);
        grafic_close(&f);
        h.baryons = true;
        write_file(dirs[1], "ic_deltab", &h, delta, 4, false);
        CHECK(grafic_open(&f, dirs[1], "ic_deltab", true) == OK);
        CHECK(f.head.omega_b == (double)0.05f && f.head.h0 == 70 && f.swap == order);
        CHECK(grafic_read_rows(&f, 3, 0, 8, &whole[0][0]) == OK);
        CHECK(memcmp(whole, small, sizeof whole) == 0);
        grafic_close(&f);
    }
    CHECK(open_baryons(&g, true, false) == OK && near(g.par.omega_b, 0.05, 1e-6));
    ics_grafic_close(&g);
    CHECK(open_baryons(&g, true, true) == OK && g.par.omega_b == 0.06 &&
          near(g.omega_b, 0.05, 1e-6));
    ics_grafic_close(&g);
    CHECK(open_baryons(&g, false, false) == OK && g.par.omega_b == 0);
    ics_grafic_close(&g);
    h.real[8] = 0.051f;
    write_file(dirs[1], "ic_velcx", &h, delta, 4, false);
    CHECK(says(open_baryons(&g, true, true), ERR_FORMAT,
               "ic_velcx: has another cosmology: omega_b = 0.051 where ic_deltab has 0.05"));
    h.baryons = false; /* a header without omega_b agrees with any */
    write_file(dirs[1], "ic_velcx", &h, delta, 4, false);
    CHECK(open_baryons(&g, true, true) == OK);
    ics_grafic_close(&g);
    h.baryons = true;
    for (int i = 0; i < 3; i++) {
        h.real[8] = (float[]){-0.1f, 0.4f, NAN}[i];
        write_file(dirs[1], "ic_deltab", &h, delta, 4, false);
        CHECK(says(open_baryons(&g, true, true), ERR_FORMAT,
                   i < 2 ? "is not between 0 and omega_m" : "not finite"));
    }
}

/* Dark matter without gas needs no ic_deltab. */
static void test_dark(void)
{
    struct ics_grafic g = {0};
    fresh("p");
    for (int i = 0; i < 2; i++) remove(path_in(dirs[i], "ic_deltab"));
    CHECK(open_baryons(&g, false, false) == OK && g.par.omega_b == 0 && g.levelmax == 4);
    CHECK(strcmp(g.lev[4].first, "ic_velcx") == 0);
    ics_grafic_close(&g);
    CHECK(says(open_baryons(&g, true, false), ERR_FILE, "ic_deltab: cannot open"));
}

int main(void)
{
    world_begin();
    test_grafic_round_trip();
    test_grafic_damage();
    test_alike();
    test_baryons();
    test_dark();
    clean_level(tmp);
    printf("%d passed, %d failed\n", passed, failed);
    return failed != 0;
}
