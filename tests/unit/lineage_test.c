/* lineage_test: links of groups of particles from output to output: a group that moves keeps its
 * chain, merging groups leave one negative row, a group that passes through another one is found
 * again; random groups against a reference that tries all pairs; equal files for any ranks and any
 * order of the input; files of progenitors in all layouts of RAMSES, and damaged ones; stellar
 * masses. Catches: a link that is not mutual, a merit with the masses exchanged, a progenitor that
 * tries one candidate only in a round, a past progenitor that is linked twice, a tie that is broken
 * by order, a galaxy that is not the most bound particle, a row of another rank that is not joined.
 */
/* test: tier=quick */
#include "lineage/link.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/rng.h"
#include "check.h"
#include "io/file.h"
#include "lineage/files.h"
#include "lineage/tables.h"

static struct comm comm;
static const struct comm alone = {.size = 1};

enum { NP = 3000, NMOST = 20, FILES = LINEAGE_FILES + 1 };

/* ---- a run whose groups are given ---- */

/* State that a run carries on; on rank 0. */
struct run {
    const struct comm *c;
    bool permuted;
    int output;
    struct lineage_par par;
    struct lineage_groups earlier;
    struct lineage_past past;
    struct lineage_links links;
    struct ckpt_file file[FILES]; /* the last is the table of links */
};

/* Small integers, so that energies are often equal. */
static double energy_of(int64_t id)
{
    struct rng g = rng_make(11, (uint64_t)id, 0);
    return floor(40 * rng_uniform(&g)) - 100;
}

/* Clumps of this rank: particle i, with id i + 1, is in clump in[i], 0: in none. */
static struct clumps clumps_of(const struct run *r, const int *in)
{
    struct clumps k = {.min_mass = 1};
    k.member = mem_new(sizeof *k.member * NP, "test");
    k.at = mem_new(sizeof *k.at * NP, "test");
    for (int j = 0; j < NP; j++) {
        int i = r->permuted ? NP - 1 - j : j;
        if (in[i] && (i * 7) % r->c->size == r->c->rank)
            k.member[k.nmember++] = (struct clump_member){
                i + 1, in[i], energy_of(i + 1), {i, 0, 0}};
    }
    for (int c = 1; c < NP; c++) {
        struct clump row = {.index = c, .parent = c, .x = {c, 0, 0}};
        for (int i = 0; i < NP; i++) row.nbound += in[i] == c;
        row.bound_mass = (double)row.nbound;
        if (row.nbound && c % r->c->size == r->c->rank) k.at[k.n++] = row;
    }
    return k;
}

static void drop_last(struct run *r)
{
    lineage_links_free(&r->links);
    for (int i = 0; i < FILES; i++) FREE(r->file[i].text);
}

/* The next output. */
static void next(struct run *r, const int *in)
{
    struct clumps k = clumps_of(r, in);
    struct lineage_clumps now;
    int64_t tracers = lineage_tracers(&r->earlier), n = tracers + r->past.n;
    int64_t *id = mem_new(sizeof *id * (size_t)n + 1, "test");
    struct lineage_place *at = mem_new(sizeof *at * (size_t)n + 1, "test");
    drop_last(r);
    lineage_clumps_make(&k, r->c, NMOST, true, &now);
    now.groups.output = ++r->output;
    for (int64_t i = 0; i < n; i++)
        id[i] = i < tracers ? r->earlier.particle[i] : r->past.at[i - tracers].galaxy;
    lineage_find(&k, r->c, &now.groups, n, id, at);
    lineage_link(&r->earlier, at, &now.groups, &r->past, at + tracers, &r->links);
    struct ckpt_file *f = &r->file[LINEAGE_FILES];
    f->text = lineage_links_text(&now, &r->earlier, &r->past, &r->links, 1, &f->bytes);
    lineage_carry(&r->par, &r->earlier, &now.groups, &r->links, &r->past);
    lineage_files(&now.groups, &r->past, true, false, r->file);
    lineage_groups_free(&r->earlier);
    r->earlier = now.groups;
    memset(&now.groups, 0, sizeof now.groups);
    lineage_clumps_free(&now);
    clumps_free(&k);
    FREE(at);
    FREE(id);
}

