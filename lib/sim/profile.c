/* sim/profile: the cost of a run in machine-readable form (simulate -j): one line of JSON per
 * coarse step, and a last one with times by phase and memory by name. Sums are over ranks. Nothing
 * here affects the state. */
#include <string.h>

#include "base/mem.h"
#include "base/timer.h"
#include "io/file.h"
#include "sim/sim.h"

enum { LABEL = 32, NAMES = 256 };

enum err sim_profile_begin(struct sim *s)
{
    enum err e = OK;
    if (!s->run.cost.profile_path) return OK;
    if (s->comm.rank == 0) e = file_append(s->run.cost.profile_path, &s->run.cost.profile);
    return err_agree(&s->comm, e);
}

static int64_t octs_all(const struct sim *s)
{
    int64_t n = 0;
    for (int l = 1; l <= s->mesh.levelmax; l++) n += s->amr.noct[l];
    return n;
}

/* held: heap as counted by base/mem; rss: resident memory as counted by the system. */
void sim_profile_step(struct sim *s)
{
    if (!s->run.cost.profile_path) return;
    int64_t sum[3] = {(int64_t)mem_now(), (int64_t)mem_rss(), s->parts.n};
    comm_add_i64(&s->comm, sum, 3);
    if (!s->run.cost.profile) return;
    fprintf(
        s->run.cost.profile,
        "{\"step\":%d,\"ranks\":%d,\"time\":%.17g,\"wall_s\":%.6f,\"updates\":%.17g,\"octs\":%ld,"
        "\"particles\":%ld,"
        "\"held_bytes\":%ld,\"rss_bytes\":%ld}\n",
        s->time.nstep_coarse, s->comm.size, s->time.t, timer_wall() - s->run.cost.wall_start,
        s->run.cost.updates, (long)octs_all(s), (long)sum[2], (long)sum[0], (long)sum[1]);
    fflush(s->run.cost.profile);
}

int sim_timings(const struct sim *s, struct timing p[TIMING_MAX])
{
    int n = timer_count();
    char label[TIMING_MAX][LABEL] = {{0}};
    double low[TIMING_MAX] = {0}, high[TIMING_MAX], mean[TIMING_MAX];
    for (int i = 0; i < n; i++) snprintf(label[i], sizeof label[i], "%s", timer_label(i));
    /* ranks may have met labels in another order, or not at all */
    comm_bcast(&s->comm, label, sizeof label, 0);
    for (int i = 0; i < TIMING_MAX; i++) {
        for (int j = 0; j < n; j++)
            if (!strcmp(timer_label(j), label[i])) low[i] = timer_seconds(j);
        high[i] = mean[i] = low[i];
    }
    comm_min_f64(&s->comm, low, TIMING_MAX);
    comm_max_f64(&s->comm, high, TIMING_MAX);
    comm_add_f64(&s->comm, mean, TIMING_MAX);
    for (n = 0; n < TIMING_MAX && label[n][0]; n++) {
        p[n] = (struct timing){.low = low[n], .mean = mean[n] / s->comm.size, .high = high[n]};
        memcpy(p[n].label, label[n], sizeof label[n]);
    }
    return n;
}

static void phases_put(struct sim *s)
{
    struct timing p[TIMING_MAX];
    int n = sim_timings(s, p);
    if (!s->run.cost.profile) return;
    fputs("\"phases_s\":{", s->run.cost.profile);
    for (int i = 0; i < n; i++)
        fprintf(s->run.cost.profile, "%s\"%s\":[%.6f,%.6f,%.6f]", i ? "," : "", p[i].label,
                p[i].low, p[i].mean, p[i].high);
    fputs("},", s->run.cost.profile);
}

/* Rows of rank 0 by name, summed over ranks; memory under names that only other ranks have is in
 * the total. */
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
    if (!s->run.cost.profile) return;
    fprintf(s->run.cost.profile, "\"peak_bytes\":%ld,\"peak_rss_bytes\":%ld,\"memory_bytes\":{",
            (long)total[0], (long)total[1]);
    for (int j = 0; j < NAMES && name[j][0]; j++)
        fprintf(s->run.cost.profile, "%s\"%s\":[%ld,%ld,%ld]", j ? "," : "", name[j],
                (long)row[j][0], (long)row[j][1], (long)row[j][2]);
    fputs("}", s->run.cost.profile);
}

enum err sim_profile_close(struct sim *s)
{
    enum err e = OK;
    if (s->run.cost.profile) {
        bool bad = ferror(s->run.cost.profile);
        bad |= fclose(s->run.cost.profile) != 0;
        s->run.cost.profile = NULL;
        if (bad)
            e = err_set(ERR_FILE, "%s: the profile cannot be written", s->run.cost.profile_path);
    }
    return err_agree(&s->comm, e);
}

enum err sim_profile_end(struct sim *s)
{
    if (!s->run.cost.profile_path) return OK;
    int64_t particles = s->parts.n;
    comm_add_i64(&s->comm, &particles, 1);
    if (s->run.cost.profile) {
        fprintf(s->run.cost.profile,
                "{\"status\":%d,\"ranks\":%d,\"threads\":%d,\"steps\":%d,\"updates\":%.17g,\"wall_"
                "s\":%.6f,",
                s->run.end.status, s->comm.size, s->comm.threads, s->time.nstep_coarse,
                s->run.cost.updates, timer_wall() - s->run.cost.wall_start);
        fprintf(s->run.cost.profile, "\"cells_most\":%ld,\"leaves_most\":%ld,\"particles\":%ld,",
                (long)s->run.cost.cells_most, (long)s->run.cost.leaves_most, (long)particles);
    }
    phases_put(s);
    memory_put(s);
    if (s->run.cost.profile) fputs("}\n", s->run.cost.profile);
    return sim_profile_close(s);
}
