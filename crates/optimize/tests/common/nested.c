/* A program that calls the stack from within its output functions: what leaves, and when, is printed. */
#include <stdio.h>
#include <stdlib.h>

#include "stack.h"

static struct stack *k;
static mk_handle upper[2], lower[2];
static unsigned opened, depth, calls;

static void say(const char *what, mk_octets octets)
{
    printf("%*s%s", (int)depth * 2, "", what);
    for (uint32_t i = 0; i < octets.size; i++)
        printf(" %02x", octets.at[i]);
    printf("\n");
}

static void frame(void *context, mk_handle c, mk_octets octets)
{
    (void)context, (void)c;
    say("frame", octets);
    depth++;
    if (calls++ % 3 == 0) {
        uint8_t more[2] = {0xee, (uint8_t)calls};
        stack_app_send(k, 0, upper[calls % 2], (mk_octets){more, sizeof more});
        stack_app_send(k, 0, upper[(calls + 1) % 2], (mk_octets){more, 1});
    }
    depth--;
    say("frame over", octets);
}

static void deliver(void *context, mk_handle s, mk_octets octets)
{
    (void)context;
    say("deliver", octets);
    depth++;
    stack_app_send(k, 0, s, octets);
    depth--;
    say("deliver over", octets);
}

static void app_opened(void *context, mk_handle s, uint16_t port) { (void)context, (void)port; upper[opened++] = s; }
static void dev_opened(void *context, mk_handle c, uint8_t peer) { (void)context; lower[peer] = c; }

int main(void)
{
    struct stack_ports ports = {
        .app_opened = app_opened, .app_deliver = deliver, .dev_opened = dev_opened, .dev_frame = frame};
    mk_config config = stack_defaults;
    k = stack_init(aligned_alloc(64, (stack_size(&config) + 63) & ~(size_t)63), &config, &ports);
    stack_start(k, 0);
    stack_app_open(k, 0, 0, 7);
    stack_app_open(k, 0, 1, 7);
    for (uint8_t i = 0; i < 20; i++) {
        uint8_t payload[3] = {i, i, i}, packet[13] = {0, 0, 0, 0, (uint8_t)(i + 1), 0, 0, 0, 0, 7, 0xaa, i, i};
        stack_app_send(k, 0, upper[i % 2], (mk_octets){payload, sizeof payload});
        stack_dev_frame(k, 0, lower[i % 2], (mk_octets){packet, sizeof packet});
    }
    printf("%llu delivered\n", (unsigned long long)stack_core(k)->accounts.delivered);
    return stack_core(k)->exhausted != 0;
}
