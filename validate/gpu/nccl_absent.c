/* NCCL where configure has not found its header: whoever needs it is told so. */
#include "validate/gpu/nccl.h"

int gt_nccl_open(struct gt_error *error)
{
    return gt_error_set(
        error, "this gridtide was built without NCCL: configure --with-nccl=DIR, where DIR/include/nccl.h is");
}

int gt_nccl_group(const int *devices, uint32_t count, uint32_t most_channels, gt_nccl_comm *comms,
                  struct gt_error *error)
{
    (void)devices;
    (void)count;
    (void)most_channels;
    (void)comms;
    return gt_nccl_open(error);
}

void gt_nccl_free(gt_nccl_comm comm)
{
    (void)comm;
}

int gt_nccl_accepts(const struct gt_nccl_part *part, struct gt_error *error)
{
    (void)part;
    return gt_nccl_open(error);
}

cudaError_t gt_nccl_issue(const struct gt_nccl_part *part, cudaStream_t stream, struct gt_error *error)
{
    (void)part;
    (void)stream;
    gt_nccl_open(error);
    return cudaErrorNotSupported;
}

int gt_nccl_issue_all(const struct gt_nccl_part *parts, const int *devices, const cudaStream_t *streams,
                      uint32_t count, struct gt_error *error)
{
    (void)parts;
    (void)devices;
    (void)streams;
    (void)count;
    return gt_nccl_open(error);
}
