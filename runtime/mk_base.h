/* What every other file of the runtime stands on: references, handles, octet slices, reports.
 *
 * Freestanding C11: of a library only memcpy, memmove, memset and memcmp are asked for. Nothing here or elsewhere in
 * the runtime allocates; all memory is handed in when an instance is made. */
#ifndef MK_BASE_H
#define MK_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if __STDC_HOSTED__
#include <string.h>
#else
/* Without a library there is no header that declares them. */
void *memcpy(void *restrict to, const void *restrict from, size_t size);
void *memmove(void *to, const void *from, size_t size);
void *memset(void *to, int octet, size_t size);
int memcmp(const void *one, const void *other, size_t size);
#endif

#ifndef MK_FAULT
/* Test builds replace this to plant a fault by name; see crates/emit_c/tests/faults.rs. */
#define MK_FAULT(name) 0
#endif

#if defined(__GNUC__)
#define MK_LIKELY(x) __builtin_expect(!!(x), 1)
#define MK_UNLIKELY(x) __builtin_expect(!!(x), 0)
#define MK_UNUSED __attribute__((unused))
#define MK_COLD __attribute__((cold, noinline))
/* Not where it is called: who calls it is to save no registers for it. */
#define MK_APART __attribute__((noinline))
/* In every place where it is called. */
#define MK_IN_PLACE inline __attribute__((always_inline))
/* A loop of which mostly some rounds are run is not to be made ready for many. */
#define MK_ONE_BY_ONE(value) __asm__("" : "+r"(value))
/* Where an element of an array stands, worked out once: a compiler that knows how does it again at each use. */
static MK_UNUSED MK_IN_PLACE void *mk_worked_out(void *place)
{
    __asm__("" : "+r"(place));
    return place;
}
#define MK_PLACE(array, number) ((__typeof__(&(array)[0]))mk_worked_out(&(array)[number]))
#else
#define MK_LIKELY(x) (x)
#define MK_UNLIKELY(x) (x)
#define MK_UNUSED
#define MK_COLD
#define MK_APART
#define MK_IN_PLACE inline
#define MK_ONE_BY_ONE(value) (void)(value)
#define MK_PLACE(array, number) (&(array)[number])
#endif

/* In place where time counts; a function where octets of code do, as `mokume build --size` says by MK_SMALL: of what is smaller so. */
#ifdef MK_SMALL
/* A stack built so does not link with a runtime that is not. */
#define mk_core_init mk_core_init_small
#define MK_SHARED MK_UNUSED MK_APART
#define MK_AT_END MK_APART
#define MK_OFTEN MK_UNUSED MK_APART
#else
#define MK_SHARED inline
#define MK_AT_END MK_IN_PLACE
#define MK_OFTEN MK_IN_PLACE
#endif

/* Whether paths have a brisk copy beside them: one that calls nothing but what is last, and so saves no registers. */
#ifdef MK_SMALL
#define MK_BRISK false
#else
#define MK_BRISK true
#endif

/* A reference to an object: its number in the low half, its generation in the high half. */
typedef uint64_t mk_ref;

#define MK_NOBODY UINT32_MAX
/* Generations are below: an object's head has bits above it, where it does not live. */
#define MK_GENERATIONS (UINT32_C(1) << 30)
#define MK_NULL ((mk_ref)MK_NOBODY)
/* The one object of a class that has one, from the start to the end. */
#define MK_SOLE ((mk_ref)0)

static inline mk_ref mk_ref_of(uint32_t number, uint32_t generation)
{
    return (mk_ref)generation << 32 | number;
}

static inline uint32_t mk_number(mk_ref ref)
{
    return (uint32_t)ref;
}

/* A reference as a record keeps it, to an object of a class with at most 2^15 places. All zeros: the reference that is 0. */
typedef struct mk_short {
    uint16_t number; /* UINT16_MAX: MK_NOBODY */
    uint16_t generation[2];
} mk_short;

static inline mk_ref mk_long(const mk_short *at)
{
    uint32_t generation;
    memcpy(&generation, at->generation, sizeof generation);
    return mk_ref_of((uint32_t)(int16_t)at->number, generation);
}

static inline void mk_shorten(mk_short *at, mk_ref ref)
{
    uint32_t generation = (uint32_t)(ref >> 32);
    at->number = (uint16_t)ref;
    memcpy(at->generation, &generation, sizeof generation);
}

/* An object as programs see it. A handle of an object that has ended is refused at the port. Where its `object` is 0 it is nobody's.
   It belongs to one life of the instance: behind another init over the same memory it may name an object of the new life. */
typedef struct mk_handle {
    uint32_t object; /* its number and 1 */
    uint32_t generation;
} mk_handle;

static inline mk_handle mk_handle_of(mk_ref ref)
{
    uint64_t next = ref + 1; /* no number but nobody's runs over */
    return (mk_handle){(uint32_t)next, (uint32_t)(next >> 32)};
}

/* A handle that was never given out means nobody. */
static inline mk_ref mk_ref_of_handle(mk_handle handle)
{
    mk_ref ref = mk_ref_of(handle.object, handle.generation) - 1;
    return ref >> 32 < MK_GENERATIONS ? ref : MK_NULL;
}

/* Lists are of 32-bit words: where something stands in the instance, in words from a base that stands in front of it; 0: none. */
static inline uint32_t mk_where(const void *base, const void *at)
{
    return (uint32_t)((const uint32_t *)at - (const uint32_t *)base);
}

static inline void *mk_there(const void *base, uint32_t where)
{
    return (uint32_t *)(uintptr_t)base + where;
}

/* Octets that somebody else owns, valid during the call that gives them. */
typedef struct mk_octets {
    const uint8_t *at;
    uint32_t size;
} mk_octets;

/* An argument of a port's event, for programs that know the stack only by its tables. */
enum mk_datum_kind { MK_WORD, MK_HANDLE, MK_OCTETS };

typedef struct mk_datum {
    uint32_t kind; /* enum mk_datum_kind */
    uint64_t word;
    mk_handle handle;
    mk_octets octets;
} mk_datum;

/* Arithmetic and bounds reports: an output, the same on every back end. */
enum mk_report_kind { MK_OVERFLOW, MK_DIVISION_BY_ZERO, MK_BOUNDS, MK_MISUSE, MK_NARROW };

/* The number of the lowest bit that is set; there is one. */
static inline uint32_t mk_lowest(uint64_t bits)
{
#if defined(__GNUC__)
    return (uint32_t)__builtin_ctzll(bits);
#else
    uint32_t n = 0;
    while (!(bits >> n & 1))
        n++;
    return n;
#endif
}

static inline uint32_t mk_min_u32(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

#endif
