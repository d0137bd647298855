/* sass.c - an instruction's text taken apart: guard, mnemonic, modifiers, operands. */
#include "traces/sass/parts.h"

#include <stdlib.h>
#include <string.h>

#include "sim/workload/workload.h"

bool gt_sass_has(const struct gt_sass_parts *parts, const char *modifier)
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
static long number_at(const struct gt_sass_parts *parts, int index)
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
        if (at[0] == '0' && at[1] == 'x' && (at == operands || !gt_sass_is_word(at[-1])))
            found = at;
    if (found == NULL)
        return false;
    *value = strtoull(found, &end, 16);
    return end > found + 2;
}

static uint32_t memory_width(const struct gt_sass_parts *parts)
{
    /* clang-format off */
    static const struct { const char *modifier; uint32_t bytes; } widths[] = {
        { ".128", 16 }, { ".64", 8 }, { ".U8", 1 }, { ".S8", 1 }, { ".U16", 2 }, { ".S16", 2 },
        { ".M88.4", 16 }, { ".MT88.4", 16 }, { ".M88.2", 8 }, { ".MT88.2", 8 }, /* LDSM, STSM */
    };
    /* clang-format on */

    for (size_t i = 0; i < sizeof widths / sizeof widths[0]; i++)
        if (gt_sass_has(parts, widths[i].modifier))
            return widths[i].bytes;
    return 4;
}

/* ".64x256x16" or ".16816": rows, columns and depth. */
static void matrix_shape(struct gt_sass_parts *parts)
{
    static const struct {
        const char *text;
        uint32_t m, n, k;
    } shapes[] = {
        { ".884", 8, 8, 4 },     { ".1684", 16, 8, 4 },   { ".1688", 16, 8, 8 },     { ".16816", 16, 8, 16 },
        { ".16832", 16, 8, 32 }, { ".16864", 16, 8, 64 }, { ".168128", 16, 8, 128 }, { ".168256", 16, 8, 256 },
        { ".8816", 8, 8, 16 },   { ".8832", 8, 8, 32 },
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
        if (!gt_sass_has(parts, shapes[i].text))
            continue;
        parts->m = shapes[i].m;
        parts->n = shapes[i].n;
        parts->k = shapes[i].k;
    }
    if (parts->m > 64 || parts->n > 256 || parts->k > 512)
        parts->m = parts->n = parts->k = 0;
}

static void fill_barrier(const struct gt_sass_parts *parts, struct gt_instruction *instruction)
{
    long barrier = number_at(parts, 0), threads = number_at(parts, 1);

    instruction->argument = (uint16_t)(barrier > 0 ? barrier : 0);
    instruction->argument2 = (uint16_t)(threads > 0 ? threads : 0);
    if (gt_sass_has(parts, ".ARV"))
        instruction->action = GT_ACTION_BARRIER_ARRIVE;
}

static void fill_depbar(const struct gt_sass_parts *parts, struct gt_instruction *instruction)
{
    const char *board = strstr(parts->operands, "SB");
    long left = number_at(parts, 1);

    instruction->argument = board != NULL && board[2] >= '0' && board[2] <= '9' ? (uint16_t)(board[2] - '0') : 0;
    instruction->argument2 = (uint16_t)(left > 0 ? left : 0);
}

static void fill_warpgroup(const struct gt_sass_parts *parts, struct gt_instruction *instruction)
{
    long left = number_at(parts, 1);

    if (gt_sass_has(parts, ".DEPBAR"))
        instruction->action = GT_ACTION_GMMA_WAIT;
    else if (!gt_sass_has(parts, ".ARRIVE"))
        instruction->action = GT_ACTION_COMPUTE;
    instruction->argument2 = (uint16_t)(left > 0 ? left : 0);
}

static void fill_setmaxreg(const struct gt_sass_parts *parts, struct gt_instruction *instruction)
{
    uint64_t registers = 0;

    last_number(parts->operands, &registers);
    instruction->argument = (uint16_t)(registers & UINT8_MAX);
    instruction->argument2 = gt_sass_has(parts, ".DEALLOC");
}

static void fill_syncs(const struct gt_sass_parts *parts, struct gt_instruction *instruction)
{
    if (gt_sass_has(parts, ".ARRIVE")) {
        instruction->action = GT_ACTION_MBARRIER_ARRIVE;
        instruction->argument = !gt_sass_has(parts, ".A1T0") && !gt_sass_has(parts, ".A0T1");
    } else if (gt_sass_has(parts, ".PHASECHK")) {
        instruction->action = GT_ACTION_MBARRIER_WAIT;
    } else if (!gt_sass_has(parts, ".EXCH")) {
        instruction->action = GT_ACTION_FENCE;
    }
}

static void fill_commit(const struct gt_sass_parts *parts, struct gt_instruction *instruction)
{
    (void)parts;
    instruction->argument = instruction->write_barrier != GT_NO_BARRIER ? instruction->write_barrier : UINT8_MAX;
}

