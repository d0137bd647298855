#include "validate/gpu/cublas.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cublasLt.h>
#include <cublas_v2.h>

#include "validate/gpu/cuda_error.h"

/* The part of cuBLAS that is used, by the names of its symbols. */
/* clang-format off */
#define CUBLAS_FUNCTIONS(F) \
    F(cublasGetStatusString) F(cublasCreate_v2) F(cublasDestroy_v2) F(cublasGetVersion_v2) F(cublasSetStream_v2) \
    F(cublasSetWorkspace_v2) F(cublasSetMathMode) F(cublasGemmEx) F(cublasGemmStridedBatchedEx) F(cublasLtCreate) F(cublasLtDestroy) \
    F(cublasLtMatmul) F(cublasLtMatmulAlgoGetHeuristic) F(cublasLtMatmulDescCreate) F(cublasLtMatmulDescDestroy) \
    F(cublasLtMatmulDescSetAttribute) F(cublasLtMatrixLayoutCreate) F(cublasLtMatrixLayoutDestroy) \
    F(cublasLtMatmulPreferenceCreate) F(cublasLtMatmulPreferenceDestroy) F(cublasLtMatmulPreferenceSetAttribute)
static struct {
#define MEMBER(name) __typeof__(&name) name;
    CUBLAS_FUNCTIONS(MEMBER)
#undef MEMBER
} cublas;
static const struct { const char *name; size_t offset; } functions[] = {
#define ROW(name) { #name, offsetof(__typeof__(cublas), name) },
    CUBLAS_FUNCTIONS(ROW)
#undef ROW
};
/* clang-format on */

/* Where a toolkit keeps it when the linker does not know. */
static const char *const libraries[] = {
    "libcublas.so.13", "/usr/local/cuda/lib64/libcublas.so.13", "/usr/local/cuda/lib/libcublas.so.13",
    "libcublas.so.12", "/usr/local/cuda/lib64/libcublas.so.12",
};

/* As PyTorch has it: on Hopper and later, before; of products with a bias.  More lets cuBLAS split sums over K in parts. */
enum { WORKSPACE_BYTES = 32 << 20, EARLIER_WORKSPACE_BYTES = 8519680, FUSED_WORKSPACE_BYTES = 1 << 20 };

static struct {
    cublasHandle_t plain;
    cublasLtHandle_t fused;
    void *workspace;
    size_t workspace_bytes;
    char version[32];
} state;

static const float one = 1, zero = 0;

static int fail(const char *what, cublasStatus_t code, struct gt_error *error)
{
    return gt_error_set(error, "cuBLAS: %.*s: %s", (int)strcspn(what, "("), what, cublas.cublasGetStatusString(code));
}

#define CUBLAS(call, error)                   \
    do {                                      \
        cublasStatus_t code_ = cublas.call;   \
        if (code_ != CUBLAS_STATUS_SUCCESS)   \
            return fail(#call, code_, error); \
    } while (0)

/* libcublas needs libcublasLt, which may lie in the same folder, unknown to the linker. */
static void *open_at(const char *path)
{
    const char *slash = strrchr(path, '/'), *version = strstr(path, ".so");
    char beside[4096];

    if (slash != NULL && version != NULL && version > slash &&
        (size_t)snprintf(beside, sizeof beside, "%.*s/libcublasLt%s", (int)(slash - path), path, version) <
            sizeof beside)
        dlopen(beside, RTLD_NOW | RTLD_GLOBAL);
    return dlopen(path, RTLD_NOW);
}

static void *open_library(struct gt_error *error)
{
    const char *given = getenv("GRIDTIDE_CUBLAS");
    void *library = given != NULL ? open_at(given) : NULL;

    if (given != NULL && library == NULL) {
        gt_error_set(error, "no cuBLAS: GRIDTIDE_CUBLAS: %s", dlerror());
        return NULL;
    }
    for (size_t i = 0; library == NULL && i < sizeof libraries / sizeof libraries[0]; i++)
        library = open_at(libraries[i]);
    if (library == NULL)
        gt_error_set(error, "no libcublas.so.13; install libcublas, or give its path, such as that of PyTorch, in "
                            "GRIDTIDE_CUBLAS");
    return library;
}

static int load(struct gt_error *error)
{
    void *library = open_library(error);

    if (library == NULL)
        return -1;
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        void *function = dlsym(library, functions[i].name);

        if (function == NULL)
            return gt_error_set(error, "this cuBLAS has no %s; version 12 or later is needed", functions[i].name);
        memcpy((char *)&cublas + functions[i].offset, &function, sizeof function);
    }
    return 0;
}

