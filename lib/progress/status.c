/* progress/status: the file about a run. Readers need no lock, and no more of the file system than
 * a rename: they see a complete version of the file, on NFS a few seconds late. */
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/text.h"
#include "io/file.h"
#include "io/temp.h"
#include "progress/progress.h"

static const char *const STATE[PROGRESS_STATES] = {"starting", "running", "completed", "stopped",
                                                   "failed"};

/* The members of the struct by their names in the file. */
struct member {
    const char *name;
    char type; /* d double, i int, l int64_t, b bool, s text */
    size_t at, room;
};
#define MEMBER(name, type, member)                                                                 \
    {                                                                                              \
        name, type, offsetof(struct progress, member), sizeof((struct progress *)0)->member        \
    }
static const struct member MEMBERS[] = {MEMBER("coarse_step", 'i', step),
                                        MEMBER("cosmo", 'b', cosmo),
                                        MEMBER("time", 'd', t),
                                        MEMBER("aexp", 'd', a),
                                        MEMBER("dt", 'd', dt),
                                        MEMBER("end", 'd', end),
                                        MEMBER("elapsed_s", 'd', elapsed),
                                        MEMBER("step_s", 'd', step_s),
                                        MEMBER("next_output", 'i', output),
                                        MEMBER("next_output_s", 'd', output_s),
                                        MEMBER("end_s", 'd', end_s),
                                        MEMBER("job_end_s", 'd', job_s),
                                        MEMBER("updates_per_s", 'd', updates_s),
                                        MEMBER("bytes", 'd', bytes),
                                        MEMBER("ranks", 'i', ranks),
                                        MEMBER("threads", 'i', threads),
                                        MEMBER("longest_silence_s", 'd', heard_s),
                                        MEMBER("pid", 'l', pid),
                                        MEMBER("born", 'l', born),
                                        MEMBER("host", 's', host),
                                        MEMBER("message", 's', message)};
enum {
    NMEMBER = sizeof MEMBERS / sizeof *MEMBERS,
    FILE_MAX = 1 << 16,
    TEXT_MAX = 4096,
    HOST_MAX = 64
};

/* ---- writing ---- */

static void put_member(FILE *f, const struct member *m, const struct progress *p)
{
    const void *at = (const char *)p + m->at;
    fprintf(f, ",\n \"%s\":", m->name);
    switch (m->type) {
    case 'd':
        json_real(f, *(const double *)at);
        break;
    case 'i':
        fprintf(f, "%d", *(const int *)at);
        break;
    case 'l':
        fprintf(f, "%ld", (long)*(const int64_t *)at);
        break;
    case 'b':
        fputs(*(const bool *)at ? "true" : "false", f);
        break;
    default:
        json_quote(f, at);
    }
}

enum err progress_write(const char *dir, const struct progress *p)
{
    char path[PATH_MAX], text[TEXT_MAX] = "";
    struct temp t;
    snprintf(path, sizeof path, "%.4000s/" PROGRESS_FILE, dir);
    FILE *f = fmemopen(text, sizeof text, "w");
    if (!f) FAIL(ERR_LIMIT, "%s: out of memory", path);
    fprintf(f, "{\"state\":\"%s\"", STATE[p->state]);
    for (int i = 0; i < NMEMBER; i++) put_member(f, &MEMBERS[i], p);
    fputs("}\n", f);
    fclose(f);
    enum err err = temp_create_quick(&t, path);
    if (err == OK) {
        err = file_write_at(t.fd, path, text, strlen(text), 0);
        if (err == OK)
            err = temp_publish(&t);
        else
            temp_drop(&t);
    }
    return err;
}

/* ---- reading ---- */

/* The value of a name; NULL: the file does not have it. */
static const char *value_of(const char *text, const char *name)
{
    char quoted[48];
    snprintf(quoted, sizeof quoted, "\"%s\":", name);
    const char *at = strstr(text, quoted);
    return at ? at + strlen(quoted) : NULL;
}

static void get_text(const char *at, char *out, size_t room)
{
    size_t n = 0;
    if (*at++ != '"') return;
    for (; *at && *at != '"' && n + 1 < room; at++) {
        at += *at == '\\' && at[1];
        out[n++] = *at;
    }
    out[n] = 0;
    plain_line(out);
}

static void get_member(const char *text, const struct member *m, struct progress *p)
{
    void *to = (char *)p + m->at;
    const char *at = value_of(text, m->name);
    const bool real = at && *at != 'n'; /* null: not known */
    if (m->type == 'd')
        *(double *)to = real ? strtod(at, NULL) : NAN;
    else if (at && m->type == 'i')
        *(int *)to = (int)strtol(at, NULL, 10);
    else if (at && m->type == 'l')
        *(int64_t *)to = strtol(at, NULL, 10);
    else if (at && m->type == 'b')
        *(bool *)to = *at == 't';
    else if (at)
        get_text(at, to, m->room);
}

static bool parse(const char *text, struct progress *p)
{
    char state[16] = "";
    const char *at = value_of(text, "state");
    if (!at || !strstr(text, "}\n")) return false;
    get_text(at, state, sizeof state);
    for (int i = 0; i < PROGRESS_STATES; i++) {
        if (strcmp(state, STATE[i]) != 0) continue;
        *p = (struct progress){.state = i};
        for (int k = 0; k < NMEMBER; k++) get_member(text, &MEMBERS[k], p);
        return true;
    }
    return false;
}

enum err progress_read(const char *dir, struct progress *p, bool *there, double *age)
{
    char path[PATH_MAX], *text = NULL;
    size_t n;
    struct stat st;
    *there = false;
    snprintf(path, sizeof path, "%.4000s/" PROGRESS_FILE, dir);
    if (stat(path, &st) != 0) {
        if (errno == ENOENT || errno == ENOTDIR || errno == ESTALE) return OK;
        FAIL(ERR_FILE, "%s: cannot be read: %s", path, strerror(errno));
    }
    enum err err = file_load(path, FILE_MAX, &text, &n);
    if (err == OK) *there = parse(text, p);
    *age = difftime(time(NULL), st.st_mtime);
    mem_free(text);
    if (err == OK || access(path, F_OK) == 0) return err;
    return OK; /* it was replaced while it was opened, as NFS may do */
}

/* ---- the process ---- */

/* Start of a process in clock ticks since the boot; 0: there is none, or it is not known. */
static int64_t born(int64_t pid)
{
    char path[64], *text = NULL;
    size_t n;
    int64_t ticks = 0;
    snprintf(path, sizeof path, "/proc/%ld/stat", (long)pid);
    if (file_load_any(path, FILE_MAX, &text, &n) != OK) return 0;
    const char *at = strrchr(text, ')'); /* the name of the program may contain anything */
    for (int field = 2; at && field < 22; field++) at = strchr(at + 1, ' ');
    if (at) ticks = strtol(at, NULL, 10);
    mem_free(text);
    return ticks;
}

void progress_self(struct progress *p)
{
    p->pid = getpid();
    p->born = born(p->pid);
    /* numbers of processes are those of a name space, of which a machine may have several */
    char name[HOST_MAX] = "", space[HOST_MAX] = "";
    if (gethostname(name, sizeof name - 1) != 0 || !*name) return;
    if (readlink("/proc/self/ns/pid", space, sizeof space - 1) <= 0) return;
    snprintf(p->host, sizeof p->host, "%s %s", name, space);
}

bool progress_is_gone(const struct progress *p)
{
    struct progress here = {.pid = 0};
    progress_self(&here);
    if (!*p->host || strcmp(p->host, here.host) != 0 || p->born <= 0) return false;
    return born(p->pid) != p->born;
}
