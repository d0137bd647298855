/* xplane.c - the importer of XPlane files: a space, one plane at a time. */
#include "traces/xplane/xplane.h"

#include <stdlib.h>
#include <string.h>

#include "traces/import/blocking_streams.h"
#include "traces/io/protobuf_fields.h"
#include "traces/xplane/internal.h"

/* Numbers of fields: of a space, and of a plane. */
enum { SPACE_PLANES = 1, PLANE_ID = 1, PLANE_NAME = 2, LENGTH_DELIMITED = 2 };

/* A space begins with a plane, whose id, if it is not 0, and name come first. */
static int sniff(const unsigned char *head, size_t bytes)
{
    static const char *const names[] = { "/host:", "/device:", "Task Environment", "Host CPUs", "Syscalls" };
    uint64_t length;
    size_t at = 1, more;

    if (bytes < 2 || head[0] != (SPACE_PLANES << 3 | LENGTH_DELIMITED) ||
        (more = gt_protobuf_varint(head + at, bytes - at, &length)) == 0)
        return 0;
    at += more;
    if (at < bytes && head[at] == PLANE_ID << 3) {
        more = gt_protobuf_varint(head + at + 1, bytes - at - 1, &length);
        at += more == 0 ? bytes : 1 + more;
    }
    if (at + 2 >= bytes || head[at] != (PLANE_NAME << 3 | LENGTH_DELIMITED))
        return 0;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (head[at + 1] >= strlen(names[i]) && bytes - at - 2 >= strlen(names[i]) &&
            memcmp(head + at + 2, names[i], strlen(names[i])) == 0)
            return 90;
    return 0;
}

static int read_space(struct xplane *xplane, struct gt_input *input, const struct gt_import_options *options,
                      struct gt_error *error)
{
    struct gt_protobuf_fields fields;
    unsigned planes = 0;
    int status;

    gt_protobuf_fields_begin(&fields, input);
    while ((status = gt_protobuf_fields_next(&fields, error)) == 1) {
        if (fields.number == SPACE_PLANES && xplane_read_plane(xplane, fields.bytes, fields.length, error) != 0) {
            status = -1;
            break;
        }
        planes += fields.number == SPACE_PLANES;
        if (options != NULL && options->progress != NULL)
            options->progress(options->progress_user, gt_input_consumed(input), gt_input_size(input));
    }
    if (status == 0 && planes == 0)
        status = gt_error_set(error, "the file has no plane; it is no XPlane file");
    if (status != 0)
        gt_protobuf_fields_fail(&fields, xplane->path, error);
    gt_protobuf_fields_end(&fields);
    return status;
}

/* XLA's profiler records launches, copies and memsets alone; others have waits and events too. */
static bool has_no_wait(const struct gt_import *import)
{
    for (uint32_t i = 0; i < import->call_count; i++)
        switch (import->calls[i].kind) {
        case GT_CALL_EVENT_RECORD:
        case GT_CALL_EVENT_WAIT:
        case GT_CALL_EVENT_SYNC:
        case GT_CALL_STREAM_SYNC:
        case GT_CALL_DEVICE_SYNC: return false;
        default: break;
        }
    return import->op_count > 0;
}

static struct gt_workload *finish(struct xplane *xplane, const struct gt_import_options *options,
                                  struct gt_error *error)
{
    struct gt_workload *workload = xplane->import.workload;
    uint32_t sms;

    xplane_add_operators(xplane);
    xplane_cut_early_starts(xplane);
    gt_import_warn(workload, "waits-missing", has_no_wait(&xplane->import));
    xplane_describe_gpus(xplane);
    sms = xplane->gpu_count > 0 && xplane->gpus[0].sms > 0 && xplane->gpus[0].sms < UINT32_MAX
              ? (uint32_t)xplane->gpus[0].sms
              : 0;
    gt_import_warn(workload, "no-gpu-plane", xplane->gpu_count == 0);
    gt_import_warn(workload, "no-gpu-work", xplane->gpu_count > 0 && xplane->import.op_count == 0);
    gt_import_warn_priorities(&xplane->import);
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
    struct gt_input *input = gt_input_share(options != NULL ? options->input : NULL, path, error);
    struct xplane xplane = { .path = path };
    struct gt_workload *workload = NULL;

    if (input == NULL)
        return NULL;
    gt_import_begin(&xplane.import, "xplane");
    if (read_space(&xplane, input, options, error) == 0)
        workload = finish(&xplane, options, error);
    gt_import_free(&xplane.import);
    gt_input_close(input);
    free(xplane.gpus);
    free(xplane.operators);
    return workload;
}

const struct gt_importer gt_importer_xplane = {
    .name = "xplane",
    .help = "a profile of JAX or TensorFlow (NAME.xplane.pb)",
    .sniff = sniff,
    .read = read_xplane,
};
