//! Values of parameters.

/// The value of a parameter of a statement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value<'a> {
    /// `NULL`
    Null,
    /// An integer, sent as whatever integer the parameter is.
    Int(i64),
    /// A number with a fraction.
    Double(f64),
    /// A text in UTF-8, or any bytes.
    Text(&'a [u8]),
}
