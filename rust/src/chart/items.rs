//! The chart of a sentence: its items, with their inside, outside and posterior values.

use super::edges::Edge;
use super::{Cells, refill};
use crate::grammar::{SetWord, SymbolId};
use crate::numeric::scaling::{EMPTY, power_of_two};

/// The items of a sentence, symbols over spans, with the inside and outside values of the PCFG pass
/// and with posteriors. Posteriors are those of the PCFG until a later pass sets its own.
#[derive(Debug, Clone)]
pub struct Chart {
    pub(super) cells: Cells,
    /// The items of each cell.
    pub(super) ranges: Vec<(u32, u32)>,
    /// The power of two by which the inside values of each cell are scaled.
    pub(super) exponents: Vec<i32>,
    pub(super) symbols: Vec<SymbolId>,
    pub(super) inside: Vec<f64>,
    pub(super) outside: Vec<f64>,
    /// The log-probability of the sentence under the PCFG.
    pub(super) pcfg_log_probability: f64,
    /// The posteriors of a later model, one for each item. While this is empty, posteriors are
    /// those of the PCFG: the products of inside and outside values.
    posteriors: Vec<f64>,
    /// The log-probability of the sentence under that model.
    model_log_probability: f64,
}

impl Default for Chart {
    fn default() -> Self {
        Self {
            cells: Cells::new(0),
            ranges: Vec::new(),
            exponents: Vec::new(),
            symbols: Vec::new(),
            inside: Vec::new(),
            outside: Vec::new(),
            pcfg_log_probability: f64::NEG_INFINITY,
            posteriors: Vec::new(),
            model_log_probability: f64::NEG_INFINITY,
        }
    }
}

impl Chart {
    /// The spans of the sentence.
    pub fn cells(&self) -> Cells {
        self.cells
    }

    /// The items of a span, as a range of item numbers, in ascending order of their symbols.
    #[inline]
    pub fn items(&self, cell: usize) -> std::ops::Range<usize> {
        let (from, to) = self.ranges[cell];
        from as usize..to as usize
    }

    /// The number of items.
    pub fn len(&self) -> usize {
        self.symbols.len()
    }

    /// Whether there are no items.
    pub fn is_empty(&self) -> bool {
        self.symbols.is_empty()
    }

    /// The symbol of an item.
    #[inline]
    pub fn symbol(&self, item: usize) -> SymbolId {
        self.symbols[item]
    }

    /// The symbols of a range of items.
    #[inline]
    pub fn symbols(&self, items: std::ops::Range<usize>) -> &[SymbolId] {
        &self.symbols[items]
    }

    /// The expected number of nodes with this symbol over this span, given the sentence: under the
    /// PCFG, or under the later model whose posteriors replaced those of the PCFG.
    #[inline]
    pub fn posterior(&self, item: usize) -> f64 {
        match self.posteriors.get(item) {
            Some(&posterior) => posterior,
            None => self.pcfg_posterior(item),
        }
    }

    /// The posterior of an item under the PCFG.
    #[inline]
    pub(super) fn pcfg_posterior(&self, item: usize) -> f64 {
        self.inside[item] * self.outside[item]
    }

    /// The logarithm of an item's inside probability under the PCFG.
    pub fn log_inside(&self, cell: usize, item: usize) -> f64 {
        self.inside[item].ln() + f64::from(self.exponents[cell]) * std::f64::consts::LN_2
    }

    /// The log-probability of the sentence under the model that the posteriors come from, minus
    /// infinity if no tree spans it.
    pub fn log_probability(&self) -> f64 {
        if self.posteriors.is_empty() {
            self.pcfg_log_probability
        } else {
            self.model_log_probability
        }
    }

    /// The posterior, under the PCFG, of an item at the root of the tree; `probability` is the root
    /// probability of its symbol.
    pub fn root_posterior(&self, item: usize, probability: f64) -> f64 {
        let top = self.cells.index(0, self.cells.words());
        probability * (self.log_inside(top, item) - self.pcfg_log_probability).exp()
    }

    /// The posterior, under the PCFG, of an item that emits its word; `probability` is the emission
    /// probability.
    pub fn emission_posterior(&self, cell: usize, item: usize, probability: f64) -> f64 {
        self.outside[item] * power_of_two(-self.exponents[cell]) * probability
    }

