/* gadget/hdf5: the layout of HDF5 files: that of Gadget-4 (Springel et al. 2021), or that of SWIFT
 * (Schaller et al. 2024), whose numbers have no h and whose velocities are peculiar. HDF5 lays out
 * a file with the space of all datasets; values are written into it at their offsets. */
#include "gadget/file.h"

#ifdef PTAH_HDF5
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/cgs.h"
#include "base/mem.h"
#include "hdf5/file.h"

enum { SWIFT_TYPES = 7 };

/* A block as a dataset. exponent: powers of length, mass, time and expansion factor that make a
 * number of SWIFT physical. */
static const struct row {
    const char *name, *swift;
    int width;
    char type;
    double exponent[4];
    const char *text;
} ROW[GADGET_BLOCKS] = {
    [GADGET_POS] = {"Coordinates", "Coordinates", 3, 'd', {1, 0, 0, 1}, "Co-moving positions"},
    [GADGET_VEL] = {"Velocities", "Velocities", 3, 'd', {1, 0, -1, 0}, "Peculiar velocities"},
    [GADGET_ID] = {"ParticleIDs", "ParticleIDs", 1, 'q', {0, 0, 0, 0}, "Identities"},
    [GADGET_MASS] = {"Masses", "Masses", 1, 'd', {0, 1, 0, 0}, "Masses"},
    [GADGET_U] = {"InternalEnergy",
                  "InternalEnergies",
                  1,
                  'd',
                  {2, 0, -2, -2},
                  "Thermal energies per unit mass"},
    [GADGET_RHO] = {"Density", "Densities", 1, 'd', {-3, 1, 0, -3}, "Mass densities of the gas"},
    [GADGET_HSML] = {"SmoothingLength",
                     "SmoothingLengths",
                     1,
                     'd',
                     {1, 0, 0, 1},
                     "Smoothing lengths of the gas"},
    [GADGET_BH_MASS] = {
        "BH_Mass", "SubgridMasses", 1, 'd', {0, 1, 0, 0}, "Masses of the black holes"}};

static const char *name_of_block(const struct gadget_out *g, int block, int type)
{
    if (g->swift && block == GADGET_MASS && type == GADGET_HOLE) return "DynamicalMasses";
    return g->swift ? ROW[block].swift : ROW[block].name;
}

static bool has_block(const struct gadget_out *g, int block, int type)
{
    if (g->count[type] == 0) return false;
    return block <= GADGET_MASS || type == (block == GADGET_BH_MASS ? GADGET_HOLE : GADGET_GAS);
}

static int64_t size_of(const struct gadget_out *g, int block)
{
    return 8 * ROW[block].width;
}

/* ---- attributes: those of SWIFT are arrays of one number ---- */

struct head {
    const struct gadget_out *g;
    int file;
};

static void put(struct hdf5_file *f, const struct gadget_out *g, const char *group,
                const char *name, double x)
{
    if (g->swift)
        hdf5_attr(f, group, name, 'd', 1, &x);
    else
        hdf5_scalar(f, group, name, 'd', &x);
}

static void put_whole(struct hdf5_file *f, const struct gadget_out *g, const char *group,
                      const char *name, int32_t x)
{
    if (g->swift)
        hdf5_attr(f, group, name, 'i', 1, &x);
    else
        hdf5_scalar(f, group, name, 'i', &x);
}

static void put_number(struct hdf5_file *f, const char *group, const char *name, double x)
{
    char text[40];
    snprintf(text, sizeof text, "%.17g", x);
    hdf5_word(f, group, name, text);
}

static void add_group(struct hdf5_file *f, const char *name)
{
    char path[64];
    snprintf(path, sizeof path, "%s/", name);
    hdf5_small(f, path, 'i', 0, NULL);
}

