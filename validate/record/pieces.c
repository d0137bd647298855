/* pieces.c - what copies and memsets of rows, slices, arrays and symbols moved, and those of several pieces.
 *
 * The runtime's functions name arrays and symbols by handles of its own and count in elements; they call the driver's, which
 * have addresses and bytes.
 */
#include <string.h>

#include "validate/record/internal.h"

#define ADDRESS(pointer) ((uint64_t)(uintptr_t)(pointer))

static void write_piece(const struct gt_record_piece *piece)
{
    struct gt_record_piece *record;

    if (piece->width == 0 || piece->height == 0 || piece->depth == 0)
        return;
    record = gt_writer_begin(GT_RECORDED_PIECE, sizeof *record);
    if (record == NULL)
        return;
    *record = *piece;
    record->head = (struct gt_record_head){ 0, GT_RECORDED_PIECE, 0 };
    gt_writer_end(record);
}

/* One end of a copy, as the driver's structures have it. */
struct end {
    CUmemorytype type;
    const void *host;
    CUdeviceptr device;
    CUarray array;
    uint64_t row, rows; /* bytes of a row; rows of a slice: 0: as many as are moved */
    uint64_t x, y, z;
};

/* The first byte; 0: not known. */
static uint64_t place(const struct end *end, uint64_t row, uint64_t slice)
{
    uint64_t from = end->type == CU_MEMORYTYPE_HOST ? ADDRESS(end->host) : end->device;

    if (end->type == CU_MEMORYTYPE_ARRAY)
        return end->array == NULL ? 0 : ADDRESS(end->array) | GT_RECORDED_ARRAY;
    return from == 0 ? 0 : from + end->z * slice + end->y * row + end->x;
}

static void write_box(const struct end *to, const struct end *from, uint64_t width, uint64_t height, uint64_t depth,
                      const struct gt_recorded_giver *giver)
{
    struct gt_record_piece piece = {
        .giver = *giver,
        .width = width,
        .height = height,
        .depth = depth,
    };

    piece.to_row = to->row != 0 ? to->row : width;
    piece.from_row = from->row != 0 ? from->row : width;
    piece.to_slice = piece.to_row * (to->rows != 0 ? to->rows : height);
    piece.from_slice = piece.from_row * (from->rows != 0 ? from->rows : height);
    piece.to = place(to, piece.to_row, piece.to_slice);
    piece.from = place(from, piece.from_row, piece.from_slice);
    write_piece(&piece);
}

static void write_3d(const CUDA_MEMCPY3D *copy, const struct gt_recorded_giver *giver)
{
    const struct end to = { copy->dstMemoryType, copy->dstHost,     copy->dstDevice, copy->dstArray, copy->dstPitch,
                            copy->dstHeight,     copy->dstXInBytes, copy->dstY,      copy->dstZ },
                     from = { copy->srcMemoryType, copy->srcHost,     copy->srcDevice, copy->srcArray, copy->srcPitch,
                              copy->srcHeight,     copy->srcXInBytes, copy->srcY,      copy->srcZ };

    write_box(&to, &from, copy->WidthInBytes, copy->Height, copy->Depth, giver);
}

void gt_pieces_of_copy(const CUDA_MEMCPY3D *copy, const struct gt_recorded_giver *giver)
{
    write_3d(copy, giver);
}

static void write_set(uint64_t to, uint64_t pitch, uint64_t width, uint64_t height,
                      const struct gt_recorded_giver *giver)
{
    const struct gt_record_piece piece = {
        .giver = *giver,
        .to = to,
        .to_row = pitch,
        .width = width,
        .height = height,
        .depth = 1,
    };

    write_piece(&piece);
}

void gt_pieces_of_memset(const CUDA_MEMSET_NODE_PARAMS *set, const struct gt_recorded_giver *giver)
{
    write_set(set->dst, set->pitch, set->width * set->elementSize, set->height, giver);
}

#define READER(name, type, ...)                                                     \
    static void name(const void *parameters, const struct gt_recorded_giver *giver) \
    {                                                                               \
        const type *p = parameters;                                                 \
        __VA_ARGS__                                                                 \
    }
READER(read_3d, cuMemcpy3D_v2_params, write_3d(p->pCopy, giver);)

static void read_2d(const void *parameters, const struct gt_recorded_giver *giver)
{
    const CUDA_MEMCPY2D *copy = ((const cuMemcpy2D_v2_params *)parameters)->pCopy;
    const struct end to = { copy->dstMemoryType, copy->dstHost,  copy->dstDevice,
                            copy->dstArray,      copy->dstPitch, 0,
                            copy->dstXInBytes,   copy->dstY,     0 },
                     from = { copy->srcMemoryType, copy->srcHost,  copy->srcDevice,
                              copy->srcArray,      copy->srcPitch, 0,
                              copy->srcXInBytes,   copy->srcY,     0 };

    write_box(&to, &from, copy->WidthInBytes, copy->Height, 1, giver);
}

