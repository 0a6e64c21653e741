/* What a stack is to the program that measures it (`harness.c`): a shared object that gives one `struct peer`. Each end of a run is a copy
 * of the object of its own. All calls that are counted have one type, so that `counted` is a jump and no more, for every stack. */
#ifndef PEER_H
#define PEER_H

#include <stdint.h>

/* A session (its number, as opened), octets, how many. Those that may refuse return how many octets they took. */
typedef uint32_t peer_call(uint32_t session, const uint8_t *at, uint32_t size);

struct peer_ports {
    void *context;
    /* A frame for the device: valid in the call. */
    void (*frame)(void *context, const uint8_t *at, uint32_t size);
    /* A message, or octets of a stream: valid in the call. */
    void (*deliver)(void *context, uint32_t session, const uint8_t *at, uint32_t size);
};

struct peer {
    /* One address of a /24, the hardware's address 02:00:00:00:00 and its last octet, checksums in software both ways. */
    void (*start)(uint32_t address, const struct peer_ports *ports);
    /* Time in nanoseconds, for all that follows. `advance` runs what is due. */
    void (*time)(uint64_t now);
    void (*advance)(void);
    void (*udp_open)(uint32_t session, uint16_t local_port, uint32_t remote, uint16_t remote_port);
    /* The passive end numbers its sessions by the other's port, from `first_port` on. */
    void (*tcp_listen)(uint16_t port, uint16_t first_port);
    void (*tcp_open)(uint32_t session, uint16_t local_port, uint32_t remote, uint16_t remote_port);
    uint32_t (*tcp_established)(void);
    peer_call *udp_send, *tcp_send;
    /* A frame from the device up to the delivery. The session it is of is said for stacks that do not say themselves where something came. */
    peer_call *udp_frame, *tcp_frame;
    /* So many octets of the stream are used up. */
    peer_call *tcp_take;
    /* The acknowledgement that was put off leaves now. */
    peer_call *tcp_ack;
    /* Octets that a session takes, without its buffers; 0 where another program says it. */
    uint32_t (*tcp_octets)(void);
};

/* What the object gives. */
typedef const struct peer *peer_entry(void);

#endif
