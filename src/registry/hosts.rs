//! The hosts of one app: many short names, kept as one text. A large registry has millions of them, and each as a string of
//! its own would take twice the memory.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::RegistryError;

/// Names of hosts, in order.
#[derive(Clone, Default)]
pub struct Hosts {
    text: String,
    /// Where each begins in the text, and its length, in bytes.
    names: Vec<(u32, u32)>,
}

impl Hosts {
    /// Every name.
    #[must_use]
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &str> {
        self.names.iter().map(|name| name_in(&self.text, *name))
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// Adds one at the end.
    ///
    /// # Errors
    /// When all of them together are longer than 4 GiB.
    pub(super) fn push(&mut self, host: &str) -> Result<(), RegistryError> {
        let at = (u32::try_from(self.text.len()), u32::try_from(host.len()));
        let (Ok(begin), Ok(length)) = at else {
            return Err(RegistryError::Other("more names of hosts than can be held".to_owned()));
        };
        self.text.push_str(host);
        self.names.push((begin, length));
        Ok(())
    }

    /// Puts them in order, when all are there.
    pub(super) fn sort(&mut self) {
        let text = &self.text;
        self.names.sort_by(|one, other| name_in(text, *one).cmp(name_in(text, *other)));
        self.text.shrink_to_fit();
        self.names.shrink_to_fit();
    }
}

fn name_in(text: &str, (begin, length): (u32, u32)) -> &str {
    let begin = begin as usize;
    text.get(begin..begin + length as usize).unwrap_or_default()
}

impl<S: AsRef<str>> TryFrom<&[S]> for Hosts {
    type Error = RegistryError;

    fn try_from(names: &[S]) -> Result<Self, RegistryError> {
        let mut hosts = Self::default();
        for name in names {
            hosts.push(name.as_ref())?;
        }
        Ok(hosts)
    }
}

impl PartialEq for Hosts {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl Eq for Hosts {}

impl fmt::Debug for Hosts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl Serialize for Hosts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}

impl<'de> Deserialize<'de> for Hosts {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let names = Vec::<String>::deserialize(deserializer)?;
        Self::try_from(names.as_slice()).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_are_a_list_of_names_to_everyone_else() {
        let mut hosts = Hosts::try_from(["b.example", "", "é", "a.example", "b.example"].as_slice()).expect("few");
        hosts.sort();
        assert_eq!(hosts.iter().collect::<Vec<_>>(), ["", "a.example", "b.example", "b.example", "é"]);
        assert_eq!((hosts.len(), hosts.is_empty(), Hosts::default().is_empty()), (5, false, true));
        let json = serde_json::to_string(&hosts).expect("JSON");
        assert_eq!(json, r#"["","a.example","b.example","b.example","é"]"#);
        assert_eq!(serde_json::from_str::<Hosts>(&json).expect("it reads"), hosts);
        assert_eq!(format!("{:?}", Hosts::try_from(["a"].as_slice()).expect("one")), r#"["a"]"#);
        // The same names, put there in another order.
        let mut other = Hosts::try_from(["é", "a.example", "b.example", "b.example", ""].as_slice()).expect("few");
        assert_ne!(other, hosts);
        other.sort();
        assert_eq!(other, hosts);
    }
}
