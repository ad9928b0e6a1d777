#include "ckpt/boundary.h"

#include <string.h>

#include "base/mem.h"
#include "param/param.h"

/* The axis along which a region lies outside the box, with no extent; -1 if none or several. */
static int axis_of(const struct boundary_region *r)
{
    int axis = -1, fixed = 0;
    for (int d = 2; d >= 0; d--)
        if (r->low[d] == r->high[d] && r->low[d] != 0) axis = d, fixed++;
    return fixed == 1 ? axis : -1;
}

static void add_region(struct boundary *b, const struct boundary_region *r)
{
    int i = 0;
    while (i < b->n && b->region[i].face != r->face) i++;
    b->region[i] = *r;
    if (i == b->n) b->n++;
}

void boundary_faces(const struct boundary *b, bool bounded[6])
{
    for (int f = 0; f < 6; f++) bounded[f] = false;
    for (int i = 0; i < b->n; i++) bounded[b->region[i].face] = true;
}

void boundary_of_params(const struct params *p, struct boundary *b)
{
    const struct param_boundary *q = &p->boundary;
    bool bounded[6];
    b->n = 0;
    for (int i = 0; i < q->nboundary; i++) {
        struct boundary_region r = {
            .low = {q->ibound_min[i], q->jbound_min[i], q->kbound_min[i]},
            .high = {q->ibound_max[i], q->jbound_max[i], q->kbound_max[i]},
            .type = (enum boundary_type)q->bound_type[i],
            .state = {q->d_bound[i], q->u_bound[i], q->v_bound[i], q->w_bound[i], q->p_bound[i]},
            .field = {q->a_bound[i], q->b_bound[i], q->c_bound[i]}};
        int axis = axis_of(&r);
        if (axis < 0 || q->bound_type[i] < 1 || q->bound_type[i] > 3) continue;
        for (int k = 0; k < PARAM_SCALARS && GAS_SCALARS + k < NVAR_MAX; k++)
            r.state[5 + k] = q->var_bound[i][k];
        r.face = 2 * axis + (r.low[axis] > 0);
        add_region(b, &r);
    }
    /* a periodic axis has no edge regions */
    boundary_faces(b, bounded);
    for (int i = 0; i < b->n; i++)
        for (int d = 0; d < 3; d++) {
            if (d == b->region[i].face / 2) continue;
            if (!bounded[2 * d] && b->region[i].low[d] < 0) b->region[i].low[d] = 0;
            if (!bounded[2 * d + 1] && b->region[i].high[d] > 0) b->region[i].high[d] = 0;
        }
}

void boundary_to_params(const struct boundary *b, struct params *p)
{
    struct param_boundary *q = &p->boundary;
    q->nboundary = b->n;
    for (int i = 0; i < b->n; i++) {
        const struct boundary_region *r = &b->region[i];
        q->bound_type[i] = (int)r->type;
        q->ibound_min[i] = r->low[0], q->ibound_max[i] = r->high[0];
        q->jbound_min[i] = r->low[1], q->jbound_max[i] = r->high[1];
        q->kbound_min[i] = r->low[2], q->kbound_max[i] = r->high[2];
    }
}

bool boundary_types(struct boundary *b, const char *namelist, size_t bytes)
{
    struct params *p = mem_zero(sizeof *p, "namelist");
    struct boundary told = {0};
    int left_out = 0;
    bool same = param_read_loose(p, namelist, bytes, "namelist.txt", &left_out) == OK;
    if (same) boundary_of_params(p, &told);
    same &= told.n == b->n;
    for (int i = 0; i < b->n && same; i++) same = told.region[i].face == b->region[i].face;
    for (int i = 0; i < b->n && same; i++) {
        b->region[i].type = told.region[i].type;
        memcpy(b->region[i].state, told.region[i].state, sizeof told.region[i].state);
        memcpy(b->region[i].field, told.region[i].field, sizeof told.region[i].field);
    }
    FREE(p);
    return same;
}

/* ---- layout ---- */

static void offsets(int code, int shift[3])
{
    shift[0] = code % 3 - 1, shift[1] = code / 3 % 3 - 1, shift[2] = code / 9 - 1;
}

/* The first region that covers a coarse cell; -1 if none. */
static int region_of(const struct boundary *b, const int shift[3])
{
    for (int i = 0; i < b->n; i++) {
        bool in = true;
        for (int d = 0; d < 3; d++)
            in &= b->region[i].low[d] <= shift[d] && shift[d] <= b->region[i].high[d];
        if (in) return i;
    }
    return -1;
}

/* Takes one step from a coarse cell towards the box, against the face of its region, and updates
 * the rule r. Returns the code after the step, or -1 if no region covers the cell. */
