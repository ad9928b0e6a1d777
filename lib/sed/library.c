/* sed/library: which library of spectra a directory holds. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "sed/priv.h"

static bool ends(const char *name, const char *with)
{
    size_t n = strlen(name), k = strlen(with);
    return n > k && strcmp(name + n - k, with) == 0;
}

/* Metallicity in the name of a file of BPASS, spectra-bin-imf135_300.z020.dat or …zem4.dat;
 * negative: it is none. */
static double bpass_metal(const char *name)
{
    if (strncmp(name, "spectra", 7) != 0 || !ends(name, ".dat")) return -1;
    for (const char *s = name; (s = strstr(s, ".z")); s += 2) {
        int digits = (int)strspn(s + 2, "0123456789"), end = 0, power;
        if (digits == 3 && s[5] == '.') {
            int thousandths = (s[2] - '0') * 100 + (s[3] - '0') * 10 + s[4] - '0';
            return thousandths / 1000.0;
        }
        if (sscanf(s, ".zem%1d%n", &power, &end) == 1 && s[end] == '.')
            return power == 4 ? 1e-4 : power == 5 ? 1e-5 : -1;
    }
    return -1;
}

static void add(struct sed_files *f, const char *dir, const char *name, double metal)
{
    f->at = mem_grow(f->at, sizeof *f->at * (size_t)(f->n + 1), "spectra");
    snprintf(f->at[f->n].path, sizeof f->at->path, "%s/%s", dir, name);
    f->at[f->n++].metal = metal;
}

/* Lists the files of each kind; *ramses: whether there is a table in the layout of RAMSES; *packed:
 * whether there is a compressed file. */
static enum err list(const char *dir, bool *ramses, bool *packed, struct sed_files *bpass,
                     struct sed_files *bc03)
{
    DIR *d = opendir(dir);
    if (!d) FAIL(ERR_FILE, "%s: %s: it should have spectra of stars", dir, strerror(errno));
    for (struct dirent *e; (e = readdir(d));) {
        double metal = bpass_metal(e->d_name);
        if (strlen(dir) + strlen(e->d_name) + 2 > PATH_MAX) continue;
        if (strcmp(e->d_name, "all_seds.dat") == 0) *ramses = true;
        *packed |= ends(e->d_name, ".dat.gz") || ends(e->d_name, ".ised_ASCII.gz");
        if (metal > 0 && bpass->n < SED_METALS_MAX) add(bpass, dir, e->d_name, metal);
        if (ends(e->d_name, ".ised_ASCII") && bc03->n < SED_METALS_MAX)
            add(bc03, dir, e->d_name, 0);
    }
    closedir(d);
    return OK;
}

enum err sed_read_library(struct sed_reading *r)
{
    struct sed_files bpass = {0}, bc03 = {0};
    bool ramses = false, packed = false;
    enum err err;
    TRY_OUT(list(r->dir, &ramses, &packed, &bpass, &bc03));
    if (ramses + (bpass.n > 0) + (bc03.n > 0) > 1)
        err = err_set(ERR_FILE,
                      "%s: has files of several libraries of spectra (all_seds.dat, "
                      "spectra*.zNNN.dat, *.ised_ASCII): leave one of them there",
                      r->dir);
    else if (ramses)
        err = sed_read_ramses(r);
    else if (bpass.n)
        err = sed_read_bpass(r, &bpass);
    else if (bc03.n)
        err = sed_read_bc03(r, &bc03);
    else
        err = err_set(ERR_FILE,
                      "%s: has no spectra of stars: neither all_seds.dat (RAMSES) nor files "
                      "spectra*.zNNN.dat (BPASS) or *.ised_ASCII (Bruzual & Charlot)%s",
                      r->dir, packed ? "; uncompress its files (gunzip)" : "");
out:
    FREE(bpass.at);
    FREE(bc03.at);
    return err;
}
