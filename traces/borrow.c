#include "traces/borrow.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/program.h"
#include "traces/demangle.h"

/* A kernel's names, from what was traced to what a reader would call it. */
struct names {
    const char *traced;
    char *whole;         /* demangled, without blanks: profilers set these differently */
    char *base;          /* the function alone */
    bool bare;           /* traced as the function alone */
};

/* A profiled launch that kernels may take the program of. */
struct offer {
    struct names names;
    const struct gt_kernel *kernel;
    struct gt_program *program;
    const struct gt_profile *profile;
    double clock_share;  /* see gt_program */
    bool taken;
};

struct offers {
    struct offer *items;
    uint32_t count;
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

/* The first launch of each kernel that has a program: of the later ones the program is the same. */
static void collect(struct offers *offers, struct gt_workload *workload)
{
    bool *seen = gt_calloc(workload->kernel_count + 1ull, sizeof *seen);

    for (uint32_t i = 0; i < workload->op_count; i++) {
        uint32_t number = workload->ops[i].kernel;
        const struct gt_profile *profile = gt_workload_profile(workload, i);
        struct gt_program *program;

        if (number == GT_NONE || seen[number])
            continue;
        seen[number] = true;
        program = program_of(workload, &workload->kernels[number]);
        if (program == NULL)
            continue;
        offers->items = gt_realloc(offers->items, offers->count + 1ull, sizeof *offers->items);
        offers->items[offers->count++] = (struct offer){
            .names = names_of(workload, &workload->kernels[number]), .kernel = &workload->kernels[number],
            .program = program, .profile = profile, .clock_share = clock_share(workload, profile),
        };
    }
    free(seen);
}

/* How many times more or fewer blocks, as a logarithm; below all of these for the same grid. */
static double distance(const struct gt_kernel *a, const struct gt_kernel *b)
{
    if (memcmp(a->grid, b->grid, sizeof a->grid) == 0)
        return -1;
    return fabs(log((double)gt_kernel_blocks(a) / (double)gt_kernel_blocks(b)));
}

/* The best offer for a kernel; NULL, and how it failed, where there is none. */
static struct offer *choose(const struct offers *offers, const struct names *names,
                            const struct gt_kernel *kernel, enum gt_borrow *how)
{
    struct offer *best = NULL;
    int best_match = NO_MATCH;

    *how = GT_BORROW_UNKNOWN;
    for (uint32_t i = 0; i < offers->count; i++) {
        struct offer *offer = &offers->items[i];
        int matched = match(names, &offer->names);

        if (matched == NO_MATCH)
            continue;
        if (memcmp(kernel->block, offer->kernel->block, sizeof kernel->block) != 0) {
            *how = GT_BORROW_OTHER_BLOCK;
            continue;
        }
        if (best == NULL || matched < best_match
            || (matched == best_match && distance(kernel, offer->kernel) < distance(kernel, best->kernel))) {
            best = offer;
            best_match = matched;
        }
    }
    if (best != NULL)
        *how = distance(kernel, best->kernel) < 0 ? GT_BORROW_SAME : GT_BORROW_SCALED;
    return best;
}

/* The timeline's operations have no profile of their own: what it said goes with the program. */
static void take(struct gt_workload *timeline, struct gt_kernel *kernel, struct offer *offer)
{
    const struct gt_profile *profile = offer->profile;
    struct gt_program *program = offer->program;

    kernel->program = program;
    if (offer->taken)
        return;
    offer->taken = true;
    if (profile != NULL) {
        program->clock_share = offer->clock_share;
        program->cluster_blocks = profile->cluster[0] * profile->cluster[1] * profile->cluster[2];
        program->launch_warp_instructions = profile->warp_instructions;
        program->busiest_warp_instructions = profile->busiest_warp_instructions;
    }
    program->sharers++;
    gt_workload_add_program(timeline, program);
}

static enum gt_borrow borrow(struct gt_workload *timeline, uint32_t number, const struct offers *offers)
{
    struct gt_kernel *kernel = &timeline->kernels[number];
    struct names names;
    struct offer *offer;
    enum gt_borrow how;

    if (kernel->program != NULL)
        return GT_BORROW_OWN;
    names = names_of(timeline, kernel);
    offer = choose(offers, &names, kernel, &how);
    names_free(&names);
    if (offer != NULL)
        take(timeline, kernel, offer);
    return how;
}

void gt_borrow_programs(struct gt_workload *timeline, struct gt_workload *const *profiled, uint32_t count,
                        struct gt_borrowed *borrowed)
{
    struct offers offers = { .count = 0 };

    *borrowed = (struct gt_borrowed){ .how = gt_calloc(timeline->kernel_count + 1ull, 1) };
    for (uint32_t i = 0; i < count; i++)
        collect(&offers, profiled[i]);
    for (uint32_t i = 0; i < timeline->op_count; i++) {
        uint32_t number = timeline->ops[i].kernel;

        if (number == GT_NONE)
            continue;
        if (borrowed->how[number] == GT_BORROW_UNUSED) {
            borrowed->how[number] = (uint8_t)borrow(timeline, number, &offers);
            borrowed->kernels[borrowed->how[number]]++;
        }
        borrowed->launches[borrowed->how[number]]++;
    }
    gt_workload_warn(timeline, "no-program",
                     borrowed->launches[GT_BORROW_OTHER_BLOCK] + borrowed->launches[GT_BORROW_UNKNOWN],
                     "launches of kernels that no profile has, by name and block: they last as measured");
    for (uint32_t i = 0; i < offers.count; i++)
        names_free(&offers.items[i].names);
    free(offers.items);
}
