/* expr: formulas in texts, compiled to programs of a stack machine (docs/method/kinds.md).
 *
 * A text has statements `name = formula`, separated by semicolons. The caller declares names:
 * constants, variables that formulas read, and fields that statements set; a statement for another
 * name makes a helper, which later statements read. Bits are those of libm: equal formulas give
 * equal bits wherever they are evaluated.
 *
 *   formula   comparison { 'and' | 'or' comparison }         'not' comparison
 *   numbers   1, .5, 1e-3, 1d-3                  operators   + - * / ^ (or **, from the right)
 *   < <= > >= == != (or /=): 1 or 0              if(condition, a, b): only one of both is computed
 *   functions: those of FUNCTIONS in words.c
 *
 * Names are compared in lower case. Texts of any content are safe: depth, length and the stack of a
 * program are bounded. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

enum { EXPR_NAMES = 128, EXPR_NAME = 32, EXPR_STATEMENTS = 128, EXPR_OPS = 8192, EXPR_STACK = 64 };

/* Formulas read all but results: constants, which have their value when they are declared, inputs,
 * fields, also before they are set, and helpers. Statements set fields, results and helpers. */
enum expr_role { EXPR_CONSTANT, EXPR_INPUT, EXPR_FIELD, EXPR_RESULT, EXPR_HELPER };

struct expr_name {
    char name[EXPR_NAME];
    int slot; /* in the array of values; aliases share one */
    enum expr_role role;
    /* Bits of groups. Of a field or a result: the group to which it belongs. Of others: the groups
     * whose formulas may read it; a helper has those that may read all that it reads. */
    unsigned groups;
};

struct expr_op {
    unsigned char code; /* of enum in priv.h */
    short column;       /* in the text of the statement, from 1 */
    int arg;            /* slot, function, or place of a jump */
    double value;
};

struct expr_statement {
    const char *text; /* lent by the caller of expr_add: the whole text */
    int number;       /* as given to expr_add */
    int name;         /* that it sets */
    int first, last;  /* operations first .. last-1 */
    unsigned groups;  /* groups whose fields need the statement (expr_finish) */
};

/* Large (some hundred KB): on the heap. Open for the caller's reading. */
struct expr {
    const char *origin; /* name of the list of texts in messages */
    int nname, nslot, nstatement, nop;
    struct expr_name name[EXPR_NAMES];
    double constant[EXPR_NAMES];
    struct expr_statement statement[EXPR_STATEMENTS];
    struct expr_op op[EXPR_OPS];
};

/* Declares a name; slot −1: a new one. Returns the slot. value: of a constant. */
int expr_declare(struct expr *e, const char *name, enum expr_role role, int slot, double value,
                 unsigned groups);
/* Compiles a text behind those before. number: of the text in messages. Errors name the column. */
MUST_USE enum err expr_add(struct expr *e, const char *text, int number);
/* After the last text: finds for each statement the groups that need it. */
void expr_finish(struct expr *e);
/* Whether a statement sets the field in this slot. */
bool expr_sets(const struct expr *e, int slot);
/* Copies constants to value[nslot]. */
void expr_constants(const struct expr *e, double *value);
/* Evaluates the statements that fields of the groups need, in their order. Fails where a result is
 * not a finite number; the message lacks the place. Any thread. */
MUST_USE enum err expr_run(const struct expr *e, unsigned groups, double *value);
