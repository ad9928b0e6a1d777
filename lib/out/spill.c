#include "out/spill.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "ckpt/files.h"
#include "io/file.h"

enum { PAGES = 64, PAGE_MIN = 64 << 10, PAGE_MAX = 512 << 10 };
static const int64_t AHEAD = (int64_t)32 << 20; /* bytes of disk space reserved at a time */

static void file_path(const struct spill *s, int rank, char path[PATH_MAX])
{
    enum err err = files_path(s->dir, FILES_SPILL, 0, rank + 1, path);
    BUG_ON(err != OK); /* PATH_MAX exceeds the names of outputs */
}

static enum err create(struct spill *s, const struct comm *c, const char *dir, int nlist,
                       int nactive, const struct spill_kind kind[SPILL_KINDS], size_t memory)
{
    char path[PATH_MAX];
    *s = (struct spill){.c = c, .nlist = nlist};
    snprintf(s->dir, sizeof s->dir, "%s", dir);
    s->page_bytes = memory / (nactive > PAGES / 2 ? 2 * (size_t)nactive : PAGES);
    if (s->page_bytes < PAGE_MIN) s->page_bytes = PAGE_MIN;
    if (s->page_bytes > PAGE_MAX) s->page_bytes = PAGE_MAX;
    for (int k = 0; k < SPILL_KINDS; k++) {
        s->kind[k] = kind[k];
        s->kind[k].row = 0;
        for (int i = 0; i < kind[k].nsection; i++) s->kind[k].row += kind[k].width[i];
        if (s->page_bytes < 16 * s->kind[k].row) s->page_bytes = 16 * s->kind[k].row;
    }
    s->npage = (int)(memory / s->page_bytes);
    if (s->npage < 4) s->npage = 4;
    s->page = mem_zero(sizeof *s->page * (size_t)s->npage, "spill pages");
    s->page_of = mem_new(sizeof *s->page_of * (size_t)nlist + 1, "spill lists");
    memset(s->page_of, 0xff, sizeof *s->page_of * (size_t)nlist);
    s->fd = mem_new(sizeof *s->fd * (size_t)c->size, "spill lists");
    for (int r = 0; r < c->size; r++) s->fd[r] = -1;
    file_path(s, c->rank, path);
    return file_create(path, &s->fd[c->rank]);
}

static enum err open_all(struct spill *s)
{
    char path[PATH_MAX];
    for (int r = 0; r < s->c->size; r++) {
        int64_t size;
        file_path(s, r, path);
        if (s->fd[r] < 0) TRY(file_open(path, &s->fd[r], &size));
    }
    return OK;
}

static enum err unlink_own(const struct spill *s)
{
    char path[PATH_MAX];
    file_path(s, s->c->rank, path);
    if (unlink(path) != 0) FAIL(ERR_FILE, "%s: cannot remove: %s", path, strerror(errno));
    return OK;
}

enum err spill_begin(struct spill *s, const struct comm *c, const char *dir, int nlist, int nactive,
                     const struct spill_kind kind[SPILL_KINDS], size_t memory)
{
    TRY(err_agree(c, create(s, c, dir, nlist, nactive, kind, memory)));
    TRY(err_agree(c, open_all(s)));
    return err_agree(c, unlink_own(s));
}

static void free_pages(struct spill *s)
{
    for (int i = 0; i < s->nused; i++) FREE(s->page[i].data);
    s->nused = 0;
    FREE(s->page);
    FREE(s->page_of);
}

void spill_end(struct spill *s)
{
    free_pages(s);
    for (int r = 0; s->fd && r < s->c->size; r++)
        if (s->fd[r] >= 0) close(s->fd[r]);
    FREE(s->fd);
    FREE(s->first);
    FREE(s->chunk);
}

/* ---- writing ---- */

/* Writes a page as a chunk. In a page that is not full the sections are moved together first. */
static enum err page_write(struct spill *s, struct spill_page *p)
{
    const struct spill_kind *k = &s->kind[p->kind];
    char path[PATH_MAX];
    size_t bytes = 0, from = 0;
    if (p->n == 0) return OK;
    for (int i = 0; i < k->nsection; i++) {
        if (from != bytes) memmove(p->data + bytes, p->data + from, k->width[i] * (size_t)p->n);
        bytes += k->width[i] * (size_t)p->n;
        from += k->width[i] * (size_t)p->cap;
    }
    MEM_ROOM(s->chunk, s->nchunk, s->room, 1024, "spill lists");
    s->chunk[s->nchunk++] = (struct spill_chunk){
        .at = s->end, .n = p->n, .file = s->c->rank, .list = p->list, .kind = p->kind};
    p->n = 0;
    file_path(s, s->c->rank, path);
    if (s->end + (int64_t)bytes > s->reserved) {
        file_reserve(s->fd[s->c->rank], s->reserved, AHEAD);
        s->reserved += AHEAD;
    }
    TRY(file_write_at(s->fd[s->c->rank], path, p->data, bytes, s->end));
    s->end += (int64_t)bytes;
    return OK;
}

