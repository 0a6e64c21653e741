/* What handlers do to a message's octets; see mk_octets.h. */
#include "mk_octets.h"

/* A buffer of its own for the message, its octets at `at`. Fewer octets if the pool is empty: then there are none. */
static void mk_own(mk_pool *pool, mk_message *message, uint32_t at)
{
    mk_view old = message->view;
    mk_buffer *fresh = mk_buffer_new(pool);
    if (!fresh) {
        mk_view_release(pool, &message->view);
        message->view = (mk_view){NULL, 0, 0};
        return;
    }
    if (old.buffer)
        memcpy(fresh->octets + at, old.buffer->octets + old.at, mk_min_u32(old.size, pool->buffer_octets - at));
    message->view = (mk_view){fresh, at, mk_min_u32(old.size, pool->buffer_octets - at)};
    mk_view_release(pool, &old);
}

uint8_t *mk_prepend_anew(mk_pool *pool, mk_message *message, uint32_t size)
{
    uint32_t at = pool->shape.head_room;
    mk_own(pool, message, at < size ? size : at);
    if (MK_UNLIKELY(!message->view.buffer))
        return (uint8_t *)pool->nothing + mk_message_memory(&pool->shape); /* never read */
    message->view.at -= size;
    message->view.size += size;
    return message->view.buffer->octets + message->view.at;
}

mk_message *mk_message_fronted(mk_pool *pool, const uint8_t *front, uint32_t count, const uint8_t *octets, uint32_t size)
{
    mk_message *message = mk_message_new(pool, octets, size);
    mk_front(pool, message, front, count);
    return message;
}

bool mk_trim(mk_message *message, uint32_t size)
{
    if (size > message->view.size)
        return false;
    message->view.size = size;
    return true;
}

bool mk_skip(mk_message *message, uint32_t size)
{
    bool fits = size <= message->view.size;
    uint32_t skipped = mk_min_u32(size, message->view.size);
    message->view.at += skipped;
    message->view.size -= skipped;
    return fits;
}

bool mk_split(mk_pool *pool, mk_message *message, uint32_t at, mk_message **rest)
{
    bool fits = at <= message->view.size;
    at = mk_min_u32(at, message->view.size);
    *rest = mk_message_share(pool, message);
    (*rest)->top = pool->shape.headers;
    (*rest)->view.at += MK_FAULT(split_place) ? 0 : at;
    (*rest)->view.size -= mk_min_u32(at, (*rest)->view.size);
    message->view.size = at;
    return fits;
}

/* By how many octets a layer may make the message longer (docs/semantics.md, F11). */
static uint32_t mk_room_to_grow(const mk_message *message)
{
    return MK_LONGEST - mk_min_u32(message->view.size, MK_LONGEST);
}

bool mk_join(mk_pool *pool, mk_message *first, mk_message *second)
{
    uint32_t added = mk_min_u32(second->view.size, mk_room_to_grow(first));
    mk_buffer *buffer = first->view.buffer;
    bool fits = added == second->view.size;
    if (added) {
        uint32_t end = first->view.at + first->view.size;
        if (!buffer || buffer->references > 1 || added > pool->buffer_octets - end) {
            uint32_t needed = first->view.size + added, most = pool->buffer_octets;
            uint32_t at = needed <= most ? mk_min_u32(pool->shape.head_room, most - needed) : 0;
            mk_own(pool, first, at);
            end = first->view.at + first->view.size;
        }
        if (first->view.buffer) {
            uint32_t room = pool->buffer_octets - end;
            if (added > room) {
                fits = false;
                pool->exhausted++;
                added = room;
            }
            memcpy(first->view.buffer->octets + end, mk_data(second), added);
            first->view.size += added;
        }
    }
    mk_message_free(pool, second);
    return fits;
}

mk_message *mk_quote(mk_pool *pool, mk_message *message, uint32_t received)
{
    mk_message *quote = mk_message_new(pool, NULL, 0);
    if ((void *)quote != (void *)pool->nothing)
        quote->view = mk_view_share(mk_received(pool, message)[received]);
    return quote;
}

void mk_note_received(mk_pool *pool, mk_message *message, uint32_t received)
{
    mk_view *view = &mk_received(pool, message)[received];
    mk_view_release(pool, view);
    *view = mk_view_share(message->view);
    message->differs |= MK_MET;
}

