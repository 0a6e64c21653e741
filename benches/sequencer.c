/* `sequencer send`: argv[1] is the octets of a message. */
#include "Numbered.h"
#include "phase.h"

static mk_handle sessions[SESSIONS];
static unsigned opened, sent;

static void on_opened(void *context, uint32_t user, mk_handle session, uint16_t local_port, uint16_t remote_port)
{
    (void)context, (void)local_port, (void)remote_port;
    sessions[user] = session;
    opened++;
}

static void on_frame(void *context, mk_octets frame)
{
    (void)context, (void)frame;
    sent++;
}

int main(int argc, char **argv)
{
    static uint8_t octets[2048];
    static unsigned order[SESSIONS * ROUNDS];
    size_t size = argc > 1 ? (size_t)atoi(argv[1]) : 0;
    mk_config config = Numbered_defaults;
    struct Numbered_ports ports = {.device_frame = on_frame, .users_opened = on_opened};
    struct Numbered_params params = Numbered_default_params;
    struct Numbered *stack = Numbered_init(instance_memory(Numbered_size(&config)), &config, &params, &ports);
    Numbered_start(stack, 0);
    for (uint16_t port = 0; port < SESSIONS; port++)
        check(Numbered_users_open(stack, 0, port, (uint16_t)(1000 + port), (uint16_t)(2000 + port)), "open is refused");
    check(opened == SESSIONS, "not all sessions were opened");
    shuffle(order);
    CALLGRIND_ZERO_STATS;
    for (unsigned i = 0; i < SESSIONS * ROUNDS; i++)
        Numbered_users_send(stack, 0, sessions[order[i]], (mk_octets){octets, (uint32_t)size});
    check(sent == SESSIONS * ROUNDS, "not all messages were sent");
    return 0;
}
