/* One running instance; see mk_core.h. */
#include "mk_core.h"

void mk_core_init(mk_core *core, const mk_program *program, void *stack)
{
    core->program = program;
    core->stack = stack;
    core->dirty_end = &core->dirty;
    core->unsettled_end = &core->unsettled;
    core->reaction = 1;
    core->output_quota = UINT32_MAX;
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

/* Out of the list of the dirty or of the unsettled. */
static void mk_unlink(mk_core *core, mk_object *object)
{
    if (!object->link)
        return;
    *object->link = object->next;
    if (object->next)
        object->next->link = object->link;
    else if (core->dirty_end == &object->next)
        core->dirty_end = object->link;
    else
        core->unsettled_end = object->link;
    object->link = NULL;
}

static void mk_append(mk_object *object, mk_object ***end)
{
    object->next = NULL;
    object->link = *end;
    **end = object;
    *end = &object->next;
}

void mk_touch(mk_core *core, mk_object *object)
{
    if (object->dirty || object->state != MK_LIVING)
        return;
    object->dirty = true;
    mk_append(object, &core->dirty_end);
}

static void mk_end_object(mk_core *core, mk_class *class, uint32_t number)
{
    mk_object *object = &class->objects[number];
    object->state = MK_ENDED;
    class->living[number] = MK_NULL;
    for (uint32_t i = 0; i < core->class_count; i++) {
        mk_class *inner = &core->classes[i];
        if (inner->parent != class->index)
            continue;
        for (uint32_t child = mk_oldest(inner, number); child != MK_NOBODY; child = mk_younger(inner, child))
            mk_end_object(core, inner, child);
    }
    core->program->clear(core->stack, class->index, number, false);
    mk_unlink(core, object);
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

/* As often as it asks for, within the limit and while the reaction may put out; beyond, it stays dirty for a continuation. */
static void mk_settle(mk_core *core, mk_object *object)
{
    mk_class *class = &core->classes[object->class_index];
    mk_ref self = mk_self(class, (uint32_t)(object - class->objects));
    if (object->settled_in != core->reaction) {
        object->settled_in = core->reaction;
        object->settles = 0;
    }
    do {
        mk_unlink(core, object);
        object->again = false;
        if ((object->settles >= class->settle_limit && !MK_FAULT(settle_limit)) ||
            (core->put_out >= core->output_quota && !MK_FAULT(output_quota))) {
            object->dirty = true;
            mk_append(object, &core->unsettled_end);
            return;
        }
        object->settles++;
        object->dirty = false;
        core->program->settle(core->stack, object->class_index, self);
    } while (object->again && object->state == MK_LIVING);
}

void mk_end_reaction(mk_core *core)
{
    mk_object *object;
    while ((object = core->dirty))
        mk_settle(core, object);
    while ((object = core->ended)) {
        mk_class *class = &core->classes[object->class_index];
        uint32_t number = (uint32_t)(object - class->objects);
        core->ended = object->next;
        /* What was put into it after it had ended goes the same way. */
        core->program->clear(core->stack, class->index, number, true);
        mk_class_free(class, number);
    }
    core->reaction++;
    core->put_out = 0;
    mk_leave(core);
}

/* One continuation or event for later, if there is one. */
static bool mk_step(mk_core *core)
{
    mk_event *event;
    if (core->unsettled) {
        mk_object *object = core->unsettled;
        core->dirty = object;
        object->link = &core->dirty;
        core->dirty_end = core->unsettled_end;
        core->unsettled = NULL;
        core->unsettled_end = &core->unsettled;
    } else if ((event = mk_ring_take(&core->later))) {
        core->program->take_later(core->stack, event);
        core->program->deliver(core->stack, event);
    } else {
        return false;
    }
    mk_end_reaction(core);
    return true;
}

static bool mk_step_timer(mk_core *core, uint64_t now)
{
    mk_timer *timer = mk_wheel_take(&core->wheel, now);
    if (!timer)
        return false;
    mk_set_now(core, timer->deadline);
    core->program->expire(core->stack, timer->declaration, timer->number);
    mk_end_reaction(core);
    return true;
}

void mk_catch_up(mk_core *core, uint64_t now)
{
    while (core->reactions_left > 0 && (mk_step(core) || mk_step_timer(core, now)))
        core->reactions_left--;
}

void mk_settle_down(mk_core *core)
{
    while (core->reactions_left > 0 && mk_step(core))
        core->reactions_left--;
}

void mk_leave_all(mk_core *core)
{
    if (core->leaving)
        return;
    core->leaving = true;
    for (uint32_t i = 0; i < core->output_count; i++) {
        core->program->leave(core->stack, mk_output_at(core, i));
        if (i > core->output_capacity / 2) { /* the program goes on calling: make room */
            core->output_count -= i + 1;
            memmove(core->outputs, mk_output_at(core, i + 1), (size_t)core->output_count * core->output_stride);
            i = UINT32_MAX;
        }
    }
    core->output_count = 0;
    core->leaving = false;
}
