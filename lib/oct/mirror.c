/* oct/mirror: arrays of the levels on a device, and the location of the newest copies. */
#include "oct/mirror.h"

#include <string.h>

#include "base/mem.h"
#include "oct/fields.h"

enum err mirror_init(struct mirror *x, struct dev *d, struct dev_stream *s)
{
    *x = (struct mirror){.dev = d, .stream = s};
    TRY(dev_new(d, &x->mesh_dev, sizeof *x->mesh_dev, "mesh"));
    x->image = mem_zero(sizeof *x->image, "device");
    x->sent = mem_zero(sizeof *x->sent, "device");
    return OK;
}

static void drop(struct mirror *x, void *pointer)
{
    void **p = pointer;
    dev_drop(x->stream, *p);
    *p = NULL;
}

static void reflux_drop(struct mirror *x, struct reflux *r)
{
    drop(x, &r->row);
    drop(x, &r->flux);
}

void mirror_drop_level(struct mirror *x, struct level *im)
{
    for (int f = 0; f < FLD_MAX; f++) drop(x, &im->fld[f]);
    drop(x, &im->flag);
    drop(x, &im->key);
    drop(x, &im->child);
    drop(x, &im->parent);
    drop(x, &im->nbr);
    drop(x, &im->hash.slot);
    for (int s = 0; s < REFLUX_SYSTEMS; s++) reflux_drop(x, &im->reflux[s]);
}

static void level_drop(struct mirror *x, int l)
{
    mirror_drop_level(x, &x->image->lev[l]);
    x->linked[l] = false;
    memset(x->location[l], 0, sizeof x->location[l]);
}

void mirror_fini(struct mirror *x)
{
    if (!x->image) return;
    for (int l = 0; l < LEVEL_MAX + 2; l++) level_drop(x, l);
    dev_free(x->dev, x->found.p);
    dev_free(x->dev, x->rows.p);
    dev_free(x->dev, x->mesh_dev);
    FREE(x->image);
    FREE(x->sent);
}

/* ---- copies ---- */

/* Allocates an array on the device; pointer: member of the image. */
static enum err make(struct mirror *x, void *pointer, size_t bytes, const char *name)
{
    void **p = pointer;
    if (*p) return OK;
    return dev_new(x->dev, p, bytes + 1, name);
}

/* Copies `bytes` bytes from the host to an array on the device, which is allocated if missing. */
static enum err send(struct mirror *x, void *pointer, const void *from, size_t bytes,
                     const char *name)
{
    TRY(make(x, pointer, bytes, name));
    x->busy = true;
    dev_put(x->stream, *(void **)pointer, from, bytes);
    return OK;
}

enum err mirror_settle(struct mirror *x)
{
    if (!x->busy) return OK;
    TRY(dev_wait(x->stream));
    x->busy = false;
    return OK;
}

/* Whether the device copies belong to the current list of octs. */
static bool same_octs(const struct mirror *x, const struct mesh *m, int l)
{
    return x->linked[l] && x->octs[l] == m->lev[l].octs;
}

static enum err level_leave(struct mirror *x, int l)
{
    for (int f = 0; f < MIRROR_FIELDS; f++)
        BUG_ON(x->location[l][f] == LOCATION_DEVICE); /* the mesh has changed without mirror_home */
    if (x->image->lev[l].key) TRY(dev_wait(x->stream)); /* copies in progress follow the arrays */
    level_drop(x, l);
    return OK;
}

