#include "plots/data/live_names.h"

#include <stdlib.h>
#include <string.h>

#include "sim/base/array.h"

#define uthash_fatal(text) gt_no_memory("an index of names")
#include <uthash.h>

struct gt_live_index {
    char *key; /* the kind's letter, then the name */
    uint32_t place;
    UT_hash_handle hh;
};

uint32_t gt_live_name(struct gt_live_names *names, enum gt_live_kind kind, const char *text, uint32_t rgb)
{
    char *key = gt_format("%c%s", (char)kind, text);
    struct gt_live_index *found;

    HASH_FIND_STR(names->index, key, found);
    if (found != NULL) {
        free(key);
        return found->place;
    }
    gt_array_grow(names->rows, names->count, names->room);
    names->rows[names->count] = (struct gt_live_name){ gt_strdup(text), kind, rgb };
    found = gt_calloc(1, sizeof *found);
    found->key = key;
    found->place = names->count++;
    HASH_ADD_KEYPTR(hh, names->index, found->key, strlen(found->key), found);
    return found->place;
}

void gt_live_names_free(struct gt_live_names *names)
{
    struct gt_live_index *found, *next;

    HASH_ITER(hh, names->index, found, next)
    {
        HASH_DEL(names->index, found);
        free(found->key);
        free(found);
    }
    for (uint32_t i = 0; i < names->count; i++)
        free(names->rows[i].text);
    free(names->rows);
    *names = (struct gt_live_names){ .rows = NULL };
}