static void fill_sleep(const struct gt_sass_parts *parts, struct gt_instruction *instruction)
{
    long ns = number_at(parts, 0);

    instruction->argument = (uint16_t)(ns > 0 ? ns : 0);
    instruction->argument2 = gt_sass_has(parts, ".SYNCS");
}

static void fill_bulk(const struct gt_sass_parts *parts, struct gt_instruction *instruction)
{
    if (gt_sass_has(parts, ".G.S"))
        instruction->action = GT_ACTION_BULK_STORE;
}

static void fill_branch(const struct gt_sass_parts *parts, struct gt_instruction *instruction)
{
    instruction->guard_decides =
        parts->guarded && parts->modifiers_length == 0 && strncmp(parts->operands, " 0x", 3) == 0;
}

static void fill_elect(const struct gt_sass_parts *parts, struct gt_instruction *instruction)
{
    (void)parts;
    instruction->elects = true;
}

static void fill_special(const struct gt_sass_parts *parts, struct gt_instruction *instruction)
{
    /* clang-format off */
    static const struct { const char *name; enum gt_special special; } registers[] = {
        { "SR_TID", GT_SPECIAL_THREAD },      { "SR_LANEID", GT_SPECIAL_LANE },
        { "SR_CTAID", GT_SPECIAL_BLOCK },     { "SR_CgaCtaId", GT_SPECIAL_BLOCK },
        { "SR_VIRTID", GT_SPECIAL_MACHINE },  { "SR_VIRTUALSMID", GT_SPECIAL_MACHINE },
        { "SR_CLOCK", GT_SPECIAL_MACHINE },   { "SR_GLOBALTIMER", GT_SPECIAL_MACHINE },
    };
    /* clang-format on */

    for (size_t i = 0; i < sizeof registers / sizeof registers[0]; i++)
        if (strstr(parts->operands, registers[i].name) != NULL)
            instruction->special = registers[i].special;
}

/* ".GE", and where a number that is none counts as well, ".GEU". */
static void fill_comparison(const struct gt_sass_parts *parts, struct gt_instruction *instruction)
{
    /* clang-format off */
    static const struct { const char *modifier; enum gt_compare compare; } comparisons[] = {
        { ".GE", GT_COMPARE_AT_LEAST }, { ".GT", GT_COMPARE_GREATER }, { ".NE", GT_COMPARE_UNEQUAL },
        { ".LE", GT_COMPARE_AT_MOST },  { ".LT", GT_COMPARE_LESS },    { ".EQ", GT_COMPARE_EQUAL },
    };
    /* clang-format on */

    for (size_t i = 0; i < sizeof comparisons / sizeof comparisons[0]; i++)
        if (strncmp(parts->modifiers, comparisons[i].modifier, 3) == 0)
            instruction->compare = comparisons[i].compare;
}

/* What only the modifiers and operands of some mnemonics tell. */
static const struct special {
    const char *name;
    void (*fill)(const struct gt_sass_parts *parts, struct gt_instruction *instruction);
} specials[] = {
    { "ARRIVES", fill_commit },    { "BAR", fill_barrier },          { "BRA", fill_branch },
    { "CS2R", fill_special },      { "DEPBAR", fill_depbar },        { "DSETP", fill_comparison },
    { "ELECT", fill_elect },       { "FSETP", fill_comparison },     { "ISETP", fill_comparison },
    { "LDGDEPBAR", fill_commit },  { "NANOSLEEP", fill_sleep },      { "S2R", fill_special },
    { "S2UR", fill_special },      { "SYNCS", fill_syncs },          { "UBLKCP", fill_bulk },
    { "UISETP", fill_comparison }, { "USETMAXREG", fill_setmaxreg }, { "WARPGROUP", fill_warpgroup },
};

/* Of a matrix product: its shape, and by what is in its modifiers its elements, 16 bits where nothing is. */
static void fill_product(const struct gt_sass_parts *parts, struct gt_instruction *instruction)
{
    /* clang-format off */
    static const struct { const char *modifier; enum gt_element element; } elements[] = {
        { ".TF32", GT_ELEMENT_32_BITS }, { ".S8", GT_ELEMENT_8_BITS },   { ".U8", GT_ELEMENT_8_BITS },
        { ".E4M3", GT_ELEMENT_8_BITS },  { ".E5M2", GT_ELEMENT_8_BITS }, { ".S4", GT_ELEMENT_4_BITS },
        { ".U4", GT_ELEMENT_4_BITS },
    };
    /* clang-format on */

    instruction->gmma_m = (uint8_t)parts->m;
    instruction->gmma_n = (uint16_t)parts->n;
    instruction->gmma_k = (uint16_t)parts->k;
    if (parts->opcode->action == GT_ACTION_GMMA)
        instruction->argument = strstr(parts->operands, "gsb") != NULL;
    if (strcmp(parts->opcode->name, "DMMA") == 0) {
        instruction->element = GT_ELEMENT_64_BITS;
        return;
    }
    for (size_t i = 0; i < sizeof elements / sizeof elements[0]; i++)
        if (gt_sass_has(parts, elements[i].modifier)) {
            instruction->element = elements[i].element;
            return;
        }
}

