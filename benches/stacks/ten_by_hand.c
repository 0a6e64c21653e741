/* What `ten.mok` says, written by hand in C as one would who knows the whole stack: the same calls (`Ten.h`), the same octets on the wire, the same behaviour, of the calls that
 * `two_ends.h` makes. A message that is no more than usual goes straight through `send` and `arrive`; what is rare goes layer by layer, below.
 *
 * A packet: heartbeat's kind 1 | fragment's number 2, index 1, count 1 | sequencer's number 4 | credit in octets: kind 1, number 4 | credit in messages: kind 1, number 4 | compress' kind 1,
 * context 2 but for Plain | ports 2, 2. Sessions of the nine layers below are one: there is one other end. Beyond what the program does stands `abort`.
 */
#include "Ten.h"
#include <stdlib.h>
#include <string.h>

enum {
    USERS = 64, DEPTH_CREDIT = 64, DEPTH_BUCKET = 32, DEPTH_PRIORITY = 16, MTU = 1514, PIECES = 16, GATHERINGS = 8, BEGINNING = 20, WINDOW_MESSAGES = 1024,
    WINDOW_OCTETS = 65536, LARGEST = 24200, PIECE = MTU - 1 - 4, OCTET_TIME = 8000, BURST = 3000, HEAD = 24
};
static const uint64_t NEVER = UINT64_MAX, SECOND = 1000000000, SPACING = 1000;

/* Octets with room before them for every header. */
struct message {
    uint32_t size;
    uint8_t *at, octets[40 + LARGEST];
};

struct line {
    unsigned first, count;
    struct message *at[64];
};

struct gathering {
    bool is_used;
    uint16_t number;
    uint8_t count, held;
    uint64_t given_up;
    struct message *parts[PIECES];
};

struct credit {
    uint32_t granted, received, offered;
    struct line waiting;
};

/* The usual packet as it leaves next: what counts stands in its place in the packet. */
struct __attribute__((packed)) packet {
    uint8_t heartbeat;
    uint16_t number;
    uint8_t index, count;
    uint32_t sequence;
    uint8_t octets_kind;
    uint32_t octets;
    uint8_t messages_kind;
    uint32_t messages;
    uint8_t compress;
    uint32_t users;
    uint8_t text[BEGINNING - 4];
};

struct Ten {
    struct Ten_ports ports;
    uint64_t now, earliest;                 /* no timer is due before */
    uint64_t full_at, line_free_at, beat_at, silent_at;
    struct packet next;
    uint32_t last_number, waiting;          /* messages in any line */
    bool is_begun, heard, is_known;
    uint64_t sent, sent_octets, delivered, delivered_octets;
    struct credit octets, messages;
    /* A user's ports as they stand in packets; what comes is 0 for a user who is not open. */
    uint32_t leaving[USERS], coming[USERS];
    uint8_t listener[4096];
    /* Behind here is what only rare paths use. */
    uint16_t local[USERS], remote[USERS], own_context, their_context;
    uint64_t bucket_at, priority_at, refused;   /* for want of credit */
    struct line bucket, priority;
    struct gathering gatherings[GATHERINGS];
    uint32_t since;
    uint8_t beginning[BEGINNING], known[BEGINNING];
};

const struct Ten_params Ten_default_params = {0, MTU};
const mk_config Ten_defaults = {0};

static void put16(uint8_t *at, uint16_t value) { memcpy(at, &value, 2); }
static void put32(uint8_t *at, uint32_t value) { memcpy(at, &value, 4); }
static uint16_t get16(const uint8_t *at) { uint16_t value; memcpy(&value, at, 2); return value; }
static uint32_t get32(const uint8_t *at) { uint32_t value; memcpy(&value, at, 4); return value; }
static bool is_behind(uint32_t a, uint32_t b) { return (int32_t)(a - b) < 0; }
static uint64_t least(uint64_t a, uint64_t b) { return a < b ? a : b; }
static uint64_t most(uint64_t a, uint64_t b) { return a > b ? a : b; }

static void due(struct Ten *k, uint64_t *timer, uint64_t at)
{
    *timer = at;
    k->earliest = least(k->earliest, at);
}

static struct message *made(const uint8_t *at, uint32_t size)
{
    struct message *m = malloc(sizeof *m);
    if (m == NULL || size > LARGEST)
        abort();
    m->at = m->octets + 40, m->size = size;
    memcpy(m->at, at, size);
    return m;
}

static uint8_t *push(struct message *m, uint32_t size)
{
    m->size += size;
    return m->at -= size;
}

