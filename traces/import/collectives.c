#include "traces/import/collectives.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/array.h"

/* Letters without case, whatever stands between them left out: "_allgather_base" is "allgatherbase".  The longer names stand
 * before those that they begin with. */
static const struct {
    const char *begins;
    enum gt_collective_kind kind;
} collectives[] = {
    { "allreduce", GT_ALL_REDUCE },
    { "allgather", GT_ALL_GATHER },
    { "reducescatter", GT_REDUCE_SCATTER },
    { "alltoall", GT_ALL_TO_ALL },
    { "broadcast", GT_BROADCAST },
    { "barrier", GT_ALL_REDUCE }, /* of one element: c10d::ProcessGroupNCCL::barrier() */
    { "reduce", GT_REDUCE },
};

static enum gt_collective_kind kind_of(const char *text, size_t length)
{
    char letters[32];
    size_t count = 0;

    for (size_t i = 0; i < length && count < sizeof letters - 1; i++)
        if (isalpha((unsigned char)text[i]))
            letters[count++] = (char)tolower((unsigned char)text[i]);
    letters[count] = '\0';
    for (size_t i = 0; i < sizeof collectives / sizeof collectives[0]; i++)
        if (strncmp(letters, collectives[i].begins, strlen(collectives[i].begins)) == 0)
            return collectives[i].kind;
    return GT_COLLECTIVE_NONE;
}

enum gt_collective_kind gt_collective_of_name(const char *name, size_t length)
{
    return kind_of(name, length);
}

/* ncclDevKernel_AllReduce_Sum_f32_RING_LL(...); until NCCL 2.19 ncclKernel_AllReduce_RING_LL_Sum_float(...), until 2.8
 * ncclAllReduceRingLLKernel_sum_f32(...).  Which algorithm and protocol stand there says nothing: the kernel of one runs the others, too. */
enum gt_collective_kind gt_collective_of_kernel(const char *name)
{
    static const char *const begins[] = { "ncclDevKernel_", "ncclKernel_", "ncclSymkDevKernel_", "nccl" };

    for (size_t i = 0; i < sizeof begins / sizeof begins[0]; i++)
        if (strncmp(name, begins[i], strlen(begins[i])) == 0)
            return kind_of(name + strlen(begins[i]), strlen(name) - strlen(begins[i]));
    return GT_COLLECTIVE_NONE;
}

/* PyTorch's names of scalar types (c10/core/ScalarType.h), and those of C++ that its profiler writes for inputs. */
static const struct {
    const char *name, *usual;
    uint32_t bytes;
} datatypes[] = {
    { "Float", "float32", 4 },
    { "float", "float32", 4 },
    { "BFloat16", "bfloat16", 2 },
    { "c10::BFloat16", "bfloat16", 2 },
    { "Half", "float16", 2 },
    { "c10::Half", "float16", 2 },
    { "Double", "float64", 8 },
    { "double", "float64", 8 },
    { "Long", "int64", 8 },
    { "long int", "int64", 8 },
    { "Int", "int32", 4 },
    { "int", "int32", 4 },
    { "Short", "int16", 2 },
    { "short int", "int16", 2 },
    { "Char", "int8", 1 },
    { "signed char", "int8", 1 },
    { "Byte", "uint8", 1 },
    { "unsigned char", "uint8", 1 },
    { "Bool", "bool", 1 },
    { "bool", "bool", 1 },
    { "Float8_e4m3fn", "float8e4m3", 1 },
    { "Float8_e5m2", "float8e5m2", 1 },
    { "ComplexFloat", "complex64", 8 },
    { "c10::complex<float>", "complex64", 8 },
};

uint32_t gt_datatype_bytes(const char *name, size_t length, const char **usual)
{
    for (size_t i = 0; i < sizeof datatypes / sizeof datatypes[0]; i++) {
        if (strlen(datatypes[i].name) == length && memcmp(datatypes[i].name, name, length) == 0) {
            *usual = datatypes[i].usual;
            return datatypes[i].bytes;
        }
    }
    *usual = NULL;
    return 0;
}

struct gt_collective_note *gt_collective_notes_add(struct gt_collective_notes *notes, uint32_t op,
                                                   enum gt_collective_kind kind)
{
    struct gt_collective_note *note;

    gt_array_grow(notes->notes, notes->count, notes->room);
    note = &notes->notes[notes->count++];
    *note = (struct gt_collective_note){
        .op = op,
        .kind = (uint8_t)kind,
        .sequence = GT_SEQUENCE_NONE,
        .group = GT_NONE,
        .datatype = GT_NONE,
        .to = GT_NONE,
        .from = GT_NONE,
        .alone_ps = GT_TIME_NONE,
    };
    return note;
}

void gt_collective_notes_free(struct gt_collective_notes *notes)
{
    free(notes->notes);
    memset(notes, 0, sizeof *notes);
}
