/* fuzz/targets: see fuzz.h. Checkpoints consist of several files: the files of FUZZ_BASE are copied
 * to memory (/dev/shm), and the file of the target is replaced by the input. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "audit/digest.h"
#include "base/checksum.h"
#include "base/mem.h"
#include "ckpt/manifest.h"
#include "ckpt/source.h"
#include "cone/read.h"
#include "cool/uv.h"
#include "cosmo/response.h"
#include "expr/expr.h"
#include "film/frame.h"
#include "formats/formats.h"
#include "fuzz.h"
#include "io/ascii_part.h"
#include "io/fortran.h"
#include "io/grafic.h"
#include "param/nml.h"
#include "param/param.h"
#include "phys/yields.h"
#include "sed/background.h"
#include "snap/snap.h"
#include "sphfile/either.h"
#include "sphfile/gadget4.h"

static char dir[64] = "/dev/shm/fuzz.XXXXXX", file[128];
static int memory = -1;
static const struct target *target;

struct target {
    const char *name, *file; /* file of the checkpoint that is replaced; NULL: none */
    int records;
    void (*run)(const char *text, size_t n);
};

/* ---- checkpoints ---- */

static enum err pass_octs(const struct source_octs *o, void *ctx)
{
    return OK;
}

static enum err pass_parts(const struct source_parts *p, void *ctx)
{
    for (int64_t i = 0; i < p->n; i++) *(int *)ctx ^= (int)p->family[i];
    return OK;
}

static void run_octs(int values)
{
    struct source *r;
    enum err err = source_open(dir, &r);
    for (int i = 0; err == OK && i < r->npiece && i < 3; i++)
        err = source_octs(r, i, values ? SOURCE_STORED : SOURCE_TREE, pass_octs, NULL);
    if (err == OK) err = source_check_tree(r);
    source_close(&r);
}

static void run_tree(const char *text, size_t n)
{
    run_octs(0);
}

static void run_values(const char *text, size_t n)
{
    run_octs(1);
}

static void run_parts(const char *text, size_t n)
{
    struct source *r;
    int sum = 0;
    enum err err = source_open(dir, &r);
    for (int i = 0; err == OK && i < r->npiece && i < 3; i++)
        err = source_parts(r, i, SOURCE_STORED, pass_parts, &sum);
    source_close(&r);
}

static void run_digest(const char *text, size_t n)
{
    struct source *r;
    struct digest d;
    enum err err = source_open(dir, &r);
    if (err == OK && r->npiece < 4) err = digest_snapshot(r, &(struct comm){.size = 1}, &d);
    source_close(&r);
}

static enum err source_pass(const struct source_octs *o, void *ctx)
{
    return OK;
}

/* Opens a checkpoint, which reads all files except those of the mesh. */
static void run_open(const char *text, size_t n)
{
    struct source *r;
    FILE *out = fopen("/dev/null", "w");
    if (source_open(dir, &r) == OK && out) {
        catalog_write_text(r->sinks, out, "msink");
        catalog_write_text(r->stellar, out, "mstellar");
    }
    if (out) fclose(out);
    source_close(&r);
}

static enum err source_pass_parts(const struct source_parts *p, void *ctx)
{
    return OK;
}

/* late: checksums are compared after the files were read. */
static void run_whole(bool late)
{
    struct source *s;
    char *found;
    size_t bytes;
    enum err err = source_open_state(dir, 1.4, 1e-10, &s);
    if (err == OK) s->late = late;
    for (int i = 0; err == OK && i < s->npiece && i < 3; i++) {
        err = source_octs(s, i, SOURCE_STATE, source_pass, NULL);
        if (err == OK) err = source_parts(s, i, SOURCE_STATE, source_pass_parts, NULL);
    }
    for (int i = 0; err == OK && i < 2; i++) {
        err = source_text(s, i ? FILES_NAMELIST : FILES_HISTORY, &found, &bytes);
        if (err == OK) mem_free(found);
    }
    source_close(&s);
}

static void run_source(const char *text, size_t n)
{
    run_whole(false);
}

