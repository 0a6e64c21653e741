//! What the layers of a stack do with an incoming packet, whatever their state: which packets they always drop, what
//! continues upwards, and where in the packet that is.
//!
//! [`steps`] turns a handler's body into a list of what is known without the state; [`walk`] follows a packet through
//! the handlers of one wire's layers. Where the state decides, both ways are followed. The same steps can be written
//! out for other programs to follow: they decide alike, as what is unknown is a step too.
//!
//! Keeps: a packet that is said to be dropped is dropped in every state; nothing unknown is guessed.

pub mod names;
pub mod reasons;
pub mod steps;
pub mod walk;
