#include "validate/gpu/other_users.h"

#include <stdbool.h>

#include <dlfcn.h>
#include <string.h>
#include <unistd.h>

#include <cuda_runtime_api.h>

/* NVML's own types, as far as needed (its API reference, "Device Queries"); no toolkit has to be there. */
typedef struct device *nvml_device;
struct process_info {
    unsigned pid;
    unsigned long long used_bytes;
    unsigned gpu_instance, compute_instance;
};
struct utilisation {
    unsigned gpu_pct, memory_pct;
};

enum { MOST_PROCESSES = 64, BUS_ID_BYTES = 32 };
/* What an idle GPU may show. */
enum { IDLE_PCT = 10 };
/* NVML's figure is of up to so long ago. */
static const unsigned sample_us = 1200000;

static int (*start_nvml)(void);
static int (*find_device)(const char *bus_id, nvml_device *device);
static int (*list_processes)(nvml_device device, unsigned *count, struct process_info *processes);
static int (*read_utilisation)(nvml_device device, struct utilisation *utilisation);
static nvml_device gpu;

/* clang-format off */
static const struct { const char *name; void *function; } functions[] = {
    { "nvmlInit_v2", &start_nvml },
    { "nvmlDeviceGetHandleByPciBusId_v2", &find_device },
    { "nvmlDeviceGetComputeRunningProcesses_v3", &list_processes },
    { "nvmlDeviceGetUtilizationRates", &read_utilisation },
};
/* clang-format on */

static bool open_nvml(void)
{
    void *library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    char bus_id[BUS_ID_BYTES];

    for (size_t i = 0; library != NULL && i < sizeof functions / sizeof functions[0]; i++) {
        void *function = dlsym(library, functions[i].name);

        if (function == NULL)
            return false;
        memcpy(functions[i].function, &function, sizeof function);
    }
    return library != NULL && cudaDeviceGetPCIBusId(bus_id, sizeof bus_id, 0) == cudaSuccess && start_nvml() == 0 &&
           find_device(bus_id, &gpu) == 0;
}

uint32_t gt_other_gpu_users_processes(void)
{
    struct process_info processes[MOST_PROCESSES];
    unsigned count = MOST_PROCESSES;
    uint32_t others = 0;

    if (gpu == NULL || list_processes(gpu, &count, processes) != 0)
        return 0;
    for (unsigned i = 0; i < count; i++)
        others += processes[i].pid != (unsigned)getpid();
    return others;
}

static uint32_t busy_pct(void)
{
    struct utilisation utilisation = { 0, 0 };

    return read_utilisation(gpu, &utilisation) == 0 && utilisation.gpu_pct > IDLE_PCT ? utilisation.gpu_pct : 0;
}

void gt_other_gpu_users_begin(struct gt_other_gpu_users *others)
{
    *others = (struct gt_other_gpu_users){ 0, 0 };
    if (!open_nvml()) {
        gpu = NULL;
        return;
    }
    others->processes = gt_other_gpu_users_processes();
    others->busy_pct = busy_pct();
    if (others->busy_pct > 0) { /* perhaps by a program that has just ended */
        usleep(sample_us);
        others->busy_pct = busy_pct();
    }
}
