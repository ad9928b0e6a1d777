/* curamses/read_parts: particles, in batches. */
#include <string.h>

#include "base/mem.h"
#include "curamses/read_sets.h"

/* Rows first..end-1 of part k of `pieces` parts of n rows, in whole blocks. */
void hdf5_part_of(int64_t n, int64_t block, int k, int pieces, int64_t *first, int64_t *end)
{
    int64_t blocks = (n + block - 1) / block;
    *first = blocks * k / pieces * block;
    *end = blocks * (k + 1) / pieces * block;
    if (*end > n) *end = n;
}

/* Derives unstored families: clouds of sinks have negative ids, and stars a birth time. */
static void make_family(const struct source *s, int64_t n, const void *const *col, int64_t *family)
{
    const int64_t *id = col[s->column_at[COL_ID]];
    const double *birth = s->column_at[COL_BIRTH] < 0 ? NULL : col[s->column_at[COL_BIRTH]];
    for (int64_t i = 0; i < n; i++)
        family[i] = id[i] < 0 ? FAM_CLOUD : birth && birth[i] != 0 ? FAM_STAR : FAM_DM;
}

static enum err part_batches(struct source *s, int piece, struct hdf5_open_set *set,
                             source_parts_fn *fn, void *ctx)
{
    struct hdf5_in *h = hdf5_in_of(s);
    int nf = s->npart, family = s->column_at[COL_FAMILY];
    char *store = mem_new(8 * (size_t)PARTS * (size_t)(nf + 1), "snapshot batch"),
         *raw = store + 8 * (size_t)PARTS * (size_t)nf;
    const void *col[CKPT_FIELDS];
    int64_t first, end;
    enum err err = OK;
    for (int i = 0; i < nf; i++) col[i] = store + (size_t)i * 8 * PARTS;
    hdf5_part_of(h->npart, PARTS, piece, s->npiece, &first, &end);
    for (int64_t at = first; err == OK && at < end; at += PARTS) {
        int64_t n = end - at < PARTS ? end - at : PARTS;
        bool wanted = true;
        for (int pass = 0; err == OK && wanted && pass < 2; pass++) {
            for (int i = 0; err == OK && i < nf; i++)
                if (*h->part_set[i] && source_is_position(s, i) == (pass == 0))
                    err = hdf5_set_load(h, &set[i], at, n, PARTS, raw,
                                        store + (size_t)i * 8 * PARTS);
            if (pass == 0) wanted = err == OK && source_picks_parts(s, n, col);
        }
        if (err != OK || !wanted) continue;
        if (!*h->part_set[family])
            make_family(s, n, col, (int64_t *)(void *)(store + (size_t)family * 8 * PARTS));
        err = source_hand_parts(s, n, col, fn, ctx);
    }
    FREE(store);
    return err;
}

enum err hdf5_read_parts(struct source *s, int piece, source_parts_fn *fn, void *ctx)
{
    struct hdf5_in *h = hdf5_in_of(s);
    struct hdf5_open_set set[CKPT_FIELDS] = {0};
    enum err err = OK;
    if (!h->npart) return OK;
    for (int i = 0; err == OK && i < s->npart; i++)
        if (*h->part_set[i])
            err = hdf5_set_open(h, &set[i], h->part_set[i], strchr("df", s->part[i].type) != NULL,
                                h->npart, PARTS);
    if (err == OK) err = part_batches(s, piece, set, fn, ctx);
    for (int i = 0; i < s->npart; i++) hdf5_set_close(&set[i]);
    return err;
}
