/* planes.c - one plane: which part of the machine it is of, and the events of its lines. */
#include <stdlib.h>
#include <string.h>

#include "traces/xplane/internal.h"

static const char gpu_prefix[] = "/device:GPU:";
/* Threads of the program; in files that no tool has merged, its calls and markers have planes of their own. */
static const char *const host_planes[] = { "/host:CPU", "/host:CUPTI", "/host:ROCTRACER", "/host:NVTX-CUPTI" };

struct place {
    bool is_gpu;
    uint32_t gpu;
};

/* Planes of TPUs, of metadata and of tools have no work of GPUs. */
static bool find_place(const char *name, struct place *place)
{
    char *end;
    unsigned long number;

    *place = (struct place){ .is_gpu = strncmp(name, gpu_prefix, sizeof gpu_prefix - 1) == 0 };
    if (place->is_gpu) {
        number = strtoul(name + sizeof gpu_prefix - 1, &end, 10);
        place->gpu = (uint32_t)number;
        return end > name + sizeof gpu_prefix - 1 && number <= 65535;
    }
    for (size_t i = 0; i < sizeof host_planes / sizeof host_planes[0]; i++)
        if (strcmp(name, host_planes[i]) == 0)
            return true;
    return false;
}

/* Times are picoseconds since the start of the line. */
static bool find_times(const Xplane__Line *line, const Xplane__Event *packed, struct xplane_event *event)
{
    int64_t end_ps;

    return packed->offset_ps >= 0 && packed->duration_ps >= 0 && line->timestamp_ns >= 0 &&
           !__builtin_add_overflow(packed->offset_ps, packed->duration_ps, &end_ps) &&
           !__builtin_add_overflow(line->timestamp_ns, packed->offset_ps / 1000, &event->start_ns) &&
           !__builtin_add_overflow(line->timestamp_ns, end_ps / 1000, &event->end_ns);
}

static int take_event(struct xplane *xplane, const struct place *place, const Xplane__Line *line,
                      const Xplane__Event *packed, size_t number, struct gt_error *error)
{
    struct xplane_event event = { .line = line->id };

    if (packed->has_num_occurrences) /* added up over time */
        return 0;
    if (!find_times(line, packed, &event))
        return gt_error_set(error,
                            "plane %.100s, line %lld, event %zu: its start or duration is below 0 or too large",
                            xplane->plane->name, (long long)line->id, number);
    event.name = xplane_event_name(xplane, packed->metadata_id, event.values);
    xplane_read_stats(xplane, packed->stats, packed->n_stats, event.values);
    if (place->is_gpu)
        xplane_take_operation(xplane, place->gpu, &event);
    else
        xplane_take_host_event(xplane, &event);
    return 0;
}

static int read_line(struct xplane *xplane, const struct place *place, const ProtobufCBinaryData *bytes,
                     size_t number, struct gt_error *error)
{
    Xplane__Line *line = xplane__line__unpack(NULL, bytes->len, bytes->data);
    int status = 0;

    if (line == NULL)
        return gt_error_set(error, "plane %.100s: line %zu of the file is damaged", xplane->plane->name, number);
    xplane->caller = xplane->range_thread = GT_NONE;
    xplane->line_name = line->name;
    for (size_t i = 0; status == 0 && i < line->n_events; i++) {
        Xplane__Event *event = xplane__event__unpack(NULL, line->events[i].len, line->events[i].data);

        if (event == NULL)
            status = gt_error_set(error, "plane %.100s, line %lld: event %zu is damaged", xplane->plane->name,
                                  (long long)line->id, i + 1);
        else
            status = take_event(xplane, place, line, event, i + 1, error);
        xplane__event__free_unpacked(event, NULL);
    }
    if (!place->is_gpu && line->name != NULL)
        xplane_name_thread(xplane, line->name);
    xplane__line__free_unpacked(line, NULL);
    return status;
}

int xplane_read_plane(struct xplane *xplane, const uint8_t *bytes, size_t length, struct gt_error *error)
{
    Xplane__Plane *plane = xplane__plane__unpack(NULL, length, bytes);
    struct place place;
    int status = 0;

    if (plane == NULL)
        return gt_error_set(error, "the plane is damaged");
    if (plane->name != NULL && find_place(plane->name, &place)) {
        xplane_begin_plane(xplane, plane);
        if (place.is_gpu)
            xplane_take_gpu(xplane, place.gpu);
        for (size_t i = 0; status == 0 && i < plane->n_lines; i++)
            status = read_line(xplane, &place, &plane->lines[i], i + 1, error);
        xplane_end_plane(xplane);
    }
    xplane__plane__free_unpacked(plane, NULL);
    return status;
}
