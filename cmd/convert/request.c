/* convert: the command line. */
#include <stdio.h>
#include <string.h>

#include "base/opt.h"
#include "convert.h"
#include "out/program.h"

enum { RANKS_MAX = 99999, FILES_MAX = 100000 };
enum { LEVELMAX = 256, LEVELMIN, REGION, LEGACY, GAS, NAMED, FILES, MEMORY, FORCE };
enum { COOLING = FORCE + 1, REDSHIFT, POINTS, UNIFORM, DEPOSIT, LEVEL, FIELDS };
enum { UNIFORM_MAX = 8192, CUBE_MAX = 65536 };

static const struct opt ROWS[] = {
    {'f', "format", "FORMAT",
     "ramses, hdf5, gadget, gadget4 or swift (default: hdf5 from RAMSES binary, ramses from HDF5); "
     "vtk, openpmd; npy, fits, vti, and hdf5 with --level or --uniform: cubes of fields; of "
     "smoothed "
     "particles: sph, phantom (default: the other of these), gadget4 or vtp"},
    {'o', "output", "OUT",
     "path of the result (-: standard output, for npy, fits, vti and vtk); with - or several "
     "checkpoints, the directory of the results (default: FORMAT)"},
    {OPT_OLD('n'), "ranks", "RANKS", "ramses: files for this many ranks (default 1)"},
    {OPT_MORE(OPT_OLD('z')), "deflate", "LEVEL", "hdf5: compress, from 1 (fast) to 9 (small)"},
    {LEVELMAX, "levelmax", "LEVEL", "leave out everything finer than this level"},
    {OPT_MORE(LEVELMIN), "levelmin", "LEVEL",
     "with --region: finest level outside of it (default: levelmin of the checkpoint)"},
    {REGION, "region", "REGION",
     "full resolution only in box:X0,Y0,Z0,X1,Y1,Z1 or sphere:X,Y,Z,R (code units)"},
    {OPT_MORE(LEGACY), "legacy", "YEAR",
     "ramses: the layout of files that RAMSES wrote before 2017 or before 2015"},
    {OPT_MORE(GAS), "gas", NULL,
     "gadget, gadget4, swift: include the gas, one particle per leaf cell"},
    {OPT_MORE(NAMED), "named", NULL, "gadget: write named blocks (format 2)"},
    {OPT_MORE(FILES), "files", "N",
     "gadget, gadget4, swift: write at least this many files (default 1)"},
    {UNIFORM, "uniform", "N",
     "write the gas on a mesh of N cells a side, as a checkpoint of solver='stencil': "
     "OUT/output_NNNNN; with -f: a cube of N cells along the longest side of the region"},
    {LEVEL, "level", "LEVEL",
     "npy, fits, vti, hdf5, openpmd: a cube of cells of this level (default: levelmin)"},
    {FIELDS, "fields", "NAME,…",
     "fields of a cube or of vtk, named as in inspect -m (default: density; vtk: all)"},
    {'u', "units", NULL, "npy, fits, vti, hdf5, vtk: values in physical units"},
    {OPT_MORE(DEPOSIT), "deposit", NULL,
     "of smoothed particles: write their gas on an octree, as hdf5 (default) or ramses; with "
     "--levelmax on coarser cells"},
    {OPT_MORE(COOLING), "cooling-table", NULL,
     "write a table for cooling_method='exact', from the cooling of a run (DIR: its checkpoint) or "
     "from a table of Grackle (DIR: its HDF5 file)"},
    {OPT_MORE(REDSHIFT), "redshifts", "Z,…",
     "cooling table: ascending redshifts (default: the redshifts of the checkpoint or file)"},
    {OPT_MORE(POINTS), "points", "L,M,N",
     "cooling table: numbers of densities, metallicities, temperatures (default 81,51,257)"},
    {OPT_MORE(MEMORY), "memory", "SIZE",
     "use no more memory than this, in bytes or with K, M, G (default 512M)"},
    {FORCE, "force", NULL, "replace OUT if it is a checkpoint"},
    {'j', "json", NULL, "print JSON, one line per checkpoint, instead of the path of the result"},
    {'q', "quiet", NULL, "print errors only"},
    {OPT_MORE('v'), "verbose", NULL, "print more messages"},
    {'V', "version", NULL, "print the version"},
    {'h', "help", NULL, "print a short help (--help: all)"},
    {0, NULL, NULL, NULL}};

static const struct program PROGRAM = {
    .name = "convert",
    .synopsis = "convert [options] DIR…   (DIR - : paths from standard input, one per line)",
    .purpose = "Writes checkpoints in another format, for another number of ranks, or in part.",
    .rows = ROWS};

