/* decimal.h - numbers as they stand in traces, exactly: no floating point. */
#ifndef GRIDTIDE_TRACES_IO_DECIMAL_H
#define GRIDTIDE_TRACES_IO_DECIMAL_H

#include <stddef.h>
#include <stdint.h>

#include "sim/workload/workload.h"

/* Digits [. digits] [e [sign] digits] times 10^power, rounded half up to a whole number: the one reader of
 * decimals.  A double could not hold the nanoseconds of "4458676983543.183" microseconds. */
enum gt_decimal { GT_DECIMAL_READ, GT_DECIMAL_NONE, GT_DECIMAL_TOO_LARGE };
enum gt_decimal gt_decimal_read(const char *text, size_t length, int power, uint64_t *value);

/* A decimal of at most `limit`, a sign allowed to come first. Returns 0; or -1 with what is wrong:
 * "is negative", "is too large". */
int gt_decimal_parse(const char *text, size_t length, int power, uint64_t limit, uint64_t *value,
                     struct gt_error *error);

/* A whole number in digits; returns how many. */
enum { GT_DIGITS_BYTES = 24 };
size_t gt_digits(uint64_t number, char text[GT_DIGITS_BYTES]);
/* Room for any time as text. */
enum { GT_TIME_TEXT_BYTES = 32 };
/* A time as nanoseconds, without needless digits: "1500", "0.25". Returns the length. */
size_t gt_time_text_ns(gt_time_ps time, char text[GT_TIME_TEXT_BYTES]);

#endif
