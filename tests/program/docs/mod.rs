//! The documentation and the example jobs: what is generated is current, and what can be run works.

mod example_jobs;
mod guide;
mod links;
mod reference;
