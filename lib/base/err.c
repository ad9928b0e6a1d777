#include "base/err.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

static _Thread_local char message[1024];

enum err err_set(enum err code, const char *fmt, ...)
{
    /* The arguments may point into the old message, so the new one is built separately. */
    char text[sizeof message];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    plain_text(text);
    plain_nan(text);
    snprintf(message, sizeof message, "%s", text);
    return code;
}

enum err err_of_param(enum err err, const char *parameter)
{
    return err == ERR_FILE ? err_set(err, "%s (%s)", message, parameter) : err;
}

const char *err_message(void)
{
    return message;
}

/* Whether `what` occurs in the text as a whole name or as the start of a path. */
static bool names(const char *text, const char *what)
{
    size_t n = strlen(what);
    for (const char *at = text; n && (at = strstr(at, what)); at++)
        if ((at == text || at[-1] == ' ' || at[-1] == '/') && strchr("/: ,;", at[n])) return true;
    return false;
}

enum err err_about(enum err err, const char *what)
{
    return err == OK || names(message, what) ? err : err_set(err, "%s: %s", what, message);
}

void err_save(struct err_first *f, enum err err, int number)
{
    if (err == OK) return;
#pragma omp critical(err_first)
    if (f->err == OK || number < f->number) {
        f->err = err, f->number = number;
        snprintf(f->message, sizeof f->message, "%s", message);
    }
}

enum err err_restore(struct err_first *f)
{
    enum err err;
#pragma omp critical(err_first)
    err = f->err == OK ? OK : err_set(f->err, "%s", f->message);
    return err;
}

_Noreturn void err_bug(const char *file, int line, const char *what)
{
    fprintf(stderr, "ptah: bug at %s:%d: %s\n", file, line, what);
    abort();
}
