/* perfetto.c - packets of a Perfetto trace, one at a time. */
#include "traces/export/internal.h"

#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "sim/base/array.h"
#include "sim/base/heap.h"
#include "sim/base/text.h"
#include "traces/export/perfetto.pb-c.h"
#include "traces/names/demangle.h"

/* Sequence 1 is that of the descriptors of tracks. */
enum { PS_PER_NS = 1000, NOTES = 24, DESCRIPTORS = 1 };

/* Short names for what protoc-c makes of the package's name. */
typedef Perfetto__Protos__Trace Trace;
typedef Perfetto__Protos__TracePacket Packet;
typedef Perfetto__Protos__TrackEvent Event;
typedef Perfetto__Protos__TrackDescriptor Descriptor;
typedef Perfetto__Protos__InternedData Interned;
typedef Perfetto__Protos__DebugAnnotation Annotation;
typedef Perfetto__Protos__DebugAnnotationName AnnotationName;

/* Slices are named anew only once a sequence: later packets give the number. */
struct interned {
    UT_hash_handle hh;
    uint64_t iid;
    char text[];
};

/* The slices of one track that have not ended, each within the one before. */
struct lane {
    gt_time_ps *ends_ps;
    uint32_t depth, room;
};

/* The tracks that one track needs where its slices overlap. */
struct lanes {
    UT_hash_handle hh;
    uint64_t uuid;
    struct lane *lanes;
    uint32_t count, room;
};

enum pool { POOL_NAMES, POOL_CATEGORIES, POOL_NOTES, POOLS };

struct gt_perfetto_sequence {
    struct gt_output *output;
    uint32_t number;
    bool begun;
    struct interned *pools[POOLS];
    struct lanes *lanes;
    struct gt_heap ends; /* of slices that began, in ns; the stamp is the track's uuid */
    uint64_t slices;
    uint8_t *packed; /* the buffer that packets are put together in */
    size_t packed_room;
};

/* A Trace of one packet: traces, concatenated, are a trace. */
static int write_packet(struct gt_output *output, Packet *packet, uint8_t **buffer, size_t *room,
                        struct gt_error *error)
{
    Trace trace = PERFETTO__PROTOS__TRACE__INIT;
    trace.n_packet = 1;
    trace.packet = &packet;
    size_t bytes = perfetto__protos__trace__get_packed_size(&trace);
    if (bytes > *room) {
        *room = 2 * bytes;
        *buffer = gt_realloc(*buffer, *room, 1);
    }
    perfetto__protos__trace__pack(&trace, *buffer);
    return gt_output_write(output, *buffer, bytes, error);
}

static int write_descriptor(struct gt_output *output, const struct gt_perfetto_track *track, Descriptor *descriptor,
                            struct gt_error *error)
{
    Packet packet = PERFETTO__PROTOS__TRACE_PACKET__INIT;
    uint8_t *buffer = NULL;
    size_t room = 0;
    descriptor->has_uuid = true;
    descriptor->uuid = track->uuid;
    descriptor->has_parent_uuid = track->parent != 0;
    descriptor->parent_uuid = track->parent;
    descriptor->has_child_ordering = true;
    descriptor->child_ordering = PERFETTO__PROTOS__TRACK_DESCRIPTOR__CHILD_TRACKS_ORDERING__EXPLICIT;
    descriptor->has_sibling_order_rank = true;
    descriptor->sibling_order_rank = track->rank;
    packet.track_descriptor = descriptor;
    packet.has_trusted_packet_sequence_id = true;
    packet.trusted_packet_sequence_id = DESCRIPTORS;
    int status = write_packet(output, &packet, &buffer, &room, error);
    free(buffer);
    return status;
}

int gt_perfetto_process(struct gt_output *output, const struct gt_perfetto_track *track, int pid,
                        struct gt_error *error)
{
    Descriptor descriptor = PERFETTO__PROTOS__TRACK_DESCRIPTOR__INIT;
    Perfetto__Protos__ProcessDescriptor process = PERFETTO__PROTOS__PROCESS_DESCRIPTOR__INIT;
    process.has_pid = process.has_legacy_sort_index = true;
    process.pid = pid;
    process.legacy_sort_index = track->rank;
    process.process_name = gt_utf8_clean(track->name);
    descriptor.process = &process;
    int status = write_descriptor(output, track, &descriptor, error);
    free(process.process_name);
    return status;
}

