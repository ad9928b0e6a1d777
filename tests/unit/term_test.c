/* term_test: source terms write only the fields that they declare, and the term "nothing" changes
 * no bit. Catches: a term that runs on another level or stage, ghosts that count as valid after
 * a term wrote its cells, stale ghosts passed to a term that reads them, an ineffective check of
 * terms, a unit without its power of the expansion factor. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/checksum.h"
#include "base/mem.h"
#include "check.h"
#include "dom/ghost.h"
#include "half_world.h"
#include "phys/term.h"

static struct comm comm;
static struct params par;

/* World with distinct numbers in all fields. */
static void world_make(struct world *w)
{
    half_world(w, &comm, 5, true);
    for (int l = LMIN; l <= LMAX; l++)
        for (int f = 0; f < FLD_U + 5; f++) {
            struct level *lv = &w->m.lev[l];
            if (!mesh_has_field(&w->m, f)) continue;
            for (lidx i = 0; i < lv->nown; i++)
                for (int c = 0; c < 8; c++)
                    lv->fld[f][i][c] = 1 + f + 0.001 * (double)(lv->key[i] & 1023) + 0.1 * c;
            ghost_fill(&comm, &w->m, l, 1, &f);
        }
}

static uint64_t field_sum(const struct world *w, int l, int f, bool ghosts)
{
    const struct level *lv = &w->m.lev[l];
    lidx first = ghosts ? lv->nown : 0, n = ghosts ? lv->noct - lv->nown : lv->nown;
    return lv->noct && lv->fld[f] ? checksum_of(lv->fld[f] + first, 64 * (size_t)n) : 0;
}

static struct term_run run_of(struct world *w, int stage, int l)
{
    return (struct term_run){.par = &par,
                             .comm = &comm,
                             .dom = w->d,
                             .mesh = &w->m,
                             .parts = &w->p,
                             .stage = stage,
                             .level = l,
                             .dt = 0.25,
                             .check = true};
}

/* ---- terms ---- */

static bool yes(const struct params *p)
{
    return true;
}

static bool no(const struct params *p)
{
    return false;
}

/* Heats leaf cells by the value of a neighbour, which may be a ghost. */
static enum err heat(const struct term_run *r, bool *changed)
{
    struct level *lv = &r->mesh->lev[r->level];
    CHECK(ghosts_valid(r->mesh, r->level, SET_RHO));
    for (lidx i = 0; i < lv->nown; i++)
        for (int c = 0; c < 8; c++) {
            lidx j = lv->nbr[i][0];
            if (lv->child[i][c] >= 0 || j < 0) continue;
            lv->fld[FLD_U + 4][i][c] += r->dt * lv->fld[FLD_RHO][j][c];
            *changed = true;
        }
    return OK;
}

/* Writes one number, selected by r->nstep. */
static enum err scribble(const struct term_run *r, bool *changed)
{
    enum { OTHER_FIELD, OTHER_LEVEL, GHOST, UNSAID };
    int l = r->nstep == OTHER_LEVEL ? LMAX : r->level;
    struct level *lv = &r->mesh->lev[l];
    int f = r->nstep == OTHER_FIELD ? FLD_FX : FLD_U;
    lidx i = r->nstep == GHOST ? lv->nown : 0;
    if (i < (r->nstep == GHOST ? lv->noct : lv->nown)) lv->fld[f][i][0] *= 1.5;
    *changed = r->nstep != UNSAID;
    return OK;
}

#define TERM(name, when, wanted, reads, ghosts, apply)                                             \
    {                                                                                              \
        name, when, wanted, reads, ghosts, SET_GAS, apply, NULL, false, NULL                       \
    }
static const struct term HEAT = TERM("heat", TERM_LEVEL, yes, SET_GAS, SET_RHO, heat),
                         NEVER = TERM("never", TERM_LEVEL, no, 0, 0, scribble),
                         LATER = TERM("later", TERM_COARSE, yes, 0, 0, scribble),
                         SCRIBBLE = TERM("scribble", TERM_LEVEL, yes, 0, 0, scribble);

