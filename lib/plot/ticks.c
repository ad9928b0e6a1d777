/* plot/ticks: the ticks of axes and their labels. */
#include "plot/ticks.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Labels of an axis have one power of ten: it stands in the name of the axis (ticks_name), unless
 * the axis has two decades or more, each of which has its own. */

static const double SHORT = 0.5; /* decades below which a log axis has labels as a linear one */

/* Writes m 10^e as a number, or, if powers, as a power of ten. */
static void decade_label(struct tick *t, int m, int e, bool powers)
{
    if (!powers)
        snprintf(t->text, sizeof t->text, "%g", m * pow(10, e));
    else if (m == 1)
        snprintf(t->text, sizeof t->text, "10^%d", e);
    else
        snprintf(t->text, sizeof t->text, "%d·10^%d", m, e);
}

/* Ticks of a log axis: each decade has a long tick with a number, and short ticks between. On axes
 * shorter than two decades 2 and 5 have numbers too, shorter than one decade all ticks. room:
 * number of labels that fit. */
static int ticks_log(const struct axis *a, int room, struct tick *t, int *power)
{
    const double lo = a->lo, hi = a->hi;
    const int every = (int)ceil((hi - lo) / room);
    const bool small = hi - lo < 2, powers = lo < (small ? -3 : -2) || hi > 4,
               factor = powers && small;
    int n = 0;
    if (factor) *power = (int)floor(hi + 1e-9);
    for (int e = (int)floor(lo); e <= (int)floor(hi + 1e-9); e++)
        for (int m = 1; m < 10 && n < TICKS_MAX; m++) {
            const double v = e + log10(m);
            if (v < lo - 1e-9 || v > hi + 1e-9 || (every > 2 && m > 1)) continue;
            const bool named = (m == 1 && e % every == 0) || (hi - lo < 2 && (m == 2 || m == 5)) ||
                               (hi - lo < 1 && room > 9);
            t[n] = (struct tick){.share = (v - lo) / (hi - lo)};
            if (named) decade_label(&t[n], m, e - *power, powers && !factor);
            n++;
        }
    return n;
}

/* Exponent of the power of ten that is factored out of the labels of a linear axis to keep them
 * short. */
static int power_of(const struct axis *a)
{
    const double max = fmax(fabs(a->lo), fabs(a->hi));
    if (!(max > 0) || (max >= 1e-3 && max < 1e5)) return 0;
    return (int)floor(log10(max) + 1e-9);
}

/* x / 10^e, also where 10^e is beyond the range of numbers. */
static double scaled(double x, int e)
{
    return e > 300    ? x / 1e300 / pow(10, e - 300)
           : e < -300 ? x * 1e300 * pow(10, -e - 300)
                      : x / pow(10, e);
}

/* Ticks of a linear axis: labels at multiples of 1, 2 or 5 times a power of ten, all with as many
 * decimals as they need to differ, and four short ticks between two labels (three for multiples of
 * 2). */
static int ticks_linear(const struct axis *a, int room, struct tick *t, int power)
{
    const double lo = scaled(a->lo, power), hi = scaled(a->hi, power), length = hi - lo,
                 part = length / (room < 9 ? 3 : 4);
    int e = (int)floor(log10(part) + 1e-9), n = 0;
    const double q = part / pow(10, e);
    int m = q >= 5 ? 5 : q >= 2 ? 2 : 1;
    if (a->whole && e < 0) e = 0, m = 1;
    const int parts = a->whole && e == 0 ? 1 : m == 2 ? 4 : 5, decimals = e < 0 ? -e : 0;
    const double label = m * pow(10, e), step = label / parts;
    for (double k = ceil(lo / step - 1e-9); k * step <= hi + 1e-9 * length && n < TICKS_MAX;
         k++, n++) {
        t[n] = (struct tick){.share = (k * step - lo) / length};
        if (fmod(k, parts) == 0)
            snprintf(t[n].text, sizeof t[n].text, "%.*f", decimals < 15 ? decimals : 15,
                     k / parts * label + 0.0);
    }
    return n;
}

