/* keys.h - tables of keys, by which a struct is read from text and written: a device's, a framework's. */
#ifndef GRIDTIDE_SIM_DEVICES_KEYS_H
#define GRIDTIDE_SIM_DEVICES_KEYS_H

#include <stddef.h>

#include "sim/base/error.h"

/* A list has so many numbers at most. */
enum { GT_KEY_MOST_NUMBERS = 1024 };

enum gt_key_type { GT_KEY_TEXT, GT_KEY_U32, GT_KEY_I32, GT_KEY_BYTES, GT_KEY_TIME, GT_KEY_RATE, GT_KEY_U32_LIST };

/* One row of the key table.  TIME keys are written in the unit named (us, ns) and kept in ps. */
struct gt_key {
    const char *key, *unit;
    enum gt_key_type type;
    size_t offset;        /* of the field in what the table is of */
    size_t count_offset;  /* lists: of the length; TEXT: bytes of the field */
    double low, high;     /* in the written unit */
    const char *fallback; /* default, as written */
    const char *help;
    size_t room; /* lists: numbers it may hold; 1 for the other types */
};
struct gt_key_table {
    const struct gt_key *rows; /* those of a section, what is before the dot, one behind the other */
    size_t count;
    const char *of;   /* "device" */
    const char *help; /* what says what keys there are, as a sentence */
};

/* The row of a key; NULL when there is none of that name. */
const struct gt_key *gt_key_find(const struct gt_key_table *table, const char *key);
/* Fill `error` with the keys that are near to one that is not there.  Returns -1. */
int gt_key_unknown(const struct gt_key_table *table, const char *key, struct gt_error *error);

/* Read `text` into the field of `into` that `key` names. Returns -1 with what is wrong with the
 * value, the field as it was. */
int gt_key_parse(void *into, const struct gt_key *key, const char *text, struct gt_error *error);
/* Write the field as text that gt_key_parse takes back exactly. */
void gt_key_format(const void *from, const struct gt_key *key, char *text, size_t bytes);

#endif
