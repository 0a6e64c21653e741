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
    core->most_held = UINT64_MAX;
    core->peak = 1;
}

void mk_note_brink(mk_core *core)
{
    uint32_t least = mk_min_u32(core->pool.buffers_free, core->pool.messages_free);
    core->brink = least < core->peak ? 0 : least - core->peak;
    if (core->brink > core->most_held)
        core->brink = core->most_held;
}

uint32_t mk_new(mk_core *core, mk_class *class, uint32_t parent)
{
    uint32_t number = mk_class_take(class, class->parent == MK_NOBODY ? 0 : parent, core->ages);
    if (number == MK_NOBODY)
        return number;
    core->ages++;
    if (class->streams)
        class->streams[number] = mk_stream(core->seed, class->index, number, class->objects[number].generation);
    return number;
}

void mk_keep_beside(mk_core *core, mk_held *place, mk_message *message, uint32_t source)
{
    mk_report_at(core, place ? MK_MISUSE : MK_BOUNDS, source);
    mk_gone(core, place ? mk_held_message(&core->pool, *place) : message);
    if (place)
        *place = mk_hold(&core->pool, message);
}

/* Out of the list of the dirty or of the unsettled. */
static void mk_unlink(mk_core *core, mk_settling *settling)
{
    if (!settling->link)
        return;
    uint32_t *link = mk_there(core, settling->link);
    *link = settling->next;
    if (settling->next)
        ((mk_settling *)mk_there(core, settling->next))->link = settling->link;
    else if (core->dirty_end == &settling->next)
        core->dirty_end = link;
    else
        core->unsettled_end = link;
    settling->link = 0;
}

static void mk_append(mk_core *core, mk_settling *settling, uint32_t **end)
{
    settling->next = 0;
    settling->link = mk_where(core, *end);
    **end = mk_where(core, settling);
    *end = &settling->next;
}

void mk_touch_first(mk_core *core, mk_object *object, mk_settling *settling)
{
    if (!mk_is_alive(object))
        return;
    settling->dirty = true;
    mk_append(core, settling, &core->dirty_end);
}

static void mk_end_object(mk_core *core, mk_class *class, uint32_t number)
{
    uint32_t word = number / 64;
    class->objects[number].generation |= MK_NOT_LIVING | MK_ENDED;
    for (uint32_t i = 0; i < core->class_count; i++) {
        mk_class *inner = &core->classes[i];
        if (inner->parent != class->index)
            continue;
        for (uint32_t child = mk_oldest(inner, number); child != MK_NOBODY; child = mk_younger(inner, child))
            mk_end_object(core, inner, child);
    }
    core->program->clear(core->stack, class->index, number, false);
    if (class->settling)
        mk_unlink(core, &class->settling[number]);
    class->ended[word] |= UINT64_C(1) << number % 64;
    class->ended_from = class->ended_to && class->ended_from < word ? class->ended_from : word;
    class->ended_to = class->ended_to > word ? class->ended_to : word + 1;
    core->has_ended = true;
}

