//! What a command shows at a terminal becomes lines: what stands there in the end, without cursor and colour.

/// A terminal on which one line is being written.
#[derive(Debug, Default)]
pub(super) struct Screen {
    line: Vec<u8>,
    /// Whether what is written next replaces the line.
    returned: bool,
    /// The control sequence that is being read.
    sequence: Option<Vec<u8>>,
}

impl Screen {
    /// Takes what was written and answers the lines that it ends.
    pub(super) fn write(&mut self, bytes: &[u8]) -> Vec<String> {
        let mut lines = Vec::new();
        for byte in bytes {
            if self.sequence.is_some() {
                self.control(*byte);
                continue;
            }
            match byte {
                b'\n' => lines.push(self.end()),
                b'\r' => self.returned = true,
                0x1b => self.sequence = Some(Vec::new()),
                _ => {
                    if std::mem::take(&mut self.returned) {
                        self.line.clear();
                    }
                    self.line.push(*byte);
                }
            }
        }
        lines
    }

    /// What stands in a line that nobody ended.
    pub(super) fn rest(&mut self) -> Option<String> {
        Some(self.end()).filter(|line| !line.is_empty())
    }

    fn end(&mut self) -> String {
        self.returned = false;
        let line = std::mem::take(&mut self.line);
        String::from_utf8_lossy(&line).replace('\t', " ")
    }

    /// Reads a control sequence: `ESC [`, parameters, and a letter that says what is done. Only erasing the line counts.
    fn control(&mut self, byte: u8) {
        let Some(sequence) = &mut self.sequence else { return };
        sequence.push(byte);
        let goes_on = sequence[0] == b'[' && (sequence.len() == 1 || !(0x40..=0x7e).contains(&byte));
        if goes_on && sequence.len() < 32 {
            return;
        }
        let erases = byte == b'K' && (self.returned || sequence.as_slice() == b"[2K");
        self.sequence = None;
        if erases {
            self.line.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Screen;

    #[test]
    fn what_stands_there_in_the_end_is_what_was_said() {
        let shown = "1%\r50%\r\u{1b}[Kdone\r\n\u{1b}[31mbad\u{1b}[0m\tä\nname: edge\r\u{1b}[2Kname: edge-a1\n\nrest";
        let lines = ["done", "bad ä", "name: edge-a1", ""];
        let mut screen = Screen::default();
        assert_eq!(screen.write(shown.as_bytes()), lines);
        assert_eq!((screen.rest().as_deref(), screen.rest()), (Some("rest"), None));
        // However it is cut.
        let mut screen = Screen::default();
        let cut: Vec<String> = shown.as_bytes().chunks(1).flat_map(|byte| screen.write(byte)).collect();
        assert_eq!(cut, lines);
    }
}
