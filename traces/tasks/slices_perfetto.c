/* slices_perfetto.c - tasks of a megakernel out of a Perfetto trace, packet by packet.
 *
 * Formats: Perfetto's protos/perfetto/trace; what is in the tracks: mirage-project/mirage,
 * python/mirage/mpk/profiler_persistent.py at 019240e, and flashinfer-ai/flashinfer, flashinfer/profiler at 004903c.  Both
 * write the low 32 bits of %globaltimer.
 */
#include "traces/tasks/slices_parts.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include <uthash.h>

#include "sim/base/array.h"
#include "traces/export/perfetto.pb-c.h"
#include "traces/import/index_map.h"
#include "traces/io/protobuf_fields.h"

typedef Perfetto__Protos__TracePacket Packet;
typedef Perfetto__Protos__TrackEvent Event;
typedef Perfetto__Protos__TrackDescriptor Descriptor;

enum { PACKET = 1, TIMER_BITS = 32, MOST_ANCESTORS = 16, SNIFFED = 256 };

struct track {
    UT_hash_handle hh;
    uint64_t uuid, parent;
    int64_t block;   /* that its name says; -1: it does not */
    uint32_t worker; /* GT_NONE: not known yet */
    uint32_t open;   /* its innermost slice that has not ended, in reader.open; GT_NONE */
};

/* A slice that began. */
struct open_slice {
    uint64_t start_ns;
    uint32_t kind, outer; /* in reader.open; GT_NONE */
};

struct reader {
    struct gt_task_slices *slices;
    struct gt_slice_kinds *kinds;
    struct track *tracks;
    struct gt_index_map *names; /* kinds that packets name by number, within a sequence of packets */
    struct open_slice *open;    /* a stack a track, linked by `outer`; those that ended are used again */
    uint32_t open_count, open_room, unused;
    uint32_t next_worker; /* of tracks whose names say none, from GT_SLICES_MOST_BLOCKS on until number_tracks() */
};

bool gt_slices_is_perfetto(const unsigned char *head, size_t bytes)
{
    if (bytes < 3 || head[0] != (PACKET << 3 | 2))
        return false;
    for (size_t i = 1; i < bytes && i < SNIFFED; i++)
        if (head[i] >= 0x80 || (head[i] < 0x20 && strchr("\t\n\r", head[i]) == NULL) || head[i] == '\0')
            return true; /* no text, which may begin with the same byte */
    return false;
}

static struct track *find_track(struct reader *reader, uint64_t uuid)
{
    struct track *track;

    HASH_FIND(hh, reader->tracks, &uuid, sizeof uuid, track);
    if (track == NULL) {
        track = gt_calloc(1, sizeof *track);
        track->uuid = uuid;
        track->block = -1;
        track->worker = track->open = UINT32_MAX;
        HASH_ADD(hh, reader->tracks, uuid, sizeof track->uuid, track);
    }
    return track;
}

/* The number behind "block_" or "blk"; -1: the name has neither. */
static int64_t block_of(const char *name)
{
    static const char *const prefixes[] = { "block_", "blk" };

    for (size_t i = 0; name != NULL && i < sizeof prefixes / sizeof prefixes[0]; i++) {
        size_t length = strlen(prefixes[i]);
        char *end;
        unsigned long number;

        if (strncmp(name, prefixes[i], length) != 0 || !isdigit((unsigned char)name[length]))
            continue;
        number = strtoul(name + length, &end, 10);
        if (number < GT_SLICES_MOST_BLOCKS && (*end == '\0' || *end == '_'))
            return (int64_t)number;
    }
    return -1;
}

/* The block of a track's name or of the nearest group around it; a number of its own where none says it. */
static uint32_t worker_of(struct reader *reader, struct track *track)
{
    struct track *at = track;

    if (track->worker != UINT32_MAX)
        return track->worker;
    for (int i = 0; i < MOST_ANCESTORS && at != NULL && at->block < 0; i++) {
        uint64_t parent = at->parent;

        HASH_FIND(hh, reader->tracks, &parent, sizeof parent, at);
    }
    track->worker = at != NULL && at->block >= 0 ? (uint32_t)at->block : reader->next_worker++;
    return track->worker;
}

static uint32_t find_kind(struct reader *reader, const char *name)
{
    return gt_slices_kind(reader->slices, &reader->kinds, name, strlen(name));
}

static void take_names(struct reader *reader, const Packet *packet)
{
    const Perfetto__Protos__InternedData *data = packet->interned_data;

    for (size_t i = 0; data != NULL && i < data->n_event_names; i++) {
        const struct gt_index_key key = { { packet->trusted_packet_sequence_id, data->event_names[i]->iid } };
        const char *text = data->event_names[i]->name;

        *gt_index_map_at(&reader->names, key) = find_kind(reader, text != NULL ? text : "");
    }
}

static uint32_t kind_of(struct reader *reader, const Packet *packet)
{
    const struct gt_index_key key = { { packet->trusted_packet_sequence_id, packet->track_event->name_iid } };
    const uint32_t *kind;

    if (packet->track_event->name != NULL)
        return find_kind(reader, packet->track_event->name);
    kind = gt_index_map_find(reader->names, key);
    return kind != NULL ? *kind : find_kind(reader, "unnamed");
}

