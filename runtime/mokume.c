/* The whole runtime as one translation unit. The files can as well be compiled one by one. */
#include "mk_agenda.c"
#include "mk_core.c"
#include "mk_map.c"
#include "mk_object.c"
#include "mk_octets.c"
#include "mk_pool.c"
#include "mk_stack.c"
#include "mk_wheel.c"
