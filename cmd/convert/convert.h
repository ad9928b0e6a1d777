/* convert: declarations shared by the files of this program. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "ckpt/cut.h"
#include "comm/comm.h"
#include "formats/formats.h"
#include "smooth/smooth.h"

enum { REDSHIFTS = 256 };

struct request {
    const struct format *format; /* output format; NULL: hdf5 from RAMSES binary, else ramses */
    const char *out;             /* output path; NULL: directory named after the format */
    int ranks, deflate, files, verbosity;
    unsigned legacy;
    int64_t memory;
    struct cut cut;
    const char *region; /* region as given on the command line */
    bool gas, named, force, json;
    int uniform;        /* cells a side of a uniform mesh or a cube to write; 0: none */
    int level;          /* the level whose cells a cube has; 0: none */
    const char *fields; /* of a cube or for VTK; NULL: the default */
    bool physical;
    bool deposit; /* write smoothed particles as an octree */
    bool cooling; /* write a cooling table instead of a checkpoint */
    /* points of the cooling table: densities, metallicities, temperatures; 0: default */
    int points[3];
    int nz; /* number of redshifts; 0: redshift of the checkpoint alone */
    double z[REDSHIFTS];
    const char *provenance;
    int npath;
    char **paths;
};

/* Reads the options into r. Returns the exit status, or GO_ON (out/program.h). */
int request_read(int argc, char **argv, struct request *r);
/* Converts one checkpoint; path (size n) receives the path of the result. (collective) */
MUST_USE enum err convert_checkpoint(const struct request *r, const char *in, const struct comm *c,
                                     char *path, size_t n);
/* Writes a checkpoint of a uniform mesh from the gas of an octree. (collective) */
MUST_USE enum err convert_uniform(const struct request *r, const char *in, const struct comm *c,
                                  char *path, size_t n);
/* Writes a checkpoint of a uniform mesh as a file of VTK. (local) */
MUST_USE enum err convert_vti(const struct request *r, const char *in, char *path, size_t n);
/* Whether the request is for smoothed particles as such (formats sph, phantom, gadget4, vtp), and
 * the conversion. (local) */
bool convert_has_particles(const struct request *r, const char *in);
const char *convert_particles_name(const struct request *r, const char *in); /* NULL: it is not */
MUST_USE enum err convert_particles(const struct request *r, const char *in, char *path, size_t n);
/* Whether the request is for a cube of fields (lib/export), and the conversion. (local) */
bool convert_is_cube(const struct request *r);
MUST_USE enum err convert_cube(const struct request *r, const char *in, char *path, size_t n);
/* Writes the cells and particles of an octree as files of VTK. (local) */
MUST_USE enum err convert_vtk(const struct request *r, const char *in, char *path, size_t n);
/* Path of a single exported file: OUT, or DIR/<stem>_NNNNN.<suffix> where DIR, OUT or by default
 * the name of the format, is created. */
MUST_USE enum err convert_name_export(const struct request *r, const char *stem, int number,
                                      const char *suffix, char *path, size_t n);
/* Writes particles as a file of VTK. (local) */
MUST_USE enum err convert_vtp(const char *path, double t, const struct smooth_par *par,
                              const struct smooth *p);
/* Writes a cooling table from `in`: a checkpoint, or a Grackle table. (local) */
MUST_USE enum err convert_cooling(const struct request *r, const char *in, char *path, size_t n);