static int step_in(const struct boundary *b, int code, struct boundary_rule *r)
{
    int shift[3];
    offsets(code, shift);
    int i = region_of(b, shift);
    if (i < 0) return -1;
    const struct boundary_region *q = &b->region[i];
    int d = q->face / 2, bit = 1 << d, high = q->face & 1;
    r->step[r->nstep++] = i;
    if (r->imposed < 0 && q->type == BOUNDARY_IMPOSED) r->imposed = i;
    if (r->imposed < 0 && q->type == BOUNDARY_REFLECT) r->flip[d] = !r->flip[d];
    for (int c = 0; c < 8; c++) {
        int from = r->from[c];
        r->from[c] = (unsigned char)(q->type == BOUNDARY_REFLECT ? from ^ bit
                                     : high                      ? from | bit
                                                                 : from & ~bit);
    }
    static const int stride[3] = {1, 3, 9};
    return code + (high ? -stride[d] : stride[d]);
}

static void make_rule(const struct boundary *b, int code, struct boundary_rule *r)
{
    *r = (struct boundary_rule){.region = -1, .imposed = -1};
    offsets(code, r->shift);
    for (int c = 0; c < 8; c++) r->from[c] = (unsigned char)c;
    int at = code;
    for (int n = 0; n < 3 && at >= 0 && at != BOUNDARY_BOX; n++) at = step_in(b, at, r);
    if (code != BOUNDARY_BOX && at == BOUNDARY_BOX) r->region = region_of(b, r->shift);
}

enum err boundary_lay_out(const struct boundary *b, int ndim, const char *where,
                          struct boundary_layout *out)
{
    bool bounded[6];
    *out = (struct boundary_layout){.n = {1, 1, 1}};
    boundary_faces(b, bounded);
    for (int d = 0; d < ndim; d++) {
        if (bounded[2 * d] != bounded[2 * d + 1])
            FAIL(ERR_LIMIT,
                 "%s: has a boundary on one side of the %c axis only, which cannot be written",
                 where, "xyz"[d]);
        out->skip[d] = bounded[2 * d];
        out->n[d] = bounded[2 * d] ? 3 : 1;
    }
    for (int code = 0; code < BOUNDARY_CODES; code++) make_rule(b, code, &out->rule[code]);
    for (int i = 0; i < b->n; i++)
        for (int code = 0; code < BOUNDARY_CODES; code++)
            if (out->rule[code].region == i) out->code[out->ncode++] = code;
    return OK;
}

void boundary_phi(const struct boundary_rule *r, const double in[8], double out[8])
{
    double at[8];
    memcpy(out, in, sizeof at);
    for (int d = 0; d < 3; d++) {
        if (r->shift[d] == 0) continue;
        memcpy(at, out, sizeof at);
        for (int c = 0; c < 8; c++) {
            int bit = 1 << d, before = r->shift[d] < 0 ? c & ~bit : c | bit, behind = before ^ bit;
            double steps = c == behind ? 1 : 2; /* distance from the face in cells */
            out[c] = at[before] + steps * (at[before] - at[behind]);
        }
    }
}

/* The field of an oct beyond the face of region q from that of the oct before it. */
static void field_beyond(const struct boundary_region *q, const double in[6][8], double out[6][8])
{
    const int axis = q->face / 2, bit = 1 << axis, high = q->face & 1, wall = high ? bit : 0;
    for (int f = 0; f < 6; f++)
        for (int c = 0; c < 8; c++) {
            const int low = 2 * axis, mirrored = c ^ bit, near = (c & ~bit) | wall;
            const double at_wall = in[low + high][near], slope = in[low + 1][near] - in[low][near],
                         steps = (c & bit) == wall ? 2 : 1;
            if (f / 2 != axis)
                out[f][c] = q->type == BOUNDARY_IMPOSED   ? q->field[f / 2]
                            : q->type == BOUNDARY_REFLECT ? in[f][mirrored]
                                                          : in[f][near];
            else
                out[f][c] = q->type == BOUNDARY_IMPOSED ? at_wall
                            : q->type == BOUNDARY_REFLECT
                                ? 2 * at_wall - in[f ^ 1][mirrored]
                                : in[f][near] + (high ? steps : -steps) * slope;
        }
}

void boundary_field(const struct boundary *b, const struct boundary_rule *r,
                    const double *const in[6], double out[6][8])
{
    for (int f = 0; f < 6; f++) memcpy(out[f], in[f], sizeof out[f]);
    for (int n = r->nstep; n-- > 0;) {
        double before[6][8];
        memcpy(before, out, sizeof before);
        field_beyond(&b->region[r->step[n]], (const double(*)[8])before, out);
    }
}
