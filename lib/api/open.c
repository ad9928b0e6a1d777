/* api/open: opening, headers, names, units, texts. */
#include <math.h>
#include <omp.h>
#include <string.h>

#include "api/priv.h"
#include "base/log.h"
#include "base/mem.h"
#include "formats/formats.h"
#include "out/version.h"
#include "part/family.h"
#include "phys/units.h"
#include "view/unit.h"

static int threads_asked = 1;

const char *ptah_release(void)
{
    static char text[128];
    snprintf(text, sizeof text, "%s (commit %s)", ptah_version.number, ptah_version.commit);
    return text;
}

const char *ptah_message(void)
{
    return err_message();
}

void ptah_threads(int n)
{
    threads_asked = n > 0 ? n : 0;
}

void ptah_free(void *data)
{
    mem_free(data);
    /* twice: pages are kept for as long as the stretch of work before this one */
    mem_trim();
    mem_trim();
}

int call_begin(void)
{
    const int threads = omp_get_max_threads();
    log_init(false, -1);
    if (threads_asked) omp_set_num_threads(threads_asked);
    return threads;
}

int call_end(int threads, enum err e)
{
    omp_set_num_threads(threads);
    return (int)e;
}

/* ---- opening ---- */

static void list_computed(struct ptah *p)
{
    const char *name[GAS_COMPUTED];
    const int n = gas_computed(&p->gas, name);
    for (int i = 0; i < n; i++)
        if (!gas_needs_curl(gas_field(p->s, &p->gas, name[i])))
            p->computed[p->ncomputed++] = name[i];
}

int ptah_open(const char *path, struct ptah **out)
{
    const int threads = call_begin();
    struct source *s = NULL;
    *out = NULL;
    enum err e = source_open(path, &s);
    if (e == OK) {
        struct ptah *p = *out = mem_zero(sizeof *p, "checkpoint");
        p->s = s;
        p->gas = gas_of(s);
        s->late = true; /* nothing is returned after an error */
        list_computed(p);
    }
    return call_end(threads, e);
}

void ptah_close(struct ptah *p)
{
    if (!p) return;
    source_close(&p->s);
    ptah_free(p);
}

int ptah_is(const char *path)
{
    return format_of(path) != NULL;
}

/* ---- the header ---- */

struct number {
    const char *name;
    double value;
};

enum { NUMBERS = 64 };

static int list_whole(const struct source *s, struct number *to)
{
    const struct ckpt_head *h = &s->head;
    const struct number whole[] = {{"number", s->number},
                                   {"ndim", h->ndim},
                                   {"levelmin", h->levelmin},
                                   {"levelmax", h->levelmax},
                                   {"nstep", h->nstep},
                                   {"nstep_coarse", h->nstep_coarse},
                                   {"writers", s->nwriter},
                                   {"coarse_x", (double)s->coarse[0]},
                                   {"coarse_y", (double)s->coarse[1]},
                                   {"coarse_z", (double)s->coarse[2]},
                                   {"periodic", s->nboundary == 0},
                                   {"cosmology", h->cosmo},
                                   {"particles", h->particles},
                                   {"gas", h->hydro}};
    memcpy(to, whole, sizeof whole);
    return sizeof whole / sizeof *whole;
}

static int list_numbers(const struct source *s, struct number to[NUMBERS])
{
    const struct ckpt_head *h = &s->head;
    const struct units u = units_of(h->unit_l, h->unit_d, h->unit_t);
    const struct number more[] = {
#define HEAD_REAL(member, name, attribute) {name, h->member},
#include "ckpt/head.def"
        {"unit_length", u.length}, {"unit_density", u.density},
        {"unit_time", u.time},     {"unit_velocity", u.velocity},
        {"unit_mass", u.mass},     {"unit_temperature", u.temperature},
        {"unit_nH", u.hydrogen}};
    const int n = list_whole(s, to);
    memcpy(to + n, more, sizeof more);
    return n + (int)(sizeof more / sizeof *more);
}

int ptah_number(const struct ptah *p, int i, const char **name, double *value)
{
    struct number list[NUMBERS];
    if (i < 0 || i >= list_numbers(p->s, list)) return 0;
    *name = list[i].name, *value = list[i].value;
    return 1;
}

const char *ptah_word(const struct ptah *p, const char *what)
{
    if (strcmp(what, "format") == 0) return p->s->format;
    if (strcmp(what, "ordering") == 0) return p->s->ordering;
    return NULL;
}

int ptah_text(struct ptah *p, const char *what, char **text)
{
    const int threads = call_begin();
    const bool history = strcmp(what, "history") == 0;
    char *plain = NULL;
    size_t bytes = 0;
    *text = NULL;
    enum err e = source_text(p->s, history ? FILES_HISTORY : FILES_NAMELIST, &plain, &bytes);
    if (e == OK && plain) {
        *text = mem_grow(plain, bytes + 1, "text");
        (*text)[bytes] = 0;
    }
    return call_end(threads, e);
}

/* ---- names and units ---- */

/* Columns of particles that the files have, in their order, then those that are made from them. */
static const char *particle_name(const struct source *s, int i)
{
    if (!s->head.particles) return NULL;
    if (i < s->npart) return s->part[i].name;
    for (int c = 0, k = s->npart; c < COL_COUNT; c++)
        if (s->columns.has[c] && s->column_at[c] < 0 && k++ == i)
            return part_column(&s->columns, c)->name;
    return NULL;
}

const char *ptah_name(const struct ptah *p, const char *list, int i)
{
    const struct source *s = p->s;
    if (i < 0) return NULL;
    if (strcmp(list, "fields") == 0) return i < s->nfield ? s->field[i].name : NULL;
    if (strcmp(list, "computed") == 0) return i < p->ncomputed ? p->computed[i] : NULL;
    if (strcmp(list, "particles") == 0) return particle_name(s, i);
    if (strcmp(list, "families") == 0) return i < FAMILIES ? FAMILY_ROW[i].name : NULL;
    return NULL;
}

/* Units of columns that are no field of cells, by the beginning of their names. */
static bool unit_of_column(const struct units *u, const char *name, struct unit *to)
{
    const struct {
        const char *name;
        struct unit unit;
    } rows[] = {{"position_", {u->length, "cm"}}, {"x", {u->length, "cm"}},
                {"y", {u->length, "cm"}},         {"z", {u->length, "cm"}},
                {"dx", {u->length, "cm"}},        {"mass", {u->mass, "g"}},
                {"birth_mass", {u->mass, "g"}}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const size_t n = strlen(rows[i].name);
        const bool begins = strncmp(name, rows[i].name, n) == 0;
        if (!begins || (rows[i].name[n - 1] != '_' && name[n])) continue;
        *to = rows[i].unit;
        return true;
    }
    return false;
}

double ptah_unit(const struct ptah *p, const char *name, const char **unit)
{
    struct unit u;
    if (!unit_of_column(&p->gas.units, name, &u)) u = unit_of(name, &p->gas.units, true);
    *unit = u.name;
    return u.worth;
}
