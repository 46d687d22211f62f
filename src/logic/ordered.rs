//! One way to sort and one kind of ordered map for the whole layer.
//!
//! Every type that is sorted or mapped brings some kilobytes of its own into the module, so pairs of small numbers are
//! packed into one, and what a map is asked for is written as a list of small numbers.

use std::collections::BTreeMap;

/// Positions, by a key written as numbers.
pub type Positions = BTreeMap<Vec<u32>, usize>;

/// Two numbers in one that sorts by the first, then the second.
pub fn pack(first: u32, second: u32) -> u64 {
    (u64::from(first) << 32) | u64::from(second)
}

pub fn unpack(packed: u64) -> (u32, u32) {
    let low = packed & u64::from(u32::MAX);
    (u32::try_from(packed >> 32).unwrap_or(u32::MAX), u32::try_from(low).unwrap_or(u32::MAX))
}

/// A position in a list as a small number. No document has so many parts that it would not fit.
pub fn small(position: usize) -> u32 {
    u32::try_from(position).unwrap_or(u32::MAX)
}

/// A small number as a position in a list.
pub fn wide(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

/// Changes the entry at a position that the caller knows to be in the list. In debug builds a position outside of it
/// stops the program; in the module nothing happens then, since a panic there is a trap without a message.
pub fn change<T>(list: &mut [T], position: usize, change: impl FnOnce(&mut T)) {
    debug_assert!(position < list.len(), "position {position} in a list of {}", list.len());
    if let Some(entry) = list.get_mut(position) {
        change(entry);
    }
}

/// Ascending, each once.
pub fn ascending(mut numbers: Vec<u64>) -> Vec<u64> {
    numbers.sort_unstable();
    numbers.dedup();
    numbers
}
