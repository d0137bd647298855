/* line.c - a line of an instruction:
 *
 *     [line] PC mask results [R...] OPCODE sources [R...] width [mode addresses] immediate [second immediate]
 *
 * PC and mask are hexadecimal.  Tracers before version 3 have the block and the warp in front.  `mode` is 0: an address a
 * thread; 1: a base and a stride; 2: a base and the distance of each further thread from the one before.  Version 6 has
 * the flag of a group before the width of a matrix product, more about bulk copies, and a second immediate (BAR).  (Accel-Sim's
 * tracer and parser, versions 1.3 and 2.0.)
 */
#include <string.h>

#include "traces/accelsim/internal.h"

enum { MODE_LIST, MODE_STRIDE, MODE_DELTA, MODE_BULK_LIST, MODE_BULK_DELTA };

/* Where in the line reading is. */
struct cursor {
    const char *at;
};

static void skip_blanks(struct cursor *cursor)
{
    while (*cursor->at == ' ' || *cursor->at == '\t')
        cursor->at++;
}

static bool is_end(char c)
{
    return c == '\0' || c == '\n' || c == '\r';
}

static bool next_word(struct cursor *cursor, struct gt_accelsim_word *word)
{
    skip_blanks(cursor);
    word->text = cursor->at;
    while (*cursor->at != ' ' && *cursor->at != '\t' && !is_end(*cursor->at))
        cursor->at++;
    word->length = (uint32_t)(cursor->at - word->text);
    return word->length > 0;
}

static int digit_of(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : 99;
}

/* A number of 64 bits, "0x" before it or not. */
static bool next_number(struct cursor *cursor, unsigned base, uint64_t *value)
{
    const char *begin;
    uint64_t sum = 0;

    skip_blanks(cursor);
    if (base == 16 && cursor->at[0] == '0' && (cursor->at[1] == 'x' || cursor->at[1] == 'X'))
        cursor->at += 2;
    begin = cursor->at;
    for (int digit; (digit = digit_of(*cursor->at)) < (int)base; cursor->at++) {
        if (sum > (UINT64_MAX - (unsigned)digit) / base)
            return false;
        sum = sum * base + (unsigned)digit;
    }
    *value = sum;
    return cursor->at > begin && (*cursor->at == ' ' || *cursor->at == '\t' || is_end(*cursor->at));
}

/* With a sign; two's complement. */
static bool next_signed(struct cursor *cursor, uint64_t *value)
{
    bool negative;

    skip_blanks(cursor);
    negative = *cursor->at == '-';
    cursor->at += negative;
    if (!next_number(cursor, 10, value))
        return false;
    *value = negative ? 0 - *value : *value;
    return true;
}

/* A count and as many registers. */
static int skip_registers(struct cursor *cursor, struct gt_error *error)
{
    struct gt_accelsim_word word;
    uint64_t count;

    if (!next_number(cursor, 10, &count) || count > GT_ACCELSIM_MOST_REGISTERS)
        return gt_error_set(error, "no number of registers from 0 to %d", GT_ACCELSIM_MOST_REGISTERS);
    for (uint64_t i = 0; i < count; i++)
        if (!next_word(cursor, &word))
            return gt_error_set(error, "the line ends before its registers do");
    return 0;
}

static bool contains(const struct gt_accelsim_word *word, const char *text)
{
    return memmem(word->text, word->length, text, strlen(text)) != NULL;
}

bool gt_accelsim_is_bulk(const struct gt_accelsim_word *opcode)
{
    static const char *const names[] = { "UTMALDG", "UTMASTG", "UTMAPF", "UTMAREDG", "UBLKCP", "UBLKPF", "UBLKRED" };

    for (size_t i = 0; i < sizeof names / sizeof names[0] && opcode->text[0] == 'U'; i++)
        if (contains(opcode, names[i]))
            return true;
    return false;
}

static int bad_addresses(struct gt_error *error)
{
    return gt_error_set(error, "fewer addresses than threads, or no numbers");
}

static int read_addresses(struct cursor *cursor, uint64_t mode, struct gt_accelsim_line *line, struct gt_error *error)
{
    uint64_t address = 0, stride = 0;
    bool first = true;

    if (mode > MODE_DELTA)
        return gt_error_set(error, "addresses in mode %llu, which is none of 0, 1 and 2", (unsigned long long)mode);
    if (mode != MODE_LIST && !next_number(cursor, 16, &address))
        return bad_addresses(error);
    if (mode == MODE_STRIDE && !next_signed(cursor, &stride))
        return bad_addresses(error);
    for (int lane = 0; lane < GT_ACCELSIM_LANES; lane++) {
        if ((line->mask >> lane & 1) == 0)
            continue;
        if (mode == MODE_LIST ? !next_number(cursor, 16, &address)
                              : mode == MODE_DELTA && !first && !next_signed(cursor, &stride))
            return bad_addresses(error);
        address += mode != MODE_LIST && !first ? stride : 0;
        line->address[lane] = address;
        first = false;
    }
    return 0;
}

/* Version 6: barrier, multicast, its blocks, bytes and those out of bounds; before, the mode alone. */
static bool read_bulk_head(struct cursor *cursor, uint32_t version, struct gt_accelsim_line *line)
{
    uint64_t barrier, multicast, blocks, outside;

    if (version < 6)
        return true;
    return next_number(cursor, 16, &barrier) && next_number(cursor, 10, &multicast) &&
           (multicast == 0 || next_number(cursor, 16, &blocks)) && next_number(cursor, 10, &line->bulk_bytes) &&
           next_number(cursor, 10, &outside);
}

