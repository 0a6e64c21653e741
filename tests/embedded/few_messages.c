/* Four messages, all of them kept, while more are made that do not exist: what is free once all have left. */
#include <stdio.h>
#include <stdlib.h>
#include "Keeping.h"

static void on_frame(void *context, mk_octets frame)
{
    (void)context, (void)frame;
}

int main(void)
{
    struct Keeping_params params = Keeping_default_params;
    struct Keeping_ports ports = {.device_frame = on_frame};
    mk_config config = Keeping_defaults;
    config.messages = 4, config.buffers = 300;
    params.device_mtu = 1500;
    void *memory = aligned_alloc(64, (Keeping_size(&config) + 63) & ~(size_t)63);
    struct Keeping *stack = Keeping_init(memory, &config, &params, &ports);
    Keeping_start(stack, 0);
    mk_core *core = Keeping_core(stack);
    for (int turn = 0; turn < 3; turn++) {
        for (int i = 0; i < 4; i++)
            Keeping_app_send_to(stack, core->now + 1, (mk_octets){(const uint8_t *)"abc", 3});
        for (int i = 0; i < 50; i++)
            Keeping_advance(stack, core->now + 10000000);
        Keeping_advance(stack, core->now + 2000000000);
        printf("free: %u messages, %u buffers\n", core->pool.messages_free, core->pool.buffers_free);
    }
    /* A number beyond those of ports and events is none of them. */
    const mk_datum octets = {.kind = MK_OCTETS, .octets = {(const uint8_t *)"abc", 3}};
    unsigned taken = 0;
    for (uint32_t port = 0; port < 4; port++) {
        for (uint32_t event = 0; event < 4; event++) {
            taken += Keeping_interface.input(stack, core->now, port + 65536, event, &octets, 1);
            taken += Keeping_interface.input(stack, core->now, port, event + 65536, &octets, 1);
        }
    }
    printf("taken: %u\n", taken);
    free(memory);
}
