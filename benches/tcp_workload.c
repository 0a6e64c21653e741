/* `tcp workload`: two hosts on a wire of 5 ms that loses 2 % of the frames each way, in virtual time. Of 24 sessions a third say 256 KiB one way as fast as they may, a third ask
 * and are answered 200 times (asked and answered from within callbacks), a third open, say three messages and close, twelve times each. Every octet that is delivered is looked at. */
#include "Host.h"
#include "workload.h"

enum { ALICE = 0x0a000001, BOB = 0x0a000002, PORT = 80, FIRST_PORT = 5000, USERS = 24, WIRE = 1024, LARGEST = 1536, CHUNK = 1448, HANDLES = 4096 };
enum { BULK_OCTETS = 256 << 10, QUESTIONS = 200, QUESTION = 100, LIVES = 12, MESSAGES = 3, PERIOD = 9472 };
#define DELAY UINT64_C(5000000)

/* What a connection may be told, as the stack has it anyway. */
#define USUAL true, 0, 300000000000u, 0, 65535

/* One connection, known by both ends by the port of the one that opens. */
struct talk {
    uint32_t user;
    mk_handle handle[2];
    /* `is_full`: refused, until credit comes. */
    int is_open[2], is_finished[2], is_full[2];
    uint64_t said[2], heard[2];
    unsigned messages, lives;
};

struct end {
    struct Host *stack;
    unsigned number, head, tail;
    uint16_t port_of[HANDLES];
    uint8_t frames[WIRE][LARGEST];
    uint32_t sizes[WIRE];
    uint64_t due[WIRE];
};

static struct end ends[2];
static struct talk talks[1024];
static uint16_t port_of_user[USERS], next_port = FIRST_PORT;
static unsigned questions, lives, lost, established;
static uint8_t octets[1 << 17];

static uint8_t pattern(uint64_t at) { return (uint8_t)(at * 37 + (at >> 8) * 11); }

static struct talk *talk_at(uint16_t port) { return &talks[port - FIRST_PORT]; }

static struct talk *talk_of(struct end *end, mk_handle session) { return talk_at(end->port_of[session.object % HANDLES]); }

struct argument {
    mk_handle session;
    mk_octets message;
    uint16_t port;
};

static bool call(enum entry entry, struct end *end, const struct argument *with)
{
    switch (entry) {
    case SEND: return Host_tcp_send(end->stack, now, with->session, with->message);
    case FRAME: return Host_device_frame(end->stack, now, with->message);
    case OPEN: return Host_tcp_open(end->stack, now, with->port, ALICE, with->port, BOB, PORT, USUAL);
    case CLOSE: return Host_tcp_close(end->stack, now, with->session);
    case GRANT: return Host_tcp_grant_delivers(end->stack, now, with->session, 1, with->message.size);
    default: return Host_advance(end->stack, now), true;
    }
}

__attribute__((noinline)) bool counted(enum entry entry, struct end *end, const struct argument *with)
{
    return call(entry, end, with);
}

static bool act(enum entry entry, struct end *end, struct argument with)
{
    bool good;
    calls[entry]++;
    if (entry == chosen && depth == 0) {
        depth++;
        good = counted(entry, end, &with);
        depth--;
    } else {
        good = call(entry, end, &with);
    }
    if (!good)
        note('r', (uint32_t)entry << 16 | end->number, &with.port, sizeof with.port);
    return good;
}

/* Octets of the pattern from where this end of the talk is; false: not now. */
static bool say(struct end *end, struct talk *talk, uint32_t size)
{
    uint64_t from = talk->said[end->number];
    if (talk->is_full[end->number])
        return false;
    talk->is_full[end->number] = !act(SEND, end, (struct argument){.session = talk->handle[end->number], .message = {octets + from % PERIOD, size}});
    if (talk->is_full[end->number])
        return false;
    talk->said[end->number] += size;
    return true;
}

