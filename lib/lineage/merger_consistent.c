/* lineage/merger_consistent: trees in the layout of Consistent-Trees (Behroozi et al. 2013):
 * lengths are comoving, in units with h; a scale factor of 0 means never. */
#include <math.h>

#include "base/cgs.h"
#include "base/text.h"
#include "lineage/merger_table.h"

static const char *const NAME[] = {"scale",
                                   "id",
                                   "desc_scale",
                                   "desc_id",
                                   "num_prog",
                                   "pid",
                                   "upid",
                                   "desc_pid",
                                   "phantom",
                                   "sam_Mvir",
                                   "Mvir",
                                   "Rvir",
                                   "rs",
                                   "vrms",
                                   "mmp?",
                                   "scale_of_last_MM",
                                   "vmax",
                                   "x",
                                   "y",
                                   "z",
                                   "vx",
                                   "vy",
                                   "vz",
                                   "Jx",
                                   "Jy",
                                   "Jz",
                                   "Spin",
                                   "Breadth_first_ID",
                                   "Depth_first_ID",
                                   "Tree_root_ID",
                                   "Orig_halo_ID",
                                   "Snap_idx",
                                   "Next_coprogenitor_depthfirst_ID",
                                   "Last_progenitor_depthfirst_ID",
                                   "Last_mainleaf_depthfirst_ID",
                                   "M200m",
                                   "M200c",
                                   "Mmembers",
                                   "num_members"};

static const char HELP[] =
    "#Scale: Scale factor of halo.\n"
    "#ID: ID of halo (unique across entire simulation).\n"
    "#Desc_Scale: Scale of descendant halo, if applicable.\n"
    "#Descid: ID of descendant halo, if applicable.\n"
    "#Num_prog: Number of progenitors.\n"
    "#Pid: ID of least massive host halo (-1 if distinct halo).\n"
    "#Upid: ID of most massive host halo (different from Pid when the halo is within two or more "
    "larger halos).\n"
    "#Desc_pid: Pid of descendant halo (if applicable).\n"
    "#Phantom: Always zero: no halo is interpolated, but a descendant may be some outputs later.\n"
    "#SAM_Mvir: Halo mass (Msun/h), as Mvir.\n"
    "#Mvir: Halo mass (Msun/h): virial sphere, or all members where there is none.\n"
    "#Rvir: Halo radius (kpc/h comoving).\n"
    "#Rs: Scale radius (kpc/h comoving): not measured.\n"
    "#Vrms: Velocity dispersion (km/s physical).\n"
    "#mmp?: Whether the halo is the main progenitor of its descendant.\n"
    "#scale_of_last_MM: Scale factor of the last major merger (Mass ratio > 0.3).\n"
    "#Vmax: Maximum circular velocity (km/s physical): not measured.\n"
    "#X/Y/Z: Halo position (Mpc/h comoving).\n"
    "#VX/VY/VZ: Halo velocity (km/s physical).\n"
    "#JX/JY/JZ: Halo angular momenta ((Msun/h) * (Mpc/h) * km/s (physical)): not measured.\n"
    "#Spin: Halo spin parameter (Bullock et al. 2001).\n"
    "#Breadth_first_ID: breadth-first ordering of halos within a tree.\n"
    "#Depth_first_ID: depth-first ordering of halos within a tree.\n"
    "#Tree_root_ID: ID of the halo at the last timestep in the tree.\n"
    "#Orig_halo_ID: Number of the halo in the catalogue of its output.\n"
    "#Snap_idx: Index of the output.\n"
    "#Next_coprogenitor_depthfirst_ID: Depthfirst ID of next coprogenitor.\n"
    "#Last_progenitor_depthfirst_ID: Depthfirst ID of last progenitor.\n"
    "#Last_mainleaf_depthfirst_ID: Depthfirst ID of last progenitor on main progenitor branch.\n"
    "#M200m/M200c: Masses of spheres of 200 times the mean and the critical density (Msun/h).\n"
    "#Mmembers: Mass of all members (Msun/h).\n"
    "#Num_members: Number of members.\n";

