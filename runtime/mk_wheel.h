/* Timers: a hierarchical wheel (Varghese, Lauck 1987) with an exact order.
 *
 * Arming and stopping cost a constant; timers come out by deadline, then by declaration, then by the age of their
 * object. Deadlines are multiples of the tick. A timer that is set again for later stays in its slot until this is due, and goes on
 * from there; one that is stopped stays there, too, and rests: most timers are set again before they expire. One that comes before all
 * others when it is set waits beside the wheel, in `near`: most often it expires before another comes between. */
#ifndef MK_WHEEL_H
#define MK_WHEEL_H

#include "mk_base.h"

enum { MK_WHEEL_BITS = 6, MK_WHEEL_SLOTS = 1 << MK_WHEEL_BITS, MK_WHEEL_LEVELS = 11 };

typedef struct mk_timer {
    uint32_t next;        /* in its list, as places count: see mk_timer_at */
    uint32_t link;        /* the place of what says that we are next, and MK_TIMER_RESTS; 0: idle, in no list */
    uint64_t deadline;    /* nanoseconds, a multiple of the tick */
} mk_timer;

/* Of a timer that is idle, but still in its list. So the timers of an instance stand within 8 GiB. */
#define MK_TIMER_RESTS 0x80000000u

/* The timers of one declaration, one in each object of a class: a timer is known by where it stands. Those of a class stand between each
 * other, those of different classes do not; declarations are in the order of their first ones. */
typedef struct mk_timers {
    size_t first;     /* that of the first object, in octets from the wheel on */
    uint64_t inverse; /* of the odd part of the stride to the next, modulo 2^64 */
    uint32_t shift;   /* of its even part, at least 1 */
    uint32_t count;   /* of objects */
    const uint64_t *ages; /* of the objects: the smaller, the older; NULL: there is one */
} mk_timers;

mk_timers mk_timers_of(size_t first, size_t stride, size_t extent, const uint64_t *ages);

/* The number of the object with the timer at this place; not less than `count`: it is none of these. A multiple of the stride is a number
 * times its even and its odd part; all else becomes more than any number of objects (Granlund and Montgomery 1994, on divisibility). */
static inline uint64_t mk_timers_number(const mk_timers *timers, size_t at)
{
    uint64_t product = (uint64_t)(at - timers->first) * timers->inverse;
    return product >> timers->shift | product << (64 - timers->shift);
}

typedef struct mk_wheel {
    uint64_t tick;    /* nanoseconds */
    uint64_t elapsed; /* in ticks: armed timers before it stand in `due`, all others in slots, none in one behind its deadline */
    uint64_t reached; /* the same in nanoseconds */
    uint32_t levels;  /* those with slots in use */
    uint32_t last;    /* the declaration that was asked for last */
    uint64_t occupied[MK_WHEEL_LEVELS]; /* the slots in use, and others that have been */
    uint64_t soonest; /* no timer is due before it: looked at before all else, since mostly none is */
    uint64_t rest;    /* the same of all but `near` */
    uint32_t near;    /* a list of one timer at most, in no slot */
    uint32_t due;     /* a list in order */
    uint64_t first_at; /* none but `near` is due before it; 0, if there is none */
    const mk_timers *timers; /* by declaration */
    uint32_t timer_count;
    uint32_t first;   /* what mk_wheel_next found: a timer, not in `near`; 0: none. It is the next one while its deadline is `first_at` */
    uint32_t slots[MK_WHEEL_LEVELS][MK_WHEEL_SLOTS];
} mk_wheel;

void mk_wheel_init(mk_wheel *wheel, uint64_t tick, const mk_timers *timers, uint32_t timer_count);
/* `deadline` is a multiple of the tick, so many ticks; replaces an earlier one. */
void mk_timer_arm_anew(mk_wheel *wheel, mk_timer *timer, uint64_t deadline, uint64_t ticks);
/* `deadline` is rounded up to the tick, which is the wheel's (a constant of the caller, if it knows it). Answers whether it may be due before all others. */
static MK_UNUSED MK_IN_PLACE bool mk_timer_arm_by(mk_wheel *wheel, mk_timer *timer, uint64_t deadline, uint64_t tick)
{
    uint64_t rest = deadline % tick;
    if (rest && !MK_FAULT(timer_rounding)) /* beyond the end of time, down */
        deadline = deadline <= UINT64_MAX - (tick - rest) ? deadline + (tick - rest) : deadline - rest;
    if (MK_LIKELY(timer->link && timer->deadline > wheel->reached && deadline >= timer->deadline)) {
        timer->deadline = deadline;
        timer->link &= ~MK_TIMER_RESTS;
        return false;
    }
    mk_timer_arm_anew(wheel, timer, deadline, deadline / tick);
    return true;
}
static MK_SHARED void mk_timer_arm(mk_wheel *wheel, mk_timer *timer, uint64_t deadline)
{
    mk_timer_arm_by(wheel, timer, deadline, wheel->tick);
}
/* Takes a timer out of its list: its memory may be used for something else. */
void mk_timer_remove(mk_wheel *wheel, mk_timer *timer);
static inline void mk_timer_stop(mk_timer *timer)
{
    if (timer->link)
        timer->link |= MK_TIMER_RESTS;
}
/* Which timer it is: its declaration, and the number of its object. */
typedef struct mk_timer_name {
    uint32_t declaration, number;
} mk_timer_name;

mk_timer_name mk_timer_search(mk_wheel *wheel, size_t at);
static inline mk_timer_name mk_timer_declaration(mk_wheel *wheel, const mk_timer *timer)
{
    size_t at = (size_t)((const uint8_t *)timer - (const uint8_t *)wheel);
    /* Mostly it is of the declaration that the one before was of. */
    uint64_t number = mk_timers_number(&wheel->timers[wheel->last], at);
    if (MK_LIKELY(number < wheel->timers[wheel->last].count))
        return (mk_timer_name){wheel->last, (uint32_t)number};
    return mk_timer_search(wheel, at);
}
mk_timer *mk_wheel_take_due(mk_wheel *wheel, uint64_t now);
/* The next timer that is due at or before `now`, stopped; NULL if there is none. */
static inline mk_timer *mk_wheel_take(mk_wheel *wheel, uint64_t now)
{
    return MK_LIKELY(now < wheel->soonest) ? NULL : mk_wheel_take_due(wheel, now);
}
/* Whether a timer is armed; the earliest deadline. Takes resting timers out of what it looks at. */
bool mk_wheel_next(mk_wheel *wheel, uint64_t *deadline);

static inline bool mk_timer_armed(const mk_timer *timer)
{
    return (uint32_t)(timer->link - 1) < MK_TIMER_RESTS - 1;
}

#endif