static void run_end(struct run *r)
{
    drop_last(r);
    lineage_groups_free(&r->earlier);
    lineage_past_free(&r->past);
}

/* Puts particles a..b−1 into group c. */
static void put(int *in, int c, int a, int b)
{
    for (int i = a; i < b; i++) in[i] = c;
}

/* ---- known histories ---- */

static void test_chain(void)
{
    struct run r = {.c = &alone};
    int in[NP] = {0};
    for (int output = 1; output < 5; output++) {
        put(in, output % 2 ? 3 : 8, 100 + output, 200 - 2 * output); /* numbers change */
        put(in, output % 2 ? 8 : 3, 300, 420);
        next(&r, in);
        if (output == 1) continue;
        CHECK(r.links.progenitor[0] == 1 && r.links.progenitor[1] == 0);
        CHECK(!r.links.merged[0] && !r.links.merged[1] && r.past.n == 0);
    }
    CHECK(r.earlier.peak[1] == 97, "%g", r.earlier.peak[1]);
    run_end(&r);
}

static int count_lines(const char *text, size_t bytes, const char *part)
{
    int n = 0;
    for (const char *s = text; (s = memmem(s, bytes - (size_t)(s - text), part, strlen(part))); s++)
        n++;
    return n;
}

static void test_merger(void)
{
    struct run r = {.c = &alone};
    int in[NP] = {0};
    put(in, 1, 0, 300);
    put(in, 2, 300, 400);
    put(in, 5, 600, 700);
    next(&r, in);
    put(in, 1, 300, 400);
    next(&r, in);
    const struct ckpt_file *f = &r.file[LINEAGE_FILES];
    CHECK(r.links.merged[1] && r.links.descendant[1] == 0 && !r.links.merged[0]);
    CHECK(count_lines(f->text, f->bytes, " -1 ") == 1 && count_lines(f->text, f->bytes, "\n") == 4);
    CHECK(r.past.n == 1 && r.past.at[0].id == 2 && r.past.at[0].output == 1);
    CHECK(r.past.at[0].galaxy > 300 && r.past.at[0].galaxy <= 400 && r.past.at[0].mass == 100);
    run_end(&r);
}

/* A group is lost in another one for `gap` outputs, and found again with half of its mass. */
static void fly_through(int gap, int max_past, bool is_found)
{
    struct run r = {.c = &alone, .par.max_past = max_past};
    int in[NP] = {0};
    put(in, 1, 0, 1000);
    put(in, 2, 1000, 1100);
    next(&r, in);
    put(in, 1, 1000, 1100);
    for (int i = 0; i < gap; i++) next(&r, in);
    int64_t galaxy = r.past.n ? r.past.at[0].galaxy - 1 : 1000;
    for (int i = 1000; i < 1100; i++)
        if (i % 2 || i == galaxy) in[i] = 3;
    next(&r, in);
    CHECK(r.links.progenitor[1] == -1 && (r.links.jumped[1] == 0) == is_found);
    CHECK(r.past.n == 0 && r.earlier.peak[1] == (is_found ? 100 : r.earlier.mass[1]));
    const struct ckpt_file *f = &r.file[LINEAGE_FILES];
    CHECK(count_lines(f->text, f->bytes, " -2              1 ") == is_found);
    run_end(&r);
}

/* A group without any particle in a later one. */
static void test_lost(void)
{
    for (int keep = 0; keep < 2; keep++) {
        struct run r = {.c = &alone, .par.keep_lost = keep};
        int in[NP] = {0}, none[NP] = {0};
        put(in, 4, 10, 50);
        next(&r, in);
        next(&r, none);
        CHECK(r.links.descendant[0] == -1 && r.past.n == keep);
        next(&r, in);
        CHECK((r.links.jumped[0] == 0) == keep && r.past.n == 0);
        run_end(&r);
    }
}

/* ---- random groups ---- */

/* Particles in about ng groups of all sizes, which exchange particles from one output to the next.
 */
