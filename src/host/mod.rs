//! This machine: units, holders of the registry, the interlock, and the atomic exchange.
