/* read_collective.h - what a kernel's line says of the collective that it is a part of. */
#ifndef GRIDTIDE_TRACES_JSONL_READ_COLLECTIVE_H
#define GRIDTIDE_TRACES_JSONL_READ_COLLECTIVE_H

#include "sim/workload/collective.h"
#include "traces/jsonl/reader.h"

struct gt_raw_collective {
    const struct gt_json_token *group, *datatype, *reduction;
    uint64_t bytes;          /* UINT64_MAX: not given */
    uint32_t root, to, from; /* GT_NONE: not given, of to and from */
    uint8_t kind, algorithm, protocol;
};

/* Rows of the kernel's table of fields; `member` is the raw collective's name in `type`. */
/* clang-format off */
#define GT_COLLECTIVE_FIELDS(type, member) \
    { "collective", GT_FIELD_CHOICE, offsetof(type, member.kind), gt_collective_kind_names, GT_COLLECTIVE_KINDS }, \
    { "group", GT_FIELD_REF, offsetof(type, member.group), NULL, 0 }, \
    { "bytes", GT_FIELD_U64, offsetof(type, member.bytes), NULL, 0 }, \
    { "datatype", GT_FIELD_TEXT, offsetof(type, member.datatype), NULL, 0 }, \
    { "reduction", GT_FIELD_TEXT, offsetof(type, member.reduction), NULL, 0 }, \
    { "root", GT_FIELD_U32, offsetof(type, member.root), NULL, 0 }, \
    { "to", GT_FIELD_U32, offsetof(type, member.to), NULL, 0 }, \
    { "from", GT_FIELD_U32, offsetof(type, member.from), NULL, 0 }, \
    { "algorithm", GT_FIELD_CHOICE, offsetof(type, member.algorithm), gt_algorithm_names, GT_ALGORITHMS }, \
    { "protocol", GT_FIELD_CHOICE, offsetof(type, member.protocol), gt_protocol_names, GT_PROTOCOLS }
/* clang-format on */

/* What a kernel without these fields says. */
#define GT_RAW_COLLECTIVE_NONE                                         \
    {                                                                  \
        .bytes = UINT64_MAX, .to = GT_NONE, .from = GT_NONE, .root = 0 \
    }

/* Fill *collective from what the line says; `shaped`: it says the grid or the block too. */
int gt_jsonl_collective(struct gt_jsonl *jsonl, const struct gt_raw_collective *raw, bool shaped,
                        struct gt_collective *collective, struct gt_error *error);

#endif
