#include "traces/names/demangle.h"

#include <ctype.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <libiberty/demangle.h>

#include "sim/base/error.h"

/* libiberty works on the stack, by the length of the name; and a short name may stand for one of gigabytes,
 * as each part can repeat those before it. */
enum { MANGLED_MAX = 4096, DEMANGLED_MAX = 64 << 10 };

struct demangled {
    char *text;
    size_t length;
    jmp_buf too_long;
};

/* libiberty has no other way to be stopped.  Nothing is lost by it: what it works on is on the stack. */
static void append(const char *piece, size_t length, void *user)
{
    struct demangled *demangled = user;

    if (length > DEMANGLED_MAX - demangled->length)
        longjmp(demangled->too_long, 1);
    memcpy(demangled->text + demangled->length, piece, length);
    demangled->length += length;
}

char *gt_demangle(const char *name)
{
    struct demangled demangled = { .length = 0 };
    const int options = DMGL_PARAMS | DMGL_ANSI | DMGL_NO_RECURSE_LIMIT;

    if (strncmp(name, "_Z", 2) != 0 || strlen(name) > MANGLED_MAX)
        return strdup(name);
    demangled.text = gt_realloc(NULL, DEMANGLED_MAX + 1, 1);
    if (setjmp(demangled.too_long) == 0 && cplus_demangle_v3_callback(name, options, append, &demangled) != 0) {
        demangled.text[demangled.length] = '\0';
        return gt_realloc(demangled.text, demangled.length + 1, 1);
    }
    free(demangled.text);
    return strdup(name);
}

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$';
}

/* Bytes of what begins at `at` and holds brackets that enclose nothing: an operator's name, a namespace
 * without one.  0: no such thing. */
static size_t opaque_bytes(const char *text, const char *at)
{
    static const char *const nameless[] = { "(anonymous namespace)", "<unnamed>", "->" };
    size_t word = strlen("operator");

    for (size_t i = 0; i < sizeof nameless / sizeof nameless[0]; i++)
        if (strncmp(at, nameless[i], strlen(nameless[i])) == 0)
            return strlen(nameless[i]);
    if (strncmp(at, "operator", word) != 0 || is_word(at[word]) || (at > text && is_word(at[-1])))
        return 0;
    return word + (strncmp(at + word, "()", 2) == 0 ? 2 : strspn(at + word, "<>=!+-*/%&|^~[],"));
}

/* A function's own name in a text: [start, end) with its template arguments, which begin at `arguments`
 * (or at `end`). */
struct function {
    const char *start, *arguments, *end;
};

/* The walk so far; `spaced`: words stood before the name. */
struct walk {
    struct function function;
    unsigned depth;
    bool spaced;
};

/* A character at no depth: whether the name has ended, by the parameters that begin here. */
static bool outside(struct walk *walk, const char *at)
{
    if (*at == '(')
        return true;
    if (*at == '<')
        walk->function.arguments = at;
    if (*at != ' ' && (*at != ':' || at[1] != ':'))
        return false;
    walk->spaced |= *at == ' ';
    walk->function = (struct function){ at + (*at == ' ' ? 1 : 2), NULL, NULL };
    return false;
}

/* Whether `text` is a function's, and where its name is. */
static bool find_function(const char *text, struct function *function)
{
    struct walk walk = { .function = { .start = text } };
    bool parameters = false;
    const char *at = text;

    for (size_t skip; *at != '\0'; at += skip) {
        skip = opaque_bytes(text, at);
        if (skip > 0)
            continue;
        skip = 1;
        if (walk.depth == 0 && (parameters = outside(&walk, at)))
            break;
        if (walk.depth == 0 && *at == ':' && at[1] == ':')
            skip = 2;
        if (strchr("<([{", *at) != NULL)
            walk.depth++;
        else if (strchr(">)]}", *at) != NULL && walk.depth-- == 0)
            return false;
    }
    *function = walk.function;
    function->end = at;
    if (function->arguments == NULL)
        function->arguments = at;
    if (walk.depth > 0 || function->start >= function->arguments)
        return false;
    return parameters ? strchr(at, ')') != NULL
                      : !walk.spaced || (strncmp(text, "void ", 5) == 0 && strchr(text + 5, ' ') == NULL);
}

/* "_ZN1a1b1fIiEEvT_" to "f", where it cannot be had better: the last of the names that a mangled name begins
 * with.  NULL: it begins with none. */
static char *last_mangled(const char *name)
{
    const char *at = name + 2, *last = NULL;
    size_t last_bytes = 0;
    bool nested;

    if (strncmp(name, "_Z", 2) != 0)
        return NULL;
    nested = *at == 'N';
    at += nested;
    while (*at >= '1' && *at <= '9' && (nested || last == NULL)) {
        char *text;
        size_t bytes = strtoul(at, &text, 10);

        if (strnlen(text, bytes) < bytes)
            return NULL;
        last = text;
        last_bytes = bytes;
        at = text + bytes;
    }
    return last != NULL ? strndup(last, last_bytes) : NULL;
}

static char *own_name(const char *name, bool with_arguments)
{
    char *text = gt_demangle(name), *own;
    struct function function;

    if (strcmp(text, name) == 0 && (own = last_mangled(name)) != NULL) {
        free(text);
        return own;
    }
    if (!find_function(text, &function))
        return text;
    own = strndup(function.start, (size_t)((with_arguments ? function.end : function.arguments) - function.start));
    free(text);
    return own;
}

char *gt_function_name(const char *name)
{
    return own_name(name, true);
}

char *gt_base_name(const char *name)
{
    return own_name(name, false);
}

int gt_name_fit(const char *name, const char *asked)
{
    char *base = gt_base_name(name), *text = gt_demangle(name);
    int how = strcmp(name, asked) == 0   ? 3
              : strcmp(base, asked) == 0 ? 2
                                         : strstr(name, asked) != NULL || strstr(text, asked) != NULL;

    free(base);
    free(text);
    return how;
}
