/* xplane.c - the importer of XPlane files: a space, one plane at a time. */
#include "traces/xplane/xplane.h"

#include <stdlib.h>
#include <string.h>

#include "traces/import/blocking_streams.h"
#include "traces/io/input.h"
#include "traces/xplane/internal.h"

/* Protobuf's wire format (protobuf.dev/programming-guides/encoding): a field's tag is its number and type. */
enum { PLANES = 1 << 3 | 2, STRINGS_FIRST = 2, STRINGS_LAST = 4, LENGTH_DELIMITED = 2, VARINT_BYTES = 10 };
enum { CHUNK_BYTES = 1024 * 1024 };
/* More than a protobuf message may have. */
#define PLANE_MAX_BYTES INT32_MAX

/* From `bytes`, of which there are `length`: how many the number takes; 0: it is cut off or too long. */
static size_t read_varint(const unsigned char *bytes, size_t length, uint64_t *value)
{
    *value = 0;
    for (size_t i = 0; i < length && i < VARINT_BYTES; i++) {
        *value |= (uint64_t)(bytes[i] & 0x7f) << (7 * i);
        if (bytes[i] < 0x80)
            return i + 1;
    }
    return 0;
}

/* A space begins with a plane, whose id, if it is not 0, and name come first. */
static int sniff(const unsigned char *head, size_t bytes)
{
    static const char *const names[] = { "/host:", "/device:", "Task Environment", "Host CPUs", "Syscalls" };
    uint64_t length;
    size_t at = 1, more;

    if (bytes < 2 || head[0] != PLANES || (more = read_varint(head + at, bytes - at, &length)) == 0)
        return 0;
    at += more;
    if (at < bytes && head[at] == 1 << 3) { /* id */
        more = read_varint(head + at + 1, bytes - at - 1, &length);
        at += more == 0 ? bytes : 1 + more;
    }
    if (at + 2 >= bytes || head[at] != (2 << 3 | LENGTH_DELIMITED)) /* name */
        return 0;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (head[at + 1] >= strlen(names[i]) && bytes - at - 2 >= strlen(names[i]) &&
            memcmp(head + at + 2, names[i], strlen(names[i])) == 0)
            return 90;
    return 0;
}

struct reader {
    struct xplane xplane;
    struct gt_input *input;
    uint64_t offset;
    uint8_t *bytes; /* of one plane */
    size_t room;
    unsigned planes;
};

/* A number of the file: 1; 0 at its end; -1. */
static int next_varint(struct reader *reader, uint64_t *value, struct gt_error *error)
{
    unsigned char bytes[VARINT_BYTES];
    size_t length = 0;

    do {
        ssize_t got = gt_input_read(reader->input, bytes + length, 1, error);

        if (got < 0)
            return -1;
        if (got == 0)
            return length == 0 ? 0 : gt_error_set(error, "the file ends within a number");
    } while (bytes[length++] >= 0x80 && length < VARINT_BYTES);
    reader->offset += length;
    return read_varint(bytes, length, value) != 0 ? 1 : gt_error_set(error, "it is no XPlane file");
}

/* `length` bytes into reader->bytes: memory grows with what is there, not with what is promised. */
static int read_bytes(struct reader *reader, uint64_t length, struct gt_error *error)
{
    size_t had = 0;

    if (length > PLANE_MAX_BYTES)
        return gt_error_set(error, "a field of %llu bytes; it is no XPlane file", (unsigned long long)length);
    while (had < length) {
        size_t wanted = length - had < CHUNK_BYTES ? (size_t)length - had : CHUNK_BYTES;
        ssize_t got;

        if (had + wanted > reader->room) {
            reader->room = had + wanted + reader->room / 2;
            reader->bytes = gt_realloc(reader->bytes, reader->room, 1);
        }
        got = gt_input_read(reader->input, reader->bytes + had, wanted, error);
        if (got < 0)
            return -1;
        if (got == 0)
            return gt_error_set(error, "the file ends after %zu of %llu bytes of a plane; copy it again", had,
                                (unsigned long long)length);
        had += (size_t)got;
    }
    reader->offset += length;
    return 0;
}

/* One field of the space: 1; 0 at its end; -1. */
static int read_field(struct reader *reader, struct gt_error *error)
{
    uint64_t tag, length;
    int status = next_varint(reader, &tag, error);

    if (status != 1)
        return status;
    if (tag != PLANES && ((tag & 7) != LENGTH_DELIMITED || tag >> 3 < STRINGS_FIRST || tag >> 3 > STRINGS_LAST))
        return gt_error_set(error, "no plane begins here; is it an XPlane file, and complete?");
    status = next_varint(reader, &length, error);
    if (status != 1)
        return status == 0 ? gt_error_set(error, "the file ends within a field") : -1;
    if (read_bytes(reader, length, error) != 0)
        return -1;
    if (tag != PLANES)
        return 1;
    reader->planes++;
    return xplane_read_plane(&reader->xplane, reader->bytes, (size_t)length, error) == 0 ? 1 : -1;
}

static int read_space(struct reader *reader, const struct gt_import_options *options, struct gt_error *error)
{
    uint64_t at;
    int status;

    do {
        at = reader->offset;
        status = read_field(reader, error);
        if (status > 0 && options != NULL && options->progress != NULL)
            options->progress(options->progress_user, gt_input_consumed(reader->input), gt_input_size(reader->input));
    } while (status > 0);
    if (status == 0 && reader->planes == 0)
        status = gt_error_set(error, "the file has no plane");
    /* What the input says names the file itself. */
    if (status != 0 && strncmp(error->text, reader->xplane.path, strlen(reader->xplane.path)) != 0)
        gt_error_prefix(error, "%s: byte %llu: ", reader->xplane.path, (unsigned long long)at);
    return status;
}

static struct gt_workload *finish(struct xplane *xplane, const struct gt_import_options *options,
                                  struct gt_error *error)
{
    struct gt_workload *workload = xplane->import.workload;
    uint32_t sms;

    xplane_add_operators(xplane);
    xplane_describe_gpus(xplane);
    sms = xplane->gpu_count > 0 && xplane->gpus[0].sms > 0 && xplane->gpus[0].sms < UINT32_MAX
              ? (uint32_t)xplane->gpus[0].sms
              : 0;
    gt_import_warn(workload, "no-gpu-work", xplane->import.op_count == 0);
    gt_import_warn(workload, "priorities-unknown", workload->stream_count > 1 ? workload->stream_count : 0);
    workload = gt_import_finish(&xplane->import, xplane->path, error);
    if (workload == NULL)
        return NULL;
    gt_import_find_blocking(workload, sms);
    gt_import_give_notes(&xplane->import, options != NULL ? options->collectives : NULL);
    return workload;
}

static struct gt_workload *read_xplane(const char *path, const struct gt_import_options *options,
                                       struct gt_error *error)
{
    struct reader reader = { .xplane.path = path };
    struct gt_workload *workload = NULL;

    reader.input = gt_input_share(options != NULL ? options->input : NULL, path, error);
    if (reader.input == NULL)
        return NULL;
    gt_import_begin(&reader.xplane.import, "xplane");
    if (read_space(&reader, options, error) == 0)
        workload = finish(&reader.xplane, options, error);
    gt_import_free(&reader.xplane.import);
    gt_input_close(reader.input);
    free(reader.xplane.gpus);
    free(reader.xplane.operators);
    free(reader.bytes);
    return workload;
}

const struct gt_importer gt_importer_xplane = {
    .name = "xplane",
    .help = "a profile of JAX or TensorFlow (NAME.xplane.pb)",
    .sniff = sniff,
    .read = read_xplane,
};
