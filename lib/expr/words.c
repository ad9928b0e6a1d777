/* expr/words: the functions of formulas; signs, words and names of texts, and messages. */
#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"
#include "expr/priv.h"

static double sign_of(double x)
{
    return x > 0 ? 1 : x < 0 ? -1 : 0;
}

#define ONE(f)                                                                                     \
    {                                                                                              \
#f, 1, f, NULL, false                                                                      \
    }
#define TWO(f)                                                                                     \
    {                                                                                              \
#f, 2, NULL, f, false                                                                      \
    }
static const struct expr_function FUNCTIONS[] = {ONE(sqrt),
                                                 ONE(exp),
                                                 ONE(log),
                                                 ONE(log10),
                                                 ONE(sin),
                                                 ONE(cos),
                                                 ONE(tan),
                                                 ONE(asin),
                                                 ONE(acos),
                                                 ONE(atan),
                                                 ONE(sinh),
                                                 ONE(cosh),
                                                 ONE(tanh),
                                                 ONE(erf),
                                                 ONE(erfc),
                                                 ONE(floor),
                                                 ONE(ceil),
                                                 TWO(pow),
                                                 TWO(atan2),
                                                 TWO(hypot),
                                                 {"abs", 1, fabs, NULL, false},
                                                 {"sign", 1, sign_of, NULL, false},
                                                 {"mod", 2, NULL, fmod, false},
                                                 {"min", 2, NULL, fmin, true},
                                                 {"max", 2, NULL, fmax, true}};

enum { FUNCTIONS_N = sizeof FUNCTIONS / sizeof *FUNCTIONS };

const struct expr_function *expr_function_at(int i)
{
    return &FUNCTIONS[i];
}

/* ---- words and signs ---- */

enum err parse_wrong(const struct parser *s, const char *at, const char *fmt, ...)
{
    char what[256];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(what, sizeof what, fmt, ap);
    va_end(ap);
    FAIL(ERR_PARAM, "%s(%d)='%.200s': column %d: %s", s->e->origin, s->number, s->text,
         (int)(at - s->text) + 1, what);
}

void parse_blanks(struct parser *s)
{
    while (*s->p == ' ' || *s->p == '\t') s->p++;
}

/* Takes a sign if it is next. */
bool parse_take(struct parser *s, const char *sign)
{
    const size_t n = strlen(sign);
    parse_blanks(s);
    if (strncmp(s->p, sign, n) != 0) return false;
    s->p += n;
    return true;
}

bool parse_letter(char c)
{
    return isalpha((unsigned char)c) || c == '_';
}

size_t parse_length(const char *p)
{
    size_t n = 0;
    if (parse_letter(*p))
        while (parse_letter(p[n]) || isdigit((unsigned char)p[n])) n++;
    return n;
}

bool parse_take_word(struct parser *s, const char *word)
{
    parse_blanks(s);
    const size_t n = parse_length(s->p);
    if (n != strlen(word) || strncasecmp(s->p, word, n) != 0) return false;
    s->p += n;
    return true;
}

/* Reads a name in lower case. */
enum err parse_name(struct parser *s, char name[EXPR_NAME])
{
    parse_blanks(s);
    const size_t n = parse_length(s->p);
    if (n == 0) WRONG(s, s->p, "a name is expected%s", *s->p ? "" : ", but the text ends");
    if (n >= EXPR_NAME) WRONG(s, s->p, "a name has at most %d letters", EXPR_NAME - 1);
    for (size_t i = 0; i < n; i++) name[i] = (char)tolower((unsigned char)s->p[i]);
    name[n] = 0;
    s->p += n;
    return OK;
}

enum err parse_close(struct parser *s, const char *open)
{
    if (parse_take(s, ")")) return OK;
    if (!*s->p || *s->p == ';')
        WRONG(s, s->p, "')' is missing: '(' in column %d is not closed", (int)(open - s->text) + 1);
    WRONG(s, s->p, "an operator or ')' is expected before '%.12s'", s->p);
}

/* ---- names ---- */

int expr_find(const struct expr *e, const char *name)
{
    for (int i = e->nname - 1; i >= 0; i--)
        if (strcmp(e->name[i].name, name) == 0) return i;
    return -1;
}

int expr_find_function(const char *name)
{
    for (int i = 0; i < FUNCTIONS_N; i++)
        if (strcmp(FUNCTIONS[i].name, name) == 0) return i;
    return -1;
}

enum err parse_unknown(const struct parser *s, const char *at, const char *name, bool call)
{
    const char *best = NULL;
    int least = near_max(name) + 1;
    for (int i = 0; i < s->e->nname + FUNCTIONS_N; i++) {
        const char *other = i < s->e->nname ? s->e->name[i].name : FUNCTIONS[i - s->e->nname].name;
        const int d = near_distance(name, other);
        if (d < least && call == (i >= s->e->nname)) least = d, best = other;
    }
    WRONG(s, at, "%s '%s' is unknown%s%s%s", call ? "the function" : "the name", name,
          best ? ": did you mean '" : "", best ? best : "", best ? "'?" : "");
}
