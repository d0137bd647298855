#include "traces/jsonl/refs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <uthash.h>

#include "sim/workload/workload.h"

/* Texts and numbers have a table each. */
struct ref {
    UT_hash_handle hh;
    uint32_t index, line;
    char key[];
};

struct gt_refs {
    struct ref *texts, *numbers;
};

struct gt_refs *gt_refs_new(void)
{
    return gt_calloc(1, sizeof(struct gt_refs));
}

static void free_table(struct ref *table)
{
    struct ref *ref, *next;

    HASH_ITER(hh, table, ref, next)
    {
        HASH_DEL(table, ref);
        free(ref);
    }
}

void gt_refs_free(struct gt_refs *refs)
{
    if (refs == NULL)
        return;
    free_table(refs->texts);
    free_table(refs->numbers);
    free(refs);
}

uint32_t gt_refs_find(const struct gt_refs *refs, const struct gt_json_token *key, uint32_t *line)
{
    struct ref *table = key->type == GT_JSON_NUMBER ? refs->numbers : refs->texts, *ref;

    HASH_FIND(hh, table, key->text, key->length, ref);
    if (ref == NULL)
        return GT_NONE;
    if (line != NULL)
        *line = ref->line;
    return ref->index;
}

void gt_refs_add(struct gt_refs *refs, const struct gt_json_token *key, uint32_t index, uint32_t line)
{
    struct ref *ref = gt_calloc(1, sizeof *ref + key->length);

    ref->index = index;
    ref->line = line;
    memcpy(ref->key, key->text, key->length);
    if (key->type == GT_JSON_NUMBER)
        HASH_ADD_KEYPTR(hh, refs->numbers, ref->key, key->length, ref);
    else
        HASH_ADD_KEYPTR(hh, refs->texts, ref->key, key->length, ref);
}

void gt_refs_list(const struct gt_refs *refs, char *text, size_t bytes)
{
    struct ref *ref, *next;
    size_t used = 0;

    text[0] = '\0';
    HASH_ITER(hh, refs->texts, ref, next)
    {
        int length = snprintf(text + used, bytes - used, " %.*s", (int)ref->hh.keylen, ref->key);

        if (length < 0 || used + (size_t)length + sizeof " ..." > bytes) {
            snprintf(text + used, bytes - used, "%s", used + sizeof " ..." <= bytes ? " ..." : "");
            return;
        }
        used += (size_t)length;
    }
}
