/* What 64 hosts of a network say to ours, made by hand: answers of ARP, datagrams. Host number `peer` is 10.0.0.2 + peer, we are 10.0.0.1. */
#ifndef FRAMES_H
#define FRAMES_H

#include <stdint.h>
#include <string.h>

enum { OWN = 0x0a000001, FIRST = 0x0a000002, OWN_PORT = 5000, THEIR_PORT = 6000 };

static inline void put16(uint8_t *at, unsigned value)
{
    at[0] = (uint8_t)(value >> 8), at[1] = (uint8_t)value;
}

static inline void put32(uint8_t *at, uint32_t value)
{
    put16(at, value >> 16), put16(at + 2, value & 0xffff);
}

static inline uint32_t get32(const uint8_t *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

/* The answer to a question of ARP of ours. */
static inline void arp_answer(uint8_t reply[42], const uint8_t *question)
{
    uint32_t who = get32(question + 38);
    memcpy(reply, question, 42);
    memcpy(reply, question + 6, 6);
    memcpy(reply + 6, "\x02\0\0\0\1", 5), reply[11] = (uint8_t)who;
    reply[21] = 2;
    memcpy(reply + 22, reply + 6, 6), put32(reply + 28, who);
    memcpy(reply + 32, question + 22, 6), put32(reply + 38, OWN);
}

static inline uint32_t sum(const uint8_t *at, size_t size)
{
    uint32_t total = 0;
    for (size_t i = 0; i < size; i++)
        total += i % 2 ? at[i] : (uint32_t)at[i] << 8;
    return total;
}

static inline uint16_t fold(uint32_t total)
{
    while (total >> 16)
        total = (total & 0xffff) + (total >> 16);
    return (uint16_t)total;
}

/* A datagram of a peer for its session with us, all checksums right; the message is in its place, at octet 42. */
static inline uint32_t make_frame(uint8_t *frame, unsigned peer, const uint8_t *mac, size_t size)
{
    uint8_t *ip = frame + 14, *udp = ip + 20;
    memcpy(frame, mac, 6);
    memcpy(frame + 6, "\x02\0\0\0\1", 5), frame[11] = (uint8_t)(FIRST + peer);
    put16(frame + 12, 0x0800);
    memset(ip, 0, 28);
    ip[0] = 0x45, put16(ip + 2, (unsigned)(28 + size)), ip[8] = 64, ip[9] = 17;
    put32(ip + 12, FIRST + peer), put32(ip + 16, OWN);
    put16(ip + 10, (uint16_t)~fold(sum(ip, 20)));
    put16(udp, THEIR_PORT + peer), put16(udp + 2, OWN_PORT + peer), put16(udp + 4, (unsigned)(8 + size));
    uint16_t check_sum = (uint16_t)~fold(sum(ip + 12, 8) + 17 + (uint32_t)(8 + size) + sum(udp, 8 + size));
    put16(udp + 6, check_sum ? check_sum : 0xffff);
    return (uint32_t)(42 + size);
}

#endif
