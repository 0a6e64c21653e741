/* The runtime that generated stacks stand on; include this, compile mokume.c once. See README.md. */
#ifndef MOKUME_H
#define MOKUME_H

#include "mk_arith.h"
#include "mk_cells.h"
#include "mk_core.h"
#include "mk_stack.h"

#endif
