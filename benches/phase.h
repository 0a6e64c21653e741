/* A measured phase: instructions are counted by callgrind inside the entry that is named on its command line, from here on. */
#ifndef PHASE_H
#define PHASE_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <valgrind/callgrind.h>
#include "mk_random.h"

#define SESSIONS 64
#define ROUNDS 64

/* The same order in every run: a session's number for each call, all equally often, at random. */
static inline void shuffle(unsigned *order)
{
    uint64_t stream = 1;
    for (unsigned i = 0; i < SESSIONS * ROUNDS; i++)
        order[i] = i % SESSIONS;
    for (unsigned i = SESSIONS * ROUNDS - 1; i > 0; i--) {
        unsigned j = (unsigned)(mk_sample(&stream) % (i + 1)), t = order[i];
        order[i] = order[j];
        order[j] = t;
    }
}

static inline void check(int good, const char *what)
{
    if (!good) {
        fprintf(stderr, "bench: %s\n", what);
        exit(1);
    }
}

static inline void *instance_memory(size_t size)
{
    void *memory = aligned_alloc(64, (size + 63) / 64 * 64);
    check(memory != NULL, "no memory");
    memset(memory, 0, size);
    return memory;
}

#endif
