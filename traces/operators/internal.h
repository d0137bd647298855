/* internal.h - what the parts of this room share. */
#ifndef GRIDTIDE_TRACES_OPERATORS_INTERNAL_H
#define GRIDTIDE_TRACES_OPERATORS_INTERNAL_H

#include "sim/schedule/operator_graph.h"
#include "traces/jsonl/reader.h"

struct gt_operators_reader {
    struct gt_operator_graph *graph;
    const char *line; /* the text of the line at hand */
    uint32_t line_number;
    bool header_read;
    struct gt_unknown unknown;
    struct gt_refs *kinds, *operators, *buffers;
    struct gt_jsonl names;      /* what reads names of library kernels and their arguments, as in a trace */
    struct gt_operators_after { /* an operator's predecessor, which may be defined below */
        gt_operator_index op;
        char *before;
    } * afters;
    uint32_t after_count, after_room;
};

/* The fields of an object by table; one that is a slip away from a known one is an error. */
int gt_operators_fields(struct gt_operators_reader *reader, const struct gt_json_token *object,
                        const struct gt_field_table *table, void *into, uint64_t *given, struct gt_error *error);
/* One line. */
int gt_operators_header(struct gt_operators_reader *reader, const struct gt_json_token *object,
                        struct gt_error *error);
int gt_operators_line(struct gt_operators_reader *reader, const struct gt_json_token *object, struct gt_error *error);
/* One implementation, appended to `kind`. */
int gt_operators_implementation(struct gt_operators_reader *reader, const struct gt_json_token *object, uint32_t kind,
                                struct gt_error *error);
/* At the end of the file: who comes after whom.  The error names the line. */
int gt_operators_link(struct gt_operators_reader *reader, struct gt_error *error);

#endif
