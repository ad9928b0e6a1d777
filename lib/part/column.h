/* part/column: which columns particles have: the rows of columns.def, and columns that only a
 * checkpoint has, which are kept through a run unchanged.
 *
 * Columns of the table have the numbers COL_X … COL_COUNT−1; further ones follow in the order of
 * their checkpoint. A column is doubles or integers of 1, 2, 4 or 8 bytes in memory; in the batches
 * of formats (ckpt/source.h) it is doubles or int64_t. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

enum part_col {
#define AXIS(symbol, ...) COL_##symbol,
#define COLUMN(symbol, ...) COL_##symbol,
#define OPTION(symbol, ...) COL_##symbol,
#include "part/columns.def"
    COL_COUNT,
    /* max number of further columns; of all columns */
    COL_FURTHER = 128,
    COL_MAX = COL_COUNT + COL_FURTHER
};

/* Of a column that a checkpoint lacks: the checkpoint is damaged; its values are 0; levelmin; they
 * follow from the other columns, by the rules of the format. */
enum part_lack { LACK_ERROR, LACK_ZERO, LACK_LEVELMIN, LACK_FAMILY };

/* Runs that have a column: all; those whose checkpoint has it; also those with stars, or with
 * yields of stars. */
enum part_when { WHEN_ALWAYS, WHEN_FOUND, WHEN_STARS, WHEN_YIELDS };

struct part_column {
    char name[48], dataset[64], word[48];
    char type; /* in memory: d (double), q i h b (integers of 8, 4, 2, 1 bytes) */
    enum part_lack lack;
    enum part_when when;
};

/* The columns of a run or of a checkpoint. */
struct part_columns {
    int n;                                   /* COL_COUNT and further ones */
    bool has[COL_MAX];                       /* [n] */
    struct part_column further[COL_FURTHER]; /* column c is further[c − COL_COUNT] */
};

void part_columns_init(struct part_columns *s); /* the columns of every run */
/* Column c, lent; s is not used for those of the table, and may then be NULL. */
const struct part_column *part_column(const struct part_columns *s, int c);
/* −1: there is none of this name. */
int part_column_find(const struct part_columns *s, const char *name);
/* A further column, or the one that has the name; type f is kept as d. Returns its number, −1 if
 * there is no room. */
int part_column_add(struct part_columns *s, const char *name, char type);

int part_type_size(char type); /* bytes of a value in memory */
static inline bool part_type_is_real(char type)
{
    return type == 'd' || type == 'f';
}
/* Converts n wide values to their type in memory. False: an integer does not fit. */
bool part_column_narrow(char type, int64_t n, const void *wide, void *out);
