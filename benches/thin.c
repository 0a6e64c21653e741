/* One thin layer under a multiplexor, two hosts: argv[1] is the octets of a message. Each message is sent by one host, its frames
 * come to the other, and what that answers comes back, all at once; 10 ms later timers run. What is counted is chosen by the entry
 * that callgrind is told: `Thin_users_send`, `Thin_device_frame` (of both hosts: the frames of a message, and their answers), or
 * `Thin_advance`. */
#include "Thin.h"
#include "phase.h"

enum { MESSAGES = 256, WAITING = 64, LARGEST = 2048 };

struct host {
    struct Thin *stack;
    mk_handle session;
    unsigned opened, delivered, waiting;
    uint8_t frames[WAITING][LARGEST];
    uint32_t sizes[WAITING];
};

static struct host a, b;

static void on_frame(void *context, mk_octets frame)
{
    struct host *host = context;
    check(host->waiting < WAITING && frame.size <= LARGEST, "too many frames, or too large");
    memcpy(host->frames[host->waiting], frame.at, frame.size);
    host->sizes[host->waiting++] = frame.size;
}

static void on_opened(void *context, uint32_t user, mk_handle session, uint16_t local_port, uint16_t remote_port)
{
    struct host *host = context;
    (void)user, (void)local_port, (void)remote_port;
    host->session = session;
    host->opened++;
}

static void on_deliver(void *context, mk_handle session, mk_octets message)
{
    struct host *host = context;
    (void)session, (void)message;
    host->delivered++;
}

static void begin(struct host *host)
{
    mk_config config = Thin_defaults;
    struct Thin_ports ports = {
        .context = host, .device_frame = on_frame, .users_opened = on_opened, .users_deliver = on_deliver};
    struct Thin_params params = Thin_default_params;
    host->stack = Thin_init(instance_memory(Thin_size(&config)), &config, &params, &ports);
    Thin_start(host->stack, 0);
}

static int carry(struct host *from, struct host *to, uint64_t now)
{
    static uint8_t frames[WAITING][LARGEST];
    uint32_t sizes[WAITING];
    unsigned count = from->waiting;
    for (unsigned i = 0; i < count; i++)
        memcpy(frames[i], from->frames[i], sizes[i] = from->sizes[i]);
    from->waiting = 0;
    for (unsigned i = 0; i < count; i++)
        Thin_device_frame(to->stack, now, (mk_octets){frames[i], sizes[i]});
    return count > 0;
}

static void exchange(uint64_t now)
{
    while (carry(&a, &b, now) + carry(&b, &a, now) > 0)
        ;
}

int main(int argc, char **argv)
{
    static uint8_t octets[LARGEST];
    size_t size = argc > 1 ? (size_t)atoi(argv[1]) : 0;
    uint64_t now = 0;
    begin(&a), begin(&b);
    check(Thin_users_listen(b.stack, now, 1, 2), "listen is refused");
    check(Thin_users_open(a.stack, now, 1, 1, 2), "open is refused");
    exchange(now);
    check(a.opened == 1, "the session was not opened");
    CALLGRIND_ZERO_STATS;
    for (unsigned i = 0; i < MESSAGES; i++) {
        octets[0] = (uint8_t)i;
        Thin_users_send(a.stack, now, a.session, (mk_octets){octets, (uint32_t)size});
        exchange(now);
        now += 10000000;
        Thin_advance(a.stack, now), Thin_advance(b.stack, now);
        exchange(now);
    }
    check(b.delivered >= MESSAGES - 16, "not all messages were delivered");
    return 0;
}
