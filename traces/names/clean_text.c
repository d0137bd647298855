/* clean_text.c - what no terminal, page or plot should be given as it is. */
#include "traces/names/clean_text.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/error.h"
#include "sim/base/text.h"

/* Control characters (C0, DEL, C1), and what shows nothing, breaks lines or turns the direction of what
 * follows (U+061C, U+200E, U+200F, U+202A to U+202E, U+2066 to U+2069). */
static bool is_unseen(uint32_t code)
{
    return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0xad || code == 0x61c ||
           (code >= 0x200b && code <= 0x200f) || (code >= 0x2028 && code <= 0x202e) ||
           (code >= 0x2060 && code <= 0x206f) || code == 0xfeff || code >= 0xe0000 || (code & 0xfffe) == 0xfffe;
}

char *gt_clean_name(const char *text)
{
    enum { LONGEST = 6 }; /* letters for a byte: "\u0001" */
    char *clean = gt_calloc(LONGEST * strlen(text) + 1ull, 1), *out = clean;

    while (*text != '\0') {
        uint32_t code;
        size_t length = gt_utf8_decode(text, &code);

        if (length == 0)
            out = stpcpy(out, GT_UTF8_REPLACEMENT);
        else if (is_unseen(code))
            out += sprintf(out, code > 0xffff ? "\\U%08" PRIx32 : "\\u%04" PRIx32, code);
        else
            out = mempcpy(out, text, length);
        text += length > 0 ? length : 1;
    }
    *out = '\0';
    return clean;
}

/* JSON counts in UTF-16: beyond U+FFFF a character is two escapes. */
static void escape(FILE *out, uint32_t code)
{
    if (code <= 0xffff) {
        fprintf(out, "\\u%04" PRIx32, code);
        return;
    }
    code -= 0x10000;
    fprintf(out, "\\u%04" PRIx32 "\\u%04" PRIx32, 0xd800 + (code >> 10), 0xdc00 + (code & 0x3ff));
}

void gt_clean_json(FILE *out, const char *json, size_t length)
{
    const char *end = json + length, *written = json;

    while (json < end) {
        uint32_t code;
        size_t bytes = gt_utf8_decode(json, &code);

        /* Line breaks and the like stand between values; within texts they are escapes already. */
        if (bytes > 0 && code >= 0x7f && is_unseen(code)) {
            fwrite(written, 1, (size_t)(json - written), out);
            escape(out, code);
            written = json + bytes;
        }
        json += bytes > 0 ? bytes : 1;
    }
    fwrite(written, 1, (size_t)(end - written), out);
}

void gt_html(FILE *out, const char *text)
{
    char *clean = gt_clean_name(text);

    for (const char *s = clean; *s != '\0'; s++) {
        switch (*s) {
        case '<': fputs("&lt;", out); break;
        case '>': fputs("&gt;", out); break;
        case '&': fputs("&amp;", out); break;
        case '"': fputs("&quot;", out); break;
        case '\'': fputs("&#39;", out); break;
        default: putc(*s, out);
        }
    }
    free(clean);
}

/* gnuplot takes backslash sequences in data, and a quote where a field begins; the rest of a
 * field is text to it ("set datafile separator" is the tab, enhanced text is off). */
void gt_plot_field(FILE *out, const char *text)
{
    char *clean = gt_clean_name(text);

    for (const char *s = clean; *s != '\0'; s++) {
        if (*s == '\\')
            fputs("\\\\", out);
        else if (*s == '"')
            fputs("''", out);
        else
            putc(*s, out);
    }
    free(clean);
}

char *gt_shell_word(const char *name)
{
    char *text;
    size_t bytes;
    FILE *out;

    if (name[0] != '\0' &&
        strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._/+-") == strlen(name))
        return gt_strdup(name);
    out = open_memstream(&text, &bytes);
    if (out == NULL)
        gt_no_memory("a text");
    fputc('\'', out);
    for (; *name != '\0'; name++)
        fputs(*name == '\'' ? "'\\''" : (char[]){ *name, '\0' }, out);
    fputc('\'', out);
    fclose(out);
    return text;
}

struct gt_time_text gt_time_said(double ps)
{
    static const struct {
        const char *name;
        double ps;
    } units[] = { { "ns", 1e3 }, { "us", 1e6 }, { "ms", 1e9 }, { "s", 1e12 } };
    const int largest = sizeof units / sizeof units[0] - 1;
    struct gt_time_text text;
    double size = fabs(ps), number;
    int unit = 0;

    if (!isfinite(ps))
        return (struct gt_time_text){ "-" };
    if (size == 0)
        return (struct gt_time_text){ "0" };
    while (unit < largest && size / units[unit].ps >= 999.5)
        unit++;
    number = size / units[unit].ps;
    snprintf(text.s, sizeof text.s, "%s%.*f %s", ps < 0 ? "-" : "",
             number >= 99.95   ? 0
             : number >= 9.995 ? 1
                               : 2,
             number, units[unit].name);
    return text;
}
