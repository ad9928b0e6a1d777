/* turb: see turb.h. A ring of fields has those of the interval of the present time, and of the
 * intervals in which steps of coarser levels began. */
#include "turb/turb.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "turb/drive.h"
#include "turb/waves.h"

enum { MEMORY = 12 }; /* exp(-12) of an amplitude are forgotten, every 12 turb_T */

/* ---- modes ---- */

/* Of two waves k and −k the second. */
static bool is_second(const int k[3])
{
    return k[0] > 0 || (k[0] == 0 && (k[1] > 0 || (k[1] == 0 && k[2] > 0)));
}

/* Waves with a weight that the lattice resolves by more than two nodes. */
static struct turb_modes list_modes(const struct turb_spectrum *s, int ndim)
{
    enum { REACH = TURB_NODES / 2 - 1 };
    const int reach = s->highest < REACH ? (int)s->highest : REACH, side = 2 * reach + 1;
    const int most[3] = {reach, ndim > 1 ? reach : 0, ndim > 2 ? reach : 0};
    struct turb_modes q = {0};
    int room = 0;
    for (int i = 0; i < side * side * side; i++) {
        const int k[3] = {i / (side * side) - reach, i / side % side - reach, i % side - reach};
        const double kappa = sqrt((double)(k[0] * k[0] + k[1] * k[1] + k[2] * k[2]));
        if (abs(k[1]) > most[1] || abs(k[2]) > most[2] || !is_second(k)) continue;
        if (!(turb_weight(s, kappa, k) > 0)) continue;
        MEM_ROOM(q.k, q.n, room, 64, "turbulence");
        memcpy(q.k[q.n++], k, sizeof k);
    }
    q.unit = mem_new(sizeof *q.unit * (size_t)q.n, "turbulence");
    q.weight = mem_new(sizeof *q.weight * (size_t)q.n, "turbulence");
    for (int i = 0; i < q.n; i++) {
        const int *k = q.k[i];
        const double kappa = sqrt((double)(k[0] * k[0] + k[1] * k[1] + k[2] * k[2]));
        for (int d = 0; d < 3; d++) q.unit[i][d] = k[d] / kappa;
        q.weight[i] = turb_weight(s, kappa, k);
    }
    return q;
}

/* Acceleration over amplitude, for which the mean square of a component is turb_rms²: of an
 * amplitude it is Δ/(1 − (1 − 1/turb_Ndt)²) times the squares of the weights and of the projection,
 * and interpolation in time takes a part 1/(3 turb_Ndt) of it, on average. In one dimension there
 * is no part across k, and comp_frac has no effect. */
static double norm_of(struct turb *o, const struct param_turb *p)
{
    struct turb_process *q = o->process;
    if (o->ndim == 1) q->along = q->across = 1;
    const double parts = q->along * q->along + (o->ndim - 1) * q->across * q->across;
    return p->turb_rms / (turb_process_power(q) * sqrt(parts / o->ndim) *
                          sqrt(q->delta / (1 - q->keep * q->keep) * (1 - (1 - q->keep) / 3)));
}

/* As RAMSES has it: a fit of the rms that its projection leaves, and the process without steps. */
static double kiss_norm_of(const struct turb *o, const struct param_turb *p)
{
    const double s = o->kiss->across, left = 0.797 * s * s - 0.529 * s + 0.568;
    return p->turb_rms / (turb_kiss_power(o->kiss) * left * sqrt(p->turb_t / 2));
}

/* ---- a run ---- */

static bool by_ramses(const struct param_turb *p)
{
    return strncmp(p->turb_rule, "ramses", strlen("ramses")) == 0;
}

static bool by_ramses_2026(const struct param_turb *p)
{
    return strcmp(p->turb_rule, "ramses-2026") == 0;
}

static struct turb_amplitudes amplitudes(const struct turb *o)
{
    if (o->kiss)
        return (struct turb_amplitudes){o->kiss->n, o->kiss->half, o->kiss->k, o->kiss->last,
                                        o->kiss->next};
    return (struct turb_amplitudes){o->process->modes.n, true, o->process->modes.k,
                                    o->process->last, o->process->next};
}

/* Fields of few waves need no lattice of values. */
static void choose(struct turb *o)
{
    const struct turb_amplitudes x = amplitudes(o);
    if (!turb_waves_can(x.n, (const int(*)[3])x.k)) o->fft = turb_fft_new(o->ndim);
}

