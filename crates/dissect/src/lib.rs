//! What the layers of a stack say of a packet that comes up, whatever their state: which it cannot but drop, what goes on upwards,
//! and where in the packet that lies.
//!
//! [`steps`] is a handler's body as a list of what is known without the state; [`walk`] follows a packet through the handlers of
//! one wire's layers. What the state decides is followed both ways. The same steps are written for others to follow: they decide
//! alike, as what is not known is a step too.
//!
//! Keeps: what is said to be dropped is dropped in every state; what is not known is never guessed.

pub mod names;
pub mod steps;
pub mod walk;