static void shuffle(int *in, int ng, int output)
{
    for (int i = 0; i < NP; i++) {
        struct rng g = rng_make(5, (uint64_t)i, (uint32_t)output);
        if (output > 0 && rng_uniform(&g) < 0.6) continue;
        double x = rng_uniform(&g);
        in[i] = rng_uniform(&g) < 0.2 ? 0 : 1 + (int)(x * x * ng);
    }
}

struct reference {
    int n[64][64]; /* tracers of a in b */
    double mass_a[64], mass_b[64];
    bool tried_a[64][64], tried_b[64][64];
    int of_a[64], of_b[64];
};

static double merit_of(const struct reference *r, int a, int b)
{
    double x = r->mass_a[a], y = r->mass_b[b], ratio = fabs(1 - (x > y ? x / y : y / x));
    if (ratio < 1e-100) ratio = 1e-100;
    return r->n[a][b] / ratio / ratio;
}

/* Best candidate that was not tried yet, −1: none. Of equal merits the heavier, then the first. */
static int best_b(const struct reference *r, int a)
{
    int best = -1;
    for (int b = 0; b < 64; b++) {
        if (!r->n[a][b] || r->tried_a[a][b]) continue;
        if (best >= 0) {
            double x = merit_of(r, a, b), y = merit_of(r, a, best);
            if (x < y * (1 - 1e-12)) continue;
            if (x < y * (1 + 1e-12) && r->mass_b[b] <= r->mass_b[best]) continue;
        }
        best = b;
    }
    return best;
}

static int best_a(const struct reference *r, int b)
{
    int best = -1;
    for (int a = 0; a < 64; a++) {
        if (!r->n[a][b] || r->tried_b[b][a]) continue;
        if (best >= 0) {
            double x = merit_of(r, a, b), y = merit_of(r, best, b);
            if (x < y * (1 - 1e-12)) continue;
            if (x < y * (1 + 1e-12) && r->mass_a[a] <= r->mass_a[best]) continue;
        }
        best = a;
    }
    return best;
}

/* The rounds as the paper words them. */
static void refer(struct reference *r)
{
    for (int b = 0; b < 64; b++) r->of_b[b] = best_a(r, b);
    for (bool again = true; again;) {
        again = false;
        for (int a = 0; a < 64; a++) {
            if (r->of_a[a] > 0) continue;
            memset(r->tried_a[a], 0, sizeof r->tried_a[a]);
            for (int b; (b = best_b(r, a)) >= 0;) {
                r->tried_a[a][b] = true;
                if (r->of_b[b] != a) continue;
                r->of_a[a] = b + 1;
                break;
            }
        }
        for (int b = 0; b < 64; b++) {
            int a = r->of_b[b];
            if (a < 0 || r->of_a[a] == b + 1) continue;
            r->tried_b[b][a] = true;
            r->of_b[b] = best_a(r, b);
            again = true;
        }
    }
}

/* Fills the reference from the groups and the clumps of their particles, by clump numbers. */
static void compare(const struct lineage_groups *was, const int *in, const struct run *now)
{
    struct reference *r = mem_zero(sizeof *r, "test");
    int links = 0;
    for (int64_t k = 0; k < was->n; k++) {
        r->mass_a[was->id[k]] = was->mass[k];
        for (int64_t i = was->first[k]; i < was->first[k + 1]; i++)
            if (in[was->particle[i] - 1]) r->n[was->id[k]][in[was->particle[i] - 1]]++;
    }
    for (int64_t k = 0; k < now->earlier.n; k++)
        r->mass_b[now->earlier.id[k]] = now->earlier.mass[k];
    refer(r);
    for (int64_t k = 0; k < now->earlier.n; k++) {
        int64_t a = now->links.progenitor[k];
        int mine = a < 0 ? -1 : (int)was->id[a];
        CHECK(mine == r->of_b[now->earlier.id[k]], "%d, not %d", mine, r->of_b[now->earlier.id[k]]);
        links += a >= 0;
    }
    for (int64_t a = 0; a < was->n; a++) {
        memset(r->tried_a[was->id[a]], 0, sizeof r->tried_a[a]);
        bool merged = r->of_a[was->id[a]] == 0;
        int b = merged ? best_b(r, (int)was->id[a]) : r->of_a[was->id[a]] - 1;
        int64_t d = now->links.descendant[a];
        CHECK(now->links.merged[a] == merged && (d < 0 ? -1 : now->earlier.id[d]) == b);
    }
    CHECK(links > 10, "%d", links);
    mem_free(r);
}

