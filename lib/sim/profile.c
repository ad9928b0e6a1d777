/* sim/profile: what a run costs, for machines to read (simulate -j): one line of JSON a coarse
 * step, and a last one with times by phase and memory by name. Sums are over ranks. Nothing here
 * has an effect on the state. */
#include <errno.h>
#include <math.h>
#include <omp.h>
#include <string.h>

#include "base/mem.h"
#include "base/timer.h"
#include "sim/sim.h"

enum { LABEL = 32, NAMES = 256 };

enum err sim_profile_begin(struct sim *s)
{
    enum err e = OK;
    if (!s->profile_path) return OK;
    if (s->comm.rank == 0 && !(s->profile = fopen(s->profile_path, "a")))
        e = err_set(ERR_FILE, "%s: %s", s->profile_path, strerror(errno));
    return err_agree(&s->comm, e);
}

static int64_t octs_all(const struct sim *s)
{
    int64_t n = 0;
    for (int l = 1; l <= s->mesh.levelmax; l++) n += s->noct[l];
    return n;
}

/* held: heap by our own account; rss: what the system counts. */
void sim_profile_step(struct sim *s)
{
    if (!s->profile_path) return;
    int64_t sum[3] = {(int64_t)mem_now(), (int64_t)mem_rss(), s->parts.n};
    comm_add_i64(&s->comm, sum, 3);
    if (!s->profile) return;
    fprintf(s->profile,
            "{\"step\":%d,\"time\":%.17g,\"wall_s\":%.6f,\"updates\":%.17g,\"octs\":%ld,"
            "\"particles\":%ld,"
            "\"held_bytes\":%ld,\"rss_bytes\":%ld}\n",
            s->nstep_coarse, s->t, timer_wall() - s->wall_start, s->updates, (long)octs_all(s),
            (long)sum[2], (long)sum[0], (long)sum[1]);
    fflush(s->profile);
}

int sim_phases(const struct sim *s, struct phase p[PHASE_MAX])
{
    int n = timer_count();
    char label[PHASE_MAX][LABEL] = {{0}};
    double low[PHASE_MAX] = {0}, high[PHASE_MAX], mean[PHASE_MAX];
    for (int i = 0; i < n; i++) snprintf(label[i], sizeof label[i], "%s", timer_label(i));
    /* ranks may have met labels in another order, or not at all */
    comm_bcast(&s->comm, label, sizeof label, 0);
    for (int i = 0; i < PHASE_MAX; i++) {
        for (int j = 0; j < n; j++)
            if (!strcmp(timer_label(j), label[i])) low[i] = timer_seconds(j);
        high[i] = mean[i] = low[i];
    }
    comm_min_f64(&s->comm, low, PHASE_MAX);
    comm_max_f64(&s->comm, high, PHASE_MAX);
    comm_add_f64(&s->comm, mean, PHASE_MAX);
    for (n = 0; n < PHASE_MAX && label[n][0]; n++) {
        p[n] = (struct phase){.low = low[n], .mean = mean[n] / s->comm.size, .high = high[n]};
        memcpy(p[n].label, label[n], sizeof label[n]);
    }
    return n;
}

static void phases_put(struct sim *s)
{
    struct phase p[PHASE_MAX];
    int n = sim_phases(s, p);
    if (!s->profile) return;
    fputs("\"phases_s\":{", s->profile);
    for (int i = 0; i < n; i++)
        fprintf(s->profile, "%s\"%s\":[%.6f,%.6f,%.6f]", i ? "," : "", p[i].label, p[i].low,
                p[i].mean, p[i].high);
    fputs("},", s->profile);
}

/* Rows of rank 0 by name, summed over ranks; what only other ranks hold is in the total. */
static void memory_put(struct sim *s)
{
    char name[NAMES][LABEL] = {{0}};
    int64_t row[NAMES][3] = {{0}}, total[2] = {(int64_t)mem_peak(), (int64_t)mem_peak_rss()};
    for (int i = 0; i < mem_rows() && i < NAMES; i++)
        snprintf(name[i], sizeof name[i], "%s", mem_row(i).name);
    comm_bcast(&s->comm, name, sizeof name, 0);
    for (int i = 0; i < mem_rows(); i++)
        for (int j = 0; j < NAMES && name[j][0]; j++) {
            struct mem_row r = mem_row(i);
            if (strncmp(name[j], r.name, LABEL - 1) != 0) continue;
            row[j][0] += (int64_t)r.at_peak;
            row[j][1] += (int64_t)r.peak;
            row[j][2] += (int64_t)r.now;
            break;
        }
    comm_add_i64(&s->comm, row[0], 3 * NAMES);
    comm_add_i64(&s->comm, total, 2);
    if (!s->profile) return;
    fprintf(s->profile, "\"peak_bytes\":%ld,\"peak_rss_bytes\":%ld,\"memory_bytes\":{",
            (long)total[0], (long)total[1]);
    for (int j = 0; j < NAMES && name[j][0]; j++)
        fprintf(s->profile, "%s\"%s\":[%ld,%ld,%ld]", j ? "," : "", name[j], (long)row[j][0],
                (long)row[j][1], (long)row[j][2]);
    fputs("}", s->profile);
}

enum err sim_profile_end(struct sim *s)
{
    enum err e = OK;
    if (!s->profile_path) return OK;
    int64_t particles = s->parts.n;
    comm_add_i64(&s->comm, &particles, 1);
    if (s->profile) {
        fprintf(s->profile,
                "{\"status\":%d,\"ranks\":%d,\"threads\":%d,\"steps\":%d,\"updates\":%.17g,\"wall_"
                "s\":%.6f,",
                s->status, s->comm.size, omp_get_max_threads(), s->nstep_coarse, s->updates,
                timer_wall() - s->wall_start);
        fprintf(s->profile, "\"cells_most\":%ld,\"leaves_most\":%ld,\"particles\":%ld,",
                (long)s->cells_most, (long)s->leaves_most, (long)particles);
    }
    phases_put(s);
    memory_put(s);
    if (s->profile) {
        fputs("}\n", s->profile);
        bool bad = ferror(s->profile);
        bad |= fclose(s->profile) != 0;
        s->profile = NULL;
        if (bad) e = err_set(ERR_FILE, "%s: cannot be written", s->profile_path);
    }
    return err_agree(&s->comm, e);
}
