/* sph_setup_test: initial particles of all setups: number, mass, ids, distances and densities by
 * brute force, profiles, energies; the same on any number of ranks.
 * Catches: a lattice that a periodic box does not continue, a place outside, a share of the
 * candidates missed, ids by rank, a wrong power in a stretched lattice or in a disc. */
#include "check.h"
#include "setup_world.h"

static struct comm comm;
static struct params par;

/* A setup of the parameters `par`, which `defaults` sets; rows: of all ranks, on rank 0. */
struct made {
    struct sph s;
    struct world_row *row;
    int64_t n;
};

static void defaults(const char *setup, const char *lattice, int npx)
{
    param_init(&par);
    world_text(par.sph.setup, setup);
    world_text(par.sph.lattice, lattice);
    par.sph.npx = npx;
}

/* One rank makes the set that several ranks made. */
static void check_ranks(const struct made *m)
{
    static const struct comm one = {.size = 1, .node_size = 1, .threads = 1};
    struct sph s;
    int64_t n;
    world_begin(&s, &par, &one);
    CHECK(sph_setup(&s) == OK, "%s", err_message());
    struct world_row *row = world_all(&s, &n);
    bool equal = n == m->n && s.eq.mass == m->s.eq.mass;
    for (int64_t i = 0; i < n && equal; i++) equal = memcmp(&row[i], &m->row[i], sizeof *row) == 0;
    CHECK(equal, "setup '%s': %lld and %lld particles differ", par.sph.setup, (long long)n,
          (long long)m->n);
    mem_free(row);
    world_end(&s);
}

static struct made make(void)
{
    struct made m;
    world_begin(&m.s, &par, &comm);
    CHECK(sph_setup(&m.s) == OK, "%s", err_message());
    m.row = world_all(&m.s, &m.n);
    if (comm.rank > 0) return m;
    CHECK(m.n == m.s.total, "%lld of %lld", (long long)m.n, (long long)m.s.total);
    int bad = 0;
    for (int64_t i = 0; i < m.n; i++) {
        const struct world_row *r = &m.row[i];
        bad += r->id != i + 1 || r->type != SMOOTH_GAS || r->zero != 0 || !(r->h > 0) ||
               r->alpha != par.sph.alpha_min;
        for (int d = 0; d < 3 && m.s.periodic; d++)
            bad += r->x[d] < m.s.lo[d] || r->x[d] >= m.s.lo[d] + m.s.side[d];
    }
    CHECK(bad == 0, "setup '%s': %d of %lld", par.sph.setup, bad, (long long)m.n);
    check_ranks(&m);
    return m;
}

static void end(struct made *m)
{
    mem_free(m->row);
    world_end(&m->s);
}

static double distance2(const struct sph *s, const struct world_row *a, const struct world_row *b)
{
    double sum = 0;
    for (int d = 0; d < 3; d++) {
        double x = a->x[d] - b->x[d];
        if (s->periodic) x -= s->side[d] * rint(x / s->side[d]);
        sum += x * x;
    }
    return sum;
}

static double kernel(double r, double h)
{
    const double s = fmax(2 - r / h, 0), t = fmax(1 - r / h, 0);
    return (s * s * s / 4 - t * t * t) / (M_PI * h * h * h);
}

/* Σ m W(r, h) of each row, with its own h; *closest: the least distance of two over the cube root
 * of m/ρ of the denser one. */
static double *densities(const struct made *m, double *closest)
{
    double *rho = mem_zero(sizeof *rho * (size_t)m->n, "densities");
    *closest = INFINITY;
    for (int64_t i = 0; i < m->n; i++) {
        const struct world_row *a = &m->row[i];
        const double reach2 = 4 * a->h * a->h;
        for (int64_t j = 0; j < m->n; j++) {
            const double r2 = distance2(&m->s, a, &m->row[j]);
            if (r2 > reach2) continue;
            rho[i] += m->s.eq.mass * kernel(sqrt(r2), a->h);
            if (i != j) *closest = fmin(*closest, sqrt(r2) / fmin(a->h, m->row[j].h));
        }
    }
    *closest *= m->s.eq.eta;
    return rho;
}