static struct lineage_groups copy_of(const struct lineage_groups *g)
{
    struct lineage_groups c;
    lineage_groups_make(&c, g->n, lineage_tracers(g));
    memcpy(c.id, g->id, sizeof *c.id * (size_t)g->n);
    memcpy(c.mass, g->mass, sizeof *c.mass * (size_t)g->n);
    memcpy(c.first, g->first, sizeof *c.first * (size_t)(g->n + 1));
    memcpy(c.particle, g->particle, sizeof *c.particle * (size_t)lineage_tracers(g));
    return c;
}

static void test_reference(void)
{
    struct run r = {.c = &alone};
    int in[NP] = {0};
    for (int output = 0; output < 12; output++) {
        struct lineage_groups was = {0};
        if (output) was = copy_of(&r.earlier);
        shuffle(in, 60, output);
        next(&r, in);
        if (output) compare(&was, in, &r);
        lineage_groups_free(&was);
    }
    run_end(&r);
}

/* All ranks, and particles in the other order, give the same files. */
static void test_same(void)
{
    struct run r[3] = {{.c = &alone}, {.c = &comm}, {.c = &alone, .permuted = true}};
    int in[NP] = {0};
    for (int output = 0; output < 8; output++) {
        shuffle(in, 60, output);
        for (int i = 0; i < 3; i++) next(&r[i], in);
        for (int f = 0; f < FILES && comm.rank == 0; f++)
            for (int i = 1; i < 3; i++) {
                const struct ckpt_file *a = &r[0].file[f], *b = &r[i].file[f];
                CHECK(a->bytes == b->bytes && !memcmp(a->text, b->text, a->bytes), "file %d", f);
            }
    }
    for (int i = 0; i < 3; i++) run_end(&r[i]);
}

/* Two descendants and two progenitors that are equal in everything but their ids. */
static void test_tie(void)
{
    for (int turn = 0; turn < 2; turn++) {
        struct lineage_groups a, b;
        struct lineage_links k;
        struct lineage_past none = {0};
        lineage_groups_make(&a, 2, 4);
        lineage_groups_make(&b, 2, 0);
        struct lineage_place at[4];
        for (int i = 0; i < 2; i++) {
            a.id[i] = b.id[i] = 1 + (i ^ turn);
            a.mass[i] = b.mass[i] = a.peak[i] = b.peak[i] = 5;
            a.first[i + 1] = 2 * i + 2;
            b.first[i + 1] = 0;
        }
        for (int i = 0; i < 4; i++) a.particle[i] = i, at[i] = (struct lineage_place){i % 2, 0};
        lineage_link(&a, at, &b, &none, NULL, &k);
        for (int i = 0; i < 2; i++)
            CHECK(k.progenitor[i] == i && k.descendant[i] == i, "%ld", (long)k.progenitor[i]);
        lineage_links_free(&k);
        lineage_groups_free(&a);
        lineage_groups_free(&b);
    }
}

/* A progenitor of mass 10 whose merits for descendants of mass 20 and 5 are equal. */
static void test_heavier(void)
{
    struct lineage_groups a, b;
    struct lineage_links k;
    struct lineage_past none = {0};
    lineage_groups_make(&a, 1, 2);
    lineage_groups_make(&b, 2, 0);
    a.id[0] = 1, a.mass[0] = a.peak[0] = 10, a.first[1] = 2, a.particle[0] = 1, a.particle[1] = 2;
    for (int heavy = 0; heavy < 2; heavy++) {
        const struct lineage_place at[2] = {{0, 0}, {1, 0}};
        for (int i = 0; i < 2; i++)
            b.id[i] = i + 1, b.mass[i] = i == heavy ? 20 : 5, b.first[i + 1] = 0;
        lineage_link(&a, at, &b, &none, NULL, &k);
        CHECK(k.progenitor[heavy] == 0 && k.descendant[0] == heavy && k.progenitor[!heavy] == -1);
        lineage_links_free(&k);
    }
    lineage_groups_free(&a);
    lineage_groups_free(&b);
}

