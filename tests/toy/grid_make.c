/* Writes a checkpoint of a uniform mesh from arrays, for tests of the programs:
 *
 *     grid_make DIR NUMBER NX NY NZ LX LY LZ ORDER RAW [NAME…] [KEY=VALUE…]
 *
 * RAW: a file with the fields of these names, [nz][ny][nx] doubles each. Keys of the equations that
 * are not given get usual values. The key t is the time. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "comm/comm.h"
#include "grid/equations.h"
#include "grid/grid.h"
#include "io/dir.h"
#include "io/file.h"

static const struct comm alone = {.size = 1};

static void set_brick(struct brick *b, const int64_t n[3])
{
    *b = (struct brick){.comm = &alone, .p = {1, 1, 1}};
    for (int d = 0; d < 3; d++) b->n[d] = n[d], b->own[d] = (int)n[d];
    b->stride[0] = 1, b->stride[1] = n[0], b->stride[2] = n[0] * n[1];
    b->size = (size_t)(n[0] * n[1] * n[2]);
}

/* A name of a field, or a number with its key. */
static void take(struct grid_head *h, const char *word)
{
    const char *is = strchr(word, '=');
    char key[GRID_NAME] = "";
    if (!is) {
        snprintf(h->field[h->nfield++], GRID_NAME, "%s", word);
        return;
    }
    snprintf(key, sizeof key, "%.*s", (int)(is - word), word);
    if (strcmp(key, "t") == 0)
        h->t = strtod(is + 1, NULL);
    else
        grid_set(h, key, strtod(is + 1, NULL));
}

int main(int argc, char **argv)
{
    struct grid_head h = {.it = 3,
                          .dt = 0.5,
                          .namelist = "&RUN_PARAMS\nsolver='stencil'\n/\n",
                          .provenance = "ptah grid_make\n",
                          .overwrite = true};
    const struct fd_par usual = {.flow = true,
                                 .lorentz = true,
                                 .gamma = 5. / 3,
                                 .cp = 1,
                                 .cs0 = 1,
                                 .rho0 = 1,
                                 .mu0 = 1,
                                 .nu = 0.01,
                                 .eta = 0.01};
    struct brick b;
    double *field[GRID_FIELDS];
    char *raw;
    size_t bytes;
    if (argc < 12) return 2;
    for (int d = 0; d < 3; d++) {
        h.n[d] = strtol(argv[3 + d], NULL, 10);
        h.length[d] = strtod(argv[6 + d], NULL);
    }
    h.order = (int)strtol(argv[9], NULL, 10);
    grid_set_equations(&h, &usual);
    for (int i = 11; i < argc; i++) take(&h, argv[i]);
    if (grid_field(&h, "ax") >= 0) grid_set(&h, "magnetic", 1);
    if (grid_field(&h, "s") >= 0) grid_set(&h, "entropy", 1);
    set_brick(&b, h.n);
    enum err err = file_load(argv[10], (size_t)1 << 32, &raw, &bytes);
    if (err == OK && bytes != sizeof(double) * b.size * (size_t)h.nfield)
        err = err_set(ERR_FILE, "%s: has another number of values", argv[10]);
    for (int i = 0; i < h.nfield; i++) field[i] = (double *)(void *)raw + b.size * (size_t)i;
    struct out_pending out = {.lock = -1};
    if (err == OK) err = dir_make(argv[1]);
    if (err == OK) err = grid_write(argv[1], (int)strtol(argv[2], NULL, 10), &h, &b, field, &out);
    if (err == OK) err = out_publish(&out, &alone);
    if (err != OK) fprintf(stderr, "grid_make: %s\n", err_message());
    return err == OK ? 0 : 2;
}
