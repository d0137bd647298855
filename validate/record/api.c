#include "validate/record/internal.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

struct gt_recorder_api gt_api;

/* The driver's headers give functions other names (cuGraphGetEdges_v2): what a macro makes of it counts. */
#define TEXT(name) #name
struct function {
    const char *name;
    size_t offset;
};
#define ROW(name) { TEXT(name), offsetof(struct gt_recorder_api, name) },
static const struct function of_cupti[] = { GT_CUPTI_FUNCTIONS(ROW) };
static const struct function of_driver[] = { GT_DRIVER_FUNCTIONS(ROW) };

/* By its bare name the one that the program has loaded itself, as PyTorch does, is found first. */
static const char *const cupti_libraries[] = {
    "libcupti.so.13",
    "libcupti.so.12",
    "/usr/local/cuda/lib64/libcupti.so.13",
    "/usr/local/cuda/extras/CUPTI/lib64/libcupti.so.13",
    "/usr/local/cuda/extras/CUPTI/lib64/libcupti.so.12",
};

static void *find_library(const char *const *names, size_t count, int flags)
{
    for (size_t i = 0; i < count; i++) {
        void *library = dlopen(names[i], flags);

        if (library != NULL)
            return library;
    }
    return NULL;
}

/* The name of the first that is missing; NULL: none. */
static const char *find_functions(void *library, const struct function *functions, size_t count)
{
    const char *missing = NULL;

    for (size_t i = 0; i < count; i++) {
        void *function = dlsym(library, functions[i].name);

        memcpy((char *)&gt_api + functions[i].offset, &function, sizeof function);
        if (function == NULL && missing == NULL)
            missing = functions[i].name;
    }
    return missing;
}

#define SIZE(array) (sizeof(array) / sizeof((array)[0]))

const char *gt_api_open(void)
{
    void *library = find_library(cupti_libraries, SIZE(cupti_libraries), RTLD_NOW | RTLD_LOCAL);

    if (library == NULL)
        return "libcupti.so.13: install cuda-cupti of CUDA 13, or put its folder into LD_LIBRARY_PATH";
    if (find_functions(library, of_cupti, SIZE(of_cupti)) != NULL)
        return "a function of CUPTI: install that of CUDA 13";
    library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    if (library != NULL)
        find_functions(library, of_driver, SIZE(of_driver));
    return NULL;
}
