#include "sink/ramses.h"

#include <math.h>
#include <string.h>

#include "base/cgs.h"

static const double MAX = 0.9; /* max fraction of the gas of a cell that all sinks take in a step */

/* ---- rates ---- */

/* α at x = 0.01 … 2, equidistant in log x. */
static const double ALPHA[] = {
    820.254, 701.882, 600.752, 514.341, 440.497, 377.381, 323.427, 277.295, 237.845,
    204.1,   175.23,  150.524, 129.377, 111.27,  95.7613, 82.4745, 71.0869, 61.3237,
    52.9498, 45.7644, 39.5963, 34.2989, 29.7471, 25.8338, 22.4676, 19.5705, 17.0755,
    14.9254, 13.0714, 11.4717, 10.0903, 8.89675, 7.86467, 6.97159, 6.19825, 5.52812,
    4.94699, 4.44279, 4.00497, 3.6246,  3.29395, 3.00637, 2.75612, 2.53827, 2.34854,
    2.18322, 2.03912, 1.91344, 1.80378, 1.70804, 1.62439};
enum { ALPHAS = sizeof ALPHA / sizeof *ALPHA };

double sink_bondi_alpha(double x)
{
    static const double LOW = 0.01, HIGH = 2;
    if (x <= LOW) return exp(1.5) / 4 / sqrt(2 * x * x * x);
    if (x >= HIGH) return exp(1 / x);
    double u = (ALPHAS - 1) * log(x / LOW) / log(HIGH / LOW);
    int i = (int)fmin(floor(u), ALPHAS - 2);
    return ALPHA[i] * pow(ALPHA[i + 1] / ALPHA[i], u - i);
}

static double square(const double v[3])
{
    return v[0] * v[0] + v[1] * v[1] + v[2] * v[2];
}

/* Bondi accretion rate of a mass in gas of density rho that moves with velocity v at the radius of
 * the cloud. */
static double bondi(const struct sink_law *law, double mass, double rho, double v)
{
    static const double TINY = 2.2250738585072014e-308;
    double r = law->G * mass / (v * v);
    double inf = rho / sink_bondi_alpha(0.5 * law->cloud.radius / (r + TINY));
    return 4 * (0.5 * RAMSES_TWOPI) * inf * (r * r) * v;
}

/* Whether a blast reaches T2_min: the gas is hot enough, or the stored mass large enough. */
static bool blasts(const struct sink_law *law, const struct sink *s, double mass)
{
    if (law->T2_min <= 0) return true;
    double T2 = s->thermal * law->temperature;
    double min = mass * (law->T2_min - T2) / (law->T2_agn - law->T2_min);
    return T2 >= law->T2_min || s->accreted >= min;
}

void sink_rates(const struct sink_law *law, int levelmin, int levelmax, struct sink *s)
{
    struct sink_gas g = sink_gas_sum(s, levelmin, levelmax);
    double vrel[3];
    s->rate = s->rate_hole = s->bondi = s->eddington = 0;
    if (!(g.volume > 0) || !(g.mass > 0)) {
        s->volume = 0;
        return;
    }
    s->rho = g.mass / g.volume;
    s->volume = g.volume;
    s->thermal = g.thermal / g.mass;
    for (int d = 0; d < 3; d++) s->vgas[d] = g.momentum[d] / g.mass;
    for (int d = 0; d < 3; d++) vrel[d] = s->vgas[d] - s->v[d];
    double boost = law->boost < 0 ? fmax(pow(s->rho / law->boost_density, 2), 1) : law->boost;
    s->c2 = fmax(gas_pressure(s->thermal, law->gamma), law->smallc * law->smallc) *
            pow(boost, -2. / 3);
    double v = sqrt(law->vrel ? s->c2 + square(vrel) : s->c2);
    s->bondi = bondi(law, s->m, s->rho, v);
    s->eddington = law->eddington * s->m;
    if (law->accretion == ACCRETE_BONDI) s->rate = s->bondi;
    if (law->limited) s->rate = fmin(s->bondi, law->cap * s->eddington);
    if (law->holes) {
        double rate = bondi(law, s->hole, s->rho, v), max = law->eddington * s->hole;
        if (law->accretion == ACCRETE_BONDI) s->rate_hole = rate;
        if (law->limited) s->rate_hole = fmin(s->bondi, max);
        s->rate = fmax(0, s->bondi - s->rate_hole);
        s->eddington = max;
    }
    if (law->agn && s->rate > 0) s->blast = blasts(law, s, g.mass);
    if (law->holes && s->m >= law->cluster_max) s->rate = 0;
}

