/* Reactions straight from a port: a fast path needs no message of its own for what it hands on at once.
 *
 * The octets that came are put into a buffer that is lent for the length of the call, behind a view on the caller's stack
 * (no attributes, no headers: paths that need them go the ordinary way). Outputs are handed over when the path has
 * committed; what a program that calls the stack meanwhile puts out leaves behind them, as always. */
#ifndef MK_DIRECT_H
#define MK_DIRECT_H

#include "mk_stack.h"

/* Whether outputs may be handed over at once: no earlier ones wait, and none are being handed over. */
static inline bool mk_may_go_directly(const mk_core *core)
{
    return !core->leaving && !core->output_count;
}

/* A view of octets that a port accepts, in a buffer of the pool; false if there is none. */
static inline bool mk_lend(mk_pool *pool, mk_message *message, mk_octets octets)
{
    mk_buffer *buffer = pool->free_buffers;
    if (MK_UNLIKELY(!buffer))
        return false;
    pool->free_buffers = buffer->next_free;
    pool->buffers_free--;
    buffer->references = 1;
    message->view = (mk_view){buffer, pool->shape.head_room, octets.size};
    if (octets.size)
        memcpy(buffer->octets + message->view.at, octets.at, octets.size);
    return true;
}

static inline void mk_give_back(mk_pool *pool, mk_message *message)
{
    mk_buffer *buffer = message->view.buffer;
    if (MK_UNLIKELY(!buffer || --buffer->references > 0))
        return;
    buffer->next_free = pool->free_buffers;
    pool->free_buffers = buffer;
    pool->buffers_free++;
}

/* As `mk_end`, after a path that has handed its outputs over: nothing is dirty and nothing has ended. */
static inline bool mk_end_directly(mk_core *core)
{
    mk_leave(core);
    if (MK_UNLIKELY(mk_is_behind(core))) {
        if (!core->reactions_left)
            core->reactions_left = 1;
        mk_settle_down(core);
    }
    return true;
}

#endif
