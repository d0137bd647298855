/* names.c - names of a plane's events and stats, which are numbers in its lines. */
#include <stdlib.h>
#include <string.h>

#include "sim/base/sort.h"
#include "traces/xplane/internal.h"

/* As openxla/xla's xla/tsl/profiler/utils/xplane_schema.cc has them. */
static const char *const stat_names[XPLANE_STATS] = {
    [XPLANE_CORRELATION] = "correlation_id",
    [XPLANE_CONTEXT] = "context_id",
    [XPLANE_KERNEL_DETAILS] = "kernel_details",
    [XPLANE_COPY_DETAILS] = "memcpy_details",
    [XPLANE_MEMSET_DETAILS] = "Memset_details",
    [XPLANE_GRAPH_EXECUTABLE] = "cuda_graph_exec_id",
    [XPLANE_HLO_OP] = "hlo_op",
    [XPLANE_STEP] = "step_num",
    [XPLANE_ALLOCATOR] = "allocator_name",
    [XPLANE_ADDRESS] = "addr",
    [XPLANE_ALLOCATION_BYTES] = "allocation_bytes",
    [XPLANE_ALLOCATED_BYTES] = "bytes_allocated",
    [XPLANE_VENDOR] = "device_vendor",
    [XPLANE_GPU_NAME] = "gpu_device_name",
    [XPLANE_CLOCK_KHZ] = "clock_rate",
    [XPLANE_SMS] = "core_count",
    [XPLANE_CAPABILITY_MAJOR] = "compute_cap_major",
    [XPLANE_CAPABILITY_MINOR] = "compute_cap_minor",
};

static int by_id(const void *left, const void *right)
{
    const struct xplane_name *a = left, *b = right;

    GT_ORDER(a->id, b->id);
    return 0;
}

static const struct xplane_name *find(const struct xplane_name *names, size_t count, int64_t id)
{
    const struct xplane_name key = { .id = id };

    return count == 0 ? NULL : bsearch(&key, names, count, sizeof key, by_id);
}

void xplane_begin_plane(struct xplane *xplane, const Xplane__Plane *plane)
{
    xplane->plane = plane;
    xplane->events = gt_calloc(plane->n_event_metadata + 1ull, sizeof *xplane->events);
    xplane->stats = gt_calloc(plane->n_stat_metadata + 1ull, sizeof *xplane->stats);
    xplane->event_count = plane->n_event_metadata;
    xplane->stat_count = plane->n_stat_metadata;
    for (int i = 0; i < XPLANE_STATS; i++)
        xplane->stat_ids[i] = INT64_MIN;
    for (size_t i = 0; i < xplane->event_count; i++) {
        const Xplane__EventMetadata *event = plane->event_metadata[i]->value;

        xplane->events[i].id = plane->event_metadata[i]->key;
        xplane->events[i].text = event != NULL && event->name != NULL ? event->name : "";
        xplane->events[i].event = event;
    }
    for (size_t i = 0; i < xplane->stat_count; i++) {
        const Xplane__StatMetadata *stat = plane->stat_metadata[i]->value;

        xplane->stats[i].id = plane->stat_metadata[i]->key;
        xplane->stats[i].text = stat != NULL && stat->name != NULL ? stat->name : "";
        for (int n = 0; n < XPLANE_STATS; n++)
            if (strcmp(xplane->stats[i].text, stat_names[n]) == 0)
                xplane->stat_ids[n] = xplane->stats[i].id;
    }
    qsort(xplane->events, xplane->event_count, sizeof *xplane->events, by_id);
    qsort(xplane->stats, xplane->stat_count, sizeof *xplane->stats, by_id);
}

void xplane_end_plane(struct xplane *xplane)
{
    free(xplane->events);
    free(xplane->stats);
    xplane->events = xplane->stats = NULL;
    xplane->plane = NULL;
}

static struct xplane_value value_of(const struct xplane *xplane, const Xplane__Stat *stat)
{
    struct xplane_value value = { .there = true };

    if (stat->has_ref_value) { /* a text that stands among the names of stats */
        const struct xplane_name *name = find(xplane->stats, xplane->stat_count, (int64_t)stat->ref_value);

        value.text = name != NULL ? name->text : "";
    } else if (stat->str_value != NULL) {
        value.text = stat->str_value;
    } else if (stat->has_uint64_value) {
        value.number = stat->uint64_value > INT64_MAX ? INT64_MAX : (int64_t)stat->uint64_value;
    } else if (stat->has_int64_value) {
        value.number = stat->int64_value;
    } else if (stat->has_double_value && stat->double_value > -1e15 && stat->double_value < 1e15) {
        value.number = (int64_t)stat->double_value;
    }
    return value;
}

void xplane_read_stats(const struct xplane *xplane, Xplane__Stat *const *stats, size_t count,
                       struct xplane_value values[XPLANE_STATS])
{
    for (size_t i = 0; i < count; i++)
        for (int n = 0; n < XPLANE_STATS; n++)
            if (xplane->stat_ids[n] != INT64_MIN && stats[i]->metadata_id == xplane->stat_ids[n])
                values[n] = value_of(xplane, stats[i]);
}

const char *xplane_event_name(const struct xplane *xplane, int64_t id, struct xplane_value values[XPLANE_STATS])
{
    const struct xplane_name *name = find(xplane->events, xplane->event_count, id);

    if (name != NULL && name->event != NULL)
        xplane_read_stats(xplane, name->event->stats, name->event->n_stats, values);
    return name != NULL ? name->text : "";
}

const char *xplane_detail(const char *text, const char *key)
{
    size_t length = strlen(key);

    for (const char *at = text; at != NULL; at = strchr(at, ' ')) {
        at += *at == ' ';
        if (strncmp(at, key, length) == 0 && at[length] == ':')
            return at + length + 1;
    }
    return NULL;
}

uint32_t xplane_correlation(const struct xplane_event *event)
{
    int64_t number = event->values[XPLANE_CORRELATION].number;

    return number > 0 && number < GT_NO_CORRELATION ? (uint32_t)number : GT_NO_CORRELATION;
}
