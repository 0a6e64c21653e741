/* What `sliding.mok` says, written by hand in C as one would who knows the whole stack: the same calls (`Sliding.h`), the same octets on the wire, the same behaviour and the same accounts. A
 * message that finds the window open, and a packet that is the next one, go straight through `send` and `frame`; all else goes by the functions above them.
 *
 * A packet: its size 2 | kind 0, epoch 4, number 2 | ports 2, 2 | text; an acknowledgement: its size 2 | kind 1, epoch 4, the number wanted next 2. A message that waits for its
 * acknowledgement stands as the packet that it leaves as, so what is said again is said as it stands.
 *
 * Not here: listening to one remote port only, credit, `any`, the core's reports. A function that the stack calls does not call the stack, time does not run backwards, and a device's frames are at most
 * `FRAME` octets.
 */
#include "Sliding.h"
#include <stdlib.h>
#include <string.h>

/* Beyond `LONGEST` octets are refused at the door. Messages of `FEW` octets are copied in place: an active message is some words. */
enum { USERS = 64, KEPT = 32, WINDOW = 8, TRIES = 10, PLACES = 256, HEAD = 13, ACK = 9, FRAME = 2048, LONGEST = 2048, FEW = 32, REASONS = Sliding_USERS_REFUSED + 1 };
static const uint64_t NEVER = UINT64_MAX, PATIENCE = 200000000;

struct __attribute__((packed)) packet {
    uint16_t size;
    uint8_t kind;
    uint32_t epoch;
    uint16_t number;
    uint32_t ports;
    uint8_t text[FRAME - HEAD];
};

struct __attribute__((packed)) ack {
    uint16_t size;
    uint8_t kind;
    uint32_t epoch;
    uint16_t next;
};

/* Octets 1 to 8 of the packet that is to come next; the first belongs to its size. */
struct __attribute__((packed)) coming {
    uint8_t size, kind;
    uint32_t epoch;
    uint16_t number;
};

/* Of a session: its ports as they stand in packets that come, and 1; 0: none stands here. */
struct place {
    uint64_t ports;
    mk_handle session;
};

struct Sliding {
    struct Sliding_ports ports;
    mk_accounts accounts;
    uint64_t again_at;
    uint16_t oldest, next; /* the first message that is not acknowledged, and the first that is not there yet */
    uint32_t few;          /* octets of a message that is copied in place */
    uint32_t room;         /* of a packet's text, and 1; 0 while nothing was heard */
    struct coming coming;
    struct ack ack;        /* the one that left last */
    /* A user's session, or one that is never his, and his ports as they stand in packets that leave. */
    mk_handle sessions[USERS];
    uint32_t leaving[USERS];
    struct place places[PLACES];
    struct packet kept[KEPT];
    /* Behind here is what only rare paths use. */
    bool is_there;         /* the window, and what it hears and says */
    uint8_t sends;
    uint32_t longest, former_epoch, count, listeners;
    uint64_t epochs, free, ages, age[USERS];
    uint32_t generations[USERS], user[USERS];
    uint16_t next_port, listener[USERS];
    uint64_t dropped[REASONS], consumed[REASONS];
};

const struct Sliding_params Sliding_default_params = {0, 1514};
const mk_config Sliding_defaults = {0};

static uint16_t get16(const uint8_t *at) { uint16_t value; memcpy(&value, at, 2); return value; }
static uint32_t get32(const uint8_t *at) { uint32_t value; memcpy(&value, at, 4); return value; }
static uint64_t get64(const uint8_t *at) { uint64_t value; memcpy(&value, at, 8); return value; }
static uint64_t of_coming(const struct coming *coming) { uint64_t value; memcpy(&value, coming, 8); return value; }
static bool is_same(mk_handle a, mk_handle b) { return ((uint64_t)a.generation << 32 | a.object) == ((uint64_t)b.generation << 32 | b.object); }
static uint32_t waiting(const struct Sliding *k) { return (uint16_t)(k->next - k->oldest); }

/* A handle that its place never has. */
static mk_handle nobody(uint32_t user) { return (mk_handle){user, 0}; }

/* Users' sessions, by their ports. */

static size_t home(uint32_t ports) { return ports * UINT32_C(0x9e3779b1) >> 24; }

