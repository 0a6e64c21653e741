/* Two hundred datagrams from within one output: as many leave as are taken. */
#include <stdio.h>
#include <stdlib.h>
#include "Host.h"

static struct Host *stack;
static unsigned frames, taken;
static bool is_open;

static void on_frame(void *context, mk_octets frame)
{
    (void)context, (void)frame;
    frames++;
}

static void on_opened(void *context, uint32_t user, mk_handle session, uint32_t host, uint16_t port, uint32_t their_host, uint16_t their_port)
{
    (void)context, (void)user, (void)host, (void)port, (void)their_host, (void)their_port;
    for (int i = 0; is_open && i < 200; i++)
        taken += Host_udp_send(stack, 10, session, (mk_octets){(const uint8_t *)"hello", 5});
}

int main(void)
{
    static const uint8_t answer[60] = {2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 6, 0, 1, 8, 0, 6, 4, 0, 2, 2, 0, 0, 0, 0, 2, 10, 0, 0, 2,
                                       2, 0, 0, 0, 0, 1, 10, 0, 0, 1};
    struct Host_params params = Host_default_params;
    struct Host_ports ports = {.device_frame = on_frame, .udp_opened = on_opened};
    mk_config config = Host_defaults;
    params.address_address = 0x0a000001, params.address_prefix = 24, params.device_mac = 0x020000000001, params.device_mtu = 1514;
    void *memory = aligned_alloc(64, (Host_size(&config) + 63) & ~(size_t)63);
    stack = Host_init(memory, &config, &params, &ports);
    Host_start(stack, 1);
    Host_udp_open(stack, 5, 1, 0, 1000, 0x0a000002, 7);
    Host_udp_send_to(stack, 5, 0, 1000, 0x0a000002, 7, (mk_octets){answer, 5});
    Host_device_frame(stack, 6, (mk_octets){answer, sizeof answer});
    frames = 0, is_open = true;
    Host_udp_open(stack, 10, 1, 0, 1001, 0x0a000002, 7);
    printf("%u lost, %s\n", taken - frames, taken > 20 && taken < 200 ? "some refused" : "?");
    free(memory);
}
