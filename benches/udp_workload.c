/* `udp workload`: a host among 64 others. Messages of 0 to 1472 octets leave by random sessions, datagrams come for random ones; of frames that come 2 % are lost, 2 % damaged and
 * 2 % padded, answers of ARP among them. Every third message that is delivered is answered from within the callback. Sessions close and open again, some datagrams come for
 * closed ones, and now and then more time passes than an address is believed. */
#include "Host.h"
#include "frames.h"
#include "workload.h"

enum { STEPS = 20000, LARGEST = 1514, QUESTIONS = 256 };

static struct Host *stack;
static mk_handle sessions[SESSIONS];
static int is_open[SESSIONS];
static uint32_t whose[4096];
static unsigned delivered, answered, asked;
static uint8_t questions[QUESTIONS][42], octets[2048];

#ifdef RETURNED
static struct Host_returned left;

static bool call(enum entry entry, uint32_t which, mk_octets message)
{
    switch (entry) {
    case SEND: return Host_udp_send_returned(stack, now, sessions[which], message, &left);
    case FRAME: return Host_device_frame_returned(stack, now, message, &left);
    case OPEN: return Host_udp_open_returned(stack, now, which, 0, (uint16_t)(OWN_PORT + which), FIRST + which, (uint16_t)(THEIR_PORT + which), &left);
    case CLOSE: return Host_udp_close_returned(stack, now, sessions[which], &left);
    default: return Host_advance(stack, now), true;
    }
}

static void on_frame(void *context, mk_octets frame);
static void on_deliver(void *context, mk_handle session, mk_octets message);
static unsigned returned[2];

/* What the last call returned. */
static void take(void)
{
    struct Host_returned taken = left;
    left.output = Host_RETURNED_NOTHING;
    if (taken.output == Host_RETURNED_DEVICE_FRAME)
        returned[0]++, on_frame(NULL, taken.device_frame.msg);
    else if (taken.output == Host_RETURNED_UDP_DELIVER)
        returned[1]++, on_deliver(NULL, taken.udp_deliver.session, taken.udp_deliver.msg);
    else
        check(taken.output == Host_RETURNED_NOTHING, "something else is returned");
}
#else
static void take(void)
{
}

static bool call(enum entry entry, uint32_t which, mk_octets message)
{
    switch (entry) {
    case SEND: return Host_udp_send(stack, now, sessions[which], message);
    case FRAME: return Host_device_frame(stack, now, message);
    case OPEN: return Host_udp_open(stack, now, which, 0, (uint16_t)(OWN_PORT + which), FIRST + which, (uint16_t)(THEIR_PORT + which));
    case CLOSE: return Host_udp_close(stack, now, sessions[which]);
    default: return Host_advance(stack, now), true;
    }
}
#endif

__attribute__((noinline)) bool counted(enum entry entry, uint32_t which, mk_octets message)
{
    return call(entry, which, message);
}

static void act(enum entry entry, uint32_t which, mk_octets message)
{
    bool good;
    calls[entry]++;
    if (entry == chosen && depth == 0) {
        depth++;
        good = counted(entry, which, message);
        depth--;
    } else {
        good = call(entry, which, message);
    }
    take();
    if (!good)
        note('r', (uint32_t)entry, &which, sizeof which);
}

static void on_frame(void *context, mk_octets frame)
{
    (void)context;
    note('f', 0, frame.at, frame.size);
    if (frame.size >= 42 && frame.at[12] == 8 && frame.at[13] == 6 && frame.at[21] == 1 && asked < QUESTIONS)
        memcpy(questions[asked++], frame.at, 42);
}

#ifdef PARTS
/* The same, where what is in front and what was handed in lie apart. */
static void on_parts(void *context, mk_octets front, mk_octets behind)
{
    uint8_t whole[4096];
    check(front.size + behind.size <= sizeof whole, "a frame is too long");
    memcpy(whole, front.at, front.size);
    memcpy(whole + front.size, behind.at, behind.size);
    on_frame(context, (mk_octets){whole, front.size + behind.size});
}
#endif