bool mk_give_octets(mk_pool *pool, mk_message *message, uint32_t grows, mk_native *octets)
{
    mk_buffer *buffer = message->view.buffer;
    uint32_t end = message->view.at + message->view.size;
    grows = mk_min_u32(grows, mk_room_to_grow(message));
    if (!buffer || (buffer->references > 1 && !MK_FAULT(copy_on_write)) || grows > pool->buffer_octets - end) {
        uint32_t needed = message->view.size + grows, most = pool->buffer_octets;
        mk_own(pool, message, needed <= most ? mk_min_u32(pool->shape.head_room, most - needed) : 0);
    }
    if (MK_UNLIKELY(!message->view.buffer)) {
        *octets = (mk_native){(uint8_t *)pool->nothing, 0, 0};
        return false;
    }
    uint32_t room = pool->buffer_octets - message->view.at, wanted = message->view.size + grows;
    *octets = (mk_native){message->view.buffer->octets + message->view.at, message->view.size, mk_min_u32(room, wanted)};
    pool->exhausted += wanted > room;
    return wanted <= room;
}

bool mk_store(mk_pool *pool, mk_message *message, uint32_t at, uint64_t value, uint32_t size, bool little)
{
    if (at > message->view.size || size > message->view.size - at)
        return false;
    if (message->view.buffer->references > 1 && !MK_FAULT(copy_on_write))
        mk_own(pool, message, pool->shape.head_room);
    if (!message->view.buffer)
        return true;
    uint8_t *to = message->view.buffer->octets + message->view.at + at;
    if (little)
        mk_put_le(to, size, value);
    else
        mk_put_be(to, size, value);
    return true;
}

bool mk_load(const mk_message *message, uint32_t at, uint32_t size, bool little, uint64_t *value)
{
    *value = 0;
    if (at > message->view.size || size > message->view.size - at)
        return false;
    const uint8_t *from = mk_data(message) + at;
    *value = little ? mk_get_le(from, size) : mk_get_be(from, size);
    return true;
}

/* The last octets behind whole words, at least eight in all: as a word that ends in zeros. */
static inline uint64_t mk_last_octets(const uint8_t *end, uint32_t rest)
{
    return rest && !(rest & MK_FAULT(sum_odd)) ? mk_get_be_64(end - 8) << (64 - 8 * rest) : 0;
}

/* Fewer than eight. */
static inline uint32_t mk_sum16_few(const uint8_t *octets, uint32_t size)
{
    uint32_t sum = 0;
    for (; size >= 2; octets += 2, size -= 2)
        sum += mk_get_be_16(octets);
    return size && !MK_FAULT(sum_odd) ? sum + ((uint32_t)octets[0] << 8) : sum;
}

static inline uint32_t mk_sum16_some(const uint8_t *octets, uint32_t size)
{
    const uint8_t *end = octets + size;
    uint64_t sum = mk_columns(mk_last_octets(end, size & 7));
    for (; size >= 8; octets += 8, size -= 8) {
        MK_ONE_BY_ONE(sum);
        sum += mk_columns(mk_get_be_64(octets));
    }
    return (uint32_t)(sum + (sum >> 32));
}

#if defined(__GNUC__)
/* Many: rows of sixteen numbers side by side, as they lie in memory. Their second octets are added up apart; what the first ones make is what is left of
 * the whole sum, which may go around: a batch is so small that neither column of octets runs over. */
typedef uint16_t mk_numbers __attribute__((vector_size(32)));
typedef uint32_t mk_sums __attribute__((vector_size(32)));
enum { MK_ROW = 32, MK_BATCH = 256 }; /* MK_BATCH * 255 < 2^16 */

#define MK_ADD_ROW(which) (memcpy(&row, octets + (which) * MK_ROW, MK_ROW), all += row, second += row >> 8)

MK_APART uint32_t mk_sum16_many(const uint8_t *octets, uint32_t size)
{
    const mk_numbers places = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    uint32_t sum = size & 1 && !MK_FAULT(sum_odd) ? (uint32_t)octets[size - 1] << 8 : 0;
    mk_numbers all, second, row;
    mk_sums sums = {0};
    /* First the row that ends with the last number; what of it stands in other rows does not count. */
    memcpy(&all, octets + (size & ~UINT32_C(1)) - MK_ROW, MK_ROW);
    all &= (mk_numbers)(places >= (uint16_t)((MK_ROW - (size & (MK_ROW - 2))) / 2));
    second = all >> 8;
    const mk_sums first_halves = sums + 0xffff;
    const uint8_t *end = octets + (size & ~(uint32_t)(MK_ROW - 1));
    for (;;) {
        const uint8_t *batch = octets + mk_min_u32((uint32_t)(end - octets), MK_ROW * (MK_BATCH - 4));
        const uint8_t *fours = octets + ((uint32_t)(batch - octets) & ~(uint32_t)(4 * MK_ROW - 1));
        for (; octets != fours; octets += 4 * MK_ROW) {
            MK_ADD_ROW(0);
            MK_ADD_ROW(1);
            MK_ADD_ROW(2);
            MK_ADD_ROW(3);
        }
        for (; octets != batch; octets += MK_ROW)
            MK_ADD_ROW(0);
        mk_numbers first = all - (second << 8);
#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
        row = first, first = second, second = row;
#endif
        sums += (((mk_sums)first & first_halves) + ((mk_sums)first >> 16)) << 8;
        sums += ((mk_sums)second & first_halves) + ((mk_sums)second >> 16);
        if (MK_LIKELY(octets == end))
            break;
        all = second = (mk_numbers){0};
    }
    for (int i = 0; i < 8; i++)
        sum += sums[i];
    return sum;
}
#else
uint32_t mk_sum16_many(const uint8_t *octets, uint32_t size)
{
    return mk_sum16_some(octets, size);
}
#endif