static struct turb *make(const struct params *p, const struct param_turb *q)
{
    struct turb *o = mem_zero(sizeof *o, "turbulence");
    o->ndim = p->run.ndim;
    o->min_rho = q->turb_min_rho;
    o->rms = q->turb_rms;
    o->interval = q->turb_t / q->turb_ndt;
    o->fixed[0] = 1;
    for (int i = 0; i < TURB_RING; i++) o->slot[i].m = -1;
    return o;
}

static void use_process(struct turb *o, const struct param_turb *q, const struct turb_spectrum *s,
                        uint64_t seed)
{
    struct turb_modes modes = list_modes(s, o->ndim);
    o->process = turb_process_new(q, seed, MEMORY, &modes);
    o->norm = norm_of(o, q);
    choose(o);
}

static void use_kiss(struct turb *o, const struct param_turb *q, const struct turb_spectrum *s,
                     uint64_t seed, double t)
{
    o->kiss = turb_kiss_new(q, s, seed, t);
    o->norm = kiss_norm_of(o, q);
    choose(o);
}

static enum err check(const struct params *p, const struct param_turb *q)
{
    TRY(turb_process_check(q));
    if (p->run.cosmo)
        FAIL(ERR_PARAM,
             "turb_params/driven_turb=.true. needs cosmo=.false.: turb_T and turb_rms are "
             "in units that do not change");
    if (by_ramses(q) && p->run.ndim < 3)
        FAIL(ERR_PARAM,
             "turb_params/turb_rule='%s' needs ndim=3: RAMSES drives in three dimensions only; "
             "turb_rule='signed' has no such limit",
             q->turb_rule);
    return OK;
}

/* Whether turb_type=3, instead of initial_turb, wants initial velocities: those of the driving. */
static bool decays(const struct param_turb *p)
{
    return !p->initial_turb;
}

static enum err initial_spectrum(const struct param_turb *p, const struct turb_spectrum **s)
{
    if (decays(p))
        return turb_spectrum_find("forcing_power_spectrum", p->forcing_power_spectrum, s);
    return turb_spectrum_find("initial_turb_spectrum", p->initial_turb_spectrum, s);
}

/* Initial velocities of RAMSES 2026, from the generator with this state. */
static enum err draw_initial(const struct param_turb *p, uint64_t state[4], struct turb_kiss **out)
{
    const struct turb_spectrum *s = NULL;
    TRY(initial_spectrum(p, &s));
    *out = turb_kiss_once(s, decays(p) ? p->comp_frac : p->initial_turb_comp_frac, state);
    return OK;
}

enum err turb_new(const struct params *p, uint64_t seed, double t, struct turb **out)
{
    const struct param_turb *q = &p->turb;
    const struct turb_spectrum *s = NULL;
    TRY(check(p, q));
    TRY(turb_spectrum_find("forcing_power_spectrum", q->forcing_power_spectrum, &s));
    struct turb *o = *out = make(p, q);
    if (by_ramses(q))
        use_kiss(o, q, s, seed, t);
    else
        use_process(o, q, s, seed);
    o->is_static = !param_turb_evolves(p);
    o->exact = q->turb_exact_rms || o->is_static;
    if (by_ramses_2026(q) && param_turb_starts(p)) {
        struct turb_kiss *initial = NULL;
        TRY(draw_initial(q, o->kiss->state, &initial));
        turb_kiss_free(&initial);
    }
    return OK;
}

/* turb_type=3 before 2026 has one of RAMSES's driving fields, at the start of a run. */
static void as_driving(struct turb *o, double t)
{
    struct turb_kiss *k = o->kiss;
    k->t_next = k->t_last;
    k->t_last = k->t_last - k->delta;
    turb_force_at(o, t, 0);
    const double f = (t - k->t_last) / k->delta;
    o->fixed[0] = f, o->fixed[1] = 1 - f;
}

/* RAMSES of 2026 draws initial velocities when the driving of the run is there. */
static enum err after_driving(const struct params *p, uint64_t seed, struct turb_kiss **out)
{
    const struct turb_spectrum *s = NULL;
    uint64_t state[4];
    turb_kiss_seed(seed, state);
    if (param_turb_drives(p)) {
        TRY(turb_spectrum_find("forcing_power_spectrum", p->turb.forcing_power_spectrum, &s));
        struct turb_kiss *driving = turb_kiss_new(&p->turb, s, seed, 0);
        memcpy(state, driving->state, sizeof state);
        turb_kiss_free(&driving);
    }
    return draw_initial(&p->turb, state, out);
}