/* The id of a node or -1. */
static long id_of(int64_t node)
{
    return node < 0 ? -1 : (long)(node + 1);
}

/* The outermost group around a node; −1: none. */
static int64_t host_of(const struct mergers *f, int64_t i)
{
    int64_t host = -1;
    while ((i = f->node[i].within) >= 0) host = i;
    return host;
}

static void put_tree(FILE *out, const struct mergers *f, int64_t i)
{
    const struct merger_node *n = &f->node[i];
    const int64_t desc = n->descendant;
    const double scale = f->output[n->output].box.aexp;
    fprintf(out, "%.8f %ld %.8f %ld %ld %ld %ld %ld 0 ", scale, id_of(i),
            desc < 0 ? 0 : f->output[f->node[desc].output].box.aexp, id_of(desc),
            (long)n->progenitors, id_of(n->within), id_of(host_of(f, i)),
            id_of(desc < 0 ? -1 : f->node[desc].within));
}

static void put_numbers(FILE *out, int n, const double *x)
{
    for (int k = 0; k < n; k++) {
        put_number(out, 10, x[k]);
        fputc(' ', out);
    }
}

static void put_node(FILE *out, const struct mergers *f, int64_t i)
{
    const struct merger_node *n = &f->node[i];
    const struct halo_box *b = &f->output[n->output].box;
    const double h = b->h0 / 100, mass = isfinite(n->mvir) ? n->mvir : n->mass;
    const double half[] = {mass * h, mass * h, n->rvir * h / b->aexp, NAN, n->sigma * sqrt(3)};
    const double rest[] = {isfinite(n->major) ? n->major : 0,
                           NAN,
                           n->x[0] * b->boxlen_ini,
                           n->x[1] * b->boxlen_ini,
                           n->x[2] * b->boxlen_ini,
                           n->v[0],
                           n->v[1],
                           n->v[2],
                           NAN,
                           NAN,
                           NAN,
                           n->spin};
    const double masses[] = {n->m200m * h, n->m200c * h, n->mass * h};
    put_tree(out, f, i);
    put_numbers(out, sizeof half / sizeof *half, half);
    fprintf(out, "%d ", n->main);
    put_numbers(out, sizeof rest / sizeof *rest, rest);
    fprintf(out, "%ld %ld %ld %ld %d %ld %ld %ld ", (long)n->breadth, (long)n->depth,
            id_of(n->root), (long)n->number, n->output, (long)n->next, (long)n->last,
            (long)n->leaf);
    put_numbers(out, sizeof masses / sizeof *masses, masses);
    fprintf(out, "%ld\n", (long)n->members);
}

void merger_table_consistent(FILE *out, const struct mergers *f, const struct merger_found *how)
{
    const struct halo_box *b = &f->output[f->noutput - 1].box;
    for (size_t c = 0; c < sizeof NAME / sizeof *NAME; c++)
        fprintf(out, "%s%s(%zu)", c ? " " : "#", NAME[c], c);
    fprintf(out, "\n#Omega_M = %.6f; Omega_L = %.6f; h0 = %.6f\n#Full box size = %.6f Mpc/h\n",
            b->omega_m, b->omega_l, b->h0 / 100, b->boxlen_ini);
    fprintf(out,
            "#Layout of Consistent Trees; %s and links by Ptah: at most %d tracers, jumps "
            "over at most %d outputs\n%s%ld\n",
            how->groups, how->tracers, f->jump, HELP, (long)f->ntree);
    for (int64_t d = 0; d < f->n; d++) {
        const int64_t i = f->by_depth[d];
        if (f->node[i].descendant < 0) fprintf(out, "#tree %ld\n", id_of(i));
        put_node(out, f, i);
    }
}
