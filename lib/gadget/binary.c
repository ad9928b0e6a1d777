/* gadget/binary: the layout of binary files. A block is a record with the values of all types that
 * have the block, one type after the other. */
#include <stdio.h>
#include <string.h>

#include "gadget/file.h"
#include "io/file.h"

enum { HEADER = GADGET_HEADER, FILES_MAX = 100000 };
static const char NAME[GADGET_BLOCKS][5] = {"POS ", "VEL ", "ID  ", "MASS",
                                            "U   ", "RHO ", "HSML", ""};

/* ---- layout ---- */

static int64_t size_of(const struct gadget_out *g, int block)
{
    return block <= GADGET_VEL ? 12 : block == GADGET_ID && g->wide_ids ? 8 : 4;
}

static bool has_block(const struct gadget_out *g, int block, int type)
{
    if (g->count[type] == 0 || block == GADGET_BH_MASS) return false;
    return block <= GADGET_ID || (block == GADGET_MASS ? g->mass[type] == 0 : type == GADGET_GAS);
}

static int64_t block_bytes(const struct gadget_out *g, int file, int block)
{
    int64_t n = 0;
    for (int t = 0; t < GADGET_TYPES; t++)
        if (has_block(g, block, t)) n += gadget_count(g, file, t);
    return n * size_of(g, block);
}

/* Whether a block is present; it is then present in every file, though possibly empty. */
static bool is_present(const struct gadget_out *g, int block)
{
    for (int t = 0; t < GADGET_TYPES; t++)
        if (has_block(g, block, t)) return true;
    return false;
}

static int64_t label_bytes(const struct gadget_out *g)
{
    return g->named ? 16 : 0;
}

/* Offset of the payload of a block; for block GADGET_BLOCKS, 4 bytes beyond the end of the file. */
static int64_t block_at(const struct gadget_out *g, int file, int block)
{
    int64_t at = 2 * label_bytes(g) + 4 + HEADER + 4 + 4;
    for (int b = 0; b < block; b++)
        if (is_present(g, b)) at += block_bytes(g, file, b) + 8 + label_bytes(g);
    return block < GADGET_BLOCKS ? at : at - label_bytes(g);
}

static int files_needed(const struct gadget_out *g)
{
    int64_t max = 0, room = INT32_MAX - 64;
    for (int b = 0; b < GADGET_BLOCKS; b++) {
        int64_t n = 0;
        for (int t = 0; t < GADGET_TYPES; t++) n += has_block(g, b, t) ? g->count[t] : 0;
        int64_t files = n / (room / size_of(g, b)) + 1;
        max = files > max ? files : max;
    }
    return max > FILES_MAX ? FILES_MAX + 1 : (int)max;
}

static void name_of(const struct gadget_out *g, int file, char path[PATH_MAX])
{
    if (g->nfile > 1)
        snprintf(path, PATH_MAX, "%s.%d", g->path, file);
    else
        snprintf(path, PATH_MAX, "%s", g->path);
}

/* ---- writing ---- */

static void put_at(char *head, int at, const void *p, size_t n)
{
    memcpy(head + at, p, n);
}

void gadget_header(const struct gadget_out *g, const int64_t here[GADGET_TYPES],
                   char head[GADGET_HEADER])
{
    memset(head, 0, GADGET_HEADER);
    for (int t = 0; t < GADGET_TYPES; t++) {
        int32_t few = (int32_t)here[t];
        uint32_t low = (uint32_t)g->count[t], high = (uint32_t)(g->count[t] >> 32);
        put_at(head, 4 * t, &few, 4);
        put_at(head, 24 + 8 * t, &g->mass[t], 8);
        put_at(head, 96 + 4 * t, &low, 4);
        put_at(head, 168 + 4 * t, &high, 4);
    }
    int32_t files = g->nfile, stars = g->stars, metals = g->metals;
    put_at(head, 72, &g->time, 8);
    put_at(head, 80, &g->redshift, 8);
    put_at(head, 88, &stars, 4); /* flag_sfr: whether there are stars */
    put_at(head, 124, &files, 4);
    put_at(head, 128, &g->box, 8);
    put_at(head, 136, &g->omega_m, 8);
    put_at(head, 144, &g->omega_l, 8);
    put_at(head, 152, &g->h, 8);
    put_at(head, 164, &metals, 4);
}

static enum err put_marks(const struct gadget_out *g, int fd, const char *path, const char *label,
                          int64_t at, int64_t bytes)
{
    int32_t n = (int32_t)bytes, eight = 8, next = n + 8;
    if (g->named) {
        char l[16];
        put_at(l, 0, &eight, 4);
        put_at(l, 4, label, 4);
        put_at(l, 8, &next, 4);
        put_at(l, 12, &eight, 4);
        TRY(file_write_at(fd, path, l, sizeof l, at - 20));
    }
    TRY(file_write_at(fd, path, &n, 4, at - 4));
    return file_write_at(fd, path, &n, 4, at + bytes);
}

static enum err make_file(struct gadget_out *g, int file, int fd, const char *path)
{
    char head[HEADER];
    int64_t here[GADGET_TYPES];
    for (int t = 0; t < GADGET_TYPES; t++) here[t] = gadget_count(g, file, t);
    gadget_header(g, here, head);
    int64_t at = label_bytes(g) + 4;
    TRY(put_marks(g, fd, path, "HEAD", at, HEADER));
    TRY(file_write_at(fd, path, head, HEADER, at));
    for (int b = 0; b < GADGET_BLOCKS; b++)
        if (is_present(g, b))
            TRY(put_marks(g, fd, path, NAME[b], block_at(g, file, b), block_bytes(g, file, b)));
    return OK;
}

static int64_t rows_at(const struct gadget_out *g, int file, int type, int block)
{
    int64_t at = block_at(g, file, block);
    for (int t = 0; t < type; t++)
        at += has_block(g, block, t) ? size_of(g, block) * gadget_count(g, file, t) : 0;
    return at;
}

const struct gadget_layout gadget_binary = {.files = files_needed,
                                            .name = name_of,
                                            .make = make_file,
                                            .has = has_block,
                                            .size = size_of,
                                            .at = rows_at};
