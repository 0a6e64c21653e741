/* Operations of handlers that report or count: on cells, on messages, on what is put off for later.
 *
 * Each does one operation of the reaction automaton; docs/automaton.md says what each means. */
#ifndef MK_CELLS_H
#define MK_CELLS_H

#include "mk_core.h"

static inline bool mk_within(mk_core *core, uint64_t index, uint64_t size, uint32_t source)
{
    if (MK_LIKELY(index < size))
        return true;
    mk_report_at(core, MK_BOUNDS, source);
    return false;
}

/* A path: how often it was refused since it was taken last, how often it is not asked for want of that, and how long it rested last. All zeros
 * where it was taken. */
typedef struct mk_asked {
    uint8_t missed, resting, rested, unused;
} mk_asked;

enum { MK_MISSED = 16, MK_RESTS = 240 };

/* The layers do it: the path was refused, or rests, each time twice as long as before. Where memos are checked none rests. */
static inline void mk_missed(mk_asked *path)
{
#ifdef MK_CHECK_MEMOS
    (void)path;
#else
    if (path->resting) {
        path->resting--;
    } else if (path->missed < MK_MISSED) {
        path->missed++;
    } else {
        uint32_t longer = path->rested ? 2u * path->rested : 2;
        path->resting = path->rested = (uint8_t)mk_min_u32(longer, MK_RESTS);
    }
#endif
}

static inline void mk_taken(mk_asked *path)
{
    *path = (mk_asked){0, 0, 0, 0};
}

/* Something changes that memos read: what they gave is worked out anew. */
static inline void mk_forget(uint64_t *memos)
{
    ++*memos;
}

/* A timer of an object that has ended stays idle. */
static inline void mk_do_arm(mk_core *core, const mk_object *object, mk_timer *timer, uint64_t deadline)
{
    if (mk_is_alive(object))
        mk_timer_arm(&core->wheel, timer, deadline);
    else
        mk_timer_stop(timer);
}

static inline bool mk_do_take(uint32_t *left, uint32_t amount)
{
    if (amount > *left)
        return false;
    *left -= amount;
    return true;
}

static MK_OFTEN void mk_do_spend(mk_core *core, uint32_t *left, uint32_t amount, uint32_t source)
{
    if (MK_UNLIKELY(!mk_do_take(left, amount)))
        mk_report_at(core, MK_MISUSE, source);
}

static MK_OFTEN void mk_do_give(mk_core *core, uint32_t *left, uint32_t total, uint32_t amount, uint32_t source)
{
    if (MK_UNLIKELY(amount > total - *left)) {
        mk_report_at(core, MK_MISUSE, source);
        if (!MK_FAULT(quota_give))
            amount = total - *left;
    }
    *left += amount;
}

/* Into a place that is empty. */
static MK_OFTEN void mk_do_keep_in(mk_core *core, mk_held *place, mk_message *message)
{
    *place = mk_hold(&core->pool, message);
    if (MK_UNLIKELY(++core->accounts.held > core->brink))
        core->quiet = 0;
}

static MK_OFTEN void mk_do_keep(mk_core *core, mk_held *places, uint32_t size, uint64_t index, mk_message *message,
                                uint32_t source)
{
    if (MK_UNLIKELY(index >= size || places[index] != 0)) {
        mk_keep_beside(core, index < size ? &places[index] : NULL, message, source);
        return;
    }
    mk_do_keep_in(core, &places[index], message);
}

/* Out of a place that has one. */
static inline mk_message *mk_do_take_there(mk_core *core, mk_held *place)
{
    mk_message *message = mk_held_message(&core->pool, *place);
    *place = 0;
    core->accounts.held -= MK_FAULT(held_count) ? 0 : 1;
    return message;
}

static inline mk_message *mk_do_take_out(mk_core *core, mk_held *places, uint32_t size, uint64_t index,
                                         uint32_t source)
{
    if (!mk_within(core, index, size, source) || !places[index])
        return NULL;
    return mk_do_take_there(core, &places[index]);
}

/* The same of a place that holds a message; else that is misuse, and there is one without octets instead. */
static inline mk_message *mk_do_take_held(mk_core *core, mk_held *places, uint32_t size, uint64_t index,
                                          uint32_t source)
{
    if (MK_LIKELY(index < size && places[index]))
        return mk_do_take_out(core, places, size, index, source);
    if (mk_within(core, index, size, source))
        mk_report_at(core, MK_MISUSE, source);
    return mk_message_new(&core->pool, core->front, 0);
}

static inline void mk_do_consume_held(mk_core *core, mk_held *places, uint32_t size, uint64_t index, uint32_t reason,
                                      uint32_t source)
{
    mk_message *message = mk_do_take_out(core, places, size, index, source);
    if (message)
        mk_consume(core, message, reason);
}

static inline mk_message *mk_do_share_held(mk_core *core, mk_held *places, uint32_t size, uint64_t index,
                                           uint32_t source)
{
    if (!mk_within(core, index, size, source) || !places[index])
        return NULL;
    return mk_message_share(&core->pool, mk_held_message(&core->pool, places[index]));
}