/* The place of these ports, or the empty one where they would stand. */
static const struct place *find(const struct Sliding *k, uint32_t ports)
{
    size_t at = home(ports);
    while (k->places[at].ports != ports + UINT64_C(1) && k->places[at].ports != 0)
        at = (at + 1) % PLACES;
    return &k->places[at];
}

static void settle_in(struct Sliding *k, uint32_t user)
{
    uint32_t ports = k->leaving[user] >> 16 | k->leaving[user] << 16;
    *(struct place *)(uintptr_t)find(k, ports) = (struct place){ports + UINT64_C(1), k->sessions[user]};
}

static uint32_t lowest(uint64_t bits) { return (uint32_t)__builtin_ctzll(bits); }

/* The number that a session would have goes to nobody. */
static void give_back(struct Sliding *k, uint32_t user)
{
    k->generations[user] = (k->generations[user] + 1) % MK_GENERATIONS;
    k->free |= UINT64_C(1) << user;
}

static mk_handle begin_session(struct Sliding *k, uint32_t user, uint16_t local, uint16_t remote)
{
    k->free &= ~(UINT64_C(1) << user);
    k->sessions[user] = (mk_handle){user + 1, k->generations[user]};
    k->leaving[user] = local | (uint32_t)remote << 16;
    k->age[user] = k->ages++, k->count++;
    settle_in(k, user);
    return k->sessions[user];
}

static void end_session(struct Sliding *k, uint32_t user)
{
    k->sessions[user] = nobody(user), k->count--;
    give_back(k, user);
    memset(k->places, 0, sizeof k->places);
    for (uint64_t left = ~k->free; left; left &= left - 1)
        settle_in(k, lowest(left));
}

/* The window. */

static void begin_window(struct Sliding *k)
{
    uint32_t epoch = (uint32_t)mk_sample(&k->epochs);
    k->is_there = true, k->sends = 0, k->oldest = k->next = 0, k->room = 0;
    k->coming = (struct coming){0}, k->former_epoch = 0;
    for (unsigned i = 0; i < KEPT; i++)
        k->kept[i].kind = 0, k->kept[i].epoch = epoch;
}

static void end_window(struct Sliding *k)
{
    k->accounts.gone += waiting(k);
    k->is_there = false, k->again_at = NEVER, k->oldest = k->next, k->room = 0;
}

static void transmit(struct Sliding *k, uint64_t now, uint32_t from, uint32_t to)
{
    if (k->again_at == NEVER)
        k->again_at = now + PATIENCE;
    for (uint32_t i = from; i < to; i++) {
        struct packet *packet = &k->kept[(k->oldest + i) % KEPT];
        k->accounts.delivered++;
        k->ports.device_frame(k->ports.context, (mk_octets){(const uint8_t *)packet, __builtin_bswap16(packet->size)});
    }
}

static uint32_t in_window(const struct Sliding *k) { return waiting(k) < WINDOW ? waiting(k) : WINDOW; }

static void fail(struct Sliding *k, uint32_t why)
{
    mk_handle failed[USERS];
    uint32_t count = 0;
    while (k->count) {
        uint32_t oldest = lowest(~k->free);
        for (uint64_t left = ~k->free; left; left &= left - 1)
            if (k->age[lowest(left)] < k->age[oldest])
                oldest = lowest(left);
        failed[count++] = k->sessions[oldest];
        end_session(k, oldest);
    }
    end_window(k);
    for (uint32_t i = 0; i < count; i++)
        k->ports.users_failed_session(k->ports.context, failed[i], why);
}

static __attribute__((noinline)) void expire(struct Sliding *k, uint64_t now)
{
    while (k->again_at <= now) {
        uint64_t when = k->again_at;
        k->again_at = NEVER;
        if (++k->sends >= TRIES)
            fail(k, Sliding_TIMED_OUT);
        else
            transmit(k, when, 0, in_window(k));
    }
}

static void begin(struct Sliding *k, uint64_t now)
{
    if (now >= k->again_at)
        expire(k, now);
}

/* The first and the last `part` octets, which together are all. */
static inline void copy_ends(uint8_t *to, const uint8_t *from, size_t size, size_t part)
{
    uint8_t first[16], last[16];
    memcpy(first, from, part), memcpy(last, from + size - part, part);
    memcpy(to, first, part), memcpy(to + size - part, last, part);
}

