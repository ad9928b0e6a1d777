/* observe/gadget: the particles as files of Gadget in each checkpoint, one per rank
 * (gadget_output), as RAMSES writes them: format 1, all particles as type 1 with the mean mass of
 * all matter, lengths in Mpc/h. Such files are initial conditions for filetype='gadget'. Within a
 * file particles are in the order of their ids. */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "gadget/file.h"
#include "observe/observe.h"
#include "oct/field_sets.h"
#include "part/family.h"

/* RAMSES's critical density, 1e10 solar masses / h per (Mpc/h)³. */
static const double CRITICAL = 27.755;

struct place {
    int64_t id, at;
};
MEM_ORDER(by_id, struct place, id)

static bool wanted(const struct params *p)
{
    return p->output.gadget_output && p->run.cosmo && p->run.pic;
}

/* Particles with mass in the order of ids (owner: caller). */
static struct place *order(const struct parts *p, int64_t *n)
{
    struct place *o = mem_new(sizeof *o * (size_t)p->n + 1, "Gadget output");
    *n = 0;
    for (int64_t i = 0; i < p->n; i++)
        if (family_has_mass(p->family[i])) o[(*n)++] = (struct place){p->id[i], i};
    mem_sort(o, (size_t)*n, sizeof *o, by_id);
    return o;
}

/* Writes a record of n bytes around `to`; returns what follows it. */
static char *close_record(char *to, int64_t n)
{
    const uint32_t mark = (uint32_t)n;
    memcpy(to - 4, &mark, 4);
    memcpy(to + n, &mark, 4);
    return to + n + 8;
}

static float location(const struct observation *o, int d, int64_t i)
{
    const double box = o->head->boxlen_ini,
                 x = mesh_wrapped(o->mesh, d, o->parts->x[d][i]) / o->mesh->boxlen;
    const float at = (float)(x * box);
    return at < (float)box ? at : nextafterf((float)box, 0);
}

static void put_rows(const struct observation *o, const struct place *p, int64_t n, bool wide,
                     char *to)
{
    const struct ckpt_head *h = o->head;
    const double speed = 100 * h->boxlen_ini / h->aexp / sqrt(h->aexp);
    for (int64_t k = 0; k < 3 * n; k++) {
        const float x = location(o, (int)(k % 3), p[k / 3].at);
        memcpy(to + 4 * k, &x, 4);
    }
    to = close_record(to, 12 * n);
    for (int64_t k = 0; k < 3 * n; k++) {
        const float v = (float)(o->parts->v[k % 3][p[k / 3].at] * speed);
        memcpy(to + 4 * k, &v, 4);
    }
    to = close_record(to, 12 * n);
    for (int64_t k = 0; k < n; k++) {
        const int64_t id = p[k].id;
        const uint32_t few = (uint32_t)id;
        memcpy(to + (wide ? 8 : 4) * k, wide ? (const void *)&id : &few, wide ? 8 : 4);
    }
    close_record(to, (wide ? 8 : 4) * n);
}

static void put_header(const struct observation *o, int64_t n, int64_t all, char *to)
{
    const struct ckpt_head *h = o->head;
    const double box = h->boxlen_ini;
    struct gadget_out g = {
        .count = {[GADGET_DM] = all},
        .mass = {[GADGET_DM] = h->omega_m * CRITICAL * box * box * box / (double)all},
        .time = h->aexp,
        .redshift = 1 / h->aexp - 1,
        .box = box,
        .omega_m = h->omega_m,
        .omega_l = h->omega_l,
        .h = h->h0 / 100,
        .nfile = o->comm->size};
    const int64_t here[GADGET_TYPES] = {[GADGET_DM] = n};
    gadget_header(&g, here, to);
}

static enum err run(struct observation *o)
{
    int64_t n, most = 0;
    struct place *p = order(o->parts, &n);
    for (int64_t k = 0; k < n; k++) most = p[k].id > most ? p[k].id : most;
    comm_max_i64(o->comm, &most, 1);
    const bool wide = most > INT32_MAX;
    int64_t all = n, many = n;
    comm_add_i64(o->comm, &all, 1);
    comm_max_i64(o->comm, &many, 1);
    if (all == 0 || many > INT32_MAX / 12) {
        mem_free(p);
        if (all == 0) return OK;
        FAIL(ERR_LIMIT,
             "gadget_output=.true.: a rank has %ld particles, more than a record of 2^31 bytes can "
             "hold: use more ranks",
             (long)many);
    }
    struct ckpt_file *f = &o->file[o->nfile++];
    f->kind = FILES_GADGET;
    f->bytes = (size_t)(GADGET_HEADER + 8 + 24 + n * (24 + (wide ? 8 : 4)));
    f->text = mem_new(f->bytes, "Gadget output");
    put_header(o, n, all, f->text + 4);
    put_rows(o, p, n, wide, close_record(f->text + 4, GADGET_HEADER));
    mem_free(p);
    return OK;
}

const struct observer observer_gadget = {.name = "gadget",
                                         .wanted = wanted,
                                         .when = OBSERVE_WITHIN,
                                         .reads = PARTS,
                                         .table = FILES_KINDS,
                                         .run = run};
