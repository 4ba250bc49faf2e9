//! At a real terminal: what is asked and typed, what is painted, how wide it is, and what is seen while it takes its time.

mod colour;
mod progress;
mod prompts;
mod tables;
