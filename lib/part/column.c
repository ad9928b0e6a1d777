#include "part/column.h"

#include <stdio.h>
#include <string.h>

#define LETTER(type) _Generic((type){0}, double : 'd', int64_t : 'q', int32_t : 'i', int8_t : 'b')

static const struct part_column TABLE[COL_COUNT] = {
#define AXIS(symbol, member, type, name, dataset, word, lack)                                      \
    {name, dataset, word, LETTER(type), LACK_##lack, WHEN_ALWAYS},
#define COLUMN(symbol, member, type, name, dataset, word, lack)                                    \
    {name, dataset, word, LETTER(type), LACK_##lack, WHEN_ALWAYS},
#define OPTION(symbol, member, type, name, dataset, word, lack, when)                              \
    {name, dataset, word, LETTER(type), LACK_##lack, WHEN_##when},
#include "part/columns.def"
};

void part_columns_init(struct part_columns *s)
{
    *s = (struct part_columns){.n = COL_COUNT};
    for (int c = 0; c < COL_COUNT; c++) s->has[c] = TABLE[c].when == WHEN_ALWAYS;
}

const struct part_column *part_column(const struct part_columns *s, int c)
{
    return c < COL_COUNT ? &TABLE[c] : &s->further[c - COL_COUNT];
}

int part_column_find(const struct part_columns *s, const char *name)
{
    for (int c = 0; c < s->n; c++)
        if (strcmp(part_column(s, c)->name, name) == 0) return c;
    return -1;
}

int part_column_add(struct part_columns *s, const char *name, char type)
{
    int c = part_column_find(s, name);
    if (c < 0) {
        if (s->n == COL_MAX) return -1;
        c = s->n++;
        struct part_column *f = &s->further[c - COL_COUNT];
        *f = (struct part_column){
            .type = type == 'f' ? 'd' : type, .lack = LACK_ZERO, .when = WHEN_FOUND};
        snprintf(f->name, sizeof f->name, "%s", name);
        snprintf(f->word, sizeof f->word, "%s", name);
        snprintf(f->dataset, sizeof f->dataset, "ptah/particles/%.47s", name);
    }
    s->has[c] = true;
    return c;
}

int part_type_size(char type)
{
    return type == 'd' || type == 'q' ? 8 : type == 'f' || type == 'i' ? 4 : type == 'h' ? 2 : 1;
}

#define NARROW(word)                                                                               \
    for (int64_t i = 0; i < n; i++) {                                                              \
        ((word *)out)[i] = (word)in[i];                                                            \
        fits &= ((word *)out)[i] == in[i];                                                         \
    }

bool part_column_narrow(char type, int64_t n, const void *wide, void *out)
{
    const int64_t *in = wide;
    bool fits = true;
    switch (part_type_size(type)) {
    case 8:
        memcpy(out, wide, 8 * (size_t)n);
        break;
    case 4:
        NARROW(int32_t)
        break;
    case 2:
        NARROW(int16_t)
        break;
    default:
        NARROW(int8_t)
        break;
    }
    return fits;
}
