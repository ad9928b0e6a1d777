#include "comm/tuner.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "comm/transport.h"

static const char *const USE_NAME[COMM_USES] = {
#define USE(name, text) text,
#include "comm/uses.def"
#undef USE
};

struct row {
    int64_t call;     /* number of calls so far */
    int64_t until;    /* number of the call that ends this phase */
    int64_t interval; /* number of calls between probes */
    bool decided;     /* true once a transport has been chosen */
    bool trying;      /* true during a trial or probe, in which all candidates are used */
    int chosen;
    double median[TRANSPORTS]; /* median of the last trial or probe, s/call on the slowest rank */
    double mean;               /* exponential mean of the chosen transport, s per call */
    int n[TRANSPORTS];
    float sample[TRANSPORTS][TUNER_TRIAL];
};

struct comm_tuner {
    int forced; /* index of the forced transport; -1: auto */
    struct row row[COMM_USES];
};

static int candidates(void)
{
    int n = 0;
    for (int i = 0; i < TRANSPORTS; i++) n += comm_transport[i].tried;
    return n;
}

static void try_all(struct row *r, int each)
{
    r->trying = true;
    r->until = r->call + (int64_t)each * candidates();
    memset(r->n, 0, sizeof r->n);
}

static int transport_of(const char *name)
{
    for (int i = 0; i < TRANSPORTS; i++)
        if (strcmp(comm_transport[i].name, name) == 0) return i;
    return -1;
}

struct comm_tuner *tuner_new(const char *method)
{
    int forced = transport_of(method);
    if (forced < 0 && strcmp(method, "auto") != 0) return NULL;
    struct comm_tuner *t = mem_zero(sizeof *t, "exchange");
    t->forced = forced;
    for (int u = 0; u < COMM_USES; u++) {
        t->row[u].interval = TUNER_INTERVAL;
        try_all(&t->row[u], TUNER_TRIAL);
    }
    return t;
}

void tuner_free(struct comm_tuner **t)
{
    FREE(*t);
}

/* A candidate drawn by the number of the call. Calls for different levels alternate in a regular
 * pattern, with which a fixed order would correlate. */
static int drawn(int64_t call)
{
    uint64_t x = ((uint64_t)call + 1) * 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 31) * 0xbf58476d1ce4e5b9u;
    int k = (int)((x >> 33) % (uint64_t)candidates()), i = 0;
    while (!comm_transport[i].tried || k-- > 0) i++;
    return i;
}

int tuner_choice(const struct comm_tuner *t, enum comm_use use)
{
    if (!t) return TRANSPORT_p2p;
    if (t->forced >= 0) return t->forced;
    const struct row *r = &t->row[use];
    return r->trying ? drawn(r->call) : r->chosen;
}

MEM_ORDER_OF(float_order, float)

static void keep_sample(struct row *r, int by, double seconds)
{
    if (r->n[by] < TUNER_TRIAL) r->sample[by][r->n[by]++] = (float)seconds;
}

void tuner_report(const struct comm *c)
{
    const struct comm_tuner *t = c->tuner;
    if (!t) return;
    const char *near = c->share ? "; ranks of a node read ghosts in each other's memory" : "";
    if (t->forced >= 0) {
        log_info(" Exchanges: all by %s, as exchange_method sets%s", comm_transport[t->forced].name,
                 near);
        return;
    }
    char names[64] = "";
    for (int i = 0, at = 0; i < TRANSPORTS; i++)
        if (comm_transport[i].tried)
            at += snprintf(names + at, sizeof names - (size_t)at, "%s%s", at ? " and " : "",
                           comm_transport[i].name);
    log_info(" Exchanges: each exchange takes the faster of %s, once both are measured%s", names,
             near);
}

static void log_choice(enum comm_use use, const struct row *r, const char *did, int by, int level)
{
    char text[256];
    int at = snprintf(text, sizeof text, " Exchange %s: %s %s (", USE_NAME[use], did,
                      comm_transport[by].name);
    for (int i = 0; i < TRANSPORTS && at < (int)sizeof text; i++)
        if (comm_transport[i].tried)
            at += snprintf(text + at, sizeof text - (size_t)at, "%s%s %.1f us",
                           text[at - 1] == '(' ? "" : ", ", comm_transport[i].name,
                           1e6 * r->median[i]);
    log_line(level, "%s a call; call %lld)", text, (long long)r->call);
}

