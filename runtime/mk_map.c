/* Maps; see mk_map.h. */
#include "mk_map.h"

/* The index, then the entries one behind the other. */
static uint32_t mk_map_number(const mk_map_shape *shape, const uint8_t *memory, uint32_t place)
{
    return mk_map_is_small(shape) ? memory[place] : ((const uint32_t *)(const void *)memory)[place];
}

static void mk_map_set_number(const mk_map_shape *shape, uint8_t *memory, uint32_t place, uint32_t number)
{
    if (mk_map_is_small(shape))
        memory[place] = (uint8_t)number;
    else
        ((uint32_t *)(void *)memory)[place] = number;
}

static uint8_t *mk_map_entry(const mk_map_shape *shape, uint8_t *memory, uint32_t number)
{
    size_t index = MK_MAP_INDEX(shape->capacity, shape->places, shape->key_size);
    return memory + index + (size_t)(number - 1) * (shape->key_size + shape->value_size);
}

/* FNV-1a: keys are short, and the index is full to two thirds at most. */
static uint32_t mk_map_home(const mk_map_shape *shape, const uint8_t *key)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (uint32_t i = 0; i < shape->key_size; i++)
        hash = (hash ^ key[i]) * UINT64_C(0x100000001b3);
    return (uint32_t)(hash ^ hash >> 32) & (shape->places - 1);
}

/* The key's place in the index, or the free one where it would go. */
static uint32_t mk_map_place(const mk_map_shape *shape, uint8_t *memory, const uint8_t *key)
{
    if (mk_map_is_small(shape))
        return key[0];
    uint32_t place = mk_map_home(shape, key), number;
    while ((number = mk_map_number(shape, memory, place)) && memcmp(mk_map_entry(shape, memory, number), key, shape->key_size) != 0)
        place = (place + 1) & (shape->places - 1);
    return place;
}

uint8_t *mk_map_find_by_hash(const mk_map_shape *shape, uint8_t *memory, const uint8_t *key)
{
    uint32_t number = mk_map_number(shape, memory, mk_map_place(shape, memory, key));
    return number ? mk_map_entry(shape, memory, number) + shape->key_size : NULL;
}

uint8_t *mk_map_insert(const mk_map_shape *shape, mk_map *map, uint8_t *memory, const uint8_t *key)
{
    uint32_t place = mk_map_place(shape, memory, key), number = mk_map_number(shape, memory, place);
    if (!number) {
        if (map->count >= shape->capacity + (MK_FAULT(map_capacity) ? 1 : 0))
            return NULL;
        number = ++map->count;
        mk_map_set_number(shape, memory, place, number);
        memcpy(mk_map_entry(shape, memory, number), key, shape->key_size);
    }
    return mk_map_entry(shape, memory, number) + shape->key_size;
}

/* Takes a place out of the index: those behind it move back, so that each is found from its home on. */
static void mk_map_close(const mk_map_shape *shape, uint8_t *memory, uint32_t hole)
{
    uint32_t mask = shape->places - 1, number;
    mk_map_set_number(shape, memory, hole, 0);
    if (MK_FAULT(map_removal) || mk_map_is_small(shape))
        return;
    for (uint32_t place = (hole + 1) & mask; (number = mk_map_number(shape, memory, place)); place = (place + 1) & mask) {
        /* One may move back to the hole if its home is not between the hole (exclusive) and its place. */
        uint32_t home = mk_map_home(shape, mk_map_entry(shape, memory, number));
        if (((place - home) & mask) < ((place - hole) & mask))
            continue;
        mk_map_set_number(shape, memory, hole, number);
        mk_map_set_number(shape, memory, place, 0);
        hole = place;
    }
}

bool mk_map_remove(const mk_map_shape *shape, mk_map *map, uint8_t *memory, const uint8_t *key, uint8_t *value)
{
    uint32_t hole = mk_map_place(shape, memory, key);
    uint32_t number = mk_map_number(shape, memory, hole), last = map->count;
    if (!number)
        return false;
    memcpy(value, mk_map_entry(shape, memory, number) + shape->key_size, shape->value_size);
    mk_map_close(shape, memory, hole);
    map->count--;
    if (number == last)
        return true;
    /* The last entry takes the place of the one that went. */
    const uint8_t *moved = mk_map_entry(shape, memory, last);
    uint32_t place = mk_map_place(shape, memory, moved);
    memcpy(mk_map_entry(shape, memory, number), moved, shape->key_size + shape->value_size);
    if (mk_map_number(shape, memory, place) == last)
        mk_map_set_number(shape, memory, place, number);
    return true;
}
