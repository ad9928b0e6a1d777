/* smooth_eval: one evaluation by smooth of particles in a periodic cube, for tests/golden/sph.py.
 *
 *     smooth_eval name=value… <in >out
 *
 * n, m6 (0: M4), side, gamma, beta, alpha_u, tol (of h). in: x y z vx vy vz u h alpha ax ay az,
 * out: h omega divv alpha_loc ax ay az dudt vsig neighbours, each of n doubles. */
#include <string.h>

#include "smooth_world.h"

struct asked {
    double n, m6, side, gamma, beta, alpha_u, tol;
};

static int read_arguments(struct asked *a, int argc, char **argv)
{
    static const char *const name[] = {"n=", "m6=", "side=", "gamma=", "beta=", "alpha_u=", "tol="};
    for (int i = 1; i < argc; i++) {
        size_t k = 0, n = sizeof name / sizeof *name;
        while (k < n && strncmp(argv[i], name[k], strlen(name[k])) != 0) k++;
        if (k == n) {
            fprintf(stderr, "smooth_eval: unknown argument %s\n", argv[i]);
            return 2;
        }
        ((double *)a)[k] = strtod(argv[i] + strlen(name[k]), NULL);
    }
    return 0;
}

static int move(struct smooth *s, int n, double *const *at, FILE *from, FILE *to)
{
    const size_t want = (size_t)s->n;
    for (int k = 0; k < n; k++) {
        const size_t moved = from ? fread(at[k], sizeof(double), want, from)
                                  : fwrite(at[k], sizeof(double), want, to);
        if (moved != want) {
            fprintf(stderr, "smooth_eval: short input or output\n");
            return 2;
        }
    }
    return 0;
}

static enum err evaluate(const struct asked *q, struct smooth *s)
{
    enum err err = OK;
    struct smooth_par p = smooth_world_par(q->m6 != 0 ? SMOOTH_M6 : SMOOTH_M4, s->n);
    p.gamma = q->gamma, p.beta = q->beta, p.alpha_u = q->alpha_u, p.h_tol = q->tol;
    struct near *t = smooth_world_near(s, q->side, 0);
    TRY_OUT(smooth_world_density(&p, s, t));
    TRY_OUT(smooth_forces(&p, s, t));
out:
    near_free(&t);
    return err;
}

int main(int argc, char **argv)
{
    struct asked q = {.side = 1, .gamma = 5 / 3.0, .beta = 2, .alpha_u = 1, .tol = 1e-13};
    struct smooth s;
    if (read_arguments(&q, argc, argv)) return 2;
    smooth_world_init(&s, (int64_t)q.n);
    double *const in[] = {s.x[0], s.x[1], s.x[2],  s.v[0], s.v[1], s.v[2],
                          s.u,    s.h,    s.alpha, s.a[0], s.a[1], s.a[2]};
    double *const out[] = {s.h,    s.omega, s.divv, s.alpha_loc, s.a[0],
                           s.a[1], s.a[2],  s.du,   s.vsig,      s.near};
    int status = move(&s, sizeof in / sizeof *in, in, stdin, NULL);
    if (!status && evaluate(&q, &s) != OK) {
        fprintf(stderr, "smooth_eval: %s\n", err_message());
        status = 2;
    }
    if (!status) status = move(&s, sizeof out / sizeof *out, out, NULL, stdout);
    smooth_free(&s);
    return status;
}
