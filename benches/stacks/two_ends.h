/* A thin stack at two ends, 64 users: `STACK(name)` is the name of a function of it.
 *
 * `PROGRAM SEED send|frame|advance|none`: the workload. Messages leave by random sessions, most of 4 octets, some too large for a packet, some in bursts, now and then with a
 * silence between; of the frames 2 % come twice, and of those of the end that says most 2 % are lost and 2 % come behind the next one (with the other's grants lost,
 * flow control would stand still: nothing here says them again). Every octet of what comes out is in the digest.
 * `PROGRAM path send|frame|advance`: the common path: OCTETS octets, one message after the other, 300 us apart, nothing lost, timers run by a call of their own; what is counted of
 * frames are those that carry a message.
 * `PROGRAM time 0`: nanoseconds a message of that, all calls of both ends together.
 * With -DRETURNED the calls are of the entries that return the last output (`mokume build --returned`); what they return is taken outside of what is counted.
 */
#include "workload.h"
#include "clock.h"

/* Of a message of the common path. */
#ifndef OCTETS
#define OCTETS 4
#endif
/* Of the largest of the workload, and how many of 20,000 and more must come through. */
#ifndef MOST
#define MOST 2500
#define LEAST 16000
#endif

enum { STEPS = 20000, RING = 256, LARGEST = 1536, LOCAL = 1000, REMOTE = 2000, TIMED = 1 << 19 };

struct end {
    INSTANCE *stack;
    unsigned number, head, tail, begun, delivered;
    mk_handle sessions[SESSIONS];
    uint8_t frames[RING][LARGEST];
    uint32_t sizes[RING];
};

static struct end ends[2];
static uint8_t octets[8192];
/* The timed run keeps no digest. */
static int is_quiet;

#ifdef RETURNED
static LEFT left;

static bool call(enum entry entry, struct end *end, mk_handle session, mk_octets message)
{
    switch (entry) {
    case SEND: return STACK(users_send_returned)(end->stack, now, session, message, &left);
    case FRAME: return STACK(device_frame_returned)(end->stack, now, message, &left);
    default: return STACK(advance)(end->stack, now), true;
    }
}

static void on_frame(void *context, mk_octets frame);
static void on_deliver(void *context, mk_handle session, mk_octets message);

/* What the last call returned. */
static void take(struct end *end)
{
    LEFT taken = left;
    left.output = STACK(RETURNED_NOTHING);
    if (taken.output == STACK(RETURNED_DEVICE_FRAME))
        on_frame(end, taken.device_frame.msg);
    else if (taken.output == STACK(RETURNED_USERS_DELIVER))
        on_deliver(end, taken.users_deliver.session, taken.users_deliver.msg);
    else
        check(taken.output == STACK(RETURNED_NOTHING), "something else is returned");
}
#else
static void take(struct end *end)
{
    (void)end;
}

static bool call(enum entry entry, struct end *end, mk_handle session, mk_octets message)
{
    switch (entry) {
    case SEND: return STACK(users_send)(end->stack, now, session, message);
    case FRAME: return STACK(device_frame)(end->stack, now, message);
    default: return STACK(advance)(end->stack, now), true;
    }
}
#endif

__attribute__((noinline)) bool counted(enum entry entry, struct end *end, mk_handle session, mk_octets message)
{
    return call(entry, end, session, message);
}

static void act(int is_counted, enum entry entry, struct end *end, mk_handle session, mk_octets message)
{
    bool good;
    if (is_counted && entry == chosen) {
        calls[entry]++, depth++;
        good = counted(entry, end, session, message);
        depth--;
    } else {
        good = call(entry, end, session, message);
    }
    take(end);
    if (!good && !is_quiet)
        write_down('r', entry, &end->number, sizeof end->number);
}

static void keep(struct end *end, const uint8_t *at, uint32_t size)
{
    check(end->tail - end->head < RING && size <= LARGEST, "too many frames under way");
    memcpy(end->frames[end->tail % RING], at, size);
    end->sizes[end->tail++ % RING] = size;
}

/* Counting stops here. */
__attribute__((noinline)) void keep_aside(struct end *end, const uint8_t *at, uint32_t size)
{
    keep(end, at, size);
}

static void on_frame(void *context, mk_octets frame)
{
    struct end *end = context;
    if (!is_quiet)
        note('f', end->number, frame.at, frame.size);
    (depth ? keep_aside : keep)(end, frame.at, frame.size);
}

static void on_opened(void *context, uint32_t user, mk_handle session, uint16_t local_port, uint16_t remote_port)
{
    struct end *end = context;
    (void)local_port, (void)remote_port;
    end->sessions[user] = session, end->begun++;
}

static void on_accepted(void *context, mk_handle session, uint16_t local_port, uint16_t remote_port)
{
    struct end *end = context;
    (void)remote_port;
    end->sessions[local_port - REMOTE] = session, end->begun++;
}

static void on_deliver(void *context, mk_handle session, mk_octets message)
{
    struct end *end = context;
    (void)session;
    end->delivered++;
    if (!is_quiet)
        note('d', end->number, message.at, message.size);
}

