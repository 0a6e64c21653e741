/* One running instance; see mk_core.h. */
#include "mk_core.h"

void mk_core_init(mk_core *core, const mk_program *program, void *stack)
{
    core->program = program;
    core->stack = stack;
    core->dirty_end = &core->dirty;
    core->unsettled_end = &core->unsettled;
}

uint32_t mk_new(mk_core *core, mk_class *class, uint32_t parent)
{
    uint32_t number = mk_class_take(class, class->parent == MK_NOBODY ? 0 : parent, core->ages);
    if (number == MK_NOBODY)
        return number;
    mk_object *object = &class->objects[number];
    core->ages++;
    object->stream = mk_stream(core->seed, class->index, number, object->generation);
    return number;
}

static void mk_end_object(mk_core *core, mk_class *class, uint32_t number)
{
    mk_object *object = &class->objects[number];
    object->state = MK_ENDED;
    for (uint32_t i = 0; i < core->class_count; i++) {
        mk_class *inner = &core->classes[i];
        if (inner->parent != class->index)
            continue;
        for (uint32_t child = mk_oldest(inner, number); child != MK_NOBODY; child = mk_younger(inner, child))
            mk_end_object(core, inner, child);
    }
    core->program->clear(core->stack, class->index, number);
    if (object->dirty)
        return; /* found ended when its turn to settle comes, and listed then */
    object->next = core->ended;
    core->ended = object;
}

void mk_release(mk_core *core, mk_class *class, mk_ref ref)
{
    if (mk_living(class, ref))
        mk_end_object(core, class, mk_place(class, ref));
}

void mk_carry_out(mk_core *core, uint32_t base)
{
    for (uint32_t i = base, top = core->agenda.top; i < top; i++) {
        mk_event *event = mk_agenda_at(&core->agenda, i);
        while (!event->delivered)
            core->program->deliver(core->stack, mk_agenda_next(&core->agenda, event));
    }
    core->agenda.top = base;
}

static mk_object *mk_next_dirty(mk_core *core)
{
    mk_object *object = core->dirty;
    if (!object)
        return NULL;
    core->dirty = object->next;
    if (!core->dirty)
        core->dirty_end = &core->dirty;
    return object;
}

/* As often as it asks for, within the limit; at the limit it stays dirty for a continuation. */
static void mk_settle(mk_core *core, mk_object *object)
{
    mk_class *class = &core->classes[object->class_index];
    mk_ref self = mk_self(class, (uint32_t)(object - class->objects));
    if (object->settled_in != core->reaction) {
        object->settled_in = core->reaction;
        object->settles = 0;
    }
    do {
        if (object->settles >= class->settle_limit) {
            object->next = NULL;
            *core->unsettled_end = object;
            core->unsettled_end = &object->next;
            return;
        }
        object->settles++;
        object->dirty = object->again = false;
        core->program->settle(core->stack, object->class_index, self);
    } while (object->again && object->state == MK_LIVING && !object->dirty);
}

void mk_end_reaction(mk_core *core)
{
    mk_object *object;
    while ((object = mk_next_dirty(core))) {
        if (object->state == MK_LIVING) {
            mk_settle(core, object);
        } else {
            object->dirty = false;
            object->next = core->ended;
            core->ended = object;
        }
    }
    while ((object = core->ended)) {
        mk_class *class = &core->classes[object->class_index];
        core->ended = object->next;
        mk_class_free(class, (uint32_t)(object - class->objects));
    }
    core->reaction++;
}

void mk_catch_up(mk_core *core)
{
    for (;;) {
        mk_event *event;
        if (core->unsettled) {
            core->dirty = core->unsettled;
            core->dirty_end = core->unsettled_end;
            core->unsettled = NULL;
            core->unsettled_end = &core->unsettled;
        } else if ((event = mk_ring_take(&core->later))) {
            core->program->deliver(core->stack, event);
        } else {
            return;
        }
        mk_end_reaction(core);
    }
}

void mk_run_timers(mk_core *core, uint64_t now)
{
    mk_timer *timer;
    while ((timer = mk_wheel_take(&core->wheel, now))) {
        uint32_t declaration = timer->declaration;
        mk_set_now(core, timer->deadline);
        core->program->expire(core->stack, declaration, timer->number);
        mk_end_reaction(core);
        mk_catch_up(core);
    }
}

mk_output *mk_put_output(mk_core *core, uint16_t port, uint16_t event, uint16_t count)
{
    mk_output *output = mk_ring_put(&core->outputs);
    if (MK_UNLIKELY(!output)) {
        core->exhausted++;
        return NULL;
    }
    output->port = port;
    output->event = event;
    output->count = count;
    return output;
}

void mk_leave(mk_core *core)
{
    const mk_output *output;
    if (core->leaving)
        return;
    core->leaving = true;
    while ((output = mk_ring_take(&core->outputs)))
        core->program->leave(core->stack, output);
    core->leaving = false;
}
