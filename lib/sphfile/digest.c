/* sphfile/digest: numbers of the values and the header of a checkpoint, which do not depend on
 * ranks (onefile/onefile.h): the place of a value is its row, the name that of its column. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "sphfile/priv.h"

void sphfile_rows(const struct sphfile *f, int r, int ranks, int64_t row[2])
{
    const int64_t n = f->head.n, blocks = (n + f->block - 1) / f->block;
    for (int k = 0; k < 2; k++) {
        row[k] = blocks * (r + k) / ranks * f->block;
        if (row[k] > n) row[k] = n;
    }
}

static void add_head(const struct sphfile_head *h, uint64_t sum[2])
{
    const struct onefile_head common = sphfile_common(h);
    uint64_t word[2];
    onefile_add_head(sum, &common);
    onefile_add_named(sum, "npart", (double)h->n);
    onefile_words("sinks", word);
    onefile_add(sum, word, h->nsink * h->sink_width, h->sink, 0);
    for (int i = 0; h->nsink && i < h->sink_width; i++)
        onefile_add_named(sum, h->sink_column[i], i);
}

/* Adds n values of a column, from row `at` on. */
static void add_column(uint64_t sum[2], int column, struct smooth *p, int64_t at)
{
    const struct smooth_row *r = &smooth_row[column];
    const void *values = *smooth_at(p, (enum smooth_column)column);
    uint64_t word[2];
    onefile_words(r->name, word);
    if (r->bytes == 8) {
        onefile_add(sum, word, p->n, values, at);
        return;
    }
    const int8_t *small = values;
    for (int64_t i = 0; i < p->n; i++) {
        const int64_t wide = small[i];
        onefile_add(sum, word, 1, &wide, at + i);
    }
}

static enum err add_rows(struct sphfile *f, const struct comm *c, uint64_t (*digest)[2])
{
    struct smooth p = {0};
    int64_t row[2];
    enum err err = OK;
    sphfile_rows(f, c->rank, c->size, row);
    for (int64_t at = row[0]; at < row[1] && err == OK; at += f->block) {
        const int64_t n = row[1] - at < f->block ? row[1] - at : f->block;
        p.n = 0;
        err = sphfile_read(f, at, n, &p);
        for (int i = 0; i < SPHFILE_COLUMNS && err == OK; i++)
            add_column(digest[i], sphfile_column(i), &p, at);
    }
    smooth_free(&p);
    return err;
}

enum err sphfile_digests(struct sphfile *f, const struct comm *c,
                         uint64_t digest[SPHFILE_COLUMNS + 1][2])
{
    const bool any = f->any;
    memset(digest, 0, sizeof *digest * (SPHFILE_COLUMNS + 1));
    f->any = true;
    enum err err = add_rows(f, c, digest);
    f->any = any;
    TRY(err_agree(c, err));
    onefile_sum_ranks(c, digest, SPHFILE_COLUMNS);
    add_head(&f->head, digest[SPHFILE_COLUMNS]);
    return OK;
}

void sphfile_digests_of(const struct sphfile_head *h, struct smooth *p,
                        uint64_t digest[SPHFILE_COLUMNS + 1][2])
{
    memset(digest, 0, sizeof *digest * (SPHFILE_COLUMNS + 1));
    for (int i = 0; i < SPHFILE_COLUMNS; i++) add_column(digest[i], sphfile_column(i), p, 0);
    add_head(h, digest[SPHFILE_COLUMNS]);
}

void sphfile_join(uint64_t (*part)[2], uint64_t digest[2])
{
    onefile_join(SPHFILE_COLUMNS + 1, part, digest);
}

enum err sphfile_digest(struct sphfile *f, const struct comm *c, uint64_t digest[2])
{
    uint64_t part[SPHFILE_COLUMNS + 1][2];
    TRY(sphfile_digests(f, c, part));
    sphfile_join(part, digest);
    return OK;
}
