// The closed list. `overridable` may be allowed by name where the contract (section 3) says so; `never` may not.
// Each entry: name, code, may it be allowed: what it means, what shows it, what to do.
codes! {
    // Snapshots.
    TornPair "torn-pair" overridable:
        "current, sidecar and newest generation are not of one pass: a pass was cut short between its writes, or one of them is damaged",
        "the sidecar's bytes differ from current's, or the newest generation is newer than the sidecar, or the two objects of one pass have other bytes",
        "choose a generation by its stamp, or allow torn-pair after snapshot verify";
    SidecarMissing "sidecar-missing" overridable:
        "there is a current snapshot and no sidecar that names its box",
        "the key control/registry-snapshot/<box>.json is not there",
        "verify the content with snapshot show, then allow sidecar-missing";
    SidecarUnreadable "sidecar-unreadable" never:
        "the sidecar is there and does not read as one",
        "the reading error names the field",
        "restore a generation of an earlier hold, or repair the sidecar knowingly; it is never skipped";
    SidecarVersion "sidecar-version" never:
        "the sidecar is of another version than 1: written by something newer",
        "the sidecar's field v",
        "use a carlosctl that knows that version";
    SidecarTimeUnknown "sidecar-time-unknown" overridable:
        "the sidecar has no usable creation time, so no age can be told",
        "created_at is missing or Go's zero time",
        "compare with the generations' stamps, then allow sidecar-time-unknown";
    LabelMismatch "label-mismatch" never:
        "the sidecar names another box than the one asked for",
        "the sidecar's field box",
        "check which box is dead; restore that one";
    CurrentMissing "current-missing" never:
        "the box has generations or a sidecar and no current snapshot",
        "the key control/registry-snapshot/<box>.db is not there",
        "choose a generation by its stamp, or look for noncurrent versions with --all-versions";
    TooManyGenerations "too-many-generations" never:
        "more than 8 generations: the box cannot prune, usually because deletes are denied to it",
        "the number of objects below control/registry-snapshots/<box>/",
        "repair the box's permission to delete; the extra ones are copies, not spare depth";
    GenerationMissing "generation-missing" never:
        "the generation that was written along with current is not listed: it was deleted, or the store lists only a part",
        "the sidecar's creation time, and the listing of the box's generations",
        "what is listed last may not be the newest: name what you want, and ask the store why";
    StampAhead "stamp-ahead" never:
        "a generation's stamp is ahead of the clock that wrote it or of now: it sorts last and pushes good ones out",
        "the stamp against the object's LastModified and against as_of",
        "repair the box's clock; hold the box's snapshots before its next pass";
    NotAGeneration "not-a-generation" never:
        "an object among the generations whose name is not a stamp",
        "its key",
        "remove it when nobody needs it; it counts as the agent counts it and can push a generation out";
    EmptyObject "empty-object" never:
        "the object has no bytes; SQLite would open it as an empty database and call it whole",
        "its size",
        "choose another generation";
    ShortObject "short-object" never:
        "the object is shorter than its listing, its sidecar or its own SQLite header says",
        "the sizes",
        "choose another generation";
    NotSqlite "not-sqlite" never:
        "the object is not a SQLite database, or one of a newer format than this program reads",
        "its first 100 bytes",
        "choose another generation; for a newer format use a newer carlosctl";
    IntegrityFailed "integrity-failed" never:
        "the database is damaged",
        "the first lines of integrity_check or foreign_key_check",
        "choose another generation";
    NoRoutes "no-routes" never:
        "the database has no routes table with a host column: it is not a registry",
        "its schema",
        "choose another generation";
    NoRows "no-rows" overridable:
        "the registry has no routes: what a standby writes that was never restored",
        "the row count of routes",
        "restore the last good generation that the finding names";
    RowsCollapsed "rows-collapsed" overridable:
        "far fewer routes than in the generation before it: probably overwritten by an unrestored standby",
        "the row counts of both",
        "restore the last good generation that the finding names";
    SizeCollapsed "size-collapsed" overridable:
        "far smaller than the generation before it: suspected clobber",
        "the sizes of both, from the listing",
        "hold the box's snapshots at once, then stop the agent that writes them, then verify";
    StillWriting "still-writing" overridable:
        "the dead box's snapshot changed within the last 10 minutes, or while it was read: the box is not dead",
        "LastModified of current or the newest generation, or an etag that changed",
        "stop the box, or make sure that it is the right one";
    FingerprintMismatch "fingerprint-mismatch" never:
        "the sidecar carries a fingerprint of our own kind, and the content has another",
        "the recomputed fingerprint",
        "do not trust this object; choose another generation";
    DataAtRisk "data-at-risk" never:
        "the box reported after its last good snapshot: changes in between are in no snapshot",
        "LastModified of the box's last report against the age of the last good snapshot",
        "expect to redo those changes after the restore";
    LegacySnapshot "legacy-snapshot" never:
        "the abandoned fixed keys of the time before labels are still in the bucket",
        "control/registry-snapshot.db or .json",
        "nothing; they are never a default restore source";
    UnrecognizedKey "unrecognized-key" never:
        "an object among the snapshots that is none",
        "its key",
        "look who wrote it";
    Deleted "deleted" never:
        "the object is hidden by a delete marker; an older version may exist",
        "the version listing or the store's answer",
        "snapshot list --all-versions shows what can be brought back";
    NoncurrentGood "noncurrent-good" never:
        "an overwritten version looks more like this box than the current one",
        "sizes and times of the noncurrent versions",
        "hold it with snapshot hold --all-versions, or restore it with --at version:<id>";
    SchemaUnknown "schema-unknown" never:
        "the registry has columns or tables that this program does not know",
        "its schema",
        "nothing; they are copied as they are";
    TextUnreadable "text-unreadable" never:
        "the registry has text that is not UTF-8, or that hides a NUL",
        "the row and column",
        "nothing for a restore; retention refuses the row's app";
    NotRead "not-read" never:
        "something could not be read, so it is not known whether it is good",
        "the store's or the system's answer",
        "repair the cause and look again";
    HoldIncomplete "hold-incomplete" never:
        "a hold was begun and not sealed, or an object of it is gone",
        "hold.json against the objects below the hold",
        "hold again; release the incomplete one";
    // Restore.
    SameBox "same-box" never:
        "the source is this box's own label",
        "--from-box against --this-box or CARLOS_BOX_LABEL",
        "for a rebuilt box that reuses its label add --same-label";
    OwnLabelUnknown "own-label-unknown" overridable:
        "this box's own label is not known, so it cannot be told whether the source is this box",
        "neither --this-box nor CARLOS_BOX_LABEL is set",
        "give --this-box LABEL, or set CARLOS_BOX_LABEL; the labels that report: carlosctl report list";
    AgentActive "agent-active" never:
        "the agent or another unit that opens the registry runs, is starting, or would be started by a socket",
        "systemctl show, or the process list",
        "stop and mask the unit";
    UnitsUnknown "units-unknown" never:
        "systemd could not be asked about the agent; other evidence was used",
        "no systemctl, or a machine not booted with systemd",
        "make sure by hand that nothing starts the agent";
    UnitEnabled "unit-enabled" never:
        "the unit is stopped, and enabled: a reboot would start it",
        "systemctl show",
        "systemctl mask the unit until the restore is proved";
    RegistryHeld "registry-held" never:
        "a process has the registry or one of its side files open",
        "/proc/<pid>/fd",
        "stop that process";
    HoldersUnknown "holders-unknown" overridable:
        "not every process could be looked into, so it is not known whether one holds the registry",
        "/proc/<pid>/fd denied: the pids are named",
        "run as root; where that was root already, see what those processes are, and that none is an agent";
    RestoreInProgress "restore-in-progress" never:
        "another restore holds the interlock of this registry",
        "the lock file beside the registry",
        "wait for it, or find out who runs it";
    TargetNotEmpty "target-not-empty" overridable:
        "the target registry already has routes of its own",
        "its row count",
        "check that this is the standby; allow target-not-empty, and the old file is kept";
    TargetUnreadable "target-unreadable" overridable:
        "what is at the target is not a readable registry",
        "the reading error",
        "look at the file; allow target-unreadable, and it is kept as it is";
    TargetUnsafe "target-unsafe" never:
        "the target is not an ordinary file of its own: a directory, a device, or a file with a second name",
        "its file type or link count",
        "name the real file with --registry";
    TargetUnwritable "target-unwritable" never:
        "the target's directory is missing, read-only, or the file's owner cannot be kept",
        "the directory's state",
        "create it or run as root";
    NoSpace "no-space" never:
        "not enough room at the target",
        "bytes needed and bytes free",
        "free room in that filesystem";
    BoxAlreadyPublished "box-already-published" overridable:
        "this box has already published a snapshot or a report: its agent has run",
        "the keys below this box's own label",
        "make sure that nothing of this box is needed, then allow box-already-published";
    DeadBoxReporting "dead-box-reporting" overridable:
        "the dead box published a report within the last 10 minutes: it is not dead; as a warning: there is no report of it to tell",
        "LastModified or generated_at of its report",
        "stop the box, or make sure that it is the right one";
    SnapshotTooOld "snapshot-too-old" overridable:
        "the chosen snapshot is older than --max-age",
        "its stamp",
        "choose a newer one, or allow snapshot-too-old";
    ClockSkew "clock-skew" never:
        "this machine's clock and the store's are more than 5 minutes apart",
        "the Date of the store's answer",
        "set the clock";
    AlreadyRestored "already-restored" never:
        "the target already equals the chosen object",
        "the sha256 of both",
        "nothing; the proof and the receipt are finished";
    ReceiptNotStored "receipt-not-stored" never:
        "what was to be done is done, and its receipt could not be written everywhere",
        "the error of the write",
        "keep the copy that was written";
    AttributesLost "attributes-lost" never:
        "an attribute of the old file, such as its security label, could not be given to the new one",
        "the attribute and what the system said",
        "restorecon on the registry, before the agent is started";
    UnexpectedSnapshot "unexpected-snapshot" never:
        "after a restore under the same label, the agent wrote a new snapshot: what it runs on is not what was restored",
        "a generation or sidecar that was not there when the restore ended",
        "hold the box's snapshots at once, then stop the agent; compare: carlosctl snapshot diff";
    RestoredRowsMissing "restored-rows-missing" never:
        "what the standby publishes lacks routes that were restored",
        "the hosts of its snapshot against those of the restored object",
        "stop the agent; the registry it runs on is not the restored one";
    // Retention: refusals.
    ReportsUnavailable "reports-unavailable" never:
        "the box reports cannot be read at all, so nothing can be pruned",
        "no status store, or its listing failed",
        "give --status-bucket or --status-dir, or repair the store";
    ReportsIncomplete "reports-incomplete" never:
        "some box report or a fleets listing could not be read",
        "the key and the reading error",
        "repair or remove that report";
    BoxCannotCollect "box-cannot-collect" never:
        "a fresh report says that its box could not collect its build states; it may host any app",
        "build_states_err of the report",
        "repair that box; its next report unblocks";
    HostUnreported "host-unreported" never:
        "no report names the build state of an instance that keeps one",
        "the provision record against all reports",
        "wait for the box that hosts it to report, or remove the record";
    ReportStale "report-stale" never:
        "the newest report that names a host of the app is older than 6 hours",
        "generated_at of that report",
        "bring that box back, or a newer report";
    ReportIncomplete "report-incomplete" never:
        "the newest report says that its box could not read that host's build state",
        "complete: false in the report",
        "repair the build state on that box";
    ReportFromFuture "report-from-future" never:
        "a report is dated more than 5 minutes ahead",
        "generated_at of that report",
        "set that box's clock";
    RecordUnreadable "record-unreadable" never:
        "a provision record does not list, read, parse or agree with its path",
        "the key and the reading error",
        "repair or remove that record";
    RetentionRecordInvalid "retention-record-invalid" never:
        "the app's retention record does not read",
        "the key and the reading error",
        "write it again";
    PointerUnreadable "pointer-unreadable" never:
        "a channel pointer does not read",
        "the key and the reading error",
        "promote that channel again";
    PointerUnverified "pointer-unverified" never:
        "a channel pointer's signature does not verify; what it names stays protected",
        "the key and the reason",
        "check CARLOS_RELEASE_PUBKEY, or promote that channel again";
    RegistryUnreadable "registry-unreadable" never:
        "a box's registry snapshot is missing, collapsed or unreadable, so its pins are not known",
        "the key and the reason",
        "repair it, or leave a decommissioned box out with --without-box";
    ManifestUnreadable "manifest-unreadable" never:
        "a release manifest is there and does not read",
        "the key and the reading error",
        "ship that release again";
    TagUnreadable "tag-unreadable" never:
        "a tag does not read or does not agree with its key",
        "the key and the reading error",
        "cut that tag again";
    PipelineUnreadable "pipeline-unreadable" never:
        "the app's pipeline does not read, is empty, or has a negative bake",
        "the key and the reading error",
        "write it again";
    KeepsNothing "keeps-nothing" never:
        "the decision would leave the app without its newest release",
        "the decision itself",
        "check the retention record";
    // Drill.
    DrillFailed "drill-failed" never:
        "the rehearsal failed: the copy was not installed, is not what was fetched, or does not boot",
        "the error of the step, both digests, or the end and last words of the boot command",
        "look at the reason; the snapshot itself is judged by the other findings";
    // Doctor.
    MoreThanNeeded "more-than-needed" never:
        "this identity may do more than a restore needs: whoever steals it can destroy what a restore is made from",
        "the store looked for an object that is not there, instead of refusing the request",
        "give operators an identity of their own, as the finding says; a restore goes on all the same";
    Ready "ready" never:
        "this check passed",
        "named in the finding",
        "nothing";
    NotReady "not-ready" never:
        "this check failed",
        "named in the finding",
        "named in the finding";
}
