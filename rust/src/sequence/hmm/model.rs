//! The parameters of a hidden Markov model, laid out for the passes.

use super::kernels::padded;

/// What can be wrong with parameters or sequences.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum HmmError {
    /// An array has the wrong length.
    #[error("{array} must have {expected} elements, not {found}")]
    Length {
        /// Which array.
        array: &'static str,
        /// The number of elements it should have.
        expected: usize,
        /// The number of elements it has.
        found: usize,
    },
    /// A parameter is negative, infinite or not a number.
    #[error("{array}: {value} is not a probability")]
    Probability {
        /// Which array.
        array: &'static str,
        /// The value.
        value: f64,
    },
    /// Offsets do not ascend from zero to the number of symbols, or a sequence is empty.
    #[error("offsets must ascend from 0 to the number of symbols, {0}")]
    Offsets(usize),
    /// A sequence has a symbol that the model does not have.
    #[error("symbol {symbol} is out of range: there are {symbols}")]
    Symbol {
        /// The symbol.
        symbol: u32,
        /// The number of symbols of the model.
        symbols: usize,
    },
    /// The model cannot generate a sequence, so it has no posteriors.
    #[error("sequence {} has no probability under the model", .sequence + 1)]
    Impossible {
        /// The number of the sequence, from zero.
        sequence: usize,
    },
    /// The computation was stopped.
    #[error(transparent)]
    Cancelled(#[from] crate::cancel::Cancelled),
}

/// A hidden Markov model over categorical observations.
///
/// A sequence begins in state i with probability `initial[i]`, goes from i to j with
/// `transitions[i][j]`, emits symbol x in state i with `emissions[x][i]`, and ends after state i
/// with `ends[i]`. If `ends` are all one and transitions sum to one, probabilities are those of
/// sequences given their length.
#[derive(Debug, Clone)]
pub struct Model {
    states: usize,
    symbols: usize,
    pub(super) initial: Vec<f64>,
    /// A row for each source state.
    pub(super) transitions: Vec<f64>,
    /// The transposed transitions: a row for each target state.
    pub(super) entries: Vec<f64>,
    pub(super) ends: Vec<f64>,
    emissions: Vec<f64>,
}

impl Model {
    /// Check and pad the parameters. `transitions` has a row for each state, and `emissions` a row
    /// for each state too, with a column for each symbol.
    pub fn new(
        initial: &[f64],
        transitions: &[f64],
        ends: &[f64],
        emissions: &[f64],
        symbols: usize,
    ) -> Result<Self, HmmError> {
        let states = initial.len();
        let expected = [
            ("initial", initial, states.max(1)),
            ("transitions", transitions, states * states),
            ("ends", ends, states),
            ("emissions", emissions, states * symbols),
        ];
        for (array, values, expected) in expected {
            if values.len() != expected {
                return Err(HmmError::Length { array, expected, found: values.len() });
            }
            if let Some(&value) = values.iter().find(|value| !(**value >= 0.0 && value.is_finite()))
            {
                return Err(HmmError::Probability { array, value });
            }
        }
        let width = padded(states);
        let rows = |matrix: &[f64]| {
            let mut result = vec![0.0; states * width];
            for (row, padded) in matrix.chunks_exact(states).zip(result.chunks_exact_mut(width)) {
                padded[..states].copy_from_slice(row);
            }
            result
        };
        let columns = |matrix: &[f64], columns: usize| {
            let mut result = vec![0.0; columns * width];
            for (state, row) in matrix.chunks_exact(columns.max(1)).enumerate() {
                for (&value, padded) in row.iter().zip(result.chunks_exact_mut(width)) {
                    padded[state] = value;
                }
            }
            result
        };
        let row = |vector: &[f64]| [vector, &vec![0.0; width - states]].concat();
        Ok(Self {
            states,
            symbols,
            initial: row(initial),
            transitions: rows(transitions),
            entries: columns(transitions, states),
            ends: row(ends),
            emissions: columns(emissions, symbols),
        })
    }

    /// The number of states.
    pub fn states(&self) -> usize {
        self.states
    }

    /// The number of symbols.
    pub fn symbols(&self) -> usize {
        self.symbols
    }

    /// The length of a padded row.
    pub(super) fn width(&self) -> usize {
        self.initial.len()
    }

    /// The probability of a symbol in each state.
    #[inline(always)]
    pub(super) fn emission(&self, symbol: u32) -> &[f64] {
        let width = self.width();
        &self.emissions[symbol as usize * width..][..width]
    }
}
