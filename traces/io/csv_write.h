/* csv_write.h - texts as fields of comma-separated values (RFC 4180). */
#ifndef GRIDTIDE_TRACES_IO_CSV_WRITE_H
#define GRIDTIDE_TRACES_IO_CSV_WRITE_H

/* The field that says `text`: itself, or in quotes with quotes doubled where it holds a comma, a quote or a line
 * break. Malloced. */
char *gt_csv_field_of(const char *text);

#endif
