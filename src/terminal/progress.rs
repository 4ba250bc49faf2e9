//! Progress on standard error for work that takes longer than a second.

use std::fmt::{self, Write as _};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use tokio::runtime::Handle;
use tokio::task::AbortHandle;

use super::{age, bytes};

/// A transfer that is over within this time would only flicker.
const QUIET: Duration = Duration::from_secs(1);
/// How often the line is written again: also where nothing moves, so that its clock does.
const REDRAWN_EVERY: Duration = Duration::from_millis(250);

/// One line of work done: how much of how much, how fast, how long still. Draws nothing where there is no terminal, and
/// nothing in the first second; gone when dropped.
pub struct Progress {
    bar: ProgressBar,
    begins: Option<AbortHandle>,
}

/// What is counted.
enum Counted {
    Bytes,
    /// Things; until their number is known, what the words say.
    Things(Words),
    /// Nothing that has an end known beforehand.
    Open(Words),
}

/// Says how far something is that has no number.
type Words = Box<dyn Fn() -> String + Send + Sync>;

impl Progress {
    /// Progress over `bytes` of a transfer. `what` is foreign text or our own.
    #[must_use]
    pub fn bytes(what: &str, bytes: u64, visible: bool) -> Self {
        Self::new(what, bytes, Counted::Bytes, visible)
    }

    /// Progress over `number` things; where that is 0 it is not known yet, and `before` says what is going on.
    #[must_use]
    pub fn things(what: &str, number: u64, before: impl Fn() -> String + Send + Sync + 'static, visible: bool) -> Self {
        Self::new(what, number, Counted::Things(Box::new(before)), visible)
    }

    /// Progress of work whose end is not known. `words` say how far it is; they may be empty.
    #[must_use]
    pub fn open(what: &str, words: impl Fn() -> String + Send + Sync + 'static, visible: bool) -> Self {
        Self::new(what, 0, Counted::Open(Box::new(words)), visible)
    }

    /// Progress that nobody is shown.
    #[must_use]
    pub fn hidden() -> Self {
        Self { bar: ProgressBar::hidden(), begins: None }
    }

    fn new(what: &str, length: u64, counted: Counted, visible: bool) -> Self {
        let bar = ProgressBar::with_draw_target(Some(length), ProgressDrawTarget::hidden());
        if let Ok(style) = ProgressStyle::with_template("{msg}: {words}") {
            let counted = std::sync::Arc::new(counted);
            let words = move |state: &ProgressState, out: &mut dyn fmt::Write| {
                let _ = out.write_str(&words(&counted, &At::of(state)));
            };
            bar.set_style(style.with_key("words", words));
        }
        bar.set_message(super::escape(what).into_owned());
        // Without a runtime nobody waits either.
        let runtime = Handle::try_current().ok().filter(|_| visible);
        let begins = runtime.map(|runtime| {
            let bar = bar.clone();
            let begin = async move {
                tokio::time::sleep(QUIET).await;
                bar.set_draw_target(ProgressDrawTarget::stderr_with_hz(5));
                bar.enable_steady_tick(REDRAWN_EVERY);
            };
            runtime.spawn(begin).abort_handle()
        });
        Self { bar, begins }
    }

    /// It is `number` in all, as is known only now.
    pub fn expect(&self, number: u64) {
        self.bar.set_length(number);
    }

    /// `amount` more is done.
    pub fn advance(&self, amount: u64) {
        self.bar.inc(amount);
    }

    /// Does something that writes to the terminal, with the line out of its way.
    pub fn aside<T>(&self, work: impl FnOnce() -> T) -> T {
        self.bar.suspend(work)
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(begins) = self.begins.take() {
            begins.abort();
        }
        self.bar.finish_and_clear();
    }
}

/// How far it is.
struct At {
    done: u64,
    of: u64,
    per_second: f64,
    left: Duration,
    elapsed: Duration,
}

impl At {
    fn of(state: &ProgressState) -> Self {
        Self {
            done: state.pos(),
            of: state.len().unwrap_or_default(),
            per_second: state.per_sec(),
            left: state.eta(),
            elapsed: state.elapsed(),
        }
    }
}

fn words(counted: &Counted, at: &At) -> String {
    let so_far = format!("{} so far", seconds(at.elapsed));
    match counted {
        Counted::Bytes if at.of > 0 && at.done >= at.of => format!("{}, checking; {so_far}", bytes(at.done)),
        Counted::Bytes if at.of == 0 => format!("{}, {}/s", bytes(at.done), bytes(whole(at.per_second))),
        Counted::Bytes => {
            format!("{} of {}, {}/s{}", bytes(at.done), bytes(at.of), bytes(whole(at.per_second)), left(at))
        }
        Counted::Things(_) if at.of > 0 => format!("{} of {}, {}/s{}", at.done, at.of, rate(at.per_second), left(at)),
        Counted::Things(words) | Counted::Open(words) => match words().as_str() {
            "" => so_far,
            words => format!("{words}; {so_far}"),
        },
    }
}

/// Not known before the first is done.
fn left(at: &At) -> String {
    if at.done == 0 { String::new() } else { format!(", {} left", seconds(at.left)) }
}

fn seconds(duration: Duration) -> String {
    age(i64::try_from(duration.as_secs()).unwrap_or(i64::MAX))
}

/// Few are told with a digit more.
fn rate(per_second: f64) -> String {
    let mut text = String::new();
    let _ = if per_second < 10.0 { write!(text, "{per_second:.1}") } else { write!(text, "{per_second:.0}") };
    text
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a rate that is shown; saturates")]
fn whole(per_second: f64) -> u64 {
    per_second as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(done: u64, of: u64) -> At {
        At { done, of, per_second: 2.5, left: Duration::from_secs(90), elapsed: Duration::from_secs(3) }
    }

    #[test]
    fn size_rate_and_time_left_are_said_as_far_as_they_are_known() {
        let listing = || Counted::Open(Box::new(|| "2000 listed".to_owned()));
        let things = || Counted::Things(Box::new(|| "9 listed".to_owned()));
        let fast = At { per_second: 3.0 * 1024.0 * 1024.0, ..at(1024, 4096) };
        assert_eq!(words(&Counted::Bytes, &fast), "1.0 KiB of 4.0 KiB, 3.0 MiB/s, 1 min left");
        assert_eq!(words(&Counted::Bytes, &at(0, 4096)), "0 B of 4.0 KiB, 2 B/s");
        assert_eq!(words(&Counted::Bytes, &at(4096, 4096)), "4.0 KiB, checking; 3 s so far");
        assert_eq!(words(&Counted::Bytes, &at(7, 0)), "7 B, 2 B/s");
        assert_eq!(words(&things(), &at(3, 40)), "3 of 40, 2.5/s, 1 min left");
        assert_eq!(words(&things(), &at(0, 0)), "9 listed; 3 s so far");
        assert_eq!(words(&listing(), &at(0, 0)), "2000 listed; 3 s so far");
        assert_eq!(words(&Counted::Open(Box::new(String::new)), &at(0, 0)), "3 s so far");
        assert_eq!((rate(0.04), rate(12.6)), ("0.0".to_owned(), "13".to_owned()));
    }
}
