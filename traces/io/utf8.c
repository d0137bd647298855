/* utf8.c - bytes that are not UTF-8 replaced. */
#include "traces/io/utf8.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "sim/base/error.h"

static const char replacement[] = "\xef\xbf\xbd"; /* U+FFFD */

/* Bytes of the well-formed UTF-8 sequence at `s`, 0 when there is none. */
static size_t sequence_bytes(const unsigned char *s)
{
    static const struct { unsigned char mask, lead; size_t bytes; uint32_t lowest; } forms[] = {
        { 0x80, 0x00, 1, 0 }, { 0xe0, 0xc0, 2, 0x80 }, { 0xf0, 0xe0, 3, 0x800 }, { 0xf8, 0xf0, 4, 0x10000 },
    };
    uint32_t code;

    for (size_t form = 0; form < sizeof forms / sizeof forms[0]; form++) {
        if ((s[0] & forms[form].mask) != forms[form].lead)
            continue;
        code = s[0] & (unsigned char)~forms[form].mask;
        for (size_t i = 1; i < forms[form].bytes; i++) {
            if ((s[i] & 0xc0) != 0x80)
                return 0;
            code = code << 6 | (s[i] & 0x3f);
        }
        if (code < forms[form].lowest || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
            return 0;
        return forms[form].bytes;
    }
    return 0;
}

char *gt_utf8_clean(const char *text)
{
    const unsigned char *at = (const unsigned char *)text;
    char *clean = gt_realloc(NULL, strlen(text) + 1, sizeof replacement);
    size_t length = 0;

    while (*at != '\0') {
        size_t bytes = sequence_bytes(at);
        memcpy(clean + length, bytes > 0 ? (const char *)at : replacement, bytes > 0 ? bytes : 3);
        length += bytes > 0 ? bytes : 3;
        at += bytes > 0 ? bytes : 1;
    }
    clean[length] = '\0';
    return clean;
}
