/* sass.c - an instruction's text taken apart: guard, mnemonic, modifiers, operands. */
#include "traces/sass/sass.h"

#include <stdlib.h>
#include <string.h>

#include "sim/workload/workload.h"

enum { NO_REGISTER = 255, NO_UNIFORM = 63, NO_PREDICATE = 7, WARP_THREADS = 32, REGISTER_BITS = 32 };

struct parts {
    const struct gt_sass_opcode *opcode;
    const char *modifiers; /* from the first dot of the mnemonic on, "" if none; `modifiers_length` long */
    size_t modifiers_length;
    const char *operands;       /* behind the mnemonic */
    uint32_t width_bytes;       /* of memory instructions */
    uint32_t m, n, k;           /* of matrix instructions */
};

static bool is_word(char c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

/* Has the mnemonic this modifier, ".U8", whole? */
static bool has(const struct parts *parts, const char *modifier)
{
    size_t length = strlen(modifier);
    const char *at = parts->modifiers, *end = at + parts->modifiers_length;

    for (; at + length <= end; at++)
        if (memcmp(at, modifier, length) == 0 && (at + length == end || at[length] == '.'))
            return true;
    return false;
}

/* The number that stands for the `index`th value of the operands: "0x1, 0x80" has 0x1 and 0x80.
 * -1 where it is not a plain number. */
static long number_at(const struct parts *parts, int index)
{
    const char *at = parts->operands;
    char *end;
    long value;

    for (; index > 0 && at != NULL; index--) {
        at = strchr(at, ',');
        at = at != NULL ? at + 1 : NULL;
    }
    if (at == NULL)
        return -1;
    at += strspn(at, " ");
    value = strtol(at, &end, 0);
    return end == at || value < 0 || value > UINT16_MAX ? -1 : value;
}

/* The last number of the operands: an address for branches. */
static bool last_number(const char *operands, uint64_t *value)
{
    const char *found = NULL;
    char *end;

    for (const char *at = operands; *at != '\0'; at++)
        if (at[0] == '0' && at[1] == 'x' && (at == operands || !is_word(at[-1])))
            found = at;
    if (found == NULL)
        return false;
    *value = strtoull(found, &end, 16);
    return end > found + 2;
}

static uint32_t memory_width(const struct parts *parts)
{
    static const struct { const char *modifier; uint32_t bytes; } widths[] = {
        { ".128", 16 }, { ".64", 8 }, { ".U8", 1 }, { ".S8", 1 }, { ".U16", 2 }, { ".S16", 2 },
        { ".M88.4", 16 }, { ".MT88.4", 16 }, { ".M88.2", 8 }, { ".MT88.2", 8 }, /* LDSM, STSM */
    };

    for (size_t i = 0; i < sizeof widths / sizeof widths[0]; i++)
        if (has(parts, widths[i].modifier))
            return widths[i].bytes;
    return 4;
}

/* ".64x256x16" or ".16816": rows, columns and depth. */
static void matrix_shape(struct parts *parts)
{
    static const struct { const char *text; uint32_t m, n, k;
    } shapes[] = {
        { ".884", 8, 8, 4 },       { ".1684", 16, 8, 4 },     { ".1688", 16, 8, 8 },
        { ".16816", 16, 8, 16 },   { ".16832", 16, 8, 32 },   { ".16864", 16, 8, 64 },
        { ".168128", 16, 8, 128 }, { ".168256", 16, 8, 256 }, { ".8816", 8, 8, 16 },
        { ".8832", 8, 8, 32 },
    };
    char *end;

    if (parts->modifiers_length > 1) {
        parts->m = (uint32_t)strtoul(parts->modifiers + 1, &end, 10);
        if (*end == 'x')
            parts->n = (uint32_t)strtoul(end + 1, &end, 10);
        if (parts->n != 0 && *end == 'x')
            parts->k = (uint32_t)strtoul(end + 1, &end, 10);
    }
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0] && parts->k == 0; i++) {
        if (!has(parts, shapes[i].text))
            continue;
        parts->m = shapes[i].m;
        parts->n = shapes[i].n;
        parts->k = shapes[i].k;
    }
    if (parts->m > 64 || parts->n > 256 || parts->k > 512)
        parts->m = parts->n = parts->k = 0;
}

