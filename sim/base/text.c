#include "sim/base/text.h"

#include <string.h>

#include "sim/base/error.h"

bool gt_begins(const char *text, size_t length, const char *with)
{
    size_t part = strlen(with);

    return length >= part && memcmp(text, with, part) == 0;
}

bool gt_ends(const char *text, size_t length, const char *with)
{
    size_t part = strlen(with);

    return length >= part && memcmp(text + length - part, with, part) == 0;
}

size_t gt_utf8_decode(const char *text, uint32_t *code)
{
    static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
    const unsigned char *s = (const unsigned char *)text;
    size_t length = s[0] < 0x80 ? 1 : s[0] >> 5 == 6 ? 2 : s[0] >> 4 == 14 ? 3 : s[0] >> 3 == 30 ? 4 : 0;

    if (length <= 1) {
        *code = s[0];
        return length;
    }
    *code = s[0] & (0x7fu >> length);
    for (size_t i = 1; i < length; i++) {
        if ((s[i] & 0xc0) != 0x80)
            return 0;
        *code = *code << 6 | (s[i] & 0x3fu);
    }
    return *code < least[length] || *code > 0x10ffff || (*code >= 0xd800 && *code < 0xe000) ? 0 : length;
}

char *gt_utf8_clean(const char *text)
{
    char *clean = gt_realloc(NULL, strlen(text) + 1, strlen(GT_UTF8_REPLACEMENT)), *end = clean;

    while (*text != '\0') {
        uint32_t code;
        size_t bytes = gt_utf8_decode(text, &code);

        end = bytes > 0 ? mempcpy(end, text, bytes) : stpcpy(end, GT_UTF8_REPLACEMENT);
        text += bytes > 0 ? bytes : 1;
    }
    *end = '\0';
    return clean;
}

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
