/* number.c - decimal text to whole numbers, exactly: a double cannot hold the nanoseconds of
 * "4458676983543.183" microseconds. */
#include "traces/kineto/internal.h"

#include <string.h>

#define LIMIT (INT64_C(1) << 62)

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

bool kineto_number(const char *text, size_t length, int power, int64_t *value)
{
    const char *at = text, *end = text + length;
    const char *mark;
    bool negative = at < end && *at == '-', digits = false, point = false;
    int64_t sum = 0;
    int take = power;       /* digits still to come before the number is whole, once past the point */

    at += negative;
    if ((mark = memchr(at, 'e', (size_t)(end - at))) != NULL ||
        (mark = memchr(at, 'E', (size_t)(end - at))) != NULL) {
        take += exponent(mark + 1, end);
        end = mark;
    }
    for (const char *whole = at; whole < end && is_digit(*whole); whole++)
        take++;
    for (; at < end && take >= 0; at++) {
        if (*at == '.' && !point) {
            point = true;
            continue;
        }
        if (!is_digit(*at))
            return false;
        digits = true;
        if (take-- == 0)
            sum += *at >= '5';
        else if (sum > (LIMIT - 9) / 10)
            return false;
        else
            sum = sum * 10 + (*at - '0');
    }
    for (; take > 0 && sum != 0; take--) {
        if (sum > LIMIT / 10)
            return false;
        sum *= 10;
    }
    *value = negative ? -sum : sum;
    return digits || at < end;
}

int64_t kineto_number_of_text(const char *text, size_t length)
{
    size_t at = length;
    uint64_t hash = UINT64_C(14695981039346656037); /* FNV-1a */
    int64_t value;

    while (at > 0 && is_digit(text[at - 1]))
        at--;
    if (at == 1 && text[0] == '-')
        at = 0;
    if (at < length && kineto_number(text + at, length - at, 0, &value))
        return value;
    for (at = 0; at < length; at++)
        hash = (hash ^ (unsigned char)text[at]) * UINT64_C(1099511628211);
    return (int64_t)(hash >> 2);
}
