//! Steps of Adam (Kingma & Ba 2015), and the running mean of parameters.
//!
//! The first parameters are rows of embeddings, of which a step has gradients for a few. The others
//! are left alone, and are brought up to date before they are read: what the steps between would have
//! done to them is a geometric series. So a step costs the same for any size of the vocabulary.

use rayon::prelude::*;

use crate::numeric::simd_dispatch::simd_dispatch;

/// The decay of the mean of gradients.
const MEAN_DECAY: f32 = 0.9;

/// The decay of the mean of squared gradients.
const SQUARE_DECAY: f32 = 0.98;

/// Keeps Adam from dividing by zero.
const EPSILON: f32 = 1e-8;

/// The number of parameters of which a thread computes steps at a time.
const BLOCK: usize = 1 << 14;

/// How far a step goes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StepSize {
    /// The learning rate.
    pub rate: f32,
    /// What sums of gradients are multiplied by.
    pub scale: f32,
    /// Gradients with a larger norm are scaled to this norm.
    pub largest_norm: f32,
    /// The decay of the mean of the parameters; 0 for no mean.
    pub average_decay: f32,
}

/// The state of Adam.
#[derive(Debug)]
pub struct Adam {
    /// The number of elements of a row, and that of the elements of all rows.
    row_size: usize,
    row_elements: usize,
    means: Vec<f32>,
    squares: Vec<f32>,
    average: Vec<f32>,
    steps: usize,
    /// For each row the number of steps up to which it has been brought.
    row_steps: Vec<usize>,
    /// For each number of steps the learning rate of the last one, and the logarithm of the product of
    /// the decays of the mean of parameters.
    history: Vec<(f32, f64)>,
}

impl Adam {
    /// The state before the first step. The parameters begin with `rows` rows.
    pub fn new(values: &[f32], row_size: usize, rows: usize) -> Self {
        let zeros = vec![0.0; values.len()];
        Self {
            row_size,
            row_elements: rows * row_size,
            means: zeros.clone(),
            squares: zeros,
            average: values.to_vec(),
            steps: 0,
            row_steps: vec![0; rows],
            history: vec![(0.0, 0.0)],
        }
    }

    /// The mean of the parameters over the last steps. All rows must be up to date.
    pub fn average(&self) -> &[f32] {
        &self.average
    }

    /// Set the gradients of all parameters that are no rows to zero.
    pub fn clear(&self, gradients: &mut [f32]) {
        gradients[self.row_elements..].fill(0.0);
    }

    /// Bring some rows up to date, before they are read.
    pub fn catch_up(&mut self, values: &mut [f32], rows: impl IntoIterator<Item = u32>) {
        for number in rows {
            let row = number as usize;
            let missed = self.steps - self.row_steps[row];
            if missed == 0 {
                continue;
            }
            let (rate, log_decay) = self.history[self.row_steps[row]];
            self.row_steps[row] = self.steps;
            let exponent = i32::try_from(missed).unwrap_or(i32::MAX);
            // Each missed step is smaller than the one before by this ratio.
            let ratio = MEAN_DECAY / SQUARE_DECAY.sqrt();
            let drift = ratio * (1.0 - ratio.powi(exponent)) / (1.0 - ratio);
            let decay = (self.history[self.steps].1 - log_decay).exp() as f32;
            let [mean_bias, square_bias] = biases(self.steps);
            let own = self.row(number);
            let means = self.means[own.clone()].iter_mut();
            let squares = self.squares[own.clone()].iter_mut();
            let averages = self.average[own.clone()].iter_mut();
            for (((value, mean), square), average) in
                values[own].iter_mut().zip(means).zip(squares).zip(averages)
            {
                let deviation = (*square / square_bias).sqrt() + EPSILON;
                *value -= rate * drift * (*mean / mean_bias) / deviation;
                *mean *= MEAN_DECAY.powi(exponent);
                *square *= SQUARE_DECAY.powi(exponent);
                *average = *value + decay * (*average - *value);
            }
        }
    }

    /// Bring all rows up to date.
    pub fn catch_up_all(&mut self, values: &mut [f32]) {
        self.catch_up(values, 0..self.row_steps.len() as u32);
    }

