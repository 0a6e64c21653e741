/* The same phases for every stack: `harness A.so B.so PHASE SIZE SESSIONS`, A and B copies of one stack that `peer.h` describes, joined by their frames.
 *
 * Counted by callgrind (`--toggle-collect=counted`, and `store`, which turns counting off while a frame is put aside for the other end):
 * `udp-out`, `udp-in`; `data-out`, `data-in`, `ack-out`, `ack-in`: that call alone; `trip`: all calls of both ends for a question and an answer; `bulk`: all calls of
 * both ends while SIZE mebibytes go one way. Timed: `time-udp`, `time-trip` (nanoseconds each), `time-bulk` (octets a second). `smoke`: every frame's checksums and all that is
 * delivered are looked at, and damaged frames are not delivered. `octets`: what a session takes.
 */
#define _POSIX_C_SOURCE 200809L
#include "peer.h"
#include "phase.h"
#include <dlfcn.h>
#include "clock.h"

enum { ALICE = 0x0a000001, BOB = 0x0a000002, UDP_PORT = 6000, TCP_PORT = 80, FIRST_PORT = 5000, RING = 256, LARGEST = 1536, CHUNK = 1448 };

struct end {
    const struct peer *stack;
    struct end *other;
    uint64_t octets;
    unsigned sent, delivered, head, tail;
    uint32_t sizes[RING];
    uint8_t frames[RING][LARGEST];
};

static struct end alice, bob;
static uint64_t now;
static unsigned sessions;
/* What is done with a frame that leaves (0 is nothing, but to count it), and whether what comes is looked at. */
enum { KEEP = 1, STORE = 2, LOOK = 4 };
static int mode = KEEP, is_looking;
static uint8_t octets[2048];

__attribute__((noinline)) uint32_t counted(peer_call *call, uint32_t session, const uint8_t *at, uint32_t size)
{
    return call(session, at, size);
}

static void keep(struct end *end, const uint8_t *at, uint32_t size)
{
    check(end->tail - end->head < RING && size <= LARGEST, "too many frames under way");
    memcpy(end->frames[end->tail % RING], at, size);
    end->sizes[end->tail++ % RING] = size;
}

static uint32_t sum(const uint8_t *at, uint32_t size)
{
    uint32_t total = 0;
    for (uint32_t i = 0; i < size; i++)
        total += i % 2 ? at[i] : (uint32_t)at[i] << 8;
    return total;
}

static uint32_t fold(uint32_t total)
{
    while (total >> 16)
        total = (total & 0xffff) + (total >> 16);
    return total;
}

static void look_at_frame(const uint8_t *at, uint32_t size)
{
    if (at[12] == 8 && at[13] == 6)
        return;
    const uint8_t *ip = at + 14;
    uint32_t whole = (uint32_t)ip[2] << 8 | ip[3];
    check(size >= 14 + whole && ip[0] == 0x45, "an odd frame");
    check(fold(sum(ip, 20)) == 0xffff, "a wrong checksum of IPv4");
    check(ip[9] == 6 || (ip[9] == 17 && (ip[26] | ip[27])), "no checksum of UDP");
    check(fold(sum(ip + 12, 8) + ip[9] + whole - 20 + sum(ip + 20, whole - 20)) == 0xffff, "a wrong checksum of UDP or TCP");
}

/* As `keep`; counting stops here, and goes on at the end. */
__attribute__((noinline)) void store(struct end *end, const uint8_t *at, uint32_t size)
{
    keep(end, at, size);
}

__attribute__((noinline)) static void left(struct end *end, const uint8_t *at, uint32_t size)
{
    if (mode & STORE)
        store(end, at, size);
    else
        keep(end, at, size);
    if (mode & LOOK)
        look_at_frame(at, size);
}

static void on_frame(void *context, const uint8_t *at, uint32_t size)
{
    struct end *end = context;
    end->sent++;
    if (mode)
        left(end, at, size);
}

static uint8_t pattern(uint64_t at) { return (uint8_t)(at * 37 + (at >> 8) * 11); }

