#include "export/xml.h"

#include <string.h>

void xml_begin(FILE *f, const char *type, const char *version)
{
    fprintf(f,
            "<?xml version=\"1.0\"?>\n<VTKFile type=\"%s\" version=\"%s\" "
            "byte_order=\"LittleEndian\" header_type=\"UInt64\">\n",
            type, version);
}

void xml_array(FILE *f, const char *type, const char *name, int n, int64_t tuples, int64_t bytes,
               uint64_t *at)
{
    fprintf(f, "<DataArray type=\"%s\" Name=\"%s\" NumberOfComponents=\"%d\" ", type, name, n);
    if (tuples >= 0) fprintf(f, "NumberOfTuples=\"%ld\" ", (long)tuples);
    fprintf(f, "format=\"appended\" offset=\"%lu\"/>\n", (unsigned long)*at);
    *at += 8 + (uint64_t)bytes;
}

static void put_number(FILE *f, const char *name, const char *suffix, double x)
{
    fprintf(f,
            "<DataArray type=\"Float64\" Name=\"%s%s\" NumberOfTuples=\"1\" "
            "format=\"ascii\">%.17g</DataArray>\n",
            name, suffix, x);
}

/* A text as the codes of its characters, which VTK ends with 0. */
static void put_text(FILE *f, const char *name, const char *suffix, const char *text)
{
    fprintf(f, "<Array type=\"String\" Name=\"%s%s\" NumberOfTuples=\"1\" format=\"ascii\">", name,
            suffix);
    for (const char *c = text; *c; c++) fprintf(f, "%d ", (unsigned char)*c);
    fprintf(f, "0</Array>\n");
}

void xml_head_data(FILE *f, const struct ckpt_head *h)
{
    fprintf(f, "<FieldData>\n");
    put_number(f, "TimeValue", "", h->t);
    if (h->cosmo) put_number(f, "redshift", "", 1 / h->aexp - 1);
    put_number(f, "boxlen", "", h->boxlen);
    put_number(f, "unit_l", "", h->unit_l);
    put_number(f, "unit_d", "", h->unit_d);
    put_number(f, "unit_t", "", h->unit_t);
}

void xml_end_data(FILE *f)
{
    fprintf(f, "</FieldData>\n");
}

void xml_field_data(FILE *f, const struct export_list *l, bool physical)
{
    xml_head_data(f, &l->s->head);
    for (int i = 0; i < l->n; i++) {
        const struct export_field *e = &l->field[i];
        char name[48];
        const bool vector = export_is_vector(l, i, name);
        put_text(f, vector ? name : e->name, "_unit", *e->unit.name ? e->unit.name : "1");
        put_number(f, vector ? name : e->name, "_code_unit", physical ? 1 : e->unit.worth);
        if (vector) i += l->s->head.ndim - 1;
    }
    xml_end_data(f);
}

void xml_bytes(FILE *f, int64_t bytes)
{
    const uint64_t n = (uint64_t)bytes;
    fwrite(&n, sizeof n, 1, f);
}
