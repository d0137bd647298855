/* hash.h - FNV-1a of 64 bits: of names and small records in tables, and to notice that a file changed.  Not against an adversary. */
#ifndef GRIDTIDE_SIM_BASE_HASH_H
#define GRIDTIDE_SIM_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

#define GT_HASH_START UINT64_C(0xcbf29ce484222325)
#define GT_HASH_PRIME UINT64_C(0x100000001b3)

/* The hash of `hash`'s bytes, GT_HASH_START of none, and these behind them. */
static inline uint64_t gt_hash_bytes(uint64_t hash, const void *bytes, size_t count)
{
    const unsigned char *byte = (const unsigned char *)bytes;

    for (size_t i = 0; i < count; i++)
        hash = (hash ^ byte[i]) * GT_HASH_PRIME;
    return hash;
}

/* Add a whole number in one step: faster than its bytes, and another value. */
static inline uint64_t gt_hash_number(uint64_t hash, uint64_t number)
{
    return (hash ^ number) * GT_HASH_PRIME;
}

#endif
