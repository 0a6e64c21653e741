/* Maps: an index by open addressing with linear probing, half as many places again as entries at least, so a probe is short and
 * always ends; beside it the entries, one behind the other, so that only numbers have more room than they need.
 *
 * Keys are octets without padding, written by the generated code. Removal moves later places of the chain back, so
 * there are no tombstones and a map that lives for years is as fast as a new one. No order is observable. */
#ifndef MK_MAP_H
#define MK_MAP_H

#include "mk_base.h"

typedef struct mk_map {
    uint32_t count;
} mk_map;

/* How the map's memory is laid out: the index, `places` (a power of two) numbers of 32 bits, each of an entry from 1 on, 0: free; then
 * `capacity` entries of key and value. A small map of small keys (`mk_map_is_small`) has an index of numbers of 8 bits instead, a place
 * for each key: nothing is probed. */
typedef struct mk_map_shape {
    uint32_t capacity;
    uint32_t places;
    uint32_t key_size;
    uint32_t value_size;
} mk_map_shape;

/* A part of a key more: of maps of objects by their own cells, whose functions are generated. The high bits are the mixed ones. */
static MK_SHARED uint64_t mk_mix_key(uint64_t hash, uint64_t part)
{
    return ((hash << 32 | hash >> 32) ^ part) * UINT64_C(0x9e3779b97f4a7c15);
}

/* Parts of keys and values, wherever they lie. */
#define MK_PARTS(width) \
    static inline void mk_write_##width(uint8_t *at, uint##width##_t value) \
    { \
        memcpy(at, &value, sizeof value); \
    } \
    static inline uint##width##_t mk_read_##width(const uint8_t *at) \
    { \
        uint##width##_t value; \
        memcpy(&value, at, sizeof value); \
        return value; \
    }
MK_PARTS(8)
MK_PARTS(16)
MK_PARTS(32)
MK_PARTS(64)

/* Whether the keys are of one octet, and entries have numbers of 8 bits. Where octets of code count, none is small. */
#ifdef MK_SMALL
#define MK_MAP_IS_SMALL(capacity, key) 0
#else
#define MK_MAP_IS_SMALL(capacity, key) ((key) == 1 && (capacity) <= UINT8_MAX)
#endif
static inline bool mk_map_is_small(const mk_map_shape *shape)
{
    (void)shape;
    return MK_MAP_IS_SMALL(shape->capacity, shape->key_size);
}

enum { MK_SMALL_PLACES = UINT8_MAX + 1 };

/* Octets of the index of such a map. */
#define MK_MAP_INDEX(capacity, places, key) (MK_MAP_IS_SMALL(capacity, key) ? MK_SMALL_PLACES : (places) * 4u)

/* The value of a key, or NULL. */
uint8_t *mk_map_find_by_hash(const mk_map_shape *shape, uint8_t *memory, const uint8_t *key);
static inline uint8_t *mk_map_find(const mk_map_shape *shape, uint8_t *memory, const uint8_t *key)
{
    if (!mk_map_is_small(shape))
        return mk_map_find_by_hash(shape, memory, key);
    uint32_t number = memory[key[0]];
    return number ? memory + MK_SMALL_PLACES + (number - 1) * (1 + shape->value_size) + 1 : NULL;
}
/* The place for a key's value: of the entry that is there, or of a new one; NULL when the map is full. */
uint8_t *mk_map_insert(const mk_map_shape *shape, mk_map *map, uint8_t *memory, const uint8_t *key);
/* Whether the key was there; its value is copied to `value` first. */
bool mk_map_remove(const mk_map_shape *shape, mk_map *map, uint8_t *memory, const uint8_t *key, uint8_t *value);

#endif