/* Priority of a page for being written: high for many rows, none of them recent. */
static int64_t weight_of(const struct spill *s, const struct spill_page *p)
{
    return p->n ? p->n * (s->clock - p->used) : INT64_MAX;
}

/* Finds a page for a list without one: a new page, an empty page, or a page that is written first.
 */
static enum err page_take(struct spill *s, int list, int kind)
{
    int best = 0;
    if (s->nused < s->npage) {
        best = s->nused++;
        s->page[best].data = mem_new(s->page_bytes, "spill pages");
    } else {
        for (int i = 1; i < s->npage; i++)
            if (weight_of(s, &s->page[i]) > weight_of(s, &s->page[best])) best = i;
        s->page_of[s->page[best].list] = -1;
        TRY(page_write(s, &s->page[best]));
    }
    struct spill_page *p = &s->page[best];
    p->list = list, p->kind = kind, p->n = 0;
    p->cap = (int)(s->page_bytes / s->kind[kind].row);
    s->page_of[list] = best;
    return OK;
}

enum err spill_room(struct spill *s, int list, int kind, int *n, char **section)
{
    const struct spill_kind *k = &s->kind[kind];
    if (s->page_of[list] < 0) TRY(page_take(s, list, kind));
    struct spill_page *p = &s->page[s->page_of[list]];
    char *to = p->data;
    p->used = s->clock++;
    if (*n > p->cap - p->n) *n = p->cap - p->n;
    for (int i = 0; i < k->nsection; i++) {
        section[i] = to + k->width[i] * (size_t)p->n;
        to += k->width[i] * (size_t)p->cap;
    }
    return OK;
}

enum err spill_add(struct spill *s, int list, int n)
{
    struct spill_page *p = &s->page[s->page_of[list]];
    p->n += n;
    return p->n == p->cap ? page_write(s, p) : OK;
}

/* ---- exchange of the tables ---- */

/* Writes this rank's table of chunks after the rows; the tables are exchanged through the files. */
static enum err put_table(struct spill *s)
{
    char path[PATH_MAX];
    for (int i = 0; i < s->nused; i++) TRY(page_write(s, &s->page[i]));
    file_path(s, s->c->rank, path);
    return file_write_at(s->fd[s->c->rank], path, s->chunk, sizeof *s->chunk * (size_t)s->nchunk,
                         s->end);
}

static enum err get_tables(struct spill *s, const int64_t (*where)[2])
{
    struct spill_chunk *all;
    int64_t total = 0;
    for (int r = 0; r < s->c->size; r++) total += where[r][0];
    FREE(s->chunk);
    s->chunk = mem_new(sizeof *s->chunk * (size_t)total + 1, "spill lists");
    all = mem_new(sizeof *all * (size_t)total + 1, "spill lists");
    enum err err = OK;
    for (int64_t r = 0, at = 0; r < s->c->size && err == OK; at += where[r++][0]) {
        char path[PATH_MAX];
        file_path(s, (int)r, path);
        err = file_read_at(s->fd[r], path, all + at, sizeof *all * (size_t)where[r][0],
                           where[r][1]);
    }
    s->first = mem_zero(sizeof *s->first * (size_t)(s->nlist + 2), "spill lists");
    for (int64_t i = 0; err == OK && i < total; i++) s->first[all[i].list + 2]++;
    for (int l = 0; l < s->nlist; l++) s->first[l + 2] += s->first[l + 1];
    for (int64_t i = 0; err == OK && i < total; i++) s->chunk[s->first[all[i].list + 1]++] = all[i];
    s->nchunk = total;
    FREE(all);
    return err;
}

enum err spill_share(struct spill *s)
{
    TRY(err_agree(s->c, put_table(s)));
    free_pages(s);
    int64_t(*where)[2] = mem_new(sizeof *where * (size_t)s->c->size, "spill lists");
    where[s->c->rank][0] = s->nchunk, where[s->c->rank][1] = s->end;
    for (int r = 0; r < s->c->size; r++) comm_bcast(s->c, where[r], sizeof *where, r);
    enum err err = err_agree(s->c, get_tables(s, (const int64_t(*)[2])where));
    FREE(where);
    return err;
}

/* ---- reading ---- */

int64_t spill_count(const struct spill *s, int list)
{
    int64_t n = 0;
    for (int64_t i = s->first[list]; i < s->first[list + 1]; i++) n += s->chunk[i].n;
    return n;
}

enum err spill_get(const struct spill *s, int64_t chunk, int section, int64_t first, int64_t n,
                   void *out)
{
    const struct spill_chunk *h = &s->chunk[chunk];
    const struct spill_kind *k = &s->kind[h->kind];
    char path[PATH_MAX];
    int64_t at = h->at;
    BUG_ON(first < 0 || n < 0 || first + n > h->n);
    for (int i = 0; i < section; i++) at += (int64_t)k->width[i] * h->n;
    at += (int64_t)k->width[section] * first;
    file_path(s, h->file, path);
    return file_read_at(s->fd[h->file], path, out, k->width[section] * (size_t)n, at);
}