/* In a smoke run, what is delivered is the pattern from `octets` on. */
static void on_deliver(void *context, uint32_t session, const uint8_t *at, uint32_t size)
{
    struct end *end = context;
    if (is_looking)
        for (uint32_t i = 0; i < size; i++)
            check(at[i] == pattern(end->octets + i + session), "not what was sent");
    end->octets += size;
    end->delivered++;
}

static uint32_t act(int is_counted, peer_call *call, uint32_t session, const uint8_t *at, uint32_t size)
{
    if (!is_counted)
        return call(session, at, size);
    mode |= STORE;
    uint32_t took = counted(call, session, at, size);
    mode &= ~STORE;
    return took;
}

static int is_tcp(const uint8_t *frame) { return frame[12] == 8 && frame[13] == 0 && frame[23] == 6; }

/* The next frame of this end goes to the other; what ARP asks now and then goes before it and is not counted. */
static void carry(int is_counted, struct end *from, uint32_t session)
{
    for (int is_arp = 1; is_arp;) {
        check(from->head < from->tail, "no frame came");
        unsigned at = from->head++ % RING;
        uint8_t *frame = from->frames[at];
        is_arp = frame[12] == 8 && frame[13] == 6;
        peer_call *call = is_tcp(frame) ? from->other->stack->tcp_frame : from->other->stack->udp_frame;
        act(is_counted && !is_arp, call, session, frame, from->sizes[at]);
        if (is_arp && from->head == from->tail)
            return;
    }
}

static void settle(uint32_t session)
{
    while (alice.head < alice.tail || bob.head < bob.tail)
        carry(0, alice.head < alice.tail ? &alice : &bob, session);
}

static void wait(uint64_t nanoseconds)
{
    now += nanoseconds;
    alice.stack->time(now), bob.stack->time(now);
    alice.stack->advance(), bob.stack->advance();
}

static void begin(struct end *end, struct end *other, const char *path, uint32_t address)
{
    void *object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    check(object != NULL, "the stack does not load");
    peer_entry *entry = (peer_entry *)(uintptr_t)dlsym(object, "peer");
    check(entry != NULL, "it gives no peer");
    end->stack = entry();
    end->other = other;
    struct peer_ports ports = {.context = end, .frame = on_frame, .deliver = on_deliver};
    end->stack->start(address, &ports);
}

static void begin_all(char **paths)
{
    begin(&alice, &bob, paths[0], ALICE), begin(&bob, &alice, paths[1], BOB);
    for (int i = 0; i < 8; i++)
        wait(1000000000u), settle(0);
}

static void open_udp(void)
{
    for (uint32_t i = 0; i < sessions; i++) {
        alice.stack->udp_open(i, (uint16_t)(FIRST_PORT + i), BOB, (uint16_t)(UDP_PORT + i));
        bob.stack->udp_open(i, (uint16_t)(UDP_PORT + i), ALICE, (uint16_t)(FIRST_PORT + i));
        unsigned before = bob.delivered;
        for (unsigned tries = 0; tries < 8 && bob.delivered == before; tries++) {
            octets[0] = pattern(bob.octets + i);
            alice.stack->udp_send(i, octets, 1);
            settle(i), wait(1100000000u), settle(i);
        }
        check(bob.delivered > before, "a session of UDP does not work");
        octets[0] = pattern(alice.octets + i);
        bob.stack->udp_send(i, octets, 1);
        settle(i);
    }
}

static void open_tcp(void)
{
    bob.stack->tcp_listen(TCP_PORT, FIRST_PORT);
    for (uint32_t i = 0; i < sessions; i++) {
        alice.stack->tcp_open(i, (uint16_t)(FIRST_PORT + i), BOB, TCP_PORT);
        for (unsigned tries = 0; tries < 8 && bob.stack->tcp_established() <= i; tries++)
            settle(i), wait(1100000000u), settle(i);
        check(alice.stack->tcp_established() == i + 1 && bob.stack->tcp_established() == i + 1, "a session of TCP was not opened");
    }
}

