/* product_table.h - the matrix products that a calibration measured: the table beside a device file that its key product.sweep names. */
#ifndef GRIDTIDE_VALIDATE_CALIBRATE_PRODUCT_TABLE_H
#define GRIDTIDE_VALIDATE_CALIBRATE_PRODUCT_TABLE_H

#include "traces/io/output.h"
#include "validate/calibrate/findings.h"

/* Those of `count` calibrations become those of `one`, sorted, each product once, with the median of its times. */
void gt_product_table_combine(const struct gt_calibration *all, size_t count, struct gt_calibration *one);

/* Can a table go beside a device file of that path?  Not beside standard output, a pipe or a device, nor where its name is too
 * long for a key file. */
bool gt_product_table_is_possible(const char *device_path);

/* "h200-products.csv.zst" for "somewhere/h200.ini"; with `folder` that of the device file before it. Malloced. */
char *gt_product_table_name(const char *device_path, bool folder);

/* Write the table of a device file; the caller commits, or abandons, what is returned. NULL with an error. */
struct gt_output *gt_product_table_write(const struct gt_calibration *calibration, const char *device_path,
                                         struct gt_error *error);

#endif