/* Largest relative difference of Σ m W to m (η/h)³, over rows with |x − middle| < within. */
static double density_error(const struct made *m, double middle, double within)
{
    double closest, worst = 0;
    double *rho = densities(m, &closest);
    CHECK(closest > 0.3, "setup '%s', lattice '%s': %g", par.sph.setup, par.sph.lattice, closest);
    for (int64_t i = 0; i < m->n; i++) {
        const double expected = m->s.eq.mass * pow(m->s.eq.eta / m->row[i].h, 3);
        if (fabs(m->row[i].x[0] - middle) > within) continue;
        worst = fmax(worst, fabs(rho[i] / expected - 1));
    }
    mem_free(rho);
    return worst;
}

static void test_lattice(const char *lattice, int64_t expected)
{
    defaults("lattice", lattice, 8);
    par.sph.xmin[1] = -1, par.sph.xmax[1] = 0.2;
    par.sph.rho0 = 3, par.sph.p0 = 0.7, par.sph.v0[2] = 0.25;
    struct made m = make();
    const double volume = 1.2;
    CHECK(fabs(m.s.eq.mass * (double)m.s.total - 3 * volume) < 1e-14 * 3 * volume);
    CHECK(m.s.total == expected, "%lld", (long long)m.s.total);
    if (comm.rank == 0) {
        const struct world_row *r = &m.row[m.n / 2];
        CHECK(fabs(r->u * (par.sph.gamma - 1) * 3 - 0.7) < 1e-15 && r->v[2] == 0.25);
        double worst = strcmp(lattice, "random") ? density_error(&m, 0, INFINITY) : 0;
        CHECK(worst < 0.01, "lattice '%s': density off by %g", lattice, worst);
    }
    end(&m);
}

/* Random places fill the box evenly, and differ by seed. */
static void test_random(void)
{
    defaults("lattice", "random", 16);
    struct made m = make();
    par.sph.seed = 2;
    struct made other = make();
    if (comm.rank == 0) {
        for (int d = 0; d < 3; d++) {
            double sum = 0, square = 0;
            for (int64_t i = 0; i < m.n; i++) {
                sum += m.row[i].x[d], square += pow(m.row[i].x[d], 2);
            }
            sum /= (double)m.n, square /= (double)m.n;
            CHECK(fabs(sum - 0.5) < 4 * sqrt(1 / 12.0 / (double)m.n), "mean %g", sum);
            CHECK(fabs(square - 1 / 3.0) < 4 * sqrt(4 / 45.0 / (double)m.n), "square %g", square);
        }
        CHECK(m.row[0].x[0] != other.row[0].x[0]);
    }
    end(&other);
    end(&m);
}

static void test_sod(const char *lattice)
{
    defaults("sod", lattice, 32);
    par.sph.gamma = 1.4;
    struct made m = make();
    int64_t left = 0;
    CHECK(m.s.lo[0] == -1 && m.s.side[0] == 2 && m.s.lo[1] == -m.s.side[1] / 2);
    if (comm.rank == 0) {
        for (int64_t i = 0; i < m.n; i++) {
            const struct world_row *r = &m.row[i];
            const double u = r->x[0] < 0 ? 1 / 0.4 : 0.1 / (0.4 * 0.125);
            left += r->x[0] < 0;
            if (fabs(r->u - u) > 1e-14) CHECK(false, "u %g at x=%g", r->u, r->x[0]);
        }
        CHECK(left * 9 == m.n * 8, "%lld of %lld", (long long)left, (long long)m.n);
        const double rho = m.s.eq.mass * (double)left / (m.s.side[1] * m.s.side[2]);
        CHECK(fabs(rho - 1) < 1e-14, "%g", rho);
        for (int half = -1; half < 2; half += 2) { /* far from the jumps at −1, 0 and 1 */
            double worst = density_error(&m, 0.5 * half, 0.2);
            CHECK(worst < 0.01, "density of x=%g off by %g", 0.5 * half, worst);
        }
    }
    end(&m);
}

/* The size of Price et al. (2018): 128 × 24 × 24 and 64 × 12 × 12. */
static void test_sod_size(void)
{
    defaults("sod", "hcp", 128);
    world_text(par.sph.kernel, "M6");
    struct sph s;
    world_begin(&s, &par, &comm);
    CHECK(sph_setup(&s) == OK, "%s", err_message());
    CHECK(s.total == 128 * 24 * 24 + 64 * 12 * 12, "%lld", (long long)s.total);
    CHECK(fabs(s.side[1] - 24 * sqrt(3) / 256) < 1e-15, "%g", s.side[1]);
    world_end(&s);
    par.sph.npx = 31;
    world_begin(&s, &par, &comm);
    CHECK_FAILS(sph_setup(&s), "npx=31 in &SPH_PARAMS must be even");
    par.sph.npx = 4;
    CHECK_FAILS(sph_setup(&s), "more than half of the periodic box along x");
    world_end(&s);
}