static int read_bulk(struct cursor *cursor, uint32_t version, struct gt_accelsim_line *line, struct gt_error *error)
{
    uint64_t mode, count, address = 0, delta;

    line->bulk = true;
    if (!read_bulk_head(cursor, version, line) || !next_number(cursor, 10, &mode))
        return gt_error_set(error, "a bulk copy whose fields are no numbers");
    if (mode != MODE_BULK_LIST && mode != MODE_BULK_DELTA)
        return gt_error_set(error, "a bulk copy in mode %llu, which is none of 3 and 4", (unsigned long long)mode);
    if ((mode == MODE_BULK_DELTA && !next_number(cursor, 16, &address)) || !next_number(cursor, 10, &count))
        return bad_addresses(error);
    for (uint64_t i = 0; i < count; i++) {
        if (mode == MODE_BULK_LIST) {
            if (!next_number(cursor, 16, &address))
                return bad_addresses(error);
        } else if (i > 0) {
            if (!next_signed(cursor, &delta))
                return bad_addresses(error);
            address += delta;
        }
        if (line->bulk_count < GT_ACCELSIM_MOST_BULK)
            line->bulk_address[line->bulk_count++] = address;
    }
    if (version < 6)
        line->bulk_bytes = count <= UINT32_MAX ? count * line->width_bytes : 0;
    if (line->bulk_bytes > GT_ACCELSIM_MOST_SHARED_BYTES)
        return gt_error_set(error,
                            "a bulk copy of %llu bytes; the most is %d, as shared memory is its source or target",
                            (unsigned long long)line->bulk_bytes, GT_ACCELSIM_MOST_SHARED_BYTES);
    return 0;
}

static int read_head(struct cursor *cursor, const struct gt_accelsim_header *header, struct gt_accelsim_line *line,
                     struct gt_error *error)
{
    uint64_t number;

    for (int i = (header->version < 3 ? 4 : 0) + header->line_info; i > 0; i--)
        if (!next_number(cursor, 10, &number))
            return gt_error_set(error, "no instruction, nor anything else that is known here");
    if (!next_number(cursor, 16, &line->pc) || !next_number(cursor, 16, &number) || number > UINT32_MAX)
        return gt_error_set(error, "no instruction, nor anything else that is known here");
    line->mask = (uint32_t)number;
    return 0;
}

int gt_accelsim_line_parse(const char *text, const struct gt_accelsim_header *header, struct gt_accelsim_line *line,
                           struct gt_error *error)
{
    struct cursor cursor = { text };
    struct gt_accelsim_word opcode;
    uint64_t number;

    line->bulk = false;
    line->bulk_count = 0;
    line->bulk_bytes = line->immediate = line->immediate2 = 0;
    if (read_head(&cursor, header, line, error) != 0)
        return -1;
    skip_blanks(&cursor);
    line->fields = cursor.at;
    if (skip_registers(&cursor, error) != 0)
        return -1;
    if (!next_word(&cursor, &opcode) || digit_of(opcode.text[0]) < 10)
        return gt_error_set(error, "no opcode behind the results");
    if (skip_registers(&cursor, error) != 0)
        return -1;
    line->fields_length = (uint32_t)(cursor.at - line->fields);
    if (cursor.at - line->fields > GT_ACCELSIM_MOST_FIELDS_BYTES)
        return gt_error_set(error, "opcode and registers of more than %d bytes", GT_ACCELSIM_MOST_FIELDS_BYTES);
    if (header->version >= 6 && contains(&opcode, "GMMA") && !next_number(&cursor, 10, &number))
        return gt_error_set(error, "a matrix product without the flag of its group");
    if (!next_number(&cursor, 10, &number) || number > UINT16_MAX)
        return gt_error_set(error, "no width of memory from 0 to %d", UINT16_MAX);
    line->width_bytes = (uint32_t)number;
    if (gt_accelsim_is_bulk(&opcode)) {
        if (read_bulk(&cursor, header->version, line, error) != 0)
            return -1;
    } else if (line->width_bytes > 0) {
        if (!next_number(&cursor, 10, &number))
            return gt_error_set(error, "no mode of addresses behind the width");
        if (read_addresses(&cursor, number, line, error) != 0)
            return -1;
    }
    if (!next_number(&cursor, 10, &line->immediate))
        line->immediate = 0;
    if (header->version < 6 || !next_number(&cursor, 10, &line->immediate2))
        line->immediate2 = 0;
    return 0;
}

static uint32_t split_registers(struct cursor *cursor, struct gt_accelsim_word *words)
{
    uint64_t count = 0;

    next_number(cursor, 10, &count);
    for (uint64_t i = 0; i < count; i++)
        next_word(cursor, &words[i]);
    return (uint32_t)count;
}

void gt_accelsim_fields_split(const char *fields, struct gt_accelsim_fields *split)
{
    struct cursor cursor = { fields };

    split->results = split_registers(&cursor, split->result);
    next_word(&cursor, &split->opcode);
    split->sources = split_registers(&cursor, split->source);
}
