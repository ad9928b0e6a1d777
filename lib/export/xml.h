/* export/xml: what the XML files of VTK have in common: arrays that are appended raw, and the time
 * and units of a checkpoint as FieldData. */
#pragma once
#include <stdint.h>
#include <stdio.h>

#include "export/field.h"

void xml_begin(FILE *f, const char *type, const char *version);
/* <DataArray> of n components a tuple, whose bytes are appended at *at, which then is behind them.
 * type: Float64, Int64, UInt8, Bit, …; tuples < 0: their number is not told. */
void xml_array(FILE *f, const char *type, const char *name, int n, int64_t tuples, int64_t bytes,
               uint64_t *at);
/* Time, redshift, units of the run, and the unit of each field as a text NAME_unit with its worth
 * NAME_code_unit. */
void xml_field_data(FILE *f, const struct export_list *l, bool physical);
void xml_head_data(FILE *f, const struct ckpt_head *h); /* the same without fields */
void xml_end_data(FILE *f);
/* The byte count in front of appended bytes. */
void xml_bytes(FILE *f, int64_t bytes);
