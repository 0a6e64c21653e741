/* A member of a group over UDP loopback that casts as fast as it may, until it hears SIGUSR1: then it casts no more; SIGUSR2 ends it.
 *
 *   long PLACE MEMBERS OWN OF OCTETS PORT
 *
 * Prints what `tests/host/groups.py` judges, a line each: `view ID MEMBERS ME`, `at COUNT SUM` (so many messages delivered, and a sum of their
 * order), `renewed COUNT SUM` (the state of others in place of one's own), and once a second `now …`. */
#include "udp.h"

#include <signal.h>
#include <unistd.h>

enum { STEP = 4096 };

static uint32_t room, octets, in_view;
static uint64_t count, sum, own, sent, ledger_count, ledger_sum, most_held;
static volatile sig_atomic_t is_quiet, is_over;

static void quiet(int signal)
{
    if (signal == SIGUSR1)
        is_quiet = 1;
    else
        is_over = 1;
}

static void frame(void *context, mk_octets out)
{
    (void)context;
    leave(out);
}

static void deliver(void *context, uint8_t local, uint8_t from, mk_octets in)
{
    (void)context, (void)local, (void)from;
    if (in.size < 8)
        return;
    uint64_t number = 0;
    for (int i = 0; i < 8; i++)
        number = number << 8 | in.at[i];
    count++;
    sum = (sum ^ number) * 0x100000001b3;
    if (count % STEP == 0)
        printf("at %llu %016llx\n", (unsigned long long)count, (unsigned long long)sum);
}

static void renewed(void *context, uint64_t with, uint64_t of)
{
    (void)context;
    count = with, sum = of;
    printf("renewed %llu %016llx\n", (unsigned long long)count, (unsigned long long)sum);
}

static void ledger(void *context, uint64_t with, uint64_t of)
{
    (void)context;
    ledger_count = with, ledger_sum = of;
}

static void view(void *context, uint32_t id, uint8_t me, uint8_t length, uint16_t a, uint16_t b, uint16_t c, uint16_t d, uint16_t e,
                 uint16_t f, uint16_t g, uint16_t h)
{
    (void)context, (void)a, (void)b, (void)c, (void)d, (void)e, (void)f, (void)g, (void)h;
    in_view = length;
    printf("view %u %u %u\n", id, length, me);
}

static void credit(void *context, uint32_t messages, uint32_t of_octets)
{
    (void)context, (void)of_octets;
    room = messages;
}

static unsigned long pages(void)
{
    unsigned long all = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file) {
        if (fscanf(file, "%lu %lu", &all, &resident) != 2)
            resident = 0;
        fclose(file);
    }
    return resident;
}

/* What our own queues dropped; frames of other views, and what comes twice, are nothing of ours. */
static uint64_t dropped(void)
{
    const uint64_t *of = Group_accounts(group)->dropped;
    return of[Group_APP_MNAK_NO_ROOM] + of[Group_APP_SYNC_NO_ROOM] + of[Group_APP_TRANSFER_NO_ROOM] +
           of[Group_APP_TOTALORDER_NO_ROOM];
}

static void say(void)
{
    mk_core *core = Group_core(group);
    Group_app_ask(group, now());
    if (ledger_count != count || ledger_sum != sum)
        printf("wrong: the stack has another ledger than its messages say\n");
    printf("now %llu %016llx sent %llu dropped %llu exhausted %llu reports %u no_credit %llu held %llu kilobytes %lu\n",
           (unsigned long long)count, (unsigned long long)sum, (unsigned long long)sent, (unsigned long long)dropped(),
           (unsigned long long)(core->exhausted + core->pool.exhausted + core->agenda.exhausted), core->report_count,
           (unsigned long long)core->accounts.dropped[Group_APP_APPLICATION_NO_CREDIT], (unsigned long long)most_held,
           pages() * (unsigned long)sysconf(_SC_PAGESIZE) / 1024);
    most_held = 0;
}

int main(int words, char **word)
{
    static uint8_t payload[1400];
    if (words < 7)
        return 2;
    place = atoi(word[1]), members = atoi(word[2]);
    own = strtoul(word[3], NULL, 10), octets = (uint32_t)atoi(word[5]);
    setvbuf(stdout, NULL, _IOLBF, 0);
    signal(SIGUSR1, quiet);
    signal(SIGUSR2, quiet);
    if (octets < 8 || octets > sizeof payload || !open_at(atoi(word[6])))
        return 1;
    mk_config config = Group_defaults;
    struct Group_params params = Group_default_params;
    params.own = (uint16_t)own, params.of = (uint32_t)atoi(word[4]);
    struct Group_ports ports = {.device_frame = frame, .app_deliver_from = deliver, .app_view = view, .app_credit_to = credit,
                                .app_renewed = renewed, .app_ledger = ledger};
    size_t size = (Group_size(&config) + 63) & ~(size_t)63;
    void *memory = aligned_alloc(64, size);
    // The stack touches its buffers when it first needs them: that is no growth, so all are touched here.
    memset(memory, 1, size);
    group = Group_init(memory, &config, &params, &ports);
    Group_start(group, now());
    for (uint64_t next = now(); !is_over;) {
        /* Where there is no credit, more comes with a frame or a timer. */
        room = 0;
        if (!is_quiet)
            Group_app_credit_to(group, now());
        bool is_held = room == 0;
        for (; room; room--, sent++) {
            for (int i = 0; i < 8; i++)
                payload[i] = (uint8_t)((own << 48 | sent) >> (56 - 8 * i));
            if (!Group_app_send_to(group, now(), 0, ALL, (mk_octets){payload, octets}))
                break;
        }
#ifdef PLANTED_GROWTH
        memset(malloc(4096), 1, 4096);
#endif
        uint64_t held = Group_core(group)->accounts.held;
        most_held = held > most_held ? held : most_held;
        step(is_held, now() + 20000000);
        if (now() >= next) {
            say();
            next += 1000000000;
            if (next < now())
                next = now();
        }
    }
    say();
    return 0;
}