static void fill_counts(struct hdf5_file *f, const struct head *h)
{
    const struct gadget_out *g = h->g;
    const int types = g->swift ? SWIFT_TYPES : GADGET_TYPES;
    int64_t here[SWIFT_TYPES] = {0}, total[SWIFT_TYPES] = {0};
    uint32_t low[SWIFT_TYPES] = {0}, high[SWIFT_TYPES] = {0};
    const double none[SWIFT_TYPES] = {0};
    for (int t = 0; t < GADGET_TYPES; t++) {
        here[t] = gadget_count(g, h->file, t);
        total[t] = g->count[t];
        low[t] = (uint32_t)total[t];
        high[t] = (uint32_t)(total[t] >> 32);
    }
    hdf5_attr(f, "Header", "NumPart_ThisFile", 'q', types, here);
    if (g->swift)
        hdf5_attr(f, "Header", "NumPart_Total", 'I', types, low);
    else
        hdf5_attr(f, "Header", "NumPart_Total", 'q', types, total);
    if (g->swift) hdf5_attr(f, "Header", "NumPart_Total_HighWord", 'I', types, high);
    hdf5_attr(f, "Header", "MassTable", 'd', types, none);
    put_whole(f, g, "Header", "NumFilesPerSnapshot", g->nfile);
}

/* ---- Gadget-4 ---- */

static void fill_gadget(struct hdf5_file *f, const struct gadget_out *g)
{
    static const char *const group = "Parameters";
    const double hubble = 100 * CGS_KM / CGS_MPC * g->length_cm / g->speed_cm;
    put(f, g, "Header", "BoxSize", g->box);
    put(f, g, "Header", "Time", g->time);
    put(f, g, "Header", "Redshift", g->redshift);
    add_group(f, group);
    put(f, g, group, "BoxSize", g->box);
    put_whole(f, g, group, "ComovingIntegrationOn", g->comoving);
    put(f, g, group, "Omega0", g->omega_m);
    put(f, g, group, "OmegaLambda", g->omega_l);
    put(f, g, group, "OmegaBaryon", g->omega_b);
    put(f, g, group, "HubbleParam", g->h);
    put(f, g, group, "Hubble", g->comoving ? hubble : 0);
    put(f, g, group, "UnitLength_in_cm", g->length_cm);
    put(f, g, group, "UnitMass_in_g", g->mass_g);
    put(f, g, group, "UnitVelocity_in_cm_per_s", g->speed_cm);
    /* Readers of Gadget-3 and Arepo look for cosmology in the header. */
    put(f, g, "Header", "Omega0", g->omega_m);
    put(f, g, "Header", "OmegaLambda", g->omega_l);
    put(f, g, "Header", "HubbleParam", g->h);
}

/* ---- SWIFT ---- */

/* Age of the universe, 1/H0: the integral of da/(a H) in u = a^(3/2), by Simpson's rule. */
static double age(const struct gadget_out *g)
{
    enum { STEPS = 2000 };
    const struct cosmo_par p = {.omega_m = g->omega_m, .omega_l = g->omega_l, .dark = g->dark};
    const double omega_k = 1 - g->omega_m - g->omega_l, du = pow(g->time, 1.5) / STEPS;
    double sum = 0;
    for (int i = 0; i <= STEPS; i++) {
        const double a = pow(i * du, 2. / 3), l = i > 0 ? cosmo_dark_density(&p, a) : 0,
                     f = 1 / sqrt(g->omega_m + omega_k * a + l * a * a * a);
        sum += (i == 0 || i == STEPS ? 1 : i % 2 ? 4 : 2) * f;
    }
    return 2. / 3 * sum * du / 3;
}

static void fill_units(struct hdf5_file *f, const struct gadget_out *g, const char *group)
{
    add_group(f, group);
    put(f, g, group, "Unit mass in cgs (U_M)", g->mass_g);
    put(f, g, group, "Unit length in cgs (U_L)", g->length_cm);
    put(f, g, group, "Unit time in cgs (U_t)", g->length_cm / g->speed_cm);
    put(f, g, group, "Unit current in cgs (U_I)", 1);
    put(f, g, group, "Unit temperature in cgs (U_T)", 1);
}

