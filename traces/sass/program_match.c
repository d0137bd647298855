#include "traces/sass/program_match.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/workload/program.h"
#include "traces/names/demangle.h"

/* A kernel's names, from what was traced to what a reader would call it. */
struct names {
    const char *traced;
    char *whole; /* demangled, without blanks: profilers set these differently */
    char *base;  /* the function alone */
    bool bare;   /* traced as the function alone */
};

/* A profiled launch that kernels may take the program of. */
struct offer {
    struct names names;
    const struct gt_kernel *kernel;
    struct gt_program *program;
    const struct gt_profile *profile;
    double clock_share; /* see gt_program */
    uint32_t source;    /* which profile it is of */
};

struct offers {
    struct offer *items;
    uint32_t count;
};

/* What a kernel of the timeline may take: launches of one profile and grid, in their order. */
struct choice {
    const struct offer **items;
    uint32_t count, next; /* whose turn it is */
    bool chosen;
};

enum { SAME_TEXT, SAME_WHOLE, SAME_BASE, NO_MATCH };

static void squeeze(char *text)
{
    char *to = text;

    for (const char *from = text; *from != '\0'; from++)
        if (!isspace((unsigned char)*from))
            *to++ = *from;
    *to = '\0';
}

static struct names names_of(const struct gt_workload *workload, const struct gt_kernel *kernel)
{
    struct names names = { .traced = gt_name_text(workload, kernel->name) };

    names.whole = gt_demangle(names.traced);
    names.bare = strpbrk(names.whole, "<(") == NULL;
    squeeze(names.whole);
    names.base = gt_base_name(names.traced);
    return names;
}

static void names_free(struct names *names)
{
    free(names->whole);
    free(names->base);
}

static int match(const struct names *wanted, const struct names *offered)
{
    if (strcmp(wanted->traced, offered->traced) == 0)
        return SAME_TEXT;
    if (strcmp(wanted->whole, offered->whole) == 0)
        return SAME_WHOLE;
    return wanted->bare && strcmp(wanted->base, offered->base) == 0 ? SAME_BASE : NO_MATCH;
}

static struct gt_program *program_of(struct gt_workload *workload, const struct gt_kernel *kernel)
{
    for (uint32_t i = 0; i < workload->program_count; i++)
        if (workload->programs[i] == kernel->program)
            return workload->programs[i];
    return NULL;
}

/* The clock of short launches is known to some percent only: it is worked out from their times. */
#define CLOCK_GRAIN 0.03

/* What the launch's clock is of the fastest launch's in its profile. */
static double clock_share(const struct gt_workload *workload, const struct gt_profile *profile)
{
    double fastest_hz = 0;

    for (uint32_t i = 0; i < workload->profile_count; i++)
        fastest_hz = fmax(fastest_hz, workload->profiles[i].sm_hz);
    if (profile == NULL || profile->sm_hz <= 0 || profile->sm_hz > fastest_hz * (1 - CLOCK_GRAIN))
        return 1;
    return profile->sm_hz / fastest_hz;
}

static void collect(struct offers *offers, struct gt_workload *workload, uint32_t source)
{
    for (uint32_t i = 0; i < workload->op_count; i++) {
        const struct gt_profile *profile = gt_workload_profile(workload, i);
        const struct gt_kernel *kernel;
        struct gt_program *program;

        if (workload->ops[i].kernel == GT_NONE)
            continue;
        kernel = &workload->kernels[workload->ops[i].kernel];
        program = program_of(workload, kernel);
        if (program == NULL)
            continue;
        offers->items = gt_realloc(offers->items, offers->count + 1ull, sizeof *offers->items);
        offers->items[offers->count++] = (struct offer){
            .names = names_of(workload, kernel),
            .kernel = kernel,
            .program = program,
            .source = source,
            .profile = profile,
            .clock_share = clock_share(workload, profile),
        };
    }
}

/* How many times more or fewer blocks, as a logarithm; below all of these for the same grid. */
static double distance(const struct gt_kernel *a, const struct gt_kernel *b)
{
    if (memcmp(a->grid, b->grid, sizeof a->grid) == 0)
        return -1;
    return fabs(log((double)gt_kernel_blocks(a) / (double)gt_kernel_blocks(b)));
}

/* Is `offer` better for the kernel than the ones found, as good (0), or worse (-1)? */
static int compare(const struct gt_kernel *kernel, const struct offer *offer, int matched, const struct offer *best,
                   int best_match)
{
    double nearer;

    if (best == NULL || matched != best_match)
        return best == NULL || matched < best_match ? 1 : -1;
    nearer = distance(kernel, best->kernel) - distance(kernel, offer->kernel);
    if (nearer != 0)
        return nearer > 0 ? 1 : -1;
    return best->source == offer->source &&
                   memcmp(best->kernel->grid, offer->kernel->grid, sizeof best->kernel->grid) == 0
               ? 0
               : -1;
}

