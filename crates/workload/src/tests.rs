//! Tests of whole jobs: sequences recorded from fio, properties of random jobs, and a slow model.

mod fetched;
mod jobs;
mod properties;
mod recorded;
mod recorded_choices;
mod recorded_files;
mod recorded_lengths;
mod recorded_zones;
mod reference;
pub(crate) mod support;

pub(crate) use jobs::any_job;
