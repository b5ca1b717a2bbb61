//! What jobs do: which blocks, in which order, when they begin and end, and with which rights.

mod buffers;
mod file_options;
mod files;
mod held_devices;
mod large_blocks;
mod lifecycle;
mod limits;
mod offsets;
mod priorities;
mod random_offsets;
mod several_processes;
mod sprandom;
mod steadystate;
mod workers;
mod zones;
