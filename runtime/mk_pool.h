/* The pool: buffers of octets, counted by reference, and the messages that look into them.
 *
 * A message is a stack of header records, a view of octets, attributes, and views of the packets it came in. Octets
 * with more than one reference are immutable: whoever wants to change them copies first (copy on write), and whoever
 * wants to put octets in front of them gets a fresh head room, so a frame still in a device's queue never changes. */
#ifndef MK_POOL_H
#define MK_POOL_H

#include "mk_base.h"

typedef struct mk_buffer {
    struct mk_buffer *next_free;
    uint32_t references;
    uint32_t unused;
    uint8_t octets[];
} mk_buffer;

typedef struct mk_view {
    mk_buffer *buffer; /* NULL: no octets */
    uint32_t at;
    uint32_t size;
} mk_view;

/* In memory behind it: attributes, views of received packets, header records (they grow downwards to `top`). */
typedef struct mk_message {
    struct mk_message *next_free;
    mk_view view;
    uint32_t top;
    uint32_t differs; /* attributes that may be others than at first: bit 0 for the first, for the 32nd, and so on; and MK_MET */
} mk_message;

/* In `differs`, above the bits of attributes: there may be views of received packets. */
enum { MK_ATTRIBUTE_BITS = 31 };
#define MK_MET (UINT32_C(1) << MK_ATTRIBUTE_BITS)

/* What the generator knows about the messages of a stack. */
typedef struct mk_message_shape {
    uint32_t attributes; /* words */
    uint32_t received;   /* views */
    uint32_t headers;    /* octets, a multiple of 8 */
    uint32_t head_room;  /* octets that encoders may put in front */
} mk_message_shape;

typedef struct mk_pool {
    mk_message_shape shape;
    uint32_t headers_at;      /* where in a message its header records are */
    const uint64_t *defaults; /* of the attributes */
    uint32_t buffer_octets;   /* of one buffer, with its head room */
    uint32_t longest;         /* message that a port accepts */
    uint32_t buffers_free;
    uint32_t messages_free;
    uint64_t exhausted; /* how often something was asked for and not there, or a text did not fit into a buffer */
    mk_buffer *free_buffers;
    mk_message *free_messages;
    uint8_t *fresh_buffers;  /* those that were never used stand from here on: as many as are free beyond the list */
    uint8_t *fresh_messages; /* the same of messages */
    uint64_t *nothing; /* the message that stands for one that could not be had, and as much as the head room */
    uint64_t *held_from; /* the next word: `mk_held` counts from here */
} mk_pool;

/* A message in a place of an object: how far in front of `held_from` it stands, in units of 8 octets; 0: no message. */
typedef uint32_t mk_held;

static inline mk_held mk_hold(const mk_pool *pool, const mk_message *message)
{
    return (mk_held)(pool->held_from - (const uint64_t *)(const void *)message);
}

static inline mk_message *mk_held_message(const mk_pool *pool, mk_held held)
{
    return (mk_message *)(void *)(pool->held_from - held);
}

size_t mk_message_memory(const mk_message_shape *shape);

/* A size with room for so many pieces more, together aligned to 16. SIZE_MAX if there is no such size, or if an allocator that aligns to 64 could
   not round it up. */
static inline size_t mk_plus(size_t size, uint64_t count, uint64_t octets)
{
    size_t most = SIZE_MAX & ~(size_t)63;
    if (size > most || (octets && count > (most - size) / octets))
        return SIZE_MAX;
    return size + (((size_t)(count * octets) + 15) & ~(size_t)15);
}

/* A size with room for a pool more, likewise. */
size_t mk_pool_plus(size_t size, const mk_message_shape *shape, uint32_t buffers, uint32_t messages, uint32_t buffer_octets);
/* `memory` is aligned to 16 and of the size said above. */
void mk_pool_init(mk_pool *pool, void *memory, const mk_message_shape *shape, const uint64_t *defaults,
                  uint32_t buffers, uint32_t messages, uint32_t buffer_octets);

/* A new message of these octets, with head room. More than a buffer holds is cut off: the port refuses it before. */
mk_message *mk_message_new(mk_pool *pool, const uint8_t *octets, uint32_t size);
/* The same, where `from` was made of these octets, and has been changed in nothing that is of octets: it shares them, if it is still there. */
mk_message *mk_message_again(mk_pool *pool, const mk_message *from, const uint8_t *octets, uint32_t size);
mk_message *mk_message_share(mk_pool *pool, const mk_message *message);
/* Makes it a new message with the same octets: attributes as at first, no headers, no packets that it came in. */
void mk_message_renew(mk_pool *pool, mk_message *message);
void mk_message_free(mk_pool *pool, mk_message *message);

/* For the runtime's own use: a buffer with one reference (NULL: the pool is empty), one reference more, one less. */
mk_buffer *mk_buffer_new(mk_pool *pool);
mk_view mk_view_share(mk_view view);
void mk_view_release(mk_pool *pool, mk_view *view);
static inline void mk_buffer_release(mk_pool *pool, mk_buffer *buffer)
{
    if (--buffer->references > 0)
        return;
    buffer->next_free = pool->free_buffers;
    pool->free_buffers = buffer;
    pool->buffers_free++;
}

/* What a port accepts. */
static inline uint32_t mk_pool_longest(const mk_pool *pool)
{
    return pool->longest;
}

static inline uint64_t *mk_attributes(mk_message *message)
{
    return (uint64_t *)(message + 1);
}

static inline void mk_set_attribute(mk_message *message, uint32_t attribute, uint64_t value)
{
    mk_attributes(message)[attribute] = value;
    if (!MK_FAULT(attribute_kept))
        message->differs |= UINT32_C(1) << attribute % MK_ATTRIBUTE_BITS;
}

static inline mk_view *mk_received(const mk_pool *pool, mk_message *message)
{
    return (mk_view *)(mk_attributes(message) + pool->shape.attributes);
}

static inline uint8_t *mk_headers(const mk_pool *pool, mk_message *message)
{
    return (uint8_t *)message + pool->headers_at;
}

/* Header records: `size` is a multiple of 8. The pointer is valid until the next push. */
static inline void *mk_push(mk_pool *pool, mk_message *message, uint32_t size)
{
    if (MK_UNLIKELY(size > message->top)) {
        pool->exhausted++;
        message->top = size;
    }
    message->top -= size;
    return mk_headers(pool, message) + message->top;
}

/* The same of a new message, by where its headers begin and where the top is then. */
static inline void *mk_push_new(mk_message *message, uint32_t headers_at, uint32_t top)
{
    message->top = MK_FAULT(push_new) ? top + 8 : top;
    return (uint8_t *)message + headers_at + top;
}

static inline void *mk_top(const mk_pool *pool, mk_message *message)
{
    return mk_headers(pool, message) + message->top;
}

static MK_SHARED void mk_pop(const mk_pool *pool, mk_message *message, uint32_t size)
{
    message->top = mk_min_u32(message->top + size, pool->shape.headers);
}

static inline bool mk_no_headers(const mk_pool *pool, const mk_message *message)
{
    return message->top >= pool->shape.headers;
}

static inline const uint8_t *mk_data(const mk_message *message)
{
    return message->view.buffer ? message->view.buffer->octets + message->view.at : (const uint8_t *)message;
}

#endif
