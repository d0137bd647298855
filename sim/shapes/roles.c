#include "sim/shapes/roles.h"

#include <stddef.h>
#include <string.h>

/* Arguments as PyTorch 2.11's native_functions.yaml and derivatives.yaml have them. */
static const struct {
    const char *name, *roles;
} rows[] = {
    { "linear", "dpp" },
    { "addmm", "p" },
    { "conv1d", "ipp" },
    { "conv2d", "ipp" },
    { "conv3d", "ipp" },
    { "convolution", "ipp" },
    { "_convolution", "ipp" },
    { "cudnn_convolution", "ip" },
    { "conv_transpose1d", "ipp" },
    { "conv_transpose2d", "ipp" },
    { "conv_transpose3d", "ipp" },
    { "cudnn_convolution_relu", "ipp" },
    { "cudnn_convolution_add_relu", "ipi.p" },
    { "_conv_depthwise2d", "ip" },
    { "conv_depthwise3d", "ip" },
    { "cudnn_convolution_transpose", "ip" },
    { "miopen_convolution", "ipp" },
    { "miopen_convolution_transpose", "ipp" },
    { "miopen_depthwise_convolution", "ipp" },
    { "convolution_backward", "iip" },
    { "layer_norm", "d.pp" },
    { "native_layer_norm", "d.pp" },
    { "native_layer_norm_backward", "dd.ddpp" },
    { "rms_norm", "d.p" },
    { "_fused_rms_norm", "d.p" },
    { "_fused_rms_norm_backward", "dd.dp" },
    { "batch_norm", "ipppp" },
    { "_batch_norm_impl_index", "ipppp" },
    { "native_batch_norm", "ipppp" },
    { "cudnn_batch_norm", "ipppp" },
    { "native_batch_norm_backward", "iippppp" },
    { "cudnn_batch_norm_backward", "iippppp" },
    { "group_norm", "i.pp" },
    { "native_group_norm", "ipp" },
    { "native_group_norm_backward", "iiiip" },
    { "embedding", "pd" },
    { "embedding_bag", "pd" },
    { "index_select", "p.d" },
    { "embedding_dense_backward", "dd" },
    { "scaled_dot_product_attention", "hhh" },
    { "_scaled_dot_product_flash_attention", "hhh" },
    { "_scaled_dot_product_cudnn_attention", "hhh" },
    { "_scaled_dot_product_efficient_attention", "hhh" },
    { "_cudnn_attention_forward", "hhh" },
    { "_flash_attention_forward", "lll" },
    { "_efficient_attention_forward", "lll" },
    { "_cudnn_attention_backward", "hhhhhh" },
    { "_flash_attention_backward", "lllllh" },
    { "_efficient_attention_backward", "llll.l" },
    { "_native_multi_head_attention", "ddd..pppp" },
    { "max_pool2d_with_indices", "i" },
    { "max_pool2d_with_indices_backward", "ii" },
    { "avg_pool2d", "i" },
    { "_adaptive_avg_pool2d", "i" },
    { "upsample_nearest2d", "i" },
    { "torch::autograd::AccumulateGrad", "p" },
};

const char *gt_roles_of(const char *name)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (strcmp(rows[i].name, name) == 0)
            return rows[i].roles;
    return "";
}

int gt_product_first(const char *name)
{
    if (strcmp(name, "mm") == 0 || strcmp(name, "bmm") == 0)
        return 0;
    return strcmp(name, "addmm") == 0 || strcmp(name, "baddbmm") == 0 || strcmp(name, "_addmm_activation") == 0 ? 1
                                                                                                                : -1;
}

static const struct gt_voter voters[] = {
    { "linear", 0, 2, -1 },   { "conv1d", 0, 3, -1 },
    { "conv2d", 0, 4, -1 },   { "conv3d", 0, 5, -1 },
    { "embedding", 1, 2, 1 }, { "layer_norm", 0, 3, 1 },
    { "rms_norm", 0, 3, 1 },  { "scaled_dot_product_attention", 1, 4, 2 },
    { "softmax", 0, 4, 3 },
};

const struct gt_voter *gt_voter_of(const char *name)
{
    for (size_t i = 0; i < sizeof voters / sizeof voters[0]; i++)
        if (strcmp(voters[i].name, name) == 0)
            return &voters[i];
    return NULL;
}
