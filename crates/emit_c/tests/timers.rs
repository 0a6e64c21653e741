//! The timer wheel against a plain list: random settings, stops, queries and expiries, in ticks of several lengths.

use crate::common::ran_with_runtime;
use mokume_emit_c::RUNTIME_FAULTS;

const PROGRAM: &str = r#"
#include <stdio.h>
#include "mokume.h"

enum { TIMERS = 40, RUNS = 1000, STEPS = 300, KINDS = 3 };

/* Two declarations of one class, and one of another; the strides are 56 and 40 octets. */
static struct {
    mk_wheel wheel;
    struct {
        mk_timer two[2];
        uint64_t more[3];
    } pairs[TIMERS];
    struct {
        mk_timer one;
        uint64_t more[3];
    } others[TIMERS];
    uint64_t ages[TIMERS];
} all;

static mk_timer *timer_of(unsigned kind, unsigned number)
{
    return kind < 2 ? &all.pairs[number].two[kind] : &all.others[number].one;
}
/* By kind and number: the deadline, and one; 0: not set. */
static uint64_t armed[KINDS][TIMERS], chance = 1, tick;
static unsigned count;

static uint64_t below(uint64_t limit)
{
    return mk_sample(&chance) % limit;
}

static void arm(mk_timer *timer, uint64_t *plain, uint64_t deadline)
{
    mk_timer_arm(&all.wheel, timer, deadline);
    *plain = (deadline + tick - 1) / tick * tick + 1;
}

/* The first of those that are armed, none if none is. */
static uint64_t *first(unsigned *kind, unsigned *number)
{
    uint64_t *found = NULL;
    for (unsigned k = 0; k < KINDS; k++) {
        for (unsigned n = 0; n < count; n++) {
            uint64_t *other = &armed[k][n];
            bool is_older = found && *other == *found && k == *kind && all.ages[n] < all.ages[*number];
            if (*other && (!found || *other < *found || is_older))
                found = other, *kind = k, *number = n;
        }
    }
    return found;
}

static const char *step(uint64_t *now, uint64_t span)
{
    unsigned kind = (unsigned)below(KINDS), number = (unsigned)below(count);
    uint64_t deadline, *plain;
    mk_timer *timer = timer_of(kind, number);
    switch (below(10)) {
    case 0:
        mk_timer_stop(timer);
        armed[kind][number] = 0;
        return NULL;
    case 1:
        if (mk_timer_armed(timer) != !!armed[kind][number])
            return "armed";
        plain = first(&kind, &number);
        return mk_wheel_next(&all.wheel, &deadline) != !!plain || (plain && deadline != *plain - 1) ? "next" : NULL;
    case 2:
    case 3:
        *now += below(span);
        for (;;) {
            timer = mk_wheel_take(&all.wheel, *now);
            plain = first(&kind, &number);
            if (!plain || *plain - 1 > *now)
                return timer ? "too early" : NULL;
            if (timer != timer_of(kind, number))
                return timer ? "another one" : "too late";
            mk_timer_name name = mk_timer_declaration(&all.wheel, timer);
            if (name.declaration != kind || name.number != number || mk_timer_armed(timer))
                return "which one";
            *plain = 0;
            if (!below(3))
                arm(timer, plain, timer->deadline + below(span));
        }
    case 4:
        arm(timer, &armed[kind][number], *now - below(*now < span ? *now + 1 : span));
        return NULL;
    default:
        arm(timer, &armed[kind][number], *now + below(span));
        return NULL;
    }
}

int main(void)
{
    const uint64_t ticks[] = {1, 7, 1000, 1000000};
    mk_timers kinds[KINDS];
    for (unsigned run = 0; run < RUNS; run++) {
        memset(&all, 0, sizeof all);
        memset(armed, 0, sizeof armed);
        for (unsigned k = 0; k < KINDS; k++)
            kinds[k] = mk_timers_of((size_t)((uint8_t *)timer_of(k, 0) - (uint8_t *)&all.wheel),
                                    k < 2 ? sizeof *all.pairs : sizeof *all.others,
                                    k < 2 ? sizeof all.pairs : sizeof all.others, all.ages);
        for (unsigned n = 0; n < TIMERS; n++)
            all.ages[n] = below(1000) * TIMERS + n;
        count = 1 + (unsigned)below(TIMERS);
        tick = ticks[run % 4];
        mk_wheel_init(&all.wheel, tick, kinds, KINDS);
        uint64_t now = 0, span = tick << below(40);
        for (unsigned i = 0; i < STEPS; i++) {
            const char *wrong = step(&now, span);
            if (wrong)
                return printf("%s\n", wrong), 1;
        }
    }
    return 0;
}
"#;

#[test]
fn timers_come_as_from_a_plain_list() {
    assert_eq!(ran_with_runtime("timers", PROGRAM, &["-O1", "-fsanitize=address,undefined"]), "");
    // Each fault is found separately.
    for fault in [
        "timer_order",
        "timer_rounding",
        "timer_alone",
        "timer_later",
        "timer_rests",
        "timer_last",
        "timer_near",
        "timer_first",
    ] {
        let one = |name: &&str| format!("-DFAULT_{name}={}", u8::from(*name == fault));
        let mut flags: Vec<String> = RUNTIME_FAULTS.iter().map(one).collect();
        flags.extend(["-O1".to_string(), "-DMK_FAULT(name)=FAULT_##name".to_string()]);
        let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
        assert_ne!(ran_with_runtime("timers", PROGRAM, &flags), "", "{fault}");
    }
}
