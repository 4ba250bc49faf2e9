//! Writes every generated file of the repository again: completions/, man/, two pages of runbooks/, and the picture of the
//! README.
//!
//! ```sh
//! cargo run --example generate
//! ```

mod picture;

use std::error::Error;
use std::fs;
use std::io;
use std::path::Path;

fn main() -> Result<(), Box<dyn Error>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for directory in ["completions", "man"] {
        // What is no longer generated is gone too.
        match fs::remove_dir_all(root.join(directory)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error.into()),
            _ => fs::create_dir(root.join(directory))?,
        }
    }
    fs::create_dir_all(root.join("runbooks"))?;
    for (path, text) in carlosctl::generate::files()? {
        fs::write(root.join(path), text)?;
    }
    fs::write(root.join(picture::PATH), picture::picture()?)?;
    Ok(())
}
