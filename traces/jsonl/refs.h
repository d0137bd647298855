/* refs.h - names and numbers by which lines of a trace speak of what they mean. */
#ifndef GRIDTIDE_TRACES_JSONL_REFS_H
#define GRIDTIDE_TRACES_JSONL_REFS_H

#include <stdint.h>

#include "traces/io/json_line.h"

/* A key is a text or a number: "7" and 7 are two keys. */
struct gt_refs;

struct gt_refs *gt_refs_new(void);
void gt_refs_free(struct gt_refs *refs);

/* The index under a key (a STRING or NUMBER token); GT_NONE when there is none. `line` (may be NULL):
 * where it was added. */
uint32_t gt_refs_find(const struct gt_refs *refs, const struct gt_json_token *key, uint32_t *line);
/* Add a key that is not there yet. */
void gt_refs_add(struct gt_refs *refs, const struct gt_json_token *key, uint32_t index, uint32_t line);
/* Up to `bytes` of the texts among the keys, for a message: " a b c ...". */
void gt_refs_list(const struct gt_refs *refs, char *text, size_t bytes);

#endif
