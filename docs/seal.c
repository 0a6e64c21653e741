/* What docs/language.md calls: the sum of a message's octets behind it. */
#include "mk_native.h"

void seal(mk_native *msg)
{
    uint8_t sum = 0;
    for (uint32_t i = 0; i < msg->size; i++)
        sum = (uint8_t)(sum + msg->octets[i]);
    if (msg->size < msg->room)
        msg->octets[msg->size++] = sum;
}
