/* line.h - what is known to have happened before: vector clocks.
 *
 * A line is a sequence of things that happen one after the other: the commands of a stream, a chain of a graph's nodes,
 * what a thread sees end.  It counts them, and keeps of every other line how far that one is known to have come.  So of
 * two things the earlier one happened before the later one exactly if the later one's line knows its number (Mattern's
 * vector clocks; FastTrack's epochs, PLDI'09).
 *
 * What is known of others is shared by copies of a line and copied only before it changes, so that copies and joins that
 * add nothing are cheap.
 */
#ifndef GRIDTIDE_SIM_CHECK_LINE_H
#define GRIDTIDE_SIM_CHECK_LINE_H

#include <stdbool.h>
#include <stdint.h>

struct gt_known; /* how far other lines have come: shared */

struct gt_line {
    struct gt_known *known; /* NULL: nothing */
    uint32_t index;         /* which line: lines are numbered from 0 on */
    uint32_t number;        /* how far it has come; 0: at its start */
};

/* A thing of a line: `number` of line `index`. */
struct gt_stamp {
    uint32_t index, number;
};

struct gt_line gt_line_new(uint32_t index);
/* A copy of the line as it is now; both are ended by gt_line_free(), which leaves an empty one. */
struct gt_line gt_line_copy(const struct gt_line *line);
void gt_line_free(struct gt_line *line);

/* Has the stamped thing happened before whatever comes next in the line, or is it the line's last? */
bool gt_line_knows(const struct gt_line *line, struct gt_stamp stamp);
/* How far that line is known to have come. */
uint32_t gt_line_reached(const struct gt_line *line, uint32_t index);
/* Whatever comes next in the line happens after all that `other` has come to.  Says whether that is news. */
bool gt_line_join(struct gt_line *line, const struct gt_line *other);
/* The line's next thing. */
struct gt_stamp gt_line_next(struct gt_line *line);

#endif
