/* The table of CUDA functions, suffixes of their names, and GPU names. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "traces/import/cuda_api.h"
#include "traces/names/gpu_names.h"

static const struct gt_cuda_api *find(const char *name)
{
    return gt_cuda_api_find(name, strlen(name));
}

static void the_table_is_sorted_and_finds_itself(void **state)
{
    (void)state;
    for (size_t i = 0; i < gt_cuda_api_count; i++) {
        if (i > 0)
            assert_true(strcmp(gt_cuda_apis[i - 1].name, gt_cuda_apis[i].name) < 0);
        assert_ptr_equal(find(gt_cuda_apis[i].name), &gt_cuda_apis[i]);
    }
}

static void suffixes_do_not_count(void **state)
{
    static const char *const launches[] = {
        "cudaLaunchKernel_v7000",      "cudaLaunchKernel_ptsz",    "cudaLaunchKernel_v7000_ptsz",
        "cudaLaunchKernel_ptsz_v7000", "cudaLaunchKernel_v2_ptds",
    };

    (void)state;
    for (size_t i = 0; i < sizeof launches / sizeof launches[0]; i++) {
        assert_non_null(find(launches[i]));
        assert_string_equal(find(launches[i])->name, "cudaLaunchKernel");
        assert_int_equal(gt_cuda_api_base_length(launches[i], strlen(launches[i])), 16);
    }
    assert_null(find("cudaLaunchKerne"));
    assert_null(find("cudaLaunchKernels"));
    assert_null(find("cudaLaunchKernel_v"));
    assert_null(find("cudaMalloc_v3020"));
    assert_null(find(""));
    assert_null(find("_v3020"));
    assert_null(find("_ptsz"));
}

static void kinds_and_flags(void **state)
{
    (void)state;
    assert_int_equal(find("cudaMemcpy_v3020")->flags, GT_CALL_SYNCHRONOUS);
    assert_int_equal(find("cuMemcpyHtoD_v2")->flags, GT_CALL_SYNCHRONOUS);
    assert_int_equal(find("cudaMemcpyAsync")->flags, 0);
    assert_int_equal(find("cuMemcpyHtoDAsync_v2_ptsz")->flags, 0);
    assert_int_equal(find("cudaMemset")->flags, 0);
    assert_int_equal(find("cudaStreamWaitEvent")->kind, GT_CALL_EVENT_WAIT);
    assert_int_equal(find("cuCtxSynchronize")->kind, GT_CALL_DEVICE_SYNC);
    assert_int_equal(find("cudaGraphLaunch_v10000")->kind, GT_CALL_GRAPH_LAUNCH);
}

static void functions_of_hip_are_those_of_cuda(void **state)
{
    (void)state;
    assert_string_equal(find("hipMemcpyAsync")->name, "cudaMemcpyAsync");
    assert_string_equal(find("hipLaunchKernel")->name, "cudaLaunchKernel");
    assert_string_equal(find("hipMemcpyDtoHAsync")->name, "cuMemcpyDtoHAsync"); /* as the driver's */
    assert_int_equal(find("hipStreamWaitEvent")->kind, GT_CALL_EVENT_WAIT);
    assert_int_equal(find("hipMemcpyWithStream")->flags, GT_CALL_SYNCHRONOUS);
    assert_int_equal(find("hipExtModuleLaunchKernel")->kind, GT_CALL_LAUNCH);
    assert_null(find("hipMalloc"));
    assert_null(find("hip"));
}

static void gpu_names_are_whole_words(void **state)
{
    (void)state;
    assert_string_equal(gt_gpu_device_file("NVIDIA H200"), "h200");
    assert_string_equal(gt_gpu_device_file("NVIDIA A100-SXM4-80GB"), "a100");
    assert_string_equal(gt_gpu_device_file("Tesla V100-PCIE-16GB"), "v100");
    assert_string_equal(gt_gpu_device_file("H100"), "h100");
    assert_null(gt_gpu_device_file("NVIDIA A1000"));
    assert_null(gt_gpu_device_file("NVIDIA GH100"));
    assert_null(gt_gpu_device_file(""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_table_is_sorted_and_finds_itself),
        cmocka_unit_test(suffixes_do_not_count),
        cmocka_unit_test(kinds_and_flags),
        cmocka_unit_test(functions_of_hip_are_those_of_cuda),
        cmocka_unit_test(gpu_names_are_whole_words),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
