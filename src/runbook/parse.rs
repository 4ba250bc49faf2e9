//! A runbook is Markdown with a fixed frame, so that people, `runbook run` and the tests read the same thing.
//!
//! - `# Title`, then paragraphs `**When**: …` and `**Time**: …`.
//! - `## Values`: a list of ``- `$NAME`: what it is``, ``- `$NAME` (`default`): what it is``, or ``- `$NAME` (or none): what it
//!   is``, of which there may be none.
//! - `## Step N: …` is walked by `runbook run`; a `### …` below it is a way back, shown when the step fails. Any other `## …`
//!   is read, not walked.
//! - The only code blocks are `console` blocks: a line `$ command`, then what it prints. A command ends with 0 unless it says
//!   `# exit N`. `console changes` marks a block that changes something, `console example` one whose output is another on every
//!   machine: the tests compare it, `runbook run` does not. `…` stands for any text, and alone on a line for any number of
//!   lines. A value that is not known yet takes what is printed in its place. A block without output says nothing about it.
//! - `type NAME to go on: NAME` in the output: the command asks, and that is what is typed.
//! - `<!-- scene: name -->` says to the tests in which world the commands below it are run; comments are never shown.

use super::expect::is_safe;

/// A runbook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Runbook {
    /// Its file name without `.md`.
    pub name: String,
    /// The first heading.
    pub title: String,
    /// When to use it.
    pub when: String,
    /// How long it takes.
    pub time: String,
    /// What is filled in.
    pub values: Vec<Value>,
    /// Everything, heading by heading; the first one is the title's.
    pub sections: Vec<Section>,
}

/// A name in the commands, for which something is filled in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Value {
    /// In capitals, without `$`.
    pub name: String,
    /// What it is unless something else is said.
    pub default: Option<String>,
    /// Whether there may be none of it: then it is empty, and a command that names nothing else is passed over.
    pub or_none: bool,
    /// What it is, in words.
    pub about: String,
}

impl Value {
    /// Whether this text can be filled in for it.
    #[must_use]
    pub fn takes(&self, text: &str) -> bool {
        is_safe(text) || self.or_none && text.is_empty()
    }
}

/// A heading and what is below it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Section {
    /// Its text.
    pub heading: String,
    /// How many `#` it has.
    pub level: usize,
    /// `N` of `## Step N: …`; a `###` below it has it too.
    pub step: Option<u16>,
    /// In which world the tests run it.
    pub scene: Option<String>,
    /// Paragraphs and blocks.
    pub parts: Vec<Part>,
}

/// A paragraph or a block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// Lines of a paragraph or list, without their line ends.
    Text(Vec<String>),
    /// Commands.
    Block(Block),
}

/// A `console` block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// Whether it changes something.
    pub changes: bool,
    /// Whether what it prints is only an example.
    pub example: bool,
    /// Its commands.
    pub commands: Vec<Command>,
}

/// One command of a block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    /// As it is typed, with names of values in it.
    pub typed: String,
    /// How it ends.
    pub exit: u8,
    /// What it prints; empty where nothing is said about it.
    pub output: Vec<String>,
    /// Its line in the file, from 1.
    pub line: usize,
}

impl Runbook {
    /// Reads a runbook.
    ///
    /// # Errors
    /// A text that names the line and what is wrong with it.
    pub fn parse(name: &str, text: &str) -> Result<Self, String> {
        let sections = sections(text)?;
        let front = sections.first().filter(|section| section.level == 1).ok_or("line 1: no title")?;
        let field = |field: &str| {
            let marker = format!("**{field}**: ");
            let paragraph = front.parts.iter().find_map(|part| match part {
                Part::Text(lines) if lines.first().is_some_and(|line| line.starts_with(&marker)) => Some(lines.join(" ")),
                _ => None,
            });
            paragraph.map(|text| text[marker.len()..].to_owned()).ok_or_else(|| format!("no paragraph **{field}**: …"))
        };
        let (title, when, time) = (front.heading.clone(), field("When")?, field("Time")?);
        let values = match sections.iter().find(|section| section.heading == "Values") {
            Some(section) => values(section)?,
            None => Vec::new(),
        };
        Ok(Self { name: name.to_owned(), title, when, time, values, sections })
    }