/* A new group with the galaxies of three past progenitors takes the one of the lowest energy, of
 * equal ones the first. A merged group whose galaxy is that of a past one takes its place. */
static void test_past(void)
{
    const struct lineage_place at[3] = {{0, -5}, {0, -7}, {0, -7}};
    struct lineage_groups a, b;
    struct lineage_links k;
    struct lineage_past past = {0};
    const struct lineage_par par = {0};
    lineage_groups_make(&a, 1, 1);
    lineage_groups_make(&b, 1, 0);
    a.output = 6, b.output = 7, a.id[0] = 2, b.id[0] = 3, a.first[1] = 1, b.first[1] = 0;
    a.mass[0] = a.peak[0] = 8, b.mass[0] = b.peak[0] = 1, a.particle[0] = 30;
    past.at = mem_zero(4 * sizeof *past.at, "test");
    past.n = 3, past.room = 4;
    for (int i = 0; i < 3; i++)
        past.at[i] = (struct lineage_merged){i + 1, i + 1, 10 * (i + 1), 1, i + 1};
    struct lineage_groups nothing = {0};
    lineage_link(&nothing, NULL, &b, &past, at, &k);
    CHECK(k.jumped[0] == 1, "%ld", (long)k.jumped[0]);
    lineage_carry(&par, &nothing, &b, &k, &past);
    CHECK(past.n == 2 && past.at[0].id == 1 && past.at[1].id == 3 && b.peak[0] == 2);
    lineage_links_free(&k);
    k = (struct lineage_links){0, 1, NULL, NULL, (int64_t[]){0}, (bool[]){true}};
    b.n = 0;
    lineage_carry(&par, &a, &b, &k, &past);
    CHECK(past.n == 2 && past.at[1].output == 6 && past.at[1].id == 2);
    lineage_groups_free(&a);
    lineage_groups_free(&b);
    lineage_past_free(&past);
}

/* ---- files ---- */

/* A set with two clumps and two past progenitors, as an array of bytes in one of the layouts. */
static size_t lay(char *out, bool marks, int wide, bool peaks, bool past)
{
    const int64_t id[] = {4, 9}, n[] = {3, 2}, part[] = {-70, 2, 8, -5, 6}, when[] = {1, 2},
                  galaxy[] = {12, 33};
    const double mass[] = {0.5, 0.25}, peak[] = {0.75, 0.5};
    const void *const col[] = {id, past ? when : n, past ? galaxy : part, mass, peak};
    size_t at = 0;
    for (int c = 0; c < (peaks ? 5 : 4); c++) {
        int rows = c == 2 && !past ? 5 : 2, width = c > 2 ? 8 : c == 2 ? wide : 4;
        int32_t bytes = rows * width;
        if (marks) memcpy(out + at, &bytes, 4), at += 4;
        for (int i = 0; i < rows; i++, at += (size_t)width)
            memcpy(out + at, (const char *)col[c] + 8 * i, (size_t)width);
        if (marks) memcpy(out + at, &bytes, 4), at += 4;
    }
    return at;
}

static void save(const char *name, const void *p, size_t n)
{
    FILE *f = fopen(name, "wb");
    if (!f) abort();
    fwrite(p, 1, n, f);
    fclose(f);
}

static void save_counts(int clumps, int rows, int particles, int past)
{
    const int32_t x[6] = {16, clumps, rows, particles, past, 16};
    save("progenitorcount.dat", x, sizeof x);
}

