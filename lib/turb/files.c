/* turb/files: the state of RAMSES's driving in its files: turb_fields.dat, a text with the times of
 * both fields, also as hexadecimal digits of the numbers, and the words of the generator;
 * turb_last.0.dat and turb_next.0.dat, amplitudes of all modes of the lattice, three complex
 * numbers each. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "turb/drive.h"
#include "turb/turb.h"

enum { N = TURB_NODES, LINES = 13 };
static const size_t BYTES = sizeof(double[3][2]) * N * N * N;
static const char *const NAME[TURB_FILES] = {"turb_fields.dat", "turb_last.0.dat",
                                             "turb_next.0.dat"};

bool turb_has_state(const struct turb *o)
{
    return o && o->kiss && !o->is_static;
}

static size_t place(const int k[3])
{
    return ((size_t)k[2] * N + (size_t)k[1]) * N + (size_t)k[0];
}

/* ---- writing ---- */

static char *all_modes(const struct turb_kiss *o, double (*const amp)[3][2])
{
    double(*all)[3][2] = mem_zero(BYTES, "turbulence");
    for (int i = 0; i < o->n; i++) memcpy(all[place(o->k[i])], amp[i], sizeof amp[i]);
    return (char *)all;
}

static uint64_t bits_of(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static void put_text(FILE *t, const struct turb_kiss *o, double period)
{
    fprintf(t, "            0 \nDOUBLE_PRECISION\n%s\n%25.17E  %016" PRIX64 "\n", NAME[TURB_LAST],
            o->t_last, bits_of(o->t_last));
    fprintf(t, "%s\n%25.17E  %016" PRIX64 "\n", NAME[TURB_NEXT], o->t_next, bits_of(o->t_next));
    fprintf(t, "%12d%12d%12d\n%25.17E%25.17E%25.17E\n%25.17E%25.17E%25.17E\n", N, N, N, 0.0, 0.0,
            0.0, 1.0, 1.0, 1.0);
    fprintf(t, "%25.17E%25.17E\n%25.17E%25.17E\n", period, o->delta, o->along, o->across);
    for (int i = 0; i < 4; i++) fprintf(t, " %" PRId64, (int64_t)o->state[i]);
    fputs("\n", t);
}

void turb_store(struct turb *o, double t, struct turb_files *f)
{
    const struct turb_kiss *k = o->kiss;
    turb_force_at(o, t, 0);
    FILE *text = open_memstream(&f->at[TURB_TEXT], &f->bytes[TURB_TEXT]);
    BUG_ON(!text);
    put_text(text, k, k->delta / k->decay);
    f->at[TURB_TEXT] = mem_close_text(text, &f->at[TURB_TEXT], &f->bytes[TURB_TEXT], "turbulence");
    f->at[TURB_LAST] = all_modes(k, k->last);
    f->at[TURB_NEXT] = all_modes(k, k->next);
    f->bytes[TURB_LAST] = f->bytes[TURB_NEXT] = BYTES;
}

/* ---- reading ---- */

/* Lines that are not empty. */
static int split(char *text, char *line[LINES])
{
    int n = 0;
    char *rest;
    for (char *at = strtok_r(text, "\n", &rest); at && n < LINES; at = strtok_r(NULL, "\n", &rest))
        if (at[strspn(at, " \r")]) line[n++] = at;
    return n;
}

/* The time at the end of a line, from its hexadecimal digits. */
static bool time_of(const char *line, double *t)
{
    double near;
    uint64_t bits;
    if (sscanf(line, "%lf %" SCNx64, &near, &bits) != 2) return false;
    memcpy(t, &bits, sizeof bits);
    return *t - near < 1e-6 && near - *t < 1e-6 * (1 + near * near);
}

/* What is wrong with the text; NULL: nothing. */
static const char *parse(struct turb_kiss *o, char *text)
{
    enum { PRECISION = 1, T_LAST = 3, T_NEXT = 5, SIZE = 6, STATE = 11, NEEDED };
    char *line[LINES];
    int64_t state[4];
    int size[3];
    if (split(text, line) < NEEDED) return "it has fewer than 12 lines";
    if (!strstr(line[PRECISION], "DOUBLE")) return "its fields are not in double precision";
    if (sscanf(line[SIZE], "%d %d %d", size, size + 1, size + 2) != 3 || size[0] != N ||
        size[1] != N || size[2] != N)
        return "its fields do not have 64 x 64 x 64 nodes";
    if (!time_of(line[T_LAST], &o->t_last) || !time_of(line[T_NEXT], &o->t_next) ||
        !(o->t_next > o->t_last))
        return "its times are not valid";
    if (sscanf(line[STATE], "%" SCNd64 "%" SCNd64 "%" SCNd64 "%" SCNd64, state, state + 1,
               state + 2, state + 3) != 4)
        return "the state of its generator is not four numbers";
    for (int i = 0; i < 4; i++) o->state[i] = (uint64_t)state[i];
    return NULL;
}

static void take_modes(const struct turb_kiss *o, const char *all, double (*amp)[3][2])
{
    for (int i = 0; i < o->n; i++) memcpy(amp[i], all + sizeof *amp * place(o->k[i]), sizeof *amp);
}

enum err turb_restore(struct turb *o, const struct turb_files *f, const char *path)
{
    for (int i = TURB_LAST; i <= TURB_NEXT; i++)
        if (f->bytes[i] != BYTES)
            FAIL(ERR_FORMAT,
                 "%s/%s: has %zu bytes instead of %zu: the fields of driven turbulence have 64 x "
                 "64 x 64 nodes",
                 path, NAME[i], f->bytes[i], BYTES);
    const char *wrong = parse(o->kiss, f->at[TURB_TEXT]);
    if (wrong)
        FAIL(ERR_FORMAT, "%s/%s: %s: give a checkpoint with the files of driven turbulence", path,
             NAME[TURB_TEXT], wrong);
    take_modes(o->kiss, f->at[TURB_LAST], o->kiss->last);
    take_modes(o->kiss, f->at[TURB_NEXT], o->kiss->next);
    return OK;
}
