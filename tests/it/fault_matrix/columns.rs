//! Every command that touches the store, one way to call each, and what each may change.

/// A command as a column of the matrix.
pub(crate) struct Column {
    /// Its words, as an operator types them.
    pub(crate) name: &'static str,
    /// What follows; `@…@` is filled in.
    pub(crate) args: &'static [&'static str],
    /// Prefixes below which it may create objects, also when it fails: what it says it leaves behind.
    pub(crate) adds: &'static [&'static str],
    /// Prefixes below which it may replace objects.
    pub(crate) replaces: &'static [&'static str],
    /// Whether it deletes: only what it deletes where nothing is wrong.
    pub(crate) deletes: bool,
    /// Files beside the store that it may make or change when it ends well.
    pub(crate) files: &'static [&'static str],
    /// What its answer says only when all went well.
    pub(crate) success: &'static [&'static str],
    /// For how many seconds it goes on where all is well, or where it waits for what does not come.
    pub(crate) seconds: u64,
    /// It goes on until it is told to stop.
    pub(crate) repeats: bool,
}

const READ_ONLY: Column = Column {
    name: "",
    args: &[],
    adds: &[],
    replaces: &[],
    deletes: false,
    files: &[],
    success: &[],
    seconds: 0,
    repeats: false,
};

/// Where receipts are.
const RECEIPTS: &str = "control/carlosctl/restores/";
/// Where a store is tried out; removed again, where the store lets it.
const PROBES: &str = "control/carlosctl/probe/";

/// The columns, in the order of the page.
pub(crate) const COLUMNS: [Column; 24] = [
    Column { name: "snapshot list", args: &["--as-of", "@NOW@"], ..READ_ONLY },
    Column { name: "snapshot list --all-versions", args: &["--as-of", "@NOW@"], ..READ_ONLY },
    Column { name: "snapshot show", args: &["--box", "edge-a1", "--as-of", "@NOW@"], ..READ_ONLY },
    Column {
        name: "snapshot verify",
        args: &["--box", "edge-a1", "--all-generations", "--as-of", "@NOW@"],
        success: &["box edge-a1: good"],
        ..READ_ONLY
    },
    Column { name: "snapshot diff", args: &["--box", "edge-a1", "@OLDEST@", "current", "--as-of", "@NOW@"], ..READ_ONLY },
    Column {
        name: "snapshot pull",
        args: &["--box", "edge-a1", "--out", "@DIR@/out.db", "--as-of", "@NOW@"],
        files: &["out.db"],
        success: &["wrote"],
        ..READ_ONLY
    },
    Column {
        name: "snapshot hold",
        args: &["--box", "edge-b2"],
        adds: &["control/carlosctl/holds/edge-b2/"],
        success: &["hold 2", "use it"],
        ..READ_ONLY
    },
    Column { name: "snapshot hold list", args: &["--as-of", "@NOW@"], ..READ_ONLY },
    Column {
        name: "snapshot hold release",
        args: &["--box", "edge-a1", "@HOLD@", "--confirm", "edge-a1"],
        adds: &[PROBES],
        deletes: true,
        success: &["released"],
        ..READ_ONLY
    },
    Column {
        name: "restore --dry-run",
        args: &["--from-box", "edge-a1", "--this-box", "edge-c3", "--registry", "@DIR@/standby/registry.db", "@ALLOW@"],
        success: &["would install"],
        ..READ_ONLY
    },
    Column {
        name: "restore",
        args: &[
            "--from-box",
            "edge-a1",
            "--this-box",
            "edge-c3",
            "--registry",
            "@DIR@/standby/registry.db",
            "@ALLOW@",
            "--confirm",
            "edge-a1",
        ],
        adds: &[RECEIPTS],
        files: &["standby/"],
        success: &["installed current"],
        ..READ_ONLY
    },
    Column {
        name: "restore watch",
        args: &["--registry", "@DIR@/watched/registry.db", "--this-box", "edge-b2", "--for", "2s", "--interval", "200ms"],
        success: &[": good"],
        seconds: 2,
        ..READ_ONLY
    },
    Column {
        name: "restore undo",
        args: &["--registry", "@DIR@/watched/registry.db", "--this-box", "edge-b2", "--confirm", "edge-b2"],
        adds: &[RECEIPTS],
        files: &["watched/"],
        success: &[" back as "],
        ..READ_ONLY
    },
    Column {
        name: "drill",
        args: &["--box", "edge-a1"],
        adds: &["control/carlosctl/drills/"],
        success: &["box edge-a1: good"],
        ..READ_ONLY
    },
    Column {
        name: "doctor",
        args: &["--this-box", "edge-c3", "--registry", "@DIR@/standby/registry.db"],
        adds: &[PROBES],
        success: &["verdict: ready"],
        ..READ_ONLY
    },
    Column { name: "retention explain", args: &["--as-of", "@NOW@"], ..READ_ONLY },
    Column {
        name: "retention plan",
        args: &["--out", "@DIR@/plan.json", "--as-of", "@NOW@"],
        files: &["plan.json"],
        ..READ_ONLY
    },
    Column {
        name: "retention run",
        args: &["--confirm", "@BUCKET@"],
        adds: &["control/carlosctl/retention/", PROBES],
        deletes: true,
        success: &[],
        ..READ_ONLY
    },
    Column { name: "report list", args: &["--as-of", "@NOW@"], ..READ_ONLY },
    Column { name: "report show", args: &["--box", "edge-a1", "--as-of", "@NOW@"], ..READ_ONLY },
    Column {
        name: "box snapshot",
        args: &["--this-box", "edge-a1", "--registry", "@DIR@/live/registry.db"],
        adds: &["control/registry-snapshots/edge-a1/"],
        replaces: &["control/registry-snapshot/edge-a1."],
        deletes: true,
        success: &["published"],
        ..READ_ONLY
    },
    Column {
        name: "box report",
        args: &["--this-box", "edge-a1", "--registry", "@DIR@/live/registry.db"],
        replaces: &["status/boxes/edge-a1.json"],
        success: &["published"],
        ..READ_ONLY
    },
    Column {
        name: "box retention",
        args: &["--this-box", "edge-a1", "--registry", "@DIR@/live/registry.db"],
        adds: &[PROBES],
        deletes: true,
        // One app after the other, and each waits in vain.
        seconds: 12,
        success: &[],
        ..READ_ONLY
    },
    Column {
        name: "box run",
        args: &["--this-box", "edge-a1", "--registry", "@DIR@/live/registry.db", "--interval", "500ms"],
        adds: &["control/registry-snapshots/edge-a1/", PROBES],
        replaces: &["control/registry-snapshot/edge-a1.", "status/boxes/edge-a1.json"],
        deletes: true,
        seconds: 20,
        repeats: true,
        ..READ_ONLY
    },
];

impl Column {
    /// Whether it leaves the bucket as it is.
    pub(crate) fn only_looks(&self) -> bool {
        self.adds.is_empty() && self.replaces.is_empty() && !self.deletes
    }

    /// Whether the same bucket gives the same answer, byte for byte.
    pub(crate) fn is_exact(&self) -> bool {
        self.only_looks() && self.files.is_empty() && self.args.contains(&"@NOW@")
    }

    /// Its words and arguments.
    pub(crate) fn line(&self) -> Vec<&'static str> {
        self.name.split(' ').chain(self.args.iter().copied()).collect()
    }
}
