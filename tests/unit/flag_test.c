/* flag_test: levels that are held back in a run with cooling. Cooling itself is not needed for
 * that, only the switch, which no namelist can set yet. Catches: the rule applied to the levels
 * of the initial conditions, <= for <, the width of another level, criteria that refine such
 * levels; a criterion that erases the marks of another one; and an oct at a coarse–fine boundary
 * that refines between sub-steps, or an interior one that does not. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "adapt/adapt.h"
#include "base/mem.h"
#include "check.h"
#include "sim/sim.h"

enum { LMIN = 3, LMAX = 9 };

static void fill(struct sim *s, struct params *p)
{
    const bool bounded[6] = {false};
    param_init(p);
    p->run.cosmo = p->physics.cooling = true;
    p->amr.levelmin = LMIN, p->amr.levelmax = LMAX;
    p->refine.m_refine[0] = 0; /* at the start of a run: refine everything */
    snprintf(p->init.filetype, sizeof p->init.filetype, "grafic");
    for (int i = 0; i < 2; i++)
        snprintf(p->init.initfile[i], sizeof p->init.initfile[i], "level %d", LMIN + i);
    s->par = p;
    s->amr.refine.starting = true;
    s->comm = (struct comm){.size = 1};
    s->dom = domain_new(DOMAIN_KSECTION, 1, LMAX, bounded);
    mesh_init(&s->mesh, LMIN, LMAX, 0, false, true, 1.0, bounded);
    adapt_build(&s->mesh, &s->comm, s->dom);
    sim_count_octs(s);
}

/* First level that is held back. */
static int first_held(struct sim *s, double aexp)
{
    int l = LMIN;
    s->time.aexp = aexp;
    while (l < LMAX && !sim_held_back(s, l)) l++;
    for (int k = l; k < LMAX; k++) CHECK(sim_held_back(s, k));
    return l;
}

static void check_levels(struct sim *s, struct params *p)
{
    /* Files reach level 4, so that 7 and finer may wait; level l goes at a >= 4^(1/3) 2^(l-9) =
     * 0.397, 0.794 for l = 7, 8. */
    p->amr.nlevel_collapse = 2;
    CHECK(first_held(s, 0.01) == 7);
    CHECK(first_held(s, 0.396) == 7);
    CHECK(first_held(s, 0.398) == 8);
    CHECK(first_held(s, 0.793) == 8);
    CHECK(first_held(s, 0.794) == 9);
    p->amr.nlevel_collapse = 3;
    CHECK(first_held(s, 0.01) == 8);
    snprintf(p->init.filetype, sizeof p->init.filetype, "ascii");
    CHECK(first_held(s, 0.01) == 7);
    snprintf(p->init.filetype, sizeof p->init.filetype, "grafic");
}

static int64_t count_flags(struct sim *s)
{
    const struct level *lv = &s->mesh.lev[LMIN];
    int64_t n = 0;
    sim_flag(s, LMIN, 2);
    for (lidx i = 0; i < lv->nown; i++)
        for (int k = 0; k < 8; k++) n += lv->flag[i][k];
    return n;
}

static void check_flags(struct sim *s, struct params *p)
{
    s->time.aexp = 0.01;
    CHECK(count_flags(s) == 1 << 3 * LMIN);
    p->amr.nlevel_collapse = -2;
    CHECK(count_flags(s) == 0);
    bool *const needed[] = {&p->run.cosmo, &p->physics.cooling, &p->refine.q_refine_holdback};
    for (int i = 0; i < 3; i++) {
        *needed[i] = false;
        CHECK(count_flags(s) == 1 << 3 * LMIN);
        *needed[i] = true;
    }
}

/* Criteria for the test: one marks cell 0 of every oct; one marks cell 3 and erases other marks;
 * one is never called. */
static void mark_first(const struct sim *s, int l, unsigned char (*ok)[8])
{
    for (lidx i = 0; i < s->mesh.lev[l].nown; i++) ok[i][0] = 1;
}

static void mark_wiping(const struct sim *s, int l, unsigned char (*ok)[8])
{
    for (lidx i = 0; i < s->mesh.lev[l].nown; i++)
        for (int k = 0; k < 8; k++) ok[i][k] = k == 3;
}

