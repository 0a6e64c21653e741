/* Two instances of one host, joined by their frames: argv[1] says what is counted, argv[2] the octets of a message.
 * `data-out`, `data-in`, `ack-out`, `ack-in`: that call alone; `trip`: all calls of both ends for a question and an answer; `bulk`: all calls of
 * both ends while text goes one way, a segment; `time`: bulk without counting, says octets a second. What is counted goes through `counted`. */
#define _POSIX_C_SOURCE 200809L
#include "Host.h"
#include "phase.h"
#include "clock.h"

enum { ALICE = 0x0a000001, BOB = 0x0a000002, PORT = 80, FIRST_PORT = 5000, CHUNK = 1448 };

/* What a connection may be told, as the stack has it anyway. */
#define USUAL true, 0, 300000000000u, 0, 65535

struct end {
    struct Host *stack;
    mk_handle sessions[SESSIONS];
    unsigned begun, delivered;
    uint64_t octets, credit;
    struct end *other;
    /* Frames that it has sent and nobody has taken. */
    uint8_t frames[256][1536];
    uint32_t sizes[256];
    unsigned head, tail, sent;

};

static struct end alice, bob;
static uint64_t now;
static uint8_t octets[2048];

static void on_opened(void *context, uint32_t user, mk_handle session, uint32_t host, uint16_t port, uint32_t their_host, uint16_t their_port)
{
    struct end *end = context;
    (void)host, (void)port, (void)their_host, (void)their_port;
    end->sessions[user] = session;
    end->begun++;
}

static void on_accepted(void *context, mk_handle session, uint32_t host, uint16_t port, uint32_t their_host, uint16_t their_port)
{
    struct end *end = context;
    (void)host, (void)port, (void)their_host;
    end->sessions[their_port - FIRST_PORT] = session;
    end->begun++;
}

static void on_frame(void *context, mk_octets frame)
{
    struct end *end = context;
    check(end->tail - end->head < 256 && frame.size <= 1536, "too many frames under way");
    memcpy(end->frames[end->tail % 256], frame.at, frame.size);
    end->sizes[end->tail++ % 256] = frame.size;
    end->sent++;
}

static void on_deliver(void *context, mk_handle session, mk_octets message)
{
    struct end *end = context;
    (void)session;
    end->delivered++;
    end->octets += message.size;
}

static void on_grant(void *context, mk_handle session, uint32_t messages, uint32_t count)
{
    struct end *end = context;
    (void)session, (void)messages;
    end->credit += count;
}

/* What callgrind counts: the call, and the jump to it. */
enum what { SEND, FRAME, ADVANCE, GRANT };
__attribute__((noinline)) void counted(enum what what, struct end *end, mk_handle session, mk_octets msg)
{
    switch (what) {
    case SEND: check(Host_tcp_send(end->stack, now, session, msg), "refused"); break;
    case FRAME: check(Host_device_frame(end->stack, now, msg), "refused"); break;
    case ADVANCE: Host_advance(end->stack, now); break;
    case GRANT: check(Host_tcp_grant_delivers(end->stack, now, session, 1, msg.size), "refused"); break;
    }
}

static void plain(enum what what, struct end *end, mk_handle session, mk_octets msg)
{
    switch (what) {
    case SEND: check(Host_tcp_send(end->stack, now, session, msg), "refused"); break;
    case FRAME: check(Host_device_frame(end->stack, now, msg), "refused"); break;
    case ADVANCE: Host_advance(end->stack, now); break;
    case GRANT: check(Host_tcp_grant_delivers(end->stack, now, session, 1, msg.size), "refused"); break;
    }
}

static void act(int is_counted, enum what what, struct end *end, mk_handle session, mk_octets msg)
{
    (is_counted ? counted : plain)(what, end, session, msg);
}

/* The next frame of this end goes to the other; what ARP asks now and then goes before it and is not counted. */
static void carry(int is_counted, struct end *from)
{
    for (int is_arp = 1; is_arp;) {
        check(from->head < from->tail, "no frame came");
        unsigned at = from->head++ % 256;
        is_arp = from->frames[at][13] == 6;
        act(is_counted && !is_arp, FRAME, from->other, (mk_handle){0}, (mk_octets){from->frames[at], from->sizes[at]});
        if (is_arp && from->head == from->tail)
            return;
    }
}

static void settle(int is_counted)
{
    while (alice.head < alice.tail || bob.head < bob.tail)
        carry(is_counted, alice.head < alice.tail ? &alice : &bob);
}

static void begin(struct end *end, struct end *other, uint32_t host)
{
    mk_config config = Host_defaults;
    struct Host_params params = Host_default_params;
    struct Host_ports ports = {.context = end, .device_frame = on_frame, .tcp_opened = on_opened, .tcp_accepted = on_accepted,
                               .tcp_deliver = on_deliver, .tcp_grant_sends = on_grant};
    params.address_address = host, params.address_prefix = 24;
    params.device_mac = 0x020000000000 | (host & 0xff), params.device_mtu = 1514;
    config.seed = host;
    end->other = other;
    end->stack = Host_init(instance_memory(Host_size(&config)), &config, &params, &ports);
    Host_start(end->stack, now);
}