static void begin(struct end *end, unsigned number)
{
    mk_config config = STACK(defaults);
    PORTS ports = {.context = end, .device_frame = on_frame, .users_opened = on_opened, .users_accepted = on_accepted, .users_deliver = on_deliver};
    PARAMS params = STACK(default_params);
    end->number = number;
    config.seed = number + 1;
    end->stack = STACK(init)(instance_memory(STACK(size)(&config)), &config, &params, &ports);
    STACK(start)(end->stack, now);
}

static void carry(int is_counted, struct end *from, unsigned at)
{
    act(is_counted, FRAME, &ends[1 - from->number], (mk_handle){0}, (mk_octets){from->frames[at % RING], from->sizes[at % RING]});
}

static void settle(void)
{
    for (unsigned i = 0; ends[0].head < ends[0].tail || ends[1].head < ends[1].tail; i = 1 - i)
        if (ends[i].head < ends[i].tail)
            carry(0, &ends[i], ends[i].head++);
}

static void pass(int is_counted, uint64_t nanoseconds)
{
    now += nanoseconds;
    for (unsigned i = 0; i < 2; i++)
        act(is_counted, ADVANCE, &ends[i], (mk_handle){0}, (mk_octets){0});
}

static void open_all(void)
{
    begin(&ends[0], 0), begin(&ends[1], 1);
    for (uint16_t i = 0; i < SESSIONS; i++) {
        check(STACK(users_listen)(ends[1].stack, now, i, (uint16_t)(REMOTE + i)), "listen is refused");
        check(STACK(users_open)(ends[0].stack, now, i, (uint16_t)(LOCAL + i), (uint16_t)(REMOTE + i)), "open is refused");
        act(0, SEND, &ends[0], ends[0].sessions[i], (mk_octets){octets, 4});
        settle();
        pass(0, 300000);
        settle();
    }
    check(ends[0].begun == SESSIONS && ends[1].begun == SESSIONS, "not all sessions were opened");
}

static void message(unsigned session, const uint8_t *at)
{
    pass(1, 300000);
    if (ends[0].head < ends[0].tail || ends[1].head < ends[1].tail)
        settle();
    act(1, SEND, &ends[0], ends[0].sessions[session], (mk_octets){at, OCTETS});
    carry(1, &ends[0], ends[0].head++);
    if (ends[0].head < ends[0].tail || ends[1].head < ends[1].tail)
        settle();
}

/* All frames that wait, with the weather of the workload. */
static void weather(void)
{
    for (unsigned i = 0; ends[0].head < ends[0].tail || ends[1].head < ends[1].tail; i = 1 - i) {
        struct end *from = &ends[i];
        if (from->head == from->tail)
            continue;
        unsigned luck = random_below(100), at = from->head++;
        if (from->number == 0 && luck >= 4 && luck < 6 && from->head < from->tail)
            carry(1, from, from->head++);
        if (from->number == 1 || luck >= 2)
            carry(1, from, at);
        if (luck == 2 || luck == 3)
            carry(1, from, at);
    }
}

static void step(void)
{
    unsigned luck = random_below(1000), count = luck < 10 ? 1 + random_below(12) : 1;
    uint64_t time = luck < 980 ? 300000 : luck < 999 ? 5000000 : 1200000000;
    for (unsigned i = 0; i < count; i++) {
        uint32_t kind = random_below(100), size = kind < 96 ? 4 : kind < 99 ? random_below(200) : 1 + random_below(MOST);
        mk_octets text = {octets + random_below(1024), size};
        act(1, SEND, &ends[0], ends[0].sessions[random_below(SESSIONS)], text);
    }
    if (luck % 8 == 0)
        act(1, SEND, &ends[1], ends[1].sessions[random_below(SESSIONS)], (mk_octets){octets, 4});
    weather();
    pass(1, time);
    weather();
}

int main(int argc, char **argv)
{
    static unsigned order[SESSIONS * ROUNDS];
    begin_workload(argc, argv);
    shuffle(order);
    for (unsigned i = 0; i < sizeof octets; i++)
        octets[i] = (uint8_t)(i * 37 + (i >> 8) * 11);
    is_quiet = !strcmp(argv[1], "time");
    open_all();
    CALLGRIND_ZERO_STATS;
    if (!strcmp(argv[1], "time")) {
        double began = seconds();
        for (unsigned i = 0; i < TIMED; i++)
            message(order[i % (SESSIONS * ROUNDS)], octets);
        printf("%.2f\n", (seconds() - began) / TIMED * 1e9);
        return 0;
    }
    if (!strcmp(argv[1], "path")) {
        for (unsigned i = 0; i < SESSIONS * ROUNDS; i++)
            message(order[i], octets + i % 1024);
        check(ends[1].delivered == SESSIONS * ROUNDS + SESSIONS, "not all messages came");
    } else {
        for (unsigned i = 0; i < STEPS; i++)
            step();
        check(ends[1].delivered > LEAST, "too little came through");
    }
    end_workload();
    return 0;
}