/* Registers that one warp's (or warp group's) thread holds of a matrix operand: 0 result, 1 A, 2 B, 3 C. */
static uint32_t matrix_registers(const struct parts *parts, unsigned operand)
{
    uint32_t threads = parts->opcode->action == GT_ACTION_GMMA ? 4 * WARP_THREADS : WARP_THREADS;
    uint32_t in = 16, out = has(parts, ".F32") || has(parts, ".S32") ? 32 : 16, bits;

    if (strcmp(parts->opcode->name, "DMMA") == 0)
        in = out = 64;
    else if (strcmp(parts->opcode->name, "HMMA") != 0 && strcmp(parts->opcode->name, "HGMMA") != 0)
        in = has(parts, ".S4") || has(parts, ".U4") ? 4 : parts->opcode->name[0] == 'B' ? 1 : 8, out = 32;
    else if (has(parts, ".TF32"))
        in = 32;
    bits = operand == 1 ? parts->m * parts->k * in : operand == 2 ? parts->n * parts->k * in :
           parts->m * parts->n * out;
    bits /= threads * REGISTER_BITS;
    return bits == 0 ? 1 : bits > UINT8_MAX ? UINT8_MAX : bits;
}

/* How many registers the vector register at hand stands for. */
static uint32_t register_count(const struct parts *parts, unsigned operand, bool address, bool pair)
{
    if (address || pair)
        return pair ? 2 : 1;
    switch (parts->opcode->registers) {
    case GT_SASS_DOUBLE:
        return 2;
    case GT_SASS_DATA:
        return parts->width_bytes < 4 ? 1 : parts->width_bytes / 4;
    case GT_SASS_MATRIX:
        return matrix_registers(parts, operand);
    default:
        return has(parts, ".WIDE") && (operand == 0 || operand == 3) ? 2 : 1;
    }
}

/* "R12", "UR4", "P0", "UP1" at `at`: the file and number, and where it ends; NULL if it is none. */
static const char *register_at(const char *at, struct gt_operand *operand)
{
    bool uniform = at[0] == 'U';
    bool predicate = at[uniform] == 'P';
    char *end;
    unsigned long number;

    if ((at[uniform] != 'R' && !predicate) || at[uniform + 1] < '0' || at[uniform + 1] > '9')
        return NULL;
    number = strtoul(at + uniform + 1, &end, 10);
    if (is_word(*end) || number > NO_REGISTER)
        return NULL;
    operand->file = predicate ? (uniform ? GT_FILE_UNIFORM_PREDICATE : GT_FILE_PREDICATE) :
                    uniform ? GT_FILE_UNIFORM : GT_FILE_VECTOR;
    operand->number = (uint8_t)number;
    operand->count = 1;
    operand->flags = 0;
    return end;
}

static bool is_predicate(const struct gt_operand *operand)
{
    return operand->file == GT_FILE_PREDICATE || operand->file == GT_FILE_UNIFORM_PREDICATE;
}

static void add_operand(struct gt_instruction *instruction, const struct gt_operand *operand)
{
    if (instruction->operand_count < GT_INSTRUCTION_OPERANDS)
        instruction->operands[instruction->operand_count++] = *operand;
}

/* Is an operand at depth 0 a result?  `state`: 0 before the first register, 1 next to it, 2 behind. */
static bool is_result(const struct parts *parts, unsigned operand, bool predicate, int *state)
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
    case GT_SASS_PREDICATES:
        *state = predicate ? *state : 2;
        return predicate && *state < 2 && operand < 2;
    default:
        return false;
    }
}

