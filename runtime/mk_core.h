/* One running instance: everything that the generated code of every stack has in common.
 *
 * The generated code hands in its tables and its memory; this file knows how a reaction goes (docs/semantics.md):
 * an event and what follows from it, settling, the end of objects, then what was put off for later. */
#ifndef MK_CORE_H
#define MK_CORE_H

#include "mk_agenda.h"
#include "mk_map.h"
#include "mk_object.h"
#include "mk_octets.h"
#include "mk_pool.h"
#include "mk_random.h"
#include "mk_wheel.h"

/* What the generated code does when it is asked to. `stack` is the generated instance. */
typedef struct mk_program {
    void (*deliver)(void *stack, mk_event *event);
    void (*expire)(void *stack, uint32_t declaration, uint32_t number);
    void (*settle)(void *stack, uint32_t class_index, mk_ref self);
    /* Stops the timers of an object that ends, and drops the messages it holds; once more when its place is freed. */
    void (*clear)(void *stack, uint32_t class_index, uint32_t number, bool freed);
    /* Hands an output to the program that embeds the stack. */
    void (*leave)(void *stack, const mk_output *output);
    /* An event that was put off no longer waits, and is delivered. */
    void (*carry_later)(void *stack, const mk_event *event);
} mk_program;

typedef struct mk_report {
    uint32_t kind;   /* enum mk_report_kind */
    uint32_t source; /* an index into the generated table of sources; MK_NOBODY: unknown */
} mk_report;

/* What became of the messages; totals since the start. */
typedef struct mk_accounts {
    uint64_t received, gone, delivered, merged, held, refused;
    uint64_t *dropped, *consumed; /* by reason */
} mk_accounts;

typedef struct mk_core {
    const mk_program *program;
    void *stack;
    uint64_t now, seed;
    uint64_t quiet; /* A call before it has nothing to do first, and the pool has room for it; 0: who calls has to look. */
    uint64_t ages;
    uint16_t reaction; /* its number; never 0 */
    mk_class *classes;
    uint32_t class_count;
    mk_pool pool;
    mk_wheel wheel;
    mk_agenda agenda;
    mk_ring later;
    uint8_t *outputs; /* that leave when the reaction is over, in order */
    uint32_t output_stride, output_capacity, output_count;
    uint32_t output_quota; /* of a reaction, beyond which nothing more settles in it; UINT32_MAX: none */
    uint32_t put_out;      /* by the reaction at hand */
    mk_accounts accounts;
    uint64_t most_held; /* messages, when a reaction begins; UINT64_MAX: no matter */
    uint64_t brink;     /* so many kept, and the pool has room for a reaction all the same */
    uint32_t peak;      /* that it may need, at least 1 */
    mk_report *reports;
    uint32_t report_capacity, report_count;
    uint32_t dirty, *dirty_end;         /* longest dirty first; lists are of mk_settling, by where they stand in the instance */
    uint32_t unsettled, *unsettled_end; /* at their limit: for the continuation */
    uint32_t has_ended;  /* whether some object has, in the reaction at hand */
    uint32_t reactions_left; /* of the call at hand */
    bool leaving;       /* outputs are being handed over */
    bool lends;         /* what leaves may stand in the buffer of a message that is kept */
    uint32_t long_octets; /* so many are not put behind what is in front of them at once */
    uint8_t *front;     /* behind the octets that paths put in front of what leaves; NULL: none does */
    uint64_t exhausted; /* outputs or reports that found no room */
} mk_core;

void mk_core_init(mk_core *core, const mk_program *program, void *stack);

#ifdef __OPTIMIZE_SIZE__
/* Once in each file. Elsewhere it stands in place, so that compilers see what it leaves alone. */
MK_COLD MK_UNUSED
#else
inline
#endif
static void mk_report_at(mk_core *core, uint32_t kind, uint32_t source)
{
    if (core->report_count < core->report_capacity)
        core->reports[core->report_count++] = (mk_report){kind, source};
    else
        core->exhausted++;
}
/* What is read beyond the end. */
static MK_UNUSED MK_COLD uint64_t mk_beyond(mk_core *core, uint32_t source)
{
    mk_report_at(core, MK_BOUNDS, source);
    return 0;
}

/* Time never runs backwards. */
static inline void mk_set_now(mk_core *core, uint64_t now)
{
    if (now > core->now)
        core->now = now;
}

/* -- objects */

/* A new living object of a class, its cells still to be set; MK_NOBODY when there is no place. */
uint32_t mk_new(mk_core *core, mk_class *class, uint32_t parent);
/* Ends an object and those in it. */
void mk_release(mk_core *core, mk_class *class, mk_ref ref);

/* The object handles an event, or asks from afar: it will settle. */
void mk_touch_first(mk_core *core, mk_object *object, mk_settling *settling);
static inline void mk_touch(mk_core *core, mk_object *object, mk_settling *settling)
{
    if (!settling->dirty)
        mk_touch_first(core, object, settling);
}

/* -- messages */

