//! Numbers of distinct pairs of integers, in the order in which they come first.

use rustc_hash::FxHashMap;

/// Number the distinct pairs of a group and a key from 0 on; also return how many there are.
///
/// The rows of a group follow one another, or else they count as those of several groups.
///
/// ```
/// use lpcfg_core::numeric::distinct::number_pairs;
/// assert_eq!(number_pairs(&[0, 0, 0, 1], &[7, 5, 7, 7]), (vec![0, 1, 0, 2], 3));
/// ```
pub fn number_pairs(groups: &[i64], keys: &[i64]) -> (Vec<i64>, usize) {
    let mut numbers = Vec::with_capacity(groups.len());
    let mut count = 0;
    for rows in groups.chunk_by(|one, other| one == other) {
        let keys = &keys[numbers.len()..][..rows.len()];
        // A table for each group is small enough for the caches.
        let mut known = FxHashMap::default();
        let mut last = None;
        for &key in keys {
            let number = match last {
                // In many groups all rows have the same key.
                Some((same, number)) if same == key => number,
                _ => *known.entry(key).or_insert_with(|| {
                    count += 1;
                    count as i64 - 1
                }),
            };
            last = Some((key, number));
            numbers.push(number);
        }
    }
    (numbers, count)
}
