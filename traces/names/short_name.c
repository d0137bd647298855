#include "traces/names/short_name.h"

#include <search.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/error.h"
#include "sim/base/text.h"
#include "traces/names/demangle.h"

/* Columns that the clean character at `text` takes (East Asian ones are wide), its bytes in *length. */
static size_t character_width(const char *text, size_t *length)
{
    uint32_t code;

    *length = gt_utf8_decode(text, &code);
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
    if (asprintf(&cut, "%.*s…%s", (int)(head_end(text, head) - text), text, tail_start(text, columns - head - 1)) < 0)
        gt_bug("asprintf failed");
    free(text);
    return cut;
}

/* A name among others: its place among them, its text, and how far that is the same as one beside it. */
struct name {
    size_t index;
    const char *name;
    char *text;
    size_t alike;
    char *shorter;
};

static int by_name(const void *left, const void *right)
{
    const struct name *a = left, *b = right;
    int order = strcmp(a->name, b->name);

    return order != 0 ? order : (a->index > b->index) - (a->index < b->index);
}

static int by_shorter(const void *left, const void *right)
{
    const struct name *a = left, *b = right;
    int order = strcmp(a->shorter, b->shorter);

    return order != 0 ? order : (a->index > b->index) - (a->index < b->index);
}

static int by_text(const void *left, const void *right)
{
    const struct name *a = left, *b = right;
    int order = strcmp(a->text, b->text);

    return order != 0 ? order : (a->index > b->index) - (a->index < b->index);
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

/* Where the columns before `from` begin, `columns` of them. */
static const char *before(const char *text, size_t from, size_t columns)
{
    return tail_start(text, columns + width_of(text + from, text + strlen(text)));
}

/* Where what says most about `from` begins: its word with what it is an argument of, or a few columns. */
static const char *word_start(const char *text, size_t from, size_t columns)
{
    enum { FEW = 4 };
    const char *least = before(text, from, columns);

    for (const char *at = text + from; at > least; at--)
        if (strchr(",(:* ", at[-1]) != NULL)
            return at;
    return before(text, from, FEW);
}

/* Head, ellipsis, what stands around `from`: where this text stops being like others. */
static char *short_around(const char *text, size_t from, size_t columns)
{
    size_t head = columns / 3, room = columns - head - 2;
    const char *rest = word_start(text, from, columns / 2), *end = head_end(rest, room);
    char *cut;

    if (width_of(text, text + strlen(text)) <= columns)
        return strdup(text);
    if (rest <= head_end(text, head + 1)) { /* `from` is no further than where the text is cut */
        if (asprintf(&cut, "%.*s…", (int)(head_end(text, columns - 1) - text), text) < 0)
            gt_bug("asprintf failed");
        return cut;
    }
    if (*end == '\0')
        head = columns - 1 - width_of(rest, end);
    else if (*head_end(rest, room + 1) == '\0')
        end += strlen(end);
    if (asprintf(&cut, "%.*s…%.*s%s", (int)(head_end(text, head) - text), text, (int)(end - rest), rest,
                 *end != '\0' ? "…" : "") < 0)
        gt_bug("asprintf failed");
    return cut;
}

/* Give [0, count) names, which all have the same short name, their texts: the functions alone where these
 * tell them apart, or else everything. */
static void fill_texts(struct name *names, size_t count)
{
    bool apart = true;

    for (size_t i = 0; i < count; i++)
        names[i].text = function_of(names[i].name);
    qsort(names, count, sizeof *names, by_text);
    for (size_t i = 1; i < count; i++)
        apart = apart && strcmp(names[i - 1].text, names[i].text) != 0;
    for (size_t i = 0; i < count && !apart; i++) {
        free(names[i].text);
        names[i].text = readable(names[i].name);
    }
    qsort(names, count, sizeof *names, by_text);
}

/* Names that have the same short name get ones that show where they differ.  In the order of their texts each
 * is most like the one before or after it. */
static void tell_apart(struct name *names, size_t count, size_t columns)
{
    fill_texts(names, count);
    for (size_t i = 1; i < count; i++) {
        size_t same = same_length(names[i - 1].text, names[i].text);

        names[i].alike = same;
        names[i - 1].alike = same > names[i - 1].alike ? same : names[i - 1].alike;
    }
    for (size_t i = 0; i < count; i++) {
        free(names[i].shorter);
        names[i].shorter = short_around(names[i].text, names[i].alike, columns);
        free(names[i].text);
        names[i].text = NULL;
    }
}

static int by_characters(const void *left, const void *right)
{
    return strcmp(left, right);
}

/* What is still taken by an earlier name is numbered: "name…#2".  Texts that differ in nothing one sees come
 * here, and lists of names that differ in many places. */
static void number(struct name *name, void **taken, size_t columns)
{
    for (unsigned count = 2; *(char **)tsearch(name->shorter, taken, by_characters) != name->shorter; count++) {
        char mark[16], *text = function_of(name->name), *numbered;
        size_t room = columns - (size_t)snprintf(mark, sizeof mark, "#%u", count), width;

        width = width_of(text, text + strlen(text));
        if (asprintf(&numbered, "%.*s%s%s", (int)(head_end(text, width > room ? room - 1 : room) - text), text,
                     width > room ? "…" : "", mark) < 0)
            gt_bug("asprintf failed");
        free(text);
        free(name->shorter);
        name->shorter = numbered;
    }
}

static void keep(void *text)
{
    (void)text;
}

/* `names` are in the order of their names, each one once. */
static void make_unique(struct name *names, size_t count, size_t columns)
{
    void *taken = NULL;

    qsort(names, count, sizeof *names, by_shorter);
    for (size_t first = 0, end; first < count; first = end) {
        for (end = first + 1; end < count && strcmp(names[first].shorter, names[end].shorter) == 0;)
            end++;
        if (end - first > 1)
            tell_apart(names + first, end - first, columns);
    }
    qsort(names, count, sizeof *names, by_name);
    for (size_t i = 0; i < count; i++)
        number(&names[i], &taken, columns);
    tdestroy(taken, keep);
}

void gt_short_names_unique(const char *const names[], char *shorts[], size_t count, size_t columns)
{
    struct name *all = gt_calloc(count + 1, sizeof *all), *single = gt_calloc(count + 1, sizeof *single);
    size_t present = 0, singles = 0;

    for (size_t i = 0; i < count; i++) {
        shorts[i] = NULL;
        if (names[i] != NULL)
            all[present++] = (struct name){ .index = i, .name = names[i] };
    }
    qsort(all, present, sizeof *all, by_name);
    for (size_t i = 0; i < present; i++) {
        if (i > 0 && strcmp(all[i - 1].name, all[i].name) == 0)
            continue;
        single[singles] = all[i];
        single[singles++].shorter = gt_short_name(all[i].name, columns);
    }
    make_unique(single, singles, columns);
    for (size_t i = 0, at = 0; i < present; i++) {
        at += strcmp(single[at].name, all[i].name) != 0;
        shorts[all[i].index] = strdup(single[at].shorter);
    }
    for (size_t i = 0; i < singles; i++)
        free(single[i].shorter);
    free(single);
    free(all);
}
