/* expr/run: the stack machine. */
#include <math.h>
#include <string.h>

#include "expr/priv.h"

static MUST_USE enum err not_finite(const struct expr *e, const struct expr_statement *s,
                                    const struct expr_op *op, double result)
{
    const char *name = e->name[s->name].name;
    const char *what = op->code == OP_DIVIDE ? "a division by zero or of too large numbers"
                       : isnan(result)       ? "a result that is not a number"
                                             : "a result that is infinite";
    FAIL(ERR_PARAM, "%s(%d)='%.200s': '%s' has %s in column %d", e->origin, s->number, s->text,
         name, what, op->column);
}

static double binary(int code, double a, double b)
{
    switch (code) {
    case OP_ADD:
        return a + b;
    case OP_SUBTRACT:
        return a - b;
    case OP_MULTIPLY:
        return a * b;
    case OP_DIVIDE:
        return a / b;
    case OP_POWER:
        return pow(a, b);
    case OP_LESS:
        return a < b;
    case OP_LESS_EQUAL:
        return a <= b;
    case OP_EQUAL:
        return a == b;
    default:
        return a != b;
    }
}

/* One operation other than a jump. Returns the new height of the stack. */
static int apply(const struct expr_op *op, const double *value, double *stack, int n)
{
    const struct expr_function *f;
    switch (op->code) {
    case OP_NUMBER:
        stack[n] = op->value;
        return n + 1;
    case OP_LOAD:
        stack[n] = value[op->arg];
        return n + 1;
    case OP_NEGATE:
        stack[n - 1] = -stack[n - 1];
        return n;
    case OP_NOT:
        stack[n - 1] = stack[n - 1] == 0;
        return n;
    case OP_TRUTH:
        stack[n - 1] = stack[n - 1] != 0;
        return n;
    case OP_CALL1:
        f = expr_function_at(op->arg);
        stack[n - 1] = f->one(stack[n - 1]);
        return n;
    case OP_CALL2:
        f = expr_function_at(op->arg);
        stack[n - 2] = f->two(stack[n - 2], stack[n - 1]);
        return n - 1;
    default:
        stack[n - 2] = binary(op->code, stack[n - 2], stack[n - 1]);
        return n - 1;
    }
}

static enum err run_statement(const struct expr *e, const struct expr_statement *s, double *value)
{
    double stack[EXPR_STACK];
    int n = 0;
    for (int i = s->first; i < s->last; i++) {
        const struct expr_op *op = &e->op[i];
        if (op->code == OP_JUMP)
            i = op->arg - 1;
        else if (op->code == OP_JUMP_ZERO)
            i = stack[--n] == 0 ? op->arg - 1 : i;
        else {
            n = apply(op, value, stack, n);
            if (!isfinite(stack[n - 1])) return not_finite(e, s, op, stack[n - 1]);
        }
    }
    value[e->name[s->name].slot] = stack[0];
    return OK;
}

void expr_constants(const struct expr *e, double *value)
{
    memcpy(value, e->constant, sizeof *value * (size_t)e->nslot);
}

enum err expr_run(const struct expr *e, unsigned groups, double *value)
{
    for (int i = 0; i < e->nstatement; i++)
        if (e->statement[i].groups & groups) TRY(run_statement(e, &e->statement[i], value));
    return OK;
}
