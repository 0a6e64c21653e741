/* Timers: a hierarchical wheel (Varghese, Lauck 1987) with an exact order.
 *
 * Arming and stopping cost a constant; timers come out by deadline, then by declaration, then by the age of their
 * object. Deadlines are multiples of the tick, so all timers of a slot of the lowest level have one deadline. */
#ifndef MK_WHEEL_H
#define MK_WHEEL_H

#include "mk_base.h"

enum { MK_WHEEL_BITS = 6, MK_WHEEL_SLOTS = 1 << MK_WHEEL_BITS, MK_WHEEL_LEVELS = 11 };

typedef struct mk_timer {
    struct mk_timer *next, **link; /* `link` points at what points at us; NULL: idle */
    uint64_t deadline;             /* nanoseconds, a multiple of the tick */
    uint64_t age;                  /* of the object: the smaller, the older */
    uint32_t declaration;
    uint32_t number;               /* of the object in its class */
} mk_timer;

typedef struct mk_wheel {
    uint64_t tick;    /* nanoseconds */
    uint64_t elapsed; /* in ticks: armed timers before it stand in `due`, all others in slots */
    uint64_t occupied[MK_WHEEL_LEVELS];
    mk_timer *slots[MK_WHEEL_LEVELS][MK_WHEEL_SLOTS];
    mk_timer *due;    /* in order */
    uint64_t soonest; /* no timer is due before it: looked at before all else, since mostly none is */
} mk_wheel;

void mk_wheel_init(mk_wheel *wheel, uint64_t tick);
/* `deadline` is rounded up to the tick; replaces an earlier one. */
void mk_timer_arm(mk_wheel *wheel, mk_timer *timer, uint64_t deadline);
void mk_timer_stop(mk_timer *timer);
mk_timer *mk_wheel_take_due(mk_wheel *wheel, uint64_t now);
/* The next timer that is due at or before `now`, stopped; NULL if there is none. */
static inline mk_timer *mk_wheel_take(mk_wheel *wheel, uint64_t now)
{
    return MK_LIKELY(now < wheel->soonest) ? NULL : mk_wheel_take_due(wheel, now);
}
/* Whether a timer is armed; the earliest deadline. */
bool mk_wheel_next(const mk_wheel *wheel, uint64_t *deadline);

static inline bool mk_timer_armed(const mk_timer *timer)
{
    return timer->link != NULL;
}

#endif
