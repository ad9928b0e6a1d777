/* export/htg: see vtk.h. A first reading finds the places of octs; a second one writes their values
 * there, in runs of octs that follow one another in both orders. Bits come first in a byte from the
 * highest, as in vtkBitArray; the last level has none, as all of its cells are leaves. */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "export/vtk.h"
#include "export/xml.h"
#include "io/dir.h"
#include "io/file.h"

struct oct_at {
    okey key;
    unsigned char split;
};

struct tree {
    struct export_list *l;
    const struct vtk_out *o;
    int cells, top;           /* cells of an oct; the finest level with octs */
    int64_t n[LEVEL_MAX + 2]; /* octs of a level */
    int64_t room[LEVEL_MAX + 2];
    int64_t before[LEVEL_MAX + 2];     /* cells of coarser levels, the box among them */
    struct oct_at *oct[LEVEL_MAX + 2]; /* [n] in Morton order */
    int arrays;
    struct vtk_array array[EXPORT_FIELDS];
    int64_t at[EXPORT_FIELDS]; /* offset of the first value in the file */
    int fd;
    double root[EXPORT_FIELDS][3]; /* sums over the cells of the first oct */
    double *row;                   /* values of a run */
    struct run_of {
        int64_t place;
        int i;
    } * order; /* octs of a batch by their place */
};

enum { RUN = 512 }; /* octs */

/* ---- the first reading ---- */

static enum err add_octs(const struct source_octs *o, void *ctx)
{
    struct tree *t = ctx;
    const int l = o->level;
    for (int i = 0; i < o->n; i++) {
        MEM_ROOM(t->oct[l], t->n[l], t->room[l], 1024, "octree");
        t->oct[l][t->n[l]++] = (struct oct_at){o->key[i], o->split[i]};
    }
    return OK;
}

MEM_ORDER(by_key, struct oct_at, key)

static enum err check_memory(const struct tree *t)
{
    const struct source *s = t->l->s;
    const int64_t have = t->o->memory ? t->o->memory : (int64_t)512 << 20;
    double octs = 0;
    for (int l = 1; l <= LEVEL_MAX; l++) octs += (double)s->numbtot[l];
    const double need = octs * sizeof(struct oct_at);
    if (need > (double)have)
        FAIL(ERR_LIMIT,
             "%s: the order of its octs needs %.0f MB: allow them with --memory, or write a "
             "file.vtu",
             s->path, need / 1e6);
    return OK;
}

static enum err read_tree(struct tree *t)
{
    struct source *s = t->l->s;
    TRY(check_memory(t));
    s->counts = (struct ckpt_counts){0};
    for (int k = 0; k < s->npiece; k++) TRY(source_octs(s, k, SOURCE_TREE, add_octs, t));
    if (!s->is_cut) TRY(source_check_tree(s));
    t->cells = source_cells(s);
    t->before[1] = 1;
    for (int l = 1; l <= LEVEL_MAX; l++) {
        mem_sort(t->oct[l], (size_t)t->n[l], sizeof *t->oct[l], by_key);
        if (t->n[l]) t->top = l;
        t->before[l + 1] = t->before[l] + t->n[l] * t->cells;
        for (int64_t i = 1; i < t->n[l]; i++)
            if (t->oct[l][i].key == t->oct[l][i - 1].key)
                FAIL(ERR_FORMAT, "%s: an oct of level %d occurs twice", s->path, l);
    }
    return OK;
}

/* ---- the file ---- */

static void put_bits(FILE *f, const struct tree *t)
{
    unsigned byte = 1; /* the box is split */
    int k = 1;
    xml_bytes(f, (t->before[t->top] + 7) / 8);
    for (int l = 1; l < t->top; l++)
        for (int64_t i = 0; i < t->n[l]; i++)
            for (int c = 0; c < t->cells; c++) {
                byte = byte << 1 | (t->oct[l][i].split >> c & 1);
                if (++k % 8) continue;
                fputc((int)byte, f);
                byte = 0;
            }
    if (k % 8) fputc((int)(byte << (8 - k % 8)), f);
}

