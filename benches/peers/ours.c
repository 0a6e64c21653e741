/* A host of `both.mok`, as generated, as a `struct peer`. */
#include "peer.h"
#include "Host.h"
#include <stdlib.h>
#include <string.h>

/* What a connection may be told: small texts do not wait (Nagle), else as the stack has it anyway. */
#define USUAL false, 0, 300000000000u, 0, 65535

/* A session keeps 32 messages that do not fit into one another; these fill a segment. */
enum { SESSIONS = 64, ROOM = 30 * 1448, PLACES = 1024 };

static struct peer_ports ports;
static struct Host *stack;
static uint64_t now;
static uint32_t own;
static mk_handle datagrams[SESSIONS], streams[SESSIONS];
static uint32_t room[SESSIONS], established;
static uint16_t first;
/* Which session a handle is of, by its place. */
static uint32_t whose_datagrams[PLACES], whose_streams[PLACES];

static void on_frame(void *context, mk_octets frame)
{
    (void)context;
    ports.frame(ports.context, frame.at, frame.size);
}

static void on_udp_opened(void *context, uint32_t user, mk_handle session, uint32_t local_host, uint16_t local_port, uint32_t remote_host,
                          uint16_t remote_port)
{
    (void)context, (void)local_host, (void)local_port, (void)remote_host, (void)remote_port;
    datagrams[user] = session, whose_datagrams[session.object % PLACES] = user;
}

static void on_udp_deliver(void *context, mk_handle session, mk_octets message)
{
    (void)context;
    ports.deliver(ports.context, whose_datagrams[session.object % PLACES], message.at, message.size);
}

static void have(uint32_t which, mk_handle session)
{
    streams[which] = session, whose_streams[session.object % PLACES] = which;
    room[which] = ROOM;
    established++;
}

static void on_tcp_opened(void *context, uint32_t user, mk_handle session, uint32_t local_host, uint16_t local_port, uint32_t remote_host,
                          uint16_t remote_port)
{
    (void)context, (void)local_host, (void)local_port, (void)remote_host, (void)remote_port;
    have(user, session);
}

static void on_tcp_accepted(void *context, mk_handle session, uint32_t local_host, uint16_t local_port, uint32_t remote_host,
                            uint16_t remote_port)
{
    (void)context, (void)local_host, (void)local_port, (void)remote_host;
    have((uint32_t)(remote_port - first), session);
}

static void on_tcp_deliver(void *context, mk_handle session, mk_octets message)
{
    (void)context;
    ports.deliver(ports.context, whose_streams[session.object % PLACES], message.at, message.size);
}

static void on_tcp_grant(void *context, mk_handle session, uint32_t messages, uint32_t octets)
{
    (void)context, (void)messages;
    room[whose_streams[session.object % PLACES]] += octets;
}

static void start(uint32_t address, const struct peer_ports *given)
{
    mk_config config = Host_defaults;
    struct Host_params params = Host_default_params;
    struct Host_ports taken = {.device_frame = on_frame, .udp_opened = on_udp_opened, .udp_deliver = on_udp_deliver,
                               .tcp_opened = on_tcp_opened, .tcp_accepted = on_tcp_accepted, .tcp_deliver = on_tcp_deliver,
                               .tcp_grant_sends = on_tcp_grant};
    ports = *given, own = address;
    params.address_address = address, params.address_prefix = 24;
    params.device_mac = 0x020000000000 | (address & 0xff), params.device_mtu = 1514;
    config.seed = address;
    /* A session gathers small messages into chunks of up to 4096 octets: the default of 2176 is too small for that. */
    config.buffer_octets = 8192;
    size_t size = (Host_size(&config) + 63) / 64 * 64;
    void *memory = aligned_alloc(64, size);
    if (memory == NULL)
        abort();
    memset(memory, 0, size);
    stack = Host_init(memory, &config, &params, &taken);
    Host_start(stack, now);
}

static void set_time(uint64_t then) { now = then; }

static void advance(void) { Host_advance(stack, now); }

static void must(bool good)
{
    if (!good)
        abort();
}

static void udp_open(uint32_t session, uint16_t local_port, uint32_t remote, uint16_t remote_port)
{
    must(Host_udp_open(stack, now, session, own, local_port, remote, remote_port));
}

static void tcp_listen(uint16_t port, uint16_t first_port)
{
    first = first_port;
    must(Host_tcp_listen(stack, now, SESSIONS, own, port, USUAL));
}

static void tcp_open(uint32_t session, uint16_t local_port, uint32_t remote, uint16_t remote_port)
{
    must(Host_tcp_open(stack, now, session, own, local_port, remote, remote_port, USUAL));
}

static uint32_t tcp_established(void) { return established; }

static uint32_t udp_send(uint32_t session, const uint8_t *at, uint32_t size)
{
    return Host_udp_send(stack, now, datagrams[session], (mk_octets){at, size}) ? size : 0;
}

static uint32_t frame(uint32_t session, const uint8_t *at, uint32_t size)
{
    (void)session;
    return Host_device_frame(stack, now, (mk_octets){at, size}) ? size : 0;
}

static uint32_t tcp_send(uint32_t session, const uint8_t *at, uint32_t size)
{
    if (room[session] < size)
        return 0;
    room[session] -= size;
    return Host_tcp_send(stack, now, streams[session], (mk_octets){at, size}) ? size : 0;
}

static uint32_t tcp_take(uint32_t session, const uint8_t *at, uint32_t size)
{
    (void)at;
    return Host_tcp_grant_delivers(stack, now, streams[session], 1, size) ? size : 0;
}

static uint32_t tcp_ack(uint32_t session, const uint8_t *at, uint32_t size)
{
    (void)session, (void)at;
    Host_advance(stack, now);
    return size;
}

/* `mokume size` says it. */
static uint32_t tcp_octets(void) { return 0; }

__attribute__((visibility("default"))) const struct peer *peer(void)
{
    static const struct peer this = {
        .start = start, .time = set_time, .advance = advance, .udp_open = udp_open, .tcp_listen = tcp_listen, .tcp_open = tcp_open,
        .tcp_established = tcp_established, .udp_send = udp_send, .tcp_send = tcp_send, .udp_frame = frame, .tcp_frame = frame,
        .tcp_take = tcp_take, .tcp_ack = tcp_ack, .tcp_octets = tcp_octets};
    return &this;
}
