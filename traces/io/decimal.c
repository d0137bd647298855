#include "traces/io/decimal.h"

#include <stdbool.h>
#include <stdio.h>

/* A decimal number as mantissa x 10^exponent, the mantissa without zeros at its end. */
struct scientific {
    uint64_t mantissa;
    int64_t exponent;
    int64_t zeros;          /* read, but not in the mantissa: no other digit came behind them yet */
    bool too_long;          /* more digits than the mantissa holds */
};

static void add_digit(struct scientific *number, int digit)
{
    if (digit == 0) {
        number->zeros++;
        return;
    }
    for (; number->mantissa != 0 && number->zeros >= 0; number->zeros--) {
        if (__builtin_mul_overflow(number->mantissa, 10, &number->mantissa)) {
            number->too_long = true;
            return;
        }
    }
    number->zeros = 0;
    if (__builtin_add_overflow(number->mantissa, (uint64_t)digit, &number->mantissa))
        number->too_long = true;
}

/* JSON has checked the form: digits [. digits] [e [sign] digits]. */
static void split(const char *text, const char *end, struct scientific *number)
{
    int64_t decimals = 0, power = 0;
    bool in_fraction = false, negative = false;

    for (; text < end && *text != 'e' && *text != 'E' && !number->too_long; text++) {
        if (*text == '.') {
            in_fraction = true;
            continue;
        }
        decimals += in_fraction;
        add_digit(number, *text - '0');
    }
    if (text < end && !number->too_long) {
        text++;
        negative = *text == '-';
        for (text += *text == '-' || *text == '+'; text < end && power < 100000; text++)
            power = power * 10 + (*text - '0');
    }
    number->exponent = (negative ? -power : power) - decimals + number->zeros;
}

int gt_decimal_parse(const char *text, size_t length, int exponent, uint64_t limit, uint64_t *value,
                     const char *finer, struct gt_error *error)
{
    struct scientific number = { 0 };

    if (length > 0 && text[0] == '-')
        return gt_error_set(error, "is negative");
    split(text, text + length, &number);
    if (number.too_long)
        return gt_error_set(error, "has too many digits");
    number.exponent += exponent;
    if (number.exponent < 0 && number.mantissa != 0)
        return gt_error_set(error, "%s", finer);
    *value = number.mantissa;
    for (; number.mantissa != 0 && number.exponent > 0; number.exponent--)
        if (__builtin_mul_overflow(*value, 10, value) || *value > limit)
            return gt_error_set(error, "is too large");
    return *value > limit ? gt_error_set(error, "is too large") : 0;
}

size_t gt_time_text_ns(gt_time_ps time, char text[GT_TIME_TEXT_BYTES])
{
    int length = snprintf(text, GT_TIME_TEXT_BYTES, "%llu.%03u", (unsigned long long)(time / 1000),
                          (unsigned)(time % 1000));

    while (text[length - 1] == '0')
        length--;
    if (text[length - 1] == '.')
        length--;
    text[length] = '\0';
    return (size_t)length;
}
