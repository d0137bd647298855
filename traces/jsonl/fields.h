/* fields.h - the fields of one JSON object, by table: name, type, place in a C struct. */
#ifndef GRIDTIDE_TRACES_JSONL_FIELDS_H
#define GRIDTIDE_TRACES_JSONL_FIELDS_H

#include <stddef.h>
#include <stdint.h>

#include "sim/workload/workload.h"
#include "traces/io/json_line.h"

enum gt_field_type {
    GT_FIELD_TIME,   /* gt_time_ps; the name carries a unit: start_ps, start_ns, ..., start_s */
    GT_FIELD_TIMES,  /* struct gt_field_times; the name carries a unit; a number or a list of them */
    GT_FIELD_U64,    /* uint64_t */
    GT_FIELD_U32,    /* uint32_t */
    GT_FIELD_I32,    /* int32_t */
    GT_FIELD_DOUBLE, /* double: any number that is finite */
    GT_FIELD_SIZE3,  /* uint32_t[3]: one to three whole numbers from 1 on; missing ones are 1 */
    GT_FIELD_BOOL,   /* bool */
    GT_FIELD_CHOICE, /* uint8_t: the index in `choices` */
    GT_FIELD_TEXT,   /* const struct gt_json_token *: a string or null */
    GT_FIELD_REF,    /* const struct gt_json_token *: a string, a whole number or null */
    GT_FIELD_ARRAY,  /* const struct gt_json_token *: an array */
    GT_FIELD_OBJECT, /* const struct gt_json_token *: an object */
    GT_FIELD_VALUE,  /* const struct gt_json_token *: anything */
};

struct gt_field_times {
    const struct gt_json_token *value; /* NULL: not given */
    int exponent;                      /* 10^exponent picoseconds is the unit of the numbers */
};

struct gt_field {
    const char *name; /* of times: without the unit */
    enum gt_field_type type;
    size_t offset;
    const char *const *choices;
    unsigned choice_count;
};

/* A row of plain_fields.h as a field of `struct_type`, of which it is a member. */
#define GT_FIELD_PLAIN(struct_type, member, type, key) \
    { key, GT_FIELD_##type, offsetof(struct_type, member), NULL, 0 },

/* The fields of one kind of object; at most 64. */
struct gt_field_table {
    const char *what; /* "a call", for messages */
    const struct gt_field *fields;
    unsigned count;
};
#define GT_FIELD_TABLE(what, fields)                     \
    {                                                    \
        what, fields, sizeof(fields) / sizeof(fields)[0] \
    }

/* Unknown fields of one object, as JSON text ready to be written again; reused from object to object. */
struct gt_unknown {
    char *text; /* NUL-ended; "" when all fields were known */
    size_t length, room;
    uint64_t misspelt;        /* those of all objects so far that are one slip from a known one */
    char first_misspelt[160]; /* what is to be said of the first of them */
};

/* Read the fields of `object` into the struct at `into`, which holds the defaults. `line` is the text
 * that the tokens came from. `given`: bit i is set when fields[i] was there. Unknown fields go to
 * `unknown`, which also counts those one letter away from one that is known. Returns 0, or -1 with what is wrong (a wrong type or value, a field given twice). */
int gt_fields_read(const struct gt_json_token *object, const struct gt_field_table *table, const char *line,
                   void *into, uint64_t *given, struct gt_unknown *unknown, struct gt_error *error);

/* Any finite number; `name` is for the message. */
int gt_field_double(const struct gt_json_token *value, const char *name, double *number, struct gt_error *error);

/* One number as a time in units of 10^exponent ps; `name` is for the message. */
int gt_field_time(const struct gt_json_token *value, int exponent, const char *name, gt_time_ps *time,
                  struct gt_error *error);

#endif