static int make_workspace(struct gt_error *error)
{
    int device, major;

    GT_CUDA(cudaGetDevice(&device), error);
    GT_CUDA(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device), error);
    state.workspace_bytes = major >= 9 ? WORKSPACE_BYTES : EARLIER_WORKSPACE_BYTES;
    GT_CUDA(cudaMalloc(&state.workspace, state.workspace_bytes), error);
    CUBLAS(cublasSetWorkspace_v2(state.plain, state.workspace, state.workspace_bytes), error);
    return 0;
}

static int begin(struct gt_error *error)
{
    int version;

    CUBLAS(cublasCreate_v2(&state.plain), error);
    CUBLAS(cublasLtCreate(&state.fused), error);
    CUBLAS(cublasGetVersion_v2(state.plain, &version), error);
    snprintf(state.version, sizeof state.version, "%d.%d.%d", version / 10000, version / 100 % 100, version % 100);
    return make_workspace(error);
}

int gt_cublas_open(struct gt_error *error)
{
    if (state.plain != NULL)
        return 0;
    if (load(error) != 0)
        return -1;
    if (begin(error) == 0)
        return 0;
    gt_cublas_close();
    return -1;
}

void gt_cublas_close(void)
{
    if (state.plain == NULL)
        return;
    cublas.cublasDestroy_v2(state.plain);
    if (state.fused != NULL)
        cublas.cublasLtDestroy(state.fused);
    cudaFree(state.workspace);
    memset(&state, 0, sizeof state);
}

const char *gt_cublas_version(void)
{
    return state.version;
}

/* A product in BLAS's terms: matrices by columns, so the transposed result N x M is the right matrix times the left one. */
struct call {
    cublasOperation_t right, left;
    int m, n, k, right_ld, left_ld, batch;
    cudaDataType_t type;
    bool tf32;
};

static struct call call_of(const struct gt_product *p, const struct gt_cublas_matrices *matrices)
{
    static const cudaDataType_t types[GT_NUMBERS] = { CUDA_R_16BF, CUDA_R_16F, CUDA_R_32F };
    bool right_turned = p->form == GT_PRODUCT_TN || p->form == GT_PRODUCT_TN_BIAS || p->form == GT_PRODUCT_TN_BATCHED;
    bool left_turned = p->form == GT_PRODUCT_NT;

    return (struct call){
        .right = right_turned ? CUBLAS_OP_T : CUBLAS_OP_N,
        .left = left_turned ? CUBLAS_OP_T : CUBLAS_OP_N,
        .m = (int)p->m,
        .n = (int)p->n,
        .k = (int)p->k,
        .right_ld = (int)(right_turned ? p->k : p->n),
        .left_ld = (int)(left_turned ? p->m : p->k),
        .batch = (int)p->batch,
        .type = types[matrices->number],
        .tf32 = p->precision == GT_PRECISION_TF32,
    };
}

static int multiply(const struct call *c, const struct gt_cublas_matrices *at, cudaStream_t stream,
                    struct gt_error *error)
{
    const float *beta = at->bias != NULL ? &one : &zero; /* the result holds the bias */

    CUBLAS(cublasSetStream_v2(state.plain, stream), error); /* forgets the workspace */
    CUBLAS(cublasSetWorkspace_v2(state.plain, state.workspace, state.workspace_bytes), error);
    CUBLAS(cublasSetMathMode(state.plain, c->tf32 ? CUBLAS_TF32_TENSOR_OP_MATH : CUBLAS_DEFAULT_MATH), error);
    if (c->batch == 1)
        CUBLAS(cublasGemmEx(state.plain, c->right, c->left, c->n, c->m, c->k, &one, at->right, c->type, c->right_ld,
                            at->left, c->type, c->left_ld, beta, at->result, c->type, c->n, CUBLAS_COMPUTE_32F,
                            CUBLAS_GEMM_DEFAULT_TENSOR_OP),
               error);
    else
        CUBLAS(cublasGemmStridedBatchedEx(state.plain, c->right, c->left, c->n, c->m, c->k, &one, at->right, c->type,
                                          c->right_ld, (long long)c->n * c->k, at->left, c->type, c->left_ld,
                                          (long long)c->m * c->k, beta, at->result, c->type, c->n,
                                          (long long)c->m * c->n, c->batch, CUBLAS_COMPUTE_32F,
                                          CUBLAS_GEMM_DEFAULT_TENSOR_OP),
               error);
    return 0;
}

