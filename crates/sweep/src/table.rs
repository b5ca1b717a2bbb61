//! The table of a series: for each job and direction, one line per point.

use std::fmt::Write as _;

use ferrio_compare::{Figure, FigureSummary, JobSummary, aligned};
use ferrio_job::in_one_line;
use ferrio_report::{Unit, grouped};

use crate::knee::{Knee, knee};
use crate::point::SweepPoint;
use crate::variable::SweepVariable;

/// The format of the table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TableFormat {
    /// Columns for a terminal.
    #[default]
    Text,
    /// Tables of Markdown.
    Markdown,
    /// One line per job, direction and point, with full numbers.
    Csv,
}

impl TableFormat {
    /// The words of `--output-format`.
    pub const WORDS: [(&'static str, TableFormat); 3] =
        [("table", TableFormat::Text), ("markdown", TableFormat::Markdown), ("csv", TableFormat::Csv)];

    /// The format that a word names.
    #[must_use]
    pub fn of_word(word: &str) -> Option<Self> {
        TableFormat::WORDS.into_iter().find(|(other, _)| *other == word).map(|(_, format)| format)
    }
}

/// The results of a point.
#[derive(Clone, Debug)]
pub struct PointResults {
    /// The point.
    pub point: SweepPoint,
    /// Number of runs.
    pub runs: usize,
    /// The figures of the jobs.
    pub jobs: Vec<JobSummary>,
}

/// The figures of all points.
#[derive(Clone, Debug)]
pub struct SweepTable {
    /// Names of the columns that distinguish the points.
    axes: Vec<String>,
    sections: Vec<TableSection>,
}

/// The rows of one direction of a job.
#[derive(Clone, Debug)]
struct TableSection {
    jobname: String,
    number: usize,
    direction: &'static str,
    rows: Vec<TableRow>,
    knee: Option<Knee>,
}

/// The figures of a point.
#[derive(Clone, Debug)]
struct TableRow {
    cells: Vec<String>,
    runs: usize,
    figures: Vec<Option<FigureSummary>>,
}

/// A column with a figure.
struct FigureColumn {
    title: &'static str,
    /// Title in CSV.
    key: &'static str,
    unit: Unit,
    value: fn(&JobSummary) -> Option<FigureSummary>,
}

const fn column(
    title: &'static str,
    key: &'static str,
    unit: Unit,
    value: fn(&JobSummary) -> Option<FigureSummary>,
) -> FigureColumn {
    FigureColumn { title, key, unit, value }
}

static COLUMNS: [FigureColumn; 6] = [
    column("IOPS", "iops", Unit::PerSecond, |job| job.figure(Figure::Iops)),
    column("bandwidth", "bw_bytes_per_s", Unit::BytesPerSecond, |job| job.figure(Figure::Bandwidth)),
    column("mean", "lat_mean_ns", Unit::Nanoseconds, |job| job.figure(Figure::MeanLatency)),
    column("p50", "lat_p50_ns", Unit::Nanoseconds, |job| job.figure(Figure::Percentile(50.0))),
    column("p99", "lat_p99_ns", Unit::Nanoseconds, |job| job.figure(Figure::Percentile(99.0))),
    column("CPU/IO", "cpu_per_io_ns", Unit::Nanoseconds, |job| job.cpu_ns),
];

impl SweepTable {
    /// The table of the given points, which differ in their job files or in these variables. Points without runs are left out.
    #[must_use]
    pub fn new(variables: &[SweepVariable], measured: &[PointResults]) -> Self {
        let has_files = measured.iter().any(|one| one.point.jobs.file.is_some());
        let file = has_files.then(|| "file".to_owned());
        let rows = measured.iter().filter(|one| one.runs > 0).flat_map(|one| {
            one.jobs.iter().map(|job| {
                let row = TableRow {
                    cells: one.point.cells().into_iter().map(str::to_owned).collect(),
                    runs: one.runs,
                    figures: COLUMNS.iter().map(|column| (column.value)(job)).collect(),
                };
                ((job.jobname.as_str(), job.number, job.direction), row)
            })
        });
        let section = |((jobname, number, direction), rows): ((&str, _, _), _)| TableSection {
            jobname: jobname.to_owned(),
            number,
            direction,
            rows,
            knee: None,
        };
        let mut sections: Vec<TableSection> = grouped(rows).into_iter().map(section).collect();
        if let ([only], false) = (variables, has_files)
            && only.is_load()
            && only.ascends()
        {
            // Clones have several entries, none of which has the throughput of all.
            let has_clones =
                |name: &str| sections.iter().any(|section| section.jobname == name && section.number > 0);
            let knees: Vec<Option<Knee>> = sections
                .iter()
                .map(|section| section.find_knee().filter(|_| !has_clones(&section.jobname)))
                .collect();
            sections.iter_mut().zip(knees).for_each(|(section, knee)| section.knee = knee);
        }
        let axes = file.into_iter().chain(variables.iter().map(|variable| variable.name.clone())).collect();
        SweepTable { axes, sections }
    }

    /// Whether there are no figures.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.sections.is_empty()
    }

    /// The table in the given format.
    #[must_use]
    pub fn show(&self, format: TableFormat) -> String {
        match format {
            TableFormat::Text => self.text(),
            TableFormat::Markdown => self.markdown(),
            TableFormat::Csv => self.csv(),
        }
    }

    fn text(&self) -> String {
        let mut out = String::new();
        for (index, section) in self.sections.iter().enumerate() {
            let gap = if index > 0 { "\n" } else { "" };
            line(&mut out, &format!("{gap}{}", section.title()));
            let rows = self.rows(section);
            // Names of points are on the left, the mark of the knee as well.
            let last = rows[0].len() - 1;
            out += &aligned(&rows, |at| at < self.axes.len() || at == last);
            section.remark(&self.axes).iter().for_each(|remark| line(&mut out, &format!("  {remark}")));
        }
        out
    }

    fn markdown(&self) -> String {
        let mut out = String::new();
        for (index, section) in self.sections.iter().enumerate() {
            let gap = if index > 0 { "\n" } else { "" };
            line(&mut out, &format!("{gap}**{}**\n", section.title()));
            let rows = self.rows(section);
            let escaped = |row: &[String]| {
                let cells: Vec<String> = row.iter().map(|cell| cell.replace('|', "\\|")).collect();
                format!("| {} |", cells.join(" | "))
            };
            line(&mut out, &escaped(&rows[0]));
            let signs = (0..rows[0].len()).map(|at| if at < self.axes.len() { "---|" } else { "---:|" });
            line(&mut out, &format!("|{}", signs.collect::<String>()));
            rows[1..].iter().for_each(|row| line(&mut out, &escaped(row)));
            section.remark(&self.axes).iter().for_each(|remark| line(&mut out, &format!("\n{remark}")));
        }
        out
    }

    /// The title row, and the cells of each point.
    fn rows(&self, section: &TableSection) -> Vec<Vec<String>> {
        let titles = COLUMNS.iter().map(|column| column.title.to_owned());
        let mut title: Vec<String> =
            self.axes.iter().cloned().chain(["runs".to_owned()]).chain(titles).collect();
        title.push(String::new());
        let cells = section.rows.iter().enumerate().map(|(index, row)| {
            let figures =
                row.figures.iter().zip(&COLUMNS).map(|(figure, column)| shown(*figure, column.unit));
            let mut cells: Vec<String> =
                row.cells.iter().cloned().chain([row.runs.to_string()]).chain(figures).collect();
            let is_knee = section.knee == Some(Knee::At(index));
            cells.push(if is_knee { "<- knee".to_owned() } else { String::new() });
            cells
        });
        let mut rows: Vec<Vec<String>> = std::iter::once(title).chain(cells).collect();
        if !matches!(section.knee, Some(Knee::At(_))) {
            rows.iter_mut().for_each(|row| row.truncate(row.len() - 1));
        }
        rows
    }

    fn csv(&self) -> String {
        let mut writer = csv::Writer::from_writer(Vec::new());
        let figures =
            COLUMNS.iter().flat_map(|column| [column.key.to_owned(), format!("{}_dev_percent", column.key)]);
        let title = ["job", "number", "direction"].map(str::to_owned).into_iter();
        let title = title.chain(self.axes.iter().cloned()).chain(["runs".to_owned()]).chain(figures);
        // Writing to memory does not fail, and all lines are equally long.
        let _ = writer.write_record(title.chain(["knee".to_owned()]));
        for section in &self.sections {
            for (index, row) in section.rows.iter().enumerate() {
                let figures = row.figures.iter().flat_map(|figure| {
                    let text =
                        |value: Option<f64>| value.map(|value| format!("{value:.3}")).unwrap_or_default();
                    [text(figure.map(|one| one.value)), text(figure.and_then(|one| one.deviation))]
                });
                let job = [section.jobname.clone(), section.number.to_string(), section.direction.to_owned()];
                let knee = u8::from(section.knee == Some(Knee::At(index))).to_string();
                let cells = job.into_iter().chain(row.cells.iter().cloned()).chain([row.runs.to_string()]);
                let _ = writer.write_record(cells.chain(figures).chain([knee]));
            }
        }
        String::from_utf8(writer.into_inner().unwrap_or_default()).unwrap_or_default()
    }
}

impl TableSection {
    fn title(&self) -> String {
        let number = if self.number > 0 { format!(" #{}", self.number + 1) } else { String::new() };
        format!("{}{number} ({})", in_one_line(&self.jobname), self.direction)
    }