/* ---- requests of a sink ---- */

/* Turns the whole stored mass into feedback in the cells of the level. */
static void feed_back(const struct sink_law *law, const struct sink *s, const struct sink_gas *g,
                      struct sink_request *e)
{
    double heat = law->heat, kick = law->kick;
    double ratio = (law->holes ? s->rate_hole : s->rate) / s->eddington;
    if (law->switch_at > 0) {
        heat = ratio > law->switch_at;
        kick = 1 - heat;
    }
    e->blast = s->blast && s->accreted > 0 && g->mass > 0;
    if (!e->blast) return;
    e->rho_level = g->mass / g->volume;
    e->by_mass_out = law->inject_mass;
    e->heat = heat * s->accreted * (law->T2_agn / law->temperature) / g->volume;
    e->heat_max = heat * (law->T2_max / law->temperature);
    e->push = kick * law->load * s->accreted * law->v_jet / g->volume / (1 - cos(law->cone));
    e->push_max = kick * law->v_max;
    double l = sqrt(square(s->l));
    e->cone = kick > 0 && l > 0 ? tan(law->cone) : 0;
    for (int d = 0; d < 3; d++) e->axis[d] = l > 0 ? s->l[d] / l : 0;
}

struct sink_request sink_request(const struct sink_law *law, const struct sink *s, int l, double dt,
                                 bool ended)
{
    struct sink_request e = {.rho = s->rho, .by_mass = law->weigh_mass, .d_sink = law->d_sink};
    memcpy(e.v, s->v, sizeof e.v);
    if (!(s->volume > 0)) return e;
    if (ended && s->born) {
        e.m = law->seed / s->volume;
        e.hole = law->seed_hole / s->volume;
    } else if (!ended) {
        bool bondi = law->accretion == ACCRETE_BONDI;
        e.m = bondi ? s->rate * dt / s->volume : 0;
        e.hole = bondi ? s->rate_hole * dt / s->volume : 0;
        if (law->accretion == ACCRETE_THRESHOLD && law->d_sink > 0) e.threshold = law->c_acc;
        if (law->agn && s->m > 0 && s->eddington > 0) feed_back(law, s, &s->gas[l], &e);
    }
    return e;
}

/* ---- accretion and feedback in cells ---- */

static void eat(const struct sink_law *law, const struct level *lv, const struct sink_cell *c,
                const struct sink_cell_gas *g, double share, double (*u)[8])
{
    double lost = share * g->d;
    sink_cell_lose(lv, c, g, lost, law->nvar, u);
    for (int d = 0; d < 3; d++) u[GAS_MOMENTUM + d][c->cell] -= lost * g->v[d];
}

/* Adds heat and jets to a cell with this weight at r from the sink. */
static void blow(const struct sink_request *e, const struct sink_cell *c,
                 const struct sink_cell_gas *g, double weight, double volume, const double r[3],
                 double (*u)[8])
{
    double by = e->by_mass_out ? g->d / e->rho_level : 1, far = sqrt(square(r)), along = 0, off = 0;
    double heat = fmin(e->heat * weight * by, e->heat_max * weight * g->d);
    gas_change_energy(u, c->cell, heat / volume);
    if (!(e->cone > 0) || !(far > 0)) return;
    for (int d = 0; d < 3; d++) along += r[d] * e->axis[d];
    for (int d = 0; d < 3; d++) off += pow(r[d] - along * e->axis[d], 2);
    if (!(sqrt(off) <= fabs(along) * e->cone)) return;
    double push = fmin(e->push * weight * by, e->push_max * weight * g->d), work = 0;
    for (int d = 0; d < 3; d++) {
        double p = push * r[d] / far;
        u[GAS_MOMENTUM + d][c->cell] += p / volume;
        work += p * g->v[d];
    }
    gas_change_energy(u, c->cell, work / volume);
}

