/* lwIP 2.1.3 as a `struct peer`: raw calls, no system. */
#include "../peer.h"
#include "lwip/etharp.h"
#include "netif/ethernet.h"
#include "lwip/init.h"
#include "lwip/netif.h"
#include "lwip/priv/tcp_priv.h"
#include "lwip/sys.h"
#include "lwip/tcp.h"
#include "lwip/timeouts.h"
#include "lwip/udp.h"
#include <string.h>

enum { SESSIONS = 64, PIECES = 256 };

static struct peer_ports ports;
static struct netif device;
static uint64_t now;
static struct udp_pcb *datagrams[SESSIONS];
static struct tcp_pcb *streams[SESSIONS];
static uint32_t established;
static uint16_t first;

/* Frames that came and are still held: a piece says where one lies. */
static struct piece {
    struct pbuf_custom head;
    struct piece *next;
} pieces[PIECES], *free_pieces;

u32_t sys_now(void) { return (u32_t)(now / 1000000); }

static void put_back(struct pbuf *p)
{
    struct piece *piece = (struct piece *)p;
    piece->next = free_pieces, free_pieces = piece;
}

static err_t leave(struct netif *netif, struct pbuf *p)
{
    static uint8_t whole[1536];
    (void)netif;
    if (p->next == NULL)
        ports.frame(ports.context, p->payload, p->len);
    else
        ports.frame(ports.context, whole, pbuf_copy_partial(p, whole, sizeof whole, 0));
    return ERR_OK;
}

static err_t begin_device(struct netif *netif)
{
    netif->output = etharp_output;
    netif->linkoutput = leave;
    netif->mtu = 1500;
    netif->hwaddr_len = 6;
    netif->hwaddr[0] = 2;
    netif->hwaddr[5] = (u8_t)(uintptr_t)netif->state;
    netif->flags = NETIF_FLAG_BROADCAST | NETIF_FLAG_ETHARP | NETIF_FLAG_LINK_UP;
    return ERR_OK;
}

static void start(uint32_t address, const struct peer_ports *given)
{
    ip4_addr_t own = {lwip_htonl(address)}, mask = {lwip_htonl(0xffffff00)}, none = {0};
    ports = *given;
    for (unsigned i = 0; i < PIECES; i++) {
        pieces[i].head.custom_free_function = put_back;
        pieces[i].next = free_pieces, free_pieces = &pieces[i];
    }
    lwip_init();
    netif_add(&device, &own, &mask, &none, (void *)(uintptr_t)(address & 0xff), begin_device, ethernet_input);
    netif_set_default(&device);
    netif_set_up(&device);
}

static void set_time(uint64_t then) { now = then; }

static void advance(void) { sys_check_timeouts(); }

static void on_datagram(void *which, struct udp_pcb *pcb, struct pbuf *p, const ip_addr_t *from, u16_t port)
{
    (void)pcb, (void)from, (void)port;
    ports.deliver(ports.context, (uint32_t)(uintptr_t)which, p->payload, p->len);
    pbuf_free(p);
}

static void udp_open(uint32_t session, uint16_t local_port, uint32_t remote, uint16_t remote_port)
{
    ip_addr_t there = {lwip_htonl(remote)};
    struct udp_pcb *pcb = udp_new();
    udp_bind(pcb, IP_ADDR_ANY, local_port);
    udp_connect(pcb, &there, remote_port);
    udp_recv(pcb, on_datagram, (void *)(uintptr_t)session);
    datagrams[session] = pcb;
}

static uint32_t send_datagram(uint32_t session, const uint8_t *at, uint32_t size)
{
    struct pbuf *p = pbuf_alloc(PBUF_TRANSPORT, (u16_t)size, PBUF_POOL);
    if (p == NULL)
        return 0;
    memcpy(p->payload, at, size);
    err_t error = udp_send(datagrams[session], p);
    pbuf_free(p);
    return error == ERR_OK ? size : 0;
}