enum err mirror_links(struct mirror *x, const struct mesh *m, int l)
{
    const struct level *lv = &m->lev[l];
    struct level *im = &x->image->lev[l];
    size_t n = (size_t)lv->noct;
    bool same = same_octs(x, m, l);
    if (same && x->links[l] == lv->links) return OK;
    if (!same) TRY(level_leave(x, l));
    if (n == 0) return OK;
    if (!same) {
        TRY(send(x, &im->key, lv->key, n * sizeof *lv->key, "mesh keys"));
        TRY(send(x, &im->hash.slot, lv->hash.slot, (lv->hash.mask + 1) * sizeof(lidx),
                 "mesh hash"));
        im->hash.mask = lv->hash.mask;
        im->hash.shift = lv->hash.shift;
    }
    TRY(send(x, &im->child, lv->child, n * sizeof *lv->child, "mesh links"));
    TRY(send(x, &im->parent, lv->parent, n * sizeof *lv->parent, "mesh links"));
    TRY(send(x, &im->nbr, lv->nbr, n * sizeof *lv->nbr, "mesh links"));
    x->linked[l] = true;
    x->links[l] = lv->links;
    x->octs[l] = lv->octs;
    return OK;
}

/* ---- fields ---- */

/* Array of a field, of the host or of the image; NULL: the run has none. */
static void **array_of(struct level *lv, int f)
{
    return f >= FLD_REFLUX ? (void **)&lv->reflux[f - FLD_REFLUX].flux
           : f == FLD_FLAG ? (void **)&lv->flag
                           : (void **)&lv->fld[f];
}

static size_t reflux_bytes(const struct reflux *r)
{
    return sizeof(double) * (size_t)(6 * r->nflux + r->nedge) * (size_t)r->n;
}

/* Bytes that registers of a host have in addition to those of a device. */
static size_t host_bytes(const struct reflux *r)
{
    return sizeof(double) * (size_t)r->nlower * (size_t)r->n;
}

static size_t bytes_of(const struct mirror *x, const struct level *lv, int f)
{
    if (f >= FLD_REFLUX) return reflux_bytes(&lv->reflux[f - FLD_REFLUX]);
    return (size_t)lv->noct * (f == FLD_FLAG ? sizeof *lv->flag : sizeof *lv->fld[0]);
}

static const char *name_of(int f)
{
    if (f >= FLD_REFLUX) return "hydro reflux";
    return f == FLD_FLAG ? "mesh flags" : field_memory(f);
}

static enum err field_put(struct mirror *x, const struct mesh *m, int l, int f)
{
    struct level lv = m->lev[l], *im = &x->image->lev[l];
    if (f >= FLD_REFLUX) {
        const struct reflux *from = &lv.reflux[f - FLD_REFLUX];
        struct reflux *to = &im->reflux[f - FLD_REFLUX];
        if (to->n != from->n) drop(x, &to->flux);
        to->n = from->n;
        to->nflux = from->nflux;
        to->nedge = from->nedge;
        to->nlower = from->nlower;
        TRY(send(x, &to->row, from->row, sizeof *from->row * (size_t)lv.noct, name_of(f)));
    }
    TRY(send(x, array_of(im, f), *array_of(&lv, f), bytes_of(x, &lv, f), name_of(f)));
    x->location[l][f] |= LOCATION_HOST | LOCATION_DEVICE;
    return OK;
}

static void field_get(struct mirror *x, struct mesh *m, int l, int f)
{
    struct level *lv = &m->lev[l], *im = &x->image->lev[l];
    if (f >= FLD_REFLUX && !lv->reflux[f - FLD_REFLUX].row) {
        const struct reflux *from = &im->reflux[f - FLD_REFLUX];
        struct reflux *to = &lv->reflux[f - FLD_REFLUX];
        to->n = from->n;
        to->nflux = from->nflux;
        to->nedge = from->nedge;
        to->nlower = from->nlower;
        to->row = mem_new(sizeof *to->row * (size_t)lv->noct + 1, name_of(f));
        to->flux = mem_new(bytes_of(x, lv, f) + host_bytes(to) + 1, name_of(f));
        dev_get(x->stream, to->row, from->row, sizeof *to->row * (size_t)lv->noct);
    }
    dev_get(x->stream, *array_of(lv, f), *array_of(im, f), bytes_of(x, lv, f));
    x->busy = true;
    x->location[l][f] |= LOCATION_HOST;
}