static void count(const struct sink_request *e, const struct sink_cell_gas *g, double m,
                  double hole, const double r[3], struct sum sums[REQUEST_SUMS])
{
    double all = m + hole, w[3];
    for (int d = 0; d < 3; d++) w[d] = g->v[d] - e->v[d];
    sum_add(&sums[REQUEST_MASS], m);
    sum_add(&sums[REQUEST_HOLE], hole);
    for (int d = 0; d < 3; d++) {
        int a = (d + 1) % 3, b = (d + 2) % 3;
        sum_add(&sums[REQUEST_X + d], all * r[d]);
        sum_add(&sums[REQUEST_P + d], all * w[d]);
        sum_add(&sums[REQUEST_L + d], all * (r[a] * w[b] - r[b] * w[a]));
    }
}

void sink_take(const struct sink_law *law, const struct mesh *m, int l,
               const struct sink_request *e, const struct sink_cells *cells,
               const struct sink_meal *meal, struct sum sums[REQUEST_SUMS])
{
    const struct level *lv = &m->lev[l];
    double dx = mesh_dx(m, l), volume = dx * dx * dx;
    for (int64_t i = 0; i < cells->n; i++) {
        const struct sink_cell *c = &cells->cell[i];
        struct sink_cell_gas g = sink_cell_gas(lv, c, law->smallr);
        double weight = law->cloud.volume * c->w, by = e->by_mass ? g.d / e->rho : 1, r[3];
        double mass = e->threshold > 0 ? e->threshold * weight * (g.d - e->d_sink) : e->m * weight;
        double hole = fmax(e->hole * weight * by, 0);
        mass = fmax(mass * by, 0);
        double(*u)[8] = hydro_change_row(meal->change, lv->nown, c->oct);
        double left = fmax(MAX * g.d + u[0][c->cell], 0) * volume, all = mass + hole;
        if (all > left) {
            mass *= left / all;
            hole *= left / all;
        }
        for (int d = 0; d < 3; d++) r[d] = c->r[d] - e->shift[d];
        count(e, &g, mass, hole, r, sums);
        eat(law, lv, c, &g, (mass + hole) / (volume * g.d), u);
        if (meal->captured && mass + hole > 0)
            star_note(meal->captured, meal->id, -1, (mass + hole) / volume, lv, c->oct, c->cell);
        if (e->blast) blow(e, c, &g, weight, volume, r, u);
    }
}

/* In the frame of the sink before accretion; the angular momentum is converted to the new
 * position. */
void sink_digest(const struct sink_law *law, const struct sum sums[REQUEST_SUMS], bool blown,
                 struct sink *s)
{
    double got[REQUEST_SUMS];
    for (int k = 0; k < REQUEST_SUMS; k++) got[k] = sum_get(&sums[k]);
    double fed = law->holes ? got[REQUEST_HOLE] : got[REQUEST_MASS];
    const double *x = got + REQUEST_X, *p = got + REQUEST_P;
    s->m += got[REQUEST_MASS];
    s->hole += got[REQUEST_HOLE];
    s->dmf += got[REQUEST_MASS];
    double m = s->m + s->hole;
    for (int d = 0; d < 3; d++) {
        int a = (d + 1) % 3, b = (d + 2) % 3;
        s->l[d] += got[REQUEST_L + d] - (x[a] * p[b] - x[b] * p[a]) / m;
        s->x[d] += x[d] / m;
        s->v[d] += p[d] / m;
    }
    s->accreted = blown ? fed : s->accreted + fed;
}