    /// The posterior of an anchored binary rule under the PCFG.
    #[inline]
    pub fn edge_posterior(&self, edge: &Edge) -> f64 {
        let [start, split, end] = edge.boundaries;
        let shift = self.exponents[self.cells.index(start, split)]
            + self.exponents[self.cells.index(split, end)]
            - self.exponents[edge.cell];
        let children = self.inside[edge.left] * self.inside[edge.right] * power_of_two(shift);
        self.outside[edge.item] * edge.probability * children
    }

    /// The posterior, under the PCFG, of a unary rule that rewrites an item as another item of its
    /// cell, divided by the probability of the rule.
    pub fn unary_context(&self, item: usize, child: usize) -> f64 {
        self.outside[item] * self.inside[child]
    }

    /// Drop the items whose posterior is below `threshold`.
    pub fn prune(&mut self, threshold: f64) {
        self.prune_unless(threshold, |_, _| false);
    }

    /// Drop the items whose posterior is below `threshold`, except those for whose cell and symbol
    /// `keep` returns true.
    pub fn prune_unless(&mut self, threshold: f64, keep: impl Fn(usize, SymbolId) -> bool) {
        let mut kept = 0;
        // Items lie in the order in which cells were filled, so they can be moved down in place.
        for (start, end) in self.cells.bottom_up() {
            let cell = self.cells.index(start, end);
            let from = kept;
            for item in self.items(cell) {
                let posterior = self.posterior(item);
                if posterior >= threshold && posterior > 0.0 || keep(cell, self.symbols[item]) {
                    self.symbols[kept] = self.symbols[item];
                    self.inside[kept] = self.inside[item];
                    self.outside[kept] = self.outside[item];
                    if let Some(moved) = self.posteriors.get_mut(kept) {
                        *moved = posterior;
                    }
                    kept += 1;
                }
            }
            self.ranges[cell] = (from as u32, kept as u32);
        }
        self.symbols.truncate(kept);
        self.inside.truncate(kept);
        self.outside.truncate(kept);
        self.posteriors.truncate(kept);
    }

    /// Replace all posteriors, and the log-probability of the sentence, by those of a later model.
    /// Inside and outside values remain those of the PCFG.
    pub(crate) fn set_posteriors(
        &mut self,
        log_probability: f64,
        posterior: impl Fn(usize) -> f64,
    ) {
        self.model_log_probability = log_probability;
        refill(&mut self.posteriors, self.symbols.len(), 0.0);
        for (item, own) in self.posteriors.iter_mut().enumerate() {
            *own = posterior(item);
        }
    }

    /// Return to the posteriors of the PCFG.
    pub(crate) fn reset_posteriors(&mut self) {
        self.posteriors.clear();
    }

    /// A copy of the items without the values of the PCFG pass, for models that compute their own.
    /// It has no posteriors.
    pub(crate) fn items_alone(&self) -> Self {
        Self {
            cells: self.cells,
            ranges: self.ranges.clone(),
            symbols: self.symbols.clone(),
            ..Self::default()
        }
    }

    /// Bytes of each item in the memory of a PCFG pass, without the posteriors of later models,
    /// which only pruned charts have. A growing vector may have twice the capacity that it needs,
    /// and each item may need a word of a symbol set for itself.
    pub(crate) const ITEM_BYTES: usize =
        2 * (size_of::<SymbolId>() + 2 * size_of::<f64>() + size_of::<SetWord>());
    /// Bytes of each cell in the memory of a PCFG pass.
    pub(crate) const CELL_BYTES: usize = 2 * size_of::<(u32, u32)>() + size_of::<i32>();

    /// The bytes of a chart that was copied, with the values of the PCFG pass.
    pub(crate) fn bytes(&self) -> usize {
        let item = size_of::<SymbolId>() + 2 * size_of::<f64>();
        let cell = size_of::<(u32, u32)>() + size_of::<i32>();
        self.len() * item + self.ranges.len() * cell
    }

    pub(super) fn reset(&mut self, words: usize) {
        self.cells = Cells::new(words);
        refill(&mut self.ranges, self.cells.count(), (0, 0));
        refill(&mut self.exponents, self.cells.count(), EMPTY);
        self.symbols.clear();
        self.inside.clear();
        self.outside.clear();
        self.posteriors.clear();
        self.pcfg_log_probability = f64::NEG_INFINITY;
    }
}
