//! The generators that random numbers come from.

/// `random_generator`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Generator {
    /// 32-bit combined Tausworthe (fio's default).
    #[default]
    Tausworthe32,
    /// 64-bit combined Tausworthe.
    Tausworthe64,
}
