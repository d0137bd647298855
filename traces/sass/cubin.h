/* cubin.h - machine code of kernels, from the ELF files (cubins) that the CUDA tools make. */
#ifndef GRIDTIDE_TRACES_SASS_CUBIN_H
#define GRIDTIDE_TRACES_SASS_CUBIN_H

#include <stddef.h>
#include <stdint.h>

#include "sim/base/error.h"

enum { GT_SASS_BYTES = 16 }; /* of an instruction, Volta and later */

/* The code of one kernel: the bytes of its section .text.NAME. */
struct gt_cubin_code {
    const unsigned char *bytes; /* as long as the cubin */
    size_t length;
    uint32_t architecture; /* 90 for sm_90 */
};

struct gt_cubin;

/* Read a cubin whole.  NULL with "PATH: ..." where it cannot be read, is not an ELF file of NVIDIA's, or
 * is cut off. */
struct gt_cubin *gt_cubin_open(const char *path, struct gt_error *error);
/* A cubin of `length` bytes in memory, which are copied; `name` begins what is said of them. */
struct gt_cubin *gt_cubin_of(const void *bytes, size_t length, const char *name, struct gt_error *error);
void gt_cubin_close(struct gt_cubin *cubin);

/* Call `visit` for each kernel: every section .text.NAME, in the file's order.  `name` is good until
 * gt_cubin_close(). */
typedef void gt_cubin_visit(void *user, const char *name, const struct gt_cubin_code *code);
void gt_cubin_each(const struct gt_cubin *cubin, gt_cubin_visit *visit, void *user);

/* The control fields of an instruction.  Bits of the 128 as found by the makers of assemblers for Volta
 * and kept to Hopper: 105-108 stall cycles, 109 yield, 110-112 write barrier, 113-115 read barrier,
 * 116-121 wait mask, 122-125 register reuse (bit i: source operand i). */
struct gt_sass_control {
    uint8_t stall_cycles, yield, write_barrier, read_barrier, wait_mask, reuse;
};
void gt_sass_control(const unsigned char instruction[GT_SASS_BYTES], struct gt_sass_control *control);
/* The 21 control bits as one number, bit 105 lowest, and back: how a trace keeps them. */
uint32_t gt_sass_control_pack(const struct gt_sass_control *control);
void gt_sass_control_unpack(uint32_t packed, struct gt_sass_control *control);

#endif
