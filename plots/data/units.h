/* units.h - numbers as people read them: "1.58 ms", "−1.9%", "12.5 MB".
 *
 * Texts are returned by value; `.s` is good until the end of the expression
 * that called, so they fit straight into a printf.
 */
#ifndef GRIDTIDE_PLOTS_DATA_UNITS_H
#define GRIDTIDE_PLOTS_DATA_UNITS_H

#include <stdint.h>

struct gt_text {
    char s[48];
};

/* A unit of time that keeps numbers up to `largest_ps` short: ns, µs, ms or s. */
struct gt_time_unit {
    const char *name;
    double ps;
};
const struct gt_time_unit *gt_time_unit(double largest_ps);

struct gt_text gt_time_text(double ps);       /* see traces/names/clean_text.h; "–" for NAN */
struct gt_text gt_count_text(uint64_t count); /* thousands grouped */
struct gt_text gt_bytes_text(double bytes);   /* kB, MB, GB: powers of 1000 */
struct gt_text gt_rate_text(double gbps);
struct gt_text gt_share_text(double fraction); /* 0.714: "71%"; small ones with a decimal */
struct gt_text gt_signed_pct_text(double pct); /* -1.9: "−1.9%" */
/* Three digits that count, thousands grouped. */
struct gt_text gt_number_text(double number);

#endif
