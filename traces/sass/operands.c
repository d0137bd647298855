/* operands.c - the registers, constants and addresses that an instruction's text names. */
#include "traces/sass/parts.h"

#include <stdlib.h>
#include <string.h>

#include "sim/workload/workload.h"

enum {
    MOST_REGISTER = 255,
    WARP_THREADS = 32,
    REGISTER_BITS = 32,
    MOST_OFFSET_BYTES = 1 << 30 /* 24 bits in machine code */
};

bool gt_sass_is_word(char c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

/* Registers that one warp's (or warp group's) thread holds of a matrix operand: 0 result, 1 A, 2 B, 3 C. */
static uint32_t matrix_registers(const struct gt_sass_parts *parts, unsigned operand)
{
    uint32_t threads = parts->opcode->action == GT_ACTION_GMMA ? 4 * WARP_THREADS : WARP_THREADS;
    uint32_t in = 16, out = gt_sass_has(parts, ".F32") || gt_sass_has(parts, ".S32") ? 32 : 16, bits;

    if (strcmp(parts->opcode->name, "DMMA") == 0)
        in = out = 64;
    else if (strcmp(parts->opcode->name, "HMMA") != 0 && strcmp(parts->opcode->name, "HGMMA") != 0)
        in = gt_sass_has(parts, ".S4") || gt_sass_has(parts, ".U4") ? 4
             : parts->opcode->name[0] == 'B'                        ? 1
                                                                    : 8,
        out = 32;
    else if (gt_sass_has(parts, ".TF32"))
        in = 32;
    bits = operand == 1   ? parts->m * parts->k * in
           : operand == 2 ? parts->n * parts->k * in
                          : parts->m * parts->n * out;
    bits /= threads * REGISTER_BITS;
    return bits == 0 ? 1 : bits > UINT8_MAX ? UINT8_MAX : bits;
}

/* How many registers the vector register at hand stands for. */
static uint32_t register_count(const struct gt_sass_parts *parts, unsigned operand, bool address, bool pair)
{
    if (address || pair)
        return pair ? 2 : 1;
    switch (parts->opcode->registers) {
    case GT_SASS_DOUBLE: return 2;
    case GT_SASS_DATA: return parts->width_bytes < 4 ? 1 : parts->width_bytes / 4;
    case GT_SASS_MATRIX: return matrix_registers(parts, operand);
    default: return gt_sass_has(parts, ".WIDE") && (operand == 0 || operand == 3) ? 2 : 1;
    }
}

const char *gt_sass_register_at(const char *at, struct gt_operand *operand)
{
    bool uniform = at[0] == 'U';
    bool predicate = at[uniform] == 'P';
    char *end;
    unsigned long number;

    if ((at[uniform] != 'R' && !predicate) || at[uniform + 1] < '0' || at[uniform + 1] > '9')
        return NULL;
    number = strtoul(at + uniform + 1, &end, 10);
    if (gt_sass_is_word(*end) || number > MOST_REGISTER)
        return NULL;
    operand->file = predicate ? (uniform ? GT_FILE_UNIFORM_PREDICATE : GT_FILE_PREDICATE)
                    : uniform ? GT_FILE_UNIFORM
                              : GT_FILE_VECTOR;
    operand->number = (uint8_t)number;
    operand->count = 1;
    operand->flags = 0;
    operand->place = GT_NO_PLACE;
    return end;
}

bool gt_sass_is_predicate(const struct gt_operand *operand)
{
    return operand->file == GT_FILE_PREDICATE || operand->file == GT_FILE_UNIFORM_PREDICATE;
}

void gt_sass_add_operand(struct gt_instruction *instruction, const struct gt_operand *operand)
{
    if (instruction->operand_count < GT_INSTRUCTION_OPERANDS)
        instruction->operands[instruction->operand_count++] = *operand;
}

/* Is an operand at depth 0 a result?  `state`: 0 before the first register, 1 next to it, 2 behind. */
static bool is_result(const struct gt_sass_parts *parts, unsigned operand, bool predicate, int *state)
{
    switch (parts->opcode->results) {
    case GT_SASS_VOTE:
        if (predicate)
            return operand == 0 || (operand == 1 && *state == 1);
        *state = 1;
        return operand == 0;
    case GT_SASS_FIRST:
        if (predicate)
            return *state < 2;
        *state = *state == 0 ? 1 : 2;
        return *state == 1;
    case GT_SASS_PREDICATES: *state = predicate ? *state : 2; return predicate && *state < 2 && operand < 2;
    default: return false;
    }
}

/* Where the text is among the operands: which of them, how many of those up to it are no predicates, and where
 * the text of this one begins. */
struct cursor {
    unsigned operand, values;
    int depth;
    const char *begins;
};

static void begin_operand(struct cursor *cursor, const char *text)
{
    const char *at = text + strspn(text, " ,-~|!");

    cursor->begins = at;
    cursor->values += *at != 'P' && !(at[0] == 'U' && at[1] == 'P');
}

static void step(struct cursor *cursor, const char *at)
{
    cursor->depth += *at == '[' ? 1 : *at == ']' ? -1 : 0;
    if (cursor->depth != 0 || *at != ',')
        return;
    cursor->operand++;
    begin_operand(cursor, at + 1);
}

static bool is_source(const struct gt_operand *operand)
{
    return operand->file == GT_FILE_VECTOR && (operand->flags & GT_OPERAND_WRITTEN) == 0;
}

/* The places of sources: operands that are no predicates, counted behind the vector register that is the result.
 * Registers take them in the order of the text, also one of an address that stands before the data: so were
 * places counted when the device files' constants were fitted. */
static void place_sources(struct gt_instruction *instruction)
{
    uint8_t places[GT_INSTRUCTION_OPERANDS], results = 0;
    unsigned count = 0, next = 0;

    for (unsigned i = 0; i < instruction->operand_count; i++)
        results |= instruction->operands[i].file == GT_FILE_VECTOR && !is_source(&instruction->operands[i]);
    for (unsigned i = 0; i < instruction->operand_count; i++) {
        const struct gt_operand *operand = &instruction->operands[i];

        if (is_source(operand) && operand->place != GT_NO_PLACE && operand->place >= results)
            places[count++] = (uint8_t)(operand->place - results);
    }
    for (unsigned i = 0; i < instruction->operand_count; i++) {
        struct gt_operand *operand = &instruction->operands[i];

        operand->place = is_source(operand) && next < count ? places[next++] : GT_NO_PLACE;
    }
}

void gt_sass_parse_operands(const struct gt_sass_parts *parts, struct gt_instruction *instruction)
{
    struct cursor cursor = { 0 };
    int state = 0;

    begin_operand(&cursor, parts->operands);
    for (const char *at = parts->operands; *at != '\0'; at++) {
        struct gt_operand found;
        const char *end;
        bool pair, zero;

        step(&cursor, at);
        if (!gt_sass_is_word(*at) || (at > parts->operands && gt_sass_is_word(at[-1])))
            continue;
        /* RZ, URZ and PT hold a place without being kept; any other word ends the results. */
        zero = strncmp(at, "RZ", 2) == 0 || strncmp(at, "URZ", 3) == 0 || strncmp(at, "PT", 2) == 0 ||
               strncmp(at, "UPT", 3) == 0;
        end = gt_sass_register_at(at, &found);
        if (end == NULL) {
            if (cursor.depth == 0)
                is_result(parts, cursor.operand, zero && strchr("PU", at[0]) != NULL && at[1] != 'R', &state);
            continue;
        }
        pair = strncmp(end, ".64", 3) == 0;
        if (found.file == GT_FILE_VECTOR)
            found.count = (uint8_t)register_count(parts, cursor.operand, cursor.depth > 0, pair);
        if (strncmp(end, ".reuse", 6) == 0)
            found.flags |= GT_OPERAND_REUSE;
        if (at > parts->operands && at[-1] == '!')
            found.flags |= GT_OPERAND_NEGATED;
        if (cursor.depth == 0 && is_result(parts, cursor.operand, gt_sass_is_predicate(&found), &state))
            found.flags |= GT_OPERAND_WRITTEN;
        if (at == cursor.begins)
            found.place = (uint8_t)(cursor.values - 1);
        gt_sass_add_operand(instruction, &found);
        at = end - 1;
    }
    place_sources(instruction);
}

uint32_t gt_sass_constant(const char *operands)
{
    const char *at = strstr(operands, "c[0x");
    unsigned long bank, offset;
    char *end;

    if (at == NULL)
        return GT_NONE;
    bank = strtoul(at + 2, &end, 16);
    if (strncmp(end, "][0x", 4) != 0)
        return GT_NONE;
    offset = strtoul(end + 2, NULL, 16);
    if (bank >= GT_CONSTANT_BANKS || offset >= GT_CONSTANT_BANK_BYTES)
        return GT_NONE;
    return (uint32_t)(bank * GT_CONSTANT_BANK_BYTES + offset);
}

struct gt_address gt_sass_address(const char *operands)
{
    struct gt_address address = { .uniform = GT_NO_REGISTER, .scale = 1 };
    const char *at = strstr(operands, "[R"), *end;
    struct gt_operand base;

    at = at == NULL ? NULL : gt_sass_register_at(at + 1, &base);
    if (at == NULL)
        return address;
    end = at + strcspn(at, "]");
    address.base = base.number;
    address.base_count = strncmp(at, ".64", 3) == 0 ? 2 : 1;
    for (; at < end; at++) {
        if (strncmp(at, ".X", 2) == 0)
            address.scale = (uint8_t)strtoul(at + 2, NULL, 10);
        if (strncmp(at, "+UR", 3) == 0 && gt_sass_register_at(at + 1, &base) != NULL)
            address.uniform = base.number;
        if (strncmp(at, "+0x", 3) == 0 || strncmp(at, "+-0x", 4) == 0) {
            address.offset_bytes = (int32_t)(strtol(at + 1, NULL, 16) % MOST_OFFSET_BYTES);
            break;
        }
    }
    return address;
}
