/* audit/damage: reports of damage, and which errors are damage. */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "audit/check_priv.h"
#include "base/text.h"

void check_report(struct check *k, enum check_kind kind, const char *file, const char *location,
                  const char *fmt, ...)
{
    char what[1024];
    va_list ap;
    k->found->damages++;
    if (k->count[kind]++ >= CHECK_MAX) return;
    va_start(ap, fmt);
    vsnprintf(what, sizeof what, fmt, ap);
    va_end(ap);
    plain_nan(what);
    struct damage d = {.file = file, .location = location, .what = what};
    k->how->fn(&d, k->how->ctx);
}

void check_report_rest(struct check *k)
{
    static const char *const name[BAD_KINDS] = {
        "unreadable files",
        "wrong counts",
        "octs without a parent",
        "split cells without an oct",
        "octs that occur twice",
        "incomplete levels",
        "octs without a neighbour of their parent",
        "split cells that are not flagged",
        "values that are not finite",
        "densities that are not positive",
        "negative energies",
        "split cells that are not the mean of their children",
        "magnetic faces whose copies differ",
        "magnetic faces that are not the mean of the finer ones",
        "particle values that are not finite",
        "particles outside the box",
        "masses that are not positive",
        "ids that occur twice",
        "particles with another rank"};
    for (int i = 0; i < BAD_KINDS; i++) {
        char what[200];
        if (k->count[i] <= CHECK_MAX) continue;
        snprintf(what, sizeof what, "%ld more %s", (long)(k->count[i] - CHECK_MAX), name[i]);
        struct damage d = {.file = k->dir, .location = "", .what = what};
        k->how->fn(&d, k->how->ctx);
    }
}

/* Reports the last error message. Readers write "FILE: record N (what) at byte M …". */
void check_report_message(struct check *k)
{
    char text[1024], *rest;
    snprintf(text, sizeof text, "%s", err_message());
    rest = strstr(text, ": ");
    if (!rest) {
        check_report(k, BAD_FILE, "", "", "%s", text);
        return;
    }
    *rest = 0, rest += 2;
    char location[100] = "",
         *end = strncmp(rest, "record ", 7) == 0 ? strstr(rest, " at byte ") : NULL;
    if (end) {
        end += 9 + strspn(end + 9, "0123456789");
        snprintf(location, sizeof location, "%.*s", (int)(end - rest), rest);
        rest = end + strspn(end, " :");
    }
    check_report(k, BAD_FILE, text, location, "%s", rest);
}

/* Whether the file at the start of the message belongs to the checkpoint and is missing. */
static bool reports_missing(const struct check *k)
{
    char file[1024];
    size_t n = strlen(k->dir);
    while (n > 1 && k->dir[n - 1] == '/') n--;
    snprintf(file, sizeof file, "%s", err_message());
    char *end = strstr(file, ": ");
    if (!end) return false;
    *end = 0;
    struct stat st;
    return strncmp(file, k->dir, n) == 0 && file[n] == '/' && lstat(file, &st) != 0 &&
           errno == ENOENT;
}

bool check_tells_damage(const struct check *k, enum err err)
{
    return err == ERR_FORMAT || (err == ERR_FILE && reports_missing(k));
}

enum err check_judge(struct check *k, enum err err)
{
    if (!check_tells_damage(k, err)) return err;
    check_report_message(k);
    k->unreadable = true;
    return OK;
}

void check_place(const struct check *k, int level, okey key, int cell,
                 char location[CHECK_LOCATION])
{
    double width = ldexp(k->r->head.boxlen, 1 - level), at[3];
    int64_t x[3];
    okey_coords(key, x);
    for (int d = 0; d < 3; d++)
        at[d] = ((double)x[d] + (cell < 0 ? 0.5 : cell >> d & 1 ? 0.75 : 0.25)) * width;
    int n = snprintf(location, CHECK_LOCATION, "level %d, %s at", level, cell < 0 ? "oct" : "cell");
    for (int d = 0; d < k->r->head.ndim; d++)
        n += snprintf(location + n, CHECK_LOCATION - (size_t)n, " %.9g", at[d]);
}
