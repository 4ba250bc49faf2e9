//! The file that says which mutant is on.

use std::fs;
use std::io;
use std::path::Path;

const FILE: &str = "mutant-that-is-on";

/// Turns one mutant on; 0 is none.
pub(crate) fn choose(directory: &Path, number: usize) -> io::Result<()> {
    fs::write(directory.join(FILE), number.to_string())
}

/// The module that the mutated program asks.
pub(crate) fn module(directory: &Path) -> String {
    let file = directory.join(FILE);
    format!(
        "//! Which mutant is on.\n\
         use std::sync::OnceLock;\n\
         static CHOSEN: OnceLock<u32> = OnceLock::new();\n\
         pub(crate) fn is_on(number: u32) -> bool {{\n\
             *CHOSEN.get_or_init(|| std::fs::read_to_string({file:?}).ok().and_then(|text| text.parse().ok()).unwrap_or(0)) == number\n\
         }}\n"
    )
}
