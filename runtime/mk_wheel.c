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

/* Timers stand behind the wheel, in the same instance. */
static mk_timer *mk_timer_at(const mk_wheel *wheel, uint32_t place)
{
    return mk_there(wheel, place);
}

mk_timers mk_timers_of(size_t first, size_t stride, size_t extent, const uint64_t *ages)
{
    uint32_t shift = 0;
    while (!(stride >> shift & 1))
        shift++;
    uint64_t odd = stride >> shift, inverse = odd; /* right in its last three bits; each round doubles these */
    for (int round = 0; round < 5; round++)
        inverse *= 2 - odd * inverse;
    return (mk_timers){first, inverse, shift, (uint32_t)(extent / stride), ages};
}

MK_APART mk_timer_name mk_timer_search(mk_wheel *wheel, size_t at)
{
    if (MK_FAULT(timer_last))
        return (mk_timer_name){wheel->last, 0};
    uint32_t low = 0, high = wheel->timer_count;
    while (high - low > 1) {
        uint32_t middle = (low + high) / 2;
        *(wheel->timers[middle].first <= at ? &low : &high) = middle;
    }
    /* It is this one, or one before it of the same class. */
    uint64_t number;
    while ((number = mk_timers_number(&wheel->timers[low], at)) >= wheel->timers[low].count)
        low--;
    wheel->last = low;
    return (mk_timer_name){low, (uint32_t)number};
}

static MK_APART mk_timer_name mk_timer_which(mk_wheel *wheel, const mk_timer *timer)
{
    return mk_timer_declaration(wheel, timer);
}

static bool mk_timer_before(mk_wheel *wheel, const mk_timer *a, const mk_timer *b)
{
    if (a->deadline != b->deadline)
        return a->deadline < b->deadline;
    mk_timer_name first = mk_timer_which(wheel, a), second = mk_timer_which(wheel, b);
    if (first.declaration != second.declaration)
        return MK_FAULT(timer_order) ? first.declaration > second.declaration : first.declaration < second.declaration;
    const uint64_t *ages = wheel->timers[first.declaration].ages;
    return ages && ages[first.number] < ages[second.number];
}

/* Who says that it is next is another now. */
static void mk_timer_linked(mk_timer *timer, uint32_t link)
{
    timer->link = link | (timer->link & MK_TIMER_RESTS);
}

static bool mk_timer_rests(const mk_timer *timer)
{
    return timer->link >= MK_TIMER_RESTS && !MK_FAULT(timer_rests);
}

/* An armed one. */
static void mk_timer_link(mk_wheel *wheel, mk_timer *timer, uint32_t *at)
{
    timer->next = *at;
    timer->link = mk_where(wheel, at);
    if (timer->next)
        mk_timer_linked(mk_timer_at(wheel, timer->next), mk_where(wheel, &timer->next));
    *at = mk_where(wheel, timer);
}

/* What comes first is this one, or is not known. */
static void mk_wheel_first(mk_wheel *wheel, const mk_timer *timer)
{
    wheel->first = timer ? mk_where(wheel, timer) : 0;
    wheel->first_at = timer ? timer->deadline : 0;
}

void mk_timer_remove(mk_wheel *wheel, mk_timer *timer)
{
    uint32_t link = timer->link & ~MK_TIMER_RESTS;
    if (!link)
        return;
    if (wheel->first == mk_where(wheel, timer))
        mk_wheel_first(wheel, NULL);
    *(uint32_t *)mk_there(wheel, link) = timer->next;
    if (timer->next)
        mk_timer_linked(mk_timer_at(wheel, timer->next), link);
    timer->next = 0;
    timer->link = 0;
}

void mk_wheel_init(mk_wheel *wheel, uint64_t tick, const mk_timers *timers, uint32_t timer_count)
{
    memset(wheel, 0, sizeof *wheel);
    wheel->tick = tick ? tick : 1;
    wheel->soonest = UINT64_MAX;
    wheel->rest = UINT64_MAX;
    wheel->timers = timers;
    wheel->timer_count = timer_count;
}

