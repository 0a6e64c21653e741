//! The first octet of each request to a program of stacks, as `harness.c` reads it.

pub(crate) const MAKE: u8 = 1;
pub(crate) const START: u8 = 2;
pub(crate) const INPUT: u8 = 3;
pub(crate) const ADVANCE: u8 = 4;
pub(crate) const NEXT_DEADLINE: u8 = 5;
pub(crate) const ACCOUNTS: u8 = 6;
pub(crate) const COVERAGE: u8 = 7;
pub(crate) const FREE: u8 = 8;
pub(crate) const SET_FAULT: u8 = 9;
pub(crate) const RESET: u8 = 10;
pub(crate) const PROGRESS: u8 = 11;
