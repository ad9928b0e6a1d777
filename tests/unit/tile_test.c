/* patch/tile: each own oct is in one tile, and within the hull of the tile; tiles without octs that
 * other ranks need come first. With `apart` a tile contains cubes of one kind; otherwise tiles do
 * not depend on the octs that are sent. On a mesh of one rank, with random octs to be sent.
 * Catches: a joined tile that is taken for one without ghosts; cubes joined although they must stay
 * apart, or the reverse.
 *
 * test: tier=quick */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "check.h"
#include "gas_mesh.h"
#include "patch/tile.h"

enum { LMIN = 6, LMAX = 7, ROUNDS = 6 };

static bool in_ball(const double *x, int l, int levelmin)
{
    double d2 = 0.0;
    for (int d = 0; d < 3; d++) d2 += (x[d] - 0.4) * (x[d] - 0.4);
    return l == levelmin && d2 < 0.3 * 0.3;
}

/* Marks the octs of some cubes, or columns of cubes, as sent. Round 0: none. */
static void choose(struct level *lv, int round, unsigned char *mark)
{
    struct xplan *p = &lv->plan;
    p->npeer = 1;
    p->sfirst = mem_zero(2 * sizeof *p->sfirst, "test");
    p->send = mem_new(sizeof *p->send * (size_t)lv->nown + 1, "test");
    memset(mark, 0, (size_t)lv->nown);
    for (lidx i = 0; i < lv->nown; i++) {
        int64_t x[3];
        okey_coords(lv->key[i] >> 3 * TILE_DEPTH, x);
        int64_t slot = x[0] + 8 * x[1] + (round % 2 ? 64 * x[2] : 0) + 512 * round;
        if (round == 0 || (uint64_t)slot * 2654435761u >> 7 & 3 || i % 7) continue;
        p->send[p->sfirst[1]++] = i;
        mark[i] = 1;
    }
}

static void forget(struct level *lv)
{
    FREE(lv->plan.sfirst);
    FREE(lv->plan.send);
    lv->plan.npeer = 0;
}

static bool in_hull(const struct tile *t, okey key)
{
    int64_t x[3];
    bool in = true;
    okey_coords(key, x);
    for (int d = 0; d < 3; d++) in &= x[d] >= t->x0[d] && x[d] < t->x0[d] + t->t[d];
    return in;
}

/* Whether a run has octs that are sent. seen: number of visits of each oct. */
static bool run_of(const struct level *lv, const struct tile *t, int r, const unsigned char *mark,
                   unsigned char *seen)
{
    bool sent = false;
    for (lidx i = t->first[r]; i < t->first[r] + t->count[r]; i++) {
        CHECK(in_hull(t, lv->key[i]), "oct %d is within its tile", (int)i);
        sent |= mark[i];
        seen[i]++;
    }
    return sent;
}

/* Tests the list of tiles; returns their number. */
static lidx test_list(const struct mesh *m, int l, const unsigned char *mark, bool apart)
{
    const struct level *lv = &m->lev[l];
    struct tile_list list;
    unsigned char *seen = mem_zero((size_t)lv->nown + 1, "test");
    tile_list_build(m, l, -1, 1, apart, &list);
    for (lidx k = 0; k < list.n; k++) {
        const struct tile *t = &list.tile[k];
        int sent = 0;
        for (int r = 0; r < t->nrun; r++) sent += run_of(lv, t, r, mark, seen);
        CHECK((sent > 0) == (k >= list.n - list.nouter), "level %d: tile %d of %d", l, (int)k,
              (int)list.n);
        CHECK(!apart || sent == 0 || sent == t->nrun, "level %d: tile %d is of one kind", l,
              (int)k);
    }
    for (lidx i = 0; i < lv->nown; i++) CHECK(seen[i] == 1, "oct %d is in one tile", (int)i);
    lidx n = list.n;
    tile_list_free(&list);
    mem_free(seen);
    return n;
}

int main(void)
{
    struct hydro_par p = {.nvar = 1};
    struct mesh m;
    gas_mesh(&m, LMIN, LMAX, &p, false, (bool[6]){false}, in_ball);
    for (int l = LMIN; l <= LMAX; l++) {
        struct level *lv = &m.lev[l];
        unsigned char *mark = mem_new((size_t)lv->nown + 1, "test");
        lidx min = 0;
        for (int round = 0; round < ROUNDS; round++) {
            choose(lv, round, mark);
            lidx joined = test_list(&m, l, mark, false), apart = test_list(&m, l, mark, true);
            if (round == 0) min = joined;
            CHECK(joined == min && apart >= min && (l > LMIN || round == 0 || apart > min),
                  "level %d: %d, %d, %d", l, (int)min, (int)joined, (int)apart);
            forget(lv);
        }
        mem_free(mark);
    }
    mesh_fini(&m);
    printf("tile_test: %d passed, %d failed\n", passed, failed);
    return failed != 0;
}