enum err turb_new_initial(const struct params *p, uint64_t seed, double t, struct turb **out)
{
    enum { PURPOSE = 0x696e6974 }; /* 'init' */
    const struct turb_spectrum *s = NULL;
    struct turb_kiss *drawn = NULL;
    struct param_turb q = p->turb;
    const bool old = by_ramses(&q) && !by_ramses_2026(&q) && decays(&q);
    TRY(initial_spectrum(&q, &s));
    if (q.initial_turb && !(q.initial_turb_vrms > 0))
        FAIL(ERR_PARAM, "turb_params/initial_turb_vrms=%g must be > 0 with initial_turb=.true.",
             q.initial_turb_vrms);
    if (q.initial_turb) q.turb_rms = q.initial_turb_vrms / sqrt((double)p->run.ndim);
    if (q.initial_turb) q.comp_frac = q.initial_turb_comp_frac;
    q.turb_min_rho = 0;
    if (!old) q.instant_turb = false;
    TRY(check(p, &q));
    if (by_ramses_2026(&q)) TRY(after_driving(p, seed, &drawn));
    struct turb *o = *out = make(p, &q);
    o->is_static = true;
    o->exact = !old;
    o->kiss = drawn;
    if (old) {
        use_kiss(o, &q, s, seed, t);
        as_driving(o, t);
    } else if (drawn)
        choose(o);
    else
        use_process(o, &q, s, seed ^ PURPOSE);
    return OK;
}

void turb_free(struct turb **out)
{
    struct turb *o = *out;
    if (!o) return;
    turb_process_free(&o->process);
    turb_kiss_free(&o->kiss);
    turb_fft_free(&o->fft);
    for (int i = 0; i < TURB_RING; i++) turb_field_free(&o->slot[i].field);
    for (int l = 0; l < TURB_LEVELS; l++) FREE(o->along[l]);
    FREE(o->row);
    FREE(*out);
}

static size_t bytes_of_field(const struct turb *o)
{
    if (!o->fft) return sizeof(double) * (size_t)turb_waves_numbers(o->ndim);
    return sizeof(double[4]) * (size_t)turb_lattice_nodes(o->ndim);
}

size_t turb_bytes(const struct turb *o)
{
    return (o->is_static ? 1 : TURB_RING) * bytes_of_field(o);
}

double turb_interval(const struct turb *o)
{
    return o->is_static && !o->kiss ? HUGE_VAL : o->interval;
}

/* ---- fields ---- */

/* Σ of the products of two fields, per component and mean over the nodes, in units of norm². */
static double product(const struct turb *o, double (*const a)[3][2], double (*const b)[3][2])
{
    const struct turb_amplitudes x = amplitudes(o);
    double sum = 0;
    for (int i = 0; i < x.n; i++)
        for (int d = 0; d < o->ndim; d++) sum += a[i][d][0] * b[i][d][0] + a[i][d][1] * b[i][d][1];
    return (x.half ? 2 : 1) * sum / o->ndim;
}

/* Makes the field of step m from its amplitudes, unless it is there. */
static void make_field(struct turb *o, int64_t m, double (*const amp)[3][2])
{
    struct turb_slot *s = &o->slot[m % TURB_RING];
    if (s->m == m) return;
    const struct turb_amplitudes x = amplitudes(o);
    s->factor = o->norm;
    if (o->exact) s->factor = o->rms / sqrt(product(o, amp, amp));
    if (o->fft)
        turb_lattice_make(o->fft, x.n, (const int(*)[3])x.k, amp, s->factor, x.half, &s->field);
    else
        turb_waves_make(o->ndim, x.n, (const int(*)[3])x.k, amp, s->factor, x.half, &s->field);
    s->m = m;
    s->sent = false;
}

/* The interval of time t, and how much of it has passed. */
static void find_interval(struct turb *o, double t, double *f)
{
    if (o->kiss) {
        while (!o->is_static && t >= o->kiss->t_next) turb_kiss_step(o->kiss), o->m++;
        *f = (t - o->kiss->t_last) / o->kiss->delta;
        return;
    }
    const double steps = o->is_static ? 0 : floor(t / o->interval);
    *f = o->is_static ? 0 : t / o->interval - steps;
    o->m = o->process->first + (int64_t)steps;
    turb_process_move(o->process, o->m);
}

