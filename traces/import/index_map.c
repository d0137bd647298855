#include "traces/import/index_map.h"

#include <stdlib.h>

#define uthash_fatal(text) gt_no_memory("an index of numbers")
#include <uthash.h>

#include "sim/base/error.h"
#include "sim/workload/workload.h"

struct gt_index_map {
    UT_hash_handle hh;
    struct gt_index_key key;
    uint32_t index;
};

uint32_t *gt_index_map_find(struct gt_index_map *map, struct gt_index_key key)
{
    struct gt_index_map *entry;

    HASH_FIND(hh, map, &key, sizeof key, entry);
    return entry != NULL ? &entry->index : NULL;
}

uint32_t *gt_index_map_at(struct gt_index_map **map, struct gt_index_key key)
{
    uint32_t *index = gt_index_map_find(*map, key);
    struct gt_index_map *entry;

    if (index != NULL)
        return index;
    entry = gt_calloc(1, sizeof *entry);
    entry->key = key;
    entry->index = GT_NONE;
    HASH_ADD(hh, *map, key, sizeof entry->key, entry);
    return &entry->index;
}

void gt_index_map_free(struct gt_index_map *map)
{
    struct gt_index_map *entry, *next;

    HASH_ITER(hh, map, entry, next)
    {
        HASH_DEL(map, entry);
        free(entry);
    }
}
