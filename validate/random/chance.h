/* chance.h - random whole numbers from a seed, the same on every machine. */
#ifndef GRIDTIDE_VALIDATE_RANDOM_CHANCE_H
#define GRIDTIDE_VALIDATE_RANDOM_CHANCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gt_chance {
    uint64_t state;
};

/* A source that `seed`, `text` and `number` decide: sources of different texts or numbers have nothing in common. */
struct gt_chance gt_chance_of(uint64_t seed, const char *text, uint64_t number);
/* 64 random bits (SplitMix64: Steele, Lea, Flood, OOPSLA 2014). */
uint64_t gt_chance_bits(struct gt_chance *chance);
/* Evenly from least to most, both included. */
uint32_t gt_chance_between(struct gt_chance *chance, uint32_t least, uint32_t most);
/* True in `times` of `of` cases. */
bool gt_chance_in(struct gt_chance *chance, uint32_t times, uint32_t of);
/* One of the values, each as likely as the others. */
uint32_t gt_chance_pick(struct gt_chance *chance, const uint32_t *values, size_t count);
/* From least to most, each doubling as likely as the others: small numbers come as often as large ones. */
uint32_t gt_chance_scale(struct gt_chance *chance, uint32_t least, uint32_t most);

#endif