static bool join_line(struct Ten *k, struct line *line, unsigned depth, struct message *m)
{
    if (line->count == depth)
        return free(m), false;
    k->waiting++;
    line->at[(line->first + line->count++) % 64] = m;
    return true;
}

static struct message *leave_line(struct Ten *k, struct line *line)
{
    k->waiting--;
    struct message *m = line->at[line->first];
    line->first = (line->first + 1) % 64, line->count--;
    return m;
}

static struct message *first_of(struct line *line) { return line->at[line->first]; }

/* Down, layer by layer: each takes the message. */

static void device_send(struct Ten *k, struct message *m)
{
    if (m->size <= MTU)
        k->ports.device_frame(k->ports.context, (mk_octets){m->at, m->size});
    free(m);
}

static uint64_t full_without(const struct Ten *k, uint32_t size) { return most(k->full_at, k->now) + (uint64_t)OCTET_TIME * size; }

static bool affords(const struct Ten *k, uint32_t size) { return full_without(k, size) <= k->now + (uint64_t)OCTET_TIME * BURST; }

static void wait_for(struct Ten *k, uint32_t size)
{
    due(k, &k->bucket_at, k->full_at + (uint64_t)OCTET_TIME * size - (uint64_t)OCTET_TIME * BURST);
}

static void bucket_send(struct Ten *k, struct message *m)
{
    uint32_t size = m->size;
    if (size > BURST) {
        free(m);
    } else if (k->bucket.count == 0 && affords(k, size)) {
        k->full_at = full_without(k, size);
        device_send(k, m);
    } else if (join_line(k, &k->bucket, DEPTH_BUCKET, m) && k->bucket.count == 1) {
        wait_for(k, size);
    }
}

static void heartbeat_send(struct Ten *k, struct message *m)
{
    due(k, &k->beat_at, k->now + SECOND);
    *push(m, 1) = 0;
    bucket_send(k, m);
}

static void beat(struct Ten *k)
{
    uint8_t frame[2] = {1, k->heard};
    due(k, &k->beat_at, k->now + SECOND);
    bucket_send(k, made(frame, 2));
}

static void fragment_send(struct Ten *k, struct message *m)
{
    uint32_t count = ((m->size ? m->size : 1) + PIECE - 1) / PIECE;
    for (uint32_t i = 0; i < count && count <= PIECES; i++) {
        uint32_t from = i * PIECE, size = m->size - from < PIECE ? m->size - from : PIECE;
        struct message *part = made(m->at + from, size);
        uint8_t *head = push(part, 4);
        put16(head, k->next.number), head[2] = (uint8_t)i, head[3] = (uint8_t)count;
        heartbeat_send(k, part);
    }
    k->next.number += count <= PIECES;
    free(m);
}

static void sequencer_send(struct Ten *k, struct message *m)
{
    put32(push(m, 4), k->next.sequence++);
    fragment_send(k, m);
}

static void octets_go(struct Ten *k, struct message *m)
{
    uint32_t size = m->size;
    uint8_t *head = push(m, 5);
    head[0] = 0, put32(head + 1, k->next.octets);
    sequencer_send(k, m);
    k->next.octets += size;
}

static void octets_send(struct Ten *k, struct message *m)
{
    if (m->size > WINDOW_OCTETS)
        free(m);
    else if (k->octets.waiting.count == 0 && !is_behind(k->octets.granted, k->next.octets + m->size))
        octets_go(k, m);
    else
        k->refused += !join_line(k, &k->octets.waiting, DEPTH_CREDIT, m);
}

static void messages_go(struct Ten *k, struct message *m)
{
    uint8_t *head = push(m, 5);
    head[0] = 0, put32(head + 1, k->next.messages);
    octets_send(k, m);
    k->next.messages++;
}

static void messages_send(struct Ten *k, struct message *m)
{
    if (k->messages.waiting.count == 0 && is_behind(k->next.messages, k->messages.granted))
        messages_go(k, m);
    else
        k->refused += !join_line(k, &k->messages.waiting, DEPTH_CREDIT, m);
}

static void compress_send(struct Ten *k, struct message *m)
{
    if (m->size < BEGINNING) {
        *push(m, 1) = 2;
        messages_send(k, m);
        return;
    }
    bool same = memcmp(k->beginning, m->at, BEGINNING) == 0, rest = same && k->since < 16;
    if (rest) {
        k->since++;
        m->at += BEGINNING, m->size -= BEGINNING;
    } else {
        if (!same)
            k->own_context++, memcpy(k->beginning, m->at, BEGINNING);
        k->since = 1;
    }
    uint8_t *head = push(m, 3);
    head[0] = rest, put16(head + 1, k->own_context);
    messages_send(k, m);
}

