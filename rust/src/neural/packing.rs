//! Sequences of different lengths side by side, without padding.
//!
//! Sequences are sorted by length, the longest first, and stored by positions: the first elements of
//! all sequences, then the second elements of those that have one, and so on. So the elements of one
//! position are consecutive rows of a matrix, and those of the position before are the rows above.

use std::ops::Range;

/// Where the elements of sequences are stored.
#[derive(Debug, Clone)]
pub struct Packing {
    /// The lengths of the sequences, longest first.
    lengths: Vec<usize>,
    /// The first row of each position, and the number of all rows.
    offsets: Vec<usize>,
    /// For each row, the row of the same sequence if it is read from its end.
    reversed: Vec<u32>,
}

impl Packing {
    /// The packing of sequences with these lengths, which must descend and not be zero.
    pub fn new(lengths: Vec<usize>) -> Self {
        assert!(lengths.is_sorted_by(|a, b| a >= b) && lengths.last() != Some(&0), "not sorted");
        let mut offsets = vec![0];
        let mut active = lengths.len();
        let mut rows = 0;
        for position in 0..lengths.first().copied().unwrap_or(0) {
            while lengths[active - 1] <= position {
                active -= 1;
            }
            rows += active;
            offsets.push(rows);
        }
        let mut packing = Self { lengths, offsets, reversed: vec![0; rows] };
        for sequence in 0..packing.lengths.len() {
            let length = packing.lengths[sequence];
            for position in 0..length {
                let row = packing.row(sequence, position);
                packing.reversed[row] = packing.row(sequence, length - 1 - position) as u32;
            }
        }
        packing
    }

    /// The number of sequences.
    pub fn sequences(&self) -> usize {
        self.lengths.len()
    }

    /// The length of a sequence.
    pub fn length(&self, sequence: usize) -> usize {
        self.lengths[sequence]
    }

    /// The number of elements of all sequences.
    pub fn rows(&self) -> usize {
        self.reversed.len()
    }

    /// The row of an element.
    pub fn row(&self, sequence: usize, position: usize) -> usize {
        debug_assert!(position < self.lengths[sequence]);
        self.offsets[position] + sequence
    }

    /// The rows of each position, and the first row of the position before.
    pub fn positions(&self) -> impl DoubleEndedIterator<Item = (Range<usize>, Option<usize>)> {
        (1..self.offsets.len()).map(|next| {
            let rows = self.offsets[next - 1]..self.offsets[next];
            (rows, next.checked_sub(2).map(|before| self.offsets[before]))
        })
    }

    /// The row of the same sequence read from its end.
    pub fn reversed(&self, row: usize) -> usize {
        self.reversed[row] as usize
    }

    /// Copy the rows of a matrix, each sequence from its end.
    pub fn reverse(&self, values: &[f32], columns: usize, target: &mut Vec<f32>) {
        target.clear();
        for &row in &self.reversed {
            target.extend_from_slice(&values[row as usize * columns..][..columns]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_a_position_are_consecutive() {
        let packing = Packing::new(vec![3, 2, 2]);
        let positions: Vec<_> = packing.positions().collect();
        assert_eq!(positions, [(0..3, None), (3..6, Some(0)), (6..7, Some(3))]);
        assert_eq!((packing.row(0, 2), packing.row(2, 1), packing.rows()), (6, 5, 7));
    }

    #[test]
    fn reversing_twice_changes_nothing() {
        let packing = Packing::new(vec![4, 2, 1]);
        let values: Vec<f32> = (0..packing.rows() as u8 * 2).map(f32::from).collect();
        let (mut once, mut twice) = (Vec::new(), Vec::new());
        packing.reverse(&values, 2, &mut once);
        packing.reverse(&once, 2, &mut twice);
        assert_eq!(values, twice);
        assert_eq!(once[..2], values[packing.row(0, 3) * 2..][..2]);
    }
}
