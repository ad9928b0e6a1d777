/* comm/lines: see lines.h. */
#include "comm/lines.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

bool lines_next(struct lines *l, const struct comm *c)
{
    int64_t got[2] = {0, 0}; /* bytes, error */
    if (c->rank == 0) {
        do got[0] = getline(&l->text, &l->room, stdin);
        while (got[0] == 1 && *l->text == '\n');
        if (got[0] > 0 && l->text[got[0] - 1] == '\n') l->text[--got[0]] = 0;
        got[1] = ferror(stdin) != 0;
    }
    comm_bcast(c, got, sizeof got, 0);
    l->bad = got[1] != 0;
    if (got[0] <= 0) return false;
    if (c->rank > 0 && (size_t)got[0] >= l->room) {
        l->room = (size_t)got[0] + 1;
        l->text = realloc(l->text, l->room);
        BUG_ON(!l->text);
    }
    comm_bcast(c, l->text, (size_t)got[0] + 1, 0);
    return true;
}

void lines_free(struct lines *l)
{
    free(l->text);
    *l = (struct lines){.text = NULL};
}
