/* product_file.h - measured matrix products: a table that a device file names. */
#ifndef GRIDTIDE_TRACES_IO_PRODUCT_FILE_H
#define GRIDTIDE_TRACES_IO_PRODUCT_FILE_H

#include "sim/shapes/product.h"
#include "traces/io/output.h"

/* CSV with a line of names, precision,form,batch,m,n,k,us: how long a library's product of batch times M x K by K x N takes.
 * Lines before it that begin with '#' are comments.
 * It is looked for beside the device file, if that was given by its path (device_file.h), then among the device files that come
 * with Gridtide; with a slash in its name, where that says. */

/* As struct gt_whatif_host has it: an empty *sweep where device->product.sweep is "none". */
int gt_product_sweep_load(const struct gt_device *device, struct gt_product_sweep **sweep, struct gt_error *error);

/* Write the points after `comment`, lines that begin with '#' and hold no quotes; us to four digits. The caller commits. */
int gt_product_points_write(const struct gt_product_point *points, uint32_t count, const char *comment,
                            struct gt_output *output, struct gt_error *error);

#endif