static void test_sedov(void)
{
    defaults("sedov", "hcp", 16);
    struct made m = make();
    if (comm.rank == 0) {
        double sum = 0, out = 0, beyond = 2 * 2 * 1.2 / 16;
        for (int64_t i = 0; i < m.n; i++) {
            const double *x = m.row[i].x;
            sum += m.s.eq.mass * m.row[i].u;
            if (x[0] * x[0] + x[1] * x[1] + x[2] * x[2] > beyond * beyond) out += m.row[i].u;
        }
        CHECK(fabs(sum - 1) < 1e-14, "%.17g", sum);
        CHECK(out == 0);
    }
    end(&m);
}

static void test_kh(void)
{
    defaults("kh", "hcp", 16);
    struct made m = make();
    if (comm.rank == 0) {
        double worst = 0, closest;
        double *rho = densities(&m, &closest);
        CHECK(closest > 0.3, "%g", closest);
        for (int64_t i = 0; i < m.n; i++) {
            const struct world_row *r = &m.row[i];
            const double y = r->x[1],
                         ramp = 1 / ((1 + exp(-40 * (y - 0.25))) * (1 + exp(40 * (y - 0.75))));
            CHECK(fabs(r->v[0] + 0.5 - ramp) < 1e-14 &&
                  fabs(r->v[1] - 0.1 * sin(2 * M_PI * r->x[0])) < 1e-15);
            const double p = r->u * (par.sph.gamma - 1) * (1 + ramp);
            CHECK(fabs(p - 2.5) < 1e-13, "pressure %g at %g", p, y);
            if (fabs(fabs(y - 0.5) - 0.25) > 0.12)
                worst = fmax(worst, fabs(rho[i] / (1 + ramp) - 1));
        }
        CHECK(worst < 0.03, "density off by %g", worst);
        mem_free(rho);
    }
    end(&m);
}

static void test_evrard(const char *lattice)
{
    defaults("evrard", lattice, 24);
    world_text(par.sph.boundary, "free");
    par.sph.g = 2;
    struct made m = make();
    CHECK(fabs(m.s.eq.mass * (double)m.s.total - 1) < 1e-14);
    if (comm.rank == 0) {
        double centre[3] = {0};
        for (int64_t i = 0; i < m.n; i++)
            for (int d = 0; d < 3; d++) centre[d] += m.s.eq.mass * m.row[i].x[d];
        for (int d = 0; d < 3; d++) CHECK(fabs(centre[d]) < 1e-13, "%g", centre[d]);
        for (int k = 2; k <= 8; k++) {
            int64_t within = 0;
            for (int64_t i = 0; i < m.n; i++) {
                const double *x = m.row[i].x;
                within += x[0] * x[0] + x[1] * x[1] + x[2] * x[2] < k * k / 64.0;
            }
            const double mass = m.s.eq.mass * (double)within, expected = k * k / 64.0;
            CHECK(fabs(mass - expected) < 0.02, "%g below %g", mass, k / 8.0);
        }
        CHECK(fabs(m.row[0].u - 0.1) < 1e-15, "%g", m.row[0].u);
        double worst, closest;
        double *rho = densities(&m, &closest);
        CHECK(closest > 0.3, "%g", closest);
        worst = 0;
        for (int64_t i = 0; i < m.n; i++) {
            const double *x = m.row[i].x;
            const double r = sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
            if (r > 0.3 && r < 0.7) worst = fmax(worst, fabs(rho[i] * 2 * M_PI * r - 1));
        }
        CHECK(worst < 0.15, "density off by %g", worst);
        mem_free(rho);
    }
    end(&m);
}

/* ---- disc ---- */

static void disc_parameters(double p)
{
    defaults("disc", "hcp", 1);
    world_text(par.sph.boundary, "free");
    world_text(par.sph.external, "point");
    world_text(par.sph.eos, "locally_isothermal");
    par.sph.np = 20000;
    par.sph.gm = 4, par.sph.r0 = 2, par.sph.q_index = 0.3, par.sph.disc_hr = 0.06;
    par.sph.cs0 = 0.06 * sqrt(4 / 2.0);
    par.sph.disc_p = p, par.sph.disc_rout = 8;
}

