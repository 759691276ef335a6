//! Columns of text.

use std::fmt::{self, Write};

/// Rows with `COLUMNS` columns; the first row has the names of the columns.
pub(super) struct Table<const COLUMNS: usize>(Vec<[String; COLUMNS]>);

impl<const COLUMNS: usize> Table<COLUMNS> {
    pub(super) fn new(names: [&str; COLUMNS]) -> Self {
        Self(vec![names.map(str::to_owned)])
    }

    /// Returns a table without names.
    pub(super) fn bare() -> Self {
        Self(Vec::new())
    }

    pub(super) fn row(&mut self, cells: [String; COLUMNS]) {
        self.0.push(cells.map(|cell| clean(&cell)));
    }
}

impl<const COLUMNS: usize> fmt::Display for Table<COLUMNS> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut widths = [0; COLUMNS];
        for row in &self.0 {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = cell.chars().count().max(*width);
            }
        }
        for row in &self.0 {
            let mut line = String::new();
            for (cell, width) in row.iter().zip(widths) {
                write!(line, "{cell:width$}  ")?;
            }
            writeln!(f, "{}", line.trim_end())?;
        }
        Ok(())
    }
}

/// Returns the text without control characters, which could change the terminal.
pub(crate) fn clean(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_control() { '?' } else { c })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_they_must_be() {
        let mut table = Table::new(["NAME", "N", ""]);
        table.row(["größe".to_owned(), "1".to_owned(), "leads".to_owned()]);
        table.row(["a".to_owned(), "1000".to_owned(), String::new()]);
        assert_eq!(
            table.to_string(),
            "NAME   N\ngröße  1     leads\na      1000\n"
        );
    }

    #[test]
    fn a_name_cannot_change_the_terminal() {
        assert_eq!(clean("a\x1b[2Jb\r\u{9b}1m"), "a?[2Jb??1m");
    }
}
