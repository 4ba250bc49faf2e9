//! Every command of every runbook and of the README, executed as it stands: exit code and output as the page says.
//!
//! A page is executed in scenes (`<!-- scene: … -->`, [`scene`]). What follows a heading without one goes on in the page's own
//! scene; a `###` with one has a fresh world of its own. A block that is not marked `changes` must change nothing.

use std::fs;
use std::path::Path;

use carlosctl::runbook::expect::{self, Values};
use carlosctl::runbook::parse::{Command, Runbook, Section, Value, sections};
use carlosctl::runbook::{ALL, page};

use crate::common::scene::Scene;

/// A page under execution.
struct Page<'p> {
    name: &'p str,
    names: Vec<&'p str>,
}

/// The world of this name.
fn scene(name: &str) -> Scene {
    let mut scene = Scene::standby();
    crate::runbook_scenes::set(name, &mut scene);
    scene
}

impl Page<'_> {
    /// Executes everything on it; `world` makes a scene.
    fn execute(&self, sections: &[Section], world: &dyn Fn(&str) -> Scene) {
        let own = sections.first().and_then(|section| section.scene.clone()).unwrap_or_else(|| "standby".to_owned());
        let mut main = world(&own);
        for (number, section) in sections.iter().enumerate() {
            match section.scene.as_deref().filter(|_| number > 0) {
                None => self.section(section, &mut main),
                Some(aside) if section.level > 2 => self.section(section, &mut world(aside)),
                // The same world, on another machine.
                Some(next) if next.starts_with('+') => {
                    crate::runbook_scenes::set(next, &mut main);
                    self.section(section, &mut main);
                }
                Some(next) => {
                    main = world(next);
                    self.section(section, &mut main);
                }
            }
        }
    }

    fn section(&self, section: &Section, scene: &mut Scene) {
        for (changes, command) in section.commands() {
            let before = (!changes && scene.local).then(|| scene.everything());
            self.command(command, scene);
            if let Some(before) = before {
                let changed = before != scene.everything();
                assert!(!changed, "{}:{}: {} changes something, and is not marked", self.name, command.line, command.typed);
            }
        }
    }

    fn command(&self, command: &Command, scene: &mut Scene) {
        let place = format!("{}:{}: {}", self.name, command.line, command.typed);
        let filled = |text: &str, values: &Values| {
            expect::fill(text, &self.names, values).unwrap_or_else(|name| panic!("{place}: {name} has no value"))
        };
        let typed = filled(&command.typed, &scene.values);
        let (code, output) = match expect::asked(&command.output) {
            Some(name) => scene.run_and_type(&typed, &filled(name, &scene.values)),
            None => scene.run(&typed),
        };
        assert_eq!(code, i32::from(command.exit), "{place}\n{output}");
        if !command.output.is_empty() {
            let compared = expect::compare(&command.output, &output, &self.names, &mut scene.values);
            compared.unwrap_or_else(|because| panic!("{place}: {because}\n{output}"));
        }
    }
}

fn runbook(name: &str) -> Runbook {
    let text = ALL.iter().find(|(known, _)| *known == name).expect("a runbook").1;
    Runbook::parse(name, text).unwrap_or_else(|because| panic!("{name}: {because}"))
}

fn execute(name: &str, world: &dyn Fn(&str) -> Scene) {
    let runbook = runbook(name);
    Page { name, names: runbook.names() }.execute(&runbook.sections, world);
}

#[test]
fn dr_cold_standby() {
    execute("dr-cold-standby", &scene);
}

#[test]
fn undo_a_restore() {
    execute("undo-a-restore", &scene);
}

#[test]
fn clobbered_snapshot() {
    execute("clobbered-snapshot", &scene);
}

#[test]
fn rebuilt_same_label() {
    execute("rebuilt-same-label", &scene);
}

#[test]
fn planned_failover() {
    execute("planned-failover", &scene);
}

#[test]
fn credentials_clock_network() {
    execute("credentials-clock-network", &scene);
}
