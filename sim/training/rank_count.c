#include "sim/training/rank_count.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/collectives/cost.h"

static const double largest_mib = 1 << 20;
enum { HOST_GPUS = 8 }; /* that NVSwitches join in one (HGX, DGX) */

int gt_count_parse(const char *argument, const char *what, uint32_t least, uint32_t most, uint32_t *count,
                   struct gt_error *error)
{
    char *rest;
    unsigned long number;

    errno = 0;
    number = strtoul(argument, &rest, 10);
    if (argument[0] < '0' || argument[0] > '9' || *rest != '\0' || errno != 0 || number < least || number > most)
        return gt_error_set(error, "%s is a number from %u to %u, not '%.60s'", what, least, most, argument);
    *count = (uint32_t)number;
    return 0;
}

static int parse_bucket(const char *text, uint64_t *bytes, struct gt_error *error)
{
    static const char key[] = "bucket=";
    char *rest;
    double mib;

    if (strncmp(text, key, sizeof key - 1) != 0)
        return gt_error_set(error, "after ':' comes bucket=MIB, not '%.60s'", text);
    text += sizeof key - 1;
    mib = strtod(text, &rest);
    if (text[0] < '0' || text[0] > '9' || *rest != '\0' || !(mib > 0) || mib > largest_mib)
        return gt_error_set(error, "a bucket has MiB from above 0 to %.0f, not '%.60s'", largest_mib, text);
    *bytes = (uint64_t)fmax(1, mib * (1 << 20)); /* 0 would be the usual sizes */
    return 0;
}

int gt_ranks_parse(const char *argument, uint32_t *ranks, uint64_t *bucket_bytes, struct gt_error *error)
{
    const char *colon = strchr(argument, ':');
    char number[16] = "";
    size_t length = colon != NULL ? (size_t)(colon - argument) : strlen(argument);

    memcpy(number, argument, length < sizeof number ? length : sizeof number - 1);
    if (gt_count_parse(number, "how many GPUs", 2, GT_MOST_GPUS, ranks, error) != 0)
        return -1;
    if (colon == NULL)
        return 0;
    return parse_bucket(colon + 1, bucket_bytes, error);
}

/* Once a scenario: more than was measured, and why; `otherwise` where that is the number of GPUs alone. */
static void tell(struct gt_scenario *scenario, const char *otherwise)
{
    char *why = gt_collective_why_extrapolated(&scenario->device);

    scenario->extrapolated = true;
    gt_scenario_assume(scenario, GT_TRUST_LOW, "extrapolated: %s", why != NULL ? why : otherwise);
    free(why);
}

void gt_ranks_tell_extrapolated(struct gt_scenario *scenario, uint32_t ranks)
{
    char *otherwise;

    if (!gt_collective_extrapolated(&scenario->device, ranks))
        return;
    otherwise = gt_format("Collectives and links were measured with %u GPUs, not with %u",
                          scenario->device.collective.measured_ranks, ranks);
    tell(scenario, otherwise);
    free(otherwise);
    if (ranks > HOST_GPUS)
        gt_scenario_assume(scenario, GT_TRUST_LOW,
                           "All %u GPUs are linked as in one host; the slower network between hosts is not modelled",
                           ranks);
}

void gt_ranks_tell_extrapolated_collectives(struct gt_scenario *scenario, uint64_t collectives)
{
    char *otherwise;

    if (collectives == 0 || scenario->extrapolated)
        return;
    otherwise = gt_format("Collectives were measured with %u GPUs; %llu of the trace have more",
                          scenario->device.collective.measured_ranks, (unsigned long long)collectives);
    tell(scenario, otherwise);
    free(otherwise);
}
