/* number.c - what a profile has as numbers, and as texts that end in one. */
#include "sim/base/hash.h"
#include "traces/kineto/internal.h"

#include "traces/io/decimal.h"
#include "traces/kineto/execution_trace.h"

static const uint64_t limit = UINT64_C(1) << 62;

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

bool kineto_number(const char *text, size_t length, int power, int64_t *value)
{
    bool negative = length > 0 && text[0] == '-';
    uint64_t magnitude;

    if (gt_decimal_read(text + negative, length - negative, power, &magnitude) != GT_DECIMAL_READ ||
        magnitude > limit)
        return false;
    *value = negative ? -(int64_t)magnitude : (int64_t)magnitude;
    return true;
}

int64_t kineto_number_of_text(const char *text, size_t length)
{
    size_t at = length;
    int64_t value;

    while (at > 0 && is_digit(text[at - 1]))
        at--;
    if (at == 1 && text[0] == '-')
        at = 0;
    if (at < length && kineto_number(text + at, length - at, 0, &value))
        return value;
    return (int64_t)(gt_hash_bytes(GT_HASH_START, text, length) >> 2);
}