/* At most `FEW` octets. */
static inline void copy_few(uint8_t *to, const uint8_t *from, uint32_t size)
{
    if (MK_LIKELY(size - 8 <= 8))
        copy_ends(to, from, size, 8);
    else if (size > 16)
        copy_ends(to, from, size, 16);
    else if (size >= 4)
        copy_ends(to, from, size, 4);
    else
        for (uint32_t i = 0; i < size; i++)
            to[i] = from[i];
}

/* The next packet, its text still to come. */
static inline struct packet *next_packet(struct Sliding *k, size_t user, uint32_t size)
{
    struct packet *packet = &k->kept[k->next % KEPT];
    packet->size = __builtin_bswap16((uint16_t)(size + HEAD)), packet->number = k->next++, packet->ports = k->leaving[user];
    return packet;
}

static bool refuse(struct Sliding *k) { return k->accounts.refused++, false; }

static bool drop(struct Sliding *k, uint32_t why) { return k->dropped[why]++, true; }

static __attribute__((noinline)) bool send_rarely(struct Sliding *k, uint64_t now, mk_handle session, mk_octets msg)
{
    begin(k, now);
    uint32_t user = (session.object - 1) % USERS, before = waiting(k);
    if (!is_same(k->sessions[user], session) || msg.size > LONGEST)
        return refuse(k);
    if (before == KEPT)
        return drop(k, Sliding_USERS_APPLICATION_NO_CREDIT), false;
    if (msg.size > k->longest)
        return drop(k, Sliding_WINDOW_TOO_BIG);
    memcpy(next_packet(k, user, msg.size)->text, msg.at, msg.size);
    if (before < WINDOW)
        transmit(k, now, before, before + 1);
    return true;
}

/* Up. */

static void say_next(struct Sliding *k)
{
    k->ack.next = k->coming.number;
    k->accounts.delivered++;
    k->ports.device_frame(k->ports.context, (mk_octets){(const uint8_t *)&k->ack, ACK});
}

static void hand_up(struct Sliding *k, mk_handle session, const uint8_t *at, uint32_t size)
{
    k->accounts.delivered++;
    k->ports.users_deliver(k->ports.context, session, (mk_octets){at, size});
}

static bool has_listener(const struct Sliding *k, uint16_t local)
{
    for (uint32_t i = 0; i < k->listeners; i++)
        if (k->listener[i] == local)
            return true;
    return false;
}

static void users_deliver(struct Sliding *k, const uint8_t *at, uint32_t size)
{
    if (size < 4) {
        drop(k, Sliding_USERS_SHORT);
        return;
    }
    uint16_t remote = get16(at), local = get16(at + 2);
    const struct place *place = find(k, get32(at));
    mk_handle session = place->session;
    if (place->ports == 0) {
        bool is_wanted = has_listener(k, local) || has_listener(k, 0);
        if (!is_wanted || !k->free) {
            drop(k, is_wanted ? Sliding_USERS_NO_ROOM : Sliding_USERS_UNMATCHED);
            if (k->count == 0)
                end_window(k);
            return;
        }
        session = begin_session(k, lowest(k->free), local, remote);
        k->ports.users_accepted(k->ports.context, session, local, remote);
    }
    hand_up(k, session, at + 4, size - 4);
}

static void data(struct Sliding *k, const uint8_t *at, uint32_t size)
{
    uint32_t epoch = get32(at + 1);
    uint16_t number = get16(at + 5);
    bool heard = k->room != 0;
    if (!heard || epoch != k->coming.epoch) {
        if (number != 0 || (heard && epoch == k->former_epoch)) {
            drop(k, Sliding_WINDOW_STALE);
            return;
        }
        k->former_epoch = heard ? k->coming.epoch : epoch;
        k->coming.epoch = k->ack.epoch = epoch, k->coming.number = 0;
        k->room = LONGEST - HEAD + 1;
    }
    bool is_next = number == k->coming.number;
    k->coming.number += is_next;
    say_next(k);
    if (is_next)
        users_deliver(k, at + 7, size - 7);
    else
        drop(k, (uint16_t)(k->coming.number - number) < 0x8000 ? Sliding_WINDOW_DUPLICATE : Sliding_WINDOW_GAP);
}