/* What L2 reads of DRAM at once for a load that misses it, where its modifier says. */
static uint16_t l2_fetch(const struct gt_sass_parts *parts)
{
    return gt_sass_has(parts, ".LTC256B")   ? 256
           : gt_sass_has(parts, ".LTC128B") ? 128
           : gt_sass_has(parts, ".LTC64B")  ? 64
                                            : 0;
}

static void fill_access(const struct gt_sass_parts *parts, struct gt_access *access)
{
    access->space = parts->opcode->space;
    if (access->space == GT_SPACE_NONE && parts->opcode->pipe == GT_PIPE_TMA &&
        parts->opcode->action != GT_ACTION_BULK_COMMIT && parts->opcode->action != GT_ACTION_FENCE)
        access->space = GT_SPACE_GLOBAL;
    if (access->space == GT_SPACE_NONE)
        return;
    access->address = gt_sass_address(parts->operands);
    access->width_bytes = parts->opcode->pipe == GT_PIPE_TMA ? 0 : (uint8_t)parts->width_bytes;
    access->bypass_l1 =
        gt_sass_has(parts, ".BYPASS") || gt_sass_has(parts, ".STRONG.GPU") || gt_sass_has(parts, ".STRONG.SYS");
    access->l2_fetch_bytes = l2_fetch(parts);
}

static void fill_flow(const struct gt_sass_parts *parts, bool guarded, struct gt_sass_flow *flow)
{
    const char *barrier = strchr(parts->operands, 'B');
    struct gt_operand predicate;
    const char *at = parts->operands + strspn(parts->operands, " !");

    flow->kind = parts->opcode->flow;
    flow->conditional = guarded || gt_sass_has(parts, ".DIV") || gt_sass_has(parts, ".CONV") ||
                        (gt_sass_register_at(at, &predicate) != NULL && gt_sass_is_predicate(&predicate));
    /* A computed jump and a return name where they count from, not where they go. */
    flow->has_target = flow->kind != GT_SASS_NEXT && flow->kind != GT_SASS_SWITCH && flow->kind != GT_SASS_RETURN &&
                       last_number(parts->operands, &flow->target);
    if (barrier != NULL && barrier[1] >= '0' && barrier[1] <= '9')
        flow->barrier = (uint8_t)strtoul(barrier + 1, NULL, 10);
}

/* "@!P0 " in front of the mnemonic: the guard goes into the operands.  Returns what follows it. */
static const char *parse_guard(const char *text, struct gt_instruction *instruction, bool *guarded)
{
    struct gt_operand guard;
    bool negated;

    text += strspn(text, " \t");
    *guarded = false;
    if (*text != '@')
        return text;
    text++;
    negated = *text == '!';
    *guarded = strncmp(text, "PT", 2) != 0 && strncmp(text, "UPT", 3) != 0;
    text += negated;
    if (gt_sass_register_at(text, &guard) != NULL) {
        guard.flags = GT_OPERAND_GUARD | (negated ? GT_OPERAND_NEGATED : 0);
        gt_sass_add_operand(instruction, &guard);
    }
    text += strcspn(text, " ");
    return text + strspn(text, " ");
}

bool gt_sass_parse(const char *text, struct gt_instruction *instruction, struct gt_access *access,
                   struct gt_sass_flow *flow)
{
    static const struct gt_sass_opcode unknown = { "",           GT_PIPE_ALU,   GT_ACTION_COMPUTE, GT_SPACE_NONE,
                                                   GT_SASS_NEXT, GT_SASS_FIRST, GT_SASS_SINGLE };
    struct gt_sass_parts parts = { 0 };
    bool guarded, known;
    uint32_t length;

    instruction->operand_count = 0;
    *access = (struct gt_access){ 0 };
    *flow = (struct gt_sass_flow){ 0 };
    parts.guarded = text[strspn(text, " \t")] == '@';
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
    instruction->pipe = parts.opcode->pipe;
    instruction->action = parts.opcode->action;
    instruction->constant = gt_sass_constant(parts.operands);
    if (parts.opcode->registers == GT_SASS_MATRIX) {
        matrix_shape(&parts);
        fill_product(&parts, instruction);
    }
    for (size_t i = 0; i < sizeof specials / sizeof specials[0]; i++)
        if (strcmp(specials[i].name, parts.opcode->name) == 0)
            specials[i].fill(&parts, instruction);
    fill_access(&parts, access);
    fill_flow(&parts, guarded, flow);
    gt_sass_parse_operands(&parts, instruction);
    return known;
}
