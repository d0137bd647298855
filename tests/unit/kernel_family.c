/* Kernels as PyTorch, cuDNN, cuBLAS and NCCL name them, in recordings of traces/ and ../shared/traces: what they do. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sim/devices/kernel_bound.h"

/* clang-format off */
static const struct { const char *name; enum gt_kernel_family family; } kernels[] = {
    { "nvjet_sm90_tst_64x8_64x16_4x1_v_bz_splitK_TNT", GT_FAMILY_GEMM },
    { "void cutlass::Kernel2<cutlass_80_tensorop_s1688gemm_256x64_16x4_nn_align4>(Params)", GT_FAMILY_GEMM },
    { "void cublasLt::splitKreduce_kernel<32, 16, int, float>(cublasSplitKParams<float>)", GT_FAMILY_GEMM },
    { "sm80_xmma_fprop_implicit_gemm_f32f32_f32f32_f32_nchwkcrs_nchw_tilesize32x32x8", GT_FAMILY_CONVOLUTION },
    { "cudnn_infer_volta_scudnn_128x64_relu_medium_nn_v1", GT_FAMILY_CONVOLUTION },
    { "void fft2d_r2c_32x32<float, false, 5u, true>(float2*, float const*, int, int)", GT_FAMILY_CONVOLUTION },
    { "cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16_knob_7_64x128x128", GT_FAMILY_ATTENTION },
    { "fmha_cutlassF_f32_aligned_64x64_rf_sm80(PyTorchMemEffAttention::AttentionKernel::Params)", GT_FAMILY_ATTENTION },
    { "void at::native::(anonymous namespace)::RowwiseMomentsCUDAKernel<float>(long, float)", GT_FAMILY_NORMALIZATION },
    { "void cudnn::bn_fw_tr_1C11_kernel_NCHW<float, float, int, 512, true, 1, true>(cudnnTensorStruct)", GT_FAMILY_NORMALIZATION },
    { "void (anonymous namespace)::softmax_warp_forward<float, float, float, 7, false, false>(float*)", GT_FAMILY_SOFTMAX },
    { "void at::native::vectorized_elementwise_kernel<4, at::native::GeluCUDAKernelImpl>(int)", GT_FAMILY_ELEMENTWISE },
    { "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<TensorListMetadata<4>, FusedAdam>", GT_FAMILY_ELEMENTWISE },
    { "void at::native::unrolled_elementwise_kernel<at::native::direct_copy_kernel_cuda(TensorIterator&)>", GT_FAMILY_COPY },
    { "void at::native::(anonymous namespace)::CatArrayBatchedCopy_vectorized<OpaqueType<16>>", GT_FAMILY_COPY },
    { "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, MeanOps>>(ReduceOp)", GT_FAMILY_REDUCTION },
    { "void at::native::(anonymous namespace)::embedding_backward_feature_kernel<float, float, long>", GT_FAMILY_EMBEDDING },
    { "void at::native::sbtopk::gatherTopK<float, unsigned int, 2, false>(TensorInfo)", GT_FAMILY_SORT },
    { "void at_cuda_detail::cub::DeviceRadixSortOnesweepKernel<DeviceRadixSortPolicy>", GT_FAMILY_SORT },
    { "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)", GT_FAMILY_COLLECTIVE },
    { "_Z5scalePfPKfi", GT_FAMILY_OTHER },
    { "", GT_FAMILY_OTHER },
};
/* clang-format on */

static void names_tell_families(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof kernels / sizeof kernels[0]; i++)
        if (gt_kernel_family_of(kernels[i].name) != kernels[i].family)
            fail_msg("'%s' is %s", kernels[i].name, gt_kernel_family_names[gt_kernel_family_of(kernels[i].name)]);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(names_tell_families) };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