enum err mirror_need(struct mirror *x, struct mesh *m, int l, int first, int n, int location)
{
    if (location == LOCATION_DEVICE) TRY(mirror_links(x, m, l));
    if (m->lev[l].noct == 0) return OK;
    for (int f = first; f < first + n; f++) {
        bool on_device = x->location[l][f] & LOCATION_DEVICE,
             only = x->location[l][f] == LOCATION_DEVICE;
        BUG_ON(only && !same_octs(x, m, l)); /* the mesh has changed without mirror_home */
        if (location == LOCATION_HOST && only) field_get(x, m, l, f);
        if (location == LOCATION_DEVICE && !on_device && *array_of(&m->lev[l], f))
            TRY(field_put(x, m, l, f));
    }
    return location == LOCATION_HOST ? mirror_settle(x) : OK;
}

enum err mirror_room(struct mirror *x, struct mesh *m, int l, int first, int n)
{
    TRY(mirror_links(x, m, l));
    if (m->lev[l].noct == 0) return OK;
    for (int f = first; f < first + n; f++)
        TRY(make(x, array_of(&x->image->lev[l], f), bytes_of(x, &m->lev[l], f), name_of(f)));
    return OK;
}

/* Fills copies that are not the newest with NaNs. */
static void spoil(struct mirror *x, int l, int f, int location)
{
    struct level *lv = &x->spoils->lev[l], *im = &x->image->lev[l];
    void *host = *array_of(lv, f), *dev = *array_of(im, f);
    if (location == LOCATION_HOST && dev && same_octs(x, x->spoils, l))
        dev_fill(x->stream, dev, 0xff, bytes_of(x, f >= FLD_REFLUX ? im : lv, f));
    if (location == LOCATION_DEVICE && host) {
        BUG_ON(mirror_settle(x) != OK); /* the state is lost */
        memset(host, 0xff, bytes_of(x, lv, f));
    }
}

void mirror_wrote(struct mirror *x, int l, int first, int n, int location)
{
    for (int f = first; f < first + n; f++) {
        if (location == LOCATION_DEVICE && !*array_of(&x->image->lev[l], f))
            continue; /* no such field */
        if (x->spoils && x->location[l][f] != location) spoil(x, l, f, location);
        x->location[l][f] = (unsigned char)location;
    }
}

enum err mirror_forget_reflux(struct mirror *x, int l, int system)
{
    x->location[l][FLD_REFLUX + system] = 0;
    return mirror_settle(x);
}

enum err mirror_home(struct mirror *x, struct mesh *m, bool alone)
{
    for (int l = 0; l < LEVEL_MAX + 2; l++) {
        TRY(mirror_need(x, m, l, 0, MIRROR_FIELDS, LOCATION_HOST));
        if (alone) mirror_wrote(x, l, 0, MIRROR_FIELDS, LOCATION_HOST);
    }
    return mirror_settle(x);
}

bool mirror_is_at(const struct mirror *x, int l, int f, int location)
{
    return (x->location[l][f] ? x->location[l][f] : LOCATION_HOST) & location;
}

/* The fields of bit `bit` of a set, *first and up; none: it is not in the set or has no copies. */
static int fields_of(const struct mesh *m, field_set set, int bit, int *first)
{
    if (!(set >> bit & 1)) return 0;
    if (bit != BIT_REFLUX) return field_bit(m, bit, first);
    *first = FLD_REFLUX;
    return REFLUX_RT; /* the systems before it: photons stay on hosts */
}

enum err mirror_need_set(struct mirror *x, struct mesh *m, int l, field_set set, int location)
{
    for (int bit = 0, first = 0; bit < FIELD_BITS; bit++) {
        const int n = fields_of(m, set, bit, &first);
        if (set >> bit & 1) TRY(mirror_need(x, m, l, first, n, location)); /* or the links alone */
    }
    return OK;
}

void mirror_wrote_set(struct mirror *x, const struct mesh *m, int l, field_set set, int location)
{
    for (int bit = 0, first = 0; bit < FIELD_BITS; bit++) {
        const int n = fields_of(m, set, bit, &first);
        mirror_wrote(x, l, first, n, location);
    }
}