/* What cublasLtMatmul is told. */
struct fused {
    cublasLtMatmulDesc_t product;
    cublasLtMatrixLayout_t right, left, result;
    cublasLtMatmulPreference_t preference;
};

static int describe(struct fused *f, const struct call *c, const void *bias, struct gt_error *error)
{
    cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_BIAS;
    size_t workspace_bytes = FUSED_WORKSPACE_BYTES;
    bool right_turned = c->right == CUBLAS_OP_T;

    CUBLAS(cublasLtMatmulDescCreate(&f->product, c->tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F,
                                    CUDA_R_32F),
           error);
    CUBLAS(cublasLtMatmulDescSetAttribute(f->product, CUBLASLT_MATMUL_DESC_TRANSA, &c->right, sizeof c->right),
           error);
    CUBLAS(cublasLtMatmulDescSetAttribute(f->product, CUBLASLT_MATMUL_DESC_TRANSB, &c->left, sizeof c->left), error);
    CUBLAS(cublasLtMatmulDescSetAttribute(f->product, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue, sizeof epilogue),
           error);
    CUBLAS(cublasLtMatmulDescSetAttribute(f->product, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &bias, sizeof(const void *)),
           error);
    CUBLAS(cublasLtMatrixLayoutCreate(&f->right, c->type, (uint64_t)(right_turned ? c->k : c->n),
                                      (uint64_t)(right_turned ? c->n : c->k), c->right_ld),
           error);
    CUBLAS(cublasLtMatrixLayoutCreate(&f->left, c->type, (uint64_t)c->k, (uint64_t)c->m, c->left_ld), error);
    CUBLAS(cublasLtMatrixLayoutCreate(&f->result, c->type, (uint64_t)c->n, (uint64_t)c->m, c->n), error);
    CUBLAS(cublasLtMatmulPreferenceCreate(&f->preference), error);
    CUBLAS(cublasLtMatmulPreferenceSetAttribute(f->preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                                &workspace_bytes, sizeof workspace_bytes),
           error);
    return 0;
}

static void forget(const struct fused *f)
{
    if (f->preference != NULL)
        cublas.cublasLtMatmulPreferenceDestroy(f->preference);
    if (f->result != NULL)
        cublas.cublasLtMatrixLayoutDestroy(f->result);
    if (f->left != NULL)
        cublas.cublasLtMatrixLayoutDestroy(f->left);
    if (f->right != NULL)
        cublas.cublasLtMatrixLayoutDestroy(f->right);
    if (f->product != NULL)
        cublas.cublasLtMatmulDescDestroy(f->product);
}

static int run_fused(const struct fused *f, const struct gt_cublas_matrices *at, cudaStream_t stream,
                     struct gt_error *error)
{
    cublasLtMatmulHeuristicResult_t choice;
    int choices = 0;

    CUBLAS(cublasLtMatmulAlgoGetHeuristic(state.fused, f->product, f->right, f->left, f->result, f->result,
                                          f->preference, 1, &choice, &choices),
           error);
    if (choices == 0)
        return gt_error_set(error, "cuBLAS has no kernel for this product with a bias");
    CUBLAS(cublasLtMatmul(state.fused, f->product, &one, at->right, f->right, at->left, f->left, &zero, at->result,
                          f->result, at->result, f->result, &choice.algo, state.workspace, FUSED_WORKSPACE_BYTES,
                          stream),
           error);
    return 0;
}

int gt_cublas_multiply(const struct gt_product *product, const struct gt_cublas_matrices *matrices,
                       cudaStream_t stream, struct gt_error *error)
{
    struct call call = call_of(product, matrices);
    struct gt_cublas_matrices plain = *matrices;
    struct fused fused = { .product = NULL };
    int status;

    if (product->form != GT_PRODUCT_TN_BIAS) {
        plain.bias = NULL;
        return multiply(&call, &plain, stream, error);
    }
    if (call.m == 1 || call.n == 1 || call.k == 1) /* PyTorch adds to a copy of the bias then */
        return multiply(&call, matrices, stream, error);
    status = describe(&fused, &call, matrices->bias, error);
    if (status == 0)
        status = run_fused(&fused, matrices, stream, error);
    forget(&fused);
    return status;
}
