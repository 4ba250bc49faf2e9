//! Which of a step's cases (its `###`) is the one that was seen: the page has the same command there, with this exit code and
//! this output.

use super::expect::{Values, compare, fill_known};
use super::parse::{Command, Runbook, Section};

/// The cases of a step.
pub(super) fn cases(runbook: &Runbook, step: u16) -> impl Iterator<Item = &Section> {
    runbook.sections.iter().filter(move |section| section.level == 3 && section.step == Some(step))
}

/// Those that look like what was seen: `command` ended with `code` and said `output`.
pub(super) fn alike<'r>(
    runbook: &'r Runbook,
    step: u16,
    command: &Command,
    (code, output): (i32, &str),
    values: &Values,
) -> Vec<&'r Section> {
    let names = runbook.names();
    let filled = |text: &str| fill_known(text, &names, values);
    let run = filled(&command.typed);
    let is_alike = |seen: &Command| {
        // A case may have a flag more.
        let same = filled(&seen.typed).strip_prefix(&run).is_some_and(|more| more.is_empty() || more.starts_with(' '));
        let says = !seen.output.is_empty() || seen.exit != command.exit;
        let fits = || seen.output.is_empty() || compare(&seen.output, output, &names, &mut values.clone()).is_ok();
        same && says && i32::from(seen.exit) == code && fits()
    };
    cases(runbook, step).filter(|case| case.commands().any(|(_, seen)| is_alike(seen))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_case_is_one_that_looks_like_what_was_seen() {
        let page = "# T\n\n**When**: now\n\n**Time**: 1 min\n\n## Values\n\n- `$BOX`: a box\n\n## Step 1: Look\n\n```console\n$ look $BOX\ngood\n```\n\n\
            ### Bad\n\n```console\n$ look $BOX --longer\n…\nbad: …\n```\n\n### Gone\n\n```console\n$ look $BOX   # exit 4\n```\n\n\
            ### Another\n\n```console\n$ look $BOX-2   # exit 4\n```\n\n### In words\n\nRead.\n";
        let runbook = Runbook::parse("x", page).expect("a runbook");
        let values = Values::from([("BOX".to_owned(), "a".to_owned())]);
        let command = runbook.steps().next().expect("a step").commands().next().expect("a command").1;
        let headings = |seen| -> Vec<&str> {
            alike(&runbook, 1, command, seen, &values).iter().map(|case| case.heading.as_str()).collect()
        };
        assert_eq!(headings((0, "x\nbad: y\n")), ["Bad"]);
        assert_eq!(headings((4, "anything\n")), ["Gone"]);
        assert_eq!(headings((0, "x\n")), Vec::<&str>::new());
        assert_eq!(headings((1, "bad: y\n")), Vec::<&str>::new());
        assert_eq!(cases(&runbook, 1).count(), 4);
    }
}