static void wait(uint64_t nanoseconds)
{
    now += nanoseconds;
    Host_advance(alice.stack, now);
    Host_advance(bob.stack, now);
}

static void connect_all(void)
{
    begin(&alice, &bob, ALICE), begin(&bob, &alice, BOB);
    settle(0);
    wait(5000000000u);
    settle(0);
    check(Host_tcp_listen(bob.stack, now, 1, BOB, PORT, USUAL), "nobody listens");
    for (unsigned i = 0; i < SESSIONS; i++) {
        check(Host_tcp_open(alice.stack, now, i, ALICE, (uint16_t)(FIRST_PORT + i), BOB, PORT, USUAL), "open is refused");
        settle(0);
        check(alice.begun == i + 1 && bob.begun == i + 1, "a session was not opened");
    }
}

/* One text and its acknowledgement, which goes by timer. */
static void text(const char *what, unsigned session, uint32_t size)
{
    mk_octets message = {octets, size};
    act(what[0] == 'd' && what[5] == 'o', SEND, &alice, alice.sessions[session], message);
    carry(what[0] == 'd' && what[5] == 'i', &alice);
    plain(GRANT, &bob, bob.sessions[session], message);
    now += 40000000;
    Host_advance(alice.stack, now);
    act(what[0] == 'a' && what[4] == 'o', ADVANCE, &bob, (mk_handle){0}, message);
    carry(what[0] == 'a' && what[4] == 'i', &bob);
    settle(0);
}

/* A question and its answer, which acknowledges it; the next question acknowledges that. */
static void trip(int is_counted, unsigned session, uint32_t size)
{
    mk_octets message = {octets, size};
    act(is_counted, SEND, &alice, alice.sessions[session], message);
    carry(is_counted, &alice);
    act(is_counted, GRANT, &bob, bob.sessions[session], message);
    act(is_counted, SEND, &bob, bob.sessions[session], message);
    carry(is_counted, &bob);
    act(is_counted, GRANT, &alice, alice.sessions[session], message);
    check(alice.head == alice.tail && bob.head == bob.tail, "more frames than there should be");
}

/* So many octets one way, said in messages that fill a segment; returns how many segments carried them. The reader takes all at once.
 * A session keeps 32 messages that do not fit into one another. */
static unsigned bulk(int is_counted, uint64_t total)
{
    uint64_t said = 0, room = 30 * CHUNK, until = bob.octets + total;
    unsigned before = alice.sent;
    alice.credit = 0;
    while (bob.octets < until) {
        room += alice.credit, alice.credit = 0;
        uint32_t size = (uint32_t)(total - said < CHUNK ? total - said : CHUNK);
        if (size && room >= size) {
            room -= size, said += size;
            act(is_counted, SEND, &alice, alice.sessions[0], (mk_octets){octets, size});
        }
        uint64_t heard = bob.octets;
        for (int i = 0; i < 8 && alice.head < alice.tail; i++)
            carry(is_counted, &alice);
        if (bob.octets > heard)
            act(is_counted, GRANT, &bob, bob.sessions[0], (mk_octets){octets, (uint32_t)(bob.octets - heard)});
        while (bob.head < bob.tail)
            carry(is_counted, &bob);
        if (alice.head == alice.tail && bob.octets < until && (!size || room < size))
            wait(40000000);
        now += 1000;
    }
    return alice.sent - before;
}

int main(int argc, char **argv)
{
    static unsigned order[SESSIONS * ROUNDS];
    check(argc > 2, "usage: tcp data-out|data-in|ack-out|ack-in|trip|bulk|time OCTETS");
    uint32_t size = (uint32_t)atoi(argv[2]);
    const char *what = argv[1];
    connect_all();
    shuffle(order);
    if (!strcmp(what, "time")) {
        bulk(0, 4 << 20);
        double began = seconds();
        uint64_t total = (uint64_t)size << 20;
        bulk(0, total);
        printf("%.0f\n", (double)total / (seconds() - began));
        return 0;
    }
    if (!strcmp(what, "bulk")) {
        bulk(0, 4 << 20);
        CALLGRIND_ZERO_STATS;
        printf("calls %u\n", bulk(1, (uint64_t)size << 20));
        return 0;
    }
    for (unsigned i = 0; i < SESSIONS; i++)
        trip(0, i, 100), trip(0, i, 100);
    wait(40000000);
    settle(0);
    CALLGRIND_ZERO_STATS;
    for (unsigned i = 0; i < SESSIONS * ROUNDS; i++) {
        if (what[0] == 't')
            trip(1, order[i], size);
        else
            text(what, order[i], size);
    }
    printf("calls %u\n", SESSIONS * ROUNDS);
    return 0;
}