bool mirror_has_set(const struct mirror *x, const struct mesh *m, int l, field_set set,
                    int location)
{
    for (int bit = 0, first = 0; bit < FIELD_BITS; bit++)
        for (int n = fields_of(m, set, bit, &first); n-- > 0;)
            if (!mirror_is_at(x, l, first + n, location)) return false;
    return true;
}

bool mirror_has_reflux(const struct mirror *x, const struct mesh *m, int l, int system)
{
    return m->lev[l].reflux[system].row || x->location[l][FLD_REFLUX + system] == LOCATION_DEVICE;
}

enum err mirror_reflux_new(struct mirror *x, const struct mesh *m, int l, int system,
                           const struct reflux *like)
{
    struct reflux *r = &x->image->lev[l].reflux[system];
    const char *name = name_of(FLD_REFLUX);
    reflux_drop(x, r);
    r->n = like->n;
    r->nflux = like->nflux;
    r->nedge = like->nedge;
    r->nlower = like->nlower;
    TRY(make(x, &r->row, sizeof *r->row * (size_t)m->lev[l].noct, name));
    enum err err = make(x, &r->flux, reflux_bytes(r), name);
    if (err != OK) drop(x, &r->row);
    return err;
}

void mirror_become(struct mirror *x, const struct mesh *m, int l, const struct level *now)
{
    struct level *im = &x->image->lev[l];
    level_drop(x, l);
    x->linked[l] = m->lev[l].noct > 0;
    x->octs[l] = m->lev[l].octs;
    for (int k = l - 1; k <= l + 1; k++) x->links[k] = m->lev[k].links;
    if (m->lev[l].noct == 0) return;
    im->key = now->key;
    im->child = now->child;
    im->parent = now->parent;
    im->nbr = now->nbr;
    im->hash = now->hash;
    for (int f = 0; f < FLD_MAX; f++) {
        im->fld[f] = now->fld[f];
        if (im->fld[f]) x->location[l][f] = LOCATION_HOST | LOCATION_DEVICE;
    }
}

/* ---- the mesh on the device ---- */

static void image_update(struct mesh *im, const struct mesh *m)
{
    for (int l = 0; l < LEVEL_MAX + 2; l++) {
        im->lev[l].level = l;
        im->lev[l].nown = m->lev[l].nown;
        im->lev[l].noct = m->lev[l].noct;
        im->lev[l].nener = m->lev[l].nener;
    }
    im->levelmin = m->levelmin;
    im->ndim = m->ndim;
    im->cells = m->cells;
    im->levelmax = m->levelmax;
    im->nvar = m->nvar;
    im->hydro = m->hydro;
    im->gravity = m->gravity;
    im->magnetic = m->magnetic;
    im->nphoton = m->nphoton;
    im->boxlen = m->boxlen;
    im->per_boxlen = m->per_boxlen;
    memcpy(im->bounded, m->bounded, sizeof im->bounded);
}

/* Sends the image in one copy from the first changed level to the last one; the part before the
 * levels is sent once. */
void mirror_send(struct mirror *x, const struct mesh *m)
{
    struct mesh *im = x->image, *sent = x->sent;
    const size_t head = offsetof(struct mesh, lev);
    size_t begin = sizeof *im, end = 0;
    image_update(im, m);
    if (memcmp(im, sent, head) != 0) begin = 0, end = head;
    for (size_t l = 0; l < LEVEL_MAX + 2; l++) {
        size_t at = head + l * sizeof im->lev[0];
        if (memcmp(&im->lev[l], &sent->lev[l], sizeof im->lev[0]) == 0) continue;
        begin = at < begin ? at : begin;
        end = at + sizeof im->lev[0];
    }
    if (end == 0) return;
    /* the image may change before the copy is complete */
    void *copy = mem_new(end - begin, "device");
    memcpy(copy, (char *)im + begin, end - begin);
    memcpy((char *)sent + begin, copy, end - begin);
    dev_put(x->stream, (char *)x->mesh_dev + begin, copy, end - begin);
    dev_drop_host(x->stream, copy);
}
