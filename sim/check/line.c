#include "sim/check/line.h"

#include <stdlib.h>
#include <string.h>

#include "sim/base/error.h"

struct gt_known {
    uint32_t users, count;
    uint32_t number[]; /* by line; those behind `count` are 0 */
};

struct gt_line gt_line_new(uint32_t index)
{
    return (struct gt_line){ .index = index };
}

struct gt_line gt_line_copy(const struct gt_line *line)
{
    if (line->known != NULL)
        line->known->users++;
    return *line;
}

void gt_line_free(struct gt_line *line)
{
    if (line->known != NULL && --line->known->users == 0)
        free(line->known);
    *line = (struct gt_line){ .known = NULL };
}

uint32_t gt_line_reached(const struct gt_line *line, uint32_t index)
{
    if (index == line->index)
        return line->number;
    return line->known != NULL && index < line->known->count ? line->known->number[index] : 0;
}

bool gt_line_knows(const struct gt_line *line, struct gt_stamp stamp)
{
    return stamp.number <= gt_line_reached(line, stamp.index);
}

/* Of this line alone, and with room for lines below `count`. */
static void own(struct gt_line *line, uint32_t count)
{
    struct gt_known *old = line->known, *known = old;
    uint32_t had = old != NULL ? old->count : 0;

    if (old != NULL && old->users == 1 && had >= count)
        return;
    count = count > had ? count : had;
    if (old != NULL && old->users > 1) {
        old->users--;
        known = gt_realloc(NULL, 1, sizeof *known + count * sizeof known->number[0]);
        memcpy(known->number, old->number, had * sizeof known->number[0]);
    } else {
        known = gt_realloc(known, 1, sizeof *known + count * sizeof known->number[0]);
    }
    memset(known->number + had, 0, (count - had) * sizeof known->number[0]);
    known->users = 1;
    known->count = count;
    line->known = known;
}

static void reach(struct gt_line *line, struct gt_stamp stamp)
{
    if (gt_line_knows(line, stamp))
        return;
    if (stamp.index == line->index) { /* a chain of a graph goes on in its stream's line */
        line->number = stamp.number;
        return;
    }
    own(line, stamp.index + 1);
    line->known->number[stamp.index] = stamp.number;
}

/* Is nothing in `other` news for `known`? */
static bool covers(const struct gt_known *known, const struct gt_known *other)
{
    if (known == NULL || known->count < other->count)
        return false;
    for (uint32_t i = 0; i < other->count; i++)
        if (other->number[i] > known->number[i])
            return false;
    return true;
}

bool gt_line_join(struct gt_line *line, const struct gt_line *other)
{
    const struct gt_known *news = other->known;
    struct gt_stamp stamp = { other->index, other->number };

    /* Who knows a thing knows all that was known when it happened; a line at its start stands for none. */
    if (stamp.number > 0 && gt_line_knows(line, stamp))
        return false;
    if (news != NULL && line->known != news && !covers(line->known, news)) {
        own(line, news->count);
        for (uint32_t i = 0; i < news->count; i++)
            line->known->number[i] =
                news->number[i] > line->known->number[i] ? news->number[i] : line->known->number[i];
        if (line->index < news->count && news->number[line->index] > line->number)
            line->number = news->number[line->index];
    }
    reach(line, stamp);
    return true;
}

struct gt_stamp gt_line_next(struct gt_line *line)
{
    if (line->number == UINT32_MAX)
        gt_bug("a line of 2^32 things");
    line->number++;
    return (struct gt_stamp){ line->index, line->number };
}
