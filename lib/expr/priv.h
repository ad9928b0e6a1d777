/* expr/priv: operations of the stack machine, and the parser. Private to expr. */
#pragma once
#include <stddef.h>

#include "expr/expr.h"

enum expr_code {
    OP_NUMBER, /* pushes value */
    OP_LOAD,   /* pushes slot arg */
    OP_ADD,
    OP_SUBTRACT,
    OP_MULTIPLY,
    OP_DIVIDE,
    OP_POWER,
    OP_NEGATE,
    OP_NOT,
    OP_TRUTH, /* 1 for any number but 0 */
    OP_LESS,
    OP_LESS_EQUAL,
    OP_EQUAL,
    OP_UNEQUAL,
    OP_JUMP,      /* to operation arg */
    OP_JUMP_ZERO, /* pops; jumps if it is 0 */
    OP_CALL1,     /* function arg of one number */
    OP_CALL2      /* of two */
};

/* A function of formulas. */
struct expr_function {
    const char *name;
    int nargs;
    double (*one)(double);
    double (*two)(double, double);
    bool chain; /* takes any number of values from two */
};
const struct expr_function *expr_function_at(int i);

struct parser {
    struct expr *e;
    const char *text, *p;
    int number;
    int depth, height; /* of the recursion, and of the stack */
    unsigned groups;   /* groups that may read all names of the formula so far */
};

/* An error at a place of the text. */
MUST_USE enum err parse_wrong(const struct parser *s, const char *at, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
#define WRONG(s, at, ...) return parse_wrong((s), (at), __VA_ARGS__)

bool parse_letter(char c);
size_t parse_length(const char *p); /* letters and digits of the word that begins here */
void parse_blanks(struct parser *s);
bool parse_take(struct parser *s, const char *sign); /* takes a sign if it is next */
bool parse_take_word(struct parser *s, const char *word);
MUST_USE enum err parse_name(struct parser *s, char name[EXPR_NAME]); /* in lower case */
/* Takes the parenthesis that closes the one at `open`. */
MUST_USE enum err parse_close(struct parser *s, const char *open);
MUST_USE enum err parse_unknown(const struct parser *s, const char *at, const char *name,
                                bool call);
int expr_find(const struct expr *e, const char *name); /* −1: none */
int expr_find_function(const char *name);
/* Compiles a formula, up to what does not belong to it. */
MUST_USE enum err parse_formula(struct parser *s);
