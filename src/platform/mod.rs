//! CARLOS's nouns and documents, exactly as formats.md spells them. Knows nothing of stores, hosts or commands.

mod fields;
mod hex;
mod label;
mod stamp;

pub mod box_report;
pub mod document;
pub mod edges;
pub mod go;
pub mod keys;
pub mod manifest;
pub mod pipeline;
pub mod pointer;
pub mod provision;
pub mod retention_record;
pub mod sidecar;
pub mod tag;

pub use box_report::{BoxMetrics, BoxReport, HostBuilds};
pub use document::{Document, DocumentError};
pub use fields::Fields;
pub use hex::hex;
pub use label::{Label, LabelError};
pub use manifest::{Artifact, Manifest, ReleaseKind};
pub use pipeline::{Pipeline, PipelineChannel};
pub use provision::ProvisionRecord;
pub use sidecar::{Sidecar, SidecarError};
pub use stamp::{Stamp, StampError};