    /// The steps that `runbook run` walks, in order, with their ways back.
    pub fn steps(&self) -> impl Iterator<Item = &Section> {
        self.sections.iter().filter(|section| section.level == 2 && section.step.is_some())
    }

    /// The names that are filled in.
    #[must_use]
    pub fn names(&self) -> Vec<&str> {
        self.values.iter().map(|value| value.name.as_str()).collect()
    }
}

impl Section {
    /// The commands of all its blocks, each with whether it changes something.
    pub fn commands(&self) -> impl Iterator<Item = (bool, &Command)> {
        self.blocks().flat_map(|block| block.commands.iter().map(|command| (block.changes, command)))
    }

    /// Its blocks.
    pub fn blocks(&self) -> impl Iterator<Item = &Block> {
        self.parts.iter().filter_map(|part| match part {
            Part::Block(block) => Some(block),
            Part::Text(_) => None,
        })
    }
}

/// Splits Markdown into its sections. Also for pages that are no runbooks, such as the README.
///
/// # Errors
/// A text that names the line: a code block that is not a `console` block, or is not closed.
pub fn sections(text: &str) -> Result<Vec<Section>, String> {
    let mut sections: Vec<Section> = Vec::new();
    let mut lines = text.lines().enumerate();
    let mut paragraph: Vec<String> = Vec::new();
    let mut step = None;
    while let Some((at, line)) = lines.next() {
        let is_heading = line.starts_with('#') && line.trim_start_matches('#').starts_with(' ');
        if is_heading || line.trim().is_empty() || line.starts_with("```") || line.starts_with("<!--") {
            end_paragraph(&mut sections, &mut paragraph);
        }
        if is_heading {
            let heading = line.trim_start_matches('#').trim();
            let level = line.len() - line.trim_start_matches('#').len();
            step = if level <= 2 { number(heading) } else { step };
            sections.push(Section { heading: heading.to_owned(), level, step, ..Section::default() });
        } else if let Some(kind) = line.strip_prefix("```") {
            let (changes, example) = match kind.trim() {
                "console" => (false, false),
                "console changes" => (true, false),
                "console example" => (false, true),
                other => return Err(format!("line {}: a code block of {other:?}; only console blocks can be run", at + 1)),
            };
            let mut body = Vec::new();
            loop {
                match lines.next() {
                    Some((_, "```")) => break,
                    Some((at, line)) => body.push((at + 1, line)),
                    None => return Err(format!("line {}: the block is not closed", at + 1)),
                }
            }
            let block = Block { changes, example, commands: commands(&body)? };
            last(&mut sections).parts.push(Part::Block(block));
        } else if let Some(comment) = line.strip_prefix("<!--") {
            if let Some(scene) = comment.trim_end_matches("-->").trim().strip_prefix("scene:") {
                last(&mut sections).scene = Some(scene.trim().to_owned());
            }
        } else if !line.trim().is_empty() {
            paragraph.push(line.to_owned());
        }
    }
    end_paragraph(&mut sections, &mut paragraph);
    Ok(sections)
}

fn end_paragraph(sections: &mut Vec<Section>, paragraph: &mut Vec<String>) {
    if !paragraph.is_empty() {
        last(sections).parts.push(Part::Text(std::mem::take(paragraph)));
    }
}

/// The section that is being read. What stands before the first heading gets one of its own.
fn last(sections: &mut Vec<Section>) -> &mut Section {
    if sections.is_empty() {
        sections.push(Section::default());
    }
    let at = sections.len() - 1;
    &mut sections[at]
}

fn number(heading: &str) -> Option<u16> {
    heading.strip_prefix("Step ")?.split_once(':')?.0.parse().ok()
}

fn commands(body: &[(usize, &str)]) -> Result<Vec<Command>, String> {
    let mut commands: Vec<Command> = Vec::new();
    for (line, text) in body {
        if let Some(typed) = text.strip_prefix("$ ") {
            let (typed, exit) = match typed.rsplit_once("# exit ") {
                Some((typed, code)) => (typed.trim_end(), code.trim().parse().map_err(|_| format!("line {line}: {code:?}"))?),
                None => (typed, 0),
            };
            commands.push(Command { typed: typed.to_owned(), exit, output: Vec::new(), line: *line });
        } else {
            let command = commands.last_mut().ok_or_else(|| format!("line {line}: output before any command"))?;
            command.output.push((*text).to_owned());
        }
    }
    if commands.is_empty() {
        return Err(format!("line {}: a block without a command", body.first().map_or(0, |(line, _)| *line)));
    }
    Ok(commands)
}

