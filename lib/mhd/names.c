/* mhd/names: the Riemann solvers by their names. */
#include <string.h>

#include "mhd/mhd.h"

static int find(const char *const *names, int n, const char *name)
{
    int i = 0;
    while (i < n && strcmp(name, names[i]) != 0) i++;
    return i;
}

enum mhd_solver mhd_solver_named(const char *name)
{
    static const char *const names[] = {
#define FACE(symbol, text) text,
#define EDGE(symbol, text)
#include "mhd/solvers.def"
    };
    return (enum mhd_solver)find(names, MHD_SOLVERS, name);
}

enum mhd_edge_solver mhd_edge_solver_named(const char *name)
{
    static const char *const names[] = {
#define FACE(symbol, text)
#define EDGE(symbol, text) text,
#include "mhd/solvers.def"
    };
    return (enum mhd_edge_solver)find(names, MHD_EDGE_SOLVERS, name);
}
