//! HTML building blocks. Names, options and messages come from users and documents: whatever they contain is escaped.

use std::fmt::Write as _;

/// Escapes text for content and for quoted attribute values.
pub(super) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            // HTML allows no control characters other than white space.
            '\t' | '\n' => out.push(character),
            control if control.is_control() => out.push('\u{fffd}'),
            other => out.push(other),
        }
    }
    out
}

/// Escapes a JSON document for a `script` element, which only `<` could end.
pub(super) fn script_data(json: &str) -> String {
    json.replace('<', "\\u003c")
}

/// A table in its own box, which scrolls on narrow pages.
pub(super) struct HtmlTable {
    out: String,
    columns: Vec<bool>,
}

/// A column: its name, and true if its cells are numbers.
pub(super) type HtmlColumn<'a> = (&'a str, bool);

impl HtmlTable {
    /// Begins a table. Names are plain text.
    pub(super) fn new(caption: &str, columns: &[HtmlColumn<'_>]) -> Self {
        let caption = escape(caption);
        let mut out = format!(
            "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{caption}\"><table><caption>{caption}</caption>\n<thead><tr>"
        );
        for &(name, is_number) in columns {
            let _ = write!(out, "<th scope=\"col\"{}>{}</th>", class(is_number), escape(name));
        }
        out.push_str("</tr></thead>\n<tbody>\n");
        HtmlTable { out, columns: columns.iter().map(|&(_, is_number)| is_number).collect() }
    }

    /// Begins a group of rows.
    pub(super) fn group(&mut self) {
        if !self.out.ends_with("<tbody>\n") {
            self.out.push_str("</tbody>\n<tbody>\n");
        }
    }

    /// Adds a row of plain texts; the first is the row's name.
    pub(super) fn row(&mut self, cells: &[String]) {
        let cells: Vec<String> = cells.iter().map(|cell| escape(cell)).collect();
        self.row_of_html(&cells, false);
    }

    /// Adds a row of HTML, optionally marked.
    pub(super) fn row_of_html(&mut self, cells: &[String], marked: bool) {
        self.out.push_str(if marked { "<tr class=\"differs\">" } else { "<tr>" });
        for (at, (cell, &is_number)) in cells.iter().zip(&self.columns).enumerate() {
            let _ = match at {
                0 => write!(self.out, "<th scope=\"row\">{cell}</th>"),
                _ => write!(self.out, "<td{}>{cell}</td>", class(is_number)),
            };
        }
        self.out.push_str("</tr>\n");
    }

    /// Ends the table and returns its HTML.
    pub(super) fn end(self) -> String {
        self.out + "</tbody></table></div>\n"
    }
}

fn class(is_number: bool) -> &'static str {
    if is_number { " class=\"n\"" } else { "" }
}

/// Content that is collapsed initially.
pub(super) fn folded(summary: &str, content: &str) -> String {
    format!("<details><summary>{}</summary>\n{content}</details>\n", escape(summary))
}
