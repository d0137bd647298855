/* findings.h - what is known of each key of a device file, how it was found, and the file made of that. */
#ifndef GRIDTIDE_VALIDATE_CALIBRATE_FINDINGS_H
#define GRIDTIDE_VALIDATE_CALIBRATE_FINDINGS_H

#include <stdbool.h>
#include <stddef.h>

#include "sim/base/error.h"
#include "sim/devices/device.h"
#include "sim/shapes/product.h"
#include "validate/calibrate/analysis.h"

enum { GT_FINDING_METHOD_BYTES = 160, GT_CALIBRATION_LINE_BYTES = 160, GT_CALIBRATION_NOTES = 32 };

/* What is known of one key. */
struct gt_finding {
    char *value;                          /* as written in a device file; NULL: not measured */
    char method[GT_FINDING_METHOD_BYTES]; /* how it was found, or why it was not; "" where nobody tried */
    struct gt_bench_summary summary;      /* in the key's unit; count 0: there is nothing to spread */
    bool known;                           /* from documents, not from a measurement */
};

struct gt_calibration {
    struct gt_finding *findings;                                 /* one a row of gt_device_keys */
    char when[64], system[64];                                   /* the day and the driver; the runtime */
    char notes[GT_CALIBRATION_NOTES][GT_CALIBRATION_LINE_BYTES]; /* found, but no key holds it */
    size_t note_count;
    struct gt_product_point *products; /* measured matrix products: a table beside the device file */
    uint32_t product_count, product_room;
    char library[32]; /* that did them */
    struct gt_bench_summary
        products_apart; /* slowest - fastest, by the median, of those that several processes measured */
};

/* For the groups: state what was found. Values are numbers in the key's unit; one outside the key's
 * range is not taken and the key's method says so. `method` is printf-style. */
void gt_found(struct gt_calibration *calibration, const char *key, double value, struct gt_bench_summary summary,
              const char *method, ...) __attribute__((format(printf, 5, 6)));
/* gt_found() for what is read rather than measured, as text. */
void gt_found_text(struct gt_calibration *calibration, const char *key, const char *value, const char *method, ...)
    __attribute__((format(printf, 4, 5)));
/* The value stands in documents, which `method` names. */
void gt_found_known(struct gt_calibration *calibration, const char *key, const char *value, const char *method);
void gt_not_found(struct gt_calibration *calibration, const char *key, const char *why, ...)
    __attribute__((format(printf, 3, 4)));
/* A point of the table that product.sweep names. */
void gt_found_product(struct gt_calibration *calibration, const struct gt_product_point *point);
/* Something worth knowing that no key holds. */
void gt_found_note(struct gt_calibration *calibration, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The finding of a key; the key must be one. */
const struct gt_finding *gt_finding_of(const struct gt_calibration *calibration, const char *key);

void gt_calibration_init(struct gt_calibration *calibration);
void gt_calibration_free(struct gt_calibration *calibration);
/* The device as it will be written: what was found until now, and for the rest the device file of that GPU's name that
 * comes with Gridtide, else the defaults. -1: together that is no device. */
int gt_calibration_device(const struct gt_calibration *calibration, struct gt_device *device, struct gt_error *error);
/* Write the device file, and the table of products beside it (product_table.h), which becomes the finding of product.sweep;
 * both appear whole or not at all. Keys that were not found are as in the device file
 * of that GPU's name that comes with Gridtide, source and all; else they have their defaults and say so. */
int gt_calibration_write(struct gt_calibration *calibration, const char *path, struct gt_error *error);

#endif
