/* index_map.h - the numbers that a file gives its streams, threads, events and the like, and the indexes that these have here. */
#ifndef GRIDTIDE_TRACES_IMPORT_INDEX_MAP_H
#define GRIDTIDE_TRACES_IMPORT_INDEX_MAP_H

#include <stdint.h>

/* What a thing is found by: up to four numbers; those that are not needed are 0. */
struct gt_index_key {
    uint64_t numbers[4];
};

struct gt_index_map; /* NULL: empty */

/* The index of `key`, for reading and writing until gt_index_map_free(); NULL: it has none. */
uint32_t *gt_index_map_find(struct gt_index_map *map, struct gt_index_key key);
/* The same; where there is none yet it is added, and is GT_NONE. */
uint32_t *gt_index_map_at(struct gt_index_map **map, struct gt_index_key key);
void gt_index_map_free(struct gt_index_map *map);

#endif
