//! Scores of the labels of all spans of a sentence.
//!
//! A span is the difference of its two borders (Stern et al. 2017). The first layer of the classifier
//! is linear, so it is applied to borders and not to spans: the hidden layer of a span is the
//! difference of two projections.

use super::encoder::Network;
use super::matrix::{Into, Matrix, add_column_sums, fill_rows, multiply};
use super::random::{Random, kept_scale};
use crate::cancel::{Cancel, Cancelled};
use crate::chart::Cells;
use crate::numeric::simd_dispatch::simd_dispatch;

/// The number of spans that are scored between two checks whether to stop.
const BLOCK: usize = 1 << 12;

/// The hidden layers and the scores of all spans of a sentence, in the order of [`Cells`].
#[derive(Debug)]
pub struct SpanScores {
    cells: Cells,
    hidden: Vec<f32>,
    /// A row of scores for each span.
    pub scores: Vec<f32>,
    /// The inverse of the probability that a unit is kept in dropout.
    kept: f32,
}

impl SpanScores {
    /// Score the spans of a sentence, given the projections of its borders. In training, units of
    /// the hidden layer are set to zero with a probability.
    pub fn new(
        network: &Network,
        values: &[f32],
        projections: &[f32],
        dropout: Option<(f32, &mut Random)>,
        cancel: &Cancel,
    ) -> Result<Self, Cancelled> {
        let (shape, layout) = (&network.shape, &network.layout);
        let size = shape.span_hidden;
        let cells = Cells::new(projections.len() / size - 1);
        let bias = &values[layout.border_bias.clone()];
        let mut hidden = vec![0.0; cells.count() * size];
        let kept = dropout.as_ref().map_or(1.0, |&(rate, _)| kept_scale(rate));
        fill_hidden(cells, projections, bias, dropout, &mut hidden);
        let mut scores = vec![0.0; cells.count() * shape.labels];
        fill_rows(&mut scores, &values[layout.label_bias.clone()]);
        let weights = Matrix::new(&values[layout.labels.clone()], shape.labels);
        let blocks = hidden.chunks(BLOCK * size).zip(scores.chunks_mut(BLOCK * shape.labels));
        for (hidden, scores) in blocks {
            cancel.check()?;
            multiply(Matrix::new(hidden, size), weights, scores, Into::Add);
        }
        Ok(Self { cells, hidden, scores, kept })
    }

    /// Add the gradients of the classifier and of the projections of borders, given those of the
    /// scores.
    pub fn backward(
        &self,
        network: &Network,
        values: &[f32],
        score_gradients: &[f32],
        gradients: &mut [f32],
        projection_gradients: &mut [f32],
    ) {
        let (shape, layout) = (&network.shape, &network.layout);
        let size = shape.span_hidden;
        add_column_sums(score_gradients, &mut gradients[layout.label_bias.clone()]);
        let score_gradients = Matrix::new(score_gradients, shape.labels);
        multiply(
            Matrix::new(&self.hidden, size).transposed(),
            score_gradients,
            &mut gradients[layout.labels.clone()],
            Into::Add,
        );
        let mut hidden_gradients = vec![0.0; self.hidden.len()];
        multiply(
            score_gradients,
            Matrix::new(&values[layout.labels.clone()], shape.labels).transposed(),
            &mut hidden_gradients,
            Into::Set,
        );
        // What is zero was negative or dropped.
        for (gradient, value) in hidden_gradients.iter_mut().zip(&self.hidden) {
            *gradient = if *value > 0.0 { *gradient * self.kept } else { 0.0 };
        }
        add_column_sums(&hidden_gradients, &mut gradients[layout.border_bias.clone()]);
        let mut rows = hidden_gradients.chunks_exact(size);
        for start in 0..self.cells.words() {
            let (before, after) = projection_gradients.split_at_mut((start + 1) * size);
            let from = &mut before[start * size..];
            for (to, row) in after.chunks_exact_mut(size).zip(&mut rows) {
                for ((to, from), gradient) in to.iter_mut().zip(from.iter_mut()).zip(row) {
                    *to += gradient;
                    *from -= gradient;
                }
            }
        }
    }
}

/// Fill the hidden layers of all spans.
fn fill_hidden(
    cells: Cells,
    projections: &[f32],
    bias: &[f32],
    dropout: Option<(f32, &mut Random)>,
    hidden: &mut [f32],
) {
    #[inline(always)]
    fn run(
        cells: Cells,
        projections: &[f32],
        bias: &[f32],
        mut dropout: Option<(f32, &mut Random)>,
        hidden: &mut [f32],
    ) {
        let size = bias.len();
        let mut mask = vec![1.0; size];
        let mut rows = hidden.chunks_exact_mut(size);
        for start in 0..cells.words() {
            let from = &projections[start * size..][..size];
            let ends = projections[(start + 1) * size..].chunks_exact(size);
            for (to, row) in ends.zip(&mut rows) {
                if let Some((rate, random)) = &mut dropout {
                    random.mask(&mut mask, *rate);
                }
                let (from, to, bias, mask) =
                    (&from[..size], &to[..size], &bias[..size], &mask[..size]);
                for unit in 0..size {
                    row[unit] = (to[unit] - from[unit] + bias[unit]).max(0.0) * mask[unit];
                }
            }
        }
    }
    simd_dispatch!(
        run,
        (
            cells: Cells,
            projections: &[f32],
            bias: &[f32],
            dropout: Option<(f32, &mut Random)>,
            hidden: &mut [f32],
        )
    )
}