static void run_late(const char *text, size_t n)
{
    run_whole(true);
}

/* Feeds a list of checksums for the files of the checkpoint. */
static void run_listed(const char *text, size_t n)
{
    struct manifest *m = NULL;
    enum err err = manifest_load(dir, 1, &m);
    for (int64_t i = 0; err == OK && m && i < m->n; i++)
        err = manifest_check_file(m, dir, m->row[i].name);
    manifest_free(&m);
    manifest_is_backup(dir, 1);
    run_whole(false);
    run_whole(true);
}

/* ---- operations of inspect and of programs that pass checkpoints on ---- */

static void note(void *ctx, enum source_damage d, const char *path, const char *location,
                 const char *what)
{
    *(size_t *)ctx += strlen(path) + strlen(location) + strlen(what);
}

static void domains_of(struct source *s)
{
    struct source_domains d = {0};
    enum err err = s->kind->domains ? s->kind->domains(s, &d) : OK;
    if (err != OK) d.kmax = 0;
    FREE(d.bound);
    FREE(d.axis);
    FREE(d.next);
    FREE(d.rank);
    FREE(d.cut);
    FREE(d.lo);
    FREE(d.hi);
}

static void ranks_of(struct source *s)
{
    if (!s->kind->ranks || s->nwriter > 8) return;
    size_t n = (size_t)s->nwriter;
    struct source_rank *row = mem_zero(sizeof *row * n + 1, "test");
    enum err err = s->kind->ranks(s, row);
    for (size_t i = 0; i < n; i++) FREE(row[i].partner);
    if (err != OK) n = 0;
    FREE(row);
}

static void run_audit(const char *text, size_t n)
{
    struct source *s;
    size_t said = 0;
    enum err err = source_open(dir, &s);
    if (err == OK && s->kind->check_files) err = s->kind->check_files(s, note, &said);
    for (int i = 0; err == OK && s->kind->check_piece && i < s->npiece && i < 3; i++)
        err = s->kind->check_piece(s, i, note, &said);
    if (s) domains_of(s), ranks_of(s);
    source_close(&s);
}

/* Reads as convert and repartition do: the bits of another code, or the state of a run. */
static void run_passed_on(const char *text, size_t n)
{
    struct source *s;
    enum source_mode mode;
    enum err err = source_open_whole(dir, &mode, &s);
    for (int i = 0; err == OK && i < s->npiece && i < 3; i++) {
        err = source_octs(s, i, mode, source_pass, NULL);
        if (err == OK) err = source_parts(s, i, mode, source_pass_parts, NULL);
    }
    if (err == OK && (source_values(s, mode) < 0 || source_dx(s, 1) <= 0)) abort();
    source_close(&s);
    run_audit(text, n);
    run_whole(false);
}

static bool pick_even(void *ctx, int level, int n, const okey *key)
{
    return key[0] % 2 == 0;
}

static bool pick_left(void *ctx, int64_t n, const double *const x[3])
{
    return x[0][0] < 0.5;
}

/* Reads a part of the checkpoint, as a map does. */
static void run_picked(const char *text, size_t n)
{
    static const struct ckpt_pick pick = {pick_even, pick_left, NULL};
    struct source *s;
    enum err err = source_open_state(dir, 0, 0, &s);
    if (err == OK) s->pick = &pick;
    for (int i = 0; err == OK && i < s->npiece && i < 3; i++) {
        err = source_octs(s, i, SOURCE_STATE, source_pass, NULL);
        if (err == OK) err = source_parts(s, i, SOURCE_STATE, source_pass_parts, NULL);
    }
    source_close(&s);
}

/* ---- single files ---- */

