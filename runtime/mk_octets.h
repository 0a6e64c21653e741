/* What handlers do to a message's octets. Each answers whether it stayed within them; the caller reports. */
#ifndef MK_OCTETS_H
#define MK_OCTETS_H

#include "mk_map.h"
#include "mk_native.h"
#include "mk_pool.h"

/* Room for `size` octets in front of the message's, which become its first; the caller writes all of them. */
uint8_t *mk_prepend_anew(mk_pool *pool, mk_message *message, uint32_t size);
static inline uint8_t *mk_prepend(mk_pool *pool, mk_message *message, uint32_t size)
{
    mk_buffer *buffer = message->view.buffer;
    if (MK_UNLIKELY(!buffer || (buffer->references > 1 && !MK_FAULT(copy_on_encode)) || message->view.at < size))
        return mk_prepend_anew(pool, message, size);
    message->view.at -= size;
    message->view.size += size;
    return buffer->octets + message->view.at;
}
/* These octets in front of the message's. */
static inline void mk_front(mk_pool *pool, mk_message *message, const uint8_t *octets, uint32_t size)
{
    memcpy(mk_prepend(pool, message, size), octets, size);
}
/* A new message of two parts. */
mk_message *mk_message_fronted(mk_pool *pool, const uint8_t *front, uint32_t count, const uint8_t *octets, uint32_t size);
/* Keeps the first `size`. */
bool mk_trim(mk_message *message, uint32_t size);
/* Takes the first `size` away. */
bool mk_skip(mk_message *message, uint32_t size);
/* The first `at` stay; the rest is a new message with the same attributes and without headers. */
bool mk_split(mk_pool *pool, mk_message *message, uint32_t at, mk_message **rest);
/* The longest message that a layer makes; what wires put in front is on top of it (docs/semantics.md, F11). */
enum { MK_LONGEST = 65535 };
/* The second's octets behind the first's; the second's end. False: they are more than a message or a buffer has, and are cut off. */
bool mk_join(mk_pool *pool, mk_message *first, mk_message *second);
/* The packet in which the message came, as a new message. */
mk_message *mk_quote(mk_pool *pool, mk_message *message, uint32_t received);
/* The message's octets are what was received at this place of the stack. */
void mk_note_received(mk_pool *pool, mk_message *message, uint32_t received);

/* The message, of which these octets of its own are left. */
static inline mk_message *mk_narrowed(mk_message *message, const uint8_t *at, uint32_t size)
{
    message->view.at += (uint32_t)(at - mk_data(message));
    message->view.size = size;
    return message;
}

/* The message's octets, to be changed in place, with room for `grows` more; false: there is less room than that. */
bool mk_give_octets(mk_pool *pool, mk_message *message, uint32_t grows, mk_native *octets);
static inline void mk_native_close(mk_message *message, const mk_native *octets)
{
    message->view.size = mk_min_u32(octets->size, octets->room);
}

bool mk_store(mk_pool *pool, mk_message *message, uint32_t at, uint64_t value, uint32_t size, bool little);
bool mk_load(const mk_message *message, uint32_t at, uint32_t size, bool little, uint64_t *value);
/* The octets as big-endian 16-bit numbers (an odd last one padded with 0), added up modulo 2^32. */
uint32_t mk_sum16(const uint8_t *octets, uint32_t size);
/* The same of MK_MANY_OCTETS or more. */
uint32_t mk_sum16_many(const uint8_t *octets, uint32_t size);
enum { MK_MANY_OCTETS = 40 }; /* from so many on it is worth while to make ready for them */

/* A place behind so many octets, of which there may be none at all. */
static inline const uint8_t *mk_behind(const uint8_t *octets, uint32_t size)
{
    return size ? octets + size : octets;
}

