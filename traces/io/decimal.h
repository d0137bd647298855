/* decimal.h - numbers as they stand in traces, exactly: no floating point. */
#ifndef GRIDTIDE_TRACES_IO_DECIMAL_H
#define GRIDTIDE_TRACES_IO_DECIMAL_H

#include <stddef.h>
#include <stdint.h>

#include "sim/workload/workload.h"

/* A JSON number times 10^exponent as a whole number of at most `limit`. Returns 0; or -1 with what
 * is wrong: "is negative", "is too large", "has too many digits", or `finer` where digits are left over. */
int gt_decimal_parse(const char *text, size_t length, int exponent, uint64_t limit, uint64_t *value,
                     const char *finer, struct gt_error *error);

/* Room for any time as text. */
enum { GT_TIME_TEXT_BYTES = 32 };
/* A time as nanoseconds, without needless digits: "1500", "0.25". Returns the length. */
size_t gt_time_text_ns(gt_time_ps time, char text[GT_TIME_TEXT_BYTES]);

#endif
