/* For the example in language.md. */
#include "mk_native.h"

uint32_t reverse(uint32_t most, mk_native *msg);
uint32_t reverse(uint32_t most, mk_native *msg)
{
    if (msg->size > most)
        msg->size = most;
    for (uint32_t low = 0, high = msg->size; low + 1 < high--; low++) {
        uint8_t octet = msg->octets[low];
        msg->octets[low] = msg->octets[high];
        msg->octets[high] = octet;
    }
    return msg->size;
}
