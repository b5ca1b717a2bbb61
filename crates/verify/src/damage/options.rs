//! Recognises data that is sound, but was written with other options than it is checked with.

use super::failed_block::FailedBlock;
use super::{Damage, DamageKind, header_search};
use crate::{BlockHeader, Digest, HeaderLayout, VerifyMethod};

/// Most bytes of a pattern that is searched for.
const MAX_PATTERN_BYTES: usize = 64;
/// Most bytes of a pattern that is printed.
const MAX_PRINTED_BYTES: usize = 16;

/// The explanation by other options, which the header or the pattern of the block proves.
pub(super) fn other_options(failed: &FailedBlock<'_>) -> Option<Damage> {
    let spec = &failed.verifier.spec;
    let place = if spec.method.has_header() { spec.offset as usize } else { 0 };
    let at_place = failed.raw.get(place..)?;
    let options = match header_search::sound(failed.layout, at_place) {
        Some(header) if header.offset == failed.offset() => of_header(failed, &header),
        Some(_) => None,
        None if spec.method.has_header() => other_place(failed).or_else(|| other_layout(failed, at_place)),
        None => None,
    };
    let options = options.or_else(|| other_pattern(failed))?;
    Some(Damage { options: Some(options), ..failed.whole_block(DamageKind::OtherOptions) })
}

/// The header has the layout of other releases.
fn other_layout(failed: &FailedBlock<'_>, place: &[u8]) -> Option<String> {
    let layout = match failed.layout {
        HeaderLayout::Current => HeaderLayout::Fio340,
        HeaderLayout::Fio340 => HeaderLayout::Current,
    };
    let header = header_search::sound(layout, place)?;
    (header.offset == failed.offset()).then(|| format!("verify_layout={}", layout.word()))
}

/// The options that the header of the first interval implies, if the interval is sound with them.
fn of_header(failed: &FailedBlock<'_>, header: &BlockHeader) -> Option<String> {
    let spec = &failed.verifier.spec;
    let len = header.len as usize;
    // Methods without headers have codes too, which no writer stores in one.
    let writer = VerifyMethod::from_code(header.method).filter(|method| method.has_header())?;
    let mut options = Vec::new();
    if writer != spec.method {
        options.push(format!("verify={}", writer.word()));
    }
    let has_pattern = header.seed == 0;
    match (has_pattern, &spec.pattern) {
        (false, Some(_)) => options.push("no verify_pattern".to_owned()),
        (true, None) => {
            let data = failed.raw.get(failed.layout.overhead(writer)..).filter(|_| spec.offset == 0);
            let repeated = data.and_then(|data| repeated(data, failed.layout.overhead(writer)));
            options.push(repeated.map_or_else(|| "verify_pattern".to_owned(), |once| spelled(&once)));
        }
        _ => {}
    }
    if len != failed.step && spec.method.has_header() {
        options.push(match len <= failed.raw.len() {
            true => format!("verify_interval={len}"),
            false => format!("bs={len}"),
        });
    }
    // Without a difference that makes the check fail, the data is damaged.
    let explains = writer != spec.method
        || (len != failed.step && spec.method.has_header())
        || (!has_pattern && spec.pattern.is_some());
    let is_sound = len > failed.raw.len() || is_sound(failed, spec.offset as usize, writer, len);
    (explains && is_sound && !options.is_empty()).then(|| options.join(", "))
}

/// Whether the first `len` bytes hold an interval with a header at `offset` and a correct digest.
fn is_sound(failed: &FailedBlock<'_>, offset: usize, writer: VerifyMethod, len: usize) -> bool {
    let overhead = failed.layout.overhead(writer);
    let Some(mut interval) = failed.raw.get(..len).map(<[u8]>::to_vec) else { return false };
    if len <= overhead + offset {
        return false;
    }
    if offset >= overhead {
        let (front, back) = interval.split_at_mut(offset);
        if back.len() < overhead {
            return false;
        }
        front[..overhead].swap_with_slice(&mut back[..overhead]);
    } else if offset > 0 {
        return false;
    }
    let stored = Digest::of(&interval[failed.layout.bytes()..overhead]);
    header_search::sound(failed.layout, &interval).is_some()
        && stored == Digest::compute(writer, &interval[overhead..])
}

/// The header lies elsewhere in the interval, and the data is right.
fn other_place(failed: &FailedBlock<'_>) -> Option<String> {
    let (at, header) = failed.header_elsewhere()?;
    let writer = VerifyMethod::from_code(header.method)?;
    let len = header.len as usize;
    let is_here = at < failed.step && header.offset == failed.offset() && len == failed.step;
    // Without a digest, a block that is shifted has its header elsewhere as well.
    let is_proved = writer.has_digest() && is_sound(failed, at, writer, len);
    let is_same = writer == failed.verifier.spec.method;
    let method = if is_same { String::new() } else { format!("verify={}, ", writer.word()) };
    (is_here && is_proved).then(|| match at {
        0 => format!("{method}no verify_offset"),
        at => format!("{method}verify_offset={at}"),
    })
}

/// The block contains another pattern from the end of its header on.
fn other_pattern(failed: &FailedBlock<'_>) -> Option<String> {
    let spec = &failed.verifier.spec;
    // With several intervals or a moved header, the other pattern is not contiguous.
    if spec.pattern.is_none() || spec.offset > 0 || failed.step < failed.raw.len() {
        return None;
    }
    if spec.method.has_header() && !failed.headers.first()?.as_ref()?.sound {
        return None;
    }
    let from = failed.overhead;
    let once = repeated(failed.raw.get(from..)?, from)?;
    // The bytes of an unwritten device are not a pattern that somebody set, and neither is a shifted pattern.
    (!matches!(once[..], [0 | 0xff]) && !is_rotation(failed, &once)).then(|| spelled(&once))
}

/// The bytes that `data` repeats, in the phase of the start of the block. `data` begins at byte `from` of the block.
fn repeated(data: &[u8], from: usize) -> Option<Vec<u8>> {
    if data.len() < 2 * MAX_PATTERN_BYTES {
        return None;
    }
    let period = (1..=MAX_PATTERN_BYTES).find(|&period| data[..data.len() - period] == data[period..])?;
    Some((0..period).map(|at| data[(period - from % period + at) % period]).collect())
}

/// The option that sets a pattern.
fn spelled(once: &[u8]) -> String {
    if once.len() > MAX_PRINTED_BYTES {
        return format!("a verify_pattern of {} bytes", once.len());
    }
    let hex: String = once.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("verify_pattern=0x{hex}")
}

/// Whether the bytes are the job's own pattern, in another phase or with another offset in it.
fn is_rotation(failed: &FailedBlock<'_>, once: &[u8]) -> bool {
    let Some(pattern) = &failed.verifier.spec.pattern else { return false };
    let mut own = vec![0; failed.raw.len().min(4 * MAX_PATTERN_BYTES)];
    let repeated: Vec<u8> = once.iter().copied().cycle().take(2 * MAX_PATTERN_BYTES).collect();
    [Some(failed.offset()), pattern.claimed_offset(&failed.raw)].into_iter().flatten().any(|offset| {
        pattern.fill(&mut own, offset);
        own.windows(repeated.len()).any(|bytes| bytes == repeated)
    })
}