fn values(section: &Section) -> Result<Vec<Value>, String> {
    let mut values: Vec<Value> = Vec::new();
    let lines = section.parts.iter().filter_map(|part| match part {
        Part::Text(lines) if lines.first().is_some_and(|line| line.starts_with("- ")) => Some(lines),
        _ => None,
    });
    for line in lines.flatten() {
        if let Some(item) = line.strip_prefix("- `$") {
            let wrong = || format!("not a value: {line}");
            let (name, rest) = item.split_once('`').ok_or_else(wrong)?;
            let or_none = rest.strip_prefix(" (or none)");
            let (default, about) = match rest.strip_prefix(" (`") {
                Some(rest) => {
                    rest.split_once("`): ").map(|(default, about)| (Some(default.to_owned()), about)).ok_or_else(wrong)?
                }
                None => (None, or_none.unwrap_or(rest).strip_prefix(": ").ok_or_else(wrong)?),
            };
            values.push(Value { name: name.to_owned(), default, or_none: or_none.is_some(), about: about.to_owned() });
        } else if let Some(value) = values.last_mut() {
            value.about = format!("{} {}", value.about, line.trim());
        }
    }
    Ok(values)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "# Title\n\n**When**: it\nburns\n\n**Time**: 1 min\n\n## Values\n\n- `$DEAD`: the dead box,\n  by its label\n\
         - `$ENV` (`/etc/x`): settings\n- `$T` (or none): timers\n\n## Step 1: Look\n\nWhy.\n\n```console\n$ a $DEAD\n  b\n$ c   # exit 4\n```\n\n### Back\n\n\
         <!-- scene: burning -->\n```console changes\n$ d\n```\n\n## After\n";

    #[test]
    fn a_page_is_read_as_its_frame_says() {
        let runbook = Runbook::parse("x", PAGE).expect("a runbook");
        assert_eq!((runbook.when.as_str(), runbook.time.as_str()), ("it burns", "1 min"));
        assert_eq!(runbook.names(), ["DEAD", "ENV", "T"]);
        assert_eq!(runbook.values[0].about, "the dead box, by its label");
        assert_eq!(runbook.values[1].default.as_deref(), Some("/etc/x"));
        let takes = |text: &str| runbook.values.iter().map(|value| value.takes(text)).collect::<Vec<_>>();
        assert_eq!((takes(""), takes("a b"), takes("-a")), (vec![false, false, true], vec![true; 3], vec![false; 3]));
        assert_eq!((runbook.values[2].about.as_str(), runbook.values[2].or_none), ("timers", true));
        let steps: Vec<_> = runbook.steps().collect();
        assert_eq!(steps.len(), 1);
        let commands: Vec<_> =
            steps[0].commands().map(|(changes, c)| (changes, c.typed.as_str(), c.exit, c.output.len())).collect();
        assert_eq!(commands, [(false, "a $DEAD", 0, 1), (false, "c", 4, 0)]);
        let back = &runbook.sections[3];
        assert_eq!((back.level, back.step, back.scene.as_deref()), (3, Some(1), Some("burning")));
        assert!(back.commands().all(|(changes, _)| changes));
        let example = sections("```console example\n$ ls\nx\n```\n").expect("a block");
        assert!(example[0].blocks().all(|block| block.example && !block.changes));
        assert_eq!(runbook.sections[4].step, None);
    }

    #[test]
    fn what_could_not_be_run_is_an_error_that_names_its_line() {
        let wrong = |text: &str| sections(text).expect_err("an error");
        assert_eq!(wrong("# x\n```sh\nls\n```\n"), "line 2: a code block of \"sh\"; only console blocks can be run");
        assert_eq!(wrong("# x\n\n```console\n$ ls\n"), "line 3: the block is not closed");
        assert_eq!(wrong("```console\nls\n```\n"), "line 2: output before any command");
        assert!(Runbook::parse("x", "# Title\n\n**When**: now\n").is_err());
    }
}
