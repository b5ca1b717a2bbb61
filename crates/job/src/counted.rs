//! A number with its noun, for messages: `1 request`, `3 requests`.

/// The number and the noun, which has its plural unless the number is 1: an `s`, or `es` after one.
#[must_use]
pub fn counted(number: u64, noun: &str) -> String {
    let ending = match (number == 1, noun.ends_with('s')) {
        (true, _) => "",
        (false, true) => "es",
        (false, false) => "s",
    };
    format!("{number} {noun}{ending}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_one_thing_is_singular() {
        let of = |number: u64| counted(number, "I/O");
        assert_eq!([of(0), of(1), of(2)], ["0 I/Os", "1 I/O", "2 I/Os"]);
        assert_eq!([counted(1, "process"), counted(3, "process")], ["1 process", "3 processes"]);
    }
}
