/* csv.h - a table of comma-separated values (RFC 4180), record by record, of bounded size. */
#ifndef GRIDTIDE_TRACES_IO_CSV_H
#define GRIDTIDE_TRACES_IO_CSV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "traces/io/input.h"

enum { GT_CSV_RECORD_LIMIT_BYTES = 16 << 20, GT_CSV_CHUNK_BYTES = 64 << 10 };

struct gt_csv {
    struct gt_input *input; /* not owned */
    char *chunk;            /* bytes read and not yet looked at */
    size_t chunk_at, chunk_end;
    char *text; /* the record: its fields, unquoted, each NUL-ended */
    size_t length, room;
    size_t *starts; /* of the fields in `text` */
    uint32_t count, start_room;
    uint64_t line; /* where the record begins, from 1 */
    uint64_t next_line;
};

/* Start reading records of `input`, which must outlive them. */
void gt_csv_open(struct gt_csv *csv, struct gt_input *input);
void gt_csv_close(struct gt_csv *csv);

/* The next record that is not an empty line; its fields are good until the next call.  Returns 1; 0 at
 * the end; -1 with what is wrong (an open quote at the end, text behind a closing quote, a NUL byte, a
 * record of more than GT_CSV_RECORD_LIMIT_BYTES), no file or line named: `line` has it. */
int gt_csv_next(struct gt_csv *csv, struct gt_error *error);

/* A field of the record at hand; "" behind the last one. */
const char *gt_csv_field(const struct gt_csv *csv, uint32_t index);

/* A number as profilers print it: "1,234,567", "12.5", "3e+06".  False where it is not one. */
bool gt_csv_number(const char *text, double *value);
/* A number as gt_csv_number() reads it, not negative, rounded to a whole number below 2^63. */
bool gt_csv_count(const char *text, uint64_t *value);

/* The field that says `text`: itself, or in quotes with quotes doubled where it holds a comma, a quote or a line
 * break. Malloced. */
char *gt_csv_field_of(const char *text);

#endif
