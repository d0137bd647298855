/* chunks.h - the file's chunks as memory, made ahead of their use. */
#ifndef GRIDTIDE_VALIDATE_RECORD_CHUNKS_H
#define GRIDTIDE_VALIDATE_RECORD_CHUNKS_H

#include <stdint.h>

/* Chunks of GT_RECORDED_CHUNK_BYTES of that file, from byte `first` on; it gets no longer than `limit_bytes`. */
void gt_chunks_open(int file, uint64_t first, uint64_t limit_bytes);

/* A chunk of zeros, to which a write cannot fail later. NULL: the file may not get longer, or the disk is full. */
unsigned char *gt_chunk_take(void);

/* It is written, or NULL. */
void gt_chunk_give_back(unsigned char *chunk);

/* In a child of fork(), which has neither the file nor the thread. */
void gt_chunks_forget(void);

#endif