/* Mass within radii, scale height, and the balance of forces in the plane. */
static void check_disc(const struct made *m, const double centre[3], const double drift[3])
{
    const double p = par.sph.disc_p, e = 2 - p;
    double heights = 0, phi = 0;
    for (int k = 2; k <= 8; k++) {
        int64_t within = 0;
        for (int64_t i = 0; i < m->n; i++)
            within += hypot(m->row[i].x[0] - centre[0], m->row[i].x[1] - centre[1]) < k;
        const double f = e == 0 ? log(k) / log(8) : (pow(k, e) - 1) / (pow(8, e) - 1),
                     got = (double)within / (double)m->n;
        CHECK(fabs(got - f) < 4 * sqrt(f * (1 - f) / (double)m->n) + 1e-12, "p=%g: %g, not %g", p,
              got, f);
    }
    for (int64_t i = 0; i < m->n; i++) {
        const struct world_row *r = &m->row[i];
        const double x = r->x[0] - centre[0], y = r->x[1] - centre[1], z = r->x[2] - centre[2],
                     radius = hypot(x, y), c = par.sph.cs0 * pow(radius / 2, -0.3),
                     height = c * pow(radius, 1.5) / 2, vx = r->v[0] - drift[0],
                     vy = r->v[1] - drift[1];
        heights += pow(z / height, 2), phi += x / radius;
        CHECK(fabs(x * vx + y * vy) < 1e-12 && r->v[2] == drift[2]);
        const double needed = 4 * radius * radius / pow(radius * radius + z * z, 1.5) -
                              c * c * (p + 1.5 + 0.3);
        CHECK(fabs(vx * vx + vy * vy - needed) < 1e-12);
    }
    heights /= (double)m->n, phi /= (double)m->n;
    CHECK(fabs(heights - 1) < 4 * sqrt(2 / (double)m->n), "z²/H²: %g", heights);
    CHECK(fabs(phi) < 4 * sqrt(0.5 / (double)m->n), "cos φ: %g", phi);
}

static void test_disc(double p, bool sink)
{
    double centre[3] = {0}, drift[3] = {0};
    disc_parameters(p);
    if (sink) {
        world_text(par.sph.external, "none");
        par.sph.g = 2, par.sph.nsink = 1, par.sph.sink_m[0] = 2;
        for (int d = 0; d < 3; d++) {
            centre[d] = par.sph.sink_x[d] = 0.5 + d;
            drift[d] = par.sph.sink_v[d] = 0.25 * d;
        }
    }
    struct made m = make();
    CHECK(m.s.total == 20000 && fabs(m.s.eq.mass * 20000 - 0.01) < 1e-16);
    CHECK(m.s.nsink == sink && (!sink || (m.s.sink[0].m == 2 && m.s.sink[0].v[2] == 0.5)));
    if (comm.rank == 0) check_disc(&m, centre, drift);
    end(&m);
}

static void test_refused(void)
{
    struct sph s;
    disc_parameters(1);
    par.sph.cs0 = 1;
    world_begin(&s, &par, &comm);
    CHECK_FAILS(sph_setup(&s), "set cs0=0.0848528");
    disc_parameters(1);
    world_text(par.sph.external, "none");
    CHECK_FAILS(sph_setup(&s), "needs a mass in its centre");
    disc_parameters(1);
    par.sph.disc_hr = 0.7, par.sph.cs0 = 0.7 * sqrt(2);
    CHECK_FAILS(sph_setup(&s), "too thick to rotate");
    defaults("advect", "hcp", 8);
    CHECK_FAILS(sph_setup(&s), "set its velocity v0");
    par.sph.v0[0] = 1;
    world_text(par.sph.lattice, "random");
    CHECK_FAILS(sph_setup(&s), "moves a lattice");
    defaults("lattice", "hcp", 2);
    world_end(&s);
    world_begin(&s, &par, &comm);
    CHECK_FAILS(sph_setup(&s), "more than half of the periodic box along x");
    world_end(&s);
}

int main(int argc, char **argv)
{
    comm_init(&argc, &argv, &comm);
    test_lattice("hcp", 8 * 12 * 10);
    test_lattice("cubic", 8 * 10 * 8);
    test_lattice("random", 8 * 10 * 8);
    test_random();
    test_sod("hcp");
    test_sod_size();
    test_sedov();
    test_kh();
    test_evrard("hcp");
    test_evrard("cubic");
    test_disc(1, false);
    test_disc(2, true);
    test_refused();
    comm_fini();
    printf("%d passed, %d failed\n", passed, failed);
    return failed != 0;
}
