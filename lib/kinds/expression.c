/* kinds/expression: init_expr of &INIT_PARAMS: formulas that replace fields of the initial state.
 *
 * The regions and the kind come first; formulas may read what they set. The magnetic field is
 * replaced as a whole if a formula sets a component of it or of the vector potential: it is the
 * curl of (ax, ay, az) plus (bx, by, bz), which are taken at the centres of faces. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "expr/expr.h"
#include "kinds/priv.h"

/* Groups of statements: the gas of cells, and each component of the field and the potential. */
enum { GROUP_CELL = 1, GROUP_A = 2, GROUP_B = 16 };

struct kind_expr {
    struct expr e;
    int nvar;
    int x[3], gas[NVAR_MAX], a[3], b[3]; /* slots */
    bool cell, potential, face;          /* what statements set */
};

static void declare_all(struct expr *e, const char *const *names, enum expr_role role,
                        const double *value)
{
    for (int i = 0; names[i]; i++) expr_declare(e, names[i], role, -1, value[i], ~0U);
}

static void declare_constants(struct expr *e, const struct kind_setup *s)
{
    static const char *const names[] = {"pi",     "boxlen", "gamma",   "unit_l", "unit_d",
                                        "unit_t", "unit_v", "unit_t2", NULL};
    const struct units *u = &s->units;
    const double value[] = {3.14159265358979323846,
                            s->mesh->boxlen,
                            s->gas->gamma,
                            u->length,
                            u->density,
                            u->time,
                            u->velocity,
                            u->temperature};
    declare_all(e, names, EXPR_CONSTANT, value);
}

/* Names of the variables of the gas; the last ones are those of the scalars. */
static void declare_gas(struct kind_expr *k, const struct kind_setup *s)
{
    static const char *const names[][3] = {{"rho", "d", "density"},
                                           {"u", "vx", NULL},
                                           {"v", "vy", NULL},
                                           {"w", "vz", NULL},
                                           {"p", "pressure", NULL}};
    char name[EXPR_NAME];
    for (int v = 0; v < k->nvar; v++) {
        const bool scalar = v >= GAS_SCALARS;
        if (scalar) snprintf(name, sizeof name, "var%d", v - GAS_SCALARS + 1);
        const char *first = scalar ? name : names[v][0];
        k->gas[v] = expr_declare(&k->e, first, EXPR_FIELD, -1, 0, GROUP_CELL);
        for (int i = 1; !scalar && i < 3 && names[v][i]; i++)
            expr_declare(&k->e, names[v][i], EXPR_FIELD, k->gas[v], 0, GROUP_CELL);
    }
    for (int i = 0; i < SCALAR_COUNT; i++)
        if (s->vars->at[i] >= 0)
            expr_declare(&k->e, gas_scalar_name((enum gas_scalar)i), EXPR_FIELD,
                         k->gas[s->vars->at[i]], 0, GROUP_CELL);
}

static void declare(struct kind_expr *k, const struct kind_setup *s)
{
    static const char *const x[] = {"x", "y", "z"}, *const a[] = {"ax", "ay", "az"},
                             *const b[] = {"bx", "by", "bz"};
    declare_constants(&k->e, s);
    for (int d = 0; d < 3; d++) k->x[d] = expr_declare(&k->e, x[d], EXPR_INPUT, -1, 0, ~0U);
    declare_gas(k, s);
    for (int d = 0; d < 3; d++) {
        k->a[d] = expr_declare(&k->e, a[d], EXPR_RESULT, -1, 0, GROUP_A << d);
        k->b[d] = expr_declare(&k->e, b[d], EXPR_RESULT, -1, 0, GROUP_B << d);
    }
}

