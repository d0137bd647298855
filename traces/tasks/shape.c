/* Kinds of tasks by what they do and how large that is. */
#include <stdlib.h>
#include <string.h>

#include "traces/tasks/internal.h"

enum { MOST_PARAMS = 64 };

/* Parameters that say where a task's part lies, or with what numbers it reckons, but not how much it does. */
static const char *const no_sizes[] = { "n_off", "pos", "kv_start", "eps", "theta", "scale" };

static bool is_size(const struct gt_json_token *key)
{
    if (key[1].type != GT_JSON_NUMBER)
        return false;
    for (size_t i = 0; i < sizeof no_sizes / sizeof no_sizes[0]; i++)
        if (key->length == strlen(no_sizes[i]) && memcmp(key->text, no_sizes[i], key->length) == 0)
            return false;
    return true;
}

gt_task_kind_index gt_task_import_shaped_kind(struct gt_task_import *import, const struct gt_json_token *op,
                                              const struct gt_json_token *params)
{
    char *name = gt_strndup(op->text, op->length);
    struct gt_json_token whole = *op;
    gt_task_kind_index kind;

    if (params != NULL && params->type == GT_JSON_OBJECT) {
        uint32_t count = 0;

        for (const struct gt_json_token *key = params + 1; key < params + params->span && count < MOST_PARAMS;
             key += 1 + key[1].span) {
            char *longer;

            if (!is_size(key))
                continue;
            longer = gt_format("%s %.*s=%.*s", name, (int)key->length, key->text, (int)key[1].length, key[1].text);
            free(name);
            name = longer;
            count++;
        }
    }
    whole.text = name;
    whole.length = (uint32_t)strlen(name);
    kind = gt_task_import_kind(import, &whole);
    free(name);
    return kind;
}