/* Ticks of a short log axis: the labels of a linear axis at their logarithmic positions. */
static int ticks_short(const struct axis *a, int room, struct tick *t, int *power)
{
    const struct axis linear = {.lo = pow(10, a->lo), .hi = pow(10, a->hi)};
    const double length = linear.hi - linear.lo;
    *power = power_of(&linear);
    const int n = ticks_linear(&linear, room, t, *power);
    for (int i = 0; i < n; i++)
        t[i].share = (log10(linear.lo + t[i].share * length) - a->lo) / (a->hi - a->lo);
    return n;
}

static void put_symmetric(const struct axis *a, double x, const char *text, struct tick *t, int *n)
{
    const double at = axis_shape(a, x);
    if (at < a->lo - 1e-9 || at > a->hi + 1e-9 || *n == TICKS_MAX) return;
    t[*n] = (struct tick){.share = (at - a->lo) / (a->hi - a->lo)};
    snprintf(t[*n].text, sizeof t->text, "%s", text);
    ++*n;
}

/* Ticks of an axis that is linear around 0: the powers of ten beyond its threshold, of both signs,
 * and 0. */
static int ticks_symmetric(const struct axis *a, int room, struct tick *t)
{
    const double far = fmax(fabs(a->lo), fabs(a->hi));
    const int first = (int)ceil(log10(a->threshold) - 1e-9),
              last = (int)floor(far - 1 + log10(a->threshold) + 1e-9),
              every = 1 + 2 * (last - first + 1) / (room > 1 ? room : 1);
    int n = 0;
    put_symmetric(a, 0, "0", t, &n);
    for (int e = first; e <= last; e++)
        for (int sign = -1; sign <= 1; sign += 2) {
            char text[16];
            snprintf(text, sizeof text, "%s10^%d", sign < 0 ? "-" : "", e);
            put_symmetric(a, sign * pow(10, e), (last - e) % every == 0 ? text : "", t, &n);
        }
    return n;
}

/* Replaces each hyphen by the minus sign, which is as wide as a plus. */
static void true_minus(char text[40])
{
    char out[40];
    size_t n = 0;
    for (const char *s = text; *s && n + 4 < sizeof out; s++)
        if (*s == '-')
            memcpy(out + n, "\u2212", 3), n += 3;
        else
            out[n++] = *s;
    out[n] = 0;
    memcpy(text, out, n + 1);
}

int ticks_find(const struct axis *a, double length, struct tick t[TICKS_MAX], int *power)
{
    const int room = (int)fmax(length / 40, 2);
    int n, named = 0;
    *power = 0;
    if (!(a->hi > a->lo && isfinite(a->hi - a->lo))) return 0;
    if (a->threshold > 0 && !a->log) {
        n = ticks_symmetric(a, room, t);
    } else if (a->log) {
        n = ticks_log(a, room, t, power);
        for (int i = 0; i < n; i++) named += *t[i].text != 0;
        if (named < 2 || a->hi - a->lo < SHORT) n = ticks_short(a, room, t, power);
    } else {
        *power = power_of(a);
        n = ticks_linear(a, room, t, *power);
    }
    for (int i = 0; i < n; i++) true_minus(t[i].text);
    return n;
}

const char *ticks_name(const struct axis *a, int power, char text[TICKS_NAME])
{
    const char *unit = strrchr(a->name, '[');
    char ten[40];
    if (!power) return a->name;
    snprintf(ten, sizeof ten, "10^%d", power);
    true_minus(ten);
    if (unit)
        snprintf(text, TICKS_NAME, "%.*s[%s %s", (int)(unit - a->name), a->name, ten, unit + 1);
    else
        snprintf(text, TICKS_NAME, "%s [%s]", a->name, ten);
    return text;
}
