//! The methods of an engine that engines around it leave as they are.

/// Forwards these methods of [`ferrio_engine::Engine`] to the engine in the field `$field`.
macro_rules! forward_to_engine {
    ($field:tt) => {
        fn connect(&mut self, stopped: &dyn Fn() -> bool) -> Result<(), ferrio_engine::EngineError> {
            self.$field.connect(stopped)
        }

        fn lost_reads(&self) -> u64 {
            self.$field.lost_reads()
        }

        fn is_full(&self) -> bool {
            self.$field.is_full()
        }

        fn execution_times(&self, unit: u32) -> Option<ferrio_engine::ExecutionTimes> {
            self.$field.execution_times(unit)
        }

        fn failure_details(&self, unit: u32) -> Option<String> {
            self.$field.failure_details(unit)
        }

        fn usage(&mut self) -> ferrio_stats::ThreadUsage {
            self.$field.usage()
        }

        fn think_time(&self) -> Option<std::time::Duration> {
            self.$field.think_time()
        }

        fn interrupter(&mut self) -> Option<ferrio_engine::Interrupter> {
            self.$field.interrupter()
        }

        fn optimisations(&self) -> ferrio_job::Optimisations {
            self.$field.optimisations()
        }

        fn notes(&mut self) -> Vec<ferrio_job::Diagnostic> {
            self.$field.notes()
        }

        fn notes_at_end(&mut self) -> Vec<ferrio_job::Diagnostic> {
            self.$field.notes_at_end()
        }
    };
}

pub(crate) use forward_to_engine;
