/* h5/group: groups of the files of parse.h: symbol tables (HDF5 File Format Specification III.A, B,
 * D), links in the header, and those in a heap of their own. */
#include <stdio.h>

#include "base/mem.h"
#include "h5/priv.h"

struct visit {
    h5_link_fn *fn;
    void *ctx;
    unsigned char *names; /* a symbol table's heap */
    int64_t nname, budget;
};

/* ---- symbol tables ---- */

static bool see_symbols(struct h5_file *f, int64_t at, struct visit *v)
{
    unsigned char *head = h5_load(f, at, 8, "a symbol node");
    if (!head) return false;
    struct h5_bytes b = {head + 6, head + 8, false};
    int64_t n = (int64_t)h5_take(&b, 2), row = 2 * f->offset + 24;
    bool sound = h5_magic(head, "SNOD") && head[4] == 1, found = false;
    FREE(head);
    v->budget -= n * row;
    if (!sound || v->budget < 0) h5_damage(f, at, "a symbol node");
    unsigned char *rows = h5_load(f, at + 8, n * row, "a symbol node");
    for (int64_t i = 0; rows && i < n && !found && f->err == OK; i++) {
        struct h5_bytes r = {rows + i * row, rows + (i + 1) * row, false};
        int64_t name = h5_address(f, &r), object = h5_address(f, &r);
        if (h5_take(&r, 4) == 2) continue; /* a soft link: not followed */
        if (name < 0 || name >= v->nname || object <= 0)
            h5_damage(f, at, "a symbol");
        else
            found = v->fn(f, (const char *)v->names + name, object, v->ctx);
    }
    FREE(rows);
    return found;
}

/* level: that which the parent says; -1: any. */
static bool see_tree(struct h5_file *f, int64_t at, int level, struct visit *v)
{
    int start = 8 + 2 * f->offset;
    unsigned char *head = h5_load(f, at, start, "a tree of names");
    if (!head) return false;
    struct h5_bytes b = {head + 6, head + 8, false};
    int64_t n = (int64_t)h5_take(&b, 2), row = f->length + f->offset;
    int depth = head[5];
    bool sound = h5_magic(head, "TREE") && head[4] == 0 && (level < 0 || depth == level) &&
                 depth < 16,
         found = false;
    FREE(head);
    v->budget -= start + n * row;
    if (!sound || v->budget < 0) h5_damage(f, at, "a tree of names");
    unsigned char *rows = h5_load(f, at + start, n * row, "a tree of names");
    for (int64_t i = 0; rows && i < n && !found && f->err == OK; i++) {
        struct h5_bytes r = {rows + i * row + f->length, rows + (i + 1) * row, false};
        int64_t child = h5_address(f, &r);
        found = depth ? see_tree(f, child, depth - 1, v) : see_symbols(f, child, v);
    }
    FREE(rows);
    return found;
}

static bool see_table(struct h5_file *f, struct h5_bytes b, struct visit *v)
{
    int64_t tree = h5_address(f, &b), heap = h5_address(f, &b);
    unsigned char *head = h5_load(f, heap, 8 + 2 * f->length + f->offset, "a heap of names");
    if (!head) return false;
    struct h5_bytes h = {head + 8, head + 8 + 2 * f->length + f->offset, false};
    v->nname = (int64_t)h5_take(&h, f->length);
    h5_take(&h, f->length);
    int64_t at = h5_address(f, &h);
    if (!h5_magic(head, "HEAP") || v->nname > H5_BUDGET) h5_damage(f, heap, "a heap of names");
    FREE(head);
    v->names = h5_load(f, at, v->nname, "a heap of names");
    if (!v->names) return false;
    v->names[v->nname] = 0; /* h5_load leaves room */
    bool found = see_tree(f, tree, -1, v);
    FREE(v->names);
    return found;
}

/* ---- links ---- */

static bool see_link(struct h5_file *f, struct h5_bytes b, void *ctx)
{
    struct visit *v = ctx;
    char name[256];
    int version = (int)h5_take(&b, 1), flags = (int)h5_take(&b, 1);
    int type = flags & 8 ? (int)h5_take(&b, 1) : 0;
    h5_take(&b, flags & 4 ? 8 : 0);
    h5_take(&b, flags & 16 ? 1 : 0);
    int64_t n = (int64_t)h5_take(&b, 1 << (flags & 3));
    struct h5_bytes text = h5_cut(&b, n);
    if (type != 0 && !b.bad) return false; /* soft, or into another file: not followed */
    int64_t object = h5_address(f, &b);
    if (version != 1 || b.bad || object <= 0) {
        h5_damage(f, 0, "a link");
        return false;
    }
    if (n >= (int64_t)sizeof name) return false;
    memcpy(name, text.p, (size_t)n);
    name[n] = 0;
    return v->fn(f, name, object, v->ctx);
}

static bool see_dense(struct h5_file *f, struct h5_bytes b, struct visit *v)
{
    h5_take(&b, 1);
    h5_take(&b, h5_take(&b, 1) & 1 ? 8 : 0);
    int64_t heap = h5_address(f, &b), tree = h5_address(f, &b);
    if (b.bad) h5_damage(f, 0, "a group's header");
    return heap >= 0 && h5_dense(f, heap, tree, see_link, v);
}

bool h5_each(struct h5_file *f, int64_t group, h5_link_fn *fn, void *ctx)
{
    struct visit v = {.fn = fn, .ctx = ctx, .budget = f->size < H5_BUDGET ? f->size : H5_BUDGET};
    struct h5_object *o = h5_object_load(f, group);
    bool found = false;
    if (!o) return false;
    for (int i = 0; i < o->nmsg && !found && f->err == OK; i++) {
        const struct h5_message *m = &o->msg[i];
        if (m->type == MSG_TABLE) found = see_table(f, m->data, &v);
        if (m->type == MSG_LINK) found = see_link(f, m->data, &v);
        if (m->type == MSG_LINKS) found = see_dense(f, m->data, &v);
    }
    h5_object_free(&o);
    return found;
}

/* ---- paths ---- */

struct wanted {
    const char *name;
    size_t n;
    int64_t at;
};

static bool is_wanted(struct h5_file *f, const char *name, int64_t at, void *ctx)
{
    struct wanted *w = ctx;
    bool same = strlen(name) == w->n && memcmp(name, w->name, w->n) == 0;
    if (same) w->at = at;
    return same;
}

int64_t h5_find(struct h5_file *f, const char *path)
{
    int64_t at = f->root;
    while (*path && at && f->err == OK) {
        struct wanted w = {path, strcspn(path, "/"), 0};
        if (w.n) {
            h5_each(f, at, is_wanted, &w);
            at = w.at;
        }
        path += w.n + (path[w.n] == '/');
    }
    return f->err == OK ? at : 0;
}