/* Ends a trial or a probe: the medians of the slowest rank decide. */
static void decide(const struct comm *c, enum comm_use use, struct row *r)
{
    double agreed[TRANSPORTS + 1];
    bool steady = r->mean > 0;
    for (int i = 0; i < TRANSPORTS; i++) {
        mem_sort(r->sample[i], (size_t)r->n[i], sizeof r->sample[i][0], float_order);
        agreed[i] = r->n[i] ? r->sample[i][r->n[i] / 2] : 0;
    }
    double was = r->median[r->chosen];
    agreed[TRANSPORTS] = steady ? fmax(r->mean / was, was / r->mean) : 1;
    comm_max_f64(c, agreed, TRANSPORTS + 1);
    memcpy(r->median, agreed, sizeof r->median);
    int best = r->chosen;
    bool first = !r->decided;
    for (int i = 0; i < TRANSPORTS; i++)
        if (agreed[i] > 0 && agreed[i] < agreed[best] * (first ? 1 : TUNER_GAIN)) best = i;
    bool changed = best != r->chosen;
    log_choice(use, r,
               first     ? "takes"
               : changed ? "changes to"
                         : "stays with",
               best, first || changed ? 0 : 1);
    r->interval = !first && !changed && agreed[TRANSPORTS] < 1 / TUNER_GAIN ? 2 * r->interval
                                                                            : TUNER_INTERVAL;
    if (r->interval > TUNER_LONGEST * TUNER_INTERVAL) r->interval = TUNER_LONGEST * TUNER_INTERVAL;
    r->chosen = best;
    r->decided = true;
    r->trying = false;
    r->mean = 0;
    r->until = r->call + r->interval;
}

void tuner_spent(const struct comm *c, enum comm_use use, double seconds)
{
    if (!c->tuner || c->tuner->forced >= 0) return;
    struct row *r = &c->tuner->row[use];
    if (r->trying)
        keep_sample(r, drawn(r->call), seconds);
    else
        r->mean = r->mean > 0 ? r->mean + TUNER_WEIGHT * (seconds - r->mean) : seconds;
    if (++r->call < r->until) return;
    if (r->trying)
        decide(c, use, r);
    else
        try_all(r, TUNER_PROBE);
}

/* ---- in checkpoints ---- */

void tuner_state(const struct comm *c, char *buf, size_t size)
{
    const struct comm_tuner *t = c->tuner;
    size_t at = 0;
    if (size) buf[0] = 0;
    for (int u = 0; t && t->forced < 0 && u < COMM_USES; u++) {
        const struct row *r = &t->row[u];
        if (!r->decided) continue;
        int n = snprintf(buf + at, size - at, "exchange: %d %s %s %lld %.3e\n", c->size,
                         USE_NAME[u], comm_transport[r->chosen].name, (long long)r->interval,
                         r->median[r->chosen]);
        if (n < 0 || (size_t)n >= size - at) {
            buf[at] = 0;
            return;
        }
        at += (size_t)n;
    }
}

static void resume_row(struct comm_tuner *t, const char *use, const char *by, long long interval,
                       double median)
{
    int chosen = transport_of(by);
    if (chosen < 0 || !comm_transport[chosen].tried || !(median > 0)) return;
    if (interval < TUNER_INTERVAL || interval > TUNER_LONGEST * TUNER_INTERVAL) return;
    for (int u = 0; u < COMM_USES; u++) {
        struct row *r = &t->row[u];
        if (strcmp(use, USE_NAME[u]) != 0) continue;
        log_info(" Exchange %s: %s, as in the run before (%.1f us a call)", use, by, 1e6 * median);
        r->chosen = chosen;
        r->median[chosen] = median;
        r->decided = true;
        r->trying = false;
        r->interval = interval;
        r->until = r->call + interval;
    }
}

void tuner_resume(const struct comm *c, const char *text)
{
    if (!c->tuner || c->tuner->forced >= 0) return;
    for (const char *line = text; line && *line;
         line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
        char use[32], by[32];
        int ranks;
        long long interval;
        double median;
        int end = 0;
        sscanf(line, "exchange: %d %31s %31s %lld %lf%n", &ranks, use, by, &interval, &median,
               &end);
        if (end && text_line_ends(line + end) && ranks == c->size)
            resume_row(c->tuner, use, by, interval, median);
    }
}