/* One text and its acknowledgement, which was put off. */
static void text(const char *what, uint32_t session, uint32_t size)
{
    check(act(!strcmp(what, "data-out"), alice.stack->tcp_send, session, octets, size) == size, "refused");
    carry(!strcmp(what, "data-in"), &alice, session);
    bob.stack->tcp_take(session, octets, size);
    now += 40000000;
    alice.stack->time(now), bob.stack->time(now);
    alice.stack->advance();
    act(!strcmp(what, "ack-out"), bob.stack->tcp_ack, session, octets, 0);
    carry(!strcmp(what, "ack-in"), &bob, session);
    settle(session);
}

/* A question and its answer, which acknowledges it; the next question acknowledges that. */
static void trip(int is_counted, uint32_t session, uint32_t size)
{
    uint64_t before = alice.octets;
    check(act(is_counted, alice.stack->tcp_send, session, octets, size) == size, "refused");
    carry(is_counted, &alice, session);
    act(is_counted, bob.stack->tcp_take, session, octets, size);
    check(act(is_counted, bob.stack->tcp_send, session, octets, size) == size, "refused");
    /* Now and then news of the window goes before it. */
    while (bob.head < bob.tail)
        carry(is_counted, &bob, session);
    act(is_counted, alice.stack->tcp_take, session, octets, size);
    check(alice.octets == before + size, "the answer did not come");
    settle(session);
}

/* So many octets one way, said in messages that fill a segment; returns how many frames carried them. The reader takes all at once. */
static unsigned bulk(int is_counted, uint64_t total)
{
    uint64_t said = 0, until = bob.octets + total, begun = bob.octets;
    unsigned before = alice.sent;
    while (bob.octets < until) {
        uint32_t size = (uint32_t)(total - said < CHUNK ? total - said : CHUNK), took = 0;
        for (uint32_t i = 0; is_looking && i < size; i++)
            octets[i] = pattern(begun + said + i);
        if (size)
            said += took = act(is_counted, alice.stack->tcp_send, 0, octets, size);
        uint64_t heard = bob.octets;
        for (int i = 0; i < 8 && alice.head < alice.tail; i++)
            carry(is_counted, &alice, 0);
        if (bob.octets > heard)
            act(is_counted, bob.stack->tcp_take, 0, octets, (uint32_t)(bob.octets - heard));
        while (bob.head < bob.tail)
            carry(is_counted, &bob, 0);
        if (!took && alice.head == alice.tail && bob.octets < until)
            wait(40000000);
        else
            now += 1000, alice.stack->time(now), bob.stack->time(now);
    }
    return alice.sent - before;
}

/* A frame of each session, as the other end sent it. */
static void udp(const char *what, const unsigned *order, uint32_t size)
{
    int is_out = !strcmp(what, "udp-out");
    mode = is_out ? 0 : KEEP;
    for (uint32_t i = 0; i < sessions && !is_out; i++)
        bob.stack->udp_send(i, octets, size);
    check(is_out || bob.tail - bob.head == sessions, "a datagram did not leave");
    unsigned sent = alice.sent, delivered = alice.delivered;
    CALLGRIND_ZERO_STATS;
    for (unsigned i = 0; i < SESSIONS * ROUNDS; i++) {
        uint32_t session = order[i] % sessions, at = (bob.head + session) % RING;
        if (is_out)
            counted(alice.stack->udp_send, session, octets, size);
        else
            counted(alice.stack->udp_frame, session, bob.frames[at], bob.sizes[at]);
    }
    check((is_out ? alice.sent - sent : alice.delivered - delivered) == SESSIONS * ROUNDS, "not all datagrams went through");
    printf("calls %u\n", SESSIONS * ROUNDS);
}

/* A datagram out at one end and in at the other. */
static void pairs(const unsigned *order, uint32_t size, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        uint32_t session = order[i % (SESSIONS * ROUNDS)] % sessions;
        alice.stack->udp_send(session, octets, size);
        unsigned at = alice.head++ % RING;
        bob.stack->udp_frame(session, alice.frames[at], alice.sizes[at]);
    }
}

static void damaged(struct end *to, struct end *from, uint32_t session, unsigned at)
{
    uint8_t frame[LARGEST];
    check(from->head < from->tail, "no frame to damage");
    uint32_t size = from->sizes[from->head % RING];
    memcpy(frame, from->frames[from->head % RING], size);
    frame[at] ^= 0x10;
    unsigned before = to->delivered;
    (is_tcp(frame) ? to->stack->tcp_frame : to->stack->udp_frame)(session, frame, size);
    check(to->delivered == before, "a damaged frame was delivered");
}