static void parse_operands(const struct parts *parts, struct gt_instruction *instruction)
{
    unsigned operand = 0;
    int depth = 0, state = 0;

    for (const char *at = parts->operands; *at != '\0'; at++) {
        struct gt_operand found;
        const char *end;
        bool pair, zero;

        depth += *at == '[' ? 1 : *at == ']' ? -1 : 0;
        operand += depth == 0 && *at == ',';
        if (!is_word(*at) || (at > parts->operands && is_word(at[-1])))
            continue;
        /* RZ, URZ and PT hold a place without being kept; any other word ends the results. */
        zero = strncmp(at, "RZ", 2) == 0 || strncmp(at, "URZ", 3) == 0 || strncmp(at, "PT", 2) == 0 ||
               strncmp(at, "UPT", 3) == 0;
        end = register_at(at, &found);
        if (end == NULL) {
            if (depth == 0)
                is_result(parts, operand, zero && strchr("PU", at[0]) != NULL && at[1] != 'R', &state);
            continue;
        }
        pair = strncmp(end, ".64", 3) == 0;
        if (found.file == GT_FILE_VECTOR)
            found.count = (uint8_t)register_count(parts, operand, depth > 0, pair);
        if (strncmp(end, ".reuse", 6) == 0)
            found.flags |= GT_OPERAND_REUSE;
        if (depth == 0 && is_result(parts, operand, is_predicate(&found), &state))
            found.flags |= GT_OPERAND_WRITTEN;
        add_operand(instruction, &found);
        at = end - 1;
    }
}

static void fill_barrier(const struct parts *parts, struct gt_instruction *instruction)
{
    long barrier = number_at(parts, 0), threads = number_at(parts, 1);

    instruction->argument = (uint16_t)(barrier > 0 ? barrier : 0);
    instruction->argument2 = (uint16_t)(threads > 0 ? threads : 0);
    if (has(parts, ".ARV"))
        instruction->action = GT_ACTION_BARRIER_ARRIVE;
}

static void fill_depbar(const struct parts *parts, struct gt_instruction *instruction)
{
    const char *board = strstr(parts->operands, "SB");
    long left = number_at(parts, 1);

    instruction->argument =
        board != NULL && board[2] >= '0' && board[2] <= '9' ? (uint16_t)(board[2] - '0') : 0;
    instruction->argument2 = (uint16_t)(left > 0 ? left : 0);
}

static void fill_warpgroup(const struct parts *parts, struct gt_instruction *instruction)
{
    long left = number_at(parts, 1);

    if (has(parts, ".DEPBAR"))
        instruction->action = GT_ACTION_GMMA_WAIT;
    else if (!has(parts, ".ARRIVE"))
        instruction->action = GT_ACTION_COMPUTE;
    instruction->argument2 = (uint16_t)(left > 0 ? left : 0);
}

static void fill_setmaxreg(const struct parts *parts, struct gt_instruction *instruction)
{
    uint64_t registers = 0;

    last_number(parts->operands, &registers);
    instruction->argument = (uint16_t)(registers & UINT8_MAX);
    instruction->argument2 = has(parts, ".DEALLOC");
}

static void fill_syncs(const struct parts *parts, struct gt_instruction *instruction)
{
    if (has(parts, ".ARRIVE")) {
        instruction->action = GT_ACTION_MBARRIER_ARRIVE;
        instruction->argument = !has(parts, ".A1T0") && !has(parts, ".A0T1");
    } else if (has(parts, ".PHASECHK")) {
        instruction->action = GT_ACTION_MBARRIER_WAIT;
    } else if (!has(parts, ".EXCH")) {
        instruction->action = GT_ACTION_FENCE;
    }
}

static void fill_commit(const struct parts *parts, struct gt_instruction *instruction)
{
    (void)parts;
    instruction->argument =
        instruction->write_barrier != GT_NO_BARRIER ? instruction->write_barrier : UINT8_MAX;
}

static void fill_sleep(const struct parts *parts, struct gt_instruction *instruction)
{
    long ns = number_at(parts, 0);

    instruction->argument = (uint16_t)(ns > 0 ? ns : 0);
}

static void fill_bulk(const struct parts *parts, struct gt_instruction *instruction)
{
    if (has(parts, ".G.S"))
        instruction->action = GT_ACTION_BULK_STORE;
}

/* What only the modifiers and operands of some mnemonics tell. */
static const struct special {
    const char *name;
    void (*fill)(const struct parts *parts, struct gt_instruction *instruction);
} specials[] = {
    { "ARRIVES", fill_commit },   { "BAR", fill_barrier },          { "DEPBAR", fill_depbar },
    { "LDGDEPBAR", fill_commit }, { "NANOSLEEP", fill_sleep },      { "SYNCS", fill_syncs },
    { "UBLKCP", fill_bulk },      { "USETMAXREG", fill_setmaxreg }, { "WARPGROUP", fill_warpgroup },
};

