/* fd_steps: advances raw arrays by fd, for tests/golden/stencil.py.
 *
 *     fd_steps name=value… <in >out
 *
 * nx ny nz order steps dt, flow entropy magnetic lorentz upwind (0 or 1), and the numbers of struct
 * fd_par. in and out: the fields of fd/fields.def, each [z][y][x], of doubles; those that in does
 * not have are 0. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fd_world.h"

struct asked {
    double nx, ny, nz, order, steps, dt, flow, entropy, magnetic, lorentz, upwind;
    double nu, zeta, eta, chi, k, gamma, cp, cs0, rho0, mu0, heat, bx, by, bz, dx, dy, dz;
};

static int read_arguments(struct asked *a, int argc, char **argv)
{
    static const char *const name[] = {
        "nx",     "ny",   "nz",   "order", "steps", "dt", "flow",  "entropy", "magnetic", "lorentz",
        "upwind", "nu",   "zeta", "eta",   "chi",   "k",  "gamma", "cp",      "cs0",      "rho0",
        "mu0",    "heat", "bx",   "by",    "bz",    "dx", "dy",    "dz"};
    double *value = (double *)a;
    for (int i = 1; i < argc; i++) {
        size_t k = 0, n = sizeof name / sizeof *name;
        const char *eq = strchr(argv[i], '=');
        while (k < n && eq &&
               (strncmp(argv[i], name[k], (size_t)(eq - argv[i])) != 0 ||
                strlen(name[k]) != (size_t)(eq - argv[i])))
            k++;
        if (!eq || k == n) {
            fprintf(stderr, "fd_steps: unknown argument %s\n", argv[i]);
            return 2;
        }
        value[k] = strtod(eq + 1, NULL);
    }
    return 0;
}

static int stream(struct fd_world *w, FILE *from, FILE *to)
{
    const int *n = w->brick.own;
    double *row = malloc((size_t)n[0] * sizeof *row);
    size_t moved = 0, want = (size_t)n[0];
    if (!row) return 2;
    for (int f = 0; f < FD_FIELDS; f++)
        for (int z = 0; z < n[2]; z++)
            for (int y = 0; y < n[1]; y++) {
                double *at = w->a.now[f] ? fd_world_cell(w, f, 0, y, z) : row;
                if (from) moved = fread(at, sizeof *at, want, from);
                if (from && moved == 0) memset(at, 0, want * sizeof *at), moved = want;
                if (to && at == row) memset(row, 0, want * sizeof *row);
                if (to) moved = fwrite(at, sizeof *at, want, to);
                if (moved != want) {
                    fprintf(stderr, "fd_steps: short input or output\n");
                    return 2;
                }
            }
    free(row);
    return 0;
}

int main(int argc, char **argv)
{
    struct asked q = {.gamma = 5 / 3.0, .cp = 1, .cs0 = 1, .rho0 = 1, .mu0 = 1, .lorentz = 1};
    struct fd_world w;
    if (read_arguments(&q, argc, argv)) return 2;
    const struct fd_par p = {.order = (int)q.order,
                             .flow = q.flow != 0,
                             .entropy = q.entropy != 0,
                             .magnetic = q.magnetic != 0,
                             .lorentz = q.lorentz != 0,
                             .upwind = q.upwind != 0,
                             .nu = q.nu,
                             .zeta = q.zeta,
                             .eta = q.eta,
                             .chi = q.chi,
                             .k = q.k,
                             .gamma = q.gamma,
                             .cp = q.cp,
                             .cs0 = q.cs0,
                             .rho0 = q.rho0,
                             .mu0 = q.mu0,
                             .heat = q.heat,
                             .bext = {q.bx, q.by, q.bz},
                             .dx = {q.dx, q.dy, q.dz}};
    fd_world_init(&w, &p, (const int[3]){(int)q.nx, (int)q.ny, (int)q.nz});
    int status = stream(&w, stdin, NULL);
    for (int i = 0; i < (int)q.steps && !status; i++) fd_world_step(&w, q.dt);
    if (!status) status = stream(&w, NULL, stdout);
    fd_world_fini(&w);
    return status;
}
