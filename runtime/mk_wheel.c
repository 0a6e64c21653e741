/* Timers; see mk_wheel.h. */
#include "mk_wheel.h"

static int mk_last_bit(uint64_t x) /* x != 0 */
{
#if defined(__GNUC__)
    return 63 - __builtin_clzll(x);
#else
    int n = 0;
    while (x >>= 1)
        n++;
    return n;
#endif
}

static int mk_first_bit(uint64_t x)
{
    return mk_last_bit(x & (~x + 1));
}

static bool mk_timer_before(const mk_timer *a, const mk_timer *b)
{
    if (a->deadline != b->deadline)
        return a->deadline < b->deadline;
    if (a->declaration != b->declaration)
        return MK_FAULT(timer_order) ? a->declaration > b->declaration : a->declaration < b->declaration;
    return a->age < b->age;
}

static void mk_timer_link(mk_timer *timer, mk_timer **at)
{
    timer->next = *at;
    timer->link = at;
    if (timer->next)
        timer->next->link = &timer->next;
    *at = timer;
}

void mk_timer_stop(mk_timer *timer)
{
    if (!timer->link)
        return;
    *timer->link = timer->next;
    if (timer->next)
        timer->next->link = timer->link;
    timer->next = NULL;
    timer->link = NULL;
}

void mk_wheel_init(mk_wheel *wheel, uint64_t tick)
{
    memset(wheel, 0, sizeof *wheel);
    wheel->tick = tick ? tick : 1;
    wheel->soonest = UINT64_MAX;
}

/* Into `due`, which is kept in order. Timers mostly come in order, but one in the past may come at any time. */
static void mk_wheel_due(mk_wheel *wheel, mk_timer *timer)
{
    mk_timer **at = &wheel->due;
    while (*at && mk_timer_before(*at, timer))
        at = &(*at)->next;
    mk_timer_link(timer, at);
}

static void mk_wheel_place(mk_wheel *wheel, mk_timer *timer)
{
    uint64_t when = timer->deadline / wheel->tick;
    if (when < wheel->elapsed) {
        mk_wheel_due(wheel, timer);
        return;
    }
    uint64_t differs = (when ^ wheel->elapsed) | (MK_WHEEL_SLOTS - 1);
    int level = mk_last_bit(differs) / MK_WHEEL_BITS;
    int slot = (int)(when >> (level * MK_WHEEL_BITS)) & (MK_WHEEL_SLOTS - 1);
    mk_timer_link(timer, &wheel->slots[level][slot]);
    wheel->occupied[level] |= UINT64_C(1) << slot;
}

void mk_timer_arm(mk_wheel *wheel, mk_timer *timer, uint64_t deadline)
{
    uint64_t rest = deadline % wheel->tick;
    mk_timer_stop(timer);
    if (rest && !MK_FAULT(timer_rounding)) /* rounded up; beyond the end of time, down */
        deadline = deadline <= UINT64_MAX - (wheel->tick - rest) ? deadline + (wheel->tick - rest) : deadline - rest;
    timer->deadline = deadline;
    if (deadline < wheel->soonest)
        wheel->soonest = deadline;
    mk_wheel_place(wheel, timer);
}

/* Merges two lists in order; only `next` is kept. */
static mk_timer *mk_timers_merge(mk_timer *a, mk_timer *b)
{
    mk_timer *first = NULL, **end = &first;
    while (a && b) {
        mk_timer **least = mk_timer_before(b, a) ? &b : &a;
        *end = *least;
        end = &(*least)->next;
        *least = *end;
    }
    *end = a ? a : b;
    return first;
}

static mk_timer *mk_timers_sort(mk_timer *list)
{
    mk_timer *runs[64] = {0}; /* runs[i] holds 2^i timers */
    while (list) {
        mk_timer *run = list;
        int i = 0;
        list = list->next;
        run->next = NULL;
        for (; runs[i]; i++) {
            run = mk_timers_merge(runs[i], run);
            runs[i] = NULL;
        }
        runs[i] = run;
    }
    for (int i = 0; i < 64; i++)
        list = runs[i] ? mk_timers_merge(runs[i], list) : list;
    return list;
}

/* All timers of a slot become due: they have one deadline, or there is one of them. */
static void mk_wheel_ripen(mk_wheel *wheel, mk_timer **slot)
{
    mk_timer *list = (*slot)->next ? mk_timers_sort(*slot) : *slot;
    *slot = NULL;
    wheel->due = wheel->due ? mk_timers_merge(wheel->due, list) : list;
    for (mk_timer **at = &wheel->due; *at; at = &(*at)->next)
        (*at)->link = at;
}

/* The earliest slot in use: those of a lower level come before all of a higher one. */
static bool mk_wheel_earliest(const mk_wheel *wheel, int *level, int *slot)
{
    for (*level = 0; *level < MK_WHEEL_LEVELS; ++*level) {
        uint64_t occupied = wheel->occupied[*level];
        for (; occupied; occupied &= occupied - 1) {
            *slot = mk_first_bit(occupied);
            if (wheel->slots[*level][*slot])
                return true;
        }
    }
    return false;
}

static uint64_t mk_slot_start(const mk_wheel *wheel, int level, int slot)
{
    int shift = level * MK_WHEEL_BITS, above = shift + MK_WHEEL_BITS;
    uint64_t high = above >= 64 ? 0 : wheel->elapsed >> above << above;
    return high | (uint64_t)slot << shift;
}

/* Moves on to the earliest slot, if it starts at or before `now` (in ticks). A timer that is alone in it is the next one of
 * all, and need not go down level by level. */
static bool mk_wheel_turn(mk_wheel *wheel, uint64_t now)
{
    int level, slot;
    if (!mk_wheel_earliest(wheel, &level, &slot))
        return false;
    uint64_t start = mk_slot_start(wheel, level, slot);
    if (start > now)
        return false;
    mk_timer *list = wheel->slots[level][slot];
    uint64_t first = list->deadline / wheel->tick;
    bool ripe = level == 0 || (!list->next && (first <= now || MK_FAULT(timer_alone)));
    if (ripe)
        start = first;
    if (start > wheel->elapsed)
        wheel->elapsed = start;
    wheel->occupied[level] &= ~(UINT64_C(1) << slot);
    if (ripe) {
        mk_wheel_ripen(wheel, &wheel->slots[level][slot]);
        return true;
    }
    wheel->slots[level][slot] = NULL;
    while (list) {
        mk_timer *timer = list;
        list = list->next;
        mk_wheel_place(wheel, timer);
    }
    return true;
}

mk_timer *mk_wheel_take_due(mk_wheel *wheel, uint64_t now)
{
    /* All slots that are due ripen first: a timer in the past may come before what ripened last. */
    while (mk_wheel_turn(wheel, now / wheel->tick))
        ;
    mk_timer *timer = wheel->due;
    if (timer) {
        mk_timer_stop(timer);
        return timer;
    }
    int level, slot;
    wheel->soonest = UINT64_MAX;
    if (mk_wheel_earliest(wheel, &level, &slot))
        wheel->soonest = mk_slot_start(wheel, level, slot) * wheel->tick;
    return NULL;
}

bool mk_wheel_next(const mk_wheel *wheel, uint64_t *deadline)
{
    int level, slot;
    const mk_timer *timer = wheel->due;
    if (!timer) {
        if (!mk_wheel_earliest(wheel, &level, &slot))
            return false;
        timer = wheel->slots[level][slot];
    }
    for (*deadline = timer->deadline; timer; timer = timer->next)
        *deadline = timer->deadline < *deadline ? timer->deadline : *deadline;
    return true;
}