static void priority_send(struct Ten *k, struct message *m)
{
    if (k->now >= k->line_free_at) {
        k->line_free_at = k->now + SPACING;
        compress_send(k, m);
    } else if (join_line(k, &k->priority, DEPTH_PRIORITY, m)) {
        due(k, &k->priority_at, k->line_free_at);
    }
}

/* What is due: each timer at its own instant, the earliest first. */

static void expire_bucket(struct Ten *k)
{
    k->bucket_at = NEVER;
    while (k->bucket.count) {
        uint32_t size = first_of(&k->bucket)->size;
        if (!affords(k, size)) {
            wait_for(k, size);
            return;
        }
        k->full_at = full_without(k, size);
        device_send(k, leave_line(k, &k->bucket));
    }
}

static void expire_priority(struct Ten *k)
{
    k->priority_at = NEVER;
    if (k->priority.count == 0)
        return;
    k->line_free_at = k->now + SPACING;
    if (k->priority.count > 1)
        due(k, &k->priority_at, k->line_free_at);
    compress_send(k, leave_line(k, &k->priority));
}

static void forget(struct gathering *g)
{
    for (unsigned i = 0; i < PIECES; i++)
        free(g->parts[i]);
    *g = (struct gathering){.given_up = NEVER};
}

static uint64_t next_due(struct Ten *k)
{
    uint64_t when = least(least(k->bucket_at, k->priority_at), least(k->beat_at, k->silent_at));
    for (unsigned i = 0; i < GATHERINGS; i++)
        when = least(when, k->gatherings[i].given_up);
    return when;
}

static __attribute__((noinline)) void expire(struct Ten *k, uint64_t now)
{
    uint64_t when;
    while ((when = next_due(k)) <= now) {
        k->now = when;
        if (when == k->bucket_at)
            expire_bucket(k);
        else if (when == k->priority_at)
            expire_priority(k);
        else if (when == k->beat_at)
            beat(k);
        else if (when == k->silent_at)
            abort();
        for (unsigned i = 0; i < GATHERINGS; i++)
            if (k->gatherings[i].given_up == when)
                forget(&k->gatherings[i]);
    }
    k->earliest = when;
}

static void begin(struct Ten *k, uint64_t now)
{
    if (now >= k->earliest)
        expire(k, now);
    k->now = now;
}

/* Up, layer by layer. */

static void open_user(struct Ten *k, uint32_t user, uint16_t local, uint16_t remote)
{
    k->local[user] = local, k->remote[user] = remote, k->listener[local % 4096] = (uint8_t)user;
    k->leaving[user] = local | (uint32_t)remote << 16, k->coming[user] = remote | (uint32_t)local << 16;
}

static void users_deliver(struct Ten *k, const uint8_t *at, uint32_t size)
{
    k->delivered++, k->delivered_octets += size;
    if (size < 4)
        return;
    uint16_t remote = get16(at), local = get16(at + 2);
    uint32_t user = k->listener[local % 4096];
    if (user >= USERS || k->local[user] != local)
        return;
    mk_handle session = {user + 1, 0};
    if (k->coming[user] == 0) {
        open_user(k, user, local, remote);
        k->ports.users_accepted(k->ports.context, session, local, remote);
    }
    if (k->remote[user] == remote)
        k->ports.users_deliver(k->ports.context, session, (mk_octets){at + 4, size - 4});
}

static void compress_deliver(struct Ten *k, uint8_t *at, uint32_t size)
{
    if (at[0] == 2) {
        users_deliver(k, at + 1, size - 1);
    } else if (at[0] == 0 && size >= 3 + BEGINNING) {
        k->their_context = get16(at + 1);
        memcpy(k->known, at + 3, BEGINNING), k->is_known = true;
        users_deliver(k, at + 3, size - 3);
    } else if (at[0] == 1 && size >= 3 && get16(at + 1) == k->their_context && k->is_known) {
        struct message *m = made(at + 3, size - 3);
        memcpy(push(m, BEGINNING), k->known, BEGINNING);
        users_deliver(k, m->at, m->size);
        free(m);
    }
}