/* The best offers for a kernel, and how it went. */
static enum gt_program_match choose(const struct offers *offers, const struct names *names,
                                    const struct gt_kernel *kernel, struct choice *choice)
{
    enum gt_program_match failure = GT_MATCH_UNKNOWN;
    const struct offer *best = NULL;
    int best_match = NO_MATCH;

    for (uint32_t i = 0; i < offers->count; i++) {
        const struct offer *offer = &offers->items[i];
        int matched = match(names, &offer->names), better;

        if (matched == NO_MATCH)
            continue;
        if (memcmp(kernel->block, offer->kernel->block, sizeof kernel->block) != 0) {
            failure = GT_MATCH_OTHER_BLOCK;
            continue;
        }
        better = compare(kernel, offer, matched, best, best_match);
        if (better < 0)
            continue;
        if (better > 0) {
            best = offer;
            best_match = matched;
            choice->count = 0;
        }
        choice->items = gt_realloc(choice->items, choice->count + 1ull, sizeof *choice->items);
        choice->items[choice->count++] = offer;
    }
    if (best == NULL)
        return failure;
    return distance(kernel, best->kernel) < 0 ? GT_MATCH_SAME : GT_MATCH_SCALED;
}

/* The timeline's operations have no profile of their own: what it said goes with the program. */
static void share(struct gt_workload *timeline, const struct offer *offer)
{
    const struct gt_profile *profile = offer->profile;
    struct gt_program *program = offer->program;

    for (uint32_t i = 0; i < timeline->program_count; i++)
        if (timeline->programs[i] == program)
            return;
    if (profile != NULL) {
        program->clock_share = offer->clock_share;
        program->cluster_blocks = profile->cluster[0] * profile->cluster[1] * profile->cluster[2];
        program->launch_warp_instructions = profile->warp_instructions;
        program->busiest_warp_instructions = profile->busiest_warp_instructions;
    }
    program->sharers++;
    gt_workload_add_program(timeline, program);
}

/* The next offer in turn.  The kernel itself has the first one's program; others make kernels like it. */
static void attach(struct gt_workload *timeline, uint32_t op, struct choice *choice)
{
    const struct offer *offer = choice->items[choice->next];
    uint32_t number = timeline->ops[op].kernel;
    struct gt_kernel kernel = timeline->kernels[number];

    choice->next = (choice->next + 1) % choice->count;
    share(timeline, offer);
    if (kernel.program == NULL)
        timeline->kernels[number].program = offer->program;
    else if (kernel.program != offer->program) {
        kernel.program = offer->program;
        timeline->ops[op].kernel = gt_workload_kernel(timeline, &kernel);
    }
}

static enum gt_program_match find(struct gt_workload *timeline, uint32_t number, const struct offers *offers,
                                  struct choice *choice)
{
    struct names names;
    enum gt_program_match how;

    choice->chosen = true;
    if (timeline->kernels[number].program != NULL)
        return GT_MATCH_OWN;
    names = names_of(timeline, &timeline->kernels[number]);
    how = choose(offers, &names, &timeline->kernels[number], choice);
    names_free(&names);
    return how;
}

static uint32_t shared_bytes(const struct gt_kernel *kernel)
{
    return kernel->static_shared_bytes +
           kernel->dynamic_shared_bytes; /* profiles of some formats have the sum only */
}

static void compare_resources(const struct gt_kernel *stated, gt_kernel_index number,
                              const struct gt_kernel *profiled, struct gt_program_matches *matches)
{
    if ((stated->registers_per_thread == 0 && shared_bytes(stated) == 0) ||
        (stated->registers_per_thread == profiled->registers_per_thread &&
         shared_bytes(stated) == shared_bytes(profiled)))
        return;
    if (matches->differing++ > 0)
        return;
    matches->first_differing = number;
    matches->registers_per_thread = profiled->registers_per_thread;
    matches->shared_bytes = shared_bytes(profiled);
}

static void match_all(struct gt_workload *timeline, const struct offers *offers, struct choice *choices,
                      struct gt_program_matches *matches)
{
    for (uint32_t i = 0; i < timeline->op_count; i++) {
        uint32_t number = timeline->ops[i].kernel;

        if (number == GT_NONE)
            continue;
        if (!choices[number].chosen) {
            matches->how[number] = (uint8_t)find(timeline, number, offers, &choices[number]);
            matches->kernels[matches->how[number]]++;
            if (matches->how[number] == GT_MATCH_SAME)
                compare_resources(&timeline->kernels[number], number, choices[number].items[0]->kernel, matches);
        }
        matches->launches[matches->how[number]]++;
        if (choices[number].count > 0)
            attach(timeline, i, &choices[number]);
    }
}

void gt_match_programs(struct gt_workload *timeline, struct gt_workload *const *profiled, uint32_t count,
                       struct gt_program_matches *matches)
{
    struct choice *choices = gt_calloc(timeline->kernel_count + 1ull, sizeof *choices);
    struct offers offers = { .count = 0 };
    uint32_t kernel_count = timeline->kernel_count;

    *matches = (struct gt_program_matches){ .how = gt_calloc(kernel_count + 1ull, 1), .count = kernel_count };
    for (uint32_t i = 0; i < count; i++)
        collect(&offers, profiled[i], i);
    match_all(timeline, &offers, choices, matches);
    for (uint32_t i = 0; i < kernel_count; i++)
        free(choices[i].items);
    free(choices);
    for (uint32_t i = 0; i < offers.count; i++)
        names_free(&offers.items[i].names);
    free(offers.items);
}