static void read_3d_peer(const void *parameters, const struct gt_recorded_giver *giver)
{
    const CUDA_MEMCPY3D_PEER *copy = ((const cuMemcpy3DPeer_params *)parameters)->pCopy;
    const struct end to = { copy->dstMemoryType, copy->dstHost,     copy->dstDevice, copy->dstArray, copy->dstPitch,
                            copy->dstHeight,     copy->dstXInBytes, copy->dstY,      copy->dstZ },
                     from = { copy->srcMemoryType, copy->srcHost,     copy->srcDevice, copy->srcArray, copy->srcPitch,
                              copy->srcHeight,     copy->srcXInBytes, copy->srcY,      copy->srcZ };

    write_box(&to, &from, copy->WidthInBytes, copy->Height, copy->Depth, giver);
}

READER(read_set8, cuMemsetD2D8_v2_params, write_set(p->dstDevice, p->dstPitch, p->Width, p->Height, giver);)
READER(read_set16, cuMemsetD2D16_v2_params, write_set(p->dstDevice, p->dstPitch, 2 * p->Width, p->Height, giver);)
READER(read_set32, cuMemsetD2D32_v2_params, write_set(p->dstDevice, p->dstPitch, 4 * p->Width, p->Height, giver);)

/* Between an array and memory, from some byte of the array on. */
static void write_line(uint64_t to, uint64_t from, uint64_t bytes, const struct gt_recorded_giver *giver)
{
    const struct gt_record_piece piece = {
        .giver = *giver,
        .to = to,
        .from = from,
        .width = bytes,
        .height = 1,
        .depth = 1,
    };

    write_piece(&piece);
}

#define OF_ARRAY(array) (ADDRESS(array) | GT_RECORDED_ARRAY)
READER(read_h2a, cuMemcpyHtoA_v2_params, write_line(OF_ARRAY(p->dstArray), ADDRESS(p->srcHost), p->ByteCount, giver);)
READER(read_a2h, cuMemcpyAtoH_v2_params, write_line(ADDRESS(p->dstHost), OF_ARRAY(p->srcArray), p->ByteCount, giver);)
READER(read_d2a, cuMemcpyDtoA_v2_params, write_line(OF_ARRAY(p->dstArray), p->srcDevice, p->ByteCount, giver);)
READER(read_a2d, cuMemcpyAtoD_v2_params, write_line(p->dstDevice, OF_ARRAY(p->srcArray), p->ByteCount, giver);)
READER(read_a2a, cuMemcpyAtoA_v2_params,
       write_line(OF_ARRAY(p->dstArray), OF_ARRAY(p->srcArray), p->ByteCount, giver);)

static void read_batch(const void *parameters, const struct gt_recorded_giver *giver)
{
    const cuMemcpyBatchAsync_v2_params *p = parameters;

    for (size_t i = 0; i < p->count; i++)
        write_line(p->dsts[i], p->srcs[i], p->sizes[i], giver);
}

/* clang-format off */
#define ONE(name, read) { CUPTI_DRIVER_TRACE_CBID_##name, read },
#define BOTH(name, other, read) ONE(name, read) ONE(name##_##other, read)
static const struct { CUpti_CallbackId id; void (*read)(const void *parameters, const struct gt_recorded_giver *giver); } readers[] = {
    BOTH(cuMemcpy2D_v2, ptds, read_2d)
    BOTH(cuMemcpy2DUnaligned_v2, ptds, read_2d)
    BOTH(cuMemcpy2DAsync_v2, ptsz, read_2d)
    BOTH(cuMemcpy3D_v2, ptds, read_3d)
    BOTH(cuMemcpy3DAsync_v2, ptsz, read_3d)
    BOTH(cuMemcpy3DPeer, ptds, read_3d_peer)
    BOTH(cuMemcpy3DPeerAsync, ptsz, read_3d_peer)
    BOTH(cuMemcpyHtoA_v2, ptds, read_h2a)
    BOTH(cuMemcpyHtoAAsync_v2, ptsz, read_h2a)
    BOTH(cuMemcpyAtoH_v2, ptds, read_a2h)
    BOTH(cuMemcpyAtoHAsync_v2, ptsz, read_a2h)
    BOTH(cuMemcpyDtoA_v2, ptds, read_d2a)
    BOTH(cuMemcpyAtoD_v2, ptds, read_a2d)
    BOTH(cuMemcpyAtoA_v2, ptds, read_a2a)
    BOTH(cuMemsetD2D8_v2, ptds, read_set8)
    BOTH(cuMemsetD2D16_v2, ptds, read_set16)
    BOTH(cuMemsetD2D32_v2, ptds, read_set32)
    BOTH(cuMemsetD2D8Async, ptsz, read_set8)
    BOTH(cuMemsetD2D16Async, ptsz, read_set16)
    BOTH(cuMemsetD2D32Async, ptsz, read_set32)
    BOTH(cuMemcpyBatchAsync, ptsz, read_batch) /* of CUDA 12.8: the same in front */
    BOTH(cuMemcpyBatchAsync_v2, ptsz, read_batch)
};
/* clang-format on */

void gt_pieces_record(const struct gt_call_row *row, const void *parameters, uint32_t correlation)
{
    const struct gt_recorded_giver giver = { .correlation = correlation };
    struct gt_record_call call = { .a = 0 };

    for (size_t i = 0; i < sizeof readers / sizeof readers[0]; i++)
        if (readers[i].id == row->id) {
            readers[i].read(parameters, &giver);
            return;
        }
    if (row->read == NULL)
        return;
    row->read(parameters, &call); /* of one length */
    write_line(call.a, call.b, call.c, &giver);
}