static void messages_deliver(struct Ten *k, uint8_t *at, uint32_t size)
{
    struct credit *c = &k->messages;
    uint32_t number = get32(at + 1);
    if (at[0] == 1) {
        if (is_behind(c->granted, number))
            c->granted = number;
        while (c->waiting.count && is_behind(k->next.messages, c->granted))
            messages_go(k, leave_line(k, &c->waiting));
        return;
    }
    if (is_behind(c->offered, number + 1))
        return;
    if (is_behind(c->received, number + 1))
        c->received = number + 1;
    if (c->offered - c->received <= WINDOW_MESSAGES / 2) {
        uint8_t grant[5] = {1};
        c->offered = c->received + WINDOW_MESSAGES;
        put32(grant + 1, c->offered);
        octets_send(k, made(grant, 5));
    }
    compress_deliver(k, at + 5, size - 5);
}

static void octets_deliver(struct Ten *k, uint8_t *at, uint32_t size)
{
    struct credit *c = &k->octets;
    uint32_t number = get32(at + 1);
    if (at[0] == 1) {
        if (is_behind(c->granted, number))
            c->granted = number;
        while (c->waiting.count && !is_behind(c->granted, k->next.octets + first_of(&c->waiting)->size))
            octets_go(k, leave_line(k, &c->waiting));
        return;
    }
    uint32_t upto = number + size - 5;
    if (is_behind(c->offered, upto))
        return;
    if (is_behind(c->received, upto))
        c->received = upto;
    if (c->offered - c->received <= WINDOW_OCTETS / 2) {
        uint8_t grant[5] = {1};
        c->offered = c->received + WINDOW_OCTETS;
        put32(grant + 1, c->offered);
        sequencer_send(k, made(grant, 5));
    }
    messages_deliver(k, at + 5, size - 5);
}

static void sequencer_deliver(struct Ten *k, uint8_t *at, uint32_t size)
{
    uint32_t number = get32(at);
    if (!is_behind(k->last_number, number))
        return;
    k->last_number = number;
    octets_deliver(k, at + 4, size - 4);
}

static struct gathering *gathering(struct Ten *k, uint16_t number)
{
    struct gathering *g = NULL;
    for (unsigned i = 0; i < GATHERINGS; i++) {
        if (k->gatherings[i].is_used && k->gatherings[i].number == number)
            return &k->gatherings[i];
        if (!k->gatherings[i].is_used && g == NULL)
            g = &k->gatherings[i];
    }
    if (g != NULL)
        g->is_used = true, g->number = number;
    return g;
}

static void fragment_deliver(struct Ten *k, uint8_t *at, uint32_t size)
{
    uint8_t index = at[2], count = at[3];
    if (index >= count || count > PIECES)
        return;
    if (count == 1) {
        sequencer_deliver(k, at + 4, size - 4);
        return;
    }
    struct gathering *g = gathering(k, get16(at));
    if (g == NULL)
        return;
    if (g->count == 0)
        g->count = count, due(k, &g->given_up, k->now + SECOND);
    if (g->count != count || g->parts[index] != NULL)
        return;
    g->parts[index] = made(at + 4, size - 4);
    if (++g->held < count)
        return;
    struct message *whole = made(g->parts[0]->at, g->parts[0]->size);
    for (unsigned i = 1; i < count; i++) {
        memcpy(whole->at + whole->size, g->parts[i]->at, g->parts[i]->size);
        whole->size += g->parts[i]->size;
    }
    forget(g);
    sequencer_deliver(k, whole->at, whole->size);
    free(whole);
}

static __attribute__((noinline)) bool arrive_rarely(struct Ten *k, uint64_t now, uint8_t *at, uint32_t size)
{
    begin(k, now);
    k->is_begun = true;
    due(k, &k->silent_at, k->now + 5 * SECOND);
    k->heard = true;
    if (at[0] == 1) {
        if (at[1] == 0 && k->beat_at == NEVER)
            beat(k);
        return true;
    }
    if (k->beat_at == NEVER)
        due(k, &k->beat_at, k->now + SECOND);
    fragment_deliver(k, at + 1, size - 1);
    return true;
}

/* The calls. */

size_t Ten_size(const mk_config *config)
{
    (void)config;
    return sizeof(struct Ten);
}

struct Ten *Ten_init(void *memory, const mk_config *config, const struct Ten_params *params, const struct Ten_ports *ports)
{
    struct Ten *k = memory;
    (void)config, (void)params;
    memset(k, 0, sizeof *k);
    k->ports = *ports;
    k->earliest = k->bucket_at = k->priority_at = k->beat_at = k->silent_at = NEVER;
    k->next = (struct packet){.count = 1, .sequence = 1, .compress = 2}, k->since = 16;
    k->messages.granted = k->messages.offered = WINDOW_MESSAGES, k->octets.granted = k->octets.offered = WINDOW_OCTETS;
    for (unsigned i = 0; i < GATHERINGS; i++)
        k->gatherings[i].given_up = NEVER;
    memset(k->listener, 0xff, sizeof k->listener);
    return k;
}