static inline void mk_drop(mk_core *core, mk_message *message, uint32_t reason)
{
    core->accounts.dropped[reason]++;
    mk_message_free(&core->pool, message);
}

static inline void mk_consume(mk_core *core, mk_message *message, uint32_t reason)
{
    core->accounts.consumed[reason]++;
    mk_message_free(&core->pool, message);
}

static inline void mk_gone(mk_core *core, mk_message *message)
{
    core->accounts.gone++;
    mk_message_free(&core->pool, message);
}

/* Keeps a message in a place that another is in, which ends; or there is no such place (NULL), and it ends itself. Reports that. */
void mk_keep_beside(mk_core *core, mk_held *place, mk_message *message, uint32_t source);

/* -- reactions */

/* Carries out what has been emitted since the agenda's top was `base`. */
void mk_carry_out(mk_core *core, uint32_t base);
/* Ends the reaction at hand: settling; then objects that have ended give their places back, and outputs leave. */
void mk_end_reaction(mk_core *core);
/* The numbers of reactions begin anew: nobody has settled in the one that is to come. */
void mk_count_reactions_anew(mk_core *core);
static inline void mk_count_reaction(mk_core *core)
{
    if (MK_UNLIKELY(++core->reaction == 0))
        mk_count_reactions_anew(core);
}
/* Whether something waits that comes before every other input: continuations and events put off for later. */
static inline bool mk_is_behind(const mk_core *core)
{
    return core->unsettled | core->later.count;
}
/* Whether the pool has room for a reaction that needs so many buffers and messages. */
static inline bool mk_has_free(const mk_core *core, uint32_t needed)
{
    return core->accounts.held <= core->most_held && core->pool.buffers_free >= needed && core->pool.messages_free >= needed;
}
/* The same of a reaction to an input with so many messages. */
static MK_SHARED bool mk_has_room(const mk_core *core, uint32_t messages)
{
    return mk_has_free(core, messages > core->peak ? messages : core->peak);
}
/* A buffer leaves, with what was written in front of its octets. Who is called, and calls, changes copies of it; and has one buffer less, also when the
   message that it was kept with has ended. */
static inline void mk_lend(mk_core *core, mk_buffer *buffer)
{
    core->brink--;
    buffer->references++;
}
static inline void mk_lend_over(mk_core *core, mk_buffer *buffer)
{
    core->brink++;
    mk_buffer_release(&core->pool, buffer);
}
/* The pool has its size: how many messages may be kept before who calls has to look whether it has room. */
void mk_note_brink(mk_core *core);
/* A reaction is over: what the next call may rely on. What waits to leave is noted when it has. */
static inline void mk_note_quiet(mk_core *core)
{
    bool is_quiet = !(core->unsettled | core->later.count | core->output_count) && mk_has_free(core, core->peak);
    core->quiet = MK_LIKELY(is_quiet) ? core->wheel.soonest : 0;
}
/* A timer has been set: it may be due before the others. */
static inline void mk_note_sooner(mk_core *core)
{
    if (core->wheel.soonest < core->quiet)
        core->quiet = core->wheel.soonest;
}
/* Whether there is more to do when a reaction is over than so many events that were put off. */
static inline bool mk_has_more(const mk_core *core, uint32_t put_off)
{
    return core->dirty | core->has_ended | core->output_count | core->unsettled | (core->later.count ^ put_off);
}
/* A path is over, and nothing is to be done before what was put off, which is one event: that event, whose reaction begins. Else NULL: it
   is for `mk_end_behind`. */
static inline const mk_event *mk_next_alone(mk_core *core)
{
    if (MK_UNLIKELY((mk_has_more(core, 1) && !MK_FAULT(next_alone)) || !core->reactions_left))
        return NULL;
    mk_count_reaction(core);
    core->reactions_left--;
    return mk_ring_take_only(&core->later);
}
/* Time passes without an event. */
void mk_advance(mk_core *core, uint64_t now);
/* These reactions, and between them those of timers due at or before `now`, each at its deadline. */
void mk_catch_up(mk_core *core, uint64_t now);
/* The former only. */
void mk_settle_down(mk_core *core);
/* A call begins: it does no more than so many reactions. A stack that never comes to rest is driven on by further calls. */
enum { MK_REACTIONS_PER_CALL = 1 << 16 };
static inline mk_output *mk_output_at(const mk_core *core, uint32_t index)
{
    return (mk_output *)(void *)(core->outputs + (size_t)index * core->output_stride);
}

/* Room for an output, NULL if there is none. */
static inline mk_output *mk_put_output(mk_core *core, uint16_t port, uint16_t event, uint16_t count)
{
    core->put_out++;
    if (MK_UNLIKELY(core->output_count == core->output_capacity)) {
        core->exhausted++;
        return NULL;
    }
    mk_output *output = mk_output_at(core, core->output_count++);
    output->port = port;
    output->event = event;
    output->count = count;
    return output;
}

/* Hands all outputs over. A program that calls the stack meanwhile adds to them. */
void mk_leave_all(mk_core *core);

#endif
