/* other_users.h - who else uses the GPU, as NVML tells it; libnvidia-ml is opened at run time. */
#ifndef GRIDTIDE_VALIDATE_GPU_OTHER_USERS_H
#define GRIDTIDE_VALIDATE_GPU_OTHER_USERS_H

#include <stdint.h>

/* Others on the GPU: what is measured then is not the trace's alone. */
struct gt_other_gpu_users {
    uint32_t processes; /* that are known to use it now */
    uint32_t busy_pct;  /* of the second before we used it somebody else did; 0: hardly */
};

/* Ask for the GPU that CUDA counts as the first one. Before this process has used it: how busy others kept
 * it during the last second too. All is 0 where NVML is not there or does not say; processes of other
 * containers show as a busy GPU only. */
void gt_other_gpu_users_begin(struct gt_other_gpu_users *others);
/* The processes alone, at any time after that. */
uint32_t gt_other_gpu_users_processes(void);

#endif