int gt_perfetto_track(struct gt_output *output, const struct gt_perfetto_track *track, struct gt_error *error)
{
    Descriptor descriptor = PERFETTO__PROTOS__TRACK_DESCRIPTOR__INIT;
    descriptor.name = gt_utf8_clean(track->name);
    int status = write_descriptor(output, track, &descriptor, error);
    free(descriptor.name);
    return status;
}

int gt_perfetto_counter(struct gt_output *output, const struct gt_perfetto_track *track, const char *unit,
                        struct gt_error *error)
{
    Descriptor descriptor = PERFETTO__PROTOS__TRACK_DESCRIPTOR__INIT;
    Perfetto__Protos__CounterDescriptor counter = PERFETTO__PROTOS__COUNTER_DESCRIPTOR__INIT;
    counter.unit_name = (char *)unit;
    descriptor.counter = &counter;
    descriptor.name = gt_utf8_clean(track->name);
    int status = write_descriptor(output, track, &descriptor, error);
    free(descriptor.name);
    return status;
}

struct gt_perfetto_sequence *gt_perfetto_sequence_new(struct gt_output *output, uint32_t number)
{
    struct gt_perfetto_sequence *sequence = gt_calloc(1, sizeof(*sequence));
    sequence->output = output;
    sequence->number = number;
    return sequence;
}

void gt_perfetto_sequence_free(struct gt_perfetto_sequence *sequence)
{
    if (sequence == NULL)
        return;
    for (int pool = 0; pool < POOLS; pool++) {
        struct interned *entry, *next;
        HASH_ITER(hh, sequence->pools[pool], entry, next)
        {
            HASH_DEL(sequence->pools[pool], entry);
            free(entry);
        }
    }
    struct lanes *lanes, *next;
    HASH_ITER(hh, sequence->lanes, lanes, next)
    {
        HASH_DEL(sequence->lanes, lanes);
        for (uint32_t i = 0; i < lanes->count; i++)
            free(lanes->lanes[i].ends_ps);
        free(lanes->lanes);
        free(lanes);
    }
    gt_heap_free(&sequence->ends);
    free(sequence->packed);
    free(sequence);
}

/* The number of a text in a pool; *fresh points at it where its packet must define it. */
static uint64_t intern(struct gt_perfetto_sequence *sequence, enum pool pool, const char *text,
                       struct interned **fresh)
{
    size_t length = strlen(text);
    struct interned *entry;
    *fresh = NULL;
    HASH_FIND(hh, sequence->pools[pool], text, length, entry);
    if (entry == NULL) {
        entry = gt_calloc(1, sizeof(*entry) + length + 1);
        entry->iid = HASH_COUNT(sequence->pools[pool]) + 1;
        memcpy(entry->text, text, length);
        HASH_ADD_KEYPTR(hh, sequence->pools[pool], entry->text, length, entry);
        *fresh = entry;
    }
    return entry->iid;
}

static int write_event(struct gt_perfetto_sequence *sequence, Event *event, Interned *data, uint64_t time_ns,
                       struct gt_error *error)
{
    Packet packet = PERFETTO__PROTOS__TRACE_PACKET__INIT;
    packet.has_timestamp = packet.has_trusted_packet_sequence_id = packet.has_sequence_flags = true;
    packet.timestamp = time_ns;
    packet.trusted_packet_sequence_id = sequence->number;
    packet.sequence_flags = sequence->begun
                                ? PERFETTO__PROTOS__TRACE_PACKET__SEQUENCE_FLAGS__SEQ_NEEDS_INCREMENTAL_STATE
                                : PERFETTO__PROTOS__TRACE_PACKET__SEQUENCE_FLAGS__SEQ_INCREMENTAL_STATE_CLEARED;
    packet.track_event = event;
    packet.interned_data = data;
    sequence->begun = true;
    return write_packet(sequence->output, &packet, &sequence->packed, &sequence->packed_room, error);
}

static int write_ends(struct gt_perfetto_sequence *sequence, uint64_t until_ns, struct gt_error *error)
{
    while (sequence->ends.count > 0 && sequence->ends.events[0].time_ps <= until_ns) {
        struct gt_heap_event end = gt_heap_pop(&sequence->ends);
        Event event = PERFETTO__PROTOS__TRACK_EVENT__INIT;
        event.has_type = event.has_track_uuid = true;
        event.type = PERFETTO__PROTOS__TRACK_EVENT__TYPE__TYPE_SLICE_END;
        event.track_uuid = end.stamp;
        if (write_event(sequence, &event, NULL, end.time_ps, error) != 0)
            return -1;
    }
    return 0;
}