static void on_frame(void *context, mk_octets frame)
{
    struct end *end = context;
    note('f', end->number, frame.at, frame.size);
    check(end->tail - end->head < WIRE && frame.size <= LARGEST, "too many frames under way");
    memcpy(end->frames[end->tail % WIRE], frame.at, frame.size);
    end->due[end->tail % WIRE] = now + DELAY;
    end->sizes[end->tail++ % WIRE] = frame.size;
}

static void begun(struct end *end, mk_handle session, uint16_t port)
{
    struct talk *talk = talk_at(port);
    end->port_of[session.object % HANDLES] = port;
    talk->handle[end->number] = session, talk->is_open[end->number] = 1;
    established++;
    note('o', end->number << 16 | port, NULL, 0);
}

static void on_opened(void *context, uint32_t user, mk_handle session, uint32_t host, uint16_t port, uint32_t their_host, uint16_t their_port)
{
    (void)host, (void)port, (void)their_host, (void)their_port;
    begun(context, session, (uint16_t)user);
}

static void on_accepted(void *context, mk_handle session, uint32_t host, uint16_t port, uint32_t their_host, uint16_t their_port)
{
    (void)host, (void)port, (void)their_host;
    begun(context, session, their_port);
}

/* The one who is asked says as much again; the one who asked asks again when all of it has come. */
static void answer(struct end *end, struct talk *talk)
{
    uint64_t heard = talk->heard[end->number], said = talk->said[end->number];
    if (end->number == 1 && heard > said)
        say(end, talk, (uint32_t)(heard - said));
    if (end->number == 0 && heard == said && talk->messages < QUESTIONS && say(end, talk, QUESTION))
        talk->messages++, questions++;
}

static void on_deliver(void *context, mk_handle session, mk_octets message)
{
    struct end *end = context;
    struct talk *talk = talk_of(end, session);
    uint64_t from = talk->heard[end->number];
    note('d', end->number << 16 | end->port_of[session.object % HANDLES], message.at, message.size);
    check(memcmp(message.at, octets + from % PERIOD, message.size) == 0, "not what was sent");
    talk->heard[end->number] += message.size;
    act(GRANT, end, (struct argument){.session = session, .message = message});
    if (talk->user % 3 == 1)
        answer(end, talk);
}

static void on_grant(void *context, mk_handle session, uint32_t messages, uint32_t count)
{
    struct end *end = context;
    uint32_t credit[2] = {messages, count};
    talk_of(end, session)->is_full[end->number] = 0;
    note('g', end->number << 16 | end->port_of[session.object % HANDLES], credit, sizeof credit);
}

static void on_finished(void *context, mk_handle session)
{
    struct end *end = context;
    talk_of(end, session)->is_finished[end->number] = 1;
    note('e', end->number << 16 | end->port_of[session.object % HANDLES], NULL, 0);
}

static void on_closed(void *context, mk_handle session)
{
    struct end *end = context;
    talk_of(end, session)->is_open[end->number] = 0;
    note('c', end->number << 16 | end->port_of[session.object % HANDLES], NULL, 0);
}

static void on_failed(void *context, mk_handle session, uint32_t why)
{
    struct end *end = context;
    talk_of(end, session)->is_open[end->number] = 0;
    note('x', end->number << 16 | end->port_of[session.object % HANDLES], &why, sizeof why);
}

static void begin(struct end *end, unsigned number, uint32_t host)
{
    mk_config config = Host_defaults;
    struct Host_params params = Host_default_params;
    struct Host_ports ports = {.context = end, .device_frame = on_frame, .tcp_opened = on_opened, .tcp_accepted = on_accepted, .tcp_deliver = on_deliver, .tcp_grant_sends = on_grant,
                               .tcp_finished = on_finished, .tcp_closed = on_closed, .tcp_failed_session = on_failed};
    params.address_address = host, params.address_prefix = 24;
    params.device_mac = 0x020000000000 | (host & 0xff), params.device_mtu = 1514;
    config.seed = host;
    end->number = number;
    end->stack = Host_init(instance_memory(Host_size(&config)), &config, &params, &ports);
    Host_start(end->stack, now);
}

