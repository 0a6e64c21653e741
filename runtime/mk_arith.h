/* Arithmetic on values of 1 to 64 bits: checked operations wrap and report (docs/semantics.md, A1 to A3).
 *
 * `mask` has the bits of the type set. Generated code writes wrapping operations in plain C. */
#ifndef MK_ARITH_H
#define MK_ARITH_H

#include "mk_core.h"

static inline uint64_t mk_add(mk_core *core, uint64_t a, uint64_t b, uint64_t mask, uint32_t source)
{
    uint64_t sum = (a + b) & mask;
    if (MK_UNLIKELY(sum < a) && !MK_FAULT(carry_report))
        mk_report_at(core, MK_OVERFLOW, source);
    return sum;
}

static inline uint64_t mk_sub(mk_core *core, uint64_t a, uint64_t b, uint64_t mask, uint32_t source)
{
    if (MK_UNLIKELY(b > a) && !MK_FAULT(borrow_report))
        mk_report_at(core, MK_OVERFLOW, source);
    return (a - b) & mask;
}

/* The same, of the types that C has. */
#define MK_SUMS(width) \
    static inline uint##width##_t mk_add_##width(mk_core *core, uint##width##_t a, uint##width##_t b, uint32_t source) \
    { \
        uint##width##_t sum = (uint##width##_t)(a + b); \
        if (MK_UNLIKELY(sum < a) && !MK_FAULT(carry_report)) \
            mk_report_at(core, MK_OVERFLOW, source); \
        return sum; \
    } \
    static inline uint##width##_t mk_sub_##width(mk_core *core, uint##width##_t a, uint##width##_t b, uint32_t source) \
    { \
        if (MK_UNLIKELY(b > a) && !MK_FAULT(borrow_report)) \
            mk_report_at(core, MK_OVERFLOW, source); \
        return (uint##width##_t)(a - b); \
    }
MK_SUMS(8)
MK_SUMS(16)
MK_SUMS(32)
MK_SUMS(64)

static inline uint64_t mk_mul(mk_core *core, uint64_t a, uint64_t b, uint64_t mask, uint32_t source)
{
    if (MK_UNLIKELY(a != 0 && b > mask / a))
        mk_report_at(core, MK_OVERFLOW, source);
    return (a * b) & mask;
}

static inline uint64_t mk_div(mk_core *core, uint64_t a, uint64_t b, uint32_t source)
{
    if (MK_LIKELY(b != 0))
        return a / b;
    mk_report_at(core, MK_DIVISION_BY_ZERO, source);
    return 0;
}

static inline uint64_t mk_rem(mk_core *core, uint64_t a, uint64_t b, uint32_t source)
{
    if (MK_LIKELY(b != 0))
        return a % b;
    mk_report_at(core, MK_DIVISION_BY_ZERO, source);
    return 0;
}

/* An index below `n`; another one is reported, and is the largest number. */
static inline uint64_t mk_inside(mk_core *core, uint64_t index, uint64_t n, uint64_t mask, uint32_t source)
{
    if (MK_LIKELY(index < n))
        return index;
    mk_report_at(core, MK_BOUNDS, source);
    return mask;
}

/* Shifts by the width or more give 0. */
static inline uint64_t mk_shl(uint64_t a, uint64_t by, uint32_t width, uint64_t mask)
{
    return by < width ? a << by & mask : 0;
}

static MK_SHARED uint64_t mk_shr(uint64_t a, uint64_t by, uint32_t width)
{
    return by < width ? a >> by : 0;
}

/* Circular order (RFC 1982): `a` before `b` when b - a is in 1 .. 2^(n-1). */
static MK_IN_PLACE bool mk_seq_before(uint64_t a, uint64_t b, uint64_t mask)
{
    uint64_t ahead = (b - a) & mask;
    if (MK_FAULT(seq_compare))
        return a < b;
    return ahead != 0 && ahead <= mask >> 1;
}

/* The other bits of a number whose bits are `ones`. */
static inline uint64_t mk_not(uint64_t value, uint64_t ones)
{
    return value ^ ones;
}

#endif
