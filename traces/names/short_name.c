#include "traces/names/short_name.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/error.h"
#include "traces/names/demangle.h"

static const char replacement[] = "\xEF\xBF\xBD"; /* U+FFFD */

/* Length of the valid UTF-8 character at `s`, its number in *code; 0 when it is none. */
static size_t decode(const unsigned char *s, uint32_t *code)
{
    static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
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

/* Characters that show nothing, break lines or turn the direction of what follows. */
static bool is_unseen(uint32_t code)
{
    return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0xad || code == 0x61c
        || (code >= 0x200b && code <= 0x200f) || (code >= 0x2028 && code <= 0x202e)
        || (code >= 0x2060 && code <= 0x206f) || code == 0xfeff || code >= 0xe0000
        || (code & 0xfffe) == 0xfffe;
}

char *gt_clean_name(const char *name)
{
    const unsigned char *s = (const unsigned char *)name;
    char *clean = gt_calloc(3 * strlen(name) + 1, 1), *out = clean;

    while (*s != '\0') {
        uint32_t code;
        size_t length = decode(s, &code);

        if (length == 0) {
            out = stpcpy(out, replacement);
            s++;
            continue;
        }
        if (is_unseen(code))
            *out++ = ' ';
        else
            out = mempcpy(out, s, length);
        s += length;
    }
    *out = '\0';
    return clean;
}

/* Columns that the clean character at `text` takes (East Asian ones are wide), its bytes in *length. */
static size_t character_width(const char *text, size_t *length)
{
    uint32_t code;

    *length = decode((const unsigned char *)text, &code);
    if (*length == 0)
        *length = 1;
    return code >= 0x1100 && code != 0xfffd ? 2 : 1;
}

/* Columns that a clean text takes. */
static size_t width_of(const char *text, const char *end)
{
    size_t width = 0, length;

    for (; text < end && *text != '\0'; text += length)
        width += character_width(text, &length);
    return width;
}

/* Where `columns` columns from the start end. */
static const char *head_end(const char *text, size_t columns)
{
    size_t width = 0, length;

    for (; *text != '\0'; text += length) {
        width += character_width(text, &length);
        if (width > columns)
            break;
    }
    return text;
}

/* Where the last `columns` columns start. */
static const char *tail_start(const char *text, size_t columns)
{
    size_t skip = width_of(text, text + strlen(text));

    return head_end(text, skip > columns ? skip - columns : 0);
}

/* As its source has it, clean. */
static char *readable(const char *name)
{
    char *text = gt_demangle(name), *clean = gt_clean_name(text);

    free(text);
    return clean;
}

/* The function alone, clean, without the namespaces that have no name. */
static char *function_of(const char *name)
{
    static const char nameless[] = "(anonymous namespace)::";
    char *function = gt_function_name(name), *clean = gt_clean_name(function), *out = clean;

    free(function);
    for (const char *at = clean; *at != '\0';) {
        if (strncmp(at, nameless, strlen(nameless)) == 0)
            at += strlen(nameless);
        else
            *out++ = *at++;
    }
    *out = '\0';
    return clean;
}

char *gt_short_name(const char *name, size_t columns)
{
    bool mangled = strncmp(name, "_Z", 2) == 0;
    char *text = mangled ? function_of(name) : gt_clean_name(name), *cut;
    size_t head;

    if (width_of(text, text + strlen(text)) <= columns)
        return text;
    if (!mangled) {
        free(text);
        text = function_of(name);
    }
    if (width_of(text, text + strlen(text)) <= columns)
        return text;
    head = width_of(text, text + strcspn(text, "<") + 1);
    head = head > columns * 3 / 4 ? columns * 3 / 5 : (head + columns) / 2;
    if (asprintf(&cut, "%.*s…%s", (int)(head_end(text, head) - text), text,
                 tail_start(text, columns - head - 1)) < 0)
        gt_bug("asprintf failed");
    free(text);
    return cut;
}

/* How far two texts are the same, to a whole character. */
static size_t same_length(const char *a, const char *b)
{
    size_t length = 0;

    while (a[length] != '\0' && a[length] == b[length])
        length++;
    while (length > 0 && ((unsigned char)a[length] & 0xc0) == 0x80)
        length--;
    return length;
}

/* Head, ellipsis, and what stands from a little before `from` on. */
static char *short_from(const char *name, size_t from, size_t columns)
{
    enum { BEFORE = 4 };
    char *text = readable(name), *cut;
    size_t head = columns / 3, width = width_of(text, text + from);
    const char *rest = head_end(text, width > BEFORE ? width - BEFORE : 0), *end;

    if (width < head + BEFORE)
        rest = head_end(text, head);
    end = head_end(rest, columns - head - 2);
    if (asprintf(&cut, "%.*s…%.*s%s", (int)(head_end(text, head) - text), text, (int)(end - rest), rest,
                 *end != '\0' ? "…" : "") < 0)
        gt_bug("asprintf failed");
    free(text);
    return cut;
}

void gt_short_names(const char *const names[], char *shorts[], size_t count, size_t columns)
{
    size_t *alike = gt_calloc(count + 1, sizeof *alike);

    for (size_t i = 0; i < count; i++)
        shorts[i] = gt_short_name(names[i], columns);
    for (size_t i = 0; i < count; i++) {
        char *first = readable(names[i]);

        for (size_t j = 0; j < count; j++) {
            char *second = readable(names[j]);
            size_t same = same_length(first, second);

            if (i != j && strcmp(shorts[i], shorts[j]) == 0 && same > alike[i])
                alike[i] = same;
            free(second);
        }
        free(first);
    }
    for (size_t i = 0; i < count; i++) {
        if (alike[i] == 0)
            continue;
        free(shorts[i]);
        shorts[i] = short_from(names[i], alike[i], columns);
    }
    free(alike);
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