/* Feeds Fortran records; the first bytes select the operations. */
static void run_fortran(const char *text, size_t n)
{
    struct fort_in f;
    struct fort_rec rec;
    char some[64];
    int32_t x;
    enum err err = fort_open(&f, file);
    for (size_t i = 0; err == OK && i < n && i < 16; i++) {
        int what = text[i] & 7, size = (text[i] >> 3 & 15) * 4;
        if (what == 0)
            err = fort_skip(&f, "skip", size);
        else if (what == 1)
            err = fort_get_i4(&f, "number", &x);
        else if (what == 2)
            err = fort_get(&f, "some", 4, some, (size_t)size / 4);
        else if ((err = fort_next(&f, "part", &rec)) == OK) {
            size_t k = rec.bytes < size ? (size_t)rec.bytes : (size_t)size;
            err = fort_load(&f, &rec, 1, rec.bytes - (int64_t)k, k, some);
        }
    }
    if (err == OK) err = fort_at_end(&f);
    fort_shut(&f);
}

/* A formula: compiled, and evaluated. */
static void run_expr(const char *text, size_t n)
{
    double value[EXPR_NAMES] = {0};
    struct expr *e = mem_zero(sizeof *e, "fuzz");
    char *copy = mem_zero(n + 1, "fuzz");
    memcpy(copy, text, n);
    e->origin = "fuzz";
    expr_declare(e, "x", EXPR_INPUT, -1, 0, ~0U);
    expr_declare(e, "rho", EXPR_FIELD, -1, 0, 1);
    expr_declare(e, "az", EXPR_RESULT, -1, 0, 2);
    if (expr_add(e, copy, 1) == OK) {
        expr_finish(e);
        for (unsigned group = 1; group <= 2; group++)
            if (expr_run(e, group, value) != OK) break;
    }
    mem_free(copy);
    mem_free(e);
}

static void run_nml(const char *text, size_t n)
{
    struct nml l;
    if (nml_parse(&l, text, n, "fuzz.nml", &param_names) == OK) nml_free(&l);
}

/* Feeds a namelist. Slow, since there are many parameters. */
static void run_param(const char *text, size_t n)
{
    static struct params p;
    if (param_read_text(&p, text, n, "fuzz.nml") == OK && param_check(&p) == OK)
        mem_free(param_namelist(&p));
}

static void run_manifest(const char *text, size_t n)
{
    struct manifest m;
    if (manifest_parse("fuzz", text, n, &m) == OK && m.n && !manifest_has(&m, m.row[0].name))
        abort();
    manifest_fini(&m);
}

static void run_grafic(const char *text, size_t n)
{
    struct grafic f;
    char folder[32], name[16];
    snprintf(folder, sizeof folder, "/proc/self/fd");
    snprintf(name, sizeof name, "%d", memory);
    if (grafic_open(&f, folder, name, true) != OK) return;
    size_t plane = (size_t)f.head.n[0] * (size_t)f.head.n[1];
    if (plane < 65536) {
        float *out = mem_new(sizeof *out * plane, "plane");
        int64_t *row = mem_new(sizeof *row * plane, "row");
        enum err err = OK;
        for (int64_t k = 0; err == OK && k < f.head.n[2] && k < 4; k++) {
            err = grafic_read_planes(&f, k, 1, out);
            enum err other = grafic_read_ids(&f, k, 0, f.head.n[1], row);
            if (err == OK) err = other;
        }
        FREE(out);
        FREE(row);
    }
    grafic_close(&f);
}

/* Feeds tables of numbers of all kinds. */
static void run_ascii(const char *text, size_t n)
{
    for (int share = 0; share < 2; share++) {
        struct ascii_share s;
        if (ascii_part_count(file, share, 2, &s) != OK) return;
        double *p = mem_new(sizeof *p * 7 * (size_t)s.n + 1, "particles");
        double *const x[3] = {p, p + s.n, p + 2 * s.n}, *const v[3] = {p + 3 * s.n, p + 4 * s.n,
                                                                       p + 5 * s.n};
        enum err err = ascii_part_read(file, &s, x, v, p + 6 * s.n);
        (void)err;
        FREE(p);
    }
    struct uv_table *uv;
    struct response *r;
    struct yields *y;
    if (uv_table_read(file, &uv) == OK) uv_table_free(uv);
    if (response_read(file, &r) == OK) response_free(&r);
    if (yields_new(file, &y) == OK) yields_free(y);
}

