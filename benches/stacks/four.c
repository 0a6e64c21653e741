#define _POSIX_C_SOURCE 200809L
#include "Four.h"
#define STACK(name) Four_##name
#define INSTANCE struct Four
#define PORTS struct Four_ports
#define PARAMS struct Four_params
#define LEFT struct Four_returned
#include "two_ends.h"
