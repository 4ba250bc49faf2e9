//! SQLite: what is in a registry (formats.md section 4).
