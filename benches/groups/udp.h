/* What members of a group over UDP loopback share: a socket, the others' ends, and waiting in the kernel. Frames leave many by one call of the kernel. */
#ifndef GROUP_UDP_H
#define GROUP_UDP_H

#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "Group.h"

enum { MOST = 8, ALL = 255, AT_ONCE = 64, LARGEST = 2048 };

static struct Group *group;
static int sock, place, members;
static struct sockaddr_in ends[MOST];

static uint64_t now(void)
{
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return (uint64_t)at.tv_sec * 1000000000 + (uint64_t)at.tv_nsec;
}

/* Frames that are to leave, so that many leave by one call of the kernel. */
static uint8_t leaving[AT_ONCE][LARGEST];
static uint32_t leaving_size[AT_ONCE];
static unsigned waiting;

static void flush(void)
{
    struct mmsghdr messages[AT_ONCE * MOST];
    struct iovec vectors[AT_ONCE];
    unsigned count = 0;
    for (unsigned at = 0; at < waiting; at++) {
        vectors[at] = (struct iovec){leaving[at], leaving_size[at]};
        for (int i = 0; i < members; i++)
            if (i != place)
                messages[count++] =
                    (struct mmsghdr){.msg_hdr = {.msg_name = &ends[i], .msg_namelen = sizeof ends[i], .msg_iov = &vectors[at], .msg_iovlen = 1}};
    }
    for (unsigned at = 0; at < count;) {
        int sent = sendmmsg(sock, messages + at, count - at, 0);
        at += sent > 0 ? (unsigned)sent : errno == EINTR ? 0 : 1;
    }
    waiting = 0;
}

/* A frame is to leave. */
static void leave(mk_octets out)
{
    if (waiting == AT_ONCE)
        flush();
    memcpy(leaving[waiting], out.at, out.size);
    leaving_size[waiting++] = out.size;
}

/* Waits in the kernel for a frame or what is due, unless something else is to do; and does it. */
static void step(bool may_wait, uint64_t until)
{
    static uint8_t in[AT_ONCE][LARGEST];
    struct mmsghdr messages[AT_ONCE];
    struct iovec vectors[AT_ONCE];
    uint64_t at = now(), deadline = until;
    uint64_t next;
    flush();
    if (Group_next_deadline(group, &next) && next < deadline)
        deadline = next;
    if (may_wait) {
        uint64_t left = deadline > at ? deadline - at : 0;
        struct timespec wait = {(time_t)(left / 1000000000), (long)(left % 1000000000)};
        struct pollfd from = {sock, POLLIN, 0};
        ppoll(&from, 1, &wait, NULL);
    }
    for (int i = 0; i < AT_ONCE; i++) {
        vectors[i] = (struct iovec){in[i], LARGEST};
        messages[i] = (struct mmsghdr){.msg_hdr = {.msg_iov = &vectors[i], .msg_iovlen = 1}};
    }
    int count = recvmmsg(sock, messages, AT_ONCE, MSG_DONTWAIT, NULL);
    for (int i = 0; i < count; i++)
        Group_device_frame(group, now(), (mk_octets){in[i], messages[i].msg_len});
    if (Group_next_deadline(group, &next) && next <= now())
        Group_advance(group, now());
    flush();
}

/* The socket of `place`; the ends of all follow each other from this port on. */
static bool open_at(int port)
{
    int big = 8 << 20;
    sock = socket(AF_INET, SOCK_DGRAM, 0);
    setsockopt(sock, SOL_SOCKET, SO_RCVBUFFORCE, &big, sizeof big);
    for (int i = 0; i < members; i++)
        ends[i] = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons((uint16_t)(port + i)), .sin_addr = {htonl(INADDR_LOOPBACK)}};
    if (bind(sock, (struct sockaddr *)&ends[place], sizeof ends[place]) == 0)
        return true;
    perror("bind");
    return false;
}

#endif