/* An object ends: what it still holds is gone. Answers how many messages that were. */
static inline uint32_t mk_drop_held(mk_core *core, mk_held *places, uint32_t size)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < size; i++) {
        if (!places[i])
            continue;
        mk_gone(core, mk_held_message(&core->pool, places[i]));
        places[i] = 0;
        core->accounts.held--;
        count++;
    }
    return count;
}

/* Asked in the object's own settle instant: it settles again at once. */
static inline void mk_again(mk_settling *settling)
{
    settling->again = true;
}

/* Asked elsewhere: it is dirty from now on. */
static inline void mk_ask_again(mk_core *core, mk_object *object, mk_settling *settling)
{
    mk_touch(core, object, settling);
}

static inline void mk_do_trim(mk_core *core, mk_message *message, uint32_t size, uint32_t source)
{
    if (!mk_trim(message, size))
        mk_report_at(core, MK_BOUNDS, source);
}

static inline void mk_do_skip(mk_core *core, mk_message *message, uint32_t size, uint32_t source)
{
    if (!mk_skip(message, size))
        mk_report_at(core, MK_BOUNDS, source);
}

/* A number of octets, no more than there are. */
static MK_OFTEN uint32_t mk_do_within(mk_core *core, uint32_t size, uint32_t all, uint32_t source)
{
    if (MK_LIKELY(size <= all))
        return size;
    mk_report_at(core, MK_BOUNDS, source);
    return all;
}

static inline mk_message *mk_do_split(mk_core *core, mk_message *message, uint32_t at, uint32_t source)
{
    mk_message *rest;
    if (!mk_split(&core->pool, message, at, &rest))
        mk_report_at(core, MK_BOUNDS, source);
    return rest;
}

static inline void mk_do_join(mk_core *core, mk_message *first, mk_message *second, uint32_t source)
{
    core->accounts.merged++;
    if (!mk_join(&core->pool, first, second))
        mk_report_at(core, MK_BOUNDS, source);
}

static inline mk_native mk_native_open(mk_core *core, mk_message *message, uint32_t grows, uint32_t source)
{
    mk_native octets;
    if (!mk_give_octets(&core->pool, message, grows, &octets))
        mk_report_at(core, MK_BOUNDS, source);
    return octets;
}

static inline uint64_t mk_do_load(mk_core *core, const mk_message *message, uint32_t at, uint32_t size, bool little,
                                  uint32_t source)
{
    uint64_t value;
    if (!mk_load(message, at, size, little, &value))
        mk_report_at(core, MK_BOUNDS, source);
    return value;
}

static inline uint8_t mk_do_load_8(mk_core *core, const mk_message *message, uint32_t at, uint32_t source)
{
    return (uint8_t)mk_do_load(core, message, at, 1, false, source);
}

static inline void mk_do_store(mk_core *core, mk_message *message, uint32_t at, uint64_t value, uint32_t size,
                               bool little, uint32_t source)
{
    if (!mk_store(&core->pool, message, at, value, size, little))
        mk_report_at(core, MK_BOUNDS, source);
}

/* Which header stands on top, MK_NOBODY: none. Records begin with their kind. */
static inline uint32_t mk_top_kind(const mk_core *core, mk_message *message)
{
    uint32_t kind;
    if (mk_no_headers(&core->pool, message))
        return MK_NOBODY;
    memcpy(&kind, mk_top(&core->pool, message), sizeof kind);
    return kind;
}

static inline void *mk_push_zeros(mk_core *core, mk_message *message, uint32_t size)
{
    return memset(mk_push(&core->pool, message, size), 0, size);
}

/* Which alternative is to be taken off; of a message without headers the first one, of zeros (docs/semantics.md, F8). */
static inline uint32_t mk_alternative(mk_core *core, mk_message *message, uint32_t first, uint32_t size)
{
    if (MK_UNLIKELY(mk_no_headers(&core->pool, message)))
        memcpy(mk_push_zeros(core, message, size), &first, sizeof first);
    return mk_top_kind(core, message);
}

/* Takes the top record off; it stays readable until the next push. Of a message without headers it is of zeros; no
 * other kind than this is ever on top. */
static inline void *mk_do_pop(mk_core *core, mk_message *message, uint32_t kind, uint32_t size, uint32_t source)
{
    void *record = mk_top(&core->pool, message);
    uint32_t top = mk_top_kind(core, message);
    if (MK_UNLIKELY(top != kind)) {
        if (top != MK_NOBODY)
            mk_report_at(core, MK_MISUSE, source);
        record = mk_push_zeros(core, message, size);
    }
    mk_pop(&core->pool, message, size);
    return record;
}

/* An event for a reaction of its own, its arguments still to be set; NULL: the handler's queue is full. */
static inline mk_event *mk_do_later(mk_core *core, uint32_t *waiting, uint32_t capacity, uint16_t what, mk_ref target,
                                    uint32_t messages)
{
    mk_event *event = *waiting < capacity ? mk_ring_put(&core->later) : NULL;
    if (!event)
        return NULL;
    ++*waiting;
    *event = (mk_event){NULL, target, what, MK_DIRECT, false};
    core->accounts.held += messages;
    /* Who calls next, or ends a path, has to look. */
    core->quiet = 0;
    return event;
}

#endif
