#include "traces/diff/list.h"

#include <stdlib.h>
#include <string.h>

#define uthash_fatal(text) gt_no_memory("an index of names")
#include <uthash.h>

#include "sim/base/array.h"

struct gt_diff_name {
    UT_hash_handle hh;
    char *key; /* "KIND NAME" */
    uint32_t row;
};

uint32_t gt_diff_list_row(struct gt_diff_list *list, const char *kind, const char *name)
{
    char *key = gt_format("%s %s", kind != NULL ? kind : "", name);
    size_t length = strlen(key);
    struct gt_diff_name *named;

    HASH_FIND(hh, list->names, key, length, named);
    if (named != NULL) {
        free(key);
        return named->row;
    }
    gt_array_grow(list->rows, list->count, list->room);
    list->rows[list->count] = (struct gt_diff_row){ .kind = kind, .name = gt_strdup(name) };
    named = gt_calloc(1, sizeof *named);
    *named = (struct gt_diff_name){ .key = key, .row = list->count++ };
    HASH_ADD_KEYPTR(hh, list->names, key, length, named);
    return named->row;
}

static uint64_t between(gt_time_ps a, gt_time_ps b)
{
    return a > b ? a - b : b - a;
}

static int by_weight(const void *left, const void *right)
{
    const struct gt_diff_row *a = left, *b = right;
    int kinds = strcmp(a->kind != NULL ? a->kind : "", b->kind != NULL ? b->kind : "");

    if (a->weight_ps != b->weight_ps)
        return a->weight_ps > b->weight_ps ? -1 : 1;
    return kinds != 0 ? kinds : strcmp(a->name, b->name);
}

static void free_names(struct gt_diff_list *list)
{
    struct gt_diff_name *named, *next;

    HASH_ITER(hh, list->names, named, next)
    {
        HASH_DEL(list->names, named);
        free(named->key);
        free(named);
    }
}

void gt_diff_list_finish(struct gt_diff_list *list, bool parts_too)
{
    for (uint32_t i = 0; i < list->count; i++) {
        struct gt_diff_row *row = &list->rows[i];

        row->weight_ps = between(row->side[0].ps, row->side[1].ps) +
                         (parts_too ? between(row->side[0].part_ps, row->side[1].part_ps) : 0);
        list->changed_ps += (double)row->weight_ps;
    }
    if (list->count > 0)
        qsort(list->rows, list->count, sizeof *list->rows, by_weight);
    free_names(list);
}

void gt_diff_list_free(struct gt_diff_list *list)
{
    free_names(list);
    for (uint32_t i = 0; i < list->count; i++)
        free(list->rows[i].name);
    free(list->rows);
    *list = (struct gt_diff_list){ .rows = NULL };
}
