/* `udp out` and `udp in`: argv[1] is `out`, `in`, or `parts`: out, and the device takes what is in front and the message apart; argv[2] the octets of a
 * message. With -DRETURNED calls return what they put out last (`mokume build --returned`). Addresses are set at run time. */
#include "Host.h"
#include "frames.h"
#include "phase.h"

static struct Host *stack;
static mk_handle sessions[SESSIONS];
static unsigned opened, sent, delivered, asked;
static uint8_t questions[SESSIONS * 4][64];

static void on_opened(void *context, uint32_t user, mk_handle session, uint32_t local_host, uint16_t local_port,
                      uint32_t remote_host, uint16_t remote_port)
{
    (void)context, (void)local_host, (void)local_port, (void)remote_host, (void)remote_port;
    sessions[user] = session;
    opened++;
}

/* Questions of ARP are kept, to be answered after the reaction. */
static void on_frame(void *context, mk_octets frame)
{
    (void)context;
    if (frame.size >= 42 && frame.at[12] == 8 && frame.at[13] == 6 && frame.at[21] == 1 && asked < SESSIONS * 4)
        memcpy(questions[asked++], frame.at, 42);
    sent++;
}

static void on_parts(void *context, mk_octets front, mk_octets behind)
{
    (void)context, (void)front, (void)behind;
    sent++;
}

static void on_deliver(void *context, mk_handle session, mk_octets message)
{
    (void)context, (void)session, (void)message;
    delivered++;
}

static void answer_questions(void)
{
    for (unsigned i = 0; i < asked; i++) {
        uint8_t reply[42];
        arp_answer(reply, questions[i]);
        Host_device_frame(stack, 0, (mk_octets){reply, 42});
    }
    asked = 0;
}

int main(int argc, char **argv)
{
    static uint8_t octets[2048], frames[SESSIONS][2048];
    static uint32_t sizes[SESSIONS];
    static unsigned order[SESSIONS * ROUNDS];
    check(argc > 2, "usage: udp out|in|parts OCTETS");
    size_t size = (size_t)atoi(argv[2]);
    mk_config config = Host_defaults;
    struct Host_ports ports = {.device_frame = on_frame, .udp_opened = on_opened, .udp_deliver = on_deliver};
    if (argv[1][0] == 'p')
        ports.device_frame_parts = on_parts;
    struct Host_params params = Host_default_params;
    params.address_address = OWN, params.address_prefix = 24;
    params.device_mac = 0x020000000001, params.device_mtu = 1514;
    stack = Host_init(instance_memory(Host_size(&config)), &config, &params, &ports);
    Host_start(stack, 0);
    for (unsigned i = 0; i < SESSIONS; i++) {
        check(Host_udp_open(stack, 0, i, 0, (uint16_t)(OWN_PORT + i), FIRST + i, (uint16_t)(THEIR_PORT + i)), "open is refused");
        check(opened == i + 1, "a session was not opened");
        Host_udp_send(stack, 0, sessions[i], (mk_octets){octets, 1});
        answer_questions();
    }
    shuffle(order);
    uint8_t mac[6] = {2, 0, 0, 0, 0, 1};
    for (unsigned i = 0; i < SESSIONS; i++) {
        memset(frames[i] + 42, 'x', size);
        sizes[i] = make_frame(frames[i], i, mac, size);
    }
    sent = delivered = 0;
    CALLGRIND_ZERO_STATS;
    for (unsigned i = 0; i < SESSIONS * ROUNDS; i++) {
#ifdef RETURNED
        struct Host_returned left;
        if (argv[1][0] != 'i') {
            Host_udp_send_returned(stack, 0, sessions[order[i]], (mk_octets){octets, (uint32_t)size}, &left);
            sent += left.output == Host_RETURNED_DEVICE_FRAME && left.device_frame.msg.size == size + 42;
        } else {
            Host_device_frame_returned(stack, 0, (mk_octets){frames[order[i]], sizes[order[i]]}, &left);
            delivered += left.output == Host_RETURNED_UDP_DELIVER && left.udp_deliver.msg.size == size;
        }
#elif defined BATCHED
        static struct Host_udp_send_call sends[BATCHED];
        static struct Host_device_frame_call takes[BATCHED];
        for (unsigned j = 0; j < BATCHED; j++) {
            sends[j] = (struct Host_udp_send_call){sessions[order[i + j]], {octets, (uint32_t)size}};
            takes[j] = (struct Host_device_frame_call){{frames[order[i + j]], sizes[order[i + j]]}};
        }
        i += BATCHED - 1;
        if (argv[1][0] != 'i')
            Host_udp_send_batch(stack, 0, sends, BATCHED);
        else
            Host_device_frame_batch(stack, 0, takes, BATCHED);
#else
        if (argv[1][0] != 'i')
            Host_udp_send(stack, 0, sessions[order[i]], (mk_octets){octets, (uint32_t)size});
        else
            Host_device_frame(stack, 0, (mk_octets){frames[order[i]], sizes[order[i]]});
#endif
    }
    check((argv[1][0] != 'i' ? sent : delivered) == SESSIONS * ROUNDS, "not all messages went through");
    return 0;
}