static void fill_cosmology(struct hdf5_file *f, const struct gadget_out *g, double h0)
{
    static const char *const group = "Cosmology";
    add_group(f, group);
    put_whole(f, g, group, "Cosmological run", g->comoving);
    put(f, g, group, "Scale-factor", g->comoving ? g->time : 1);
    put(f, g, group, "Redshift", g->redshift);
    put(f, g, group, "h", g->h);
    put(f, g, group, "H0 [internal units]", h0);
    put(f, g, group, "Omega_m", g->omega_m);
    put(f, g, group, "Omega_b", g->omega_b);
    put(f, g, group, "Omega_cdm", g->omega_m - g->omega_b);
    put(f, g, group, "Omega_lambda", g->omega_l);
    put(f, g, group, "Omega_k", g->comoving ? 1 - g->omega_m - g->omega_l : 0);
    put(f, g, group, "Omega_r", 0);
    put(f, g, group, "Omega_g", 0);
    put(f, g, group, "Omega_ur", 0);
    put(f, g, group, "Omega_nu", 0);
    put(f, g, group, "Omega_nu_0", 0);
    put(f, g, group, "w_0", g->dark.w1 - 1);
    put(f, g, group, "w_a", g->dark.wa);
    put(f, g, group, "N_eff", 0);
    put(f, g, group, "N_ur", 0);
    put(f, g, group, "M_nu_eV", 0);
    put(f, g, group, "deg_nu", 0);
}

/* Attributes that readers take for parameters of the run. */
static void fill_parameters(struct hdf5_file *f, const struct gadget_out *g)
{
    static const char *const group = "Parameters";
    static const char *const empty[] = {"HydroScheme", "SubgridScheme", "GravityScheme",
                                        "StarsScheme", "Policy"};
    for (size_t k = 0; k < sizeof empty / sizeof *empty; k++) add_group(f, empty[k]);
    hdf5_scalar(f, "Policy", "cosmological integration", 'i', &(int32_t){g->comoving});
    hdf5_scalar(f, "HydroScheme", "Adiabatic index", 'd', &g->gamma);
    add_group(f, group);
    hdf5_word(f, group, "InitialConditions:periodic", "1");
    put_number(f, group, "Cosmology:h", g->h);
    put_number(f, group, "Cosmology:Omega_b", g->omega_b);
    put_number(f, group, "Cosmology:Omega_cdm", g->omega_m - g->omega_b);
    put_number(f, group, "Cosmology:Omega_lambda", g->omega_l);
}

static void fill_swift(struct hdf5_file *f, const struct head *h)
{
    const struct gadget_out *g = h->g;
    const double box[3] = {g->box, g->box, g->box},
                 h0 = g->h * 100 * CGS_KM / CGS_MPC * g->length_cm / g->speed_cm;
    int64_t all = 0;
    for (int t = 0; t < GADGET_TYPES; t++) all += g->count[t];
    hdf5_attr(f, "Header", "BoxSize", 'd', 3, box);
    put_whole(f, g, "Header", "Dimension", 3);
    put(f, g, "Header", "Time", g->comoving ? age(g) / h0 : g->time);
    put(f, g, "Header", "Redshift", g->redshift);
    put(f, g, "Header", "Scale-factor", g->comoving ? g->time : 1);
    put_whole(f, g, "Header", "ThisFile", h->file);
    put_whole(f, g, "Header", "Virtual", 0);
    put_whole(f, g, "Header", "NumPartTypes", SWIFT_TYPES);
    hdf5_attr(f, "Header", "TotalNumberOfParticles", 'q', 1, &all);
    hdf5_word(f, "Header", "Code", "SWIFT"); /* by which readers recognise the layout */
    hdf5_word(f, "Header", "OutputType", "FullVolume");
    hdf5_word(f, "Header", "SelectOutput", "Default");
    hdf5_word(f, "Header", "RunName", "ptah");
    fill_units(f, g, "Units");
    fill_units(f, g, "InternalCodeUnits");
    fill_cosmology(f, g, h0);
    fill_parameters(f, g);
}

/* SWIFT sorts particles by cells of a mesh, by which readers find those of a region. One cell, the
 * box, has all particles here. */
