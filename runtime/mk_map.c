/* Maps; see mk_map.h. */
#include "mk_map.h"

static uint8_t *mk_map_entry(const mk_map_shape *shape, uint8_t *memory, uint32_t place)
{
    return memory + shape->places + (size_t)place * (shape->key_size + shape->value_size);
}

/* FNV-1a: keys are short, and the table is at most half full. */
static uint32_t mk_map_home(const mk_map_shape *shape, const uint8_t *key)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (uint32_t i = 0; i < shape->key_size; i++)
        hash = (hash ^ key[i]) * UINT64_C(0x100000001b3);
    return (uint32_t)(hash ^ hash >> 32) & (shape->places - 1);
}

/* The key's place, or the free one where it would go. */
static uint32_t mk_map_place(const mk_map_shape *shape, uint8_t *memory, const uint8_t *key)
{
    uint32_t place = mk_map_home(shape, key);
    while (memory[place] && memcmp(mk_map_entry(shape, memory, place), key, shape->key_size) != 0)
        place = (place + 1) & (shape->places - 1);
    return place;
}

uint8_t *mk_map_find(const mk_map_shape *shape, uint8_t *memory, const uint8_t *key)
{
    uint32_t place = mk_map_place(shape, memory, key);
    return memory[place] ? mk_map_entry(shape, memory, place) + shape->key_size : NULL;
}

uint8_t *mk_map_insert(const mk_map_shape *shape, mk_map *map, uint8_t *memory, const uint8_t *key)
{
    uint32_t place = mk_map_place(shape, memory, key);
    if (!memory[place]) {
        if (map->count >= shape->capacity + (MK_FAULT(map_capacity) ? 1 : 0))
            return NULL;
        memory[place] = 1;
        memcpy(mk_map_entry(shape, memory, place), key, shape->key_size);
        map->count++;
    }
    return mk_map_entry(shape, memory, place) + shape->key_size;
}

bool mk_map_remove(const mk_map_shape *shape, mk_map *map, uint8_t *memory, const uint8_t *key, uint8_t *value)
{
    uint32_t mask = shape->places - 1, hole = mk_map_place(shape, memory, key);
    if (!memory[hole])
        return false;
    memcpy(value, mk_map_entry(shape, memory, hole) + shape->key_size, shape->value_size);
    map->count--;
    memory[hole] = 0;
    if (MK_FAULT(map_removal))
        return true;
    for (uint32_t place = (hole + 1) & mask; memory[place]; place = (place + 1) & mask) {
        /* An entry may move back to the hole if its home is not between the hole (exclusive) and its place. */
        uint32_t home = mk_map_home(shape, mk_map_entry(shape, memory, place));
        if (((place - home) & mask) < ((place - hole) & mask))
            continue;
        memcpy(mk_map_entry(shape, memory, hole), mk_map_entry(shape, memory, place),
               shape->key_size + shape->value_size);
        memory[hole] = 1;
        memory[place] = 0;
        hole = place;
    }
    return true;
}