static void put_counts(FILE *f, const struct tree *t)
{
    int64_t n = 1, zero = 0;
    uint32_t depth = (uint32_t)t->top + 1;
    xml_bytes(f, 8 * depth);
    fwrite(&n, sizeof n, 1, f);
    for (int l = 1; l <= t->top; l++) {
        n = t->n[l] * t->cells;
        fwrite(&n, sizeof n, 1, f);
    }
    xml_bytes(f, sizeof zero);
    fwrite(&zero, sizeof zero, 1, f);
    xml_bytes(f, sizeof depth);
    fwrite(&depth, sizeof depth, 1, f);
}

/* Returns the bytes of all arrays. */
static uint64_t put_head(FILE *f, struct tree *t)
{
    const struct source *s = t->l->s;
    const int64_t all = t->before[t->top + 1], bits = t->before[t->top];
    uint64_t at = 0;
    xml_begin(f, "HyperTreeGrid", "2.0");
    fprintf(f,
            "<HyperTreeGrid BranchFactor=\"2\" TransposedRootIndexing=\"0\" "
            "Dimensions=\"2 %d %d\">\n",
            s->head.ndim > 1 ? 2 : 1, s->head.ndim > 2 ? 2 : 1);
    xml_field_data(f, t->l, t->o->physical);
    fprintf(f, "<Grid>\n");
    for (int d = 0; d < 3; d++)
        fprintf(f,
                "<DataArray type=\"Float64\" Name=\"%cCoordinates\" NumberOfTuples=\"%d\" "
                "format=\"ascii\">0 %.17g</DataArray>\n",
                'X' + d, d < s->head.ndim ? 2 : 1, d < s->head.ndim ? s->head.boxlen : 0);
    fprintf(f, "</Grid>\n<Trees>\n");
    xml_array(f, "Bit", "Descriptors", 1, bits, (bits + 7) / 8, &at);
    xml_array(f, "Int64", "NumberOfVerticesPerDepth", 1, t->top + 1, 8 * (t->top + 1), &at);
    xml_array(f, "Int64", "TreeIds", 1, 1, 8, &at);
    xml_array(f, "UInt32", "DepthPerTree", 1, 1, 4, &at);
    fprintf(f, "</Trees>\n<CellData>\n");
    for (int a = 0; a < t->arrays; a++)
        xml_array(f, "Float64", t->array[a].name, t->array[a].width, all,
                  8 * all * t->array[a].width, &at);
    fprintf(f, "</CellData>\n</HyperTreeGrid>\n<AppendedData encoding=\"raw\">\n_");
    put_bits(f, t);
    put_counts(f, t);
    return at;
}

/* Writes the counts of bytes of the arrays, where their values begin, and the end of the file. */
static enum err lay_out(struct tree *t, struct sink *s)
{
    const int64_t all = t->before[t->top + 1];
    static const char END[] = "\n</AppendedData>\n</VTKFile>\n";
    TRY(dir_has_room(t->o->path, (double)put_head(s->f, t)));
    if (fflush(s->f) != 0) return sink_failed(s);
    int64_t at = ftello(s->f);
    for (int a = 0; a < t->arrays; a++) {
        const uint64_t bytes = 8 * (uint64_t)(all * t->array[a].width);
        TRY(file_write_at(t->fd, t->o->path, &bytes, sizeof bytes, at));
        t->at[a] = at + 8;
        at += 8 + (int64_t)bytes;
    }
    return file_write_at(t->fd, t->o->path, END, sizeof END - 1, at);
}

/* ---- the second reading ---- */

static int order_places(const void *a, const void *b)
{
    const struct run_of *x = a, *y = b;
    return (x->place > y->place) - (x->place < y->place);
}

