//! What this machine has to say.

use super::{not_known, not_ready, ready};
use crate::doctor::evidence::{AtWork, Evidence, Host, SERVICE_USER};
use crate::finding::{Code, Finding, Severity};
use crate::flags::word;
use crate::host::holders;
use crate::host::names::{Beside, Kept};
use crate::host::target::Target;
use crate::host::trial::Replacing;
use crate::host::units::{self, Standing};
use crate::restore::not_empty;
use crate::terminal;

/// The named units and what would start them.
pub(super) fn agent(evidence: &Evidence, checks: &mut Vec<Finding>) {
    let answer = &evidence.host.units;
    checks.extend(units::findings(answer));
    for unit in answer.units.iter().filter(|unit| unit.starts.is_none() && unit.standing != Standing::Stops && !unit.enabled) {
        let because = match unit.standing {
            Standing::Masked => format!("{} and masked: nothing can start it", unit.state),
            Standing::NotFound => "there is no such unit on this machine".to_owned(),
            Standing::Stopped | Standing::Stops => unit.state.clone(),
        };
        checks.push(ready(&unit.name, because));
    }
    let asked = !answer.units.is_empty() && answer.unknown.is_none();
    if asked && answer.units.iter().all(|unit| unit.standing == Standing::NotFound) {
        checks.push(
            Finding::warning(
                Code::NotReady,
                "agent units",
                format!("none of {} exists here, so another unit may be the agent's", evidence.units_named.join(", ")),
            )
            .hint("name the agent's unit, and any timer that opens the registry: --agent-unit NAME"),
        );
    }
}

/// Who is at the registry.
pub(super) fn at_the_registry(evidence: &Evidence, checks: &mut Vec<Finding>) {
    let host = &evidence.host;
    let Ok(target) = &host.target else { return };
    let path = target.path.display().to_string();
    let found = holders::findings(&host.holders, target);
    if found.iter().all(|found| found.severity != Severity::Blocking) {
        checks.push(ready(&path, "no process has it open"));
    }
    checks.extend(found);
    checks.push(match &host.at_work {
        Ok(None) => ready(&path, "no restore and no box half is at it"),
        Ok(Some(AtWork { box_half: true, who })) => Finding::blocking(Code::AgentActive, &path, who.clone())
            .hint(format!("stop it: systemctl stop {}", units::BOX_HALF)),
        Ok(Some(AtWork { box_half: false, who })) => {
            Finding::blocking(Code::RestoreInProgress, &path, who.clone()).hint("wait for it, or find out who runs it")
        }
        Err(because) => not_known(&path, format!("it cannot be told whether a restore is at it: {because}")),
    });
}

/// The place that a registry would be installed at.
pub(super) fn place(evidence: &Evidence, checks: &mut Vec<Finding>) {
    let host = &evidence.host;
    let target = match &host.target {
        Ok(target) => target,
        Err(because) => {
            checks.push(not_ready("registry", because).hint("name the registry with --registry"));
            return;
        }
    };
    let path = target.path.display().to_string();
    let in_the_way = target.findings(host.install_bytes);
    if in_the_way.is_empty() {
        let free = target.directory.as_ref().map_or(0, |directory| directory.free_bytes);
        checks.push(ready(
            target.directory().display().to_string(),
            format!("writable; {} free, an install needs {}", terminal::bytes(free), terminal::bytes(host.install_bytes)),
        ));
    }
    checks.extend(in_the_way);
    checks.push(content(&path, host));
    replacing(target, host, evidence.read_only, checks);
    service_user(target, host, checks);
    leftovers(target, checks);
}

fn content(path: &str, host: &Host) -> Finding {
    match &host.content {
        None => ready(path, "there is no registry that would be replaced, or it is locked and was not looked into"),
        Some(Ok(census)) if census.routes == 0 => ready(path, "the registry here has no routes, as a standby's should"),
        Some(Ok(census)) => not_empty(path, census.routes, host.last.as_ref()),
        Some(Err(because)) => {
            Finding::blocking(Code::TargetUnreadable, path, format!("what is there is no readable registry: {because}"))
                .hint("look at the file; with --allow target-unreadable it is kept as it is")
        }
    }
}

fn replacing(target: &Target, host: &Host, read_only: bool, checks: &mut Vec<Finding>) {
    let Some(directory) = &target.directory else { return };
    let subject = format!("{} ({})", target.directory().display(), directory.filesystem);
    checks.push(match &host.replacing {
        Some(Ok(Replacing::Exchange)) => ready(subject, "two files are exchanged in one step"),
        Some(Ok(Replacing::SecondName)) => {
            ready(subject, "files cannot be exchanged here; the old registry gets a second name and is replaced in one step")
        }
        Some(Ok(Replacing::Neither)) => not_ready(
            subject,
            "this filesystem can neither exchange two files nor give one a second name: an install is refused",
        )
        .hint("put the registry on a local filesystem such as ext4, xfs or btrfs"),
        Some(Err(because)) => not_ready(subject, format!("the exchange of two scratch files failed: {because}"))
            .hint("look at the directory and its filesystem"),
        None if read_only => not_known(subject, "the exchange of two files was not tried (--read-only)")
            .hint("without --read-only it is tried: carlosctl doctor"),
        // That it is not writable has its own finding.
        None => return,
    });
}

/// An installed registry belongs to whom the old one belongs, else to whom the directory does: that has to be the agent.
fn service_user(target: &Target, host: &Host, checks: &mut Vec<Finding>) {
    let subject = format!("user {SERVICE_USER}");
    let file = target.file.as_ref().map(|file| file.uid);
    let Some(owner) = file.or_else(|| target.directory.as_ref().map(|directory| directory.uid)) else { return };
    checks.push(match host.service_uid {
        Some(uid) if uid == owner => ready(subject, format!("uid {uid}, whose an installed registry will be")),
        Some(uid) => Finding::warning(
            Code::NotReady,
            subject,
            format!("an installed registry will belong to uid {owner}, and the service user is uid {uid}: the agent could not open it"),
        )
        .hint(format!("chown {SERVICE_USER}: {}", word(if file.is_some() { &target.path } else { target.directory() }.as_os_str()).display())),
        None => Finding::warning(
            Code::NotReady,
            subject,
            format!("there is no such user in /etc/passwd; an installed registry will belong to uid {owner}"),
        )
        .hint("bootstrap this box first, or make sure which user runs the agent"),
    });
}

/// What earlier runs left beside the registry.
fn leftovers(target: &Target, checks: &mut Vec<Finding>) {
    let path = target.path.display().to_string();
    let cut_short = target.ours.iter().filter(|file| matches!(file.beside, Some(Beside::Stage | Beside::Swap { .. })));
    let names: Vec<&str> = cut_short.map(|file| file.name.as_str()).collect();
    if !names.is_empty() {
        checks.push(
            Finding::warning(
                Code::NotReady,
                &path,
                format!("an interrupted run left {}, unless one is under way", names.join(", ")),
            )
            .hint("nothing: the next restore or undo ends it"),
        );
    }
    let kept: Vec<Kept> = target
        .ours
        .iter()
        .filter_map(|file| match file.beside {
            Some(Beside::Kept { kept, side: false }) => Some(kept),
            _ => None,
        })
        .collect();
    if let Some(newest) = kept.iter().max_by_key(|kept| kept.stamp) {
        let registries = if kept.len() == 1 { "1 registry".to_owned() } else { format!("{} registries", kept.len()) };
        checks.push(ready(path, format!("{registries} kept by earlier runs beside it, the newest {newest}")));
    }
}
