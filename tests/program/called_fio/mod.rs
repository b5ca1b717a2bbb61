//! Called `fio`: what its users and scripts see is what fio shows them.

mod behaviour;
mod helper_programs;
mod identity;
mod parsing;
mod streams;
