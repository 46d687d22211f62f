//! Names in a list, looked up without reading the whole list each time.

use std::collections::BTreeMap;

/// Where each name first appears in a list.
///
/// The map is one that the module holds anyway: each other type of map would add some kilobytes.
#[derive(Debug, Default)]
pub struct Names<'n>(BTreeMap<&'n str, u32>);

impl<'n> Names<'n> {
    /// The names of a list, in its order.
    pub fn of(names: impl Iterator<Item = &'n str>) -> Self {
        let mut all = Names::default();
        for (position, name) in names.enumerate() {
            all.add(name, position);
        }
        all
    }

    /// Adds the name at this position, and says whether it is new. An earlier position stays.
    // Not inlined: one copy of the map's own code is enough.
    #[inline(never)]
    pub fn add(&mut self, name: &'n str, position: usize) -> bool {
        // No document has so many parts that a position would not fit.
        match self.0.insert(name, u32::try_from(position).unwrap_or(u32::MAX)) {
            None => true,
            Some(earlier) => {
                self.0.insert(name, earlier);
                false
            }
        }
    }

    /// Where the name first appears.
    #[inline(never)]
    pub fn position(&self, name: &str) -> Option<usize> {
        self.0.get(name).and_then(|position| usize::try_from(*position).ok())
    }

    /// The names in their order, each once.
    pub fn names(&self) -> impl Iterator<Item = &'n str> {
        self.0.keys().copied()
    }

    /// How many different names there are.
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// The positions of the names in the order of the names.
    pub fn ordered(&self) -> impl Iterator<Item = usize> {
        self.0.values().filter_map(|position| usize::try_from(*position).ok())
    }

    pub fn contains(&self, name: &str) -> bool {
        self.position(name).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::Names;

    #[test]
    fn a_name_is_found_where_it_first_appears() {
        let mut names = Names::of(["b", "a", "b", ""].into_iter());
        assert_eq!(["a", "b", "", "c"].map(|name| names.position(name)), [Some(1), Some(0), Some(3), None]);
        assert!(names.contains("a") && !names.contains("A"));
        assert!(names.add("c", 4) && !names.add("b", 5));
        assert_eq!(names.position("b"), Some(0));
    }
}
