/* expr/statement: statements, and who needs them. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "expr/priv.h"

int expr_declare(struct expr *e, const char *name, enum expr_role role, int slot, double value,
                 unsigned groups)
{
    BUG_ON(e->nname == EXPR_NAMES);
    if (slot < 0) slot = e->nslot++;
    struct expr_name *n = &e->name[e->nname++];
    *n = (struct expr_name){.slot = slot, .role = role, .groups = groups};
    snprintf(n->name, sizeof n->name, "%s", name);
    e->constant[slot] = value;
    return slot;
}

/* Whether the name is one of the caller's that statements set. */
static bool belongs(const struct expr_name *n)
{
    return n->role == EXPR_FIELD || n->role == EXPR_RESULT;
}

/* ---- statements ---- */

/* The name that a statement sets; a new one becomes a helper. */
static enum err parse_target(struct parser *s, int *target)
{
    char name[EXPR_NAME];
    parse_blanks(s);
    const char *at = s->p;
    TRY(parse_name(s, name));
    if (expr_find_function(name) >= 0 || strcmp(name, "if") == 0 || strcmp(name, "and") == 0 ||
        strcmp(name, "or") == 0 || strcmp(name, "not") == 0)
        WRONG(s, at, "'%s' is a word of expressions, and cannot be set", name);
    *target = expr_find(s->e, name);
    if (*target >= 0 && s->e->name[*target].role <= EXPR_INPUT)
        WRONG(s, at, "'%s' has its value, and cannot be set", name);
    parse_blanks(s);
    if (*s->p != '=' || s->p[1] == '=')
        WRONG(s, s->p, "'=' is expected behind the name '%s'", name);
    s->p++;
    if (*target < 0 && s->e->nname == EXPR_NAMES)
        WRONG(s, at, "expressions have at most %d names", EXPR_NAMES);
    return OK;
}

/* Fails if the formula reads a name that has no value where the field is needed. */
static enum err check_groups(const struct parser *s, const char *at, int target)
{
    const struct expr_name *n = &s->e->name[target];
    if (belongs(n) && (s->groups & n->groups) != n->groups)
        WRONG(
            s, at,
            "the formula of '%s' reads a variable of the gas, which has no value on the faces and "
            "edges of cells: use functions of x, y and z",
            n->name);
    return OK;
}

static enum err parse_statement(struct parser *s)
{
    struct expr *e = s->e;
    int target = -1;
    char name[EXPR_NAME];
    parse_blanks(s);
    const char *at = s->p;
    if (e->nstatement == EXPR_STATEMENTS)
        WRONG(s, at, "there are more than %d statements", EXPR_STATEMENTS);
    TRY(parse_target(s, &target));
    const int first = e->nop;
    s->height = 0;
    s->groups = ~0U;
    TRY(parse_formula(s));
    parse_blanks(s);
    if (*s->p == ')') WRONG(s, s->p, "')' has no '('");
    if (*s->p && *s->p != ';')
        WRONG(s, s->p, "an operator or ';' is expected before '%.12s'", s->p);
    if (target < 0) {
        const char *end = at;
        for (size_t i = 0; i <= parse_length(at); i++)
            name[i] = i < parse_length(at) ? (char)tolower((unsigned char)*end++) : 0;
        expr_declare(e, name, EXPR_HELPER, -1, 0, s->groups);
        target = e->nname - 1;
    } else if (e->name[target].role == EXPR_HELPER)
        e->name[target].groups = s->groups;
    TRY(check_groups(s, at, target));
    e->statement[e->nstatement++] = (struct expr_statement){
        .text = s->text, .number = s->number, .name = target, .first = first, .last = e->nop};
    return OK;
}

enum err expr_add(struct expr *e, const char *text, int number)
{
    struct parser s = {.e = e, .text = text, .p = text, .number = number};
    for (;;) {
        while (parse_take(&s, ";")) continue;
        parse_blanks(&s);
        if (!*s.p) return OK;
        TRY(parse_statement(&s));
    }
}

/* A statement is needed by the groups of its field, or of the statements behind it that read what
 * it sets, up to the next that sets it again. */
void expr_finish(struct expr *e)
{
    unsigned need[EXPR_NAMES] = {0};
    for (int i = e->nstatement - 1; i >= 0; i--) {
        struct expr_statement *s = &e->statement[i];
        const struct expr_name *n = &e->name[s->name];
        s->groups = need[n->slot] | (belongs(n) ? n->groups : 0);
        need[n->slot] = 0;
        for (int k = s->first; k < s->last; k++)
            if (e->op[k].code == OP_LOAD) need[e->op[k].arg] |= s->groups;
    }
}

bool expr_sets(const struct expr *e, int slot)
{
    bool any = false;
    for (int i = 0; i < e->nstatement; i++) any |= e->name[e->statement[i].name].slot == slot;
    return any;
}