/* Into `due`, which is kept in order. Timers mostly come in order, but one in the past may come at any time. */
static void mk_wheel_due(mk_wheel *wheel, mk_timer *timer)
{
    uint32_t *at = &wheel->due;
    while (*at && mk_timer_before(wheel, mk_timer_at(wheel, *at), timer))
        at = &mk_timer_at(wheel, *at)->next;
    mk_timer_link(wheel, timer, at);
}

/* The slot of a time that is not before what has elapsed. */
static uint32_t *mk_wheel_slot(mk_wheel *wheel, uint64_t when, int *level, int *slot)
{
    uint64_t differs = (when ^ wheel->elapsed) | (MK_WHEEL_SLOTS - 1);
    *level = mk_last_bit(differs) / MK_WHEEL_BITS;
    *slot = (int)(when >> (*level * MK_WHEEL_BITS)) & (MK_WHEEL_SLOTS - 1);
    return &wheel->slots[*level][*slot];
}

/* Its deadline is so many ticks. */
static MK_IN_PLACE void mk_wheel_put(mk_wheel *wheel, mk_timer *timer, uint64_t when)
{
    if (timer->deadline < wheel->first_at && !MK_FAULT(timer_first))
        mk_wheel_first(wheel, timer);
    if (MK_UNLIKELY(when < wheel->elapsed)) {
        mk_wheel_due(wheel, timer);
        return;
    }
    int level, slot;
    uint32_t *list = mk_wheel_slot(wheel, when, &level, &slot);
    MK_ONE_BY_ONE(list);
    mk_timer_link(wheel, timer, list);
    wheel->occupied[level] |= UINT64_C(1) << slot;
    wheel->levels |= UINT32_C(1) << level;
}

static void mk_wheel_place(mk_wheel *wheel, mk_timer *timer)
{
    mk_wheel_put(wheel, timer, timer->deadline / wheel->tick);
}

void mk_timer_arm_anew(mk_wheel *wheel, mk_timer *timer, uint64_t deadline, uint64_t ticks)
{
    if (timer->link)
        mk_timer_remove(wheel, timer);
    timer->deadline = deadline;
    if (deadline < wheel->soonest) {
        wheel->soonest = deadline;
        if (!wheel->near) {
            mk_timer_link(wheel, timer, &wheel->near);
            return;
        }
    }
    if (deadline < wheel->rest)
        wheel->rest = deadline;
    mk_wheel_put(wheel, timer, ticks);
}

/* The timer beside the wheel leaves its place. */
static MK_APART void mk_wheel_join(mk_wheel *wheel, mk_timer *timer)
{
    bool rests = mk_timer_rests(timer);
    wheel->near = 0;
    timer->link = 0;
    if (!rests)
        mk_wheel_place(wheel, timer);
}

/* The timer beside the wheel, if it comes before all others; else it joins them. */
static MK_IN_PLACE mk_timer *mk_wheel_near(mk_wheel *wheel)
{
    if (!wheel->near)
        return NULL;
    mk_timer *timer = mk_timer_at(wheel, wheel->near);
    if (MK_LIKELY(!mk_timer_rests(timer) && (timer->deadline < wheel->rest || MK_FAULT(timer_near))))
        return timer;
    mk_wheel_join(wheel, timer);
    return NULL;
}

/* Merges two lists in order; only `next` is kept. */
static uint32_t mk_timers_merge(mk_wheel *wheel, uint32_t a, uint32_t b)
{
    uint32_t first = 0, *end = &first;
    while (a && b) {
        uint32_t *least = mk_timer_before(wheel, mk_timer_at(wheel, b), mk_timer_at(wheel, a)) ? &b : &a;
        *end = *least;
        end = &mk_timer_at(wheel, *least)->next;
        *least = *end;
    }
    *end = a ? a : b;
    return first;
}

static uint32_t mk_timers_sort(mk_wheel *wheel, uint32_t list)
{
    uint32_t runs[32] = {0}; /* runs[i] holds 2^i timers */
    while (list) {
        uint32_t run = list;
        int i = 0;
        list = mk_timer_at(wheel, run)->next;
        mk_timer_at(wheel, run)->next = 0;
        for (; runs[i]; i++) {
            run = mk_timers_merge(wheel, runs[i], run);
            runs[i] = 0;
        }
        runs[i] = run;
    }
    for (int i = 0; i < 32; i++)
        list = runs[i] ? mk_timers_merge(wheel, runs[i], list) : list;
    return list;
}