static void fill_cells(struct hdf5_file *f, const struct head *h)
{
    const struct gadget_out *g = h->g;
    const double size[3] = {g->box, g->box, g->box};
    const int32_t one = 1, dimension[3] = {1, 1, 1};
    add_group(f, "Cells");
    add_group(f, "Cells/Meta-data");
    hdf5_attr(f, "Cells/Meta-data", "dimension", 'i', 3, dimension);
    hdf5_attr(f, "Cells/Meta-data", "nr_cells", 'i', 1, &one);
    hdf5_attr(f, "Cells/Meta-data", "size", 'd', 3, size);
    for (int t = 0; t < GADGET_TYPES; t++) {
        const int64_t count = gadget_count(g, h->file, t), zero = 0;
        const int32_t file = h->file;
        char path[64];
        if (g->count[t] == 0) continue;
        snprintf(path, sizeof path, "Cells/Counts/PartType%d", t);
        hdf5_small(f, path, 'q', 1, &count);
        snprintf(path, sizeof path, "Cells/OffsetsInFile/PartType%d", t);
        hdf5_small(f, path, 'q', 1, &zero);
        snprintf(path, sizeof path, "Cells/Files/PartType%d", t);
        hdf5_small(f, path, 'i', 1, &file);
    }
}

/* Units of a dataset of SWIFT. */
static void describe(struct hdf5_file *f, const struct gadget_out *g, const struct hdf5_set *s,
                     int block)
{
    const struct row *r = &ROW[block];
    const double *e = r->exponent, a = g->comoving ? g->time : 1,
                 unit = pow(g->length_cm, e[0]) * pow(g->mass_g, e[1]) *
                        pow(g->length_cm / g->speed_cm, e[2]);
    put(f, g, s->path, "U_L exponent", e[0]);
    put(f, g, s->path, "U_M exponent", e[1]);
    put(f, g, s->path, "U_t exponent", e[2]);
    put(f, g, s->path, "U_I exponent", 0);
    put(f, g, s->path, "U_T exponent", 0);
    put(f, g, s->path, "h-scale exponent", 0);
    put(f, g, s->path, "a-scale exponent", e[3]);
    put(f, g, s->path, "Conversion factor to CGS (not including cosmological corrections)", unit);
    put(f, g, s->path, "Conversion factor to physical CGS (including cosmological corrections)",
        unit * pow(a, e[3]));
    hdf5_word(f, s->path, "Description", r->text);
    hdf5_word(f, s->path, "Lossy compression filter", "None");
}

/* Units of a dataset of Gadget-4: powers of the expansion factor, h and the units; without
 * cosmology those of the units alone. */
static void describe_gadget(struct hdf5_file *f, const struct gadget_out *g,
                            const struct hdf5_set *s, int block)
{
    static const struct {
        double a, h, length, mass, speed;
    } POWER[GADGET_BLOCKS] = {[GADGET_POS] = {1, -1, 1, 0, 0},    [GADGET_VEL] = {0.5, 0, 0, 0, 1},
                              [GADGET_MASS] = {0, -1, 0, 1, 0},   [GADGET_U] = {0, 0, 0, 0, 2},
                              [GADGET_RHO] = {-3, 2, -3, 1, 0},   [GADGET_HSML] = {1, -1, 1, 0, 0},
                              [GADGET_BH_MASS] = {0, -1, 0, 1, 0}};
    const bool scaled = g->comoving;
    put(f, g, s->path, "a_scaling", scaled ? POWER[block].a : 0);
    put(f, g, s->path, "h_scaling", scaled ? POWER[block].h : 0);
    put(f, g, s->path, "length_scaling", POWER[block].length);
    put(f, g, s->path, "mass_scaling", POWER[block].mass);
    put(f, g, s->path, "velocity_scaling", POWER[block].speed);
    put(f, g, s->path, "to_cgs",
        pow(g->length_cm, POWER[block].length) * pow(g->mass_g, POWER[block].mass) *
            pow(g->speed_cm, POWER[block].speed));
}

/* ---- files ---- */

/* A reader looks for all cells in one file. */
static bool has_cells(const struct gadget_out *g)
{
    return g->swift && g->nfile == 1;
}

