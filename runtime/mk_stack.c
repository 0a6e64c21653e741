#include "mk_stack.h"

bool mk_begin_behind(mk_core *core, uint64_t now)
{
    if (mk_is_behind(core) || now >= core->wheel.soonest)
        mk_catch_up(core, now);
    mk_set_now(core, now);
    return mk_has_room(core, 1);
}

MK_APART bool mk_end_behind(mk_core *core)
{
    return mk_end(core);
}

MK_APART bool mk_end_next_behind(mk_core *core)
{
    mk_end_reaction(core);
    if (mk_is_behind(core))
        mk_settle_down(core);
    return true;
}

static uint32_t kind_of(char letter)
{
    return letter == 'o' ? MK_OCTETS : letter == 'h' ? MK_HANDLE : MK_WORD;
}

bool mk_data_are(const mk_datum *data, uint32_t count, const char *kinds)
{
    for (uint32_t i = 0; i < count; i++) {
        if (!kinds[i] || data[i].kind != kind_of(kinds[i]))
            return false;
    }
    return !kinds[count];
}

void mk_data_of(const mk_output *output, const char *kinds, mk_datum *data)
{
    for (uint32_t i = 0; kinds[i]; i++) {
        uint64_t word = output->args[i];
        data[i] = (mk_datum){kind_of(kinds[i]), 0, {0, 0}, {NULL, 0}};
        if (kinds[i] == 'o')
            data[i].octets = mk_octets_of(word);
        else if (kinds[i] == 'h')
            data[i].handle = mk_handle_of(word);
        else
            data[i].word = word;
    }
}