    /// A step with the sum of some gradients, of which some rows are not zero. They must be up to date;
    /// their gradients are zero afterwards.
    pub fn step(
        &mut self,
        values: &mut [f32],
        gradients: &mut [Vec<f32>],
        rows: &[u32],
        size: StepSize,
    ) {
        let (sum, others) = gradients.split_at_mut(1);
        let (row_sums, sums) = sum[0].split_at_mut(self.row_elements);
        let mut squares: Vec<f64> = sums
            .par_chunks_mut(BLOCK)
            .enumerate()
            .map(|(block, sums)| {
                for other in others.iter() {
                    add(sums, &other[self.row_elements + block * BLOCK..]);
                }
                square_norm(sums)
            })
            .collect();
        for place in rows.iter().map(|&row| self.row(row)) {
            for other in others.iter_mut() {
                let own = &mut other[place.clone()];
                add(&mut row_sums[place.clone()], own);
                own.fill(0.0);
            }
            squares.push(square_norm(&row_sums[place]));
        }
        let norm = squares.iter().sum::<f64>().sqrt() as f32 * size.scale;
        self.steps += 1;
        // The mean of all steps so far, until there are enough of them.
        let decay = size.average_decay.min(self.steps as f32 / (self.steps as f32 + 10.0));
        let log_decay =
            self.history[self.steps - 1].1 + f64::from(decay).max(f64::MIN_POSITIVE).ln();
        self.history.push((size.rate, log_decay));
        let [mean_bias, square_bias] = biases(self.steps);
        let scale = size.scale * (size.largest_norm / norm.max(size.largest_norm));
        let update = Update { rate: size.rate, scale, mean_bias, square_bias, decay };
        let (row_values, values) = values.split_at_mut(self.row_elements);
        let (row_means, means) = self.means.split_at_mut(self.row_elements);
        let (row_squares, squares) = self.squares.split_at_mut(self.row_elements);
        let (row_average, average) = self.average.split_at_mut(self.row_elements);
        let blocks = values
            .par_chunks_mut(BLOCK)
            .zip(means.par_chunks_mut(BLOCK))
            .zip(squares.par_chunks_mut(BLOCK))
            .zip(average.par_chunks_mut(BLOCK))
            .zip(sums.par_chunks(BLOCK));
        blocks.for_each(|((((values, means), squares), average), gradients)| {
            apply(update, values, means, squares, average, gradients);
        });
        for &row in rows {
            let place = row as usize * self.row_size..(row as usize + 1) * self.row_size;
            let own = &mut row_sums[place.clone()];
            apply(
                update,
                &mut row_values[place.clone()],
                &mut row_means[place.clone()],
                &mut row_squares[place.clone()],
                &mut row_average[place],
                own,
            );
            own.fill(0.0);
            self.row_steps[row as usize] = self.steps;
        }
    }

    fn row(&self, row: u32) -> std::ops::Range<usize> {
        row as usize * self.row_size..(row as usize + 1) * self.row_size
    }
}

/// The sums of the weights in the two means of gradients.
fn biases(steps: usize) -> [f32; 2] {
    let steps = i32::try_from(steps).unwrap_or(i32::MAX);
    [MEAN_DECAY, SQUARE_DECAY].map(|decay| 1.0 - decay.powi(steps))
}

fn add(sums: &mut [f32], values: &[f32]) {
    sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += value);
}

/// The sum of squares, by several sums that the compiler puts side by side.
fn square_norm(values: &[f32]) -> f64 {
    const LANES: usize = 16;
    #[inline(always)]
    fn run(values: &[f32]) -> f64 {
        let mut sums = [0.0; LANES];
        for values in values.chunks(LANES) {
            for (sum, value) in sums.iter_mut().zip(values) {
                *sum += f64::from(*value) * f64::from(*value);
            }
        }
        sums.iter().sum()
    }
    simd_dispatch!(run, (values: &[f32]) -> f64)
}

/// What a step does to each parameter.
#[derive(Debug, Clone, Copy)]
struct Update {
    rate: f32,
    scale: f32,
    mean_bias: f32,
    square_bias: f32,
    decay: f32,
}

