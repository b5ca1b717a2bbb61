//! `steadystate` and the options below it, resolved.

use std::time::Duration;

use ferrio_job::Diagnostic;
use ferrio_jobfile::{Job, Opt, Options, whole_number};

use crate::findings::Findings;
use crate::resolve::value_origin;
use ferrio_job::{Measure, SteadyFigure, SteadyState};

/// Most checks that a window can hold: their figures are kept and reported.
const MAX_CHECKS: u128 = 1_000_000;

/// The steady state that ends the job; `None` without a duration.
pub(crate) fn steadystate(job: &Job, measure: &Measure, findings: &mut Findings) -> Option<SteadyState> {
    let options = &job.options;
    let time = |opt, default| Duration::from_micros(options.time_us(opt).unwrap_or(default));
    let duration = time(Opt::SteadystateDuration, 0);
    if duration.is_zero() {
        return None;
    }
    let choice = options.word(Opt::Steadystate);
    let word = choice.as_ref().map_or("iops_slope", |choice| choice.word);
    let argument = choice.as_ref().and_then(|choice| choice.argument).unwrap_or("0.01%").trim();
    let figure = match word.strip_suffix("_slope").unwrap_or(word) {
        "bw" => SteadyFigure::Bandwidth,
        "lat" => SteadyFigure::Latency,
        _ => SteadyFigure::Iops,
    };
    let percent = argument.strip_suffix('%');
    let limit = match (percent, figure) {
        (Some(percent), _) => percent.trim().parse().ok(),
        (None, SteadyFigure::Iops) => argument.parse().ok(),
        (None, SteadyFigure::Bandwidth) => {
            whole_number(Opt::Rate, argument, kb_base(options)).map(|bytes| bytes as f64)
        }
        (None, SteadyFigure::Latency) => nanoseconds(argument),
    };
    let state = SteadyState {
        figure,
        slope: word.ends_with("_slope"),
        limit: limit.unwrap_or(0.0),
        percent: percent.is_some(),
        duration,
        ramp: time(Opt::SteadystateRampTime, 0),
        interval: time(Opt::SteadystateCheckInterval, 1_000_000),
    };
    let refuse = |findings: &mut Findings, opt, code, message: String, help| {
        findings.refuse(Diagnostic::error(message, value_origin(options, opt)).code(code).help(help));
    };
    if limit.is_none() {
        let help = "write a number with `%`, or a number of I/Os, bytes or time";
        let message = format!("`{argument}` is no limit of a steady state");
        refuse(findings, Opt::Steadystate, "invalid-steadystate-limit", message, help);
    }
    if figure == SteadyFigure::Latency && !measure.clat {
        let message = format!("steadystate={word} needs the completion latencies, which are not measured");
        let help = "take disable_clat or gtod_reduce out, or choose `iops` or `bw`";
        refuse(findings, Opt::Steadystate, "steadystate-without-latencies", message, help);
    }
    if duration.as_micros() / state.interval.as_micros().max(1) > MAX_CHECKS {
        let message = format!("a steady state window of more than {MAX_CHECKS} checks is too long");
        let help = "give a shorter steadystate_duration or a longer steadystate_check_interval";
        refuse(findings, Opt::SteadystateDuration, "steadystate-duration-too-long", message, help);
    }
    Some(state)
}

fn kb_base(options: &Options) -> u64 {
    if options.word(Opt::KbBase).is_some_and(|choice| choice.word == "1000") { 1000 } else { 1024 }
}

/// A whole number with a unit, µs without one.
fn nanoseconds(text: &str) -> Option<f64> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    let factor = match unit.trim().to_ascii_lowercase().as_str() {
        "" | "us" | "usec" => 1e3,
        "ms" | "msec" => 1e6,
        "s" => 1e9,
        "m" => 60e9,
        "h" => 3600e9,
        "d" => 86_400e9,
        _ => return None,
    };
    number.parse::<u64>().ok().map(|number| number as f64 * factor)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{refusals, spec_of};

    fn state(options: &str) -> Option<SteadyState> {
        spec_of(&format!("[a]\nioengine=null\nsize=64k\n{options}")).steadystate
    }

    /// Criterion, limit, and whether that is a percentage.
    fn criterion(text: &str) -> (SteadyFigure, bool, f64, bool) {
        let state = state(&format!("ss={text}\nss_dur=4\n")).unwrap();
        (state.figure, state.slope, state.limit, state.percent)
    }

    #[test]
    fn without_a_duration_there_is_no_steady_state() {
        assert_eq!(state("ss=iops:10%\nss_ramp=1\n"), None);
    }

    #[test]
    fn the_default_is_an_iops_slope_of_a_hundredth_percent_checked_every_second() {
        let state = state("ss_dur=2m\nss_ramp=1500ms\n").unwrap();
        assert_eq!(
            (state.figure, state.slope, state.limit, state.percent),
            (SteadyFigure::Iops, true, 0.01, true)
        );
        let seconds = (state.duration.as_secs_f64(), state.ramp.as_secs_f64(), state.interval.as_secs_f64());
        assert_eq!(seconds, (120.0, 1.5, 1.0));
    }

    #[test]
    fn limits_are_percentages_or_of_the_kind_of_the_figure() {
        assert_eq!(criterion("iops:12.5"), (SteadyFigure::Iops, false, 12.5, false));
        assert_eq!(criterion("iops_slope:3%"), (SteadyFigure::Iops, true, 3.0, true));
        assert_eq!(criterion("bw:2m"), (SteadyFigure::Bandwidth, false, 2_097_152.0, false));
        assert_eq!(criterion("bw_slope:0.5%"), (SteadyFigure::Bandwidth, true, 0.5, true));
        assert_eq!(criterion("lat:5ms"), (SteadyFigure::Latency, false, 5e6, false));
        assert_eq!(criterion("lat_slope:100"), (SteadyFigure::Latency, true, 100e3, false));
    }

    #[test]
    fn a_steady_latency_needs_latencies() {
        let text = "[a]\nioengine=null\nsize=4k\nss=lat:10%\nss_dur=4\ngtod_reduce=1\n";
        assert_eq!(
            refusals(text),
            ["steadystate=lat needs the completion latencies, which are not measured"]
        );
    }

    #[test]
    fn a_window_has_a_size_that_can_be_kept() {
        let text = "[a]\nioengine=null\nsize=4k\nss_dur=1000001\n";
        assert_eq!(refusals(text), ["a steady state window of more than 1000000 checks is too long"]);
    }
}