static void run_phantom(const char *text, size_t n)
{
    struct phantom *d = NULL;
    struct sphfile_head h;
    struct smooth_par par;
    struct smooth p = {0};
    enum err err = phantom_read(file, &d);
    if (err == OK) err = phantom_particles(d, &h, &par, &p);
    if (err == OK) mem_free(h.sink);
    phantom_free(&d);
    smooth_free(&p);
}

/* Reads a checkpoint of smoothed particles as inspect does. */
static void run_sph(const char *text, size_t n)
{
    struct sphfile_either *e;
    uint64_t line[SPHFILE_COLUMNS + 1][2];
    struct smooth p = {0};
    char *found = NULL;
    size_t bytes;
    enum err err = sphfile_either_open(dir, false, &e);
    if (err == OK) err = sphfile_text(e->file, false, &found, &bytes);
    mem_free(found);
    if (err == OK && e->head->n < 1 << 16) err = sphfile_either_rows(e, 0, e->head->n, &p);
    if (err == OK) err = sphfile_either_digests(e, &(struct comm){.size = 1}, line);
    smooth_free(&p);
    sphfile_either_close(&e);
}

static void run_gadget4(const char *text, size_t n)
{
    struct sphfile_head h;
    struct smooth_par par;
    struct smooth p = {0};
    enum err err = gadget4_is(file) ? gadget4_read(file, &h, &par, &p) : OK;
    (void)err;
    smooth_free(&p);
}

static void run_frame(const char *text, size_t n)
{
    struct film_map m;
    if (film_map_read(file, &m) == OK && (m.nw < 1 || m.nh < 1 || !m.x)) abort();
    FREE(m.x);
}

/* Reads a snapshot of Gadget as initial conditions and as a source do. */
static void run_snapshot(const char *text, size_t n)
{
    struct snap s = {.open = -1};
    double total = 0;
    const struct snap_given given = {.h0 = 70};
    struct snap_units u;
    enum err err = snap_is(file) ? snap_open_whole(file, &s) : ERR_FORMAT;
    double *x = mem_new(sizeof *x * 3 * 64, "particles");
    for (int t = 0; t < SNAP_TYPES && err == OK; t++)
        for (int c = 0; c < SNAP_COLUMNS && err == OK; c++) {
            const int64_t all = s.head.total[t], few = all < 64 ? all : 64;
            bool has;
            err = snap_has(&s, t, (enum snap_column)c, &has);
            if (err == OK && has) err = snap_read(&s, t, (enum snap_column)c, all - few, few, x);
            if (err == OK && has && c == SNAP_MASS && few) total += x[0] * (double)all;
        }
    if (err == OK) err = snap_units(&s, &given, total, &u);
    mem_free(x);
    snap_close(&s);
}

static enum err pass_cone(void *ctx, const struct cone_batch *b)
{
    double *sum = ctx;
    for (int64_t i = 0; i < b->n; i++) {
        if (!(b->z[i] >= -1)) abort();
        for (int d = 0; d < 3; d++) *sum += b->r[d][i];
    }
    return OK;
}

/* Reads the file of a slice, or a text file by the file that it belongs to. */
static void run_cone(const char *text, size_t n)
{
    char path[sizeof file];
    double sum = 0;
    int64_t files = 0;
    snprintf(path, sizeof path, "%s", file);
    char *end = strstr(path, ".txt");
    if (end) *end = 0;
    if (cone_read(path, pass_cone, &sum, &files) == OK && sum != sum) abort();
}

/* ---- spectra of stars, and the background ---- */

static const struct sed_bands BANDS = {3, {13.6, 24.59, 54.42}, {24.59, 54.42, 0}};

/* Reads a library, in whose directory the input replaces a file. */
static void run_sed(const char *text, size_t n)
{
    const struct comm alone = {.size = 1};
    const struct sed_par par = {.dir = dir, .bands = BANDS};
    double out[SED_GROUPS];
    struct sed *s = NULL;
    if (sed_new(&alone, &par, &s) == OK) {
        sed_emission(s, 1e10, 1e14, 0.01, out);
        for (int g = 0; g < BANDS.n; g++)
            if (!(out[g] >= 0)) abort();
    }
    sed_free(&s);
}

