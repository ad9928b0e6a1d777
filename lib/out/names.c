/* out/names: see names.h. */
#include "out/names.h"

#include <stddef.h>
#include <string.h>

/* # stands for a digit. */
static bool fits(const char *name, const char *form)
{
    for (; *form && *name; form++, name++)
        if (*form == '#' ? *name < '0' || *name > '9' : *form != *name) return false;
    return !*form && !*name;
}

static bool fits_one(const char *name, const char *const *form)
{
    for (; *form; form++)
        if (fits(name, *form)) return true;
    return false;
}

bool ckpt_name_is_main(const char *name)
{
    static const char *const form[] = {"info_#####.txt", "data_#####.h5", NULL};
    return fits_one(name, form);
}

bool ckpt_name_is_ours(const char *name)
{
    static const char *const form[] = {"amr_#####.out#####",
                                       "hydro_#####.out#####",
                                       "grav_#####.out#####",
                                       "part_#####.out#####",
                                       "exact_#####.out#####",
                                       "spill.#####",
                                       "header_#####.txt",
                                       "checksums_#####.txt",
                                       "cooling_#####.out",
                                       "sink_#####.csv",
                                       "stellar_#####.csv",
                                       "namelist.txt",
                                       "compilation.txt",
                                       "makefile.txt",
                                       "patches.txt",
                                       "hydro_file_descriptor.txt",
                                       "part_file_descriptor.txt",
                                       NULL};
    return ckpt_name_is_main(name) || fits_one(name, form);
}