static enum err get_int(const char *what, const char *value, long lo, long hi, int *x)
{
    if (!opt_int(value, lo, hi, x))
        FAIL(ERR_PARAM, "%s must be between %ld and %ld, not %s", what, lo, hi, value);
    return OK;
}

static enum err get_size(const char *value, int64_t *x)
{
    if (!opt_bytes(value, x))
        FAIL(ERR_PARAM, "the memory must be a size such as 512M or 2G, not %s", value);
    return OK;
}

static enum err get_format(const char *value, const struct format **f)
{
    char list[200];
    *f = format_named(value);
    if (format_is(*f, value)) return OK;
    format_list(list, sizeof list);
    FAIL(ERR_PARAM, "the format must be %s, not %s", list, value);
}

static enum err get_legacy(const char *value, unsigned *legacy)
{
    if (strcmp(value, "2017") == 0)
        *legacy = CKPT_BEFORE_2017;
    else if (strcmp(value, "2015") == 0)
        *legacy = CKPT_BEFORE_2017 | CKPT_BEFORE_2015;
    else
        FAIL(ERR_PARAM, "--legacy must be 2015 or 2017, when the layouts of RAMSES changed, not %s",
             value);
    return OK;
}

static enum err get_redshifts(const char *value, struct request *r)
{
    r->nz = opt_reals(value, REDSHIFTS, r->z);
    bool good = r->nz > 0;
    for (int i = 0; i < r->nz; i++) good &= r->z[i] >= 0 && r->z[i] < 1e4;
    for (int i = 1; i < r->nz; i++) good &= r->z[i] > r->z[i - 1];
    if (!good)
        FAIL(ERR_PARAM, "--redshifts needs at most %d ascending redshifts below 1e4, not %s",
             REDSHIFTS, value);
    return OK;
}

static enum err get_points(const char *value, int points[3])
{
    double x[3];
    static const int max[3] = {1024, 256, 4096};
    bool good = opt_reals(value, 3, x) == 3;
    for (int d = 0; d < 3 && good; d++) {
        good = x[d] >= 2 && x[d] <= max[d];
        points[d] = good ? (int)x[d] : 0;
        good = good && points[d] == x[d];
    }
    if (!good)
        FAIL(ERR_PARAM, "--points needs three integers, from 2 up to 1024, 256 and 4096, not %s",
             value);
    return OK;
}

static enum err set_value(int letter, const char *value, struct request *r)
{
    switch (letter) {
    case 'f':
        return get_format(value, &r->format);
    case 'o':
        r->out = value;
        return OK;
    case 'n':
        return get_int("the number of ranks", value, 1, RANKS_MAX, &r->ranks);
    case 'z':
        return get_int("the level of compression", value, 1, 9, &r->deflate);
    case LEVELMAX:
        return get_int("levelmax", value, 1, LEVEL_MAX, &r->cut.levelmax);
    case LEVELMIN:
        return get_int("levelmin", value, 1, LEVEL_MAX, &r->cut.levelmin);
    case REGION:
        r->region = value;
        return cut_region(&r->cut, value);
    case LEGACY:
        return get_legacy(value, &r->legacy);
    case REDSHIFT:
        return get_redshifts(value, r);
    case POINTS:
        return get_points(value, r->points);
    case UNIFORM:
        return get_int("the cells a side", value, 1, CUBE_MAX, &r->uniform);
    case LEVEL:
        return get_int("the level", value, 1, LEVEL_MAX, &r->level);
    case FIELDS:
        r->fields = value;
        return OK;
    case FILES:
        return get_int("the number of files", value, 1, FILES_MAX, &r->files);
    default:
        return get_size(value, &r->memory);
    }
}

static void set_flag(int letter, struct request *r)
{
    r->gas |= letter == GAS;
    r->named |= letter == NAMED;
    r->force |= letter == FORCE;
    r->json |= letter == 'j';
    r->cooling |= letter == COOLING;
    r->deposit |= letter == DEPOSIT;
    r->physical |= letter == 'u';
    if (letter == 'q') r->verbosity = -1;
    if (letter == 'v') r->verbosity++;
}