static void run_uv(const char *text, size_t n)
{
    const struct comm alone = {.size = 1};
    const struct sed_background_par par = {.path = file, .z_reion = 10, .bands = BANDS};
    double ion[SED_IONS], heat[SED_IONS];
    struct sed_background *b = NULL;
    if (sed_background_new(&alone, &par, &b) == OK) {
        sed_background_rates(b, 2, ion, heat);
        for (int k = 0; k < SED_IONS; k++)
            if (!(ion[k] >= 0 && heat[k] >= 0)) abort();
    }
    sed_background_free(&b);
}

static const struct target TARGET[] = {{"fortran", NULL, 1, run_fortran},
                                       {"nml", NULL, 0, run_nml},
                                       {"expr", NULL, 0, run_expr},
                                       {"param", NULL, 0, run_param},
                                       {"manifest", NULL, 0, run_manifest},
                                       {"grafic", NULL, 1, run_grafic},
                                       {"ascii", NULL, 0, run_ascii},
                                       {"amr", "amr_00001.out00001", 1, run_tree},
                                       {"hydro", "hydro_00001.out00001", 1, run_values},
                                       {"grav", "grav_00001.out00001", 1, run_values},
                                       {"part", "part_00001.out00001", 1, run_parts},
                                       {"old_part", "part_00001.out00001", 1, run_parts},
                                       {"exact", "exact_00001.out00001", 0, run_source},
                                       {"info", "info_00001.txt", 0, run_tree},
                                       {"header", "header_00001.txt", 0, run_parts},
                                       {"hydro_names", "hydro_file_descriptor.txt", 0, run_values},
                                       {"part_names", "part_file_descriptor.txt", 0, run_parts},
                                       {"sinks", "sink_00001.out00001", 1, run_open},
                                       {"sinks_csv", "sink_00001.csv", 0, run_open},
                                       {"sinks_info", "sink_00001.info", 0, run_open},
                                       {"stellar", "stellar_00001.csv", 0, run_open},
                                       {"cooling", "cooling_00001.out", 1, run_open},
                                       {"hdf5", "data_00001.h5", 0, run_digest},
                                       {"source_hdf5", "data_00001.h5", 0, run_source},
                                       {"late", "hydro_00001.out00001", 1, run_late},
                                       {"listed", "checksums_00001.txt", 0, run_listed},
                                       {"picked", "exact_00001.out00001", 0, run_picked},
                                       {"picked_hdf5", "data_00001.h5", 0, run_picked},
                                       {"ranks_amr", "amr_00001.out00001", 1, run_audit},
                                       {"ranks_part", "part_00001.out00001", 1, run_audit},
                                       {"ranks_hdf5", "data_00001.h5", 0, run_audit},
                                       {"foreign_amr", "amr_00001.out00001", 1, run_passed_on},
                                       {"foreign_gas", "hydro_00001.out00001", 1, run_passed_on},
                                       {"foreign_hdf5", "data_00001.h5", 0, run_passed_on},
                                       {"sph", "sph_00001.h5", 0, run_sph},
                                       {"phantom", NULL, 1, run_phantom},
                                       {"gadget4", NULL, 0, run_gadget4},
                                       {"frame", NULL, 1, run_frame},
                                       {"snapshot1", NULL, 0, run_snapshot},
                                       {"snapshot2", NULL, 0, run_snapshot},
                                       {"snapshot4", NULL, 0, run_snapshot},
                                       {"cone", "cone_00002.out00001", 1, run_cone},
                                       {"cone_part", "cone_part_00002.out00001", 1, run_cone},
                                       {"cone_hydro", "cone_hydro_00002.out00001", 1, run_cone},
                                       {"cone_sink", "cone_sink_00002.out", 1, run_cone},
                                       {"cone_text", "cone_00002.out00001.txt", 0, run_cone},
                                       {"cone_hdf5", "cone_00002.h5", 0, run_cone},
                                       {"info_rt", "info_rt_00002.txt", 0, run_values},
                                       {"rt", "rt_00002.out00001", 1, run_values},
                                       {"exact_rt", "exact_rt_00002.out00001", 1, run_source},
                                       {"sed", "all_seds.dat", 1, run_sed},
                                       {"sed_ages", "age_bins.dat", 0, run_sed},
                                       {"bpass", "spectra-bin-imf135_300.z001.dat", 0, run_sed},
                                       {"bc03", "ssp_z0.001.ised_ASCII", 0, run_sed},
                                       {"uv", NULL, 1, run_uv}};