static void read_layout(bool marks, int wide, bool peaks, bool expected)
{
    struct lineage_groups g;
    struct lineage_past past;
    char text[400];
    bool found;
    save_counts(2, 2, 5, 2);
    save("progenitor_data.dat", text, lay(text, marks, wide, peaks, false));
    save("past_merged_progenitors.dat", text, lay(text, marks, wide, peaks, true));
    CHECK(lineage_read(".", expected, &g, &past, &found) == OK && found, "%s", err_message());
    CHECK(g.n == 2 && g.id[1] == 9 && g.first[2] == 5 && g.particle[0] == 70 && g.particle[3] == 5);
    CHECK(g.mass[0] == 0.5 && g.peak[0] == (peaks ? 0.75 : 0.5));
    CHECK(past.n == 2 && past.at[1].galaxy == 33 && past.at[1].output == 2 && past.at[1].id == 9);
    CHECK(past.at[0].peak == (peaks ? 0.75 : 0.5));
    lineage_groups_free(&g);
    lineage_past_free(&past);
}

/* RAMSES writes a row for each part of a clump that a rank has. */
static void test_parts(void)
{
    const int32_t data[] = {3, 7, 3, 2, 1, 1, 5, 6, -8, -4};
    const double mass[] = {1, 2, 1};
    char text[sizeof data + sizeof mass];
    struct lineage_groups g;
    struct lineage_past past;
    bool found;
    memcpy(text, data, sizeof data);
    memcpy(text + sizeof data, mass, sizeof mass);
    save_counts(2, 3, 4, 0);
    save("progenitor_data.dat", text, sizeof text);
    save("past_merged_progenitors.dat", text, 0);
    CHECK(lineage_read(".", true, &g, &past, &found) == OK, "%s", err_message());
    CHECK(g.n == 2 && g.first[1] == 3 && g.particle[0] == 4 && g.particle[1] == 5 &&
          g.particle[3] == 8 && g.mass[1] == 2);
    lineage_groups_free(&g);
    lineage_past_free(&past);
}

static void test_damage(void)
{
    struct lineage_groups g;
    struct lineage_past past;
    char text[400];
    bool found;
    size_t n = lay(text, false, 4, true, false);
    save("past_merged_progenitors.dat", text, lay(text, false, 4, true, true));
    n = lay(text, false, 4, true, false);
    save("progenitor_data.dat", text, n - 1);
    save_counts(2, 2, 5, 2);
    CHECK_FAILS(lineage_read(".", true, &g, &past, &found), "progenitor_data.dat: 67 bytes");
    save("progenitor_data.dat", text, n);
    save_counts(2, 2, -5, 2);
    CHECK_FAILS(lineage_read(".", true, &g, &past, &found), "below 0");
    save_counts(2, 2, 5, 3);
    CHECK_FAILS(lineage_read(".", true, &g, &past, &found), "past_merged_progenitors.dat");
    save_counts(2, 2, 5, 2);
    text[8] = 6; /* number of particles */
    save("progenitor_data.dat", text, n);
    CHECK_FAILS(lineage_read(".", true, &g, &past, &found), "impossible");
    save("progenitorcount.dat", text, 7);
    CHECK_FAILS(lineage_read(".", true, &g, &past, &found), "progenitorcount.dat");
    remove("progenitorcount.dat");
    CHECK(lineage_read(".", true, &g, &past, &found) == OK && !found);
}

/* Some bytes of a file replaced, or its end cut: either an error, or a set that can be used. */
static void test_random_damage(void)
{
    static const char *const NAME[] = {"progenitorcount.dat", "progenitor_data.dat",
                                       "past_merged_progenitors.dat"};
    int good = 0, bad = 0;
    for (uint32_t i = 0; i < 1500; i++) {
        struct rng g = rng_make(17, 0, i);
        struct lineage_groups a;
        struct lineage_past past;
        char text[3][400];
        const int32_t counts[6] = {16, 2, 2, 5, 2, 16};
        size_t n[3] = {sizeof counts, lay(text[1], i & 1, i & 2 ? 8 : 4, i & 4, false),
                       lay(text[2], i & 1, i & 2 ? 8 : 4, i & 4, true)};
        memcpy(text[0], counts, n[0]);
        for (int k = (int)(rng_uniform(&g) * 3); k >= 0; k--) {
            int f = (int)(rng_uniform(&g) * 3);
            text[f][(size_t)(rng_uniform(&g) * (double)n[f])] = (char)rng_word(&g);
            if (rng_uniform(&g) < 0.1) n[f] -= 4;
        }
        for (int f = 0; f < 3; f++) save(NAME[f], text[f], n[f]);
        bool found;
        if (lineage_read(".", true, &a, &past, &found) != OK) {
            bad++;
            continue;
        }
        good++;
        for (int64_t k = 0; k < a.n; k++) CHECK(a.first[k + 1] > a.first[k] && a.mass[k] > 0);
        CHECK(lineage_tracers(&a) <= 5 && past.n <= 2);
        lineage_groups_free(&a);
        lineage_past_free(&past);
    }
    CHECK(good > 100 && bad > 500, "%d read, %d refused", good, bad);
}

