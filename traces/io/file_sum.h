/* file_sum.h - whether a file is still the one that it was. */
#ifndef GRIDTIDE_TRACES_IO_FILE_SUM_H
#define GRIDTIDE_TRACES_IO_FILE_SUM_H

#include <stdbool.h>
#include <stdint.h>

struct gt_file_sum {
    uint64_t bytes;
    uint32_t crc32;
};

/* Of a plain file; false where it cannot be read, or is none. */
bool gt_file_sum(const char *path, struct gt_file_sum *sum);

#endif