int gt_perfetto_sequence_finish(struct gt_perfetto_sequence *sequence, struct gt_error *error)
{
    return write_ends(sequence, UINT64_MAX, error);
}

/* Is there room for the slice: has all ended when it starts, or does it lie within what has not? */
static bool fits(struct lane *lane, const struct gt_perfetto_slice *slice)
{
    while (lane->depth > 0 && lane->ends_ps[lane->depth - 1] <= slice->start_ps)
        lane->depth--;
    return lane->depth == 0 || (slice->nests && slice->end_ps <= lane->ends_ps[lane->depth - 1]);
}

static void put(struct lane *lane, gt_time_ps end_ps)
{
    gt_array_grow(lane->ends_ps, lane->depth, lane->room);
    lane->ends_ps[lane->depth++] = end_ps;
}

/* The track, or one beside it, that has room for the slice; a new one is written. */
static int take_lane(struct gt_perfetto_sequence *sequence, const struct gt_perfetto_track *track,
                     const struct gt_perfetto_slice *slice, uint64_t *uuid, struct gt_error *error)
{
    struct lanes *lanes;
    uint32_t lane = 0;
    HASH_FIND(hh, sequence->lanes, &track->uuid, sizeof(track->uuid), lanes);
    if (lanes == NULL) {
        lanes = gt_calloc(1, sizeof(*lanes));
        lanes->uuid = track->uuid;
        HASH_ADD(hh, sequence->lanes, uuid, sizeof(lanes->uuid), lanes);
    }
    while (lane < lanes->count && !fits(&lanes->lanes[lane], slice))
        lane++;
    *uuid = track->uuid + lane;
    if (lane == lanes->count) {
        struct gt_perfetto_track beside = { *uuid, track->parent, track->rank, track->name };
        if (lane == GT_PERFETTO_LANES)
            return gt_error_set(error, "more than %d slices at once on track '%.60s'", GT_PERFETTO_LANES,
                                track->name);
        gt_array_grow(lanes->lanes, lanes->count, lanes->room);
        lanes->lanes[lanes->count++] = (struct lane){ NULL, 0, 0 };
        if (gt_perfetto_track(sequence->output, &beside, error) != 0)
            return -1;
    }
    put(&lanes->lanes[lane], slice->end_ps);
    return 0;
}

/* What the begin of a slice is made of; the event points into it. */
struct begin {
    Event event;
    Interned data;
    Perfetto__Protos__EventName name, *names;
    Perfetto__Protos__EventCategory category, *categories;
    AnnotationName note_names[NOTES], *note_name_list[NOTES];
    Annotation notes[NOTES], *note_list[NOTES];
    uint64_t category_iid, flows_in[2];
    char *owned[2 * NOTES + 2];
    size_t owned_count;
};

/* A clean copy that lives as long as `begin`. */
static char *own(struct begin *begin, const char *text)
{
    return begin->owned[begin->owned_count++] = gt_utf8_clean(text);
}

static char *own_demangled(struct begin *begin, const char *name)
{
    char *text = gt_demangle(name), *clean = own(begin, text);
    free(text);
    return clean;
}

static void put_name(struct gt_perfetto_sequence *sequence, struct begin *begin, const char *name,
                     const char *category)
{
    struct interned *fresh;
    begin->event.has_name_iid = true;
    begin->event.name_iid = intern(sequence, POOL_NAMES, name, &fresh);
    if (fresh != NULL) {
        begin->name = (Perfetto__Protos__EventName)PERFETTO__PROTOS__EVENT_NAME__INIT;
        begin->name.has_iid = true;
        begin->name.iid = fresh->iid;
        begin->name.name = own_demangled(begin, name);
        begin->names = &begin->name;
        begin->data.n_event_names = 1;
        begin->data.event_names = &begin->names;
    }
    begin->event.n_category_iids = 1;
    begin->event.category_iids = &begin->category_iid;
    begin->category_iid = intern(sequence, POOL_CATEGORIES, category, &fresh);
    if (fresh != NULL) {
        begin->category = (Perfetto__Protos__EventCategory)PERFETTO__PROTOS__EVENT_CATEGORY__INIT;
        begin->category.has_iid = true;
        begin->category.iid = fresh->iid;
        begin->category.name = own(begin, category);
        begin->categories = &begin->category;
        begin->data.n_event_categories = 1;
        begin->data.event_categories = &begin->categories;
    }
}

