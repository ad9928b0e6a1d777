/* oct/mirror: arrays of the levels on a device. */
#include "oct/mirror.h"

#include <string.h>

#include "base/mem.h"

enum err mirror_init(struct mirror *x, struct dev *d, struct dev_stream *s)
{
    void *there;
    *x = (struct mirror){.dev = d, .stream = s};
    TRY(dev_new(d, &there, sizeof *x->there, "mesh"));
    x->there = there;
    x->image = mem_zero(sizeof *x->image, "device");
    return OK;
}

static void drop(struct mirror *x, void *pointer)
{
    void **p = pointer;
    dev_free(x->dev, *p);
    *p = NULL;
}

static void level_drop(struct mirror *x, int l)
{
    struct level *im = &x->image->lev[l];
    for (int f = 0; f < FLD_MAX; f++) drop(x, &im->fld[f]);
    drop(x, &im->key);
    drop(x, &im->child);
    drop(x, &im->parent);
    drop(x, &im->nbr);
    drop(x, &im->hash.slot);
    drop(x, &im->edge);
    drop(x, &im->edge_flux);
    x->linked[l] = false;
}

void mirror_fini(struct mirror *x)
{
    if (!x->image) return;
    for (int l = 0; l < LEVEL_MAX + 2; l++) level_drop(x, l);
    dev_free(x->dev, x->there);
    FREE(x->image);
}

/* A new array there with these values. `pointer` is that of the image. */
static enum err send(struct mirror *x, void *pointer, const void *from, size_t bytes,
                     const char *name)
{
    void **p = pointer;
    if (!*p) TRY(dev_new(x->dev, p, bytes + 1, name));
    dev_put(x->stream, *p, from, bytes);
    return OK;
}

enum err mirror_links(struct mirror *x, const struct mesh *m, int l)
{
    const struct level *lv = &m->lev[l];
    struct level *im = &x->image->lev[l];
    size_t n = (size_t)lv->noct;
    if (x->linked[l] && x->links[l] == lv->links) return OK;
    level_drop(x, l);
    if (n == 0) return OK;
    TRY(send(x, &im->key, lv->key, n * sizeof *lv->key, "mesh keys"));
    TRY(send(x, &im->child, lv->child, n * sizeof *lv->child, "mesh links"));
    TRY(send(x, &im->parent, lv->parent, n * sizeof *lv->parent, "mesh links"));
    TRY(send(x, &im->nbr, lv->nbr, n * sizeof *lv->nbr, "mesh links"));
    TRY(send(x, &im->hash.slot, lv->hash.slot, (lv->hash.mask + 1) * sizeof(lidx), "mesh hash"));
    im->hash.mask = lv->hash.mask;
    im->hash.shift = lv->hash.shift;
    x->linked[l] = true;
    x->links[l] = lv->links;
    return OK;
}

enum err mirror_put(struct mirror *x, const struct mesh *m, int l, int first, int n)
{
    const struct level *lv = &m->lev[l];
    BUG_ON(lv->noct > 0 && (!x->linked[l] || x->links[l] != lv->links));
    for (int f = first; f < first + n && lv->noct > 0; f++)
        TRY(send(x, &x->image->lev[l].fld[f], lv->fld[f], sizeof *lv->fld[f] * (size_t)lv->noct,
                 f < FLD_U ? "mesh gravity" : "mesh gas"));
    return OK;
}

void mirror_get(struct mirror *x, struct mesh *m, int l, int first, int n)
{
    struct level *lv = &m->lev[l];
    for (int f = first; f < first + n; f++)
        dev_get(x->stream, lv->fld[f], x->image->lev[l].fld[f],
                sizeof *lv->fld[f] * (size_t)lv->nown);
}

enum err mirror_put_edges(struct mirror *x, const struct mesh *m, int l, size_t bytes)
{
    const struct level *lv = &m->lev[l];
    struct level *im = &x->image->lev[l];
    drop(x, &im->edge);
    drop(x, &im->edge_flux);
    if (!lv->edge) return OK;
    TRY(send(x, &im->edge, lv->edge, sizeof *lv->edge * (size_t)lv->noct, "hydro reflux"));
    return send(x, &im->edge_flux, lv->edge_flux, bytes, "hydro reflux");
}

void mirror_get_edges(struct mirror *x, struct mesh *m, int l, size_t bytes)
{
    dev_get(x->stream, m->lev[l].edge_flux, x->image->lev[l].edge_flux, bytes);
}

void mirror_send(struct mirror *x, const struct mesh *m)
{
    struct mesh *im = x->image;
    im->levelmin = m->levelmin;
    im->levelmax = m->levelmax;
    im->nvar = m->nvar;
    im->hydro = m->hydro;
    im->gravity = m->gravity;
    im->boxlen = m->boxlen;
    memcpy(im->bounded, m->bounded, sizeof im->bounded);
    for (int l = 0; l < LEVEL_MAX + 2; l++) {
        im->lev[l].level = l;
        im->lev[l].nown = m->lev[l].nown;
        im->lev[l].noct = m->lev[l].noct;
        im->lev[l].nedge = m->lev[l].nedge;
    }
    dev_put(x->stream, x->there, im, sizeof *im);
}
