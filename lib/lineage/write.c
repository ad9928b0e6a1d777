/* lineage/write: the files of progenitors; see files.h. */
#include <string.h>

#include "base/mem.h"
#include "lineage/files.h"

/* Contents of a file so far. */
struct blob {
    char *at;
    size_t n;
};

static void put(struct blob *b, const void *p, size_t n)
{
    memcpy(b->at + b->n, p, n);
    b->n += n;
}

static void put_int(struct blob *b, int64_t x, bool wide)
{
    int32_t narrow = (int32_t)x;
    if (wide)
        put(b, &x, sizeof x);
    else
        put(b, &narrow, sizeof narrow);
}

static bool are_wide(const struct lineage_groups *g, const struct lineage_past *past)
{
    bool wide = false;
    for (int64_t i = 0; i < lineage_tracers(g); i++) wide |= g->particle[i] > INT32_MAX;
    for (int64_t i = 0; i < past->n; i++) wide |= past->at[i].galaxy > INT32_MAX;
    return wide;
}

static struct ckpt_file current(const struct lineage_groups *g, bool peaks, bool wide)
{
    size_t n = (size_t)g->n, bytes = sizeof(double) * n;
    size_t room = 24 * n + 8 * (size_t)lineage_tracers(g) + 1;
    struct blob b = {mem_new(room, "lineage"), 0};
    for (int64_t k = 0; k < g->n; k++) put_int(&b, g->id[k], false);
    for (int64_t k = 0; k < g->n; k++) put_int(&b, g->first[k + 1] - g->first[k], false);
    for (int64_t k = 0; k < g->n; k++)
        for (int64_t i = g->first[k]; i < g->first[k + 1]; i++)
            put_int(&b, i == g->first[k] ? -g->particle[i] : g->particle[i], wide);
    put(&b, g->mass, bytes);
    if (peaks) put(&b, g->peak, bytes);
    return (struct ckpt_file){FILES_PROGENITOR_DATA, b.at, b.n};
}

static struct ckpt_file merged(const struct lineage_past *past, bool peaks, bool wide)
{
    const struct lineage_merged *m = past->at;
    struct blob b = {mem_new(32 * (size_t)past->n + 1, "lineage"), 0};
    for (int64_t i = 0; i < past->n; i++) put_int(&b, m[i].id, false);
    for (int64_t i = 0; i < past->n; i++) put_int(&b, m[i].output, false);
    for (int64_t i = 0; i < past->n; i++) put_int(&b, m[i].galaxy, wide);
    for (int64_t i = 0; i < past->n; i++) put(&b, &m[i].mass, sizeof m[i].mass);
    for (int64_t i = 0; i < past->n && peaks; i++) put(&b, &m[i].peak, sizeof m[i].peak);
    return (struct ckpt_file){FILES_PAST_MERGED, b.at, b.n};
}

/* A Fortran record of four numbers: clumps, rows of clumps, particles, past progenitors. */
static struct ckpt_file counts(const struct lineage_groups *g, const struct lineage_past *past)
{
    enum { BYTES = 4 * sizeof(int32_t) };
    const int64_t x[6] = {BYTES, g->n, g->n, lineage_tracers(g), past->n, BYTES};
    struct blob b = {mem_new(sizeof(int32_t) * 6, "lineage"), 0};
    for (int i = 0; i < 6; i++) put_int(&b, x[i], false);
    return (struct ckpt_file){FILES_PROGENITORS, b.at, b.n};
}

void lineage_files(const struct lineage_groups *g, const struct lineage_past *past, bool peaks,
                   bool wide, struct ckpt_file file[LINEAGE_FILES])
{
    wide |= are_wide(g, past);
    file[0] = counts(g, past);
    file[1] = current(g, peaks, wide);
    file[2] = merged(past, peaks, wide);
}
