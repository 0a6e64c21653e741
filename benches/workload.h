/* A workload: a seeded run of a stack's public interface. It says how often each entry was called and a digest of all that came out (frames, messages, what
 * was said of sessions, what was refused, and when), so that two builds of one stack can be compared; and callgrind counts one kind of entry, `counted`, from call to
 * return, calls from within its callbacks among it. What the program itself does in a callback is not counted (`aside`). */
#ifndef WORKLOAD_H
#define WORKLOAD_H

#include "phase.h"

/* Names are what callgrind's driver asks for. */
enum entry { SEND, FRAME, ADVANCE, OPEN, CLOSE, GRANT, ENTRIES, NONE };
static const char *const entry_names[ENTRIES] = {"send", "frame", "advance", "open", "close", "grant"};

static enum entry chosen = NONE;
static unsigned calls[ENTRIES], depth;
static uint64_t now, digest = UINT64_C(0xcbf29ce484222325), chance = 1;

static inline unsigned random_below(unsigned limit)
{
    return (unsigned)(mk_sample(&chance) % limit);
}

/* FNV-1a, by octets. */
static inline void take_in(const void *at, size_t size)
{
    const uint8_t *octets = at;
    for (size_t i = 0; i < size; i++)
        digest = (digest ^ octets[i]) * UINT64_C(0x100000001b3);
}

/* Something came out, or was refused. `kind` is a letter of the program's own. */
static inline void write_down(char kind, uint32_t who, const void *at, size_t size)
{
    uint64_t head[3] = {(uint64_t)kind << 32 | who, now, size};
    take_in(head, sizeof head);
    take_in(at, size);
}

__attribute__((noinline)) void aside(char kind, uint32_t who, const void *at, size_t size)
{
    write_down(kind, who, at, size);
}

/* As `write_down`, from within a callback. */
static inline void note(char kind, uint32_t who, const void *at, size_t size)
{
    (depth ? aside : write_down)(kind, who, at, size);
}

static inline void begin_workload(int argc, char **argv)
{
    check(argc > 2, "usage: workload SEED ENTRY|none");
    chance = strtoull(argv[1], NULL, 0);
    for (unsigned i = 0; i < ENTRIES; i++)
        if (!strcmp(argv[2], entry_names[i]))
            chosen = (enum entry)i;
}

static inline void end_workload(void)
{
    for (unsigned i = 0; i < ENTRIES; i++)
        if (calls[i])
            printf("%s %u\n", entry_names[i], calls[i]);
    printf("calls %u\ndigest %016llx\n", chosen == NONE ? 0 : calls[chosen], (unsigned long long)digest);
}

#endif
