/* Two hosts of a generated stack in one program, joined by a link that loses every third packet.
 *
 * The stack is `stop_and_wait` (tests/reaction/right/stop_and_wait.ra): it sends again what is not acknowledged. Virtual
 * time: the program goes from deadline to deadline. */
#include <stdio.h>
#include <stdlib.h>

#include "stop_and_wait.h"

struct host {
    const char *name;
    struct stop_and_wait *stack;
    struct host *peer;
};

static uint64_t now;
static unsigned packets;

/* A packet leaves: it arrives at the peer, which may answer at once. */
static void packet(void *context, mk_octets octets)
{
    struct host *host = context;
    if (++packets % 3 == 0)
        return;
    stop_and_wait_net_packet(host->peer->stack, now, octets);
}

static void deliver(void *context, mk_octets octets)
{
    struct host *host = context;
    printf("%s got %.*s\n", host->name, (int)octets.size, (const char *)octets.at);
}

static void start(struct host *host)
{
    struct stop_and_wait_ports ports = {.context = host, .net_packet = packet, .app_deliver = deliver};
    mk_config config = stop_and_wait_defaults;
    size_t size = (stop_and_wait_size(&config) + 63) & ~(size_t)63;
    void *memory = aligned_alloc(64, size);
    if (!memory)
        exit(1);
    host->stack = stop_and_wait_init(memory, &config, &stop_and_wait_default_params, &ports);
    stop_and_wait_start(host->stack, now);
}

int main(void)
{
    struct host a = {.name = "a"}, b = {.name = "b"};
    static const char *const words[] = {"one", "two", "three", "four", "five"};
    a.peer = &b;
    b.peer = &a;
    start(&a);
    start(&b);
    for (int i = 0; i < 5; i++)
        stop_and_wait_app_send(a.stack, now, (mk_octets){(const uint8_t *)words[i], (uint32_t)strlen(words[i])});
    uint64_t deadline;
    while (stop_and_wait_next_deadline(a.stack, &deadline)) {
        now = deadline;
        stop_and_wait_advance(a.stack, now);
        stop_and_wait_advance(b.stack, now);
    }
    printf("%u packets, %llu ms\n", packets, (unsigned long long)(now / 1000000));
    bool whole = stop_and_wait_core(a.stack)->exhausted + stop_and_wait_core(b.stack)->exhausted == 0;
    free(a.stack);
    free(b.stack);
    return whole ? 0 : 1;
}
