/* lwIP's port to this kind of machine: gcc or clang, 64 bits. */
#ifndef LWIP_ARCH_CC_H
#define LWIP_ARCH_CC_H

#include <stdlib.h>

#define LWIP_PLATFORM_ASSERT(text) abort()
#define LWIP_RAND() ((u32_t)rand())
/* One instruction each, without a call. */
#define lwip_htons(x) __builtin_bswap16(x)
#define lwip_htonl(x) __builtin_bswap32(x)

#endif
