#include "traces/io/decimal.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* The exponent behind "e"; what is beyond any number's size is cut. */
static int exponent(const char *at, const char *end)
{
    bool negative = at < end && *at == '-';
    int power = 0;

    if (at < end && (*at == '-' || *at == '+'))
        at++;
    for (; at < end && is_digit(*at) && power < 100000; at++)
        power = power * 10 + (*at - '0');
    return negative ? -power : power;
}

/* Digits that stand before the point once the number is multiplied by 10^power; *end moves to the mantissa's. */
static int64_t whole_digits(const char *text, const char **end, int power)
{
    const char *mark = memchr(text, 'e', (size_t)(*end - text));
    int64_t count = power;

    if (mark == NULL)
        mark = memchr(text, 'E', (size_t)(*end - text));
    if (mark != NULL) {
        count += exponent(mark + 1, *end);
        *end = mark;
    }
    while (text < *end && is_digit(*text++))
        count++;
    return count;
}

enum gt_decimal gt_decimal_read(const char *text, size_t length, int power, uint64_t *value)
{
    const char *at = text, *end = text + length;
    int64_t left = whole_digits(text, &end, power);
    bool digits = false, point = false;
    uint64_t sum = 0;

    /* The first digit behind the whole ones decides how to round; what comes after it cannot matter. */
    for (; at < end && left >= 0; at++) {
        if (*at == '.' && !point) {
            point = true;
            continue;
        }
        if (!is_digit(*at))
            return GT_DECIMAL_NONE;
        digits = true;
        if (left-- == 0
                ? __builtin_add_overflow(sum, *at >= '5', &sum)
                : __builtin_mul_overflow(sum, 10, &sum) || __builtin_add_overflow(sum, (uint64_t)(*at - '0'), &sum))
            return GT_DECIMAL_TOO_LARGE;
    }
    for (; left > 0 && sum != 0; left--)
        if (__builtin_mul_overflow(sum, 10, &sum))
            return GT_DECIMAL_TOO_LARGE;
    *value = sum;
    return digits || at < end ? GT_DECIMAL_READ : GT_DECIMAL_NONE;
}

int gt_decimal_parse(const char *text, size_t length, int power, uint64_t limit, uint64_t *value,
                     struct gt_error *error)
{
    enum gt_decimal status;

    if (length > 0 && text[0] == '-')
        return gt_error_set(error, "is negative");
    status = gt_decimal_read(text, length, power, value);
    if (status == GT_DECIMAL_NONE)
        return gt_error_set(error, "is no number");
    return status == GT_DECIMAL_TOO_LARGE || *value > limit ? gt_error_set(error, "is too large") : 0;
}

size_t gt_digits(uint64_t number, char text[GT_DIGITS_BYTES])
{
    char digits[GT_DIGITS_BYTES], *at = digits + sizeof digits;
    size_t length;

    do
        *--at = (char)('0' + number % 10);
    while ((number /= 10) != 0);
    length = (size_t)(digits + sizeof digits - at);
    memcpy(text, at, length);
    text[length] = '\0';
    return length;
}

size_t gt_time_text_ns(gt_time_ps time, char text[GT_TIME_TEXT_BYTES])
{
    size_t length = gt_digits(time / 1000, text);
    unsigned fraction = (unsigned)(time % 1000);

    if (fraction != 0)
        text[length++] = '.';
    for (; fraction != 0; fraction = fraction % 100 * 10)
        text[length++] = (char)('0' + fraction / 100);
    text[length] = '\0';
    return length;
}
