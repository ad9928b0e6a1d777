/* gadget/file: see file.h. File k of F has the particles N k / F to N (k+1) / F of each type. A
 * block is a record with the values of all types that have the block, one type after the other. */
#include "gadget/file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/dir.h"
#include "io/file.h"

enum { HEADER = 256, FILES_MAX = 100000 };
static const char NAME[GADGET_BLOCKS][5] = {"POS ", "VEL ", "ID  ", "MASS", "U   ", "RHO ", "HSML"};

/* ---- layout ---- */

static int64_t count_of(const struct gadget_out *g, int file, int type)
{
    __int128 n = g->count[type];
    return (int64_t)(n * (file + 1) / g->nfile - n * file / g->nfile);
}

static int64_t size_of(const struct gadget_out *g, int block)
{
    return block <= GADGET_VEL ? 12 : block == GADGET_ID && g->wide_ids ? 8 : 4;
}

static bool has_block(const struct gadget_out *g, int block, int type)
{
    if (g->count[type] == 0) return false;
    return block <= GADGET_ID || (block == GADGET_MASS ? g->mass[type] == 0 : type == GADGET_GAS);
}

static int64_t block_bytes(const struct gadget_out *g, int file, int block)
{
    int64_t n = 0;
    for (int t = 0; t < GADGET_TYPES; t++)
        if (has_block(g, block, t)) n += count_of(g, file, t);
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

/* ---- names ---- */

static void name_of(const struct gadget_out *g, int file, char path[PATH_MAX])
{
    if (g->nfile > 1)
        snprintf(path, PATH_MAX, "%s.%d", g->path, file);
    else
        snprintf(path, PATH_MAX, "%s", g->path);
}

/* Path of a file while incomplete. */
static enum err temp_of(const struct gadget_out *g, int file, char name[PATH_MAX])
{
    char path[PATH_MAX];
    name_of(g, file, path);
    return temp_name(&g->first, path, name);
}

static enum err check_names(const struct gadget_out *g)
{
    char path[PATH_MAX];
    size_t n = strlen(g->path);
    if (n == 0 || n > PATH_MAX - 32)
        FAIL(ERR_FILE,
             "%.80s: is empty or too long for the path of a Gadget snapshot: give another -o",
             g->path);
    if (g->path[n - 1] == '/')
        FAIL(ERR_FILE,
             "%s: is the name of a directory, but a Gadget snapshot is a file: give another -o",
             g->path);
    struct stat st;
    if (stat(g->path, &st) == 0 && !S_ISREG(st.st_mode))
        FAIL(ERR_FILE, "%s: is %s, but a Gadget snapshot is a file: give another -o", g->path,
             file_kind(st.st_mode));
    snprintf(path, sizeof path, "%s.0", g->path);
    bool first = file_exists(path);
    if (!g->overwrite && (first || file_exists(g->path)))
        FAIL(ERR_FILE, "%s: exists; --force replaces it", first ? path : g->path);
    return OK;
}

/* ---- writing ---- */

static void put_at(char *head, int at, const void *p, size_t n)
{
    memcpy(head + at, p, n);
}

static void make_header(const struct gadget_out *g, int file, char head[HEADER])
{
    memset(head, 0, HEADER);
    for (int t = 0; t < GADGET_TYPES; t++) {
        int32_t here = (int32_t)count_of(g, file, t);
        uint32_t low = (uint32_t)g->count[t], high = (uint32_t)(g->count[t] >> 32);
        put_at(head, 4 * t, &here, 4);
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

static enum err fill_file(struct gadget_out *g, int file, int fd, const char *path)
{
    char head[HEADER];
    make_header(g, file, head);
    int64_t at = label_bytes(g) + 4;
    TRY(put_marks(g, fd, path, "HEAD", at, HEADER));
    TRY(file_write_at(fd, path, head, HEADER, at));
    for (int b = 0; b < GADGET_BLOCKS; b++)
        if (is_present(g, b))
            TRY(put_marks(g, fd, path, NAME[b], block_at(g, file, b), block_bytes(g, file, b)));
    return OK;
}

/* Creates a file. The first file stays open, which protects the others (io/temp). */
static enum err make_file(struct gadget_out *g, int file)
{
    char path[PATH_MAX];
    int fd;
    name_of(g, file, path);
    if (file == 0) {
        if (g->nfile > 1) temp_sweep(g->path);
        TRY(temp_create(&g->first, path));
        return fill_file(g, file, g->first.fd, path);
    }
    TRY(temp_of(g, file, path));
    TRY(file_create(path, &fd));
    g->made = file + 1;
    enum err err = fill_file(g, file, fd, path);
    if (err == OK) return file_close_synced(fd, path);
    close(fd);
    return err;
}

enum err gadget_create(struct gadget_out *g)
{
    int min = files_needed(g);
    for (int t = 0; t < GADGET_TYPES; t++) g->fd[t] = -1, g->file[t] = -1, g->done[t] = 0;
    g->made = 0;
    g->first.fd = -1;
    if (g->nfile < min) g->nfile = min;
    if (g->nfile > FILES_MAX)
        FAIL(ERR_LIMIT, "%s: the snapshot would need more than %d files", g->path, FILES_MAX);
    TRY(check_names(g));
    for (int k = 0; k < g->nfile; k++) TRY(make_file(g, k));
    return OK;
}

static enum err leave_file(struct gadget_out *g, int type)
{
    char path[PATH_MAX];
    int fd = g->fd[type];
    g->fd[type] = -1;
    if (fd < 0) return OK;
    name_of(g, g->file[type], path);
    return file_close_synced(fd, path);
}

static enum err enter_file(struct gadget_out *g, int type, int file)
{
    char path[PATH_MAX];
    if (g->fd[type] >= 0 && g->file[type] == file) return OK;
    TRY(leave_file(g, type));
    TRY(temp_of(g, file, path));
    TRY(file_reopen(path, &g->fd[type]));
    g->file[type] = file;
    return OK;
}

/* Writes n particles to a file, starting at number `first` of this file. */
static enum err put_here(struct gadget_out *g, int type, int64_t first, int64_t n, int64_t from,
                         const void *const block[GADGET_BLOCKS])
{
    char path[PATH_MAX];
    int file = g->file[type];
    name_of(g, file, path);
    for (int b = 0; b < GADGET_BLOCKS; b++) {
        if (!has_block(g, b, type)) continue;
        int64_t size = size_of(g, b), at = block_at(g, file, b);
        for (int t = 0; t < type; t++) at += has_block(g, b, t) ? size * count_of(g, file, t) : 0;
        TRY(file_write_at(g->fd[type], path, (const char *)block[b] + size * from,
                          (size_t)(size * n), at + size * first));
    }
    return OK;
}

enum err gadget_put(struct gadget_out *g, enum gadget_type type, int64_t n,
                    const void *const block[GADGET_BLOCKS])
{
    if (g->done[type] + n > g->count[type])
        FAIL(ERR_FILE,
             "%s: the checkpoint changed while it was read: convert it again when it is complete",
             g->path);
    for (int64_t from = 0; from < n;) {
        int file = g->file[type] < 0 ? 0 : g->file[type];
        int64_t begin = (int64_t)((__int128)g->count[type] * file / g->nfile);
        while (g->done[type] >= begin + count_of(g, file, type)) begin += count_of(g, file++, type);
        int64_t left = begin + count_of(g, file, type) - g->done[type],
                k = n - from < left ? n - from : left;
        TRY(enter_file(g, type, file));
        TRY(put_here(g, type, g->done[type] - begin, k, from, block));
        from += k;
        g->done[type] += k;
    }
    return OK;
}

/* ---- completion ---- */

/* Removes files of an older snapshot with this name that had more files. */
static void remove_rest(const struct gadget_out *g)
{
    char path[PATH_MAX];
    if (g->nfile > 1) unlink(g->path);
    for (int k = g->nfile > 1 ? g->nfile : 0;; k++) {
        snprintf(path, sizeof path, "%s.%d", g->path, k);
        if (unlink(path) != 0) return;
    }
}

static enum err sync_parent(const struct gadget_out *g)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s", g->path);
    char *slash = strrchr(path, '/');
    if (slash) slash[slash == path] = 0;
    return dir_sync(slash ? path : ".");
}

/* Renames the files, the first one last, so that a reader that finds it finds all. */
static enum err publish(struct gadget_out *g)
{
    char from[PATH_MAX], to[PATH_MAX];
    TRY(temp_sync(&g->first));
    for (int k = g->nfile - 1; k > 0; k--) {
        TRY(temp_of(g, k, from));
        name_of(g, k, to);
        if (rename(from, to) != 0)
            FAIL(ERR_FILE, "%s: cannot rename to %s: %s", from, to, strerror(errno));
    }
    g->made = 0;
    return temp_publish(&g->first);
}

enum err gadget_finish(struct gadget_out *g, char *name, size_t n)
{
    char first[PATH_MAX];
    for (int t = 0; t < GADGET_TYPES; t++) {
        TRY(leave_file(g, t));
        if (g->done[t] != g->count[t])
            FAIL(ERR_FILE,
                 "%s: the checkpoint changed while it was read: convert it again when it is "
                 "complete",
                 g->path);
    }
    int turn = temp_turn(g->path);
    enum err err = publish(g);
    if (err == OK && g->overwrite) remove_rest(g);
    temp_turn_end(turn);
    TRY(err);
    name_of(g, 0, first);
    snprintf(name, n, "%s", first);
    return sync_parent(g);
}

void gadget_drop(struct gadget_out *g)
{
    char path[PATH_MAX];
    for (int t = 0; t < GADGET_TYPES; t++)
        if (g->fd[t] >= 0) close(g->fd[t]), g->fd[t] = -1;
    for (int k = 1; k < g->made; k++)
        if (temp_of(g, k, path) == OK) unlink(path);
    g->made = 0;
    temp_drop(&g->first);
}
