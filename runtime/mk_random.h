/* Random streams: one for each object, so that a draw in one object never changes what another draws.
 *
 * The stream of an object is SplitMix64 (Steele, Lea, Flood 2014) started at a mix of the instance's seed, the class's
 * index, the object's number and its generation. The interpreter does the same; a run is replayed by its seed. */
#ifndef MK_RANDOM_H
#define MK_RANDOM_H

#include "mk_base.h"

static inline uint64_t mk_mix(uint64_t z)
{
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

#define MK_GOLDEN UINT64_C(0x9e3779b97f4a7c15)

static inline uint64_t mk_stream(uint64_t seed, uint32_t class_index, uint32_t number, uint32_t generation)
{
    uint64_t state = mk_mix(seed + MK_GOLDEN);
    state = mk_mix(state ^ ((uint64_t)class_index + MK_GOLDEN));
    return mk_mix(state ^ mk_ref_of(number, generation));
}

static inline uint64_t mk_sample(uint64_t *stream)
{
    if (MK_FAULT(sample))
        return mk_mix(*stream);
    *stream += MK_GOLDEN;
    return mk_mix(*stream);
}

#endif