/* Places of what has ended are free. */
static void mk_free_ended(mk_core *core, mk_class *class)
{
    for (uint32_t word = class->ended_from; word < class->ended_to; word++) {
        for (uint64_t bits = class->ended[word]; bits; bits &= bits - 1) {
            uint32_t number = word * 64 + mk_lowest(bits);
            /* What was put into it after it had ended goes the same way. */
            core->program->clear(core->stack, class->index, number, true);
            mk_class_free(class, number);
        }
        class->ended[word] = 0;
    }
    class->ended_from = class->ended_to = 0;
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
static void mk_settle(mk_core *core, mk_settling *settling)
{
    const mk_class *class = &core->classes[settling->class_index];
    uint32_t number = (uint32_t)(settling - class->settling);
    mk_ref self = mk_self(class, number);
    if (settling->settled_in != core->reaction) {
        settling->settled_in = core->reaction;
        settling->settles = 0;
    }
    do {
        mk_unlink(core, settling);
        settling->again = false;
        if ((settling->settles >= class->settle_limit && !MK_FAULT(settle_limit)) ||
            (core->put_out >= core->output_quota && !MK_FAULT(output_quota))) {
            settling->dirty = true;
            mk_append(core, settling, &core->unsettled_end);
            return;
        }
        settling->settles++;
        settling->dirty = false;
        core->program->settle(core->stack, settling->class_index, self);
    } while (settling->again && mk_is_alive(&class->objects[number]));
}

MK_COLD void mk_count_reactions_anew(mk_core *core)
{
    core->reaction = 1;
    for (uint32_t i = 0; i < core->class_count; i++) {
        const mk_class *class = &core->classes[i];
        for (uint32_t number = 0; class->settling && number < class->capacity; number++)
            class->settling[number].settled_in = 0;
    }
}

static MK_APART void mk_free_all_ended(mk_core *core)
{
    core->has_ended = false;
    for (uint32_t i = 0; i < core->class_count; i++)
        mk_free_ended(core, &core->classes[i]);
}

/* The reaction at hand ends, and objects still settle, some have ended, or outputs are to leave. Answers whether outputs left. */
static MK_APART bool mk_close_all(mk_core *core)
{
    while (core->dirty)
        mk_settle(core, mk_there(core, core->dirty));
    if (core->has_ended)
        mk_free_all_ended(core);
    mk_count_reaction(core);
    core->put_out = 0;
    if (!core->output_count)
        return false;
    mk_leave_all(core);
    return true;
}

/* The reaction ends. Answers whether outputs left; if not, what the next call may rely on is still to be noted. */
static MK_IN_PLACE bool mk_close_reaction(mk_core *core)
{
    /* What was put out waits to leave. */
    if (MK_UNLIKELY(core->dirty | core->has_ended | core->output_count))
        return mk_close_all(core);
    mk_count_reaction(core);
    return false;
}

void mk_end_reaction(mk_core *core)
{
    if (!mk_close_reaction(core))
        mk_note_quiet(core);
}

/* One continuation or event for later, of which there is one. */
static MK_APART void mk_step(mk_core *core)
{
    if (core->unsettled) {
        core->dirty = core->unsettled;
        ((mk_settling *)mk_there(core, core->dirty))->link = mk_where(core, &core->dirty);
        core->dirty_end = core->unsettled_end;
        core->unsettled = 0;
        core->unsettled_end = &core->unsettled;
    } else {
        core->program->carry_later(core->stack, mk_ring_take(&core->later));
    }
    mk_close_reaction(core);
}

static MK_IN_PLACE bool mk_step_timer(mk_core *core, uint64_t now)
{
    mk_timer *timer = mk_wheel_take(&core->wheel, now);
    if (!timer)
        return false;
    mk_set_now(core, timer->deadline);
    mk_timer_name name = mk_timer_declaration(&core->wheel, timer);
    core->program->expire(core->stack, name.declaration, name.number);
    mk_close_reaction(core);
    return true;
}

/* Answers whether all is done; if not, so many reactions were carried out as a call may. */
static MK_IN_PLACE bool mk_catch_up_by(mk_core *core, uint64_t now)
{
    /* Until the last of them is over `quiet` is no later than any of their times: calls from within look for what comes before them. */
    while (MK_LIKELY(core->reactions_left)) {
        if (MK_UNLIKELY(mk_is_behind(core)))
            mk_step(core);
        else if (!mk_step_timer(core, now))
            break;
        core->reactions_left--;
    }
    mk_note_quiet(core);
    return core->reactions_left;
}

MK_APART void mk_catch_up(mk_core *core, uint64_t now)
{
    mk_catch_up_by(core, now);
}

void mk_advance(mk_core *core, uint64_t now)
{
    core->reactions_left = MK_REACTIONS_PER_CALL;
    if (MK_LIKELY(mk_catch_up_by(core, now)))
        mk_set_now(core, now);
}

void mk_settle_down(mk_core *core)
{
    for (; core->reactions_left && mk_is_behind(core); core->reactions_left--)
        mk_step(core);
    mk_note_quiet(core);
}

void mk_leave_all(mk_core *core)
{
    /* Who is called and calls has to look what there is to do. */
    core->quiet = 0;
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
    mk_note_quiet(core);
}
