/* links.h - what lies between two GPUs of a machine, as a device file has it: the keys link.*.
 *
 * The text of link.pairs is a kind of link, which holds for all pairs, then pairs that differ, with blanks or commas
 * between: "nvlink 0-2=pcie 1>3=host:12.5".  A-B is both directions, A>B one; a number behind the colon is that link's
 * own rate in GB/s.  GPUs go by their numbers in the trace (gt_gpu.id).
 */
#ifndef GRIDTIDE_SIM_DEVICES_LINKS_H
#define GRIDTIDE_SIM_DEVICES_LINKS_H

#include "sim/devices/device.h"
#include "sim/workload/workload.h"

enum gt_link_kind {
    GT_LINK_NVLINK, /* copy.p2p_*: of the GPU's own links, beside the one to the host */
    GT_LINK_PCIE,   /* link.pcie_*: directly, over the links that lead to the host */
    GT_LINK_HOST,   /* link.host_*: no way from one to the other: by way of the host's memory */
    GT_LINK_KINDS
};
extern const char *const gt_link_kind_names[GT_LINK_KINDS];

/* By way of the host's memory: pieces of which a call asks at once, and that one copy's wait may leave to another (H200). */
enum { GT_LINK_FIRST_PIECES = 2 };

/* One direction from a GPU to another. */
struct gt_link {
    enum gt_link_kind kind;
    struct gt_copy_cost cost; /* of a copy that has it to itself */
};

/* The link from GPU number `from` to GPU number `to`, of a device that gt_device_check() found good. */
struct gt_link gt_link_between(const struct gt_device *device, uint32_t from, uint32_t to);

/* What lies between the GPUs of a copy, as far as its program may use it: without peer access the host's memory. False:
 * it is no copy between GPUs, or which is not known. */
bool gt_link_of_copy(const struct gt_workload *w, const struct gt_device *device, const struct gt_op *op,
                     struct gt_link *link, gt_gpu_index *from, gt_gpu_index *to);

/* What lies between the GPUs of a kernel that works in another one's memory (op->peer_gpu); the data goes from, to. */
struct gt_link gt_link_of_kernel(const struct gt_workload *w, const struct gt_device *device, const struct gt_op *op,
                                 gt_gpu_index *from, gt_gpu_index *to);
/* That a kernel's blocks move over a link at most, all of them. */
double gt_link_kernel_gbps(const struct gt_device *device, const struct gt_link *link);

/* That a thread reads or writes of another GPU's memory at a time. */
enum { GT_PEER_ACCESS_BYTES = 16 };
/* How long a kernel alone takes that does nothing but read, or write, op->bytes of op->peer_gpu's memory, each of its threads 16
 * bytes at a time, access_ps for each, `resident` of them at once: as long as these take one after the other, or as the link takes for all.  So did
 * 2 H200s with 1 to 264 blocks of 64 to 1024 threads. */
gt_time_ps gt_link_kernel_ps(const struct gt_workload *w, const struct gt_device *device, const struct gt_op *op,
                             uint64_t resident, gt_time_ps access_ps);

/* For gt_device_check(): does link.pairs make sense? */
int gt_links_check(const struct gt_device *device, struct gt_error *error);

#endif