static enum err check_cube(const struct request *r)
{
    const bool vtk = format_is(r->format, "vtk"), cube = convert_is_cube(r);
    if (r->level && r->uniform) FAIL(ERR_PARAM, "give either --level or --uniform");
    if (r->level && !cube)
        FAIL(ERR_PARAM, "--level needs -f npy, fits, vti, hdf5 or openpmd, the formats of cubes");
    if ((r->fields || r->physical) && !cube && !vtk)
        FAIL(ERR_PARAM, "--fields and --units need -f vtk, npy, fits, vti, hdf5 or openpmd, the "
                        "last two of these with --level or --uniform");
    if (r->physical && format_is(r->format, "openpmd"))
        FAIL(ERR_PARAM, "-f openpmd has code units with their worth in SI: leave out --units");
    if (cube && (r->cut.levelmax || r->cut.levelmin || r->deflate || r->deposit))
        FAIL(ERR_PARAM,
             "--levelmax, --levelmin, --deflate and --deposit are not for cubes: --level "
             "or --uniform give their cells");
    if (cube && r->cut.shape == CUT_SPHERE)
        FAIL(ERR_PARAM, "region %s: a cube of cells needs box:X0,Y0,Z0,X1,Y1,Z1", r->region);
    if (r->uniform && !cube && (r->uniform < 2 || r->uniform > UNIFORM_MAX))
        FAIL(ERR_PARAM, "the cells a side must be between 2 and %d, not %d", UNIFORM_MAX,
             r->uniform);
    if (r->out && strcmp(r->out, "-") == 0 && (r->npath > 1 || strcmp(r->paths[0], "-") == 0))
        FAIL(ERR_PARAM, "-o - takes one checkpoint");
    return OK;
}

static enum err check_together(const struct request *r)
{
    bool ramses = format_is(r->format, "ramses"), gadget = format_is(r->format, "gadget"),
         snapshot = gadget || format_is(r->format, "gadget4") || format_is(r->format, "swift");
    if (r->npath == 0) FAIL(ERR_PARAM, "no checkpoint is given");
    if (r->out && !*r->out) FAIL(ERR_PARAM, "-o needs a path");
    if (r->ranks && r->format && !ramses)
        FAIL(ERR_PARAM, "--ranks needs -f ramses: the other formats do not depend on ranks");
    if (r->legacy && !ramses) FAIL(ERR_PARAM, "--legacy needs -f ramses");
    if (r->deflate && r->format && !format_is(r->format, "hdf5"))
        FAIL(ERR_PARAM, "--deflate needs -f hdf5");
    if (r->named && !gadget) FAIL(ERR_PARAM, "--named needs -f gadget");
    if ((r->gas || r->files) && !snapshot)
        FAIL(ERR_PARAM, "--gas and --files need -f gadget, gadget4 or swift");
    bool other = r->format || r->ranks || r->deflate || r->cut.levelmax || r->region;
    if (!r->cooling && (r->nz || r->points[0]))
        FAIL(ERR_PARAM, "--redshifts and --points need --cooling-table");
    if (r->cooling && (!r->out || r->npath > 1 || other))
        FAIL(ERR_PARAM, "--cooling-table takes one checkpoint or file, -o with the path of the "
                        "table, --redshifts and --points");
    const bool cube = convert_is_cube(r), vtk = format_is(r->format, "vtk");
    TRY(check_cube(r));
    if (r->format && !r->format->reader && !snapshot && !cube && !vtk &&
        (r->cut.levelmax || r->region))
        FAIL(ERR_PARAM, "--levelmax and --region are for octrees, not for -f %s", r->format->name);
    if (r->uniform && vtk)
        FAIL(ERR_PARAM, "-f vtk writes the cells as they are: cubes of --uniform are -f vti, npy, "
                        "fits, hdf5 or openpmd");
    if (r->uniform && !cube && (other || r->cooling))
        FAIL(ERR_PARAM, "--uniform makes a checkpoint of its own format, which does not depend on "
                        "ranks: of the options for results it takes -o and --force");
    if (r->deposit && (r->uniform || r->cooling || (r->format && !r->format->reader)))
        FAIL(ERR_PARAM, "--deposit writes an octree, with -f hdf5 or ramses");
    if (r->cut.levelmin && !r->region) FAIL(ERR_PARAM, "--levelmin needs --region");
    return OK;
}

/* Sets one option. Returns the exit status, or GO_ON. */
static int set_option(int letter, const char *value, void *ctx)
{
    struct request *r = ctx;
    if (value && set_value(letter, value, r) != OK)
        return program_refuse(&PROGRAM, err_message(), NULL);
    if (!value) set_flag(letter, r);
    return GO_ON;
}

int request_read(int argc, char **argv, struct request *r)
{
    int first, status = program_read(&PROGRAM, argc, argv, set_option, r, &first);
    if (status != GO_ON) return status;
    r->paths = argv + first;
    r->npath = argc - first;
    return check_together(r) == OK ? GO_ON : program_refuse(&PROGRAM, err_message(), NULL);
}