    fn find_knee(&self) -> Option<Knee> {
        let at = |row: &TableRow, title| {
            let column = COLUMNS.iter().position(|column| column.title == title)?;
            row.figures[column].map(|figure| figure.value)
        };
        let points: Option<Vec<(f64, f64)>> =
            self.rows.iter().map(|row| Some((at(row, "IOPS")?, at(row, "mean")?))).collect();
        knee(&points?)
    }

    /// The line after the table.
    fn remark(&self, axes: &[String]) -> Option<String> {
        match (self.knee?, axes) {
            (Knee::At(_), _) => {
                Some("knee: IOPS per mean latency is largest here; more load costs more latency than it gains IOPS".to_owned())
            }
            (Knee::Beyond, [axis]) => {
                let last = &self.rows.last()?.cells[0];
                Some(format!("no knee up to {axis}={last}: IOPS still grow faster than latency"))
            }
            (Knee::Beyond, _) => None,
        }
    }
}

fn shown(figure: Option<FigureSummary>, unit: Unit) -> String {
    let Some(FigureSummary { value, deviation }) = figure else { return "-".to_owned() };
    let deviation = deviation.map(|percent| format!(" ±{percent:.1}%")).unwrap_or_default();
    format!("{}{deviation}", unit.text(value))
}

fn line(out: &mut String, text: &str) {
    // Writing to a string does not fail.
    let _ = writeln!(out, "{text}");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::point::{PointJobs, points};

    fn job(
        jobname: &str,
        direction: &'static str,
        iops: f64,
        mean: f64,
        deviation: Option<f64>,
    ) -> JobSummary {
        let one = |value: f64| FigureSummary { value, deviation };
        JobSummary {
            jobname: jobname.to_owned(),
            number: 0,
            direction,
            figures: vec![
                (Figure::Iops, one(iops)),
                (Figure::Bandwidth, one(iops * 4096.0)),
                (Figure::MeanLatency, one(mean)),
                (Figure::Percentile(50.0), one(mean * 0.9)),
                (Figure::Percentile(99.0), one(mean * 3.0)),
            ],
            cpu_ns: Some(one(2500.0)),
        }
    }

    fn table(sweeps: &[&str], runs: usize) -> SweepTable {
        let variables: Vec<SweepVariable> =
            sweeps.iter().map(|text| SweepVariable::parse(text).unwrap()).collect();
        let all = points(vec![PointJobs::default()], &variables).unwrap().into_iter().enumerate().map(
            |(index, point)| {
                let depth = f64::from(1 << index);
                let deviation = (runs > 1).then_some(1.25);
                let (iops, mean) = (depth.min(4.0) * 12_345.0, depth.max(4.0) * 20_000.0);
                let jobs = vec![
                    job("mail", "read", iops, mean, deviation),
                    job("mail", "write", iops, mean, deviation),
                ];
                PointResults { point, runs, jobs: if index == 1 { jobs[..1].to_vec() } else { jobs } }
            },
        );
        SweepTable::new(&variables, &all.collect::<Vec<_>>())
    }

    #[test]
    fn a_sweep_of_load_has_its_knee() {
        insta::assert_snapshot!(table(&["iodepth=1..16"], 5).show(TableFormat::Text));
    }

    #[test]
    fn a_sweep_of_two_options_as_markdown() {
        insta::assert_snapshot!(table(&["iodepth=1,2", "ioengine=a|b,c"], 1).show(TableFormat::Markdown));
    }

    #[test]
    fn csv_has_full_numbers() {
        insta::assert_snapshot!(table(&["iodepth=1,2,4,8"], 2).show(TableFormat::Csv));
    }

    #[test]
    fn repetitions_alone_have_one_line() {
        insta::assert_snapshot!(table(&[], 3).show(TableFormat::Text));
    }

    #[test]
    fn a_knee_that_is_not_reached_is_no_knee() {
        let text = table(&["iodepth=1..4"], 1).show(TableFormat::Text);
        assert!(text.contains("no knee up to iodepth=4: IOPS still grow faster than latency"), "{text}");
        let blocks = table(&["bs=1..16"], 1).show(TableFormat::Text);
        assert!(!blocks.contains("knee"), "{blocks}");
    }

    #[test]
    fn clones_have_no_knee() {
        let variables = [SweepVariable::parse("numjobs=1..4").unwrap()];
        let all = points(vec![PointJobs::default()], &variables).unwrap().into_iter().map(|point| {
            let clone = JobSummary { number: 1, ..job("a", "read", 1.0, 2.0, None) };
            PointResults { point, runs: 1, jobs: vec![job("a", "read", 1.0, 2.0, None), clone] }
        });
        let text = SweepTable::new(&variables, &all.collect::<Vec<_>>()).show(TableFormat::Text);
        assert!(text.contains("a #2 (read)") && !text.contains("knee"), "{text}");
    }

    #[test]
    fn points_without_runs_have_no_line() {
        let variables = [SweepVariable::parse("iodepth=1").unwrap()];
        let point = points(vec![PointJobs::default()], &variables).unwrap().remove(0);
        assert!(SweepTable::new(&variables, &[PointResults { point, runs: 0, jobs: Vec::new() }]).is_empty());
    }
}