/* ---- set-up ---- */

static void die(const char *what)
{
    fprintf(stderr, "fuzz: %s: %s\n", what, strerror(errno));
    exit(3);
}

static void put(const char *path, const void *p, size_t n)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (fd < 0 || write(fd, p, n) != (ssize_t)n || close(fd) != 0) die(path);
}

static int is_wanted(const char *name)
{
    int text = strcmp(target->name, "header") == 0 || strcmp(target->name, "old_part") == 0,
        listed = target->run == run_late || target->run == run_listed;
    return name[0] != '.' && (listed || strncmp(name, "checksums", 9) != 0) &&
           !(text && strncmp(name, "part_file", 9) == 0);
}

static void copy_base(const char *base)
{
    DIR *d = opendir(base);
    char path[4096], *data = malloc(1 << 24);
    if (!d || !data || !mkdtemp(dir)) die(base);
    for (struct dirent *e; (e = readdir(d));) {
        snprintf(path, sizeof path, "%s/%s", base, e->d_name);
        int fd = is_wanted(e->d_name) ? open(path, O_RDONLY) : -1;
        if (fd < 0) continue;
        ssize_t n = read(fd, data, 1 << 24);
        close(fd);
        snprintf(path, sizeof path, "%s/%s", dir, e->d_name);
        put(path, data, n > 0 ? (size_t)n : 0);
    }
    closedir(d);
    free(data);
    snprintf(file, sizeof file, "%s/%s", dir, target->file);
}

static void remove_copy(void)
{
    char path[4096];
    DIR *d = opendir(dir);
    for (struct dirent *e; d && (e = readdir(d));) {
        snprintf(path, sizeof path, "%s/%s", dir, e->d_name);
        if (e->d_name[0] != '.') unlink(path);
    }
    if (d) closedir(d);
    rmdir(dir);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    const char *name = getenv("FUZZ"), *base = getenv("FUZZ_BASE");
    checksum_blind = true; /* checksums would hide nearly all damage */
    for (size_t i = 0; name && i < sizeof TARGET / sizeof *TARGET; i++)
        if (strcmp(TARGET[i].name, name) == 0) target = &TARGET[i];
    if (!target || (target->file && !base)) {
        fprintf(stderr, "fuzz: FUZZ and FUZZ_BASE say what to do; targets:");
        for (size_t i = 0; i < sizeof TARGET / sizeof *TARGET; i++)
            fprintf(stderr, " %s", TARGET[i].name);
        fprintf(stderr, "\n");
        exit(3);
    }
    if (target->file) {
        copy_base(base);
        atexit(remove_copy);
        return 0;
    }
    memory = memfd_create("fuzz", 0);
    snprintf(file, sizeof file, "/proc/self/fd/%d", memory);
    if (memory < 0) die("memfd");
    return 0;
}

int fuzz_has_records(void)
{
    return target->records;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    size_t before = mem_now();
    char *text = malloc(n + 1);
    if (!text) return 0;
    memcpy(text, data, n);
    text[n] = 0;
    if (target->file)
        put(file, data, n);
    else if (ftruncate(memory, 0) != 0 || pwrite(memory, data, n, 0) != (ssize_t)n)
        die("memfd");
    target->run(text, n);
    free(text);
    if (mem_now() != before) abort(); /* a memory leak */
    return 0;
}
