/* sharing.h - how a process shares a GPU with other processes. */
#ifndef GRIDTIDE_SIM_WORKLOAD_SHARING_H
#define GRIDTIDE_SIM_WORKLOAD_SHARING_H

#include <stddef.h>
#include <stdint.h>

#include "sim/base/error.h"

enum gt_share {
    GT_SHARE_UNSAID, /* sliced, unless its times were recorded: those hold what it met */
    GT_SHARE_SLICED, /* processes take turns on the whole GPU */
    GT_SHARE_MPS,    /* a client of the Multi-Process Service: its blocks run beside those of other clients */
    GT_SHARE_GREEN,  /* the same, on SMs that no other process has (a green context) */
    GT_SHARE_MIG,    /* the same, on an instance of the GPU (MIG) */
    GT_SHARES
};
extern const char *const gt_share_names[GT_SHARES]; /* as in traces and in --share; "" for UNSAID */

struct gt_sharing {
    uint8_t how;        /* gt_share */
    uint8_t percent;    /* MPS: CUDA_MPS_ACTIVE_THREAD_PERCENTAGE, 1 to 100; 0: not set */
    uint16_t green_sms; /* GREEN: SMs asked for, 1 or more */
    uint8_t mig_slices; /* MIG: compute slices of its instance's profile: 1, 2, 3, 4 or 7 */
};

/* "sliced", "mps", "mps:PERCENT", "green:SMS" or "mig:PROFILE" (`length` bytes of it).  Returns 0, or -1 with what would be right. */
int gt_sharing_parse(const char *text, size_t length, struct gt_sharing *sharing, struct gt_error *error);

/* One text for `count` processes: as above, or with a number for each, as "mps:50,25", "green:64,32" and "mig:3g,4g". */
int gt_sharing_parse_all(const char *text, struct gt_sharing *sharings, uint32_t count, struct gt_error *error);

/* The same as a text that gt_sharing_parse() reads; "" for UNSAID. */
enum { GT_SHARING_TEXT_BYTES = 32 };
void gt_sharing_text(const struct gt_sharing *sharing, char text[GT_SHARING_TEXT_BYTES]);

#endif
