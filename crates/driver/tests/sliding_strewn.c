/* One end of the window, of which nothing is expected: sessions are opened and closed by few ports, frames are made up, or are its own that come back, ports changed, some of their octets others; now and
 * then time passes until the window gives up. What it says, what it refuses and its accounts are printed. */
#include <stdio.h>
#include <stdlib.h>
#include "Sliding.h"

enum { STEPS = 40000, KEPT = 64, HANDLES = 128, SIZE = 1600 };

static uint64_t now, chance;
static uint8_t frames[KEPT][SIZE];
static uint32_t sizes[KEPT], kept;
static mk_handle handles[HANDLES];
static uint32_t given;

static unsigned below(unsigned limit) { return (unsigned)(mk_sample(&chance) % limit); }

static void show(const char *what, uint32_t a, uint32_t b, uint32_t c, mk_octets octets)
{
    uint32_t sum = 0;
    for (uint32_t i = 0; i < octets.size; i++)
        sum = sum * 31 + octets.at[i];
    printf("%llu %s %u %u %u: %u, %08x\n", (unsigned long long)now, what, a, b, c, octets.size, sum);
}

static void on_frame(void *context, mk_octets frame)
{
    (void)context;
    show("frame", 0, 0, 0, frame);
    memcpy(frames[kept % KEPT], frame.at, frame.size), sizes[kept++ % KEPT] = frame.size;
}

static void learn(mk_handle session) { handles[given++ % HANDLES] = session; }

static void on_opened(void *context, uint32_t user, mk_handle session, uint16_t local_port, uint16_t remote_port)
{
    (void)context, (void)user;
    show("opened", session.object, session.generation, local_port * 65536u + remote_port, (mk_octets){NULL, 0}), learn(session);
}

static void on_accepted(void *context, mk_handle session, uint16_t local_port, uint16_t remote_port)
{
    (void)context;
    show("accepted", session.object, session.generation, local_port * 65536u + remote_port, (mk_octets){NULL, 0}), learn(session);
}

static void on_failed(void *context, uint32_t user, uint32_t why) { (void)context, show("failed", user, why, 0, (mk_octets){NULL, 0}); }
static void on_closed(void *context, mk_handle session) { (void)context, show("closed", session.object, session.generation, 0, (mk_octets){NULL, 0}); }
static void on_deliver(void *context, mk_handle session, mk_octets msg) { (void)context, show("message", session.object, session.generation, 0, msg); }

static void on_failed_session(void *context, mk_handle session, uint32_t why)
{
    (void)context;
    show("session failed", session.object, session.generation, why, (mk_octets){NULL, 0});
}

/* The number that the other end's next packet has, as far as it is known here. */
static uint16_t number;
static uint32_t epoch = 7;

static uint32_t made_up(uint8_t *frame)
{
    uint32_t size = 13 + (below(8) ? below(40) : below(1500));
    for (uint32_t i = 0; i < size; i++)
        frame[i] = (uint8_t)below(256);
    if (below(40) == 0)
        epoch = below(4), number = 0;
    frame[0] = (uint8_t)(size >> 8), frame[1] = (uint8_t)size, frame[2] = 0;
    memcpy(frame + 3, &epoch, 4), memcpy(frame + 7, &number, 2);
    number = (uint16_t)(number + (below(10) != 0) + (below(60) == 0));
    frame[9] = (uint8_t)below(9), frame[10] = 0, frame[11] = (uint8_t)below(9), frame[12] = 0;
    return size;
}

/* What left last is acknowledged. */
static uint32_t acknowledgement(uint8_t *frame)
{
    for (uint32_t i = 1; i <= kept && i <= KEPT; i++) {
        const uint8_t *own = frames[(kept - i) % KEPT];
        if (own[2] != 0)
            continue;
        uint16_t next = (uint16_t)(own[7] + 256 * own[8] + 1 - (below(4) == 0));
        memcpy(frame, own, 9), frame[0] = 0, frame[1] = 9, frame[2] = 1, memcpy(frame + 7, &next, 2);
        return 9;
    }
    return made_up(frame);
}

static void step(struct Sliding *k)
{
    uint8_t octets[SIZE + 1000];
    for (uint32_t i = 0; i < sizeof octets; i++)
        octets[i] = (uint8_t)(i * 37 + now);
    unsigned luck = below(100);
    uint32_t size;
    bool good;
    mk_handle session = handles[(given - 1 - (below(5) ? below(3) : below(HANDLES))) % HANDLES];
    if (luck < 30) {
        size = below(10) ? below(40) : below(2100);
        good = Sliding_users_send(k, now, session, (mk_octets){octets, size});
    } else if (luck < 70) {
        bool is_ack = luck < 45;
        size = is_ack ? acknowledgement(octets) : made_up(octets);
        if (below(12) == 0)
            octets[below(below(2) ? 2 : size)] ^= (uint8_t)(1 << below(8));
        if (below(20) == 0)
            size = below(3) ? below(size + 1) : size + below(600);
        good = Sliding_device_frame(k, now, (mk_octets){octets, size});
    } else if (luck < 76) {
        good = Sliding_users_open(k, now, luck, (uint16_t)below(9), (uint16_t)below(9));
    } else if (luck < 78) {
        good = below(4) ? Sliding_users_listen(k, now, 1, (uint16_t)below(7)) : Sliding_users_unlisten(k, now, 1, (uint16_t)below(7));
    } else if (luck < 80 && below(3) == 0) {
        if (below(2))
            session.generation += below(3), session.object += below(2) * 64;
        good = below(2) ? Sliding_users_close(k, now, session) : Sliding_users_abort(k, now, session);
    } else {
        now += below(60) ? below(2000000) : below(9) ? 210000000 : 3000000000;
        Sliding_advance(k, now);
        good = true;
    }
    if (!good)
        show("refused", luck, 0, 0, (mk_octets){NULL, 0});
}

int main(int argc, char **argv)
{
    mk_config config = Sliding_defaults;
    struct Sliding_params params = Sliding_default_params;
    struct Sliding_ports ports = {.device_frame = on_frame, .users_opened = on_opened, .users_failed = on_failed, .users_accepted = on_accepted, .users_deliver = on_deliver,
                                  .users_closed = on_closed, .users_failed_session = on_failed_session};
    chance = config.seed = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;
    size_t size = (Sliding_size(&config) + 63) / 64 * 64;
    void *memory = aligned_alloc(64, size);
    memset(memory, 0, size);
    struct Sliding *k = Sliding_init(memory, &config, &params, &ports);
    Sliding_start(k, 0);
    for (unsigned i = 0; i < STEPS; i++)
        step(k);
    const mk_accounts *a = Sliding_accounts(k);
    printf("received %d gone %d delivered %d held %d refused %d\n", (int)a->received, (int)a->gone, (int)a->delivered, (int)a->held, (int)a->refused);
    for (uint32_t i = 0; i <= Sliding_USERS_REFUSED; i++)
        printf("%u: %d %d\n", i, (int)a->dropped[i], (int)a->consumed[i]);
    free(memory);
    return 0;
}
