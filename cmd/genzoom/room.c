/* genzoom/room: see room.h. Regions are replaced by their bounding boxes. */
#include "room.h"

#include "base/log.h"

struct box {
    int64_t lo[3], hi[3];
};

/* Bounding box of the cells refined on level l: the mask, and the cells required by `fine`, the box
 * of the next level (NULL: none). */
static struct box refined_box(const struct mask_level *m, int l, const struct box *fine,
                              int nexpand)
{
    struct box b;
    int64_t side = (int64_t)1 << l;
    for (int d = 0; d < 3; d++) {
        b.lo[d] = m->lo[d], b.hi[d] = m->hi[d];
        if (fine && (fine->lo[d] >> 1) - 1 < b.lo[d]) b.lo[d] = (fine->lo[d] >> 1) - 1;
        if (fine && (fine->hi[d] >> 1) + 1 > b.hi[d]) b.hi[d] = (fine->hi[d] >> 1) + 1;
        b.lo[d] -= nexpand, b.hi[d] += nexpand;
        if (b.hi[d] - b.lo[d] + 1 < side - 1) continue;
        /* a gap of one cell between refined cells is closed, also across the periodic boundary */
        b.lo[d] = b.lo[d] < 0 ? b.lo[d] : 0, b.hi[d] = b.hi[d] < side ? side - 1 : b.hi[d];
    }
    return b;
}

/* Number of cells by which the box exceeds the files of level l+1, in the worst direction. */
static int64_t lack(const struct zoom_set *s, int l, const struct box *b)
{
    const struct ics_level *in = &s->g.lev[l + 1];
    int64_t max = 0;
    for (int d = 0; d < 3; d++) {
        int64_t lo = in->off[d] / 2, hi = lo + in->head.n[d] / 2 - 1;
        if (in->head.n[d] == (int64_t)1 << (l + 1)) continue; /* the files cover the periodic box */
        if (lo - b->lo[d] > max) max = lo - b->lo[d];
        if (b->hi[d] - hi > max) max = b->hi[d] - hi;
    }
    return max;
}

/* Number of missing cells on the finest level whose files lack any; 0: none missing. */
static int64_t find_lack(const struct zoom_set *s, const struct mask_level *mask,
                         const int nexpand[], int *level)
{
    struct box b[2];
    const struct box *fine = NULL;
    for (int l = s->g.levelmax - 1; l >= s->g.levelmin; l--) {
        struct box *mine = &b[l & 1];
        *mine = refined_box(&mask[l], l, fine, nexpand[l]);
        fine = mine;
        *level = l;
        int64_t n = lack(s, l, mine);
        if (n > 0) return n;
    }
    return 0;
}

enum err room_for_run(const struct zoom_set *s, const struct mask_level *mask,
                      int nexpand[LEVEL_MAX + 2])
{
    int l = 0, give;
    for (int k = 0; k < LEVEL_MAX + 2; k++) nexpand[k] = 1;
    for (int64_t n; (n = find_lack(s, mask, nexpand, &l)) > 0; nexpand[give] = 0) {
        for (give = l; give < s->g.levelmax && nexpand[give] == 0;) give++;
        if (give == s->g.levelmax)
            FAIL(ERR_PARAM,
                 "%s: a run would refine %lld cell%s beyond these files even with nexpand=0: make "
                 "initial conditions with more room or take a smaller region",
                 s->g.lev[l + 1].dir, (long long)n, n > 1 ? "s" : "");
    }
    for (l = s->g.levelmin; l < s->g.levelmax; l++)
        if (nexpand[l] == 0)
            log_info("genzoom: %s: too little room around the mask for nexpand=1 on level %d; the "
                     "namelist has 0 there",
                     s->g.lev[l + 1].dir, l);
    return OK;
}
