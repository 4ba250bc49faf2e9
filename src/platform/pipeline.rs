//! An app's pipeline (formats.md section 5): its channels, and how long a version bakes before each.

use jiff::SignedDuration;
use serde::{Deserialize, Serialize};

use super::document::{Document, DocumentError};
use super::go;

/// An app's channels in order; never empty.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pipeline {
    /// The channels.
    pub channels: Vec<PipelineChannel>,
}

/// One channel of a pipeline.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PipelineChannel {
    /// Its name.
    pub name: String,
    /// How long a version bakes; never negative.
    pub bake: SignedDuration,
    /// The bake as the pipeline spells it, in Go's syntax.
    pub spelled: String,
}

impl Pipeline {
    /// Reads the pipeline found at `key`. No channel at all, and a bake that is missing, negative or not in Go's syntax,
    /// are errors: a window that is not known cannot be said to be over.
    pub fn read(key: &str, bytes: &[u8]) -> Result<Self, DocumentError> {
        let document = Document::parse(key, bytes)?;
        let root = document.root();
        let mut channels = Vec::new();
        for channel in root.objects("channels")? {
            let spelled = channel.text("bake")?;
            let bake = go::parse_duration(&spelled).map_err(|because| channel.error("bake", because))?;
            if bake.is_negative() {
                return Err(channel.error("bake", format!("is {spelled}, which is negative")));
            }
            channels.push(PipelineChannel { name: channel.text("name")?, bake, spelled });
        }
        if channels.is_empty() {
            return Err(root.error("channels", "is empty"));
        }
        Ok(Self { channels })
    }

    /// Where in the list the channel with the longest bake is; the first of several.
    #[must_use]
    pub fn longest(&self) -> Option<(usize, &PipelineChannel)> {
        self.channels.iter().enumerate().rev().max_by_key(|(_, channel)| channel.bake)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Pipeline, DocumentError> {
        Pipeline::read("k", text.as_bytes())
    }

    #[test]
    fn the_longest_bake_counts() {
        let text =
            r#"{"channels":[{"name":"edge","bake":"0s"},{"name":"beta","bake":"1h30m"},{"name":"stable","bake":"90m"}]}"#;
        let pipeline = read(text).expect("a pipeline");
        let (at, longest) = pipeline.longest().expect("a channel");
        assert_eq!((at, longest.bake, longest.spelled.as_str()), (1, SignedDuration::from_mins(90), "1h30m"));
    }

    #[test]
    fn a_window_that_is_not_known_is_an_error() {
        for (text, field) in [
            (r"{}", "channels"),
            (r#"{"channels":null}"#, "channels"),
            (r#"{"channels":[]}"#, "channels"),
            (r#"{"channels":[{"name":"edge"}]}"#, "channels[0].bake"),
            (r#"{"channels":[{"name":"edge","bake":"-1s"}]}"#, "channels[0].bake"),
            (r#"{"channels":[{"name":"edge","bake":"1d"}]}"#, "channels[0].bake"),
            (r#"{"channels":[{"name":"edge","bake":3600000000000}]}"#, "channels[0].bake"),
            (r#"{"channels":[{"name":"","bake":"1h"}]}"#, "channels[0].name"),
        ] {
            assert_eq!(read(text).expect_err(text).field.as_deref(), Some(field), "{text}");
        }
    }
}