/* The same of `part` octets from `at` on, as far as they are among the `size`. */
static inline uint32_t mk_sum16_part(const uint8_t *octets, uint32_t size, uint32_t at, uint32_t part)
{
    uint32_t first = mk_min_u32(at, size);
    return mk_sum16(mk_behind(octets, first), mk_min_u32(part, size - first));
}

/* End-around carry (RFC 1071): in the upper half, where the halves' sum and its carry meet. */
static inline uint16_t mk_fold16(uint32_t sum)
{
    return (uint16_t)((sum + (sum << 16 | sum >> 16)) >> 16);
}

/* The same of a sum of up to 2^31 numbers of 32 bits: in the upper half, as above, there are 32 bits with their carry. */
static inline uint16_t mk_fold_wide(uint64_t sum)
{
    return mk_fold16((uint32_t)((sum + (sum << 32 | sum >> 32)) >> 32));
}

/* What `width` bits from bit `at` on add to the sum above, if they lie within `size` octets. */
uint32_t mk_sum16_of_bits(const uint8_t *octets, uint32_t size, uint32_t at, uint32_t width);

/* The internet checksum of octets whose field of `width` bits at bit `at` counts as zero. */
static inline uint64_t mk_checksum(const uint8_t *octets, uint32_t size, uint32_t at, uint32_t width)
{
    return (uint16_t)~mk_fold16(mk_sum16(octets, size) - mk_sum16_of_bits(octets, size, at, width));
}

static inline uint64_t mk_quotient(uint64_t a, uint64_t b)
{
    return b ? a / b : 0;
}

/* A number as it lies in memory in an order, and back. */
#if defined(__GNUC__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define MK_ORDER_be(width, value) __builtin_bswap##width(value)
#define MK_ORDER_le(width, value) (value)
#elif defined(__GNUC__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define MK_ORDER_be(width, value) (value)
#define MK_ORDER_le(width, value) __builtin_bswap##width(value)
#else
#define MK_ORDER_be(width, value) ((uint##width##_t)mk_ordered(value, width / 8, true))
#define MK_ORDER_le(width, value) ((uint##width##_t)mk_ordered(value, width / 8, false))
static inline uint64_t mk_ordered(uint64_t value, uint32_t size, bool big)
{
    uint8_t octets[8] = {0};
    uint64_t word = 0;
    uint32_t narrow = 0;
    uint16_t half = 0;
    for (uint32_t i = 0; i < size; i++)
        octets[i] = (uint8_t)(value >> 8 * (big ? size - 1 - i : i));
    memcpy(&word, octets, 8);
    memcpy(&narrow, octets, 4);
    memcpy(&half, octets, 2);
    return size == 8 ? word : size == 4 ? narrow : half;
}
#endif

/* A number with its octets the other way around: what is big-endian, read as little-endian. */
#define MK_TURNED(width) \
    static inline uint##width##_t mk_turned_##width(uint##width##_t value) \
    { \
        return MK_ORDER_le(width, MK_ORDER_be(width, value)); \
    }
MK_TURNED(16)
MK_TURNED(32)
MK_TURNED(64)

/* Numbers of 16, 32 and 64 bits, wherever they lie. */
#define MK_NUMBERS(order, width) \
    static inline uint##width##_t mk_get_##order##_##width(const uint8_t *at) \
    { \
        uint##width##_t value; \
        memcpy(&value, at, sizeof value); \
        return MK_ORDER_##order(width, value); \
    } \
    static inline void mk_put_##order##_##width(uint8_t *at, uint64_t value) \
    { \
        uint##width##_t ordered = MK_ORDER_##order(width, (uint##width##_t)value); \
        memcpy(at, &ordered, sizeof ordered); \
    }
MK_NUMBERS(be, 16)
MK_NUMBERS(be, 32)
MK_NUMBERS(be, 64)
MK_NUMBERS(le, 16)
MK_NUMBERS(le, 32)
MK_NUMBERS(le, 64)

/* Numbers of 16 bits in every second place of a word: those at even places. */
static MK_UNUSED const uint64_t mk_halves = UINT64_C(0x0000ffff0000ffff);

