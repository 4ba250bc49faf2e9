//! A throwaway deployment to learn on, and the fixtures of the tests: both are built by the same hands.

pub mod registry;
