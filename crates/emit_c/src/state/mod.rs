//! The data of a generated stack: header records, cells of objects, the instance.

pub(crate) mod objects;
pub(crate) mod octets;
pub(crate) mod records;
pub(crate) mod stored;