static void on_opened(void *context, uint32_t user, mk_handle session, uint32_t local_host, uint16_t local_port, uint32_t remote_host,
                      uint16_t remote_port)
{
    (void)context, (void)local_host, (void)remote_host;
    uint16_t ports[2] = {local_port, remote_port};
    sessions[user] = session, is_open[user] = 1, whose[session.object % 4096] = user;
    note('o', user, ports, sizeof ports);
}

static void on_closed(void *context, mk_handle session)
{
    (void)context;
    uint32_t user = whose[session.object % 4096];
    is_open[user] = 0;
    note('c', user, NULL, 0);
}

static void on_failed(void *context, mk_handle session, uint32_t why)
{
    (void)context;
    note('x', whose[session.object % 4096], &why, sizeof why);
}

static void on_deliver(void *context, mk_handle session, mk_octets message)
{
    (void)context;
    uint32_t user = whose[session.object % 4096];
    note('d', user, message.at, message.size);
    if (delivered++ % 3 == 0 && is_open[user])
        answered++, act(SEND, user, (mk_octets){octets, message.size / 2});
}

/* A frame comes, unless it is lost: with one bit turned, or with octets behind it. */
static void arrive(uint8_t *frame, uint32_t size)
{
    unsigned luck = random_below(100);
    if (luck < 2)
        return;
    if (luck < 4)
        frame[random_below(size)] ^= (uint8_t)(1u << random_below(8));
    if (luck >= 4 && luck < 6) {
        uint32_t padded = size < 60 ? 60 : size + 4;
        memset(frame + size, 0xa5, padded - size);
        size = padded;
    }
    act(FRAME, 0, (mk_octets){frame, size});
}

static void answer_questions(void)
{
    static uint8_t now_asked[QUESTIONS][42];
    unsigned count = asked;
    memcpy(now_asked, questions, sizeof now_asked);
    asked = 0;
    for (unsigned i = 0; i < count; i++) {
        uint8_t reply[64];
        arp_answer(reply, now_asked[i]);
        arrive(reply, 42);
    }
}

static void pass(uint64_t nanoseconds)
{
    now += nanoseconds;
    act(ADVANCE, 0, (mk_octets){0});
}

static void step(void)
{
    static const uint8_t own[6] = {2, 0, 0, 0, 0, 1};
    static uint8_t frame[LARGEST + 64];
    uint32_t which = random_below(SESSIONS), luck = random_below(1000);
    uint32_t size = luck % 2 ? random_below(64) : random_below(1473);
    if (luck < 10 && is_open[which])
        act(CLOSE, which, (mk_octets){0});
    else if (luck < 985 && luck % 5 < 2 && is_open[which])
        act(SEND, which, (mk_octets){octets, size});
    else if (luck < 985 && (is_open[which] || luck % 5 == 2)) {
        memcpy(frame + 42, octets + random_below(64), size);
        arrive(frame, make_frame(frame, which, own, size));
    } else if (!is_open[which])
        act(OPEN, which, (mk_octets){0});
    else
        pass(luck == 999 ? UINT64_C(61000000000) : 5000000);
    answer_questions();
}

int main(int argc, char **argv)
{
    begin_workload(argc, argv);
    mk_config config = Host_defaults;
    struct Host_ports ports = {.device_frame = on_frame, .udp_opened = on_opened, .udp_deliver = on_deliver, .udp_closed = on_closed,
                               .udp_failed_session = on_failed};
#ifdef PARTS
    ports.device_frame_parts = on_parts;
#endif
    struct Host_params params = Host_default_params;
    params.address_address = OWN, params.address_prefix = 24;
    params.device_mac = 0x020000000001, params.device_mtu = 1514;
    for (unsigned i = 0; i < sizeof octets; i++)
        octets[i] = (uint8_t)(i * 37 + (i >> 8) * 11);
    stack = Host_init(instance_memory(Host_size(&config)), &config, &params, &ports);
    Host_start(stack, now);
    pass(5000000000);
    for (unsigned i = 0; i < SESSIONS; i++)
        act(OPEN, i, (mk_octets){0});
    CALLGRIND_ZERO_STATS;
    for (unsigned i = 0; i < STEPS; i++)
        step();
    check(delivered > STEPS / 4 && answered > STEPS / 16 && calls[OPEN] > 2 * SESSIONS && calls[CLOSE] > SESSIONS, "too little came through");
    end_workload();
    return 0;
}
