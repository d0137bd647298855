/* A library that the CUDA driver loads into any program (CUDA_INJECTION64_PATH): as soon as the file that
 * $GRIDTIDE_TEST_FAULT names is there, it removes it and has a kernel fault in the program's own context. */
#include <cuda.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

enum { POLL_US = 2000, TRIES = 1000 };

/* Writes where no memory is. */
static const char fault_ptx[] =
    ".version 7.8\n.target sm_75\n.address_size 64\n"
    ".visible .entry fault() { .reg .b64 %at; mov.b64 %at, 64; st.global.b32 [%at], 1; ret; }\n";

/* The driver's functions, from the driver that is there: none is needed to build this. */
static struct {
    CUresult (*retain)(CUcontext *context, CUdevice device);
    CUresult (*set_current)(CUcontext context);
    CUresult (*load)(CUmodule *module, const void *image);
    CUresult (*find)(CUfunction *function, CUmodule module, const char *name);
    CUresult (*launch)(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                       unsigned block_y, unsigned block_z, unsigned shared_bytes, CUstream stream, void **arguments,
                       void **extra);
} driver;

static int find_driver(void)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW);

    if (library == NULL)
        return 0;
    *(void **)&driver.retain = dlsym(library, "cuDevicePrimaryCtxRetain");
    *(void **)&driver.set_current = dlsym(library, "cuCtxSetCurrent");
    *(void **)&driver.load = dlsym(library, "cuModuleLoadData");
    *(void **)&driver.find = dlsym(library, "cuModuleGetFunction");
    *(void **)&driver.launch = dlsym(library, "cuLaunchKernel");
    return driver.retain != NULL && driver.set_current != NULL && driver.load != NULL && driver.find != NULL &&
           driver.launch != NULL;
}

/* 0 where it could not be done, as while the driver is still being initialised. */
static int fault(void)
{
    CUcontext context;
    CUmodule module;
    CUfunction function;

    return driver.retain(&context, 0) == CUDA_SUCCESS && driver.set_current(context) == CUDA_SUCCESS &&
           driver.load(&module, fault_ptx) == CUDA_SUCCESS &&
           driver.find(&function, module, "fault") == CUDA_SUCCESS &&
           driver.launch(function, 1, 1, 1, 1, 1, 1, 0, CU_STREAM_PER_THREAD, NULL, NULL) == CUDA_SUCCESS;
}

static void *wait_for_file(void *user)
{
    const char *path = getenv("GRIDTIDE_TEST_FAULT");

    (void)user;
    while (path != NULL && unlink(path) != 0)
        usleep(POLL_US);
    if (path != NULL && find_driver())
        for (int tries = 0; tries < TRIES && !fault(); tries++)
            usleep(POLL_US);
    return NULL;
}

/* The driver calls this as it is initialised. */
int InitializeInjection(void);
int InitializeInjection(void)
{
    pthread_t thread;

    return pthread_create(&thread, NULL, wait_for_file, NULL) == 0;
}