static void smoke(void)
{
    static const uint32_t sizes[] = {1, 2, 3, 511, 512, 1399, 1400};
    is_looking = 1, mode |= LOOK;
    open_udp();
    for (uint32_t i = 0; i < sessions; i++)
        for (unsigned n = 0; n < sizeof sizes / sizeof *sizes; n++) {
            uint64_t want = bob.octets + sizes[n];
            for (uint32_t k = 0; k < sizes[n]; k++)
                octets[k] = pattern(bob.octets + k + i);
            alice.stack->udp_send(i, octets, sizes[n]);
            damaged(&bob, &alice, i, 42), damaged(&bob, &alice, i, 24);
            settle(i);
            check(bob.octets == want, "a datagram was not delivered");
        }
    open_tcp();
    bob.octets = 0;
    bulk(0, 1 << 20);
    check(bob.octets == 1 << 20, "not all of the stream came");
    for (uint32_t k = 0; k < 100; k++)
        octets[k] = pattern(bob.octets + k);
    check(alice.stack->tcp_send(0, octets, 100) == 100, "refused");
    damaged(&bob, &alice, 0, 80);
    settle(0);
    check(bob.octets == (1 << 20) + 100, "the end of the stream did not come");
    puts("good");
}

static void timed(const char *what, const unsigned *order, uint32_t size)
{
    enum { COUNT = 400000 };
    double began;
    if (!strcmp(what, "time-udp")) {
        open_udp();
        pairs(order, size, COUNT / 4);
        began = seconds();
        pairs(order, size, COUNT);
        printf("%.3f\n", (seconds() - began) / COUNT * 1e9);
        return;
    }
    open_tcp();
    if (!strcmp(what, "time-trip")) {
        for (unsigned i = 0; i < 1000; i++)
            trip(0, i % sessions, size);
        began = seconds();
        for (unsigned i = 0; i < COUNT / 4; i++)
            trip(0, order[i % (SESSIONS * ROUNDS)] % sessions, size);
        printf("%.3f\n", (seconds() - began) / (COUNT / 4) * 1e9);
        return;
    }
    bulk(0, 8 << 20);
    began = seconds();
    uint64_t total = (uint64_t)size << 20;
    bulk(0, total);
    printf("%.0f\n", (double)total / (seconds() - began));
}

int main(int argc, char **argv)
{
    static unsigned order[SESSIONS * ROUNDS];
    check(argc > 5, "usage: harness A.so B.so PHASE SIZE SESSIONS");
    const char *what = argv[3];
    uint32_t size = (uint32_t)atoi(argv[4]);
    sessions = (unsigned)atoi(argv[5]);
    check(sessions >= 1 && sessions <= SESSIONS && size <= 1460, "1 to 64 sessions, at most 1460 octets");
    shuffle(order);
    begin_all(argv + 1);
    if (!strcmp(what, "smoke"))
        return smoke(), 0;
    if (!strcmp(what, "octets"))
        return printf("%u\n", alice.stack->tcp_octets()), 0;
    if (!strncmp(what, "time-", 5))
        return timed(what, order, size), 0;
    if (!strncmp(what, "udp-", 4)) {
        open_udp();
        udp(what, order, size);
        return 0;
    }
    open_tcp();
    if (!strcmp(what, "bulk")) {
        bulk(0, 4 << 20);
        CALLGRIND_ZERO_STATS;
        bulk(1, (uint64_t)size << 20);
        printf("calls %u\n", (unsigned)(((uint64_t)size << 20) / CHUNK));
        return 0;
    }
    for (uint32_t i = 0; i < sessions; i++)
        trip(0, i, 100), trip(0, i, 100);
    wait(40000000);
    settle(0);
    CALLGRIND_ZERO_STATS;
    for (unsigned i = 0; i < SESSIONS * ROUNDS; i++) {
        if (!strcmp(what, "trip"))
            trip(1, order[i] % sessions, size);
        else
            text(what, order[i] % sessions, size);
    }
    printf("calls %u\n", SESSIONS * ROUNDS);
    return 0;
}