static void fill(struct hdf5_file *f, const void *ctx)
{
    const struct head *h = ctx;
    const struct gadget_out *g = h->g;
    add_group(f, "Header");
    fill_counts(f, h);
    if (g->swift)
        fill_swift(f, h);
    else
        fill_gadget(f, g);
    if (has_cells(g)) fill_cells(f, h);
    add_group(f, "Code");
    hdf5_word(f, "Code", "Code", g->swift ? "SWIFT" : "Gadget-4");
    hdf5_word(f, "Code", "Written by", g->provenance ? g->provenance : "Ptah");
    hdf5_make_sets(f);
    int k = 0;
    for (int t = 0; t < GADGET_TYPES; t++)
        for (int b = 0; b < GADGET_BLOCKS; b++)
            if (has_block(g, b, t)) {
                (g->swift ? describe : describe_gadget)(f, g, &f->set[k], b);
                k++;
            }
}

static void add_sets(struct hdf5_file *f, const struct gadget_out *g, int file)
{
    for (int t = 0; t < GADGET_TYPES; t++)
        for (int b = 0; b < GADGET_BLOCKS; b++) {
            if (!has_block(g, b, t)) continue;
            const int64_t n = gadget_count(g, file, t), w = ROW[b].width;
            const int set = hdf5_add(f, ROW[b].type, n * w, n * w + 1, "PartType%d/%s", t,
                                     name_of_block(g, b, t));
            if (w > 1) hdf5_shape(f, set, 2, (int64_t[]){n, w});
        }
    if (has_cells(g)) hdf5_shape(f, hdf5_add(f, 'd', 3, 4, "Cells/Centres"), 2, (int64_t[]){1, 3});
}

/* The centre of the only cell. */
static enum err put_cells(struct hdf5_file *f, const struct gadget_out *g)
{
    const double x[3] = {0.5 * g->box, 0.5 * g->box, 0.5 * g->box};
    if (has_cells(g)) hdf5_put(f, f->nset - 1, 0, 3, x);
    return f->err;
}

static enum err make_file(struct gadget_out *g, int file, int fd, const char *path)
{
    const struct comm alone = {.size = 1};
    const struct head h = {g, file};
    struct hdf5_file f;
    if (!g->offset) g->offset = mem_zero(sizeof *g->offset * (size_t)g->nfile, "snapshot");
    hdf5_init(&f, &alone, path, 0);
    f.plain = true;
    add_sets(&f, g, file);
    enum err err = hdf5_create(&f, fill, &h);
    if (err == OK) err = put_cells(&f, g);
    int k = 0;
    for (int t = 0; t < GADGET_TYPES && err == OK; t++)
        for (int b = 0; b < GADGET_BLOCKS; b++)
            if (has_block(g, b, t)) g->offset[file][t][b] = f.set[k++].at;
    hdf5_fini(&f);
    return err;
}
#else
#include <stdio.h>

static bool has_block(const struct gadget_out *g, int block, int type)
{
    return false;
}

static int64_t size_of(const struct gadget_out *g, int block)
{
    return 8;
}

static enum err make_file(struct gadget_out *g, int file, int fd, const char *path)
{
    FAIL(ERR_LIMIT, "%s: this program was built without HDF5: install its library, then run make",
         g->path);
}
#endif

static int files_needed(const struct gadget_out *g)
{
    return 1;
}

/* BASE.hdf5, or BASE.0.hdf5 and so on. */
static void name_of(const struct gadget_out *g, int file, char path[PATH_MAX])
{
    const char *end = strrchr(g->path, '.');
    const bool ends = end && strcmp(end, ".hdf5") == 0;
    const int n = ends ? (int)(end - g->path) : (int)strlen(g->path);
    if (g->nfile > 1)
        snprintf(path, PATH_MAX, "%.*s.%d%s", n, g->path, file, ends ? end : "");
    else
        snprintf(path, PATH_MAX, "%s", g->path);
}

static int64_t rows_at(const struct gadget_out *g, int file, int type, int block)
{
    return g->offset[file][type][block];
}

const struct gadget_layout gadget_hdf5 = {.creates = true,
                                          .files = files_needed,
                                          .name = name_of,
                                          .make = make_file,
                                          .has = has_block,
                                          .size = size_of,
                                          .at = rows_at};
