#include "ics/files.h"
#include "base/mem.h"
#include "ics/split.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Fields of initial conditions with and without cosmology: a full file name, or a prefix followed
 * by letters or digits. Other files are ignored, such as a user's copies (ic_velcx.old). */
static const struct field {
    const char *name;
    bool begin, cosmo, plain;
} FIELD[] = {{"ic_delta", true, true, false},  {"ic_vel", true, true, false},
             {"ic_pos", true, true, false},    {"ic_temp", true, true, false},
             {"ic_mass", true, true, false},   {"ic_particle_ids", false, true, false},
             {"ic_refmap", false, true, true}, {"ic_pvar_", true, true, true},
             {"ic_d", false, false, true},     {"ic_u", false, false, true},
             {"ic_v", false, false, true},     {"ic_w", false, false, true},
             {"ic_p", false, false, true},     {"ic_b", true, true, true}};

const char *ics_first_file(const char *dir, bool cosmo, bool gas)
{
    if (!cosmo) return "ic_d";
    bool dark = !gas && !ics_exists(dir, "ic_deltab") && ics_exists(dir, "ic_velcx");
    return dark ? "ic_velcx" : "ic_deltab";
}

bool ics_is_level(const char *dir)
{
    return ics_exists(dir, ics_first_file(dir, true, false));
}

static bool is_field(const char *name, bool cosmo)
{
    for (size_t i = 0; i < sizeof FIELD / sizeof *FIELD; i++) {
        const struct field *f = &FIELD[i];
        size_t n = strlen(f->name);
        if (!(cosmo ? f->cosmo : f->plain) || strncmp(name, f->name, n) != 0) continue;
        size_t more = strspn(name + n, "abcdefghijklmnopqrstuvwxyz0123456789");
        if (!name[n + more] && f->begin == (more > 0)) return true;
    }
    return false;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(a, b);
}

enum err ics_list_files(const char *dir, bool cosmo, char (*name)[ICS_NAME], int *n)
{
    DIR *d = opendir(dir);
    if (!d) FAIL(ERR_FILE, "%s: cannot be opened: %s", dir, strerror(errno));
    enum err err = OK;
    *n = 0;
    for (struct dirent *e; err == OK && (e = readdir(d));) {
        char split[ICS_NAME];
        const bool blocks = ics_is_split(dir, e->d_name, split) && !grafic_exists(dir, split);
        const char *field = blocks ? split : e->d_name;
        if (!is_field(field, cosmo) || strlen(field) >= ICS_NAME) continue;
        if (*n == ICS_FILES)
            err = err_set(ERR_LIMIT, "%s: has more than %d files of initial conditions", dir,
                          ICS_FILES);
        else
            snprintf(name[(*n)++], ICS_NAME, "%.*s", ICS_NAME - 1, field);
    }
    closedir(d); /* the directory was only read */
    mem_sort(name, (size_t)*n, ICS_NAME, by_name);
    return err;
}

enum err ics_check_files(const char *dir, bool cosmo, const char *first,
                         const struct grafic_head *head, ics_file_fn *fn, void *ctx)
{
    char name[ICS_FILES][ICS_NAME];
    int n;
    TRY(ics_list_files(dir, cosmo, name, &n));
    for (int i = 0; i < n; i++) {
        struct ics_file f;
        TRY(ics_open(&f, dir, name[i], cosmo));
        enum err err = grafic_check_same(&f.whole, head, first, cosmo);
        if (err == OK && fn) err = fn(&f, name[i], ctx);
        ics_close(&f);
        TRY(err);
    }
    return OK;
}
