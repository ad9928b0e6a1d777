#include "comm/lines.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* Reads the next line, *n bytes; n may be 0 at the end of the file. */
static enum err read_line(struct lines *l, int64_t *n)
{
    int c;
    l->number++;
    for (*n = 0; (c = getc(stdin)) != EOF && c != '\n'; l->text[(*n)++] = (char)c)
        if (c == 0 || *n + 1 == sizeof l->text)
            FAIL(ERR_FORMAT, "standard input: line %ld is not a path: it %s", l->number,
                 c ? "is too long" : "contains a zero byte");
    l->text[*n] = 0;
    if (c == EOF && ferror(stdin))
        FAIL(ERR_FILE, "standard input: cannot read: %s", strerror(errno));
    return OK;
}

enum err lines_next(struct lines *l, const struct comm *c, bool *got)
{
    int64_t n = 0;
    enum err err = OK;
    *got = false;
    if (c->rank == 0) do
            err = read_line(l, &n);
        while (err == OK && n == 0 && !feof(stdin));
    TRY(err_agree(c, err));
    comm_bcast(c, &n, sizeof n, 0);
    *got = n > 0;
    if (*got) comm_bcast(c, l->text, (size_t)n + 1, 0);
    return OK;
}
