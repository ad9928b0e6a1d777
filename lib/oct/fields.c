/* oct/fields: see fields.h. */
#include "oct/fields.h"

bool field_in(field_set set, int f)
{
    if (f == FLD_FLAG) return set & SET_FLAG;
    if (f >= FLD_U) return set & SET_GAS;
    switch ((enum field)f) {
    case FLD_PHI:
        return set & SET_PHI;
    case FLD_PHI_OLD:
        return set & SET_PHI_OLD;
    case FLD_FX:
    case FLD_FY:
    case FLD_FZ:
        return set & SET_FORCE;
    case FLD_RHO:
        return set & SET_RHO;
    case FLD_U:
    case FLD_MAX:
        break;
    }
    return false;
}

const char *field_set_name(field_set one)
{
    static const char *const name[] = {"gas",
                                       "the potential",
                                       "the old potential",
                                       "the force",
                                       "the density",
                                       "the refinement flags",
                                       "the mass criterion",
                                       "the flux registers",
                                       "particles",
                                       "time",
                                       "the domains"};
    for (unsigned i = 0; i < sizeof name / sizeof *name; i++)
        if (one >> i & 1) return name[i];
    return "nothing";
}

static bool exists(const struct mesh *m, int f)
{
    return f == FLD_FLAG || mesh_has_field(m, f);
}

void ghosts_set(struct mesh *m, int l, field_set set, bool valid)
{
    for (int f = 0; f <= FLD_FLAG; f++)
        if (field_in(set, f) && exists(m, f)) m->lev[l].valid[f] = valid;
}

bool ghosts_valid(const struct mesh *m, int l, field_set set)
{
    for (int f = 0; f <= FLD_FLAG; f++)
        if (field_in(set, f) && exists(m, f) && !m->lev[l].valid[f]) return false;
    return true;
}