static void weights(struct turb *o, double t, double *wa, double *wb)
{
    double f;
    find_interval(o, t, &f);
    *wa = 1 - f, *wb = f;
    if (o->kiss && o->kiss->before_2026) *wa = f, *wb = 1 - f;
    if (o->is_static) *wa = o->fixed[0], *wb = o->fixed[1];
}

/* Waves at the octs of a level, found when first wanted. */
static const struct turb_along *along(struct turb *o, const struct turb_force *f, int level)
{
    if (level < 1 || level >= TURB_LEVELS) return NULL;
    const int64_t octs = (int64_t)1 << (level - 1);
    if (!o->along[level]) {
        o->along[level] = mem_new(sizeof *o->along[level] * (size_t)octs, "turbulence");
        for (int64_t x = 0; x < octs; x++) turb_find_along(f, x, &o->along[level][x]);
    }
    return o->along[level];
}

struct turb_force turb_force_at(struct turb *o, double t, int level)
{
    enum { LEVEL = 6 }; /* cells of this level are as wide as the spacings */
    struct turb_force f = {.min_rho = o->min_rho, .ndim = o->ndim};
    weights(o, t, &f.wa, &f.wb);
    const struct turb_amplitudes x = amplitudes(o);
    make_field(o, o->m, x.last);
    if (f.wb != 0) make_field(o, o->m + 1, x.next);
    const struct turb_slot *a = &o->slot[o->m % TURB_RING],
                           *b = f.wb != 0 ? &o->slot[(o->m + 1) % TURB_RING] : a;
    f.a = a->field.a;
    f.b = b->field.a;
    f.waves = !o->fft;
    f.per_cell = ldexp(TURB_NODES, -level);
    f.level = level;
    f.shift = level - 1 - LEVEL;
    if (f.waves) f.along = along(o, &f, level);
    f.most = (1 + 1e-12) * (fabs(f.wa) * a->field.most + fabs(f.wb) * b->field.most);
    return f;
}

void turb_prepare(struct turb *o, int64_t octs, struct turb_force *f)
{
    enum { WORTH = 16 }; /* octs for each row */
    const int side = f->level - 1, bits = (o->ndim - 1) * side;
    f->rows = NULL;
    if (!f->waves || side < 1 || bits > 40 || octs < (int64_t)WORTH << bits) return;
    const int64_t n = (int64_t)1 << bits;
    if (n > o->row_room) {
        FREE(o->row);
        o->row = mem_new(sizeof *o->row * (size_t)(n + 1), "turbulence"); /* + 1: prefetched */
        o->row_room = n;
    }
    struct turb_row *row = o->row;
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < n; i++)
        turb_find_row(f, (const int64_t[3]){0, i & ((1 << side) - 1), i >> side}, &row[i]);
    f->rows = row;
}

double turb_rms_at(struct turb *o, double t)
{
    const struct turb_force f = turb_force_at(o, t, 0);
    const struct turb_amplitudes x = amplitudes(o);
    const double a = f.wa * o->slot[o->m % TURB_RING].factor,
                 b = f.wb != 0 ? f.wb * o->slot[(o->m + 1) % TURB_RING].factor : 0;
    double sum = a * a * product(o, x.last, x.last);
    if (b != 0) sum += 2 * a * b * product(o, x.last, x.next) + b * b * product(o, x.next, x.next);
    return sqrt(sum);
}

/* ---- on a device ---- */

static enum err send(struct turb *o, struct dev_stream *s, const double *at, const double **dev)
{
    for (int i = 0; i < TURB_RING; i++) {
        struct turb_slot *q = &o->slot[i];
        if (q->field.a != at) continue;
        const size_t bytes = bytes_of_field(o);
        if (!q->dev) TRY(dev_new(o->dev, &q->dev, bytes, "turbulence"));
        if (!q->sent) dev_put(s, q->dev, q->field.a, bytes);
        q->sent = true;
        *dev = q->dev;
    }
    return OK;
}

enum err turb_send(struct turb *o, struct dev *d, struct dev_stream *s, struct turb_force *f)
{
    o->dev = d;
    TRY(send(o, s, f->a, &f->a_dev));
    return send(o, s, f->b, &f->b_dev);
}