void Ten_start(struct Ten *k, uint64_t now) { k->now = now; }

void Ten_advance(struct Ten *k, uint64_t now) { begin(k, now); }

bool Ten_users_listen(struct Ten *k, uint64_t now, uint32_t user, uint16_t local_port)
{
    begin(k, now);
    k->local[user] = local_port, k->listener[local_port % 4096] = (uint8_t)user;
    return true;
}

bool Ten_users_open(struct Ten *k, uint64_t now, uint32_t user, uint16_t local_port, uint16_t remote_port)
{
    begin(k, now);
    open_user(k, user, local_port, remote_port);
    if (!k->is_begun) {
        k->is_begun = true;
        due(k, &k->silent_at, k->now + 5 * SECOND);
        beat(k);
    }
    k->ports.users_opened(k->ports.context, user, (mk_handle){user + 1, 0}, local_port, remote_port);
    return true;
}

/* Refused when a line below is full. */
static __attribute__((noinline)) bool send_rarely(struct Ten *k, uint64_t now, uint32_t user, mk_octets msg)
{
    uint64_t before = k->refused;
    begin(k, now);
    if (k->bucket.count == DEPTH_BUCKET || k->octets.waiting.count == DEPTH_CREDIT || k->messages.waiting.count == DEPTH_CREDIT)
        return false;
    struct message *m = made(msg.at, msg.size);
    uint8_t *head = push(m, 4);
    put32(head, k->leaving[user]);
    k->sent++, k->sent_octets += m->size;
    priority_send(k, m);
    return k->refused == before;
}

bool Ten_users_send(struct Ten *k, uint64_t now, mk_handle session, mk_octets msg)
{
    uint32_t user = session.object - 1, size = msg.size;
    uint64_t full_at = most(k->full_at, now) + (uint64_t)OCTET_TIME * (size + HEAD);
    if (now >= k->earliest || now < k->line_free_at || k->waiting || size >= sizeof k->next.text || full_at - now > (uint64_t)OCTET_TIME * BURST
        || !is_behind(k->next.messages, k->messages.granted) || is_behind(k->octets.granted, k->next.octets + size + 10))
        return send_rarely(k, now, user, msg);
    k->next.users = k->leaving[user];
    if (size == 4)
        memcpy(k->next.text, msg.at, 4);
    else
        memcpy(k->next.text, msg.at, size);
    k->full_at = full_at, k->line_free_at = now + SPACING, k->beat_at = now + SECOND;
    k->sent++, k->sent_octets += size + 4;
    k->ports.device_frame(k->ports.context, (mk_octets){(uint8_t *)&k->next, size + HEAD});
    k->next.number++, k->next.sequence++, k->next.messages++, k->next.octets += size + 10;
    return true;
}

/* Headers as they usually are, but for their numbers; the packet's octets 0, 3, 4, then 9, 14. */
static bool is_usual(const uint8_t *at)
{
    uint64_t a, b;
    memcpy(&a, at, 8), memcpy(&b, at + 9, 8);
    return (a & UINT64_C(0xffff0000ff)) == UINT64_C(0x100000000) && (b & UINT64_C(0xff00000000ff)) == 0 && at[19] == 2;
}

bool Ten_device_frame(struct Ten *k, uint64_t now, mk_octets msg)
{
    const uint8_t *at = msg.at;
    if (now >= k->earliest || msg.size < HEAD || !is_usual(at) || k->beat_at == NEVER)
        return arrive_rarely(k, now, (uint8_t *)(uintptr_t)at, msg.size);
    uint32_t sequence = get32(at + 5), octets = k->octets.received + msg.size - 14, messages = k->messages.received + 1;
    uint32_t ports = get32(at + 20), user = k->listener[ports >> 16 & 4095];
    if (sequence != k->last_number + 1 || get32(at + 10) != k->octets.received || get32(at + 15) != k->messages.received || k->octets.offered - octets <= WINDOW_OCTETS / 2
        || k->messages.offered - messages <= WINDOW_MESSAGES / 2 || user >= USERS || k->coming[user] != ports)
        return arrive_rarely(k, now, (uint8_t *)(uintptr_t)at, msg.size);
    k->silent_at = now + 5 * SECOND, k->heard = true;
    k->last_number = sequence, k->octets.received = octets, k->messages.received = messages;
    k->delivered++, k->delivered_octets += msg.size - 20;
    k->ports.users_deliver(k->ports.context, (mk_handle){user + 1, 0}, (mk_octets){at + HEAD, msg.size - HEAD});
    return true;
}
