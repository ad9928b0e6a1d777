/* part/column: the columns of particles: rows of columns.def, and columns that only a checkpoint
 * has, which a run passes on unchanged.
 *
 * Columns of the table have the numbers COL_X … COL_COUNT−1; further ones follow in the order of
 * their checkpoint. In memory a column has doubles or integers of 1, 2, 4 or 8 bytes; in the
 * batches of formats (ckpt/source.h) doubles or int64_t. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

enum part_col {
#define AXIS(symbol, ...) COL_##symbol,
#define COLUMN(symbol, ...) COL_##symbol,
#define OPTION(symbol, ...) COL_##symbol,
#include "part/columns.def"
    COL_COUNT,
    /* maximum number of further columns, of all columns */
    COL_FURTHER = 128,
    COL_MAX = COL_COUNT + COL_FURTHER
};

/* Meaning of a column missing in a checkpoint: damage; zeros; levelmin; values follow from the
 * other columns, by the rules of the format. */
enum part_lack { LACK_ERROR, LACK_ZERO, LACK_LEVELMIN, LACK_FAMILY };

/* Runs that have a column: all; runs whose checkpoint has it; also runs with stars, with stellar
 * yields, with Monte-Carlo tracers, or with light cones of crossing particles. */
enum part_when { WHEN_ALWAYS, WHEN_FOUND, WHEN_STARS, WHEN_YIELDS, WHEN_TRACERS, WHEN_CONES };

struct part_column {
    char name[48], dataset[64], word[48];
    char type; /* type in memory: d (double), q i h b (integers of 8, 4, 2, 1 bytes) */
    enum part_lack lack;
    enum part_when when;
};

/* The columns of a run or of a checkpoint. */
struct part_columns {
    int n;                                   /* number of columns: COL_COUNT and further ones */
    bool has[COL_MAX];                       /* [n] whether column c exists */
    struct part_column further[COL_FURTHER]; /* column c is further[c − COL_COUNT] */
};

void part_columns_init(struct part_columns *s); /* sets the columns of every run */
/* Column c (lent); s is used for further columns only, and may otherwise be NULL. */
const struct part_column *part_column(const struct part_columns *s, int c);
/* Number of the column of this name; −1: none. */
int part_column_find(const struct part_columns *s, const char *name);
/* Adds a further column, or finds the one of this name; type f is stored as d. Returns its number,
 * −1 if the table is full. */
int part_column_add(struct part_columns *s, const char *name, char type);

int part_type_size(char type); /* bytes of a value in memory */
static inline bool part_type_is_real(char type)
{
    return type == 'd' || type == 'f';
}
/* Converts n wide values to their type in memory. False: an integer does not fit. */
bool part_column_narrow(char type, int64_t n, const void *wide, void *out);
