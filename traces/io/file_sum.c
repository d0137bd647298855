#include "traces/io/file_sum.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <zlib.h>

#include "sim/base/error.h"

enum { CHUNK_BYTES = 1 << 16 };

bool gt_file_sum(const char *path, struct gt_file_sum *sum)
{
    struct stat status;
    FILE *file = stat(path, &status) == 0 && S_ISREG(status.st_mode) ? fopen(path, "re") : NULL;
    unsigned char *chunk;
    uLong crc = crc32(0, NULL, 0);
    size_t bytes;
    bool whole;

    if (file == NULL)
        return false;
    chunk = gt_calloc(CHUNK_BYTES, 1);
    *sum = (struct gt_file_sum){ .bytes = 0 };
    while ((bytes = fread(chunk, 1, CHUNK_BYTES, file)) > 0) {
        crc = crc32(crc, chunk, (uInt)bytes);
        sum->bytes += bytes;
    }
    whole = ferror(file) == 0;
    sum->crc32 = (uint32_t)crc;
    fclose(file);
    free(chunk);
    return whole;
}
