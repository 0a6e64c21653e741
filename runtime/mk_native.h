/* What a function in C that a stack calls is given of a message: its octets, in place.
 *
 * It may change them, and `size`, up to `room`; `octets` points to `room` octets of its own for as long as the call lasts.
 * It gives the same for the same, calls nothing of the stack, and keeps nothing. */
#ifndef MK_NATIVE_H
#define MK_NATIVE_H

#include <stdbool.h>
#include <stdint.h>

typedef struct mk_native {
    uint8_t *octets;
    uint32_t size;
    uint32_t room;
} mk_native;

#endif
