/* The pool; see mk_pool.h. */
#include "mk_pool.h"
#include "mk_octets.h"

static size_t mk_round16(size_t size)
{
    return (size + 15) & ~(size_t)15;
}

static size_t mk_headers_at(const mk_message_shape *shape)
{
    return sizeof(mk_message) + shape->attributes * sizeof(uint64_t) + shape->received * sizeof(mk_view);
}

size_t mk_message_memory(const mk_message_shape *shape)
{
    return mk_round16(mk_headers_at(shape) + shape->headers);
}

/* The octets of one buffer: what is put in front of a message has room in any. */
static uint32_t mk_buffer_octets(const mk_message_shape *shape, uint32_t wanted)
{
    return wanted < shape->head_room ? shape->head_room : wanted;
}

static size_t mk_buffer_memory(uint32_t octets)
{
    return mk_round16(sizeof(mk_buffer) + octets);
}

size_t mk_pool_plus(size_t size, const mk_message_shape *shape, uint32_t buffers, uint32_t messages, uint32_t buffer_octets)
{
    uint64_t buffer = mk_plus(0, sizeof(mk_buffer) + (uint64_t)mk_buffer_octets(shape, buffer_octets), 1);
    size = mk_plus(size, buffers, buffer);
    size = mk_plus(size, (uint64_t)messages + 1, mk_message_memory(shape));
    return mk_plus(size, shape->head_room, 1);
}

static MK_COLD void mk_attributes_init(const mk_pool *pool, mk_message *message)
{
    if (pool->shape.attributes)
        memcpy(mk_attributes(message), pool->defaults, pool->shape.attributes * sizeof(uint64_t));
    message->differs = 0;
}

static void mk_attributes_clear(const mk_pool *pool, mk_message *message)
{
    if (MK_UNLIKELY(pool->shape.attributes > MK_ATTRIBUTE_BITS)) {
        mk_attributes_init(pool, message);
        return;
    }
    for (uint32_t differs = message->differs & ~MK_MET; differs; differs &= differs - 1) {
        uint32_t attribute = mk_lowest(differs);
        mk_attributes(message)[attribute] = pool->defaults[attribute];
    }
    message->differs = 0;
}

/* The views of received packets of a free message are empty, and its attributes are as at first: `mk_message_free` leaves them so. */
static void mk_message_clear(const mk_pool *pool, mk_message *message)
{
    message->view = (mk_view){NULL, 0, 0};
    message->top = pool->shape.headers;
}

void mk_pool_init(mk_pool *pool, void *memory, const mk_message_shape *shape, const uint64_t *defaults,
                  uint32_t buffers, uint32_t messages, uint32_t buffer_octets)
{
    uint8_t *at = memory;
    buffer_octets = mk_buffer_octets(shape, buffer_octets);
    memset(pool, 0, sizeof *pool);
    pool->shape = *shape;
    pool->headers_at = (uint32_t)mk_headers_at(shape);
    pool->defaults = defaults;
    pool->buffer_octets = buffer_octets;
    pool->longest = buffer_octets - shape->head_room;
    /* A buffer or message is touched when it is first used, so a machine gives no more memory than a run takes. */
    pool->fresh_buffers = at;
    at += buffers * mk_buffer_memory(buffer_octets);
    pool->fresh_messages = at;
    at += messages * mk_message_memory(shape);
    pool->buffers_free = buffers;
    pool->messages_free = messages;
    pool->nothing = (uint64_t *)(void *)at;
    pool->held_from = pool->nothing + 1;
    memset(at, 0, mk_message_memory(shape) + mk_round16(shape->head_room));
}

/* One that was never used becomes the first of the list; NULL: there is none. */
static MK_COLD mk_buffer *mk_buffer_fresh(mk_pool *pool)
{
    mk_buffer *buffer = (mk_buffer *)(void *)pool->fresh_buffers;
    if (!pool->buffers_free)
        return NULL;
    pool->fresh_buffers += mk_buffer_memory(pool->buffer_octets);
    buffer->next_free = NULL;
    pool->free_buffers = buffer;
    return buffer;
}

mk_buffer *mk_buffer_new(mk_pool *pool)
{
    mk_buffer *buffer = pool->free_buffers;
    if (MK_UNLIKELY(!buffer)) {
        buffer = mk_buffer_fresh(pool);
        if (!buffer) {
            pool->exhausted++;
            return NULL;
        }
    }
    pool->free_buffers = buffer->next_free;
    pool->buffers_free--;
    buffer->references = 1;
    return buffer;
}

void mk_view_release(mk_pool *pool, mk_view *view)
{
    mk_buffer *buffer = view->buffer;
    view->buffer = NULL;
    if (buffer)
        mk_buffer_release(pool, buffer);
}

mk_view mk_view_share(mk_view view)
{
    if (view.buffer)
        view.buffer->references++;
    return view;
}

static inline void mk_received_release(mk_pool *pool, mk_message *message)
{
    if (!(message->differs & MK_MET) || MK_FAULT(met))
        return;
    mk_view *received = mk_received(pool, message);
    for (uint32_t i = 0; i < pool->shape.received; i++) {
        MK_ONE_BY_ONE(i);
        if (!received[i].buffer)
            continue;
        mk_view_release(pool, &received[i]);
        received[i] = (mk_view){NULL, 0, 0};
    }
}

