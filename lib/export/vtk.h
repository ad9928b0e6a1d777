/* export/vtk: the cells and the particles of an octree as files of VTK, for ParaView and VisIt.
 *
 * .htg: a HyperTreeGrid: a bit for each cell, split or not, and its values, level by level in
 * Morton order; split cells have theirs, the means of the cells in them. Needs 16 bytes of memory
 * an oct. .vtu: an UnstructuredGrid of leaf cells, about 300 bytes each, in the order of the
 * checkpoint; in bounded memory and to a pipe. .vtp: particles as points. (one rank) */
#pragma once
#include "export/field.h"
#include "export/sink.h"

struct vtk_out {
    const char *path; /* "-": standard output, for .vtu and .vtp */
    bool force, physical;
    int64_t memory; /* bytes; 0: 512 MiB */
};

/* An array of a file: a field, or the components of a vector. */
struct vtk_array {
    char name[48];
    int field, parts, width; /* first field; its components; those in the file: 1 or 3 */
};
int vtk_arrays(const struct export_list *l, struct vtk_array a[EXPORT_FIELDS]);
/* Value k of an array in a cell of a batch; 0 for components that a run does not have. */
double vtk_value(const struct export_list *l, const struct vtk_array *a, bool physical, int k,
                 const struct source_octs *o, int c, int i);

MUST_USE enum err vtk_write_htg(struct export_list *l, const struct vtk_out *o);
MUST_USE enum err vtk_write_vtu(struct export_list *l, const struct vtk_out *o);
MUST_USE enum err vtk_write_vtp(struct source *s, const struct vtk_out *o);
