//! CARLOS's nouns and documents, exactly as formats.md spells them. Knows nothing of stores, hosts or commands.

mod label;
mod stamp;

pub mod keys;

pub use label::{Label, LabelError};
pub use stamp::{Stamp, StampError};