/* The message of a pool that has no more: a null message, whoever asks. */
static MK_COLD mk_message *mk_message_none(mk_pool *pool)
{
    mk_message *message = (mk_message *)(void *)pool->nothing;
    pool->exhausted++;
    mk_view_release(pool, &message->view);
    mk_received_release(pool, message);
    mk_message_clear(pool, message);
    mk_attributes_init(pool, message);
    return message;
}

/* One that was never used becomes the first of the list; NULL: there is none. */
static MK_COLD mk_message *mk_message_fresh(mk_pool *pool)
{
    mk_message *message = (mk_message *)(void *)pool->fresh_messages;
    if (!pool->messages_free)
        return NULL;
    pool->fresh_messages += mk_message_memory(&pool->shape);
    memset(message, 0, mk_message_memory(&pool->shape));
    mk_attributes_init(pool, message);
    pool->free_messages = message;
    return message;
}

static mk_message *mk_message_take(mk_pool *pool)
{
    mk_message *message = pool->free_messages;
    if (MK_UNLIKELY(!message) && !(message = mk_message_fresh(pool)))
        return mk_message_none(pool);
    pool->free_messages = message->next_free;
    pool->messages_free--;
    return message;
}

/* Its octets, if they are many. */
static MK_APART mk_message *mk_message_fill(mk_message *message, const uint8_t *octets)
{
    memcpy(message->view.buffer->octets + message->view.at, octets, message->view.size);
    return message;
}

mk_message *mk_message_new(mk_pool *pool, const uint8_t *octets, uint32_t size)
{
    mk_message *message = pool->free_messages;
    if (MK_UNLIKELY(!message) && !(message = mk_message_fresh(pool)))
        return mk_message_none(pool);
    pool->free_messages = message->next_free;
    pool->messages_free--;
    message->top = pool->shape.headers;
    mk_buffer *buffer = size ? mk_buffer_new(pool) : NULL;
    if (!buffer) {
        message->view = (mk_view){NULL, 0, 0};
        return message;
    }
    if (MK_UNLIKELY(size > mk_pool_longest(pool)))
        size = mk_pool_longest(pool);
    message->view = (mk_view){buffer, pool->shape.head_room, size};
    if (size >= MK_FEW_OCTETS)
        return mk_message_fill(message, octets);
    mk_copy_few(buffer->octets + message->view.at, octets, size);
    return message;
}

mk_message *mk_message_again(mk_pool *pool, const mk_message *from, const uint8_t *octets, uint32_t size)
{
    mk_view view = from->view;
    if (MK_UNLIKELY(!view.buffer || view.size != size))
        return mk_message_new(pool, octets, size);
    mk_message *message = mk_message_take(pool);
    if (MK_UNLIKELY((void *)message == (void *)pool->nothing))
        return message;
    message->top = pool->shape.headers;
    message->view = MK_FAULT(again) ? view : mk_view_share(view);
    return message;
}

mk_message *mk_message_share(mk_pool *pool, const mk_message *from)
{
    mk_message *message = mk_message_take(pool);
    if ((void *)message == (void *)pool->nothing)
        return message;
    *message = *from;
    mk_view_share(from->view);
    if (from->differs)
        memcpy(mk_attributes(message), mk_attributes((mk_message *)(uintptr_t)from),
               pool->shape.attributes * sizeof(uint64_t));
    const mk_view *received = mk_received(pool, (mk_message *)(uintptr_t)from);
    for (uint32_t i = 0; from->differs & MK_MET && i < pool->shape.received; i++) {
        MK_ONE_BY_ONE(i);
        if (received[i].buffer)
            mk_received(pool, message)[i] = mk_view_share(received[i]);
    }
    /* Of the room for headers what is taken; it is at the end. */
    memcpy(mk_headers(pool, message) + from->top, mk_headers(pool, (mk_message *)(uintptr_t)from) + from->top,
           pool->shape.headers - from->top);
    return message;
}

void mk_message_renew(mk_pool *pool, mk_message *message)
{
    if (MK_FAULT(renew))
        return;
    mk_received_release(pool, message);
    message->top = pool->shape.headers;
    if (message->differs)
        mk_attributes_clear(pool, message);
}

/* A message that has ended, with nothing in it any more. */
static MK_IN_PLACE void mk_message_rest(mk_pool *pool, mk_message *message)
{
    if ((void *)message == (void *)pool->nothing) {
        /* Whoever else has it sees that it is empty. */
        mk_message_clear(pool, message);
        return;
    }
    message->next_free = pool->free_messages;
    pool->free_messages = message;
    pool->messages_free++;
}

/* One whose attributes may be others than at first, or that has views of received packets. */
static MK_APART void mk_message_free_with_more(mk_pool *pool, mk_message *message)
{
    mk_received_release(pool, message);
    mk_attributes_clear(pool, message);
    mk_message_rest(pool, message);
}

void mk_message_free(mk_pool *pool, mk_message *message)
{
    mk_view_release(pool, &message->view);
    if (message->differs)
        mk_message_free_with_more(pool, message);
    else
        mk_message_rest(pool, message);
}