static bool yes(const struct sim *s, int l)
{
    return true;
}

static bool no(const struct sim *s, int l)
{
    return false;
}

/* Criteria are combined by or, in any order. */
static void check_order(struct sim *s)
{
    const struct sim_criterion list[3][3] = {
        {{"a", yes, mark_first}, {"b", yes, mark_wiping}, {"c", no, mark_wiping}},
        {{"b", yes, mark_wiping}, {"a", yes, mark_first}, {"c", no, mark_first}},
        {{"a", yes, mark_first}, {"c", no, mark_wiping}, {"b", no, mark_wiping}}};
    const unsigned want[3] = {9, 9, 1};
    lidx n = s->mesh.lev[LMIN].nown;
    for (int t = 0; t < 3; t++) {
        unsigned char *bits = mem_zero((size_t)n, "test");
        sim_criteria_mark(s, LMIN, list[t], 3, bits);
        bool good = n > 0;
        for (lidx i = 0; i < n; i++) good &= bits[i] == want[t];
        CHECK(good, "order %d", t);
        mem_free(bits);
    }
}

/* Whether there is an oct of level LMIN + 1 at q: a ball across a face of the periodic box, with a
 * hole. */
static bool in_ball(const int64_t q[3])
{
    const int64_t n = 1 << LMIN, centre[3] = {0, 4, 5};
    int64_t r2 = 0;
    for (int d = 0; d < 3; d++) {
        int64_t x = (q[d] - centre[d] + 2 * n + n / 2) % n - n / 2;
        r2 += x * x;
    }
    return r2 <= 10 && r2 != 5;
}

static bool is_inside(const int64_t q[3])
{
    bool all = true;
    for (int k = 0; k < 27; k++)
        all &= in_ball((int64_t[]){q[0] + k % 3 - 1, q[1] + k / 3 % 3 - 1, q[2] + k / 9 - 1});
    return all;
}

/* All cells of level LMIN + 1 are wanted: checks the flags before sub-step `icount` of 1, 2. */
static void check_substep(struct sim *s, int icount)
{
    const struct level *lv = &s->mesh.lev[LMIN + 1];
    int wrong = 0, flagged = 0;
    sim_flag(s, LMIN + 1, icount);
    for (lidx i = 0; i < lv->nown; i++) {
        int64_t q[3];
        okey_coords(lv->key[i], q);
        bool want = icount == 2 || is_inside(q);
        flagged += want;
        for (int k = 0; k < 8; k++) wrong += lv->flag[i][k] != want;
    }
    CHECK(wrong == 0 && flagged > 0, "substep %d: %d wrong, %d flagged", icount, wrong, flagged);
    CHECK((flagged == lv->nown) == (icount == 2));
}

/* Between the sub-steps of a level, only octs refine that are surrounded by others. */
static void check_edge(struct sim *s, struct params *p)
{
    struct level *lv = &s->mesh.lev[LMIN];
    for (lidx i = 0; i < lv->nown; i++) {
        int64_t q[3];
        okey_coords(lv->key[i], q);
        for (int k = 0; k < 8; k++)
            lv->flag[i][k] = in_ball(
                (int64_t[]){2 * q[0] + (k & 1), 2 * q[1] + (k >> 1 & 1), 2 * q[2] + (k >> 2)});
    }
    adapt_refine(&s->mesh, &s->comm, s->dom, LMIN, NULL, NULL);
    sim_count_octs(s);
    p->physics.cooling = false;
    p->refine.m_refine[1] = 0;
    s->time.nsubcycle[LMIN] = 2;
    check_substep(s, 1);
    check_substep(s, 2);
}

int main(void)
{
    struct sim *s = mem_zero(sizeof *s, "test");
    struct params *p = mem_new(sizeof *p, "test");
    fill(s, p);
    check_levels(s, p);
    check_flags(s, p);
    check_order(s);
    check_edge(s, p);
    mesh_fini(&s->mesh);
    domain_free(s->dom);
    mem_free(p);
    mem_free(s);
    printf("%d passed, %d failed\n", passed, failed);
    return failed > 0;
}
