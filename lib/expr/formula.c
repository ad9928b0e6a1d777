/* expr/formula: recursive descent from a formula to operations. Each level of the grammar emits the
 * operations of its operands, then its own. The depth of the recursion and the height of the stack
 * are counted while operations are emitted. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "expr/priv.h"

enum { DEPTH_MAX = 40 };

/* ---- operations ---- */

static enum err parse_emit(struct parser *s, const char *at, enum expr_code code, int arg,
                           double value)
{
    static const signed char rise[] = {
        [OP_NUMBER] = 1,      [OP_LOAD] = 1,    [OP_ADD] = -1,     [OP_SUBTRACT] = -1,
        [OP_MULTIPLY] = -1,   [OP_DIVIDE] = -1, [OP_POWER] = -1,   [OP_LESS] = -1,
        [OP_LESS_EQUAL] = -1, [OP_EQUAL] = -1,  [OP_UNEQUAL] = -1, [OP_JUMP_ZERO] = -1,
        [OP_CALL2] = -1};
    if (s->e->nop == EXPR_OPS)
        WRONG(s, at, "the expressions have more than %d operations", EXPR_OPS);
    s->height += (size_t)code < sizeof rise ? rise[code] : 0;
    if (s->height > EXPR_STACK) WRONG(s, at, "the expression is nested too deeply");
    s->e->op[s->e->nop++] = (struct expr_op){.code = (unsigned char)code,
                                             .column = (short)(at - s->text + 1),
                                             .arg = arg,
                                             .value = value};
    return OK;
}

/* ---- the grammar, from the tightest bond to the loosest ---- */

static enum err parse_number(struct parser *s)
{
    const char *begin = s->p;
    char digits[64], *end;
    size_t n = 0;
    for (; n < sizeof digits - 1; n++) {
        const char c = s->p[n];
        const bool sign = n && (c == '+' || c == '-') && digits[n - 1] == 'e';
        if (!isdigit((unsigned char)c) && c != '.' && !strchr("eEdD", c) && !sign) break;
        if (!c) break;
        digits[n] = strchr("eEdD", c) ? 'e' : c;
    }
    digits[n] = 0;
    const double value = strtod(digits, &end);
    if (end != digits + n || !isfinite(value))
        WRONG(s, begin, "'%.*s' is no number", (int)n, begin);
    s->p += n;
    return parse_emit(s, begin, OP_NUMBER, 0, value);
}

/* if(condition, a, b): only the chosen one is computed. */
static enum err parse_if(struct parser *s, const char *at)
{
    struct expr *e = s->e;
    TRY(parse_formula(s));
    if (!parse_take(s, ",")) WRONG(s, s->p, "if has the form if(condition, value, other value)");
    const int to_else = e->nop;
    TRY(parse_emit(s, at, OP_JUMP_ZERO, 0, 0));
    TRY(parse_formula(s));
    if (!parse_take(s, ",")) WRONG(s, s->p, "if has the form if(condition, value, other value)");
    const int to_end = e->nop;
    TRY(parse_emit(s, at, OP_JUMP, 0, 0));
    s->height--; /* one of both values remains */
    e->op[to_else].arg = e->nop;
    TRY(parse_formula(s));
    e->op[to_end].arg = e->nop;
    return parse_close(s, at);
}

static enum err parse_call(struct parser *s, const char *at, const char *name)
{
    if (strcmp(name, "if") == 0) return parse_if(s, at);
    const int number = expr_find_function(name);
    if (number < 0) return parse_unknown(s, at, name, true);
    const struct expr_function *f = expr_function_at(number);
    TRY(parse_formula(s));
    for (int i = 1; i < f->nargs; i++) {
        if (!parse_take(s, ",")) WRONG(s, s->p, "%s takes %d values", name, f->nargs);
        TRY(parse_formula(s));
    }
    TRY(parse_emit(s, at, f->nargs == 1 ? OP_CALL1 : OP_CALL2, number, 0));
    while (f->chain && parse_take(s, ",")) {
        TRY(parse_formula(s));
        TRY(parse_emit(s, at, OP_CALL2, number, 0));
    }
    parse_blanks(s);
    if (*s->p == ',')
        WRONG(s, s->p, "%s takes %d value%s", name, f->nargs, f->nargs == 1 ? "" : "s");
    return parse_close(s, at);
}

static enum err parse_word(struct parser *s)
{
    char name[EXPR_NAME];
    parse_blanks(s);
    const char *at = s->p;
    TRY(parse_name(s, name));
    if (parse_take(s, "(")) return parse_call(s, at, name);
    const int i = expr_find(s->e, name);
    if (i < 0 && (expr_find_function(name) >= 0 || strcmp(name, "if") == 0))
        WRONG(s, at, "the function %s needs its values in parentheses", name);
    if (i < 0) return parse_unknown(s, at, name, false);
    const struct expr_name *n = &s->e->name[i];
    if (n->role == EXPR_RESULT) WRONG(s, at, "'%s' can be set, but not be read", name);
    s->groups &= n->groups;
    return parse_emit(s, at, OP_LOAD, n->slot, 0);
}