/* Finds what the statements set, and refuses what the run does not have. */
static enum err check_fields(struct kind_expr *k, const struct kind_setup *s)
{
    for (int v = 0; v < k->nvar; v++) k->cell |= expr_sets(&k->e, k->gas[v]);
    for (int d = 0; d < 3; d++) {
        k->potential |= expr_sets(&k->e, k->a[d]);
        k->face |= expr_sets(&k->e, k->b[d]);
    }
    if ((k->potential || k->face) && !s->mesh->magnetic)
        FAIL(ERR_PARAM, "init_expr in &INIT_PARAMS sets a magnetic field, which this run does not "
                        "have: add --build SOLVER=mhd, or run_params/mhd=.true.");
    const int ndim = s->mesh->ndim;
    for (int d = ndim; d < 3 && !s->mesh->magnetic; d++)
        if (expr_sets(&k->e, k->gas[GAS_VELOCITY + d]))
            FAIL(ERR_PARAM,
                 "init_expr in &INIT_PARAMS sets the velocity along %c, but this run has %d "
                 "dimension%s: leave it out",
                 "xyz"[d], ndim, ndim > 1 ? "s" : "");
    return OK;
}

static enum err compile(struct kind_expr *k, const struct kind_setup *s)
{
    const struct param_init *p = &s->par->init;
    for (int i = 0; i < PARAM_EXPRESSIONS; i++)
        if (p->init_expr[i][0]) TRY(expr_add(&k->e, p->init_expr[i], i + 1));
    expr_finish(&k->e);
    return check_fields(k, s);
}

enum err kind_expr_open(const struct kind_setup *s, struct kind_expr **out)
{
    bool any = false;
    for (int i = 0; i < PARAM_EXPRESSIONS; i++) any |= s->par->init.init_expr[i][0] != 0;
    *out = NULL;
    if (!any || !s->mesh->hydro) return OK;
    struct kind_expr *k = mem_zero(sizeof *k, "init_expr");
    k->e.origin = "init_expr";
    k->nvar = s->gas->nvar;
    declare(k, s);
    const enum err err = compile(k, s);
    if (err == OK)
        *out = k;
    else
        mem_free(k);
    return err;
}

void kind_expr_close(struct kind_expr *k)
{
    mem_free(k);
}

bool kind_expr_cell(const struct kind_expr *k)
{
    return k && k->cell;
}

bool kind_expr_potential(const struct kind_expr *k)
{
    return k && k->potential;
}

bool kind_expr_face(const struct kind_expr *k)
{
    return k && k->face;
}

static enum err run_at(const struct kind_expr *k, unsigned group, const double x[3], double *value)
{
    for (int d = 0; d < 3; d++) value[k->x[d]] = x[d];
    const enum err err = expr_run(&k->e, group, value);
    if (err == OK) return OK;
    char what[768];
    snprintf(what, sizeof what, "%s", err_message());
    FAIL(err, "%s at x=%.9g, y=%.9g, z=%.9g", what, x[0], x[1], x[2]);
}

enum err kind_expr_gas(const struct kind_expr *k, const double x[3], double *q)
{
    double value[EXPR_NAMES];
    expr_constants(&k->e, value);
    for (int v = 0; v < k->nvar; v++) value[k->gas[v]] = q[v];
    TRY(run_at(k, GROUP_CELL, x, value));
    for (int v = 0; v < k->nvar; v++) q[v] = value[k->gas[v]];
    if (q[GAS_DENSITY] > 0 && q[GAS_PRESSURE] >= 0) return OK;
    FAIL(ERR_PARAM,
         "init_expr in &INIT_PARAMS: density %g and pressure %g at x=%.9g, y=%.9g, z=%.9g: the "
         "density must be above 0, and the pressure not below",
         q[GAS_DENSITY], q[GAS_PRESSURE], x[0], x[1], x[2]);
}

enum err kind_expr_curl(const struct kind_expr *k, const double x[3], int d, double *a)
{
    double value[EXPR_NAMES];
    expr_constants(&k->e, value);
    TRY(run_at(k, GROUP_A << d, x, value));
    *a = value[k->a[d]];
    return OK;
}

enum err kind_expr_given(const struct kind_expr *k, const double x[3], int d, double *b)
{
    double value[EXPR_NAMES];
    expr_constants(&k->e, value);
    TRY(run_at(k, GROUP_B << d, x, value));
    *b = value[k->b[d]];
    return OK;
}
