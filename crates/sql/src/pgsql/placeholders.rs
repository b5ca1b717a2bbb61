//! Parameters of statements: `?` becomes `$1`, `$2` and so on, where it is not part of a literal, a name or a comment.

/// The text as PostgreSQL wants it.
pub(super) fn number_parameters(text: &str) -> String {
    let mut numbered = String::with_capacity(text.len() + 8);
    let (mut rest, mut count) = (text, 0);
    while let Some(at) = rest.find(['?', '\'', '"', '-', '/', '$']) {
        let (before, found) = rest.split_at(at);
        numbered.push_str(before);
        if let Some(after) = found.strip_prefix('?') {
            count += 1;
            numbered.push_str(&format!("${count}"));
            rest = after;
        } else {
            let length = skipped(before, found);
            numbered.push_str(&found[..length]);
            rest = &found[length..];
        }
    }
    numbered.push_str(rest);
    numbered
}

/// The length of what begins here and has no parameters in it.
fn skipped(before: &str, text: &str) -> usize {
    let end_of = |start: &str, end: &str| {
        text.strip_prefix(start)
            .map(|rest| rest.find(end).map_or(text.len(), |at| start.len() + at + end.len()))
    };
    match text.as_bytes() {
        [b'\'', ..] if has_escapes(before) => escaped_literal(text),
        // Two quotes in a literal stand for one: the second one begins a literal again.
        [quote @ (b'\'' | b'"'), ..] => {
            let quote = char::from(*quote);
            text[1..].find(quote).map_or(text.len(), |at| at + 2)
        }
        [b'-', b'-', ..] => end_of("--", "\n").unwrap_or(1),
        [b'/', b'*', ..] => end_of("/*", "*/").unwrap_or(1),
        [b'$', ..] => match dollar_quote(text) {
            Some(quote) => end_of(quote, quote).unwrap_or(1),
            None => 1,
        },
        _ => 1,
    }
}

/// The literal that follows is written `E'…'`.
fn has_escapes(before: &str) -> bool {
    let mut characters = before.chars().rev();
    matches!(characters.next(), Some('e' | 'E'))
        && !characters.next().is_some_and(|character| character.is_alphanumeric() || character == '_')
}

fn escaped_literal(text: &str) -> usize {
    let mut is_escaped = false;
    for (at, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = true,
            b'\'' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// `$$` or `$name$`
fn dollar_quote(text: &str) -> Option<&str> {
    let end = text[1..].find(|character: char| !(character.is_alphanumeric() || character == '_'))? + 1;
    let name = &text[1..end];
    (text[end..].starts_with('$') && !name.starts_with(|first: char| first.is_ascii_digit()))
        .then(|| &text[..=end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_numbered() {
        assert_eq!(
            number_parameters("UPDATE t SET c=? WHERE id BETWEEN ? AND ?"),
            "UPDATE t SET c=$1 WHERE id BETWEEN $2 AND $3"
        );
        assert_eq!(number_parameters("COMMIT"), "COMMIT");
    }

    #[test]
    fn question_marks_in_literals_names_and_comments_stay() {
        for text in [
            "SELECT '?'",
            "SELECT 'it''s ?'",
            "SELECT \"a?b\"",
            "SELECT 1 -- why?",
            "SELECT /* ? */ 1",
            "SELECT $$?$$",
            "SELECT $body$ $$ ? $body$",
            "SELECT E'\\'?'",
            "SELECT '?",
        ] {
            assert_eq!(number_parameters(text), text);
        }
        assert_eq!(number_parameters("SELECT 'a\\', ? - 1 / ?"), "SELECT 'a\\', $1 - 1 / $2");
        assert_eq!(number_parameters("SELECT '', ?, $1, $$ä?$$, ?"), "SELECT '', $1, $1, $$ä?$$, $2");
    }
}
