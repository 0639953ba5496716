//! Posteriors of labelled spans: annotations of symbols and latent states are summed out.

use super::Chart;
use crate::grammar::Grammar;

/// For each span, its possible labels and their posteriors.
#[derive(Debug, Clone, Default)]
pub struct LabelMarginals {
    offsets: Vec<u32>,
    entries: Vec<(u32, f64)>,
    sums: Vec<f64>,
}

impl LabelMarginals {
    /// Sum the posteriors of a chart by label, in memory that is reused.
    ///
    /// A unary chain may repeat a label over one span. Sums above one are therefore clipped to one.
    pub fn prepare(&mut self, grammar: &Grammar, chart: &Chart) {
        let output = grammar.output();
        self.sums.resize(output.number_of_labels(), 0.0);
        self.offsets.clear();
        self.offsets.push(0);
        self.entries.clear();
        for cell in 0..chart.cells().count() {
            let from = self.entries.len();
            for item in chart.items(cell) {
                let posterior = chart.posterior(item);
                if posterior == 0.0 {
                    continue;
                }
                for &label in output.labels(chart.symbol(item)) {
                    if self.sums[label as usize] == 0.0 {
                        self.entries.push((label, 0.0));
                    }
                    self.sums[label as usize] += posterior;
                }
            }
            for (label, sum) in &mut self.entries[from..] {
                *sum = std::mem::take(&mut self.sums[*label as usize]).min(1.0);
            }
            self.offsets.push(self.entries.len() as u32);
        }
    }

    /// The posterior of a label in a cell, computed without the table of all labels.
    pub fn of_label(grammar: &Grammar, chart: &Chart, cell: usize, label: u32) -> f64 {
        let mut sum = 0.0;
        for item in chart.items(cell) {
            let labels = grammar.output().labels(chart.symbol(item));
            for _ in labels.iter().filter(|&&own| own == label) {
                sum += chart.posterior(item);
            }
        }
        f64::min(sum, 1.0)
    }

    /// The labels of a cell and their posteriors.
    #[inline]
    pub fn cell(&self, cell: usize) -> &[(u32, f64)] {
        &self.entries[self.offsets[cell] as usize..self.offsets[cell + 1] as usize]
    }

    /// The posterior of a label in a cell.
    #[inline]
    pub fn get(&self, cell: usize, label: u32) -> f64 {
        self.cell(cell).iter().find(|entry| entry.0 == label).map_or(0.0, |entry| entry.1)
    }
}