static void test_heat(void)
{
    struct world w;
    world_make(&w);
    const struct term *const list[] = {&NEVER, &HEAT, &LATER};
    double want = 0, before[8] = {0}, *e;
    uint64_t own[2] = {field_sum(&w, LMAX, FLD_U + 4, false), field_sum(&w, LMIN, FLD_U, false)},
             ghost = field_sum(&w, LMIN, FLD_U + 4, true);
    struct level *lv = &w.m.lev[LMIN];
    lidx i = lv->nown - 1; /* in the half that is not refined; a rank may have no such oct */
    bool some = i >= 0, leaf = some && lv->child[i][5] < 0;
    e = some ? lv->fld[FLD_U + 4][i] : before;
    memmove(before, e, sizeof before);
    if (some) want = before[5] + 0.25 * lv->fld[FLD_RHO][lv->nbr[i][0]][5];
    ghosts_set(&w.m, LMIN, SET_RHO, false);
    for (lidx k = lv->nown; k < lv->noct; k++) lv->fld[FLD_RHO][k][5] = NAN; /* stale ghosts */
    struct term_run r = run_of(&w, TERM_LEVEL, LMIN);
    field_set wrote;
    enum err err = terms_run(&(struct term_list){list, 3}, 0, &r, &wrote);
    CHECK(err == OK, "%s", err == OK ? "" : err_message());
    CHECK(wrote == SET_GAS);
    CHECK(e[5] == (leaf ? want : before[5]), "%g, not %g", e[5], want);
    CHECK(!ghosts_valid(&w.m, LMIN, SET_GAS) && ghosts_valid(&w.m, LMAX, SET_GAS));
    CHECK(field_sum(&w, LMAX, FLD_U + 4, false) == own[0]);
    CHECK(field_sum(&w, LMIN, FLD_U, false) == own[1]);
    CHECK(field_sum(&w, LMIN, FLD_U + 4, true) == ghost);
    world_free(&w);
}

static void test_checked(void)
{
    static const char *const says[] = {"the force", "on level 4", "ghosts of", "gas"};
    const struct term *const list[] = {&SCRIBBLE};
    for (int kind = 0; kind < 4; kind++) {
        struct world w;
        field_set wrote;
        if (kind == 2 && comm.size == 1) continue;
        world_make(&w);
        struct term_run r = run_of(&w, TERM_LEVEL, LMIN);
        r.nstep = kind;
        enum err err = terms_run(&(struct term_list){list, 1}, 0, &r, &wrote);
        const char *text = err == OK ? "nothing said" : err_message();
        CHECK(err != OK && strstr(text, "scribble") && strstr(text, says[kind]), "%d: %s", kind,
              text);
        world_free(&w);
    }
}

static void test_nothing(void)
{
    struct world w;
    world_make(&w);
    uint64_t before = 0, after = 0;
    CHECK(!terms_wanted(&par, TERM_LEVEL | TERM_COARSE));
    par.physics.nothing = par.run.hydro = true;
    CHECK(terms_wanted(&par, TERM_LEVEL) && terms_wanted(&par, TERM_COARSE));
    for (int pass = 0; pass < 2; pass++) {
        uint64_t *sum = pass ? &after : &before;
        for (int l = LMIN; l <= LMAX; l++)
            for (int f = 0; f < FLD_U + 5; f++)
                *sum = 31 * *sum + field_sum(&w, l, f, false) + 7 * field_sum(&w, l, f, true);
        for (int stage = TERM_LEVEL; stage <= TERM_COARSE && pass == 0; stage++) {
            field_set wrote;
            struct term_run r = run_of(&w, stage, LMIN);
            CHECK(terms_run(&TERMS, 0, &r, &wrote) == OK && wrote == 0);
        }
    }
    CHECK(before == after);
    world_free(&w);
}

static void test_units(void)
{
    const struct param_units u = {.units_density = 2e-24, .units_time = 4e13, .units_length = 4e18};
    struct units s = units_at(&u, NULL, 0.1);
    CHECK(s.velocity == 1e5 && s.length == 4e18 && s.time == 4e13);
    CHECK(fabs(s.mass / 1.28e32 - 1) < 1e-15);
    CHECK(fabs(s.temperature / 120.27235 - 1) < 1e-6, "%.9g", s.temperature);
    CHECK(fabs(s.hydrogen / 0.9153654 - 1) < 1e-6, "%.9g", s.hydrogen);
    const struct cosmo_par c = {.omega_m = 0.3, .h0 = 70, .boxlen_ini = 100};
    struct units a = units_at(&u, &c, 1), b = units_at(&u, &c, 0.5);
    CHECK(b.length == 0.5 * a.length && b.density == 8 * a.density && b.time == 0.25 * a.time);
    CHECK(b.velocity == 2 * a.velocity && b.mass == a.mass);
    CHECK(b.temperature == 4 * a.temperature && b.hydrogen == 8 * a.hydrogen);
    CHECK(fabs(a.length / (100 / 0.7 * 3.0856776e24) - 1) < 1e-6, "%.9g", a.length);
}

int main(int argc, char **argv)
{
    comm_init(&argc, &argv, &comm);
    test_units();
    test_heat();
    test_checked();
    test_nothing();
    if (comm.rank == 0) printf("%d passed, %d failed\n", passed, failed);
    comm_fini();
    return failed > 0;
}
