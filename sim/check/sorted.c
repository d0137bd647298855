#include "sim/check/sorted.h"

#include <stdlib.h>
#include <string.h>

#include "sim/base/array.h"
#include "sim/base/sort.h"

enum { CHUNK = 256 };

struct gt_sorted_chunk {
    uint32_t count;
    uint64_t keys[CHUNK];
    void *things[CHUNK];
};

void *gt_sorted_find(const struct gt_sorted *sorted, uint64_t key)
{
    uint32_t chunk = gt_count_until(sorted->begins, sorted->count, key);
    const struct gt_sorted_chunk *at;

    if (chunk == 0)
        return NULL;
    at = sorted->chunks[chunk - 1];
    return at->things[gt_count_until(at->keys, at->count, key) - 1];
}

static void insert_chunk(struct gt_sorted *sorted, uint32_t place, struct gt_sorted_chunk *chunk)
{
    uint32_t room = sorted->room;

    gt_array_grow(sorted->begins, sorted->count, room);
    gt_array_grow(sorted->chunks, sorted->count, sorted->room);
    memmove(&sorted->begins[place + 1], &sorted->begins[place], (sorted->count - place) * sizeof *sorted->begins);
    memmove(&sorted->chunks[place + 1], &sorted->chunks[place], (sorted->count - place) * sizeof(void *));
    sorted->begins[place] = chunk->keys[0];
    sorted->chunks[place] = chunk;
    sorted->count++;
}

/* The upper half of a full chunk becomes one of its own. */
static void split(struct gt_sorted *sorted, uint32_t place)
{
    struct gt_sorted_chunk *lower = sorted->chunks[place], *upper = gt_calloc(1, sizeof *upper);

    upper->count = CHUNK / 2;
    lower->count = CHUNK - upper->count;
    memcpy(upper->keys, &lower->keys[lower->count], upper->count * sizeof *upper->keys);
    memcpy(upper->things, &lower->things[lower->count], upper->count * sizeof *upper->things);
    insert_chunk(sorted, place + 1, upper);
}

void gt_sorted_add(struct gt_sorted *sorted, uint64_t key, void *thing)
{
    uint32_t chunk = gt_count_until(sorted->begins, sorted->count, key), place;
    struct gt_sorted_chunk *at;

    if (sorted->count == 0) {
        at = gt_calloc(1, sizeof *at);
        insert_chunk(sorted, 0, at);
    }
    chunk -= chunk > 0;
    if (sorted->chunks[chunk]->count == CHUNK) {
        split(sorted, chunk);
        chunk += sorted->begins[chunk + 1] <= key;
    }
    at = sorted->chunks[chunk];
    place = gt_count_until(at->keys, at->count, key);
    memmove(&at->keys[place + 1], &at->keys[place], (at->count - place) * sizeof *at->keys);
    memmove(&at->things[place + 1], &at->things[place], (at->count - place) * sizeof *at->things);
    at->keys[place] = key;
    at->things[place] = thing;
    at->count++;
    sorted->begins[chunk] = at->keys[0];
}

void gt_sorted_remove(struct gt_sorted *sorted, uint64_t key)
{
    uint32_t chunk = gt_count_until(sorted->begins, sorted->count, key) - 1, place;
    struct gt_sorted_chunk *at = sorted->chunks[chunk];

    place = gt_count_until(at->keys, at->count, key) - 1;
    at->count--;
    memmove(&at->keys[place], &at->keys[place + 1], (at->count - place) * sizeof *at->keys);
    memmove(&at->things[place], &at->things[place + 1], (at->count - place) * sizeof *at->things);
    if (at->count > 0) {
        sorted->begins[chunk] = at->keys[0];
        return;
    }
    free(at);
    sorted->count--;
    memmove(&sorted->begins[chunk], &sorted->begins[chunk + 1], (sorted->count - chunk) * sizeof *sorted->begins);
    memmove(&sorted->chunks[chunk], &sorted->chunks[chunk + 1], (sorted->count - chunk) * sizeof(void *));
}

void gt_sorted_end(struct gt_sorted *sorted, void (*visit)(void *thing))
{
    for (uint32_t i = 0; i < sorted->count; i++) {
        for (uint32_t j = 0; j < sorted->chunks[i]->count; j++)
            visit(sorted->chunks[i]->things[j]);
        free(sorted->chunks[i]);
    }
    free(sorted->begins);
    free(sorted->chunks);
    *sorted = (struct gt_sorted){ .count = 0 };
}