static enum err parse_primary(struct parser *s)
{
    parse_blanks(s);
    const char *at = s->p;
    enum err err;
    if (s->depth == DEPTH_MAX) WRONG(s, at, "the expression is nested too deeply");
    s->depth++;
    if (parse_take(s, "(")) {
        err = parse_formula(s);
        if (err == OK) err = parse_close(s, at);
    } else if (isdigit((unsigned char)*at) || *at == '.')
        err = parse_number(s);
    else if (parse_letter(*at))
        err = parse_word(s);
    else if (*at && *at != ';')
        err = parse_wrong(s, at, "a value is expected, not '%c'", *at);
    else
        err = parse_wrong(s, at, "a value is expected, but the %s ends",
                          *at ? "statement" : "text");
    s->depth--;
    return err;
}

static enum err parse_sign(struct parser *s);

/* a^b^c is a^(b^c), and -a^b is -(a^b). */
static enum err parse_power(struct parser *s)
{
    TRY(parse_primary(s));
    parse_blanks(s);
    const char *at = s->p;
    if (!parse_take(s, "**") && !parse_take(s, "^")) return OK;
    TRY(parse_sign(s));
    return parse_emit(s, at, OP_POWER, 0, 0);
}

static enum err parse_sign(struct parser *s)
{
    bool negative = false, any = true;
    const char *at = s->p;
    while (any) {
        any = parse_take(s, "-");
        if (any)
            negative = !negative;
        else
            any = parse_take(s, "+");
    }
    if (s->depth == DEPTH_MAX) WRONG(s, at, "the expression is nested too deeply");
    s->depth++;
    enum err err = parse_power(s);
    s->depth--;
    if (err != OK || !negative) return err;
    return parse_emit(s, at, OP_NEGATE, 0, 0);
}

static enum err parse_product(struct parser *s)
{
    TRY(parse_sign(s));
    for (;;) {
        parse_blanks(s);
        const char *at = s->p;
        const bool product = *at == '*', ratio = *at == '/' && at[1] != '=';
        if (!product && !ratio) return OK;
        s->p++;
        TRY(parse_sign(s));
        TRY(parse_emit(s, at, product ? OP_MULTIPLY : OP_DIVIDE, 0, 0));
    }
}

static enum err parse_sum(struct parser *s)
{
    TRY(parse_product(s));
    for (;;) {
        parse_blanks(s);
        const char *at = s->p;
        if (*at != '+' && *at != '-') return OK;
        s->p++;
        TRY(parse_product(s));
        TRY(parse_emit(s, at, *at == '+' ? OP_ADD : OP_SUBTRACT, 0, 0));
    }
}

static enum err parse_comparison(struct parser *s)
{
    /* a > b is not (a <= b): all numbers are finite */
    static const struct {
        const char *sign;
        enum expr_code code;
        bool negated;
    } all[] = {{"<=", OP_LESS_EQUAL, false}, {">=", OP_LESS, true},     {"==", OP_EQUAL, false},
               {"!=", OP_UNEQUAL, false},    {"/=", OP_UNEQUAL, false}, {"<", OP_LESS, false},
               {">", OP_LESS_EQUAL, true}};
    TRY(parse_sum(s));
    parse_blanks(s);
    const char *at = s->p;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (!parse_take(s, all[i].sign)) continue;
        TRY(parse_sum(s));
        TRY(parse_emit(s, at, all[i].code, 0, 0));
        return all[i].negated ? parse_emit(s, at, OP_NOT, 0, 0) : OK;
    }
    return OK;
}

static enum err parse_not(struct parser *s)
{
    bool negated = false;
    parse_blanks(s);
    const char *at = s->p;
    while (parse_take_word(s, "not")) negated = !negated;
    TRY(parse_comparison(s));
    return negated ? parse_emit(s, at, OP_NOT, 0, 0) : OK;
}

/* a and b is if(a, b, 0), made of 0 and 1. */
static enum err parse_and(struct parser *s)
{
    struct expr *e = s->e;
    TRY(parse_not(s));
    for (;;) {
        parse_blanks(s);
        const char *at = s->p;
        if (!parse_take_word(s, "and")) return OK;
        const int to_zero = e->nop;
        TRY(parse_emit(s, at, OP_JUMP_ZERO, 0, 0));
        TRY(parse_not(s));
        TRY(parse_emit(s, at, OP_TRUTH, 0, 0));
        const int to_end = e->nop;
        TRY(parse_emit(s, at, OP_JUMP, 0, 0));
        s->height--;
        e->op[to_zero].arg = e->nop;
        TRY(parse_emit(s, at, OP_NUMBER, 0, 0));
        e->op[to_end].arg = e->nop;
    }
}

/* a or b is if(a, 1, b). */
enum err parse_formula(struct parser *s)
{
    struct expr *e = s->e;
    TRY(parse_and(s));
    for (;;) {
        parse_blanks(s);
        const char *at = s->p;
        if (!parse_take_word(s, "or")) return OK;
        const int to_other = e->nop;
        TRY(parse_emit(s, at, OP_JUMP_ZERO, 0, 0));
        TRY(parse_emit(s, at, OP_NUMBER, 0, 1));
        const int to_end = e->nop;
        TRY(parse_emit(s, at, OP_JUMP, 0, 0));
        s->height--;
        e->op[to_other].arg = e->nop;
        TRY(parse_and(s));
        TRY(parse_emit(s, at, OP_TRUTH, 0, 0));
        e->op[to_end].arg = e->nop;
    }
}