/* All timers of a list become due: they have one deadline, or there is one of them. */
static void mk_wheel_ripen(mk_wheel *wheel, uint32_t list)
{
    list = mk_timer_at(wheel, list)->next ? mk_timers_sort(wheel, list) : list;
    wheel->due = wheel->due ? mk_timers_merge(wheel, wheel->due, list) : list;
    for (uint32_t *at = &wheel->due; *at; at = &mk_timer_at(wheel, *at)->next)
        mk_timer_linked(mk_timer_at(wheel, *at), mk_where(wheel, at));
}

/* A slot is no longer looked at. */
static void mk_wheel_vacate(mk_wheel *wheel, int level, int slot)
{
    wheel->occupied[level] &= ~(UINT64_C(1) << slot);
    if (!wheel->occupied[level])
        wheel->levels &= ~(UINT32_C(1) << level);
}

/* The earliest slot in use: those of a lower level come before all of a higher one. Slots whose timers were stopped are vacated meanwhile. */
static bool mk_wheel_earliest(mk_wheel *wheel, int *level, int *slot)
{
    while (wheel->levels) {
        *level = (int)mk_lowest(wheel->levels);
        *slot = (int)mk_lowest(wheel->occupied[*level]);
        if (wheel->slots[*level][*slot])
            return true;
        mk_wheel_vacate(wheel, *level, *slot);
    }
    return false;
}

static uint64_t mk_slot_start(const mk_wheel *wheel, int level, int slot)
{
    int shift = level * MK_WHEEL_BITS;
    return ((wheel->elapsed >> shift & ~(uint64_t)(MK_WHEEL_SLOTS - 1)) | (uint64_t)slot) << shift;
}

/* Moves on to the earliest slot, if it starts at or before `now` (in ticks). Its timers become due, or go on to a slot of a lower level; one that was set again
 * for later goes on to its own slot, and one that rests leaves. */
static bool mk_wheel_turn(mk_wheel *wheel, uint64_t now)
{
    int level, slot;
    if (!mk_wheel_earliest(wheel, &level, &slot))
        return false;
    uint64_t start = mk_slot_start(wheel, level, slot);
    if (start > now)
        return false;
    uint32_t list = wheel->slots[level][slot], ripe = 0;
    if (start > wheel->elapsed) {
        wheel->elapsed = start;
        wheel->reached = start * wheel->tick;
    }
    mk_wheel_vacate(wheel, level, slot);
    wheel->slots[level][slot] = 0;
    while (list) {
        mk_timer *timer = mk_timer_at(wheel, list);
        uint32_t next = timer->next;
        if (mk_timer_rests(timer)) {
            timer->next = 0;
            timer->link = 0;
        } else if (timer->deadline / wheel->tick == start || (level == 0 && MK_FAULT(timer_later))) {
            timer->next = ripe;
            ripe = list;
        } else {
            mk_wheel_place(wheel, timer);
        }
        list = next;
    }
    if (ripe)
        mk_wheel_ripen(wheel, ripe);
    return true;
}

/* The timer that is next of all, if it is due and alone in its slot, and nothing is in `due`: it need not go down level by level. */
static MK_IN_PLACE mk_timer *mk_wheel_take_alone(mk_wheel *wheel, uint64_t now)
{
    int level, slot;
    while (!wheel->due && mk_wheel_earliest(wheel, &level, &slot)) {
        mk_timer *timer = mk_timer_at(wheel, wheel->slots[level][slot]);
        uint64_t first = timer->deadline / wheel->tick;
        /* One that was set again for later has a slot of its own. */
        bool is_own = (first ^ mk_slot_start(wheel, level, slot)) >> (level * MK_WHEEL_BITS) == 0 || MK_FAULT(timer_later);
        if (timer->next || !is_own || (first > now && !MK_FAULT(timer_alone)))
            return NULL;
        wheel->elapsed = first;
        wheel->reached = first * wheel->tick;
        mk_wheel_vacate(wheel, level, slot);
        wheel->slots[level][slot] = 0;
        bool rests = mk_timer_rests(timer);
        timer->link = 0;
        if (!rests)
            return timer;
    }
    return NULL;
}