static void test_round_trip(void)
{
    struct run r = {.c = &alone};
    struct lineage_groups g;
    struct lineage_past past;
    struct ckpt_file again[LINEAGE_FILES];
    char name[FILES_NAME];
    bool found;
    int in[NP] = {0};
    for (int output = 0; output < 5; output++) shuffle(in, 60, output), next(&r, in);
    CHECK(r.past.n > 0);
    for (int i = 0; i < LINEAGE_FILES; i++) {
        files_name(r.file[i].kind, 0, 0, name);
        save(name, r.file[i].text, r.file[i].bytes);
    }
    CHECK(lineage_read(".", true, &g, &past, &found) == OK, "%s", err_message());
    lineage_files(&g, &past, true, false, again);
    for (int i = 0; i < LINEAGE_FILES; i++) {
        CHECK(again[i].bytes == r.file[i].bytes &&
                  !memcmp(again[i].text, r.file[i].text, again[i].bytes),
              "file %d", i);
        FREE(again[i].text);
    }
    lineage_groups_free(&g);
    lineage_past_free(&past);
    run_end(&r);
}

/* ---- galaxies ---- */

/* At the characteristic mass the mean is its product with the characteristic ratio (Behroozi,
 * Wechsler & Conroy 2013, equation 3); the scatter is normal. */
static void test_stars(void)
{
    struct lineage_galaxy_par p = {.aexp = 1, .solar = 1e10};
    enum { N = 40000 };
    double sum = 0, square = 0, m1 = pow(10, 11.514) / p.solar, third = 0;
    for (int i = 0; i < N; i++) {
        double x = log10(lineage_stellar_mass(&p, m1, i + 1)) - (11.514 - 1.777);
        sum += x, square += x * x, third += fabs(x) < 0.218;
    }
    CHECK(fabs(sum / N) < 4 * 0.218 / sqrt(N) && fabs(sqrt(square / N) / 0.218 - 1) < 0.015,
          "%g %g", sum / N, sqrt(square / N));
    CHECK(fabs(third / N - 0.6827) < 0.01, "%g within one sigma", third / N);
    double a = lineage_stellar_mass(&p, m1, 7), b = lineage_stellar_mass(&p, 2 * m1, 7);
    p.output = 1;
    CHECK(b > 2 * a && lineage_stellar_mass(&p, m1, 7) != a);
}

int main(int argc, char **argv)
{
    comm_init(&argc, &argv, &comm);
    test_same();
    if (comm.rank == 0) {
        test_chain();
        test_merger();
        fly_through(1, 0, true);
        fly_through(3, 0, true);
        fly_through(3, 3, true);
        fly_through(3, 2, false);
        test_lost();
        test_reference();
        test_tie();
        test_heavier();
        test_past();
        for (int i = 0; i < 8; i++) read_layout(i & 1, i & 2 ? 8 : 4, i & 4, true);
        for (int i = 0; i < 8; i++) read_layout(i & 1, i & 2 ? 8 : 4, i & 4, false);
        test_parts();
        test_damage();
        test_random_damage();
        test_round_trip();
        test_stars();
        printf("%d passed, %d failed\n", passed, failed);
    }
    comm_fini();
    return failed > 0;
}