/* Finds the places of a batch's octs and sorts them by these. */
static enum err find_places(struct tree *t, const struct source_octs *o)
{
    const int l = o->level;
    int64_t next = 0;
    bool sorted = true;
    t->order = mem_grow(t->order, sizeof *t->order * (size_t)o->n, "octree");
    for (int i = 0; i < o->n; i++) {
        const struct oct_at key = {.key = o->key[i]}, *at = NULL;
        if (next < t->n[l] && t->oct[l][next].key == key.key) at = &t->oct[l][next];
        if (!at) at = mem_find(&key, t->oct[l], (size_t)t->n[l], sizeof key, by_key);
        if (!at) FAIL(ERR_FORMAT, "%s: changed while it was read", t->l->s->path);
        next = at - t->oct[l] + 1;
        t->order[i] = (struct run_of){next - 1, i};
        sorted &= i == 0 || t->order[i].place > t->order[i - 1].place;
    }
    if (!sorted) mem_sort(t->order, (size_t)o->n, sizeof *t->order, order_places);
    return OK;
}

static enum err put_run(struct tree *t, const struct source_octs *o, const struct run_of *run,
                        int n)
{
    for (int a = 0; a < t->arrays; a++) {
        const struct vtk_array *v = &t->array[a];
        double *to = t->row;
        for (int i = 0; i < n; i++)
            for (int c = 0; c < t->cells; c++)
                for (int k = 0; k < v->width; k++) {
                    *to = vtk_value(t->l, v, t->o->physical, k, o, c, run[i].i);
                    if (o->level == 1) t->root[a][k] += *to / t->cells;
                    to++;
                }
        const int64_t cell = t->before[o->level] + run->place * t->cells;
        TRY(file_write_at(t->fd, t->o->path, t->row, (size_t)(to - t->row) * sizeof *to,
                          t->at[a] + 8 * cell * v->width));
    }
    return OK;
}

static enum err put_octs(const struct source_octs *o, void *ctx)
{
    struct tree *t = ctx;
    TRY(find_places(t, o));
    for (int i = 0, n; i < o->n; i += n) {
        for (n = 1; n < RUN && i + n < o->n && t->order[i + n].place == t->order[i].place + n;) n++;
        TRY(put_run(t, o, &t->order[i], n));
    }
    return OK;
}

static enum err write_tree(struct tree *t, struct sink *s)
{
    struct source *from = t->l->s;
    t->fd = fileno(s->f);
    TRY(lay_out(t, s));
    t->row = mem_new(sizeof *t->row * 3 * 8 * RUN, "octree");
    from->counts = (struct ckpt_counts){0};
    for (int k = 0; k < from->npiece; k++) TRY(source_octs(from, k, SOURCE_STORED, put_octs, t));
    for (int a = 0; a < t->arrays; a++)
        TRY(file_write_at(t->fd, t->o->path, t->root[a], 8 * (size_t)t->array[a].width, t->at[a]));
    return OK;
}

enum err vtk_write_htg(struct export_list *l, const struct vtk_out *o)
{
    struct tree *t = mem_zero(sizeof *t, "octree");
    struct sink s;
    t->l = l, t->o = o;
    t->arrays = vtk_arrays(l, t->array);
    enum err err = read_tree(t);
    if (err == OK) err = sink_open(&s, o->path, o->force);
    if (err == OK) {
        const bool direct = !*s.stream.temp.name;
        if (direct)
            err = err_set(ERR_FILE,
                          "%s: a HyperTreeGrid is not written from its beginning to its end and "
                          "needs a file; file.vtu can be a pipe",
                          o->path);
        if (err == OK) err = write_tree(t, &s);
        err = sink_close(&s, err);
    }
    for (int k = 0; k < LEVEL_MAX + 2; k++) FREE(t->oct[k]);
    FREE(t->row);
    FREE(t->order);
    FREE(t);
    return err;
}
