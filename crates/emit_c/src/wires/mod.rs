//! Decoders and encoders of wires.

mod common;
mod decode;
mod decoder;
mod encode;
mod encoder;
mod joined;
mod lists;
mod options;

use mokume_reaction::WireId;

use crate::plan::Plan;
use crate::text::Text;
pub(crate) use common::is_too_long;

/// A wire's decoder and encoder.
pub(crate) fn write(plan: &Plan, id: WireId, text: &mut Text) {
    let (stack, name) = (&plan.names.stack, &plan.names.wires[id.index()]);
    decode::write(plan, id, text);
    text.lines(&format!(
        "static MK_UNUSED uint32_t decode_{name}(struct {stack} *k, mk_message *m)\n{{\n    return read_{name}(k, m, false);\n}}\n\n\
         static MK_UNUSED uint32_t validate_{name}(struct {stack} *k, mk_message *m)\n{{\n    return read_{name}(k, m, true);\n}}\n"
    ));
    encode::write(plan, id, text);
}
