/* A member of a group over UDP loopback, which waits in the kernel: as `./bench --table groups` starts them, one a process.
 *
 *   member PLACE MEMBERS trip|all COUNT OCTETS PORT [spin]
 *
 * trip: the one of rank 0 casts, the others cast an answer, COUNT times one after the other. all: each casts COUNT messages as fast as credit lets it,
 * until all have all. Prints what `groups.py` reads. */
#include "udp.h"

static int rank, octets;
static unsigned in_view;
static unsigned long got, answers, due, frames, sent_octets;
static uint64_t order = 1469598103934665603ull;
static uint32_t room;
static uint32_t header; /* octets of a frame that a cast makes, beside the cast's own */
static bool is_casting;
static const uint64_t done = UINT64_MAX; /* cast by a member that has all */
static unsigned are_done;

static void mix(uint64_t octet)
{
    order = (order ^ octet) * 1099511628211ull;
}

static void frame(void *context, mk_octets out)
{
    (void)context;
    leave(out);
    frames++;
    sent_octets += out.size;
    if (is_casting && out.size >= (uint32_t)octets)
        header = out.size - (uint32_t)octets;
}

static void deliver(void *context, uint8_t own, uint8_t from, mk_octets in)
{
    (void)context;
    if (in.size >= sizeof done && memcmp(in.at, &done, sizeof done) == 0) {
        are_done++;
        return;
    }
    got++;
    mix(from);
    for (uint32_t i = 0; i < in.size && i < 8; i++)
        mix(in.at[i]);
    if (from != own) {
        due += from == 0;
        answers += own == 0;
    }
}

static void view(void *context, uint32_t id, uint8_t me, uint8_t length, uint16_t a, uint16_t b, uint16_t c, uint16_t d, uint16_t e,
                 uint16_t f, uint16_t g, uint16_t h)
{
    (void)context, (void)id, (void)a, (void)b, (void)c, (void)d, (void)e, (void)f, (void)g, (void)h;
    in_view = length;
    rank = me;
}

static void credit(void *context, uint32_t messages, uint32_t of_octets)
{
    (void)context, (void)of_octets;
    room = messages;
}

static uint8_t payload[1400];

/* Whether there was room for it. */
static bool cast(uint64_t number)
{
    memcpy(payload, &number, sizeof number);
    is_casting = true;
    bool is_cast = Group_app_send_to(group, now(), 0, ALL, (mk_octets){payload, (uint32_t)octets});
    is_casting = false;
    return is_cast;
}

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void trips(unsigned long count, bool spin)
{
    uint64_t *took = malloc(count * sizeof *took);
    uint64_t quiet = now();
    if (rank != 0) {
        for (unsigned long seen = 0; now() - quiet < 2000000000;) {
            step(!spin && !due, now() + 100000000);
            for (; due; due--)
                cast(got);
            if (got != seen)
                quiet = now(), seen = got;
        }
        return;
    }
    for (unsigned long i = 0; i < count; i++) {
        uint64_t began = now(), limit = began + 5000000000;
        unsigned long wanted = answers + (unsigned long)members - 1;
        cast(i);
        while (answers < wanted && now() < limit)
            step(!spin, limit);
        if (answers < wanted) {
            fprintf(stderr, "no answer to %lu\n", i);
            exit(1);
        }
        took[i] = now() - began;
    }
    qsort(took, count, sizeof *took, compare);
    printf("p50 %llu p99 %llu header %u\n", (unsigned long long)took[count / 2], (unsigned long long)took[count * 99 / 100], header);
}

static void all(unsigned long count, bool spin)
{
    unsigned long wanted = count * (unsigned long)members, sent = 0;
    uint64_t began = now(), limit = began + 60000000000, ended = 0, all_done = 0;
    bool has_said = false;
    /* Who has all stays until the others have, too, and a little longer for who has not heard that. */
    while (now() < limit && !(all_done && now() - all_done > 300000000)) {
        /* Where there is no credit, more comes with a frame or a timer. */
        room = 0;
        if (sent < count)
            Group_app_credit_to(group, now());
        bool is_held = room == 0;
        for (; sent < count && room && cast(sent); room--)
            sent++;
        step(!spin && (is_held || sent == count), now() + 20000000);
        if (!ended && got >= wanted)
            ended = now();
        if (ended && !has_said)
            has_said = cast(done);
        if (!all_done && are_done == (unsigned)members)
            all_done = now();
    }
    if (!ended) {
        fprintf(stderr, "member %d: sent %lu, got %lu of %lu\n", rank, sent, got, wanted);
        exit(1);
    }
    printf("took %llu got %lu order %016llx header %u frames %lu octets %lu\n", (unsigned long long)(ended - began), got,
           (unsigned long long)order, header, frames, sent_octets);
}

int main(int words, char **word)
{
    if (words < 7)
        return 2;
    place = atoi(word[1]), members = atoi(word[2]), octets = atoi(word[5]);
    unsigned long count = strtoul(word[4], NULL, 10);
    int port = atoi(word[6]);
    bool spin = words > 7;
    if (!open_at(port))
        return 1;
    mk_config config = Group_defaults;
    struct Group_params params = Group_default_params;
    params.own = (uint16_t)(place + 1);
    struct Group_ports ports = {.device_frame = frame, .app_deliver_from = deliver, .app_view = view, .app_credit_to = credit};
    void *memory = aligned_alloc(64, (Group_size(&config) + 63) & ~(size_t)63);
    group = Group_init(memory, &config, &params, &ports);
    Group_start(group, now());
    uint64_t limit = now() + 30000000000;
    while (in_view != (unsigned)members && now() < limit)
        step(true, now() + 100000000);
    /* All have the view, and what it was made by is over. */
    for (uint64_t settled = now() + 500000000; now() < settled;)
        step(true, settled);
    if (in_view != (unsigned)members) {
        fprintf(stderr, "member %d: a view of %u\n", place, in_view);
        return 1;
    }
    if (strcmp(word[3], "trip") == 0)
        trips(count, spin);
    else
        all(count, spin);
    const mk_accounts *accounts = Group_accounts(group);
    printf("no_room %llu %llu no_credit %llu exhausted %llu reports %u\n", (unsigned long long)accounts->dropped[Group_APP_MNAK_NO_ROOM],
           (unsigned long long)accounts->dropped[Group_APP_SYNC_NO_ROOM], (unsigned long long)accounts->dropped[Group_APP_APPLICATION_NO_CREDIT],
           (unsigned long long)Group_core(group)->exhausted, Group_core(group)->report_count);
    return 0;
}