static void fill_access(const struct parts *parts, struct gt_access *access)
{
    access->space = parts->opcode->space;
    if (access->space == GT_SPACE_NONE && parts->opcode->pipe == GT_PIPE_TMA &&
        parts->opcode->action != GT_ACTION_BULK_COMMIT && parts->opcode->action != GT_ACTION_FENCE)
        access->space = GT_SPACE_GLOBAL;
    if (access->space == GT_SPACE_NONE)
        return;
    access->width_bytes = parts->opcode->pipe == GT_PIPE_TMA ? 0 : (uint8_t)parts->width_bytes;
    access->bypass_l1 = has(parts, ".BYPASS") || has(parts, ".STRONG.GPU") || has(parts, ".STRONG.SYS");
}

static void fill_flow(const struct parts *parts, bool guarded, struct gt_sass_flow *flow)
{
    const char *barrier = strchr(parts->operands, 'B');
    struct gt_operand predicate;
    const char *at = parts->operands + strspn(parts->operands, " !");

    flow->kind = parts->opcode->flow;
    flow->conditional = guarded || has(parts, ".DIV") || has(parts, ".CONV") ||
                        (register_at(at, &predicate) != NULL && is_predicate(&predicate));
    /* A computed jump and a return name where they count from, not where they go. */
    flow->has_target = flow->kind != GT_SASS_NEXT && flow->kind != GT_SASS_SWITCH &&
                       flow->kind != GT_SASS_RETURN && last_number(parts->operands, &flow->target);
    if (barrier != NULL && barrier[1] >= '0' && barrier[1] <= '9')
        flow->barrier = (uint8_t)strtoul(barrier + 1, NULL, 10);
}

/* "@!P0 " in front of the mnemonic: the guard goes into the operands.  Returns what follows it. */
static const char *parse_guard(const char *text, struct gt_instruction *instruction, bool *guarded)
{
    struct gt_operand guard;

    text += strspn(text, " \t");
    *guarded = false;
    if (*text != '@')
        return text;
    text++;
    *guarded = strncmp(text, "PT", 2) != 0 && strncmp(text, "UPT", 3) != 0;
    text += *text == '!';
    if (register_at(text, &guard) != NULL) {
        guard.flags = GT_OPERAND_GUARD;
        add_operand(instruction, &guard);
    }
    text += strcspn(text, " ");
    return text + strspn(text, " ");
}

bool gt_sass_parse(const char *text, struct gt_instruction *instruction, struct gt_access *access,
                   struct gt_sass_flow *flow)
{
    static const struct gt_sass_opcode unknown = {
        "", GT_PIPE_ALU, GT_ACTION_COMPUTE, GT_SPACE_NONE, GT_SASS_NEXT, GT_SASS_FIRST, GT_SASS_SINGLE
    };
    struct parts parts = { 0 };
    bool guarded, known;
    uint32_t length;

    instruction->operand_count = 0;
    *access = (struct gt_access){ 0 };
    *flow = (struct gt_sass_flow){ 0 };
    text = parse_guard(text, instruction, &guarded);
    length = (uint32_t)strcspn(text, " .;");
    parts.opcode = gt_sass_find(text, length);
    known = parts.opcode != NULL;
    if (!known)
        parts.opcode = &unknown;
    parts.modifiers = text + length;
    parts.modifiers_length = strcspn(parts.modifiers, " ;");
    parts.operands = parts.modifiers + parts.modifiers_length;
    parts.width_bytes = memory_width(&parts);
    if (parts.opcode->registers == GT_SASS_MATRIX)
        matrix_shape(&parts);
    instruction->pipe = parts.opcode->pipe;
    instruction->action = parts.opcode->action;
    instruction->gmma_n = (uint16_t)parts.n;
    instruction->gmma_k = (uint16_t)parts.k;
    for (size_t i = 0; i < sizeof specials / sizeof specials[0]; i++)
        if (strcmp(specials[i].name, parts.opcode->name) == 0)
            specials[i].fill(&parts, instruction);
    fill_access(&parts, access);
    fill_flow(&parts, guarded, flow);
    parse_operands(&parts, instruction);
    return known;
}
