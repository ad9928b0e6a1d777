/* ramses/columns: finds the columns of the particle files of a RAMSES snapshot.
 *
 * Since 2017 a descriptor lists them. For earlier files the optional records are counted, their
 * types follow from their lengths, and their names from the line of particle fields in the header
 * file. */
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "io/file.h"
#include "ramses/priv.h"

static const size_t HEADER_MAX = (size_t)1 << 20;
static enum err count_columns(struct ramses *r);
static enum err find_columns(struct ramses *r);
static enum err add_family(struct ramses *r);
static enum err read_formed(struct ramses *r);

enum err ramses_read_columns(struct ramses *r)
{
    bool old;
    if (!ramses_has_file(r, FILES_PART)) return OK;
    TRY(info_descriptor(r->s, FILES_PART_NAMES, r->s->part, &r->s->npart, &old));
    if (r->s->npart == 0) TRY(count_columns(r));
    TRY(find_columns(r));
    if (r->s->column_at[COL_FAMILY] < 0) TRY(add_family(r));
    TRY(read_formed(r));
    r->s->head.particles = true;
    r->s->head.stars = r->s->column_at[COL_BIRTH] >= 0;
    r->s->head.metal = r->s->column_at[COL_METAL] >= 0;
    return OK;
}

/* Reads the counts of stars formed from file 1; all files have the same. */
static enum err read_formed(struct ramses *r)
{
    char path[PATH_MAX];
    struct fort_in f;
    int64_t npart;
    TRY(ramses_path(r, FILES_PART, 1, path));
    enum err err = fort_open(&f, path);
    if (err == OK) err = ramses_part_head(&f, r, &npart, &r->s->formed);
    fort_shut(&f);
    return err;
}

/* Whether a component of a position or velocity exists in the dimensions of the run. */
static bool is_of_run(const struct ramses *r, int column)
{
    return column >= COL_MASS || column % 3 < r->s->head.ndim;
}

static enum err find_columns(struct ramses *r)
{
    for (int i = 0; i < r->s->npart; i++)
        for (int c = 0; c < COL_COUNT; c++) {
            const struct part_column *col = part_column(NULL, c);
            if (strcmp(r->s->part[i].name, col->name) != 0) continue;
            if (part_type_is_real(r->s->part[i].type) != part_type_is_real(col->type))
                FAIL(ERR_FORMAT, "%s: column %s of the particle files has the unexpected type '%c'",
                     r->s->path, col->name, r->s->part[i].type);
            r->s->column_at[c] = i;
        }
    for (int c = 0; c < COL_COUNT; c++)
        if (r->s->column_at[c] < 0 && part_column(NULL, c)->lack == LACK_ERROR && is_of_run(r, c))
            FAIL(ERR_FORMAT, "%s: the particle files have no column %s, which a checkpoint needs",
                 r->s->path, part_column(NULL, c)->name);
    return OK;
}

/* Adds the family column, which is derived from other columns during reading. */
static enum err add_family(struct ramses *r)
{
    r->made_family = true;
    r->s->column_at[COL_FAMILY] = r->s->npart;
    return source_add_field(r->s->path, r->s->part, &r->s->npart,
                            part_column(NULL, COL_FAMILY)->name, 'b');
}

/* ---- files from before the descriptor ---- */

/* Reads the names after "level" in the header file's line of particle fields, translated to names
 * of the descriptor. */
static enum err header_words(const struct ramses *r, struct ckpt_field *list, int *n)
{
    char path[PATH_MAX], *text, *save = NULL;
    size_t size;
    *n = 0;
    TRY(info_path(r->s, FILES_HEADER, path));
    if (!file_exists(path)) return OK;
    TRY(file_load(path, HEADER_MAX, &text, &size));
    char *line = strstr(text, "pos vel mass iord level");
    enum err err = OK;
    if (line) line[strcspn(line, "\r\n")] = 0;
    const char *w = line ? strtok_r(line, " ", &save) : NULL;
    for (int i = 0; err == OK && w; w = strtok_r(NULL, " ", &save), i++) {
        const char *name = w;
        for (int c = 0; c < COL_COUNT; c++)
            if (strcmp(w, part_column(NULL, c)->word) == 0) name = part_column(NULL, c)->name;
        if (i >= 5) err = source_add_field(path, list, n, name, 'd');
    }
    mem_free(text);
    return err;
}

