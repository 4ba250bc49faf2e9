//! Every command of every runbook and of the README, executed as it stands: exit code and output as the page says.
//!
//! A page is executed in scenes (`<!-- scene: … -->`, [`scene`]). What follows a heading without one goes on in the page's own
//! scene; a `###` with one has a fresh world of its own. A block that is not marked `changes` must change nothing.

use std::fs;
use std::path::Path;

use carlosctl::runbook::ALL;
use carlosctl::runbook::expect::{self, Values};
use carlosctl::runbook::parse::{Command, Runbook, Section, sections};

use crate::common::carlosctl;
use crate::common::scene::Scene;
use crate::common::servers::seaweedfs;

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
                let after = scene.everything();
                let changed: Vec<_> =
                    after.iter().filter(|(path, body)| before.get(*path) != Some(*body)).map(|(path, _)| path).collect();
                let gone: Vec<_> = before.keys().filter(|path| !after.contains_key(*path)).collect();
                let place = format!("{}:{}: {}", self.name, command.line, command.typed);
                assert!(changed.is_empty() && gone.is_empty(), "{place} is not marked and changed {changed:?} {gone:?}");
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

pub(crate) fn runbook(name: &str) -> Runbook {
    let text = ALL.iter().find(|(known, _)| *known == name).expect("a runbook").1;
    Runbook::parse(name, text).unwrap_or_else(|because| panic!("{name}: {because}"))
}

fn execute(name: &str, world: &dyn Fn(&str) -> Scene) {
    let runbook = runbook(name);
    let with_defaults = |name: &str| {
        let mut scene = world(name);
        for value in &runbook.values {
            if let Some(default) = &value.default {
                scene.values.entry(value.name.clone()).or_insert_with(|| default.clone());
            }
        }
        scene
    };
    Page { name, names: runbook.names() }.execute(&runbook.sections, &with_defaults);
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

#[test]
fn noncurrent_version_rescue() {
    execute("noncurrent-version-rescue", &|name| match name {
        "versioned" => crate::runbook_scenes::versioned(seaweedfs()),
        other => scene(other),
    });
}

#[test]
fn quarterly_drill() {
    execute("quarterly-drill", &scene);
}

#[test]
fn retention_rollout() {
    execute("retention-rollout", &scene);
}

#[test]
fn retention_refused_has_a_section_for_every_refusal() {
    execute("retention-refused", &scene);
    let codes = include_str!("../../src/finding_codes.rs");
    let refusals =
        codes.split("// Retention: refusals.").nth(1).and_then(|rest| rest.split("    // ").next()).expect("refusals");
    let refusals: Vec<&str> =
        refusals.lines().filter_map(|line| line.split('"').nth(1).filter(|_| line.contains("\" never:"))).collect();
    assert!(refusals.len() >= 16, "{refusals:?}");
    let runbook = runbook("retention-refused");
    let sections: Vec<&str> = runbook.sections.iter().map(|section| section.heading.as_str()).collect();
    for code in refusals {
        assert!(sections.contains(&code), "{code} has no section");
    }
}

#[test]
fn readme() {
    let scene = Scene::standby();
    let night = scene.path("night");
    let text = include_str!("../../README.md").replace("/tmp/night", &night);
    let sections = sections(&text).unwrap_or_else(|because| panic!("README.md: {because}"));
    assert!(sections.iter().flat_map(Section::commands).count() >= 8);
    // Blocks that nobody executes would be those that are only indented.
    assert!(!text.lines().any(|line| line.starts_with("    ")), "an indented block");
    let mut scene = scene;
    // Its blocks are a story of one machine; what changes something is not marked for a newcomer.
    scene.local = false;
    scene.env.retain(|name, _| !name.starts_with("CARLOS_"));
    let page = Page { name: "README.md", names: Vec::new() };
    for section in &sections {
        page.section(section, &mut scene);
    }
}

/// On S3 the same commands do the same.
fn on_s3(name: &str) {
    let runbook = runbook(name);
    let server = seaweedfs();
    let walked: Vec<Section> = runbook.sections.iter().filter(|section| section.level < 3).cloned().collect();
    let page = Page { name, names: runbook.names() };
    page.execute(&walked, &|scene_name| {
        let mut scene = scene(scene_name);
        scene.value("HOST_ENV", &scene.path("host.env"));
        scene.move_to(server, &server.bucket());
        scene
    });
}

#[test]
fn dr_cold_standby_on_s3() {
    on_s3("dr-cold-standby");
}

#[test]
fn clobbered_snapshot_on_s3() {
    on_s3("clobbered-snapshot");
}

#[test]
fn every_page_of_the_directory_is_in_the_list_and_every_runbook_that_is_named_exists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let list = carlosctl(["runbook", "list", "--json"]).run().json();
    let listed: Vec<&str> =
        list["runbooks"].as_array().expect("runbooks").iter().map(|r| r["name"].as_str().expect("a name")).collect();
    for entry in fs::read_dir(root.join("runbooks")).expect("runbooks") {
        let name = entry.expect("an entry").file_name().to_string_lossy().into_owned();
        assert!(listed.contains(&name.trim_end_matches(".md")), "{name} is not listed");
    }
    let mut named = 0;
    let mut check = |place: &Path, text: &str| {
        // `(name.md)` in a link, `runbooks/name.md`, `runbook show name` and `runbook run name`.
        let after = |marker: &'static str| text.split(marker).skip(1);
        let links = after("](").filter_map(|rest| rest.split_once(".md)").map(|(name, _)| name));
        let paths = after("runbooks/").filter_map(|rest| rest.split_once(".md").map(|(name, _)| name));
        let typed = after("runbook show ").chain(after("runbook run "));
        let typed = typed.map(|rest| rest.split(|c: char| !(c.is_ascii_lowercase() || c == '-')).next().unwrap_or_default());
        let links: Vec<&str> = if place.extension().is_some_and(|kind| kind == "md") { links.collect() } else { Vec::new() };
        for name in links.into_iter().chain(paths).chain(typed) {
            let is_name = !name.is_empty() && name.len() < 40 && name.chars().all(|c| c.is_ascii_lowercase() || c == '-');
            if is_name && !name.starts_with('-') {
                assert!(listed.contains(&name), "{}: there is no runbook {name}", place.display());
                named += 1;
            }
        }
    };
    let mut places = vec![root.join("README.md")];
    let mut directories = vec![root.join("src"), root.join("runbooks")];
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(directory).expect("a directory") {
            let path = entry.expect("an entry").path();
            if path.is_dir() { directories.push(path) } else { places.push(path) }
        }
    }
    for place in places {
        check(&place, &fs::read_to_string(&place).expect("text"));
    }
    assert!(named > 20, "the search finds nothing any more");
}
