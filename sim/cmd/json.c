#include "sim/cmd/json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/error.h"

static const char replacement[] = "\xef\xbf\xbd"; /* U+FFFD */

yajl_gen gt_json_new(void)
{
    yajl_gen json = yajl_gen_alloc(NULL);

    if (json == NULL)
        gt_bug("yajl_gen_alloc failed");
    yajl_gen_config(json, yajl_gen_beautify, 1);
    yajl_gen_config(json, yajl_gen_indent_string, "  ");
    return json;
}

void gt_json_finish(yajl_gen json, FILE *out)
{
    const unsigned char *text;
    size_t bytes;

    yajl_gen_get_buf(json, &text, &bytes);
    fwrite(text, 1, bytes, out);
    yajl_gen_free(json);
}

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

void gt_json_text(yajl_gen json, const char *text)
{
    const unsigned char *at = (const unsigned char *)text;
    char *clean;
    size_t length = 0, bytes;

    if (text == NULL) {
        yajl_gen_null(json);
        return;
    }
    clean = gt_realloc(NULL, strlen(text) + 1, sizeof replacement);
    while (*at != '\0') {
        bytes = sequence_bytes(at);
        memcpy(clean + length, bytes > 0 ? (const char *)at : replacement, bytes > 0 ? bytes : 3);
        length += bytes > 0 ? bytes : 3;
        at += bytes > 0 ? bytes : 1;
    }
    yajl_gen_string(json, (const unsigned char *)clean, length);
    free(clean);
}

void gt_json_integer(yajl_gen json, int64_t value)
{
    yajl_gen_integer(json, value);
}

void gt_json_real(yajl_gen json, double value)
{
    char text[32];

    if (!isfinite(value)) {
        yajl_gen_null(json);
        return;
    }
    yajl_gen_number(json, text, (size_t)snprintf(text, sizeof text, "%.10g", value));
}
