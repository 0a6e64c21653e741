/* 64 sessions, opened; then sends and deliveries in random order. What is counted lies between entry and return of the public
 * functions, the program's own output functions (a few instructions each) among it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stack.h"

enum { SESSIONS = 64, SENDS = 24, DELIVERS = 14 };

static unsigned sent, delivered, opened;
static mk_handle upper[SESSIONS], lower[SESSIONS];

static void frame(void *context, mk_handle c, mk_octets octets) { (void)context, (void)c; sent += octets.size > 10; }
static void deliver(void *context, mk_handle s, mk_octets octets) { (void)context, (void)s; delivered += octets.size == 4; }
static void app_opened(void *context, mk_handle s, uint16_t port) { (void)context, (void)port; upper[opened++] = s; }
static void dev_opened(void *context, mk_handle c, uint8_t peer) { (void)context; lower[peer] = c; }
static void failed(void *context, uint16_t port) { (void)context, (void)port; abort(); }

static uint32_t seed = 1;

static unsigned draw(unsigned below)
{
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 8) % below;
}

/* Each session so many times, in random order. */
static unsigned *order(unsigned times)
{
    unsigned count = SESSIONS * times, *all = malloc(count * sizeof *all);
    for (unsigned i = 0; i < count; i++)
        all[i] = i % SESSIONS;
    for (unsigned i = count; i > 1; i--) {
        unsigned j = draw(i), t = all[i - 1];
        all[i - 1] = all[j], all[j] = t;
    }
    return all;
}

int main(void)
{
    struct stack_ports ports = {
        .app_opened = app_opened, .app_failed = failed, .app_deliver = deliver, .dev_opened = dev_opened, .dev_frame = frame};
    mk_config config = stack_defaults;
    void *memory = aligned_alloc(64, (stack_size(&config) + 63) & ~(size_t)63);
    struct stack *k = stack_init(memory, &config, &ports);
    stack_start(k, 0);
    for (unsigned i = 0; i < SESSIONS; i++)
        if (!stack_app_open(k, 0, (uint8_t)i, 7))
            abort();
    static const uint8_t payload[4] = {1, 2, 3, 4};
    /* Limits start at 0: their first refresh is counted as well. */
    unsigned *sends = order(SENDS), *delivers = order(DELIVERS), last[SESSIONS] = {0};
    for (unsigned i = 0; i < SESSIONS * SENDS; i++)
        stack_app_send(k, 0, upper[sends[i]], (mk_octets){payload, sizeof payload});
    for (unsigned i = 0; i < SESSIONS * DELIVERS; i++) {
        unsigned s = delivers[i];
        uint8_t packet[14] = {0, 0, 0, 0, (uint8_t)++last[s], 0, 0, 0, 0, 7, 1, 2, 3, 4};
        stack_dev_frame(k, 0, lower[s], (mk_octets){packet, sizeof packet});
    }
    printf("%u %u %u\n", opened, sent, delivered);
    return !(opened == SESSIONS && sent == SESSIONS * SENDS && delivered == SESSIONS * DELIVERS);
}
