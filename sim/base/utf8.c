#include "sim/base/utf8.h"

#include <string.h>

#include "sim/base/error.h"

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
