//! What is known of headers before the event comes.

pub mod template;
