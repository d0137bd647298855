/* json.h - JSON on standard output, through yajl: what tables and commands share. */
#ifndef GRIDTIDE_SIM_CMD_PRINT_JSON_H
#define GRIDTIDE_SIM_CMD_PRINT_JSON_H

#include <stdint.h>
#include <stdio.h>

#include <yajl/yajl_gen.h>

/* A generator that indents by two spaces; gt_json_finish() ends it. */
yajl_gen gt_json_new(void);
/* Write what was generated to `out` and free the generator. */
void gt_json_finish(yajl_gen json, FILE *out);

/* A string, or a key: bytes that are not UTF-8 become U+FFFD, so the document stays valid.
 * NULL gives null. */
void gt_json_text(yajl_gen json, const char *text);
void gt_json_integer(yajl_gen json, int64_t value);
/* Members "short_name" have names in so many columns (traces/names/short_name.h). */
enum { GT_SHORT_NAME_COLUMNS = 60 };
/* A number to ten significant digits; null where it is not finite. */
void gt_json_real(yajl_gen json, double value);

#endif
