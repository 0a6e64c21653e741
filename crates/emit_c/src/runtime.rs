//! The runtime's files, so that a compiler that was installed without its sources can still write them out.

/// Name and text of each file of `runtime/`.
pub const RUNTIME: &[(&str, &str)] = &[
    ("mokume.h", include_str!("../../../runtime/mokume.h")),
    ("mokume.c", include_str!("../../../runtime/mokume.c")),
    ("mk_agenda.c", include_str!("../../../runtime/mk_agenda.c")),
    ("mk_agenda.h", include_str!("../../../runtime/mk_agenda.h")),
    ("mk_arith.h", include_str!("../../../runtime/mk_arith.h")),
    ("mk_base.h", include_str!("../../../runtime/mk_base.h")),
    ("mk_cells.h", include_str!("../../../runtime/mk_cells.h")),
    ("mk_core.c", include_str!("../../../runtime/mk_core.c")),
    ("mk_core.h", include_str!("../../../runtime/mk_core.h")),
    ("mk_direct.h", include_str!("../../../runtime/mk_direct.h")),
    ("mk_map.c", include_str!("../../../runtime/mk_map.c")),
    ("mk_map.h", include_str!("../../../runtime/mk_map.h")),
    ("mk_object.c", include_str!("../../../runtime/mk_object.c")),
    ("mk_object.h", include_str!("../../../runtime/mk_object.h")),
    ("mk_octets.c", include_str!("../../../runtime/mk_octets.c")),
    ("mk_octets.h", include_str!("../../../runtime/mk_octets.h")),
    ("mk_pool.c", include_str!("../../../runtime/mk_pool.c")),
    ("mk_pool.h", include_str!("../../../runtime/mk_pool.h")),
    ("mk_random.h", include_str!("../../../runtime/mk_random.h")),
    ("mk_stack.h", include_str!("../../../runtime/mk_stack.h")),
    ("mk_wheel.c", include_str!("../../../runtime/mk_wheel.c")),
    ("mk_wheel.h", include_str!("../../../runtime/mk_wheel.h")),
];

/// Faults that can be planted in the runtime (`MK_FAULT` in `runtime/`), by number; see [`crate::Build::faults`].
pub const RUNTIME_FAULTS: &[&str] = &[
    "map_capacity",
    "map_removal",
    "timer_order",
    "timer_rounding",
    "copy_on_encode",
    "copy_on_write",
    "carry_report",
    "borrow_report",
    "seq_compare",
    "channel_order",
    "settle_limit",
    "generation",
    "walk_ended",
    "quota_give",
    "held_count",
    "split_place",
    "sum_odd",
    "draw",
];
