#include "tests/fuzz/mutation.h"

#include <string.h>

#include "sim/base/error.h"

/* What parsers trip over: numbers at the edges of types (the first, all valid), broken JSON, broken UTF-8. */
/* clang-format off */
static const char *const words[] = {
    "0", "1", "3", "17", "65535", "65536", "-1", "-0", "1e308", "-1e308", "1e-400", "1e999999999", "2147483647", "2147483648", "4294967295",
    "4294967296", "9223372036854775807", "9223372036854775808", "18446744073709551615",
    "18446744073709551616", "99999999999999999999999999", "0.0000000000000001", "4458676983543.183",
    "null", "true", "{}", "[]", "{", "}", "[", "]", "\"", "\\", "\\u0000", "\\ud800", ",", ":", "\n",
    "\xff\xfe", "\xc0\x80", "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[", "{\"a\":{\"a\":{\"a\":{\"a\":", "/*", "//",
    "0x10", "NaN", "Infinity", "+1", ".5", "1.", "00",
};
/* clang-format on */
enum { NUMBERS = 24, WORDS = sizeof words / sizeof words[0] };

/* splitmix64: the whole state is one number, so a seed names a mutation. */
static uint64_t random_next(uint64_t *state)
{
    uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static size_t below(uint64_t *state, size_t limit)
{
    return limit == 0 ? 0 : (size_t)(random_next(state) % limit);
}

static void need(struct bytes *bytes, size_t room)
{
    if (room > bytes->room) {
        bytes->room = room * 2;
        bytes->data = gt_realloc(bytes->data, bytes->room, 1);
    }
}

void bytes_append(struct bytes *out, const unsigned char *data, size_t length)
{
    need(out, out->length + length + 1);
    memcpy(out->data + out->length, data, length);
    out->length += length;
}

void bytes_copy(struct bytes *out, const unsigned char *data, size_t length)
{
    out->length = 0;
    bytes_append(out, data, length);
}

/* Put `length` bytes (which may lie inside `bytes` itself) in at `at`. */
static void insert(struct bytes *bytes, size_t at, const unsigned char *data, size_t length)
{
    unsigned char piece[256];

    length = length < sizeof piece ? length : sizeof piece;
    memcpy(piece, data, length);
    need(bytes, bytes->length + length);
    memmove(bytes->data + at + length, bytes->data + at, bytes->length - at);
    memcpy(bytes->data + at, piece, length);
    bytes->length += length;
}

static void flip_bit(struct bytes *bytes, uint64_t *random)
{
    if (bytes->length > 0)
        bytes->data[below(random, bytes->length)] ^= (unsigned char)(1u << below(random, 8));
}

static void set_byte(struct bytes *bytes, uint64_t *random)
{
    if (bytes->length > 0)
        bytes->data[below(random, bytes->length)] = (unsigned char)random_next(random);
}

static void cut_end(struct bytes *bytes, uint64_t *random)
{
    bytes->length = below(random, bytes->length + 1);
}

static void cut_middle(struct bytes *bytes, uint64_t *random)
{
    size_t at = below(random, bytes->length), length = below(random, bytes->length - at + 1);

    length = length < 64 ? length : length % 64;
    memmove(bytes->data + at, bytes->data + at + length, bytes->length - at - length);
    bytes->length -= length;
}

static void insert_random(struct bytes *bytes, uint64_t *random)
{
    unsigned char piece[8];
    size_t length = 1 + below(random, sizeof piece);

    for (size_t i = 0; i < length; i++)
        piece[i] = (unsigned char)random_next(random);
    insert(bytes, below(random, bytes->length + 1), piece, length);
}

static void repeat(struct bytes *bytes, uint64_t *random)
{
    size_t from = below(random, bytes->length), length = 1 + below(random, 255);

    if (bytes->length == 0)
        return;
    length = length < bytes->length - from ? length : bytes->length - from;
    insert(bytes, below(random, bytes->length + 1), bytes->data + from, length);
}

static void insert_word(struct bytes *bytes, uint64_t *random)
{
    const char *word = words[below(random, WORDS)];

    insert(bytes, below(random, bytes->length + 1), (const unsigned char *)word, strlen(word));
}

static int is_digit(unsigned char byte)
{
    return byte >= '0' && byte <= '9';
}

static void change_digit(struct bytes *bytes, uint64_t *random)
{
    size_t at = below(random, bytes->length);

    while (at < bytes->length && !is_digit(bytes->data[at]))
        at++;
    if (at < bytes->length)
        bytes->data[at] = (unsigned char)('0' + below(random, 10));
}

/* Numbers are where the meaning is: replace one as a whole. */
static void replace_number(struct bytes *bytes, uint64_t *random)
{
    const char *word = words[below(random, NUMBERS)];
    size_t at = below(random, bytes->length), end;

    while (at < bytes->length && !is_digit(bytes->data[at]))
        at++;
    for (end = at; end < bytes->length && is_digit(bytes->data[end]); end++)
        ;
    memmove(bytes->data + at, bytes->data + end, bytes->length - end);
    bytes->length -= end - at;
    insert(bytes, at, (const unsigned char *)word, strlen(word));
}

typedef void mutator(struct bytes *bytes, uint64_t *random);
static mutator *const mutators[] = {
    flip_bit,    set_byte,       cut_end,        cut_middle,   insert_random, repeat,
    insert_word, replace_number, replace_number, change_digit, change_digit,
};

void mutate(struct bytes *bytes, uint64_t seed)
{
    uint64_t random = seed * UINT64_C(0xd1342543de82ef95) + 1;
    size_t count = (size_t)1 << below(&random, 3);

    for (size_t i = 0; i < count; i++)
        mutators[below(&random, sizeof mutators / sizeof mutators[0])](bytes, &random);
}
