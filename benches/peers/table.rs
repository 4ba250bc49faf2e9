//! The table, line by line as it is measured.

use std::time::Duration;

use super::measure::Taken;
use super::proxy::Counts;

/// The head of the table.
pub(crate) const HEAD: &str = "| job | size | latency | carlosctl | fastest peer | ratio | target | met | peak | requests |\n\
                               |---|---|---|---|---|---|---|---|---|---|";

/// One line of the table.
pub(crate) struct Row<'a> {
    pub(crate) job: &'a str,
    pub(crate) size: String,
    pub(crate) latency: Option<Duration>,
    /// Ours first.
    pub(crate) taken: &'a [Taken],
    pub(crate) target: f64,
    pub(crate) peak_mib: Option<u64>,
    pub(crate) requests: Option<Counts>,
}

impl Row<'_> {
    /// Prints it, and on standard error what each contender took.
    pub(crate) fn print(&self) {
        let Some((ours, peers)) = self.taken.split_first() else { return };
        let all: Vec<String> =
            self.taken.iter().map(|taken| format!("{} {} ({}×)", taken.name, seconds(taken.median()), taken.runs())).collect();
        eprintln!("peers: {} {} {}: {}", self.job, self.size, self.latency.map(words).unwrap_or_default(), all.join(", "));
        let fastest = peers.iter().min_by_key(|taken| taken.median());
        let ratio = fastest.map(|fastest| ours.median().as_secs_f64() / fastest.median().as_secs_f64());
        let cells = [
            self.job.to_owned(),
            self.size.clone(),
            self.latency.map_or_else(|| "–".to_owned(), words),
            seconds(ours.median()),
            fastest.map_or("–".to_owned(), |fastest| format!("{} {}", fastest.name, seconds(fastest.median()))),
            ratio.map_or("–".to_owned(), |ratio| format!("{ratio:.2}")),
            format!("≤ {:.2}", self.target),
            ratio.map_or("–", |ratio| if ratio <= self.target { "yes" } else { "no" }).to_owned(),
            self.peak_mib.map_or("–".to_owned(), |peak| format!("{peak} MiB")),
            self.requests.as_ref().map_or("–".to_owned(), requests),
        ];
        println!("| {} |", cells.join(" | "));
    }
}

fn words(latency: Duration) -> String {
    format!("{} ms", latency.as_millis())
}

/// A time with three digits that mean something.
pub(crate) fn seconds(taken: Duration) -> String {
    let seconds = taken.as_secs_f64();
    if seconds < 1.0 { format!("{:.0} ms", seconds * 1000.0) } else { format!("{seconds:.2} s") }
}

fn requests(counts: &Counts) -> String {
    let total: u64 = counts.values().sum();
    let kinds: Vec<String> = counts.iter().map(|(kind, number)| format!("{number} {kind}")).collect();
    format!("{total}: {}", kinds.join(", "))
}
