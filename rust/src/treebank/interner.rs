//! Values numbered in the order of their first appearance.

use std::borrow::Borrow;
use std::hash::Hash;

use rustc_hash::FxHashMap;

/// A two-way map between values and consecutive ids from zero.
#[derive(Debug, Clone)]
pub struct Interner<T> {
    ids: FxHashMap<T, u32>,
    values: Vec<T>,
}

impl<T> Default for Interner<T> {
    fn default() -> Self {
        Self { ids: FxHashMap::default(), values: Vec::new() }
    }
}

impl<T: Hash + Eq + Clone> Interner<T> {
    /// The id of `value`, which is added if it is new.
    pub fn intern<Q>(&mut self, value: &Q) -> u32
    where
        T: Borrow<Q>,
        Q: Hash + Eq + ToOwned<Owned = T> + ?Sized,
    {
        if let Some(&id) = self.ids.get(value) {
            return id;
        }
        let id = u32::try_from(self.values.len()).expect("fewer than 2^32 distinct values");
        self.values.push(value.to_owned());
        self.ids.insert(value.to_owned(), id);
        id
    }

    /// The id of `value` if it was seen.
    pub fn get<Q>(&self, value: &Q) -> Option<u32>
    where
        T: Borrow<Q>,
        Q: Hash + Eq + ?Sized,
    {
        self.ids.get(value).copied()
    }

    /// All values, in the order of their ids.
    pub fn values(&self) -> &[T] {
        &self.values
    }

    /// The number of distinct values.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }
}
