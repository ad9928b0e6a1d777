/* records: see records.h. The files are not trusted: lines in an unexpected form are skipped. */
#include "records/records.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "io/table.h"

enum { RECORD_NAME = 256 }; /* bytes of a name of a file */

enum { STEPS_MAX = 1 << 22 };

static struct step *step_at(struct records *r, long k)
{
    if (k < 0 || k >= STEPS_MAX) return NULL;
    if (k >= r->nstep) {
        r->step = mem_grow(r->step, sizeof *r->step * (size_t)(k + 1), "records");
        for (int i = r->nstep; i <= k; i++) {
            double *x = (double *)&r->step[i];
            for (size_t j = 0; j < sizeof *r->step / sizeof *x; j++) x[j] = NAN;
        }
        r->nstep = (int)k + 1;
    }
    return &r->step[k];
}

/* ---- the log ---- */

/* Parses a line of a log; false: not a line of a log. *at: step number last seen. */
static bool log_line(struct records *r, const char *s, long *at)
{
    double x[6];
    long k;
    struct step *q = step_at(r, *at);
    if (sscanf(s, " Main step=%ld mcons=%lf econs=%lf", &k, &x[0], &x[1]) == 3) {
        if ((q = step_at(r, k))) q->mcons = x[0], q->econs = x[1], *at = k;
    } else if (sscanf(s, " Fine step=%*d t=%*f dt=%*f a=%lf", &x[0]) == 1) {
        if (q) q->a = x[0];
    } else if (sscanf(s, " Time elapsed since last coarse step: %lf", &x[0]) == 1) {
        if (q) q->elapsed = x[0];
    } else if (sscanf(s, " Ranks (min,mean,max): held %lf %lf %lf MB, work %lf %lf %lf", &x[0],
                      &x[1], &x[2], &x[3], &x[4], &x[5]) == 6) {
        if (q) memcpy(q->rank_mb, x, sizeof q->rank_mb);
        if (q) memcpy(q->rank_s, x + 3, sizeof q->rank_s);
    } else {
        return false;
    }
    return true;
}

/* ---- files of simulate -j ---- */

static double number_of(const char *s, const char *key)
{
    char quoted[48];
    snprintf(quoted, sizeof quoted, "\"%s\":", key);
    const char *at = strstr(s, quoted);
    return at ? strtod(at + strlen(quoted), NULL) : NAN;
}

/* Parses rows "name":[a,b,c] of an object. Rows with a known name are added up, or replaced. */
static void rows_of(const char *s, const char *key, struct record_row *row, int *n, bool add)
{
    char quoted[48];
    snprintf(quoted, sizeof quoted, "\"%s\":{", key);
    const char *at = strstr(s, quoted);
    if (!at) return;
    for (at += strlen(quoted); *at == '"' || *at == ','; at++) {
        struct record_row q = {.low = 0};
        int length = 0, i = 0;
        at += *at == ',';
        if (sscanf(at, "\"%39[^\"]\":[%lf,%lf,%lf]%n", q.label, &q.low, &q.mean, &q.high,
                   &length) != 4 ||
            !length)
            return;
        while (i < *n && strcmp(row[i].label, q.label) != 0) i++;
        if (i == RECORD_NAMES) return;
        if (i < *n && add) q.low += row[i].low, q.mean += row[i].mean, q.high += row[i].high;
        row[i] = q;
        *n = i < *n ? *n : i + 1;
        at += length - 1;
    }
}

/* Parses a line of JSON. *wall: seconds from the start of the run to the previous step. */
static bool cost_line(struct records *r, const char *s, double *wall)
{
    double k = number_of(s, "step"), now = number_of(s, "wall_s");
    if (*s != '{') return false;
    if (strstr(s, "\"phases_s\":{")) {
        rows_of(s, "phases_s", r->phase, &r->nphase, true);
        rows_of(s, "memory_bytes", r->memory, &r->nmemory, false);
        r->ranks = (int)number_of(s, "ranks"), r->threads = (int)number_of(s, "threads");
        *wall = 0;
        return true;
    }
    struct step *q = k >= 0 && k < STEPS_MAX ? step_at(r, (long)k) : NULL;
    if (!q || !(now >= 0)) return false;
    q->elapsed = now >= *wall ? now - *wall : now;
    *wall = now;
    q->octs = number_of(s, "octs");
    q->held = number_of(s, "held_bytes");
    q->resident = number_of(s, "rss_bytes");
    return true;
}

/* ---- files ---- */

/* Reads lines; gives up after many lines of which none belongs to a record. *any: some lines do. */
static enum err read_lines(struct records *r, struct table *t, bool *any)
{
    double wall = 0;
    long at = 0;
    for (int64_t n = 0; *any || n < 10000; n++) {
        bool got;
        TRY(table_next(t, &got));
        if (!got) break;
        *any |= *t->at == '{' ? cost_line(r, t->at, &wall) : log_line(r, t->at, &at);
    }
    return OK;
}

static enum err read_file(struct records *r, const char *path, const char *name)
{
    struct table t;
    bool any = false;
    TRY(table_open(&t, path, TABLE_LOG, INT64_MAX));
    enum err err = read_lines(r, &t, &any);
    table_close(&t);
    if (any && r->nfile < RECORD_FILES)
        snprintf(r->file[r->nfile++], sizeof r->file[0], "%.255s", name);
    return err == ERR_FORMAT ? OK : err; /* overlong line: not a record */
}

static int by_name(const void *a, const void *b)
{
    return strcmp(a, b);
}

/* Names in a directory, ascending. (owner: caller) */
static enum err list_names(const char *dir, char (**out)[RECORD_NAME], int *n)
{
    DIR *d = opendir(dir);
    int room = 0;
    if (!d) FAIL(ERR_FILE, "%s: the directory cannot be read", dir);
    for (struct dirent *e; (e = readdir(d));) {
        if (*e->d_name == '.') continue;
        MEM_ROOM(*out, *n, room, 64, "records");
        snprintf((*out)[(*n)++], RECORD_NAME, "%s", e->d_name);
    }
    closedir(d);
    mem_sort(*out, (size_t)*n, RECORD_NAME, by_name);
    return OK;
}

enum err records_read(struct records *r, const char *dir)
{
    char(*name)[RECORD_NAME] = NULL;
    struct stat st;
    int n = 0;
    enum err err = list_names(dir, &name, &n);
    for (int i = 0; i < n && err == OK; i++) {
        char path[4700];
        snprintf(path, sizeof path, "%.4000s/%s", dir, name[i]);
        if (stat(path, &st) == 0 && S_ISREG(st.st_mode)) err = read_file(r, path, name[i]);
    }
    FREE(name);
    return err;
}

void records_free(struct records *r)
{
    FREE(r->step);
}
