/* smooth/columns: the table of columns and their memory. */
#include "base/mem.h"
#include "smooth/smooth.h"

/* The letter of a type, as hdf5/file.h has them. */
#define LETTER(type) _Generic((type)0, double : 'd', int64_t : 'q', int8_t : 'b')

const struct smooth_row smooth_row[SMOOTH_COLUMNS] = {
#define COLUMN(symbol, member, ctype, text, when, what)                                            \
    {text, LETTER(ctype), sizeof(ctype), SMOOTH_##when, SMOOTH_##what},
#define AXIS(symbol, member, axis, text, when, what)                                               \
    {text, 'd', sizeof(double), SMOOTH_##when, SMOOTH_##what},
#include "smooth/columns.def"
};

_Static_assert(SMOOTH_COLUMNS < 31, "a set of columns has 32 bits");

smooth_set smooth_columns_of(enum smooth_ghost g)
{
    smooth_set set = 0;
    for (int c = 0; c < SMOOTH_COLUMNS; c++)
        if (smooth_row[c].ghost == g) set |= (smooth_set)1 << c;
    return set;
}

smooth_set smooth_columns_kept(enum smooth_keep k)
{
    smooth_set set = 0;
    for (int c = 0; c < SMOOTH_COLUMNS; c++)
        if (smooth_row[c].keep == k) set |= (smooth_set)1 << c;
    return set;
}

void **smooth_at(struct smooth *p, enum smooth_column c)
{
    void *const at[SMOOTH_COLUMNS] = {
#define COLUMN(symbol, member, ...) &p->member,
#define AXIS(symbol, member, axis, ...) &p->member[axis],
#include "smooth/columns.def"
    };
    return at[c];
}

void smooth_reserve(struct smooth *p, int64_t room)
{
    if (room <= p->room) return;
    for (int c = 0; c < SMOOTH_COLUMNS; c++) {
        void **at = smooth_at(p, c);
        *at = mem_grow(*at, smooth_row[c].bytes * (size_t)room, "smoothed particles");
    }
    p->room = room;
}

void smooth_free(struct smooth *p)
{
    for (int c = 0; c < SMOOTH_COLUMNS; c++) mem_free(*smooth_at(p, c));
    *p = (struct smooth){0};
}