static void acknowledged(struct Sliding *k, uint64_t now, const uint8_t *at)
{
    uint16_t next = get16(at + 5);
    uint32_t done = (uint16_t)(next - k->oldest), sent = in_window(k);
    k->consumed[Sliding_WINDOW_ACK]++;
    if (get32(at + 1) != k->kept[0].epoch || done == 0 || done > sent)
        return;
    k->consumed[Sliding_WINDOW_ACKNOWLEDGED] += done;
    k->oldest = next, k->sends = 0, k->again_at = NEVER;
    if (waiting(k))
        transmit(k, now, sent - done, in_window(k));
}

static __attribute__((noinline)) bool frame_rarely(struct Sliding *k, uint64_t now, mk_octets msg)
{
    const uint8_t *at = msg.at;
    uint32_t size = msg.size;
    begin(k, now);
    if (size > LONGEST)
        return refuse(k);
    k->accounts.received++;
    if (size < 2)
        return drop(k, Sliding_FRAMED_SHORT);
    uint32_t said = __builtin_bswap16(get16(at));
    if (said < 2)
        return drop(k, Sliding_FRAMED_OCTETS);
    if (said > size)
        return drop(k, Sliding_FRAMED_SHORT);
    at += 2, size = said - 2;
    if (size == 0)
        return drop(k, Sliding_WINDOW_SHORT);
    if (at[0] > 1)
        return drop(k, Sliding_WINDOW_TAG);
    if (size < 7)
        return drop(k, Sliding_WINDOW_SHORT);
    if (!k->is_there)
        begin_window(k);
    if (at[0] == 0)
        data(k, at, size);
    else
        acknowledged(k, now, at);
    return true;
}

/* The calls. */

static void no_frame(void *context, mk_octets msg) { (void)context, (void)msg; }
static void no_opened(void *context, uint32_t user, mk_handle session, uint16_t local, uint16_t remote) { (void)context, (void)user, (void)session, (void)local, (void)remote; }
static void no_failed(void *context, uint32_t user, uint32_t why) { (void)context, (void)user, (void)why; }
static void no_accepted(void *context, mk_handle session, uint16_t local, uint16_t remote) { (void)context, (void)session, (void)local, (void)remote; }
static void no_deliver(void *context, mk_handle session, mk_octets msg) { (void)context, (void)session, (void)msg; }
static void no_closed(void *context, mk_handle session) { (void)context, (void)session; }
static void no_failed_session(void *context, mk_handle session, uint32_t why) { (void)context, (void)session, (void)why; }

size_t Sliding_size(const mk_config *config)
{
    (void)config;
    return sizeof(struct Sliding);
}

struct Sliding *Sliding_init(void *memory, const mk_config *config, const struct Sliding_params *params, const struct Sliding_ports *ports)
{
    struct Sliding *k = memory;
    if (params->device_mtu < HEAD || params->device_mtu > FRAME)
        abort();
    memset(k, 0, sizeof *k);
    k->ports = *ports;
    if (!ports->device_frame)
        k->ports.device_frame = no_frame;
    if (!ports->users_opened)
        k->ports.users_opened = no_opened;
    if (!ports->users_failed)
        k->ports.users_failed = no_failed;
    if (!ports->users_accepted)
        k->ports.users_accepted = no_accepted;
    if (!ports->users_deliver)
        k->ports.users_deliver = no_deliver;
    if (!ports->users_closed)
        k->ports.users_closed = no_closed;
    if (!ports->users_failed_session)
        k->ports.users_failed_session = no_failed_session;
    k->accounts.dropped = k->dropped, k->accounts.consumed = k->consumed;
    k->again_at = NEVER, k->longest = params->device_mtu - HEAD, k->few = k->longest < FEW ? k->longest : FEW, k->free = UINT64_MAX;
    k->ack = (struct ack){.size = __builtin_bswap16(ACK), .kind = 1};
    /* As the stack draws them: its window is its class 4. */
    k->epochs = mk_stream(config->seed, 4, 0, 0);
    for (uint32_t i = 0; i < USERS; i++)
        k->sessions[i] = nobody(i);
    return k;
}

void Sliding_start(struct Sliding *k, uint64_t now) { (void)k, (void)now; }

void Sliding_advance(struct Sliding *k, uint64_t now) { begin(k, now); }

bool Sliding_next_deadline(const struct Sliding *k, uint64_t *deadline)
{
    *deadline = k->again_at;
    return k->again_at != NEVER;
}

const mk_accounts *Sliding_accounts(const struct Sliding *k)
{
    ((struct Sliding *)(uintptr_t)k)->accounts.held = waiting(k);
    return &k->accounts;
}

