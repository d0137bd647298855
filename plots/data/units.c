#include "plots/data/units.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "traces/names/clean_text.h"

/* clang-format off */
static const struct gt_time_unit time_units[] = {
    { "s", 1e12 }, { "ms", 1e9 }, { "µs", 1e6 }, { "ns", 1e3 },
};
/* clang-format on */
enum { TIME_UNITS = sizeof time_units / sizeof time_units[0] };

/* Milliseconds and seconds only from 10 on: "1,583 µs" compares better than "1.58 ms". */
const struct gt_time_unit *gt_time_unit(double largest_ps)
{
    static const double from[TIME_UNITS] = { 10e12, 10e9, 1e6, 0 };

    for (int i = 0; i < TIME_UNITS - 1; i++)
        if (largest_ps >= from[i])
            return &time_units[i];
    return &time_units[TIME_UNITS - 1];
}

/* Put commas between the thousands of the digits in `text`, before any point. */
static struct gt_text grouped(const char *digits)
{
    struct gt_text text;
    size_t whole = strcspn(digits, "."), out = 0;

    for (size_t i = 0; digits[i] != '\0' && out < sizeof text.s - 2; i++) {
        text.s[out++] = digits[i];
        if (i + 1 < whole && (whole - i - 1) % 3 == 0)
            text.s[out++] = ',';
    }
    text.s[out] = '\0';
    return text;
}

struct gt_text gt_count_text(uint64_t count)
{
    char digits[24];

    snprintf(digits, sizeof digits, "%llu", (unsigned long long)count);
    return grouped(digits);
}

struct gt_text gt_number_text(double number)
{
    char digits[40];
    int decimals = number >= 99.95 ? 0 : number >= 9.995 ? 1 : 2;

    if (!isfinite(number) || number >= 1e30)
        return (struct gt_text){ "–" };
    if (number > 0 && number < 0.005)
        return (struct gt_text){ "<0.01" };
    if (number == floor(number))
        decimals = 0;
    snprintf(digits, sizeof digits, "%.*f", decimals, number);
    return grouped(digits);
}

static struct gt_text with_unit(double number, const char *unit)
{
    struct gt_text digits = gt_number_text(number), text;

    snprintf(text.s, sizeof text.s, "%.36s %s", digits.s, unit);
    return text;
}

/* As on a terminal, but for the letter that pages can show. */
struct gt_text gt_time_text(double ps)
{
    struct gt_time_text said = gt_time_said(ps);
    struct gt_text text;
    size_t length = strlen(said.s);

    if (!isfinite(ps))
        return (struct gt_text){ "–" };
    if (length > 3 && strcmp(said.s + length - 3, " us") == 0)
        snprintf(text.s, sizeof text.s, "%.*s µs", (int)(length - 3), said.s);
    else
        snprintf(text.s, sizeof text.s, "%s", said.s);
    return text;
}

struct gt_text gt_bytes_text(double bytes)
{
    static const char *const units[] = { "B", "kB", "MB", "GB", "TB", "PB", "EB" };
    size_t unit = 0;

    for (; bytes >= 1000 && unit + 1 < sizeof units / sizeof units[0]; unit++)
        bytes /= 1000;
    return with_unit(bytes, units[unit]);
}

struct gt_text gt_rate_text(double gbps)
{
    return isfinite(gbps) ? with_unit(gbps, "GB/s") : (struct gt_text){ "–" };
}

struct gt_text gt_share_text(double fraction)
{
    struct gt_text text;
    double pct = 100 * fraction;

    if (!isfinite(pct))
        return (struct gt_text){ "–" };
    if (pct > 0 && pct < 0.1)
        return (struct gt_text){ "<0.1%" };
    snprintf(text.s, sizeof text.s, "%.*f%%", pct == 0 || pct >= 9.95 ? 0 : 1, pct);
    return text;
}

struct gt_text gt_signed_pct_text(double pct)
{
    struct gt_text text;
    int decimals = fabs(pct) >= 99.5 ? 0 : fabs(pct) >= 0.95 ? 1 : 2;

    if (!isfinite(pct))
        return (struct gt_text){ "–" };
    if (fabs(pct) < 0.005)
        return (struct gt_text){ "±0.00%" };
    snprintf(text.s, sizeof text.s, "%s%.*f%%", pct < 0 ? "−" : "+", decimals, fabs(pct));
    return text;
}