/// Apply an update to some parameters.
fn apply(
    update: Update,
    values: &mut [f32],
    means: &mut [f32],
    squares: &mut [f32],
    average: &mut [f32],
    gradients: &[f32],
) {
    #[inline(always)]
    fn run(
        update: Update,
        values: &mut [f32],
        means: &mut [f32],
        squares: &mut [f32],
        average: &mut [f32],
        gradients: &[f32],
    ) {
        let count = values.len();
        let (means, squares) = (&mut means[..count], &mut squares[..count]);
        let (average, gradients) = (&mut average[..count], &gradients[..count]);
        for place in 0..count {
            let gradient = gradients[place] * update.scale;
            means[place] += (1.0 - MEAN_DECAY) * (gradient - means[place]);
            squares[place] += (1.0 - SQUARE_DECAY) * (gradient * gradient - squares[place]);
            let mean = means[place] / update.mean_bias;
            let deviation = (squares[place] / update.square_bias).sqrt() + EPSILON;
            values[place] -= update.rate * mean / deviation;
            average[place] += (1.0 - update.decay) * (values[place] - average[place]);
        }
    }
    simd_dispatch!(
        run,
        (
            update: Update,
            values: &mut [f32],
            means: &mut [f32],
            squares: &mut [f32],
            average: &mut [f32],
            gradients: &[f32],
        )
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::neural::random::Random;

    const ROWS: usize = 6;
    const ROW_SIZE: usize = 3;
    const SIZE: StepSize =
        StepSize { rate: 0.01, scale: 0.5, largest_norm: 2.0, average_decay: 0.95 };

    /// The parameters and their mean after some steps. Row `n` has a gradient in each `n + 1`th step;
    /// it is left alone in the others if `lazy`.
    fn after(steps: u64, lazy: bool) -> [Vec<f32>; 2] {
        let mut random = Random::new(&[2]);
        let mut values: Vec<f32> = (0..ROWS * ROW_SIZE + 4).map(|_| random.uniform()).collect();
        let mut adam = Adam::new(&values, ROW_SIZE, ROWS);
        let mut gradients = vec![vec![0.0; values.len()]; 2];
        for step in 0..steps {
            let has_gradient = |row: &u32| step.is_multiple_of(u64::from(*row) + 1);
            let rows: Vec<u32> =
                (0..ROWS as u32).filter(|row| !lazy || has_gradient(row)).collect();
            adam.catch_up(&mut values, rows.iter().copied());
            for (part, gradients) in gradients.iter_mut().enumerate() {
                adam.clear(gradients);
                assert!(gradients.iter().all(|gradient| *gradient == 0.0));
                let mut random = Random::new(&[5, step, part as u64]);
                for (place, gradient) in gradients.iter_mut().enumerate() {
                    let value = random.uniform() - 0.3;
                    if has_gradient(&((place / ROW_SIZE) as u32)) || place >= ROWS * ROW_SIZE {
                        *gradient = value;
                    }
                }
            }
            adam.step(&mut values, &mut gradients, &rows, SIZE);
        }
        adam.catch_up_all(&mut values);
        [values, adam.average().to_vec()]
    }

    #[test]
    fn rows_that_are_left_alone_end_where_all_steps_would_bring_them() {
        let (start, all, lazy) = (after(0, false), after(200, false), after(200, true));
        for part in 0..2 {
            for place in 0..ROWS * ROW_SIZE + 4 {
                let moved = (all[part][place] - start[part][place]).abs();
                let difference = (all[part][place] - lazy[part][place]).abs();
                assert!(difference < 0.03 * moved + 2e-3, "{place}: {difference} of {moved}");
            }
        }
        // The first row has a gradient in each step, and so have those that are no rows.
        for own in [0..ROW_SIZE, ROWS * ROW_SIZE..ROWS * ROW_SIZE + 4] {
            assert_eq!(all[0][own.clone()], lazy[0][own]);
        }
    }

    #[test]
    fn the_sum_of_squares_is_right() {
        let values: Vec<f32> = (1..=37u8).map(f32::from).collect();
        assert_eq!(square_norm(&values), f64::from(37 * 38 * 75 / 6));
    }
}