static void put_note(struct gt_perfetto_sequence *sequence, struct begin *begin, const struct gt_perfetto_note *note)
{
    struct interned *fresh;
    size_t at = begin->event.n_debug_annotations++;
    begin->notes[at] = (Annotation)PERFETTO__PROTOS__DEBUG_ANNOTATION__INIT;
    begin->note_list[at] = &begin->notes[at];
    begin->event.debug_annotations = begin->note_list;
    begin->notes[at].has_name_iid = true;
    begin->notes[at].name_iid = intern(sequence, POOL_NOTES, note->name, &fresh);
    begin->notes[at].has_uint_value = note->text == NULL;
    begin->notes[at].uint_value = note->number;
    begin->notes[at].string_value = note->text != NULL ? own(begin, note->text) : NULL;
    if (fresh == NULL)
        return;
    at = begin->data.n_debug_annotation_names++;
    begin->note_names[at] = (AnnotationName)PERFETTO__PROTOS__DEBUG_ANNOTATION_NAME__INIT;
    begin->note_name_list[at] = &begin->note_names[at];
    begin->data.debug_annotation_names = begin->note_name_list;
    begin->note_names[at].has_iid = true;
    begin->note_names[at].iid = fresh->iid;
    begin->note_names[at].name = (char *)note->name;
}

static int write_begin(struct gt_perfetto_sequence *sequence, const struct gt_perfetto_slice *slice, uint64_t uuid,
                       struct gt_error *error)
{
    struct begin begin;
    begin.owned_count = 0;
    begin.event = (Event)PERFETTO__PROTOS__TRACK_EVENT__INIT;
    begin.data = (Interned)PERFETTO__PROTOS__INTERNED_DATA__INIT;
    begin.event.has_type = begin.event.has_track_uuid = true;
    begin.event.type = PERFETTO__PROTOS__TRACK_EVENT__TYPE__TYPE_SLICE_BEGIN;
    begin.event.track_uuid = uuid;
    begin.event.n_flow_ids = slice->flow_count;
    begin.event.flow_ids = slice->flows;
    begin.event.terminating_flow_ids = begin.flows_in;
    for (size_t i = 0; i < sizeof(slice->flows_in) / sizeof(slice->flows_in[0]); i++)
        if (slice->flows_in[i] != 0)
            begin.flows_in[begin.event.n_terminating_flow_ids++] = slice->flows_in[i];
    put_name(sequence, &begin, slice->name, slice->category);
    for (size_t i = 0; i < slice->note_count && i < NOTES; i++)
        put_note(sequence, &begin, &slice->notes[i]);
    bool defines =
        begin.data.n_event_names > 0 || begin.data.n_event_categories > 0 || begin.data.n_debug_annotation_names > 0;
    int status =
        write_event(sequence, &begin.event, defines ? &begin.data : NULL, slice->start_ps / PS_PER_NS, error);
    while (begin.owned_count > 0)
        free(begin.owned[--begin.owned_count]);
    return status;
}

int gt_perfetto_slice(struct gt_perfetto_sequence *sequence, const struct gt_perfetto_track *track,
                      const struct gt_perfetto_slice *slice, struct gt_error *error)
{
    uint64_t uuid;
    if (take_lane(sequence, track, slice, &uuid, error) != 0 ||
        write_ends(sequence, slice->start_ps / PS_PER_NS, error) != 0 ||
        write_begin(sequence, slice, uuid, error) != 0)
        return -1;
    /* Among equal ends the slice that began last ends first, as nested slices do. */
    gt_heap_push(&sequence->ends, (struct gt_heap_event){ .time_ps = slice->end_ps / PS_PER_NS,
                                                          .order = UINT64_MAX - sequence->slices++,
                                                          .stamp = uuid });
    return 0;
}

int gt_perfetto_value(struct gt_perfetto_sequence *sequence, uint64_t counter, gt_time_ps time_ps, double value,
                      struct gt_error *error)
{
    Event event = PERFETTO__PROTOS__TRACK_EVENT__INIT;
    event.has_type = event.has_track_uuid = event.has_double_counter_value = true;
    event.type = PERFETTO__PROTOS__TRACK_EVENT__TYPE__TYPE_COUNTER;
    event.track_uuid = counter;
    event.double_counter_value = value;
    return write_event(sequence, &event, NULL, time_ps / PS_PER_NS, error);
}