/* The four numbers of a word in two columns of 32 bits: 2^15 words do not make them run over. */
static inline uint64_t mk_columns(uint64_t word)
{
    return (word & mk_halves) + (word >> 16 & mk_halves);
}

/* The same; on a brisk path in place. */
static inline uint32_t mk_sum16_as(bool brisk, const uint8_t *octets, uint32_t size)
{
    if (!brisk)
        return mk_sum16(octets, size);
    if (size >= MK_MANY_OCTETS)
        return mk_sum16_many(octets, size);
    uint64_t columns = 0;
    for (; size >= 8; octets += 8, size -= 8) {
        MK_ONE_BY_ONE(octets);
        columns += mk_columns(mk_get_be_64(octets));
    }
    uint32_t sum = (uint32_t)columns + (uint32_t)(columns >> 32);
    if (size & 4)
        sum += mk_get_be_16(octets) + (uint32_t)mk_get_be_16(octets + 2), octets += 4;
    if (size & 2)
        sum += mk_get_be_16(octets), octets += 2;
    return size & 1 && !MK_FAULT(sum_odd) ? sum + ((uint32_t)*octets << 8) : sum;
}

static inline uint32_t mk_sum16_part_as(bool brisk, const uint8_t *octets, uint32_t size, uint32_t at, uint32_t part)
{
    uint32_t first = mk_min_u32(at, size);
    return mk_sum16_as(brisk, mk_behind(octets, first), mk_min_u32(part, size - first));
}

/* Sums of 16-bit numbers in the machine's order, in 64 bits: what the octets of each swapped make is 256 times as much, modulo 65535.
 * Here: a sum of big-endian numbers, among such. */
static inline uint64_t mk_raw(uint32_t sum)
{
    return (uint64_t)sum * (MK_ORDER_be(16, 1) == 1 ? 1 : 256);
}

/* A big-endian number, as it would lie in memory. */
static inline uint64_t mk_raw_16(uint16_t number)
{
    return MK_ORDER_be(16, number);
}

/* The carry comes in again at the other end: nothing is lost modulo 65535, and it is 0 only if both are. */
static inline uint64_t mk_add_around(uint64_t a, uint64_t b)
{
    uint64_t sum = a + b;
    return sum < a ? sum + 1 : sum;
}

/* `mk_sum16_many`, among such. */
uint64_t mk_sum_raw_many(const uint8_t *octets, uint32_t size);
/* `mk_sum16_as`, among such. */
static inline uint64_t mk_sum_raw(const uint8_t *octets, uint32_t size)
{
    uint64_t sum = 0, word;
    if (size >= MK_MANY_OCTETS)
        return mk_sum_raw_many(octets, size);
    for (; size >= 8; octets += 8, size -= 8) {
        MK_ONE_BY_ONE(octets);
        memcpy(&word, octets, 8);
        sum = mk_add_around(sum, word);
    }
    sum = (sum & 0xffffffff) + (sum >> 32);
    if (size & 4)
        sum += mk_read_32(octets), octets += 4;
    if (size & 2)
        sum += mk_read_16(octets), octets += 2;
    return size & 1 && !MK_FAULT(sum_odd) ? sum + mk_raw((uint32_t)*octets << 8) : sum;
}

/* `mk_sum16_part_as`, among such. */
static inline uint64_t mk_sum_raw_part(const uint8_t *octets, uint32_t size, uint32_t at, uint32_t part)
{
    uint32_t first = mk_min_u32(at, size);
    return mk_sum_raw(mk_behind(octets, first), mk_min_u32(part, size - first));
}

/* `mk_fold16` of such a sum, of less than 2^48. */
static inline uint16_t mk_fold_raw(uint64_t sum)
{
    uint32_t low = (uint32_t)sum, half = low + (uint32_t)(sum >> 32);
    return (uint16_t)MK_ORDER_be(16, mk_fold16(half + (half < low)));
}

