/* lwIP as fast as it honestly goes: one thread, raw calls, no counters of its own, no assertions, checksums in software. */
#ifndef LWIP_LWIPOPTS_H
#define LWIP_LWIPOPTS_H

/* One thread, nothing to lock, and only what is measured. */
#define NO_SYS 1
#define SYS_LIGHTWEIGHT_PROT 0
#define LWIP_NETCONN 0
#define LWIP_SOCKET 0
#define LWIP_RAW 0
#define LWIP_STATS 0
#define LWIP_NOASSERT 1
#define LWIP_IPV6 0
#define LWIP_ICMP 1

/* One device, and each session remembers its neighbour's place in the table. */
#define LWIP_SINGLE_NETIF 1
#define LWIP_NETIF_HWADDRHINT 1
#define ETHARP_TABLE_MATCH_NETIF 0
#define ETH_PAD_SIZE 0
/* A frame is one piece, as the device of every stack here gets it. */
#define LWIP_NETIF_TX_SINGLE_PBUF 1
/* Frames that come are taken where they lie, without a copy. */
#define LWIP_SUPPORT_CUSTOM_PBUF 1

/* Sums by the plain loop: of the three that lwIP has, the one that a compiler makes vectors of. */
#define LWIP_CHKSUM_ALGORITHM 2
#define LWIP_CHECKSUM_ON_COPY 0

#define CHECKSUM_GEN_IP_INLINE 1

/* Memory from pools of a few sizes: less to do than in its heap. */
#define MEM_ALIGNMENT 8
#define MEM_USE_POOLS 1
#define MEMP_USE_CUSTOM_POOLS 1
#define MEMP_NUM_PBUF 512
#define PBUF_POOL_SIZE 64
#define PBUF_POOL_BUFSIZE 1536
#define MEMP_NUM_UDP_PCB 80
#define MEMP_NUM_TCP_PCB 80
#define MEMP_NUM_TCP_PCB_LISTEN 4
#define MEMP_NUM_TCP_SEG 8192

/* The window that needs no scaling; Nagle is off in the program. Out of order is kept, as others do. */
#define TCP_MSS 1460
#define TCP_WND 65535
#define TCP_SND_BUF 65535
#define TCP_SND_QUEUELEN 256
#define TCP_QUEUE_OOSEQ 1
#define LWIP_TCP_TIMESTAMPS 0

#endif
