/* nccl.h - NCCL, opened when it is needed: no program has to be linked with it.
 *
 * Its header is looked for by configure; without it, gt_nccl_open() says so.  The library is looked for by the name in
 * GRIDTIDE_NCCL, then as libnccl.so.2 by the linker and in CUDA's folders.  Multicast over NVLink (NVLS) is switched off
 * (NCCL_NVLS_ENABLE=0) unless the environment says otherwise.
 */
#ifndef GRIDTIDE_VALIDATE_GPU_NCCL_H
#define GRIDTIDE_VALIDATE_GPU_NCCL_H

#include <cuda_runtime_api.h>

#include "sim/workload/collective.h"

typedef struct ncclComm *gt_nccl_comm;

/* What one rank gives and gets. */
struct gt_nccl_part {
    struct gt_collective collective;  /* kind, bytes, root, to, from */
    const char *datatype, *reduction; /* words, or NULL: float32, sum */
    uint32_t ranks;
    void *give, *get; /* on its GPU, as many bytes as the collective */
    gt_nccl_comm comm;
};

/* 0, or -1 with what is missing. */
int gt_nccl_open(struct gt_error *error);
/* A communicator of `count` GPUs of this process, by CUDA's numbers: one for each rank into `comms`.  `most_channels`: no more
 * than these; 0: as it likes. */
int gt_nccl_group(const int *devices, uint32_t count, uint32_t most_channels, gt_nccl_comm *comms,
                  struct gt_error *error);
void gt_nccl_free(gt_nccl_comm comm);

/* Put one rank's part into a stream: one kernel. The rank's GPU is current. */
cudaError_t gt_nccl_issue(const struct gt_nccl_part *part, cudaStream_t stream, struct gt_error *error);
/* The parts of all ranks, in their streams, from one thread: as a first use, which makes connections, needs it. */
int gt_nccl_issue_all(const struct gt_nccl_part *parts, const int *devices, const cudaStream_t *streams,
                      uint32_t count, struct gt_error *error);

/* Can it do this? -1: it has no such datatype or reduction. */
int gt_nccl_accepts(const struct gt_nccl_part *part, struct gt_error *error);

#endif
