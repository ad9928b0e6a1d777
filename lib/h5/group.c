/* h5/group: reads groups: symbol tables (HDF5 File Format Specification III.A, B, D), links in the
 * object header, and links in a fractal heap. */
#include <stdio.h>

#include "base/mem.h"
#include "h5/priv.h"

struct visit {
    const char *name; /* name of the only link wanted; NULL: all links */
    h5_link_fn *fn;
    void *ctx;
    unsigned char *names; /* local heap of a symbol table, with the names */
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
        bool soft = h5_take(&r, 4) == 2;
        if (name < 0 || name >= v->nname || (object <= 0 && !soft))
            h5_damage(f, at, "a symbol");
        else
            found = v->fn(f, (const char *)v->names + name, soft ? 0 : object, v->ctx);
    }
    FREE(rows);
    return found;
}

/* Visits a node of the B-tree; level: expected by the parent; -1: any. */
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
    v->names[v->nname] = 0; /* h5_load allocates one byte more */
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
    bool hard = type == 0; /* otherwise a soft or an external link */
    int64_t object = hard ? h5_address(f, &b) : 0;
    if (version != 1 || b.bad || (hard && object <= 0)) {
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
    return heap >= 0 && h5_dense(f, heap, tree, v->name, see_link, v);
}

static bool visit_links(struct h5_file *f, int64_t group, const char *name, h5_link_fn *fn,
                        void *ctx)
{
    struct visit v = {
        .name = name, .fn = fn, .ctx = ctx, .budget = f->size < H5_BUDGET ? f->size : H5_BUDGET};
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

bool h5_each(struct h5_file *f, int64_t group, h5_link_fn *fn, void *ctx)
{
    return visit_links(f, group, NULL, fn, ctx);
}

/* ---- paths ---- */

struct wanted {
    const char *name;
    int64_t at;
};

static bool is_wanted(struct h5_file *f, const char *name, int64_t at, void *ctx)
{
    struct wanted *w = ctx;
    if (strcmp(name, w->name) != 0) return false;
    w->at = at;
    return true;
}

int64_t h5_find(struct h5_file *f, const char *path)
{
    char name[256];
    int64_t at = f->root;
    for (const char *s = path; *s && at && f->err == OK;) {
        size_t n = strcspn(s, "/");
        struct wanted w = {name, 0};
        if (n >= sizeof name) return 0; /* longer than any link name that is read */
        snprintf(name, sizeof name, "%.*s", (int)n, s);
        s += n + (s[n] == '/');
        if (n == 0) continue;
        if (visit_links(f, at, name, is_wanted, &w) && w.at == 0 && f->err == OK)
            f->err = err_set(ERR_LIMIT,
                             "%s: '%s' of /%s is a soft or external link, which is not followed: "
                             "put the object itself into the file (h5copy)",
                             f->path, name, path);
        at = w.at;
    }
    return f->err == OK ? at : 0;
}
