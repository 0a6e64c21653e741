/* Objects; see mk_object.h. */
#include "mk_object.h"

static void mk_class_init(mk_class *class)
{
    for (uint32_t i = 0; i <= class->capacity; i++)
        class->objects[i].generation = MK_NOT_LIVING;
    for (uint32_t i = 0; class->settling && i <= class->capacity; i++)
        class->settling[i].class_index = class->index;
    for (uint32_t i = 0; i < MK_FREE_WORDS(class->capacity); i++)
        class->free[i] = UINT64_MAX;
    if (class->capacity % 64)
        class->free[class->capacity / 64] = (UINT64_C(1) << class->capacity % 64) - 1;
    if (!class->kin)
        return;
    class->kin[class->capacity] = (mk_kin){MK_NOBODY, MK_NOBODY, MK_NOBODY};
    for (uint32_t i = 0; i < class->parents; i++)
        class->families[i] = (mk_family){MK_NOBODY, MK_NOBODY};
}

static void *mk_array(void *stack, size_t at)
{
    return at ? (uint8_t *)stack + at : NULL;
}

/* The instance is all zeros. */
void mk_classes_init(void *stack, mk_class *classes, const mk_class_plan *plans, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const mk_class_plan *plan = &plans[i];
        mk_class *class = &classes[i];
        class->objects = mk_array(stack, plan->objects);
        class->settling = mk_array(stack, plan->settling);
        class->kin = mk_array(stack, plan->kin);
        class->families = mk_array(stack, plan->families);
        class->ages = mk_array(stack, plan->ages);
        class->streams = mk_array(stack, plan->streams);
        class->free = mk_array(stack, plan->free);
        class->ended = mk_array(stack, plan->ended);
        class->capacity = plan->capacity;
        class->parent = plan->parent;
        class->parents = plan->parents;
        class->settle_limit = plan->settle_limit;
        class->index = (uint16_t)i;
        mk_class_init(class);
    }
}

/* The youngest of its family. */
static void mk_family_join(mk_class *class, uint32_t parent, uint32_t number)
{
    mk_family *family = &class->families[parent];
    class->kin[number] = (mk_kin){parent, family->youngest, MK_NOBODY};
    *(family->youngest == MK_NOBODY ? &family->oldest : &class->kin[family->youngest].younger) = number;
    family->youngest = number;
}

static void mk_family_leave(mk_class *class, uint32_t number)
{
    const mk_kin *kin = &class->kin[number];
    mk_family *family = &class->families[kin->parent];
    *(kin->older == MK_NOBODY ? &family->oldest : &class->kin[kin->older].younger) = kin->younger;
    *(kin->younger == MK_NOBODY ? &family->youngest : &class->kin[kin->younger].older) = kin->older;
}

uint32_t mk_class_take(mk_class *class, uint32_t parent, uint64_t age)
{
    uint32_t word = 0;
    while (word < MK_FREE_WORDS(class->capacity) && !class->free[word])
        word++;
    if (word == MK_FREE_WORDS(class->capacity))
        return MK_NOBODY;
    uint32_t number = word * 64 + mk_lowest(class->free[word]);
    class->free[word] &= class->free[word] - 1;

    class->objects[number].generation &= ~MK_NOT_LIVING;
    if (class->settling)
        class->settling[number] = (mk_settling){.class_index = class->index};
    if (class->ages)
        class->ages[number] = age;
    if (class->kin)
        mk_family_join(class, parent, number);
    return number;
}

void mk_class_free(mk_class *class, uint32_t number)
{
    mk_object *object = &class->objects[number];
    if (class->kin)
        mk_family_leave(class, number);
    object->generation = ((object->generation + (MK_FAULT(generation) ? 0 : 1)) & ~MK_ENDED) | MK_NOT_LIVING;
    class->free[number / 64] |= UINT64_C(1) << number % 64;
}

static uint32_t mk_living_from(const mk_class *class, uint32_t number)
{
    while (number != MK_NOBODY && !mk_is_alive(&class->objects[number]) && !MK_FAULT(walk_ended))
        number = class->kin[number].younger;
    return number;
}

uint32_t mk_oldest(const mk_class *class, uint32_t parent)
{
    return parent < class->parents ? mk_living_from(class, class->families[parent].oldest) : MK_NOBODY;
}

uint32_t mk_younger(const mk_class *class, uint32_t number)
{
    return number < class->capacity ? mk_living_from(class, class->kin[number].younger) : MK_NOBODY;
}
