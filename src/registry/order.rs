//! SQLite's own order of values, so that two sorted scans can be walked side by side.

use std::cmp::Ordering;

use super::Value;

/// The order of SQLite's `COLLATE BINARY`: NULL, numbers by value, text by bytes, bytes.
pub(super) fn sqlite_order(one: &Value, other: &Value) -> Ordering {
    match (one, other) {
        (Value::Integer(one), Value::Integer(other)) => one.cmp(other),
        (Value::Real(one), Value::Real(other)) => one.partial_cmp(other).unwrap_or(Ordering::Equal),
        (Value::Integer(whole), Value::Real(real)) => whole_and_real(*whole, *real),
        (Value::Real(real), Value::Integer(whole)) => whole_and_real(*whole, *real).reverse(),
        _ => (rank(one), bytes(one)).cmp(&(rank(other), bytes(other))),
    }
}

/// Exact, where a conversion to floating point would make two large numbers equal.
fn whole_and_real(whole: i64, real: f64) -> Ordering {
    const BEYOND: f64 = 9_223_372_036_854_775_808.0;
    if real >= BEYOND {
        Ordering::Less
    } else if real < -BEYOND {
        Ordering::Greater
    } else {
        #[expect(clippy::cast_possible_truncation, reason = "cut off on purpose, and within range")]
        let cut = real.trunc() as i64;
        whole.cmp(&cut).then_with(|| 0.0_f64.partial_cmp(&real.fract()).unwrap_or(Ordering::Equal))
    }
}

fn rank(value: &Value) -> u8 {
    match value {
        Value::Null => 0,
        Value::Integer(_) | Value::Real(_) => 1,
        Value::Text(_) | Value::BadText(_) => 2,
        Value::Blob(_) => 3,
    }
}

fn bytes(value: &Value) -> &[u8] {
    match value {
        Value::Null | Value::Integer(_) | Value::Real(_) => &[],
        Value::Text(text) => text.as_bytes(),
        Value::BadText(bytes) | Value::Blob(bytes) => bytes,
    }
}
