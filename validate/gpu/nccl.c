#include "validate/gpu/nccl.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include <nccl.h>

#include "validate/gpu/cuda_error.h"

/* The part of NCCL that is used, by the names that its header gives. */
/* clang-format off */
#define NCCL_FUNCTIONS(F) \
    F(ncclGetErrorString) F(ncclGetUniqueId) F(ncclCommInitRankConfig) F(ncclCommDestroy) \
        F(ncclGroupStart) F(ncclGroupEnd) F(ncclAllReduce) F(ncclReduceScatter) F(ncclAllGather) \
            F(ncclBroadcast) F(ncclReduce) F(ncclSend) F(ncclRecv)
/* clang-format on */
static struct {
#define MEMBER(name) __typeof__(&name) name;
    NCCL_FUNCTIONS(MEMBER)
#undef MEMBER
} nccl;
/* clang-format off */
static const struct { const char *name; size_t offset; } functions[] = {
#define ROW(name) { #name, offsetof(__typeof__(nccl), name) },
    NCCL_FUNCTIONS(ROW)
#undef ROW
};
/* clang-format on */

/* Where a toolkit keeps it when the linker does not know. */
static const char *const libraries[] = {
    "libnccl.so.2",
    "/usr/local/cuda/lib64/libnccl.so.2",
    "/usr/local/cuda/lib/libnccl.so.2",
};

static const struct type {
    const char *name;
    ncclDataType_t type;
    uint32_t bytes;
} types[] = {
    { "float32", ncclFloat32, 4 }, { "float", ncclFloat32, 4 },     { "float16", ncclFloat16, 2 },
    { "half", ncclFloat16, 2 },    { "bfloat16", ncclBfloat16, 2 }, { "float64", ncclFloat64, 8 },
    { "double", ncclFloat64, 8 },  { "int64", ncclInt64, 8 },       { "long", ncclInt64, 8 },
    { "int32", ncclInt32, 4 },     { "int", ncclInt32, 4 },         { "int8", ncclInt8, 1 },
    { "char", ncclInt8, 1 },       { "uint8", ncclUint8, 1 },       { "byte", ncclUint8, 1 },
};
static const struct {
    const char *name;
    ncclRedOp_t reduction;
} reductions[] = {
    { "sum", ncclSum }, { "avg", ncclAvg }, { "max", ncclMax }, { "min", ncclMin }, { "prod", ncclProd },
};

static const struct type *type_of(const char *name)
{
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (name == NULL || strcasecmp(name, types[i].name) == 0)
            return &types[i];
    return NULL;
}

static int reduction_of(const char *name)
{
    for (size_t i = 0; i < sizeof reductions / sizeof reductions[0]; i++)
        if (name == NULL || strcasecmp(name, reductions[i].name) == 0)
            return (int)reductions[i].reduction;
    return -1;
}

static int fail(const char *what, ncclResult_t code, struct gt_error *error)
{
    return gt_error_set(error, "NCCL: %s failed: %s", what, nccl.ncclGetErrorString(code));
}

#define NCCL(call, error)                     \
    do {                                      \
        ncclResult_t code_ = nccl.call;       \
        if (code_ != ncclSuccess)             \
            return fail(#call, code_, error); \
    } while (0)

static void *open_library(void)
{
    const char *given = getenv("GRIDTIDE_NCCL");
    void *library = given != NULL ? dlopen(given, RTLD_NOW) : NULL;

    for (size_t i = 0; library == NULL && i < sizeof libraries / sizeof libraries[0]; i++)
        library = dlopen(libraries[i], RTLD_NOW);
    return library;
}

int gt_nccl_open(struct gt_error *error)
{
    static bool opened;
    void *library;

    if (opened)
        return 0;
    setenv("NCCL_NVLS_ENABLE", "0", 0);
    library = open_library();
    if (library == NULL)
        return gt_error_set(error, "no NCCL: %s; say where libnccl.so.2 is in GRIDTIDE_NCCL", dlerror());
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        void *function = dlsym(library, functions[i].name);

        if (function == NULL)
            return gt_error_set(error, "this NCCL has no %s", functions[i].name);
        memcpy((char *)&nccl + functions[i].offset, &function, sizeof function);
    }
    opened = true;
    return 0;
}

static int join_all(const ncclUniqueId *id, const int *devices, uint32_t count, uint32_t most_channels,
                    gt_nccl_comm *comms, struct gt_error *error)
{
    for (uint32_t rank = 0; rank < count; rank++) {
        ncclConfig_t config = NCCL_CONFIG_INITIALIZER;

        if (most_channels > 0)
            config.maxCTAs = (int)most_channels;
        GT_CUDA(cudaSetDevice(devices[rank]), error);
        NCCL(ncclCommInitRankConfig(&comms[rank], (int)count, *id, (int)rank, &config), error);
    }
    return 0;
}

int gt_nccl_group(const int *devices, uint32_t count, uint32_t most_channels, gt_nccl_comm *comms,
                  struct gt_error *error)
{
    ncclUniqueId id;
    int status;

