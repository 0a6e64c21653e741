/* Three buffers, and six messages that would be kept, then asked for: what is taken and what leaves, a line each. */
#include <stdio.h>
#include <stdlib.h>
#include "Holding.h"

static void on_frame(void *context, mk_octets frame)
{
    (void)context;
    printf("left");
    for (uint32_t i = 0; i < frame.size; i++)
        printf(" %02x", frame.at[i]);
    printf("\n");
}

int main(void)
{
    struct Holding_params params = Holding_default_params;
    struct Holding_ports ports = {.device_frame = on_frame};
    mk_config config = Holding_defaults;
    config.buffers = 3;
    void *memory = aligned_alloc(64, (Holding_size(&config) + 63) & ~(size_t)63);
    struct Holding *stack = Holding_init(memory, &config, &params, &ports);
    Holding_start(stack, 0);
    for (unsigned i = 0; i < 12; i++) {
        uint8_t octets[] = {(uint8_t)(i < 6 ? i : i + 2), (uint8_t)('a' + i), 'b'};
        printf("%u: %s\n", i, Holding_device_frame(stack, 10 + i, (mk_octets){octets, 3}) ? "taken" : "refused");
    }
    const mk_accounts *accounts = Holding_accounts(stack);
    printf("held %u refused %u\n", (unsigned)accounts->held, (unsigned)accounts->refused);
    free(memory);
}