bool Sliding_users_listen(struct Sliding *k, uint64_t now, uint32_t user, uint16_t local_port)
{
    (void)user;
    begin(k, now);
    if (!has_listener(k, local_port) && k->listeners < USERS)
        k->listener[k->listeners++] = local_port;
    return true;
}

bool Sliding_users_unlisten(struct Sliding *k, uint64_t now, uint32_t user, uint16_t local_port)
{
    (void)user;
    begin(k, now);
    for (uint32_t i = 0; i < k->listeners; i++)
        if (k->listener[i] == local_port)
            k->listener[i] = k->listener[--k->listeners];
    return true;
}

static bool is_open(const struct Sliding *k, uint16_t local, uint16_t remote)
{
    return find(k, remote | (uint32_t)local << 16)->ports != 0;
}

/* A port that nobody has, if there is one among the next sixteen. */
static uint16_t free_port(struct Sliding *k, uint16_t remote)
{
    uint16_t port = 0;
    for (unsigned tries = 0; tries < 16; tries++) {
        port = k->next_port++ | 0xc000;
        if (!is_open(k, port, remote))
            break;
    }
    return port;
}

bool Sliding_users_open(struct Sliding *k, uint64_t now, uint32_t user, uint16_t local_port, uint16_t remote_port)
{
    begin(k, now);
    if (!k->free) {
        k->ports.users_failed(k->ports.context, user, Sliding_NO_ROOM);
        return true;
    }
    uint32_t number = lowest(k->free);
    uint16_t local = local_port || !remote_port ? local_port : free_port(k, remote_port);
    if (!remote_port || is_open(k, local, remote_port)) {
        give_back(k, number);
        k->ports.users_failed(k->ports.context, user, remote_port ? Sliding_USERS_IN_USE : Sliding_BAD_ADDRESS);
        return true;
    }
    if (!k->is_there)
        begin_window(k);
    k->ports.users_opened(k->ports.context, user, begin_session(k, number, local, remote_port), local, remote_port);
    return true;
}

bool Sliding_users_close(struct Sliding *k, uint64_t now, mk_handle session)
{
    begin(k, now);
    uint32_t user = (session.object - 1) % USERS;
    if (!is_same(k->sessions[user], session))
        return refuse(k);
    end_session(k, user);
    if (k->count == 0)
        end_window(k);
    k->ports.users_closed(k->ports.context, session);
    return true;
}

bool Sliding_users_abort(struct Sliding *k, uint64_t now, mk_handle session) { return Sliding_users_close(k, now, session); }

bool Sliding_users_send(struct Sliding *k, uint64_t now, mk_handle session, mk_octets msg)
{
    size_t user = (session.object - 1) % USERS;
    uint32_t before = waiting(k);
    if (MK_UNLIKELY(now >= k->again_at || before >= WINDOW || msg.size > k->few || !is_same(k->sessions[user], session)))
        return send_rarely(k, now, session, msg);
    if (before == 0)
        k->again_at = now + PATIENCE;
    struct packet *packet = next_packet(k, user, msg.size);
    copy_few(packet->text, msg.at, msg.size);
    k->accounts.delivered++;
    k->ports.device_frame(k->ports.context, (mk_octets){(const uint8_t *)packet, msg.size + HEAD});
    return true;
}

bool Sliding_device_frame(struct Sliding *k, uint64_t now, mk_octets msg)
{
    const uint8_t *at = msg.at;
    uint32_t size = msg.size - HEAD;
    if (MK_UNLIKELY(now >= k->again_at || size >= k->room || __builtin_bswap16(get16(at)) != msg.size || (get64(at + 1) ^ of_coming(&k->coming)) > 0xff))
        return frame_rarely(k, now, msg);
    uint32_t ports = get32(at + 9);
    const struct place *place = &k->places[home(ports)];
    if (MK_UNLIKELY(place->ports != ports + UINT64_C(1))) {
        place = find(k, ports);
        if (place->ports == 0)
            return frame_rarely(k, now, msg);
    }
    mk_handle session = place->session;
    k->accounts.received++, k->accounts.delivered += 2;
    k->ack.next = ++k->coming.number;
    k->ports.device_frame(k->ports.context, (mk_octets){(const uint8_t *)&k->ack, ACK});
    k->ports.users_deliver(k->ports.context, session, (mk_octets){at + HEAD, size});
    return true;
}
