//! Progress on standard error for work that takes longer than a second.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// A count of work done. Draws nothing where there is no terminal, and nothing in the first second.
pub struct Progress {
    bar: ProgressBar,
    /// A transfer that is over within a second would only flicker, so drawing starts after one.
    visible: bool,
    drawn: AtomicBool,
}

impl Progress {
    /// Progress over `bytes` of a transfer.
    #[must_use]
    pub fn bytes(what: &str, bytes: u64, visible: bool) -> Self {
        Self::new(what, bytes, visible, "{msg} {bytes}/{total_bytes} {binary_bytes_per_sec} {eta} left")
    }

    /// Progress over `number` things.
    #[must_use]
    pub fn things(what: &str, number: u64, visible: bool) -> Self {
        Self::new(what, number, visible, "{msg} {pos}/{len}")
    }

    fn new(what: &str, length: u64, visible: bool, template: &str) -> Self {
        let bar = ProgressBar::with_draw_target(Some(length), ProgressDrawTarget::hidden());
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        bar.set_message(super::escape(what).into_owned());
        Self { bar, visible, drawn: AtomicBool::new(false) }
    }

    /// It is `number` in all, as is known only now.
    pub fn expect(&self, number: u64) {
        self.bar.set_length(number);
    }

    /// `amount` more is done.
    pub fn advance(&self, amount: u64) {
        let due = self.visible && self.bar.elapsed() >= Duration::from_secs(1);
        if due && !self.drawn.swap(true, Ordering::Relaxed) {
            self.bar.set_draw_target(ProgressDrawTarget::stderr_with_hz(5));
        }
        self.bar.inc(amount);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
