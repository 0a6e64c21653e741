/* Buffers with less room than the headers need: all that has octets is refused, and nothing is written elsewhere. */
#include <stdio.h>
#include <stdlib.h>
#include "Host.h"

static void on_frame(void *context, mk_octets frame)
{
    (void)context, (void)frame;
}

int main(void)
{
    static const uint32_t sizes[] = {0, 1, 8, 32, 60, 79, 80, 81, 142};
    for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct Host_params params = Host_default_params;
        struct Host_ports ports = {.device_frame = on_frame};
        mk_config config = Host_defaults;
        config.buffer_octets = sizes[i];
        params.address_address = 0x0a000001, params.address_prefix = 24, params.device_mac = 0x020000000001, params.device_mtu = 1514;
        void *memory = aligned_alloc(64, (Host_size(&config) + 63) & ~(size_t)63);
        struct Host *stack = Host_init(memory, &config, &params, &ports);
        Host_start(stack, 0);
        Host_advance(stack, 10000000000u);
        uint8_t octets[1514] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2, 0, 0, 0, 0, 2, 8, 6, 0, 1, 8, 0, 6, 4, 0, 1, 2, 0, 0, 0, 0, 2, 10, 0, 0, 2,
                                0, 0, 0, 0, 0, 0, 10, 0, 0, 1};
        unsigned taken = 0;
        for (uint32_t size = 0; size <= sizeof octets; size++)
            taken += Host_device_frame(stack, 10000000001u + size, (mk_octets){octets, size});
        printf("%u: %u\n", sizes[i], taken);
        free(memory);
    }
}
