/* Events, the later queue and outputs; see mk_agenda.h. */
#include "mk_agenda.h"

void mk_agenda_init(mk_agenda *agenda, void *memory, uint32_t args, uint32_t capacity, mk_channel *channels,
                    uint32_t channel_count)
{
    agenda->memory = memory;
    agenda->stride = mk_event_size(args);
    agenda->capacity = capacity;
    agenda->top = 0;
    agenda->channels = channels;
    agenda->exhausted = 0;
    agenda->spare = mk_agenda_at(agenda, capacity);
    for (uint32_t i = 0; i < channel_count; i++)
        channels[i] = (mk_channel){NULL, &channels[i].head};
}

mk_event *mk_emit(mk_agenda *agenda, uint16_t what, uint16_t channel, mk_ref target)
{
    mk_event *event = agenda->spare;
    if (MK_UNLIKELY(agenda->top >= agenda->capacity)) {
        agenda->exhausted++;
        return event;
    }
    event = mk_agenda_at(agenda, agenda->top++);
    event->next = NULL;
    event->target = target;
    event->what = what;
    event->channel = channel;
    event->delivered = false;
    if (channel != MK_DIRECT) {
        *agenda->channels[channel].end = event;
        agenda->channels[channel].end = &event->next;
    }
    return event;
}

mk_event *mk_agenda_next(mk_agenda *agenda, mk_event *event)
{
    if (event->channel != MK_DIRECT) {
        mk_channel *channel = &agenda->channels[event->channel];
        if (!MK_FAULT(channel_order)) {
            event = channel->head;
            channel->head = event->next;
            if (!channel->head)
                channel->end = &channel->head;
        }
    }
    event->delivered = true;
    return event;
}

void mk_ring_init(mk_ring *ring, void *memory, uint32_t stride, uint32_t capacity)
{
    *ring = (mk_ring){memory, stride, capacity, 0, 0};
}

void *mk_ring_put(mk_ring *ring)
{
    if (ring->count == ring->capacity)
        return NULL;
    uint32_t at = ring->first + ring->count++;
    return ring->memory + (size_t)(at < ring->capacity ? at : at - ring->capacity) * ring->stride;
}

void *mk_ring_take(mk_ring *ring)
{
    if (!ring->count)
        return NULL;
    void *record = ring->memory + (size_t)ring->first * ring->stride;
    ring->first = ring->first + 1 < ring->capacity ? ring->first + 1 : 0;
    ring->count--;
    return record;
}