static void open_talk(uint32_t user)
{
    uint16_t port = next_port++;
    check(port < FIRST_PORT + sizeof talks / sizeof *talks, "too many connections");
    port_of_user[user] = port, talk_at(port)->user = user;
    act(OPEN, &ends[0], (struct argument){.port = port});
}

/* What the application does between calls; whether it has more to do. */
static bool pump_one(uint32_t user)
{
    static unsigned lived[USERS];
    struct talk *talk = talk_at(port_of_user[user]);
    bool is_said = user % 3 == 0 ? talk->said[0] >= BULK_OCTETS : user % 3 == 1 ? talk->messages >= QUESTIONS && talk->heard[0] == talk->said[0] : talk->messages >= MESSAGES;
    if (talk->is_open[1] && talk->is_finished[1] && talk->said[1] == (user % 3 == 1 ? talk->heard[1] : 0))
        talk->is_finished[1] = 0, act(CLOSE, &ends[1], (struct argument){.session = talk->handle[1]});
    if (!talk->is_open[0] && talk->lives == 2) {
        if (user % 3 < 2 || ++lived[user] >= LIVES)
            return talk->lives = 3, false;
        return lives++, open_talk(user), true;
    }
    if (!talk->is_open[0])
        return talk->lives != 3;
    if (talk->lives == 0)
        talk->lives = 1;
    if (is_said && talk->lives == 1)
        return talk->lives = 2, act(CLOSE, &ends[0], (struct argument){.session = talk->handle[0]});
    if (user % 3 == 0)
        for (int i = 0; i < 4 && talk->said[0] < BULK_OCTETS && say(&ends[0], talk, CHUNK); i++)
            ;
    if (user % 3 == 1)
        for (unsigned number = 0; number < 2; number++)
            if (talk->is_open[number])
                answer(&ends[number], talk);
    if (user % 3 == 2 && talk->messages < MESSAGES && say(&ends[0], talk, 1 + user * 61))
        talk->messages++;
    return true;
}

/* The next thing that happens: a frame comes (or is lost), or a timer. */
static void next(void)
{
    uint64_t when = now + UINT64_C(1000000000), deadline;
    for (unsigned i = 0; i < 2; i++) {
        if (ends[i].head < ends[i].tail && ends[i].due[ends[i].head % WIRE] < when)
            when = ends[i].due[ends[i].head % WIRE];
        if (Host_next_deadline(ends[i].stack, &deadline) && deadline < when)
            when = deadline;
    }
    now = when > now ? when : now;
    for (unsigned i = 0; i < 2; i++) {
        struct end *end = &ends[i];
        if (Host_next_deadline(end->stack, &deadline) && deadline <= now)
            act(ADVANCE, end, (struct argument){0});
        if (end->head < end->tail && end->due[end->head % WIRE] <= now) {
            unsigned at = end->head++ % WIRE;
            if (random_below(100) < 2)
                lost++;
            else
                act(FRAME, &ends[1 - i], (struct argument){.message = {end->frames[at], end->sizes[at]}});
        }
    }
}

int main(int argc, char **argv)
{
    begin_workload(argc, argv);
    /* A stream comes again every PERIOD octets, so that a message may be taken from any place of it. */
    for (unsigned i = 0; i < sizeof octets; i++)
        octets[i] = pattern(i % PERIOD);
    begin(&ends[0], 0, ALICE), begin(&ends[1], 1, BOB);
    while (now < UINT64_C(6000000000))
        next();
    check(Host_tcp_listen(ends[1].stack, now, 1, BOB, PORT, USUAL), "nobody listens");
    CALLGRIND_ZERO_STATS;
    for (uint32_t user = 0; user < USERS; user++)
        open_talk(user);
    for (bool is_more = true; is_more;) {
        next();
        is_more = false;
        for (uint32_t user = 0; user < USERS; user++)
            is_more |= pump_one(user);
        check(now < UINT64_C(3600000000000), "it does not end");
    }
    check(questions == USERS / 3 * QUESTIONS && lives == USERS / 3 * (LIVES - 1) && lost > 50, "too little came through");
    end_workload();
    return 0;
}
