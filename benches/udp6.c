/* `udp6 out` and `udp6 in`: UDP over IPv6, as `udp.c` does it over IPv4. argv[1] is `out` or `in`, argv[2] the octets of a message. */
#include "Host6.h"
#include "frames.h"
#include "phase.h"

#define PREFIX UINT64_C(0xfd00000000000000)
#define SECOND UINT64_C(1000000000)
static struct Host6 *stack;
static mk_handle sessions[SESSIONS];
static unsigned opened, sent, delivered, asked;
static uint8_t questions[SESSIONS * 4][86];

static void on_opened(void *context, uint32_t user, mk_handle session, uint64_t local_high, uint64_t local_low, uint16_t local_port,
                      uint64_t remote_high, uint64_t remote_low, uint16_t remote_port)
{
    (void)context, (void)local_high, (void)local_low, (void)local_port, (void)remote_high, (void)remote_low, (void)remote_port;
    sessions[user] = session;
    opened++;
}

/* Solicitations of neighbours are kept, to be answered after the reaction. */
static void on_frame(void *context, mk_octets frame)
{
    (void)context;
    if (frame.size >= 86 && frame.at[12] == 0x86 && frame.at[20] == 58 && frame.at[54] == 135 && asked < SESSIONS * 4)
        memcpy(questions[asked++], frame.at, 86);
    sent++;
}

static void on_deliver(void *context, mk_handle session, mk_octets message)
{
    (void)context, (void)session, (void)message;
    delivered++;
}

/* An IPv6 packet from `from`, the last octets of addresses; its payload is in its place, at octet 54. */
static uint32_t packet(uint8_t *frame, unsigned from, uint8_t next, uint8_t hops, uint32_t size, unsigned check_at)
{
    uint8_t *ip = frame + 14;
    memcpy(frame, "\x02\0\0\0\0\x01\x02\0\0\0\1", 11), frame[11] = (uint8_t)from;
    put16(frame + 12, 0x86dd);
    memset(ip, 0, 40);
    ip[0] = 0x60, put16(ip + 4, size), ip[6] = next, ip[7] = hops;
    ip[8] = 0xfd, ip[23] = (uint8_t)from, ip[24] = 0xfd, ip[39] = 1;
    put16(ip + 40 + check_at, 0);
    uint16_t check_sum = (uint16_t)~fold(sum(ip + 8, 32) + next + size + sum(ip + 40, size));
    put16(ip + 40 + check_at, check_sum ? check_sum : 0xffff);
    return 54 + size;
}

static void answer_questions(void)
{
    for (unsigned i = 0; i < asked; i++) {
        uint8_t reply[86] = {0}, *advertisement = reply + 54;
        unsigned who = questions[i][62 + 15];
        advertisement[0] = 136, advertisement[4] = 0x60;
        memcpy(advertisement + 8, questions[i] + 62, 16);
        memcpy(advertisement + 24, "\x02\x01\x02\0\0\0\1", 7), advertisement[31] = (uint8_t)who;
        if (who != 1)
            Host6_device_frame(stack, 10 * SECOND, (mk_octets){reply, packet(reply, who, 58, 255, 32, 2)});
    }
    asked = 0;
}

int main(int argc, char **argv)
{
    static uint8_t octets[2048], frames[SESSIONS][2048];
    static uint32_t sizes[SESSIONS];
    static unsigned order[SESSIONS * ROUNDS];
    check(argc > 2, "usage: udp6 out|in OCTETS");
    size_t size = (size_t)atoi(argv[2]);
    mk_config config = Host6_defaults;
    struct Host6_ports ports = {.device_frame = on_frame, .udp6_opened = on_opened, .udp6_deliver = on_deliver};
    struct Host6_params params = Host6_default_params;
    params.address_address = OWN, params.address_prefix = 24;
    params.address6_address_high = PREFIX, params.address6_address_low = 1, params.address6_prefix = 64;
    params.device_mac = 0x020000000001, params.device_mtu = 1514;
    stack = Host6_init(instance_memory(Host6_size(&config)), &config, &params, &ports);
    Host6_start(stack, 0);
    Host6_advance(stack, 10 * SECOND);
    asked = 0;
    for (unsigned i = 0; i < SESSIONS; i++) {
        check(Host6_udp6_open(stack, 10 * SECOND, i, 0, 0, (uint16_t)(OWN_PORT + i), PREFIX, i + 2, (uint16_t)(THEIR_PORT + i)), "open is refused");
        check(opened == i + 1, "a session was not opened");
        Host6_udp6_send(stack, 10 * SECOND, sessions[i], (mk_octets){octets, 1});
        answer_questions();
    }
    shuffle(order);
    for (unsigned i = 0; i < SESSIONS; i++) {
        uint8_t *udp = frames[i] + 54;
        memset(udp + 8, 'x', size);
        put16(udp, THEIR_PORT + i), put16(udp + 2, OWN_PORT + i), put16(udp + 4, (unsigned)(8 + size));
        sizes[i] = packet(frames[i], i + 2, 17, 64, (uint32_t)(8 + size), 6);
    }
    sent = delivered = 0;
    CALLGRIND_ZERO_STATS;
    for (unsigned i = 0; i < SESSIONS * ROUNDS; i++) {
        if (argv[1][0] == 'o')
            Host6_udp6_send(stack, 10 * SECOND, sessions[order[i]], (mk_octets){octets, (uint32_t)size});
        else
            Host6_device_frame(stack, 10 * SECOND, (mk_octets){frames[order[i]], sizes[order[i]]});
    }
    check((argv[1][0] == 'o' ? sent : delivered) == SESSIONS * ROUNDS, "not all messages went through");
    return 0;
}
