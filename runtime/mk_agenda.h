/* What has been emitted and not yet carried out (docs/semantics.md, O), what waits for a reaction of its own, and what
 * leaves by ports when the reaction is over.
 *
 * Events of a handler lie side by side. A channel that needs it is a queue through them: carrying an event out means
 * delivering the head of its channel until it has itself been delivered. */
#ifndef MK_AGENDA_H
#define MK_AGENDA_H

#include "mk_base.h"

#define MK_DIRECT UINT16_MAX /* a channel without a queue */

typedef struct mk_event {
    struct mk_event *next; /* in its channel */
    mk_ref target;
    uint16_t what;         /* the generated code's number for handler or output */
    uint16_t channel;
    bool delivered;
    uint64_t args[];
} mk_event;

typedef struct mk_channel {
    mk_event *head, **end;
} mk_channel;

typedef struct mk_agenda {
    uint8_t *memory;
    uint32_t stride, capacity, top;
    mk_channel *channels;
    mk_event *spare; /* for what does not fit; see mk_core.exhausted */
    uint64_t exhausted;
} mk_agenda;

static inline uint32_t mk_event_size(uint32_t args)
{
    return (uint32_t)(sizeof(mk_event) + args * sizeof(uint64_t));
}

void mk_agenda_init(mk_agenda *agenda, void *memory, uint32_t args, uint32_t capacity, mk_channel *channels,
                    uint32_t channel_count);
mk_event *mk_emit(mk_agenda *agenda, uint16_t what, uint16_t channel, mk_ref target);
/* The next to deliver on the way to `event`: it, or an older one of its channel. */
mk_event *mk_agenda_next(mk_agenda *agenda, mk_event *event);

static inline mk_event *mk_agenda_at(const mk_agenda *agenda, uint32_t index)
{
    return (mk_event *)(void *)(agenda->memory + (size_t)index * agenda->stride);
}

/* A ring of records of one size: events for later, and outputs. */
typedef struct mk_ring {
    uint8_t *memory;
    uint32_t stride, capacity, first, count;
} mk_ring;

void mk_ring_init(mk_ring *ring, void *memory, uint32_t stride, uint32_t capacity);
/* The new last record; NULL when the ring is full. */
void *mk_ring_put(mk_ring *ring);
/* The first record, which stays valid until the next put; NULL when the ring is empty. */
void *mk_ring_take(mk_ring *ring);
/* The same of the only one. */
static inline void *mk_ring_take_only(mk_ring *ring)
{
    ring->count = 0;
    return ring->memory + (size_t)ring->first * ring->stride;
}

/* An event that left by a port; arguments as words: scalars, references, messages. */
typedef struct mk_output {
    _Alignas(8) uint16_t port;
    uint16_t event, count;
    uint64_t args[];
} mk_output;

static inline uint32_t mk_output_size(uint32_t args)
{
    return (uint32_t)(sizeof(mk_output) + args * sizeof(uint64_t));
}

#endif