static uint32_t arrive(uint32_t session, const uint8_t *at, uint32_t size)
{
    (void)session;
    struct piece *piece = free_pieces;
    if (piece == NULL)
        return 0;
    free_pieces = piece->next;
    struct pbuf *p = pbuf_alloced_custom(PBUF_RAW, (u16_t)size, PBUF_REF, &piece->head, (void *)(uintptr_t)at, (u16_t)size);
    if (ethernet_input(p, &device) != ERR_OK)
        pbuf_free(p);
    return size;
}

static err_t on_text(void *which, struct tcp_pcb *pcb, struct pbuf *p, err_t error)
{
    (void)pcb, (void)error;
    if (p == NULL)
        return ERR_OK;
    for (struct pbuf *piece = p; piece != NULL; piece = piece->next)
        ports.deliver(ports.context, (uint32_t)(uintptr_t)which, piece->payload, piece->len);
    pbuf_free(p);
    return ERR_OK;
}

static void have(struct tcp_pcb *pcb, uint32_t session)
{
    tcp_nagle_disable(pcb);
    tcp_arg(pcb, (void *)(uintptr_t)session);
    tcp_recv(pcb, on_text);
    streams[session] = pcb;
    established++;
}

static err_t on_accepted(void *listener, struct tcp_pcb *pcb, err_t error)
{
    (void)listener, (void)error;
    have(pcb, (uint32_t)(pcb->remote_port - first));
    return ERR_OK;
}

static err_t on_connected(void *which, struct tcp_pcb *pcb, err_t error)
{
    (void)error;
    have(pcb, (uint32_t)(uintptr_t)which);
    return ERR_OK;
}

static void tcp_listen_at(uint16_t port, uint16_t first_port)
{
    first = first_port;
    struct tcp_pcb *pcb = tcp_new();
    tcp_bind(pcb, IP_ADDR_ANY, port);
    tcp_accept(tcp_listen(pcb), on_accepted);
}

static void tcp_open(uint32_t session, uint16_t local_port, uint32_t remote, uint16_t remote_port)
{
    ip_addr_t there = {lwip_htonl(remote)};
    struct tcp_pcb *pcb = tcp_new();
    tcp_bind(pcb, IP_ADDR_ANY, local_port);
    tcp_arg(pcb, (void *)(uintptr_t)session);
    tcp_connect(pcb, &there, remote_port, on_connected);
}

static uint32_t tcp_is_established(void) { return established; }

static uint32_t send_text(uint32_t session, const uint8_t *at, uint32_t size)
{
    struct tcp_pcb *pcb = streams[session];
    if (tcp_sndbuf(pcb) < size || tcp_write(pcb, at, (u16_t)size, TCP_WRITE_FLAG_COPY) != ERR_OK)
        return 0;
    tcp_output(pcb);
    return size;
}

static uint32_t take(uint32_t session, const uint8_t *at, uint32_t size)
{
    (void)at;
    tcp_recved(streams[session], (u16_t)size);
    return size;
}

/* Its timer would look at every session; this is what it does for one. */
static uint32_t acknowledge(uint32_t session, const uint8_t *at, uint32_t size)
{
    (void)at;
    tcp_ack_now(streams[session]);
    tcp_output(streams[session]);
    return size;
}

static uint32_t octets_of_a_session(void) { return sizeof(struct tcp_pcb); }

__attribute__((visibility("default"))) const struct peer *peer(void)
{
    static const struct peer this = {
        .start = start, .time = set_time, .advance = advance, .udp_open = udp_open, .tcp_listen = tcp_listen_at, .tcp_open = tcp_open,
        .tcp_established = tcp_is_established, .udp_send = send_datagram, .tcp_send = send_text, .udp_frame = arrive, .tcp_frame = arrive,
        .tcp_take = take, .tcp_ack = acknowledge, .tcp_octets = octets_of_a_session};
    return &this;
}