/* Names the optional columns if the header does not: family and tag, of one byte each, if they
 * exist; then one more column is the birth time, two are birth time and metallicity, three begin
 * with the potential. cuRAMSES has one more than its header lists, the age marker of the yield
 * tables. */
static void name_extras(const struct ckpt_field *word, int nword, int n, const char *type,
                        char name[][48])
{
    static const char *const usual[] = {"potential", "birth_time", "metallicity"};
    int first = nword == 0 && n >= 2 && type[0] == 'b' && type[1] == 'b' ? 2 : 0;
    for (int i = 0; i < n; i++) {
        bool marker = i == nword && nword && strcmp(word[nword - 1].name, "initialmass") == 0;
        if (i < nword)
            memcpy(name[i], word[i].name, sizeof word[i].name);
        else if (i < first)
            snprintf(name[i], 48, "%s", part_column(NULL, COL_FAMILY + i)->name);
        else if (nword == 0 && n - first <= 3)
            snprintf(name[i], 48, "%s", usual[n - first == 3 ? i - first : i - first + 1]);
        else
            snprintf(name[i], 48, marker ? "indtab" : "extra_%02d", i - nword);
    }
}

static char type_by_length(int64_t bytes, int64_t npart, char real, char whole)
{
    if (npart == 0) return real ? 'd' : whole;
    if (bytes == 8 * npart) return real ? 'd' : 'q';
    if (bytes == 4 * npart) return real ? 'f' : 'i';
    return bytes == 2 * npart ? 'h' : 'b';
}

static enum err default_columns(struct ramses *r, const char *path, struct fort_in *f,
                                int64_t npart)
{
    struct ckpt_field word[CKPT_FIELDS];
    char name[CKPT_FIELDS][48], type[CKPT_FIELDS];
    int n = 0, nword, more = 0;
    struct fort_rec rec;
    for (int i = 0; i <= COL_LEVEL; i++) {
        if (!is_of_run(r, i)) continue;
        TRY(fort_next(f, part_column(NULL, i)->name, &rec));
        TRY(source_add_field(path, r->s->part, &n, part_column(NULL, i)->name,
                             type_by_length(rec.bytes, npart, i < COL_ID, 'i')));
    }
    for (; f->at < f->size; more++) {
        if (n + more == CKPT_FIELDS)
            FAIL(ERR_LIMIT, "%s: has more than %d columns, the limit of this program", path,
                 CKPT_FIELDS);
        TRY(fort_next(f, "optional column", &rec));
        type[more] = type_by_length(rec.bytes, npart, true, 'i');
    }
    TRY(header_words(r, word, &nword));
    name_extras(word, nword, more, type, name);
    for (int i = 0; i < more; i++) TRY(source_add_field(path, r->s->part, &n, name[i], type[i]));
    r->s->npart = n;
    return OK;
}

/* Counts the columns in the first file that has particles, or in the last one if none has. */
static enum err count_columns(struct ramses *r)
{
    enum err err = OK;
    bool done = false;
    for (int file = 1; err == OK && !done && file <= r->s->npiece; file++) {
        char path[PATH_MAX];
        struct fort_in f;
        int64_t npart = 0;
        TRY(ramses_path(r, FILES_PART, file, path));
        err = fort_open(&f, path);
        if (err == OK) err = ramses_part_head(&f, r, &npart, NULL);
        done = npart > 0 || file == r->s->npiece;
        if (err == OK && done) err = default_columns(r, path, &f, npart);
        fort_shut(&f);
    }
    return err;
}