static void begin_slice(struct reader *reader, struct track *track, const Packet *packet)
{
    uint32_t at = reader->unused;

    if (at != UINT32_MAX) {
        reader->unused = reader->open[at].outer;
    } else {
        gt_array_grow(reader->open, reader->open_count, reader->open_room);
        at = reader->open_count++;
    }
    reader->open[at] = (struct open_slice){ packet->timestamp, kind_of(reader, packet), track->open };
    track->open = at;
    reader->slices->open++;
}

/* Of slices within slices the inner ones are tasks, too: what contains them is not told apart here. */
static void end_slice(struct reader *reader, struct track *track, uint64_t end_ns)
{
    struct gt_task_slices *slices = reader->slices;
    uint32_t at = track->open;
    struct open_slice open;

    if (at == UINT32_MAX)
        return; /* it began before the recording */
    open = reader->open[at];
    track->open = open.outer;
    reader->open[at].outer = reader->unused;
    reader->unused = at;
    slices->open--;
    if (end_ns < open.start_ns && open.start_ns >> TIMER_BITS == 0)
        end_ns += 1ull << TIMER_BITS; /* the timer's low half began anew */
    if (end_ns < open.start_ns)
        return;
    gt_array_grow(slices->slices, slices->count, slices->room);
    slices->slices[slices->count++] =
        (struct gt_task_slice){ open.start_ns, end_ns, worker_of(reader, track), open.kind };
}

static void take_packet(struct reader *reader, const Packet *packet)
{
    const Descriptor *descriptor = packet->track_descriptor;
    struct track *track;

    take_names(reader, packet);
    if (descriptor != NULL) {
        track = find_track(reader, descriptor->uuid);
        track->parent = descriptor->parent_uuid;
        if (descriptor->process != NULL && descriptor->process->process_name != NULL)
            track->block = block_of(descriptor->process->process_name);
        if (track->block < 0)
            track->block = block_of(descriptor->name);
    }
    if (packet->track_event == NULL || !packet->track_event->has_type)
        return;
    track = find_track(reader, packet->track_event->track_uuid);
    if (packet->track_event->type == PERFETTO__PROTOS__TRACK_EVENT__TYPE__TYPE_SLICE_BEGIN)
        begin_slice(reader, track, packet);
    else if (packet->track_event->type == PERFETTO__PROTOS__TRACK_EVENT__TYPE__TYPE_SLICE_END)
        end_slice(reader, track, packet->timestamp);
}

static int read_packets(struct reader *reader, struct gt_input *input, const char *path, struct gt_error *error)
{
    struct gt_protobuf_fields fields;
    int status;

    gt_protobuf_fields_begin(&fields, input);
    while ((status = gt_protobuf_fields_next(&fields, error)) == 1) {
        Packet *packet;

        if (fields.number != PACKET)
            continue;
        packet = perfetto__protos__trace_packet__unpack(NULL, fields.length, fields.bytes);
        if (packet == NULL) {
            status = gt_error_set(error, "a packet is damaged");
            break;
        }
        take_packet(reader, packet);
        perfetto__protos__trace_packet__free_unpacked(packet, NULL);
    }
    if (status != 0)
        gt_protobuf_fields_fail(&fields, path, error);
    gt_protobuf_fields_end(&fields);
    return status;
}

static void free_reader(struct reader *reader)
{
    struct track *track, *next_track;

    HASH_ITER(hh, reader->tracks, track, next_track)
    {
        HASH_DEL(reader->tracks, track);
        free(track);
    }
    gt_index_map_free(reader->names);
    gt_slice_kinds_free(&reader->kinds);
    free(reader->open);
}

/* Tracks whose names say no block are the workers behind the last block, so that they are not taken for one. */
static void number_tracks(struct gt_task_slices *slices)
{
    uint32_t blocks = 0;

    for (uint32_t i = 0; i < slices->count; i++)
        if (slices->slices[i].worker < GT_SLICES_MOST_BLOCKS && slices->slices[i].worker >= blocks)
            blocks = slices->slices[i].worker + 1;
    for (uint32_t i = 0; i < slices->count; i++)
        if (slices->slices[i].worker >= GT_SLICES_MOST_BLOCKS)
            slices->slices[i].worker -= GT_SLICES_MOST_BLOCKS - blocks;
}

/* A recording of the timer's low half that began before it and ended after it began anew: the later half is moved behind. */
static void unwrap(struct gt_task_slices *slices)
{
    const uint64_t whole = 1ull << TIMER_BITS, half = whole / 2;
    uint64_t first = UINT64_MAX, last = 0;

    for (uint32_t i = 0; i < slices->count; i++) {
        first = slices->slices[i].start_ns < first ? slices->slices[i].start_ns : first;
        last = slices->slices[i].start_ns > last ? slices->slices[i].start_ns : last;
    }
    if (last >= whole || last - first <= half)
        return;
    for (uint32_t i = 0; i < slices->count; i++) {
        uint64_t more = slices->slices[i].start_ns < half ? whole : 0;

        slices->slices[i].start_ns += more;
        slices->slices[i].end_ns += more;
    }
}

int gt_slices_read_perfetto(struct gt_task_slices *slices, struct gt_input *input, const char *path,
                            struct gt_error *error)
{
    struct reader reader = { .slices = slices, .unused = UINT32_MAX, .next_worker = GT_SLICES_MOST_BLOCKS };
    int status = read_packets(&reader, input, path, error);

    free_reader(&reader);
    if (status == 0 && slices->count == 0)
        status = gt_error_set(error, "%s: the Perfetto trace has no slice that begins and ends", path);
    if (slices->count > 0)
        unwrap(slices);
    number_tracks(slices);
    return status;
}