/* A number that folds to what `mk_sum16` folds to, also with the same number added to both. */
static inline uint32_t mk_sum16_modulo(const uint8_t *octets, uint32_t size)
{
    return size >= MK_MANY_OCTETS ? mk_fold_raw(mk_sum_raw_many(octets, size)) : mk_sum16_as(true, octets, size);
}

/* The same of `part` octets from `at` on, as far as they are among the `size`. */
static inline uint32_t mk_sum16_modulo_part(const uint8_t *octets, uint32_t size, uint32_t at, uint32_t part)
{
    uint32_t first = mk_min_u32(at, size);
    return mk_sum16_modulo(mk_behind(octets, first), mk_min_u32(part, size - first));
}

/* Whether it folds to 0xffff: it is a whole multiple of 65535, and not 0. */
static inline bool mk_folds_to_ones(uint64_t sum)
{
    return sum * UINT64_C(0xfffefffefffeffff) - 1 < UINT64_C(0x0001000100010001);
}

/* Whether `check`, as it lies in memory, is the complement of the folded sum. */
static inline bool mk_completes(uint64_t sum, uint64_t check)
{
    return mk_folds_to_ones(sum + check) && MK_LIKELY(check != 0xffff || !sum);
}

enum { MK_FEW_OCTETS = 64 };

/* At most MK_FEW_OCTETS, to where they do not stand already: some may be copied twice. */
static inline void mk_copy_few(uint8_t *to, const uint8_t *from, uint32_t size)
{
    if (size < 8) {
        if (size >= 4) {
            memcpy(to, from, 4);
            memcpy(to + size - 4, from + size - 4, 4);
        } else if (size) {
            to[0] = from[0];
            to[size / 2] = from[size / 2];
            to[size - 1] = from[size - 1];
        }
    } else if (size < 16) {
        memcpy(to, from, 8);
        memcpy(to + size - 8, from + size - 8, 8);
    } else if (size < 32) {
        memcpy(to, from, 16);
        memcpy(to + size - 16, from + size - 16, 16);
    } else {
        memcpy(to, from, 32);
        memcpy(to + size - 32, from + size - 32, 32);
    }
}

/* Any number of octets, to where they do not stand already. */
static inline void mk_copy_behind(uint8_t *to, const uint8_t *from, uint32_t size)
{
    if (size > MK_FEW_OCTETS)
        memcpy(to, from, size);
    else
        mk_copy_few(to, from, size);
}

/* Whether a number of so many octets at a place is among the `size`. */
static inline bool mk_holds(uint32_t size, uint32_t at, uint32_t octets)
{
    return octets <= size && at <= size - octets;
}

/* The same of any number of octets. */
static MK_SHARED uint64_t mk_get_be(const uint8_t *at, uint32_t size)
{
    if (size == 6)
        return (uint64_t)mk_get_be_32(at) << 16 | mk_get_be_16(at + 4);
    uint64_t value = 0;
    for (uint32_t i = 0; i < size; i++)
        value = value << 8 | at[i];
    return value;
}

static inline uint64_t mk_get_le(const uint8_t *at, uint32_t size)
{
    uint64_t value = 0;
    for (uint32_t i = size; i > 0; i--)
        value = value << 8 | at[i - 1];
    return value;
}

static inline void mk_put_be(uint8_t *at, uint32_t size, uint64_t value)
{
    if (size == 6) {
        mk_put_be_32(at, value >> 16);
        mk_put_be_16(at + 4, value);
        return;
    }
    for (uint32_t i = size; i > 0; i--, value >>= 8)
        at[i - 1] = (uint8_t)value;
}

static inline void mk_put_le(uint8_t *at, uint32_t size, uint64_t value)
{
    for (uint32_t i = 0; i < size; i++, value >>= 8)
        at[i] = (uint8_t)value;
}

#endif
