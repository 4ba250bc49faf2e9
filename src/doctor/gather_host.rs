//! Looks at this machine: the units, who is at the registry, its place, and the service user.

use std::path::Path;

use super::evidence::{AtWork, Host, SERVICE_USER};
use crate::context::Context;
use crate::error::CommandError;
use crate::host::holders::{self, Holders};
use crate::host::interlock::{Interlock, InterlockError};
use crate::host::target::{Kind, Target};
use crate::host::{trial, units};
use crate::registry::Census;
use crate::restore::{SPACE_MARGIN_BYTES, TargetContent, last_done, read_target};
use crate::snapshot::blocking;

/// Where the machine's own users are.
const USERS: &str = "/etc/passwd";

/// Gathers. Whatever fails is a fact.
///
/// # Errors
/// Only when the work itself panicked.
pub(super) async fn gather(read_only: bool, largest_bytes: u64, context: &mut Context<'_>) -> Result<Host, CommandError> {
    let path = context.world.env.get("PATH").cloned();
    let names = context.settings.agent_units.clone();
    let registry = context.settings.registry.clone();
    let mut host = blocking(move || {
        let target = Target::look(&registry).map_err(|error| error.to_string());
        let found = target.as_ref().ok();
        let sides: u64 = found.map_or(0, |target| target.sides.iter().map(|side| side.bytes).sum());
        let holder = found.map_or(Ok(None), |target| Interlock::holder(&target.path));
        Host {
            units: units::ask(path.as_deref(), &names),
            holders: found.map_or_else(Holders::default, |target| holders::scan(Path::new(holders::PROC), target)),
            at_work: holder.map(|who| who.as_ref().map(at_work_of)).map_err(|error| error.to_string()),
            install_bytes: largest_bytes + sides + SPACE_MARGIN_BYTES,
            service_uid: std::fs::read_to_string(USERS).ok().and_then(|users| uid_of(SERVICE_USER, &users)),
            content: None,
            last: found.and_then(last_done),
            replacing: None,
            target,
        }
    })
    .await?;
    host.content = content(&host, context).await?;
    if !read_only {
        host.replacing = try_replacing(&host, context).await?;
    }
    Ok(host)
}

fn at_work_of(holder: &InterlockError) -> AtWork {
    AtWork { box_half: matches!(holder, InterlockError::Running { .. }), who: holder.to_string() }
}

/// What the registry holds. Not while somebody is at it: an install has it locked, and then its content says nothing.
async fn content(host: &Host, context: &Context<'_>) -> Result<Option<Result<Census, String>>, CommandError> {
    let Ok(target) = &host.target else { return Ok(None) };
    if target.kind != Kind::File || !matches!(host.at_work, Ok(None)) {
        return Ok(None);
    }
    let found = read_target(target, u64::MAX, "", &context.settings.default_account).await?;
    Ok(match found {
        TargetContent::Absent | TargetContent::Equal => None,
        TargetContent::Registry(census) => Some(Ok(*census)),
        TargetContent::Unreadable(because) => Some(Err(because)),
    })
}

async fn try_replacing(
    host: &Host,
    context: &mut Context<'_>,
) -> Result<Option<Result<trial::Replacing, String>>, CommandError> {
    let Ok(target) = &host.target else { return Ok(None) };
    if !target.directory.as_ref().is_some_and(|directory| directory.writable && !directory.read_only) {
        return Ok(None);
    }
    let directory = target.directory().to_owned();
    context.say(&format!(
        "trying how a file is replaced: two scratch files in a hidden directory in {}, removed again (--read-only leaves it out)",
        directory.display()
    ));
    Ok(Some(blocking(move || trial::replacing(&directory)).await?.map_err(|error| error.to_string())))
}

/// The id of a user, from a text like `/etc/passwd`.
fn uid_of(user: &str, users: &str) -> Option<u32> {
    users.lines().find_map(|line| {
        let mut fields = line.split(':');
        (fields.next() == Some(user)).then(|| fields.nth(1)?.parse().ok()).flatten()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_is_found_by_its_whole_name() {
        let users = "root:x:0:0:root:/:/bin/sh\ncarlosx:x:7:7::/:/bin/false\ncarlos:x:998:997:CARLOS:/data:/bin/false\n";
        assert_eq!(uid_of("carlos", users), Some(998));
        assert_eq!(uid_of("nobody", users), None);
        assert_eq!(uid_of("carlos", "carlos:x:odd"), None);
    }
}
