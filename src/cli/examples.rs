//! What `--help` shows below the options: commands as they are typed. A test reads every one of them as typed.

/// Below `carlosctl --help`.
pub(super) const PROGRAM: &str = "\
First steps:
  carlosctl demo                          see a restore on a throwaway deployment
  carlosctl doctor                        could this machine do a restore right now?
  carlosctl snapshot list                 which boxes have snapshots, and which can be trusted?

Topics:
  carlosctl help exit-codes               what each exit code means
  carlosctl help findings                 what each finding means, and what to do";

pub(super) const SNAPSHOT_LIST: &str = "\
Examples:
  carlosctl snapshot list
  carlosctl snapshot list --box edge-a1 --all-versions
  carlosctl snapshot list --json --as-of 2026-11-30T10:00:00Z";

pub(super) const SNAPSHOT_VERIFY: &str = "\
Examples:
  carlosctl snapshot verify --box edge-a1
  carlosctl snapshot verify --box edge-a1 --all-generations
  carlosctl snapshot verify --json        every box; exit 4 when one is not good";

pub(super) const SNAPSHOT_HOLD: &str = "\
Examples:
  carlosctl snapshot hold --box edge-a1
  carlosctl snapshot hold --box edge-a1 --all-versions
  carlosctl snapshot hold list --box edge-a1
  carlosctl snapshot hold release --box edge-a1 20261130T101500Z --confirm edge-a1";

pub(super) const RESTORE: &str = "\
Examples:
  carlosctl restore --from-box edge-a1 --dry-run
  carlosctl restore --from-box edge-a1
  carlosctl restore --from-box edge-a1 --at good --confirm edge-a1 --no-input
  carlosctl restore --from-box edge-a1 --at 20261130T100000Z --allow sidecar-missing";

pub(super) const RESTORE_UNDO: &str = "\
Examples:
  carlosctl restore undo --dry-run
  carlosctl restore undo --confirm edge-b2";

pub(super) const DRILL: &str = "\
Examples:
  carlosctl drill
  carlosctl drill --box edge-a1 --at good --scratch /var/tmp
  carlosctl drill --json --no-receipt     from a timer that may only read
  carlosctl drill --box edge-a1 --boot-cmd 'sqlite3 \"$CARLOS_DRILL_REGISTRY\" .schema'";

pub(super) const DOCTOR: &str = "\
Examples:
  carlosctl doctor
  carlosctl doctor --this-box edge-b2 --registry /data/registry.db
  carlosctl doctor --read-only --json";

pub(super) const COMPLETIONS: &str = "\
Examples:
  carlosctl completions bash > /etc/bash_completion.d/carlosctl
  carlosctl completions zsh > /usr/local/share/zsh/site-functions/_carlosctl
  carlosctl completions fish > ~/.config/fish/completions/carlosctl.fish";

pub(super) const MAN: &str = "\
Examples:
  carlosctl man | man -l -
  carlosctl man --out /usr/local/share/man/man1";

pub(super) const SNAPSHOT_SHOW: &str = "\
Examples:
  carlosctl snapshot show --box edge-a1
  carlosctl snapshot show --box edge-a1 --at 2h
  carlosctl snapshot show --box edge-a1 --at hold:20261130T101500Z";

pub(super) const SNAPSHOT_DIFF: &str = "\
Examples:
  carlosctl snapshot diff --box edge-a1 20261130T090000Z current
  carlosctl snapshot diff --box edge-a1 current file:/data/registry.db";

pub(super) const SNAPSHOT_PULL: &str = "\
Examples:
  carlosctl snapshot pull --box edge-a1 --out edge-a1.db
  carlosctl snapshot pull --box edge-a1 --at good --out edge-a1.db";

pub(super) const RESTORE_WATCH: &str = "\
Examples:
  carlosctl restore watch
  carlosctl restore watch --for 30m --json";

pub(super) const RETENTION_EXPLAIN: &str = "\
Examples:
  carlosctl retention explain             every app
  carlosctl retention explain ops/shop --version v3
  carlosctl retention explain ops/shop --keep 5
  carlosctl retention explain --as-box edge-a1
  carlosctl retention explain --evidence-out evidence.jsonl";

pub(super) const RETENTION_PLAN: &str = "\
Examples:
  carlosctl retention plan --out plan.jsonl
  carlosctl retention plan ops/shop --without-box edge-c3 --out plan.jsonl";

pub(super) const RETENTION_RUN: &str = "\
Examples:
  carlosctl retention run --plan plan.jsonl
  carlosctl retention run ops/shop
  carlosctl retention run --plan plan.jsonl --confirm deployment-bucket --no-input";

pub(super) const REPORT_LIST: &str = "\
Examples:
  carlosctl report list
  carlosctl report list --json --as-of 2026-11-30T10:00:00Z";

pub(super) const REPORT_SHOW: &str = "\
Examples:
  carlosctl report show --box edge-a1";

pub(super) const RUNBOOK_SHOW: &str = "\
Examples:
  carlosctl runbook show dr-cold-standby
  carlosctl runbook show clobbered-snapshot | less";

pub(super) const RUNBOOK_RUN: &str = "\
Examples:
  carlosctl runbook run dr-cold-standby --set DEAD=edge-a1
  carlosctl runbook run --resume dr-cold-standby-20261130T101500Z.transcript
  carlosctl runbook run quarterly-drill --unattended --set DEAD=edge-a1";

pub(super) const BOX_SNAPSHOT: &str = "\
Examples:
  carlosctl box snapshot                  one pass
  carlosctl box snapshot --loop           until it is told to stop";

pub(super) const BOX_RETENTION: &str = "\
Examples:
  carlosctl box retention                 one pass; asks nobody, and deletes at once";

pub(super) const BOX_RUN: &str = "\
Examples:
  carlosctl box run                       as packaging/carlosctl-box.service runs it";

pub(super) const DEMO: &str = "\
Examples:
  carlosctl demo
  carlosctl demo --dir /tmp/night --keep
  carlosctl --host-env /tmp/night/host.env snapshot list";
