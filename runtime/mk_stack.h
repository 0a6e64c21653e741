/* What all generated stacks offer in the same words, for programs and tools that know a stack only by its tables. */
#ifndef MK_STACK_H
#define MK_STACK_H

#include "mk_core.h"

/* How much memory an instance has. All of it is in the block that is handed to `init`. */
typedef struct mk_config {
    uint64_t seed;          /* of the random streams */
    uint32_t buffers;       /* of the pool */
    uint32_t buffer_octets; /* of one buffer, with its head room: what layers join beyond it is cut, and reported */
    uint32_t messages;      /* that may exist at once; shares count, but need no buffer */
    uint32_t outputs;       /* of one call */
    uint32_t reports;       /* that are kept until they are taken */
} mk_config;

typedef void (*mk_any_output)(void *context, uint32_t port, uint32_t event, const mk_datum *args, uint32_t count);

/* A place in a source text. */
typedef struct mk_source {
    uint16_t file; /* an index into `files` */
    uint16_t line;
} mk_source;

typedef struct mk_interface {
    const char *name;
    mk_config defaults;
    size_t (*size)(const mk_config *config);
    void *(*init)(void *memory, const mk_config *config, const uint64_t *params, mk_any_output output, void *context);
    void (*start)(void *stack, uint64_t now);
    bool (*input)(void *stack, uint64_t now, uint32_t port, uint32_t event, const mk_datum *args, uint32_t count);
    void (*advance)(void *stack, uint64_t now);
    bool (*next_deadline)(const void *stack, uint64_t *deadline);
    mk_core *(*core)(void *stack);
    const uint64_t *(*counters)(const void *stack);
    const uint64_t *(*coverage)(const void *stack); /* NULL if branches are not counted */
    uint32_t counter_count, reason_count, source_count, branch_count;
    const char *const *counter_names;
    const char *const *reason_names;
    const char *const *files;
    const mk_source *sources; /* by the index that a report carries */
} mk_interface;

/* A call from outside begins: what comes before it is done. Answers whether there is room for its reaction. */
bool mk_begin_behind(mk_core *core, uint64_t now);
static inline bool mk_begin(mk_core *core, uint64_t now)
{
    core->reactions_left = MK_REACTIONS_PER_CALL;
    if (MK_UNLIKELY(now >= core->quiet))
        return mk_begin_behind(core, now);
    mk_set_now(core, now);
    return true;
}

/* The same where nothing comes before it; else false, and nothing is done. */
static inline bool mk_begin_brisk(mk_core *core, uint64_t now)
{
    if (MK_UNLIKELY(!MK_BRISK || now >= core->quiet))
        return false;
    core->reactions_left = MK_REACTIONS_PER_CALL;
    mk_set_now(core, now);
    return true;
}

/* The reaction of a call from outside is over. Timers that it set for now or earlier wait for the next call. */
static inline bool mk_end(mk_core *core)
{
    mk_end_reaction(core);
    if (MK_UNLIKELY(mk_is_behind(core))) {
        if (!core->reactions_left)
            core->reactions_left = 1;
        mk_settle_down(core);
    }
    return true;
}

/* The same of a path, of which nothing waits to leave; who was called by it may have called. */
bool mk_end_behind(mk_core *core);
static inline bool mk_end_quiet(mk_core *core)
{
    return MK_LIKELY(core->quiet != 0) || mk_end_behind(core);
}

/* Whether an output may be returned to the caller in place of being handed over: no other is leaving, and nothing waits behind it. */
static inline bool mk_may_return(const mk_core *core)
{
    return !core->leaving && core->quiet != 0;
}

/* The reaction of `mk_next_alone` is over. */
bool mk_end_next_behind(mk_core *core);
static inline bool mk_end_next(mk_core *core)
{
    if (MK_LIKELY(!mk_has_more(core, 0))) {
        mk_count_reaction(core);
        core->quiet = MK_LIKELY(mk_has_free(core, core->peak)) ? core->wheel.soonest : 0;
        return true;
    }
    return mk_end_next_behind(core);
}

static MK_SHARED bool mk_refuse(mk_core *core)
{
    core->accounts.refused++;
    return false;
}

static inline bool mk_next_deadline(const mk_core *core, uint64_t *deadline)
{
    *deadline = core->now;
    /* Timers may be put where they belong, which nobody sees. */
    return mk_is_behind(core) || mk_wheel_next((mk_wheel *)(uintptr_t)&core->wheel, deadline);
}

/* The kinds of an event's arguments are given as a text, a letter each: `w` a word, `h` a handle, `o` octets. */

/* Whether data are of these kinds. */
bool mk_data_are(const mk_datum *data, uint32_t count, const char *kinds);
/* What an output carries, as data. */
void mk_data_of(const mk_output *output, const char *kinds, mk_datum *data);
/* An output has been handed over: its messages end. */
static inline void mk_output_free(mk_core *core, const mk_output *output, const char *kinds)
{
    for (uint32_t i = 0; kinds[i]; i++) {
        if (kinds[i] == 'o')
            mk_message_free(&core->pool, (mk_message *)(uintptr_t)output->args[i]);
    }
}

/* The octets of a message among an output's arguments. */
static inline mk_octets mk_octets_of(uint64_t word)
{
    const mk_message *message = (const mk_message *)(uintptr_t)word;
    return (mk_octets){mk_data(message), message->view.size};
}

/* A handle that comes in by a port: of a living object, or null. */
static inline bool mk_admits(const mk_class *class, mk_handle handle)
{
    bool is_null = handle.object == 0 && handle.generation <= 1; /* of zeros, or made of MK_NULL */
    return is_null || mk_living(class, mk_ref_of_handle(handle));
}

static inline size_t mk_aligned(size_t size)
{
    return (size + 15) & ~(size_t)15;
}

/* The block that an instance is given, cut into pieces. */
static inline void *mk_cut(uint8_t **at, size_t size)
{
    void *piece = *at;
    *at += mk_aligned(size);
    return piece;
}

#endif
