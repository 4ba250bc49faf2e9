//! CARLOS's nouns and documents, exactly as formats.md spells them. Knows nothing of stores, hosts or commands.

mod fields;
mod label;
mod stamp;

pub mod box_report;
pub mod document;
pub mod go;
pub mod keys;
pub mod sidecar;

pub use box_report::{BoxMetrics, BoxReport, HostBuilds};
pub use document::{Document, DocumentError};
pub use fields::Fields;
pub use label::{Label, LabelError};
pub use sidecar::{Sidecar, SidecarError};
pub use stamp::{Stamp, StampError};
