/* expr_test: formulas against the same arithmetic in C, bit for bit; branches that are not taken;
 * and texts that must be refused, each with the column and the reason. Catches: a wrong
 * precedence, powers from the left, both branches of if computed, a helper that is not evaluated
 * where a later statement needs it. */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "check.h"
#include "expr/expr.h"

enum { GROUP_CELL = 1, GROUP_FACE = 2 };

static struct expr *make(int slot[4])
{
    struct expr *e = mem_zero(sizeof *e, "test");
    e->origin = "init_expr";
    expr_declare(e, "pi", EXPR_CONSTANT, -1, M_PI, ~0U);
    slot[0] = expr_declare(e, "x", EXPR_INPUT, -1, 0, ~0U);
    slot[1] = expr_declare(e, "y", EXPR_INPUT, -1, 0, ~0U);
    slot[2] = expr_declare(e, "rho", EXPR_FIELD, -1, 0, GROUP_CELL);
    expr_declare(e, "density", EXPR_FIELD, slot[2], 0, GROUP_CELL);
    slot[3] = expr_declare(e, "az", EXPR_RESULT, -1, 0, GROUP_FACE);
    return e;
}

/* The value that a text gives rho at (x, y), where rho was 5; NAN: refused. */
static double value_of(const char *text, double x, double y)
{
    int slot[4];
    double value[EXPR_NAMES], result = NAN;
    struct expr *e = make(slot);
    if (expr_add(e, text, 1) == OK) {
        expr_finish(e);
        expr_constants(e, value);
        value[slot[0]] = x;
        value[slot[1]] = y;
        value[slot[2]] = 5;
        if (expr_run(e, GROUP_CELL, value) == OK) result = value[slot[2]];
    }
    mem_free(e);
    return result;
}

static void test_arithmetic(void)
{
    const double x = 0.3, y = -1.7;
    const struct {
        const char *text;
        double value;
    } all[] = {{"rho = 1 + 2*3 - 4/8", 6.5},
               {"rho = 2^3^2", 512},
               {"rho = -2^2", -4},
               {"rho = 2**-1", 0.5},
               {"rho = (1 + 2)*3", 9},
               {"rho = 8/4/2 - 3 - 2", -4},
               {"rho = 1d3 + 1.5E-1", 1000.15},
               {"rho = 1 + 0.1*sin(2*pi*x)", 1 + 0.1 * sin(2 * M_PI * x)},
               {"rho = atan2(y, x) + hypot(x, y)", atan2(y, x) + hypot(x, y)},
               {"rho = min(3, 1, 2) + max(3, 7) + abs(y)", 1 + 7.0 + 1.7},
               {"rho = erf(x)*tanh(y)/exp(x)", erf(x) * tanh(y) / exp(x)},
               {"rho = x < 0.5 and y < 0", 1},
               {"rho = x > 0.5 or not y /= -1.7", 1},
               {"rho = 3*(x >= 0.3) + (x <= 0.2) + (x == 0.3)", 4},
               {"rho = floor(y) + ceil(x) + sign(y) + mod(7, 4)", -2 + 1.0 - 1 + 3},
               {"r = sqrt(x^2 + y^2); Rho = r", sqrt(pow(x, 2) + pow(y, 2))},
               {"rho = rho + 1; density = 2*rho", 12},
               {"h = 1; rho = h; h = 2; rho = rho + h", 3}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        const double got = value_of(all[i].text, x, y);
        CHECK(got == all[i].value, "%s = %.17g", all[i].text, got);
    }
}

/* Branches that are not taken, and helpers that no field needs, are not computed. */
static void test_branches(void)
{
    CHECK(value_of("rho = if(x > 0, 1/x, 7)", 0, 0) == 7);
    CHECK(value_of("rho = if(x > 0, 1/x, 7)", 0.5, 0) == 2);
    CHECK(value_of("rho = x > 0 and 1/x > 1", 0, 0) == 0);
    CHECK(value_of("rho = x == 0 or 1/x > 1", 0, 0) == 1);
    CHECK(value_of("s = 1/x; az = s; rho = 3", 0, 0) == 3);
    CHECK(value_of("s = 1/x; rho = 3 + 0*s; az = s", 0.25, 0) == 3);
    CHECK(isnan(value_of("s = 1/x; rho = 0*s", 0, 0)));
}

static void refuses(const char *text, const char *with)
{
    const bool refused = isnan(value_of(text, 0, 0));
    CHECK(refused && strstr(err_message(), with) && strstr(err_message(), text), "%s: %s", text,
          refused ? err_message() : "is accepted");
}

static void test_refusals(void)
{
    refuses("rho = (1 + 2", "column 13: ')' is missing: '(' in column 7");
    refuses("rho = 1 + 2)", "column 12: ')' has no '('");
    refuses("rho = sqtr(x)", "did you mean 'sqrt'");
    refuses("rho = rhoo", "did you mean 'rho'");
    refuses("rho = zzzzzz", "column 7: the name 'zzzzzz' is unknown");
    refuses("x = 1", "'x' has its value");
    refuses("sin = 1", "is a word of expressions");
    refuses("rho", "'=' is expected");
    refuses("rho = ", "the text ends");
    refuses("rho = 1 2", "column 9: an operator");
    refuses("rho = sin(x, 1)", "takes 1 value");
    refuses("rho = atan2(x)", "takes 2 values");
    refuses("rho = if(x, 1)", "if has the form");
    refuses("rho = 1e999", "is no number");
    refuses("rho = 1/x", "division by zero");
    refuses("rho = log(-1)", "not a number in column 7");
    refuses("rho = exp(1e3)", "infinite in column 7");
    refuses("rho = 1; az = rho", "which has no value on the faces");
    refuses("h = 2*rho; az = h", "which has no value on the faces");
    refuses("rho = az", "can be set, but not be read");
    refuses("rho = $", "not '$'");
}

/* Deep and long texts are refused, neither by a crash. */
static void test_bounds(void)
{
    static char text[100000];
    memset(text, '(', sizeof text - 1);
    memcpy(text, "rho =", 5);
    CHECK(isnan(value_of(text, 0, 0)) && strstr(err_message(), "nested too deeply"));
    for (size_t i = 5; i < sizeof text - 1; i++) text[i] = i % 2 ? '1' : '+';
    CHECK(isnan(value_of(text, 0, 0)) && strstr(err_message(), "operations"));
    for (size_t i = 5; i < sizeof text - 1; i++) text[i] = '-';
    text[sizeof text - 2] = '1';
    CHECK(fabs(value_of(text, 0, 0)) == 1);
    size_t end = (size_t)snprintf(text, sizeof text, "rho = 0");
    for (int i = 0; i < 2 * EXPR_STACK; i++)
        end += (size_t)snprintf(text + end, sizeof text - end, " + if(x < 0, 2, 1)");
    CHECK(value_of(text, 0, 0) == 2 * EXPR_STACK); /* an `if` leaves one value, not two */
    for (size_t i = 0; i < sizeof text - 1; i++) text[i] = "a=1;"[i % 4];
    CHECK(isnan(value_of(text, 0, 0)) && strstr(err_message(), "statements"));
}

int main(void)
{
    test_arithmetic();
    test_branches();
    test_refusals();
    test_bounds();
    printf("%d passed, %d failed\n", passed, failed);
    return failed != 0;
}
