/* time_text.h - times as people read them: "8.20 s", "1.32 ms", "12.4 us", "840 ns". */
#ifndef GRIDTIDE_TRACES_NAMES_TIME_TEXT_H
#define GRIDTIDE_TRACES_NAMES_TIME_TEXT_H

/* By value: `.s` is good until the end of the expression that called. */
struct gt_time_text {
    char s[32];
};

/* Three digits that count, in the unit that suits the size; "0" for no time, "-" for what is not finite. */
struct gt_time_text gt_time_said(double ps);

#endif