/* The first of `due`, taken out of it. */
static mk_timer *mk_wheel_take_ripe(mk_wheel *wheel)
{
    while (wheel->due) {
        mk_timer *timer = mk_timer_at(wheel, wheel->due);
        bool rests = mk_timer_rests(timer);
        mk_timer_remove(wheel, timer);
        if (!rests)
            return timer;
    }
    return NULL;
}

/* All slots that are due ripen first: a timer in the past may come before what ripened last. */
static MK_APART mk_timer *mk_wheel_take_in_order(mk_wheel *wheel, uint64_t now)
{
    while (mk_wheel_turn(wheel, now))
        ;
    return mk_wheel_take_ripe(wheel);
}

static MK_APART mk_timer *mk_wheel_take_from_slots(mk_wheel *wheel, uint64_t now)
{
    uint64_t ticks = now / wheel->tick;
    mk_timer *timer = mk_wheel_take_alone(wheel, ticks);
    if (!timer)
        timer = mk_wheel_take_in_order(wheel, ticks);
    if (!wheel->due) {
        int level, slot;
        wheel->soonest = UINT64_MAX;
        if (mk_wheel_earliest(wheel, &level, &slot))
            wheel->soonest = mk_slot_start(wheel, level, slot) * wheel->tick;
    }
    wheel->rest = wheel->soonest;
    return timer;
}

mk_timer *mk_wheel_take_due(mk_wheel *wheel, uint64_t now)
{
    mk_wheel_first(wheel, NULL);
    mk_timer *timer = mk_wheel_near(wheel);
    if (!timer)
        return mk_wheel_take_from_slots(wheel, now);
    if (timer->deadline > now) {
        wheel->soonest = timer->deadline;
        return NULL;
    }
    wheel->near = 0;
    timer->link = 0;
    wheel->soonest = wheel->rest;
    return timer;
}

/* Those of a slot that were set again for later go on to their own, and those that rest leave; answers whether one stays. */
static bool mk_wheel_sift(mk_wheel *wheel, int level, int slot)
{
    for (uint32_t list = wheel->slots[level][slot]; list;) {
        mk_timer *timer = mk_timer_at(wheel, list);
        int own_level, own_slot;
        mk_wheel_slot(wheel, timer->deadline / wheel->tick, &own_level, &own_slot);
        list = timer->next;
        if (mk_timer_rests(timer)) {
            mk_timer_remove(wheel, timer);
        } else if ((own_level != level || own_slot != slot) && !MK_FAULT(timer_later)) {
            mk_timer_remove(wheel, timer);
            mk_wheel_place(wheel, timer);
        }
    }
    return wheel->slots[level][slot] != 0;
}

/* The first of those in a list of one slot, or of `due`. */
static const mk_timer *mk_timers_first(mk_wheel *wheel, uint32_t list)
{
    const mk_timer *first = mk_timer_at(wheel, list);
    while ((list = mk_timer_at(wheel, list)->next)) {
        const mk_timer *other = mk_timer_at(wheel, list);
        first = other->deadline < first->deadline ? other : first;
    }
    return first;
}

/* The first of all that are armed, but for `near`; NULL: none is. */
static MK_APART const mk_timer *mk_wheel_search(mk_wheel *wheel)
{
    int level, slot;
    while (wheel->due && mk_timer_rests(mk_timer_at(wheel, wheel->due)))
        mk_timer_remove(wheel, mk_timer_at(wheel, wheel->due));
    if (wheel->due)
        return mk_timers_first(wheel, wheel->due);
    while (mk_wheel_earliest(wheel, &level, &slot)) {
        if (mk_wheel_sift(wheel, level, slot))
            return mk_timers_first(wheel, wheel->slots[level][slot]);
    }
    return NULL;
}

bool mk_wheel_next(mk_wheel *wheel, uint64_t *deadline)
{
    const mk_timer *next = mk_wheel_near(wheel);
    if (!next && wheel->first) {
        const mk_timer *first = mk_timer_at(wheel, wheel->first);
        next = mk_timer_armed(first) && first->deadline == wheel->first_at ? first : NULL;
    }
    if (!next) {
        next = mk_wheel_search(wheel);
        mk_wheel_first(wheel, next);
    }
    if (next)
        *deadline = next->deadline;
    return next != NULL;
}
