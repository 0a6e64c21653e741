/* Two members of a group in one program, joined by their frames, in virtual time: for counting instructions.
 *
 *   inside WHO OCTETS COUNT      WHO casts: 0, who says the order, or 1 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "Group.h"

enum { PLACES = 4096, LARGEST = 2048, ALL = 255 };

static struct Group *member[2];
static uint8_t flying[PLACES][LARGEST];
static uint32_t size_of[PLACES];
static int to[PLACES];
static unsigned first, last;
static unsigned long got[2];
static unsigned in_view[2];
static uint64_t now = 1000;

static void frame(void *context, mk_octets out)
{
    int from = (int)(intptr_t)context;
    memcpy(flying[last % PLACES], out.at, out.size);
    size_of[last % PLACES] = out.size;
    to[last++ % PLACES] = 1 - from;
}

static void deliver(void *context, uint8_t own, uint8_t from, mk_octets in)
{
    (void)own, (void)from, (void)in;
    got[(intptr_t)context]++;
}

static void view(void *context, uint32_t id, uint8_t me, uint8_t length, uint16_t a, uint16_t b, uint16_t c, uint16_t d, uint16_t e,
                 uint16_t f, uint16_t g, uint16_t h)
{
    (void)id, (void)me, (void)a, (void)b, (void)c, (void)d, (void)e, (void)f, (void)g, (void)h;
    in_view[(intptr_t)context] = length;
}

static void run(uint64_t until)
{
    while (now < until) {
        while (first != last) {
            unsigned at = first++ % PLACES;
            Group_device_frame(member[to[at]], now, (mk_octets){flying[at], size_of[at]});
        }
        uint64_t next = until, due;
        for (int i = 0; i < 2; i++)
            if (Group_next_deadline(member[i], &due) && due < next)
                next = due;
        now = next > now ? next : now + 1;
        for (int i = 0; i < 2; i++)
            if (Group_next_deadline(member[i], &due) && due <= now)
                Group_advance(member[i], now);
    }
}

int main(int words, char **word)
{
    static uint8_t payload[1400];
    if (words < 4)
        return 2;
    int who = atoi(word[1]);
    uint32_t octets = (uint32_t)atoi(word[2]);
    unsigned long count = strtoul(word[3], NULL, 10);
    mk_config config = Group_defaults;
    for (intptr_t i = 0; i < 2; i++) {
        struct Group_params params = Group_default_params;
        params.own = (uint16_t)(i + 1);
        struct Group_ports ports = {.context = (void *)i, .device_frame = frame, .app_deliver_from = deliver, .app_view = view};
        member[i] = Group_init(aligned_alloc(64, (Group_size(&config) + 63) & ~(size_t)63), &config, &params, &ports);
    }
    for (int i = 0; i < 2; i++)
        Group_start(member[i], now);
    run(2000000000);
    if (in_view[0] != 2 || in_view[1] != 2)
        return 1;
    unsigned long before = got[0] + got[1];
    for (unsigned long i = 0; i < count; i++) {
        Group_app_send_to(member[who], now, 0, ALL, (mk_octets){payload, octets});
        /* 100,000 a second. */
        run(now + 10000);
    }
    run(now + 100000000);
    printf("calls %lu delivered %lu\n", count, got[0] + got[1] - before);
    return got[0] + got[1] - before == 2 * count ? 0 : 1;
}
