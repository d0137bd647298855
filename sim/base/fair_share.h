/* fair_share.h - who gets how much of resources that do not suffice for all: weighted max-min fairness.
 *
 * Users have rates.  At rate 1 user u takes amount[u][r] of resource r; of r there is capacity[r].
 * All rates grow together, rate[u] = level x speed[u], and a user stops growing when it has its limit, or
 * when a resource that it takes anything of is used up:
 *
 *     sum over u of rate[u] x amount[u][r] <= capacity[r]   for every r
 *     rate[u] <= limit[u]                                   for every u
 *
 * and no rate can be raised without lowering one whose rate / speed is as low or lower.  That is unique. With
 * speeds of 1 / (largest share that the user takes of anything at rate 1) it is dominant resource
 * fairness (Ghodsi et al., NSDI'11); with one resource, max-min fairness as in SimGrid's lmm.
 */
#ifndef GRIDTIDE_SIM_BASE_FAIR_SHARE_H
#define GRIDTIDE_SIM_BASE_FAIR_SHARE_H

#include <stdbool.h>
#include <stdint.h>

struct gt_share_user {
    double limit;                 /* of its rate, > 0 */
    double speed;                 /* > 0 */
    uint32_t first_use, uses;     /* in gt_share.uses */
    double rate;                  /* out */
    bool settled;                 /* the solver's: the rate is final */
};

struct gt_share_use { uint32_t resource; double amount; };    /* amount > 0 */

/* A resource; what it can give is set by the caller, the rest is the solver's. */
struct gt_share_resource { double capacity, used, rising; };

/* The arrays are the caller's to free(). */
struct gt_share {
    struct gt_share_user *users;         uint32_t user_count, user_room;
    struct gt_share_use *uses;           uint32_t use_count, use_room;
    struct gt_share_resource *resources; uint32_t resource_count, resource_room;
};

/* An empty problem, in the memory of the last one. */
void gt_share_clear(struct gt_share *share);
/* Add a resource; returns its number.  A capacity below 0 counts as 0. */
uint32_t gt_share_add_resource(struct gt_share *share, double capacity);
/* Add a user; gt_share_add_use() then adds what the user added last takes of a resource; an amount that is
 * not above 0 is nothing. */
uint32_t gt_share_add_user(struct gt_share *share, double limit, double speed);
void gt_share_add_use(struct gt_share *share, uint32_t resource, double amount);
/* Fill in every user's rate. */
void gt_share_solve(struct gt_share *share);
/* The arrays; the problem is empty then. */
void gt_share_free(struct gt_share *share);

#endif
