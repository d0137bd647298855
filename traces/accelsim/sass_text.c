/* sass_text.c - an instruction's fields as the text that a disassembler would print, as far as they tell.
 *
 *     1 R12 LDG.E.128.SYS 1 R2        ->  LDG.E.128.SYS R12, [R2.64]
 *     0 ISETP.GE.U32.AND 1 R2         ->  ISETP.GE.U32.AND P0, PT, R2
 *     0 BRA 0                         ->  @P0 BRA 0x210
 *
 * Tracers before version 6 name no predicates: what sets one is taken to set P0, and what some threads skip to be
 * guarded by it.  Operands that are no registers are left out, but for those that say what an instruction waits for.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "traces/accelsim/internal.h"
#include "traces/sass/program_make.h"
#include "traces/sass/sass.h"

enum { FIRST_REGISTER_VERSION = 6, BARRIERS = 16 };

/* Registers that hold nothing have names of their own. */
static void put_register(FILE *out, const struct gt_accelsim_word *word)
{
    static const struct {
        const char *number, *name;
    } names[] = { { "R255", "RZ" }, { "UR63", "URZ" }, { "UR255", "URZ" }, { "P7", "PT" }, { "UP7", "UPT" } };

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strlen(names[i].number) == word->length && memcmp(names[i].number, word->text, word->length) == 0) {
            fputs(names[i].name, out);
            return;
        }
    fwrite(word->text, 1, word->length, out);
}

/* A list with commas. */
struct list {
    FILE *out;
    bool any;
};

static void separate(struct list *list)
{
    fputs(list->any ? ", " : " ", list->out);
    list->any = true;
}

static void put(struct list *list, const struct gt_accelsim_word *word)
{
    separate(list);
    put_register(list->out, word);
}

static bool is_vector(const struct gt_accelsim_word *word)
{
    return word->length > 1 && word->text[0] == 'R';
}

static bool has_modifier(const struct gt_accelsim_word *opcode, const char *modifier)
{
    return memmem(opcode->text, opcode->length, modifier, strlen(modifier)) != NULL;
}

static void put_address(struct list *list, const struct gt_accelsim_word *word, bool wide)
{
    separate(list);
    fputc('[', list->out);
    put_register(list->out, word);
    fputs(wide ? ".64]" : "]", list->out);
}

/* Sources of a memory instruction: its address is the first vector register; of a copy to shared memory the first two. */
static void put_memory(struct list *list, const struct gt_accelsim_row *row, const struct gt_accelsim_fields *fields)
{
    uint32_t addresses = row->action == GT_ACTION_ASYNC_COPY ? 2 : 1, put_already = 0;
    bool wide = has_modifier(&fields->opcode, ".E");

    for (uint32_t i = 0; i < fields->sources; i++) {
        bool address = put_already < addresses && is_vector(&fields->source[i]);

        put_already += address;
        if (address) /* of such a copy the first is in shared memory */
            put_address(list, &fields->source[i], wide && put_already == addresses);
        else
            put(list, &fields->source[i]);
    }
}

/* Where it jumps, as seen; else as the immediate says.  In the text every instruction has 16 bytes. */
static void put_flow(struct list *list, const struct gt_accelsim_row *row, const struct gt_accelsim_header *header)
{
    bool jumps = row->flow == GT_SASS_BRANCH || row->flow == GT_SASS_CALL || row->flow == GT_SASS_DIVERGE;
    uint64_t index = row->target != GT_NONE ? row->target : gt_accelsim_index(header, row->immediate);
    uint64_t target = index < GT_ACCELSIM_MOST_INSTRUCTIONS ? index * GT_PROGRAM_INSTRUCTION_BYTES : 0;

    if (row->flow == GT_SASS_DIVERGE || row->flow == GT_SASS_JOIN) {
        separate(list);
        fprintf(list->out, "B%u", row->barrier);
    }
    if (jumps && target != 0) {
        separate(list);
        fprintf(list->out, "0x%" PRIx64, target);
    }
}

/* What has to be known of an instruction beyond its registers. */
static void put_argument(struct list *list, const struct gt_accelsim_row *row,
                         const struct gt_accelsim_header *header)
{
    uint64_t immediate = row->immediate;

    if (row->action == GT_ACTION_BARRIER_SYNC || row->action == GT_ACTION_BARRIER_ARRIVE) {
        separate(list);
        if (row->immediate2 != 0)
            fprintf(list->out, "0x%" PRIx64 ", 0x%" PRIx64, immediate, row->immediate2);
        else if (immediate < BARRIERS)
            fprintf(list->out, "0x%" PRIx64, immediate);
        else
            fprintf(list->out, "0x1, 0x%" PRIx64, immediate);
    } else if (row->action == GT_ACTION_SCOREBOARD_WAIT) {
        separate(list);
        fprintf(list->out, "SB0, 0x%" PRIx64, immediate);
    } else if (row->action == GT_ACTION_GMMA_WAIT) {
        separate(list);
        fprintf(list->out, "gsb0, 0x%" PRIx64, immediate);
    } else if (row->action == GT_ACTION_SLEEP || row->action == GT_ACTION_SET_REGISTERS) {
        separate(list);
        fprintf(list->out, "0x%" PRIx64, immediate);
    }
    put_flow(list, row, header);
}

static bool sets_predicate(const struct gt_accelsim_word *opcode)
{
    uint32_t length = 0;
    const struct gt_sass_opcode *found;

    while (length < opcode->length && opcode->text[length] != '.')
        length++;
    found = gt_sass_find(opcode->text, length);
    return found != NULL && found->results == GT_SASS_PREDICATES && found->flow == GT_SASS_NEXT;
}

char *gt_accelsim_sass(const struct gt_accelsim_row *row, const struct gt_accelsim_header *header, bool guarded)
{
    struct gt_accelsim_fields fields;
    struct list list = { NULL, false };
    size_t length;
    char *text = NULL;

    gt_accelsim_fields_split(row->fields, &fields);
    list.out = open_memstream(&text, &length);
    if (list.out == NULL)
        gt_no_memory("a text");
    if (guarded)
        fputs("@P0 ", list.out);
    fwrite(fields.opcode.text, 1, fields.opcode.length, list.out);
    if (header->version < FIRST_REGISTER_VERSION && sets_predicate(&fields.opcode)) {
        separate(&list);
        fputs("P0, PT", list.out);
    }
    for (uint32_t i = 0; i < fields.results; i++)
        put(&list, &fields.result[i]);
    if (row->space != GT_SPACE_NONE && row->space != GT_SPACE_CONSTANT)
        put_memory(&list, row, &fields);
    else
        for (uint32_t i = 0; i < fields.sources; i++)
            put(&list, &fields.source[i]);
    put_argument(&list, row, header);
    fclose(list.out);
    return text;
}