#if defined(__SSE2__)
/* Rows of numbers as they lie in memory. With its sign turned over a number is 2^15 less, as a signed one: so one instruction adds up pairs, and 2^14 rows
 * do not make a column run over. */
#if defined(__AVX2__)
enum { MK_RAW_ROW = 32 };
#define MK_ADD_PAIRS __builtin_ia32_pmaddwd256
#else
enum { MK_RAW_ROW = 16 };
#define MK_ADD_PAIRS __builtin_ia32_pmaddwd128
#endif
typedef int16_t mk_raw_numbers __attribute__((vector_size(MK_RAW_ROW)));
typedef int32_t mk_raw_pairs __attribute__((vector_size(MK_RAW_ROW)));

MK_APART uint64_t mk_sum_raw_many(const uint8_t *octets, uint32_t size)
{
    static const int16_t from_here[MK_RAW_ROW] = {
#if defined(__AVX2__)
        0, 0, 0, 0, 0, 0, 0, 0, [16] = -1, -1, -1, -1, -1, -1, -1, -1,
#else
        [8] =
#endif
        -1, -1, -1, -1, -1, -1, -1, -1};
    mk_raw_numbers ones = (mk_raw_numbers){0} + 1, row, counts;
    __asm__("" : "+x"(ones)); /* made once */
    const mk_raw_numbers signs = ones << 15;
    /* First the row that ends with the last number; what of it stands in other rows does not count. */
    memcpy(&row, octets + (size & ~UINT32_C(1)) - MK_RAW_ROW, MK_RAW_ROW);
    memcpy(&counts, (const uint8_t *)from_here + (size & (MK_RAW_ROW - 2)), MK_RAW_ROW);
    mk_raw_pairs sums = MK_ADD_PAIRS((row & counts) ^ signs, ones);
#define MK_ADD_RAW_ROW(which) (memcpy(&row, octets + (which) * MK_RAW_ROW, MK_RAW_ROW), sums += MK_ADD_PAIRS(row ^ signs, ones))
    for (uint32_t eights = size / (8 * MK_RAW_ROW); eights; eights--, octets += 8 * MK_RAW_ROW) {
        for (uint32_t i = 0; i < 8; i++)
            MK_ADD_RAW_ROW(i);
    }
    if (size & 4 * MK_RAW_ROW) {
        for (uint32_t i = 0; i < 4; i++)
            MK_ADD_RAW_ROW(i);
        octets += 4 * MK_RAW_ROW;
    }
    if (size & 2 * MK_RAW_ROW) {
        MK_ADD_RAW_ROW(0), MK_ADD_RAW_ROW(1);
        octets += 2 * MK_RAW_ROW;
    }
    if (size & MK_RAW_ROW) {
        MK_ADD_RAW_ROW(0);
        octets += MK_RAW_ROW;
    }
#undef MK_ADD_RAW_ROW
    uint32_t sum = (size / MK_RAW_ROW + 1) * (MK_RAW_ROW / 2 << 15);
    for (uint32_t i = 0; i < MK_RAW_ROW / 4; i++)
        sum += (uint32_t)sums[i];
    return size & 1 && !MK_FAULT(sum_odd) ? (uint64_t)sum + octets[(size & (MK_RAW_ROW - 1)) - 1] : sum;
}
#else
uint64_t mk_sum_raw_many(const uint8_t *octets, uint32_t size)
{
    return mk_raw(mk_sum16_many(octets, size));
}
#endif

uint32_t mk_sum16(const uint8_t *octets, uint32_t size)
{
    if (size >= MK_MANY_OCTETS)
        return mk_sum16_many(octets, size);
    return size >= 8 ? mk_sum16_some(octets, size) : mk_sum16_few(octets, size);
}

uint32_t mk_sum16_of_bits(const uint8_t *octets, uint32_t size, uint32_t at, uint32_t width)
{
    uint32_t sum = 0;
    if ((uint64_t)at + width > (uint64_t)size * 8)
        return 0;
    for (uint32_t bit = at; bit < at + width; bit++) {
        uint32_t one = octets[bit / 8] & 0x80u >> bit % 8;
        sum += bit / 8 % 2 ? one : one << 8;
    }
    return sum;
}