    NCCL(ncclGetUniqueId(&id), error);
    NCCL(ncclGroupStart(), error);
    status = join_all(&id, devices, count, most_channels, comms, error);
    if (status != 0) {
        nccl.ncclGroupEnd();
        return -1;
    }
    NCCL(ncclGroupEnd(), error);
    return 0;
}

void gt_nccl_free(gt_nccl_comm comm)
{
    if (comm != NULL)
        nccl.ncclCommDestroy(comm);
}

int gt_nccl_accepts(const struct gt_nccl_part *part, struct gt_error *error)
{
    if (type_of(part->datatype) == NULL || reduction_of(part->reduction) < 0)
        return gt_error_set(error, "NCCL has no datatype '%.40s' or no reduction '%.40s'",
                            part->datatype != NULL ? part->datatype : "",
                            part->reduction != NULL ? part->reduction : "");
    return 0;
}

/* Elements: of all of it; of one rank's share. One at least. */
static size_t whole(const struct gt_nccl_part *part, const struct type *type)
{
    return part->collective.bytes < type->bytes ? 1 : part->collective.bytes / type->bytes;
}

static size_t share(const struct gt_nccl_part *part, const struct type *type)
{
    size_t count = whole(part, type) / part->ranks;

    return count > 0 ? count : 1;
}

static ncclResult_t messages(const struct gt_nccl_part *part, const struct type *type, cudaStream_t stream)
{
    const struct gt_collective *c = &part->collective;
    ncclResult_t code = nccl.ncclGroupStart();

    if (code == ncclSuccess && c->to != GT_NONE)
        code = nccl.ncclSend(part->give, whole(part, type), type->type, (int)c->to, part->comm, stream);
    if (code == ncclSuccess && c->from != GT_NONE)
        code = nccl.ncclRecv(part->get, whole(part, type), type->type, (int)c->from, part->comm, stream);
    return code == ncclSuccess ? nccl.ncclGroupEnd() : code;
}

static ncclResult_t all_to_all(const struct gt_nccl_part *part, const struct type *type, cudaStream_t stream)
{
    size_t count = share(part, type), bytes = count * type->bytes;
    ncclResult_t code = nccl.ncclGroupStart();

    for (uint32_t rank = 0; rank < part->ranks && code == ncclSuccess; rank++) {
        code = nccl.ncclSend((char *)part->give + rank * bytes, count, type->type, (int)rank, part->comm, stream);
        if (code == ncclSuccess)
            code = nccl.ncclRecv((char *)part->get + rank * bytes, count, type->type, (int)rank, part->comm, stream);
    }
    return code == ncclSuccess ? nccl.ncclGroupEnd() : code;
}

static ncclResult_t start(const struct gt_nccl_part *part, cudaStream_t stream)
{
    const struct gt_collective *c = &part->collective;
    const struct type *type = type_of(part->datatype);
    ncclRedOp_t reduction = (ncclRedOp_t)reduction_of(part->reduction);

    switch ((enum gt_collective_kind)c->kind) {
    case GT_ALL_REDUCE:
        return nccl.ncclAllReduce(part->give, part->get, whole(part, type), type->type, reduction, part->comm,
                                  stream);
    case GT_REDUCE_SCATTER:
        return nccl.ncclReduceScatter(part->give, part->get, share(part, type), type->type, reduction, part->comm,
                                      stream);
    case GT_ALL_GATHER:
        return nccl.ncclAllGather(part->give, part->get, share(part, type), type->type, part->comm, stream);
    case GT_BROADCAST:
        return nccl.ncclBroadcast(part->give, part->get, whole(part, type), type->type, (int)c->root, part->comm,
                                  stream);
    case GT_REDUCE:
        return nccl.ncclReduce(part->give, part->get, whole(part, type), type->type, reduction, (int)c->root,
                               part->comm, stream);
    case GT_ALL_TO_ALL: return all_to_all(part, type, stream);
    case GT_SEND_RECV: return messages(part, type, stream);
    default: return ncclInvalidArgument;
    }
}

cudaError_t gt_nccl_issue(const struct gt_nccl_part *part, cudaStream_t stream, struct gt_error *error)
{
    ncclResult_t code = start(part, stream);

    if (code == ncclSuccess)
        return cudaSuccess;
    fail(gt_collective_kind_names[part->collective.kind], code, error);
    return cudaErrorUnknown;
}

int gt_nccl_issue_all(const struct gt_nccl_part *parts, const int *devices, const cudaStream_t *streams,
                      uint32_t count, struct gt_error *error)
{
    NCCL(ncclGroupStart(), error);
    for (uint32_t i = 0; i < count; i++) {
        if (cudaSetDevice(devices[i]) != cudaSuccess || gt_nccl_issue(&parts[i], streams[i], error) != cudaSuccess) {
            nccl.ncclGroupEnd();
            return -1;
        }
    }
    NCCL(ncclGroupEnd(), error);
    return 0;
}
