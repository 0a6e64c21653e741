/* Functions in C for extern.mok. */
#include "mk_native.h"

uint32_t weigh(uint8_t left, uint32_t right, bool twice);
uint32_t weigh(uint8_t left, uint32_t right, bool twice)
{
    uint32_t sum = left * 1000u + right;
    return twice ? 2 * sum : sum;
}

uint8_t low_bits(uint64_t wide);
uint8_t low_bits(uint64_t wide)
{
    return (uint8_t)wide;
}

void stretch(uint8_t filler, mk_native *msg);
void stretch(uint8_t filler, mk_native *msg)
{
    while (msg->size < msg->room)
        msg->octets[msg->size++] = filler;
}

bool cut_at(uint8_t mark, mk_native *msg);
bool cut_at(uint8_t mark, mk_native *msg)
{
    for (uint32_t at = 0; at < msg->size; at++)
        if (msg->octets[at] == mark) {
            msg->size = at;
            return true;
        }
    return false;
}

uint32_t answer(void);
uint32_t answer(void)
{
    return 42;
}
