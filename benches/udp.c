/* `udp out` and `udp in`: argv[1] is `out` or `in`, argv[2] the octets of a message. Addresses are set at run time. */
#include "Host.h"
#include "phase.h"

enum { OWN = 0x0a000001, FIRST = 0x0a000002, OWN_PORT = 5000, THEIR_PORT = 6000 };

static struct Host *stack;
static mk_handle sessions[SESSIONS];
static unsigned opened, sent, delivered, asked;
static uint8_t questions[SESSIONS * 4][64];

static void put16(uint8_t *at, unsigned value)
{
    at[0] = (uint8_t)(value >> 8), at[1] = (uint8_t)value;
}

static void put32(uint8_t *at, uint32_t value)
{
    put16(at, value >> 16), put16(at + 2, value & 0xffff);
}

static uint32_t get32(const uint8_t *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

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

static void on_deliver(void *context, mk_handle session, mk_octets message)
{
    (void)context, (void)session, (void)message;
    delivered++;
}

static void answer_questions(void)
{
    for (unsigned i = 0; i < asked; i++) {
        uint8_t reply[42];
        uint32_t who = get32(questions[i] + 38);
        memcpy(reply, questions[i], 42);
        memcpy(reply, questions[i] + 6, 6);
        memcpy(reply + 6, "\x02\0\0\0\1", 5), reply[11] = (uint8_t)who;
        reply[21] = 2;
        memcpy(reply + 22, reply + 6, 6), put32(reply + 28, who);
        memcpy(reply + 32, questions[i] + 22, 6), put32(reply + 38, OWN);
        Host_device_frame(stack, 0, (mk_octets){reply, 42});
    }
    asked = 0;
}

static uint32_t sum(const uint8_t *at, size_t size)
{
    uint32_t total = 0;
    for (size_t i = 0; i < size; i++)
        total += i % 2 ? at[i] : (uint32_t)at[i] << 8;
    return total;
}

static uint16_t fold(uint32_t total)
{
    while (total >> 16)
        total = (total & 0xffff) + (total >> 16);
    return (uint16_t)total;
}

/* A datagram of a peer for its session with us, all checksums right. */
static uint32_t make_frame(uint8_t *frame, unsigned peer, const uint8_t *mac, size_t size)
{
    uint8_t *ip = frame + 14, *udp = ip + 20;
    memcpy(frame, mac, 6);
    memcpy(frame + 6, "\x02\0\0\0\1", 5), frame[11] = (uint8_t)(FIRST + peer);
    put16(frame + 12, 0x0800);
    memset(ip, 0, 28);
    ip[0] = 0x45, put16(ip + 2, (unsigned)(28 + size)), ip[8] = 64, ip[9] = 17;
    put32(ip + 12, FIRST + peer), put32(ip + 16, OWN);
    put16(ip + 10, (uint16_t)~fold(sum(ip, 20)));
    put16(udp, THEIR_PORT + peer), put16(udp + 2, OWN_PORT + peer), put16(udp + 4, (unsigned)(8 + size));
    memset(udp + 8, 'x', size);
    uint16_t check_sum = (uint16_t)~fold(sum(ip + 12, 8) + 17 + (uint32_t)(8 + size) + sum(udp, 8 + size));
    put16(udp + 6, check_sum ? check_sum : 0xffff);
    return (uint32_t)(42 + size);
}

int main(int argc, char **argv)
{
    static uint8_t octets[2048], frames[SESSIONS][2048];
    static uint32_t sizes[SESSIONS];
    static unsigned order[SESSIONS * ROUNDS];
    check(argc > 2, "usage: udp out|in OCTETS");
    size_t size = (size_t)atoi(argv[2]);
    mk_config config = Host_defaults;
    struct Host_ports ports = {.device_frame = on_frame, .udp_opened = on_opened, .udp_deliver = on_deliver};
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
    for (unsigned i = 0; i < SESSIONS; i++)
        sizes[i] = make_frame(frames[i], i, mac, size);
    sent = delivered = 0;
    CALLGRIND_ZERO_STATS;
    for (unsigned i = 0; i < SESSIONS * ROUNDS; i++) {
        if (argv[1][0] == 'o')
            Host_udp_send(stack, 0, sessions[order[i]], (mk_octets){octets, (uint32_t)size});
        else
            Host_device_frame(stack, 0, (mk_octets){frames[order[i]], sizes[order[i]]});
    }
    check((argv[1][0] == 'o' ? sent : delivered) == SESSIONS * ROUNDS, "not all messages went through");
    return 0;
}
