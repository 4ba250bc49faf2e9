//! Telling systemd (`sd_notify`): ready, nothing to do, and stopping. Nothing is said where nobody asked.

use std::collections::BTreeMap;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};

/// Where systemd listens, when this process was started by it with `Type=notify`.
#[derive(Debug)]
pub(super) struct Notify(Option<(UnixDatagram, SocketAddr)>);

impl Notify {
    /// As `NOTIFY_SOCKET` says: a path, or an abstract name after `@`.
    pub(super) fn new(env: &BTreeMap<String, String>) -> Self {
        let address = env.get("NOTIFY_SOCKET").and_then(|name| match name.strip_prefix('@') {
            Some(name) => SocketAddr::from_abstract_name(name).ok(),
            None => SocketAddr::from_pathname(name).ok(),
        });
        Self(address.and_then(|address| Some((UnixDatagram::unbound().ok()?, address))))
    }

    /// The loops are armed.
    pub(super) fn ready(&self) {
        self.say("READY=1");
    }

    /// There is nothing to do here, and that is right: a unit that ends without ever having been ready would have failed.
    pub(super) fn nothing_to_do(&self, why: &str) {
        self.say(&format!("READY=1\nSTATUS={}", why.replace('\n', " ")));
    }

    /// It was told to stop.
    pub(super) fn stopping(&self) {
        self.say("STOPPING=1");
    }

    fn say(&self, what: &str) {
        if let Some((socket, address)) = &self.0 {
            // systemd not listening any more is systemd's to notice.
            let _ = socket.send_to_addr(what.as_bytes(), address);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_kinds_of_socket_are_heard() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("notify");
        let name = format!("carlosctl-test-{}", std::process::id());
        let by_path = UnixDatagram::bind(&path).expect("bound");
        let by_name = UnixDatagram::bind_addr(&SocketAddr::from_abstract_name(&name).expect("a name")).expect("bound");
        for (socket, address) in [(by_path, path.display().to_string()), (by_name, format!("@{name}"))] {
            let notify = Notify::new(&BTreeMap::from([("NOTIFY_SOCKET".to_owned(), address)]));
            notify.ready();
            let mut heard = [0; 32];
            let length = socket.recv(&mut heard).expect("heard");
            assert_eq!(&heard[..length], b"READY=1");
        }
        Notify::new(&BTreeMap::new()).ready();
    }
}
