/* regions.c - rocpd_region: calls of HIP; markers (ROCTX) and collectives (RCCL) as ranges of their threads. */
#include <string.h>

#include "sim/base/array.h"
#include "sim/base/text.h"
#include "traces/rocpd/internal.h"

enum { NAME = ROCPD_PLACE_COLUMNS, COLUMNS };
static const struct gt_db_column columns[COLUMNS] = {
    ROCPD_PLACE_ROWS,
    [NAME] = { "name_id", GT_DB_MAY_LACK, GT_DB_ANY },
};

static void add_call(struct rocpd *rocpd, const struct gt_db_rows *rows, const struct rocpd_place *place,
                     uint32_t correlation, const char *name)
{
    const struct rocpd_arguments *arguments = rocpd_arguments_of(rocpd, rows->value[ROCPD_AT_EVENT]);
    const struct gt_cuda_api *api = gt_cuda_api_find(name, strlen(name));
    struct gt_import_call *call = gt_import_add_call(&rocpd->import);

    call->start_ns = place->start_ns;
    call->end_ns = place->end_ns;
    call->process = place->process;
    call->correlation = correlation;
    call->thread = gt_import_thread(&rocpd->import, place->process, place->shown_process, place->thread);
    call->name = gt_name(rocpd->import.workload, name, strlen(name));
    if (api == NULL)
        return;
    call->kind = (uint8_t)api->kind;
    call->flags = (uint8_t)api->flags;
    if (arguments == NULL)
        return;
    gt_array_grow(rocpd->marks, rocpd->mark_count, rocpd->mark_room);
    rocpd->marks[rocpd->mark_count++] = (struct rocpd_mark){
        .arguments = *arguments,
        .process = place->process,
        .start_ns = place->start_ns,
        .call = rocpd->import.call_count - 1,
    };
}

/* The text of a marker, {"message": "..."}, as a name of the workload; GT_NONE: it has none. */
static uint32_t read_message(struct rocpd *rocpd, const char *extra, uint8_t *kind)
{
    const struct gt_json_token *object = gt_json_line_parse(rocpd->json, extra, strlen(extra), NULL);
    uint32_t name = GT_NONE;

    for (const struct gt_json_token *key = object != NULL ? object + 1 : NULL;
         key != NULL && key < object + object->span; key += 1 + key[1].span)
        if (key[1].type == GT_JSON_STRING && key[1].length > 0 && key->length == 7 &&
            memcmp(key->text, "message", 7) == 0)
            name = gt_import_marker_name(&rocpd->import, key[1].text, key[1].length, kind);
    return name;
}

static void add_range(struct rocpd *rocpd, const struct rocpd_place *place, uint32_t name, uint8_t kind)
{
    struct gt_import_range *range = gt_import_add_range(
        &rocpd->import, gt_import_range_thread(&rocpd->import, place->process, place->shown_process, place->thread));

    range->start_ns = place->start_ns;
    range->end_ns = place->end_ns;
    range->name = name;
    range->kind = kind;
}

static bool is_marker(const struct rocpd_event *event)
{
    return event->category != NULL && gt_begins(event->category, strlen(event->category), "MARKER");
}

/* HSA's calls are what HIP's make of themselves, mostly on threads of its own; code, decoders and others take no part. */
static int read_region(void *user, const struct gt_db_rows *rows, struct gt_error *error)
{
    struct rocpd *rocpd = user;
    struct rocpd_place place;
    struct rocpd_event event;
    const char *name, *extra;
    uint8_t kind = GT_RANGE_NVTX;
    size_t length;

    if (rocpd_read_place(rocpd, rows, &place, error) != 0 ||
        rocpd_string(rocpd, rows->value[NAME], &name, error) != 0 ||
        rocpd_read_event(rocpd, rows->value[ROCPD_AT_EVENT], &event, &extra, error) != 0)
        return -1;
    length = name != NULL ? strlen(name) : 0;
    if (gt_begins(name, length, "hip") || gt_begins(name, length, "__hip")) {
        add_call(rocpd, rows, &place, event.correlation, name);
    } else if (gt_begins(name, length, "nccl") || is_marker(&event)) {
        uint32_t message = extra == NULL ? GT_NONE : read_message(rocpd, extra, &kind);

        if (message == GT_NONE && name != NULL)
            message = gt_name(rocpd->import.workload, name, length);
        if (message != GT_NONE)
            add_range(rocpd, &place, message, kind);
        gt_import_warn(rocpd->import.workload, "ranges-unreadable", message == GT_NONE);
    }
    return 0;
}

int rocpd_read_regions(struct rocpd *rocpd, struct gt_error *error)
{
    return rocpd_each_row(rocpd, "rocpd_region", columns, COLUMNS, read_region, error);
}
