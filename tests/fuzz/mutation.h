/* mutation.h - damage to a file's bytes, the same for the same seed. */
#ifndef GRIDTIDE_TESTS_FUZZ_MUTATION_H
#define GRIDTIDE_TESTS_FUZZ_MUTATION_H

#include <stddef.h>
#include <stdint.h>

struct bytes {
    unsigned char *data;
    size_t length, room;
};

/* Make `out` a copy of `in` (its room is kept from call to call). */
void bytes_copy(struct bytes *out, const unsigned char *data, size_t length);

void bytes_append(struct bytes *out, const unsigned char *data, size_t length);

/* Damage `bytes` in one to four places: flips, cuts, insertions, repeats, hostile words. */
void mutate(struct bytes *bytes, uint64_t seed);

#endif
