#include "sim/base/spelling.h"

#include <string.h>

enum { PREFIX_LEAST = 3 /* letters that a word must begin with to be meant by them */ };

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

size_t gt_spelling_distance(const char *one, const char *other)
{
    /* Rows of the table of distances between beginnings: two letters back, one back, this one. */
    size_t rows[3][GT_SPELLING_BYTES + 1], *before = rows[0], *above = rows[1], *row = rows[2];
    size_t height = strlen(one), width = strlen(other);

    if (height > GT_SPELLING_BYTES || width > GT_SPELLING_BYTES)
        return GT_SPELLING_BYTES;
    for (size_t j = 0; j <= width; j++)
        row[j] = j;
    for (size_t i = 1; i <= height; i++) {
        size_t *free_row = before;

        before = above;
        above = row;
        row = free_row;
        row[0] = i;
        for (size_t j = 1; j <= width; j++) {
            row[j] = least(above[j - 1] + (one[i - 1] != other[j - 1]), least(above[j], row[j - 1]) + 1);
            if (i > 1 && j > 1 && one[i - 1] == other[j - 2] && one[i - 2] == other[j - 1])
                row[j] = least(row[j], before[j - 2] + 1);
        }
    }
    return row[width];
}

size_t gt_spelling_slips(const char *typed, const char *word)
{
    size_t length = strlen(typed), slips = gt_spelling_distance(typed, word);

    if (length >= PREFIX_LEAST && strncmp(typed, word, length) == 0)
        return 0;
    return slips <= 1 + length / 3 && slips < length ? slips : GT_SPELLING_BYTES;
}
