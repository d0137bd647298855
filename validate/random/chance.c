#include "validate/random/chance.h"

uint64_t gt_chance_bits(struct gt_chance *chance)
{
    uint64_t bits = chance->state += UINT64_C(0x9e3779b97f4a7c15);

    bits = (bits ^ bits >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    bits = (bits ^ bits >> 27) * UINT64_C(0x94d049bb133111eb);
    return bits ^ bits >> 31;
}

struct gt_chance gt_chance_of(uint64_t seed, const char *text, uint64_t number)
{
    struct gt_chance chance = { seed };

    for (const char *c = text; *c != '\0'; c++)
        chance.state = gt_chance_bits(&chance) ^ (unsigned char)*c;
    chance.state = gt_chance_bits(&chance) ^ number;
    gt_chance_bits(&chance);
    return chance;
}

uint32_t gt_chance_between(struct gt_chance *chance, uint32_t least, uint32_t most)
{
    return least + (uint32_t)(gt_chance_bits(chance) % ((uint64_t)most - least + 1));
}

bool gt_chance_in(struct gt_chance *chance, uint32_t times, uint32_t of)
{
    return gt_chance_between(chance, 1, of) <= times;
}

uint32_t gt_chance_pick(struct gt_chance *chance, const uint32_t *values, size_t count)
{
    return values[gt_chance_between(chance, 0, (uint32_t)count - 1)];
}

uint32_t gt_chance_scale(struct gt_chance *chance, uint32_t least, uint32_t most)
{
    uint32_t doublings = 0, low, high;

    while (doublings < 31 && ((uint64_t)least << (doublings + 1)) <= most)
        doublings++;
    low = least << gt_chance_between(chance, 0, doublings);
    high = low > most / 2 ? most : low * 2 - 1;
    return gt_chance_between(chance, low, high);
}
