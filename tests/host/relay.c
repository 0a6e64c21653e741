// Weather between two interfaces: frames of a TAP device of its own go out on another interface, and back, and on the way each may
// be lost, doubled, damaged, or come later than those behind it. By the kernel's calls alone; the same seed, the same decisions.
//
// relay TAP INTERFACE SEED LOSS DUPLICATE REORDER CORRUPT LEAST MOST: chances of 10,000, delays in microseconds.

#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_packet.h>
#include <linux/if_tun.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { ROOM = 8192, LONGEST = 2048 };

// A frame under way; the heap has the one that is due first in front, of those due at once the one that came first.
struct frame { uint64_t due, number; int to; int size; unsigned char octets[LONGEST]; };
static struct frame *heap[ROOM];
static int waiting;
static uint64_t state, numbers;
static unsigned long seen, lost, doubled, disordered, damaged, full;
static volatile sig_atomic_t over;

static void end(int signal) { (void)signal; over = 1; }

// SplitMix64.
static uint64_t chance(void)
{
    uint64_t z = (state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}
static int happens(long of_10000) { return chance() % 10000 < (uint64_t)of_10000; }

static uint64_t microseconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000u + (uint64_t)t.tv_nsec / 1000u;
}

static int earlier(int a, int b)
{
    return heap[a]->due < heap[b]->due || (heap[a]->due == heap[b]->due && heap[a]->number < heap[b]->number);
}
static void swap(int a, int b) { struct frame *f = heap[a]; heap[a] = heap[b]; heap[b] = f; }

static void put(const unsigned char *octets, int size, int to, uint64_t due)
{
    if (waiting == ROOM) { full++; return; }
    if (!heap[waiting] && !(heap[waiting] = malloc(sizeof **heap))) abort();
    struct frame *f = heap[waiting];
    f->due = due; f->number = numbers++; f->to = to; f->size = size;
    memcpy(f->octets, octets, (size_t)size);
    for (int i = waiting++; i > 0 && earlier(i, (i - 1) / 2); i = (i - 1) / 2) swap(i, (i - 1) / 2);
}
static struct frame *take(void)
{
    swap(0, --waiting);
    for (int i = 0, next; (next = 2 * i + 1) < waiting; i = next) {
        if (next + 1 < waiting && earlier(next + 1, next)) next++;
        if (!earlier(next, i)) break;
        swap(next, i);
    }
    return heap[waiting];
}

static int open_tap(const char *name)
{
    struct ifreq request = {0};
    int tap = open("/dev/net/tun", O_RDWR | O_NONBLOCK);
    request.ifr_flags = IFF_TAP | IFF_NO_PI;
    strncpy(request.ifr_name, name, IFNAMSIZ - 1);
    if (tap < 0 || ioctl(tap, TUNSETIFF, &request) < 0) { perror(name); exit(1); }
    return tap;
}
static int open_packets(const char *name)
{
    int plug = socket(AF_PACKET, SOCK_RAW | SOCK_NONBLOCK, htons(ETH_P_ALL));
    struct sockaddr_ll at = { .sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL), .sll_ifindex = (int)if_nametoindex(name) };
    struct packet_mreq all = { .mr_ifindex = at.sll_ifindex, .mr_type = PACKET_MR_PROMISC };
    int room = 8 << 20;
    if (plug < 0 || bind(plug, (struct sockaddr *)&at, sizeof at) < 0
        || setsockopt(plug, SOL_PACKET, PACKET_ADD_MEMBERSHIP, &all, sizeof all) < 0) { perror(name); exit(1); }
    setsockopt(plug, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof room);
    return plug;
}

int main(int count, char **words)
{
    if (count != 10) { fprintf(stderr, "relay TAP INTERFACE SEED LOSS DUPLICATE REORDER CORRUPT LEAST MOST\n"); return 2; }
    struct pollfd ends[2] = { { open_tap(words[1]), POLLIN, 0 }, { open_packets(words[2]), POLLIN, 0 } };
    long value[7];
    for (int i = 0; i < 7; i++) value[i] = strtol(words[3 + i], NULL, 10);
    state = (uint64_t)value[0];
    long loss = value[1], duplicate = value[2], reorder = value[3], corrupt = value[4], least = value[5], most = value[6];
    signal(SIGTERM, end);
    signal(SIGINT, end);
    puts("running");
    fflush(stdout);
    while (!over) {
        uint64_t now = microseconds();
        struct timespec rest = { 1, 0 };
        if (waiting) {
            uint64_t left = heap[0]->due > now ? heap[0]->due - now : 0;
            rest.tv_sec = (time_t)(left / 1000000u);
            rest.tv_nsec = (long)(left % 1000000u) * 1000;
        }
        ppoll(ends, 2, &rest, NULL);
        now = microseconds();
        for (int from = 0; from < 2; from++) {
            unsigned char octets[LONGEST];
            for (int turn = 0; turn < 64; turn++) {
                struct sockaddr_ll whence = {0};
                socklen_t length = sizeof whence;
                ssize_t size = from ? recvfrom(ends[1].fd, octets, LONGEST, 0, (struct sockaddr *)&whence, &length) : read(ends[0].fd, octets, LONGEST);
                if (size <= 0) break;
                if (from && whence.sll_pkttype == PACKET_OUTGOING) continue;
                seen++;
                if (happens(loss)) { lost++; continue; }
                int copies = 1 + happens(duplicate);
                doubled += copies == 2;
                for (int copy = 0; copy < copies; copy++) {
                    uint64_t due = now + (uint64_t)least + chance() % (uint64_t)(most - least + 1);
                    if (happens(reorder)) { disordered++; due += chance() % (uint64_t)(2 * most + 200); }
                    if (happens(corrupt)) { damaged++; octets[chance() % (uint64_t)size] ^= (unsigned char)(1u << chance() % 8); }
                    put(octets, (int)size, !from, due);
                }
            }
        }
        while (waiting && heap[0]->due <= now) {
            struct frame *f = take();
            if (write(ends[f->to].fd, f->octets, (size_t)f->size) < 0 && errno != ENOBUFS && errno != EAGAIN && errno != EIO) perror("write");
        }
    }
    printf("{\"seen\":%lu,\"lost\":%lu,\"doubled\":%lu,\"disordered\":%lu,\"damaged\":%lu,\"full\":%lu}\n", seen, lost, doubled, disordered, damaged, full);
    return 0;
}
