//! Sparse inside-outside over the symbols of the grammar, where the coarse pass allows.

use super::edges::Edge;
use super::mask::Mask;
use super::{Cells, refill};
use crate::cancel::{Cancel, Cancelled};
use crate::grammar::{Grammar, PairIndex, Projection, SetWord, SymbolId, UnaryClosure};
use crate::numeric::scaling::{EMPTY, exponent, power_of_two};
use crate::numeric::simd_dispatch::simd_dispatch;

/// The items of a sentence, symbols over spans, with their inside and outside values.
#[derive(Debug, Clone)]
pub struct Chart {
    cells: Cells,
    ranges: Vec<(u32, u32)>,
    exponents: Vec<i32>,
    symbols: Vec<SymbolId>,
    inside: Vec<f64>,
    outside: Vec<f64>,
    log_probability: f64,
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
            log_probability: f64::NEG_INFINITY,
        }
    }
}

impl Chart {
    /// The spans of the sentence.
    pub fn cells(&self) -> Cells {
        self.cells
    }

    /// The items of a span, as a range of item numbers; symbols ascend.
    #[inline]
    pub fn items(&self, cell: usize) -> std::ops::Range<usize> {
        let (from, to) = self.ranges[cell];
        from as usize..to as usize
    }

    /// How many items there are in all.
    pub fn len(&self) -> usize {
        self.symbols.len()
    }

    /// Whether nothing could be built at all.
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

    /// The expected number of nodes with this symbol over this span, given the sentence.
    #[inline]
    pub fn posterior(&self, item: usize) -> f64 {
        self.inside[item] * self.outside[item]
    }

    /// The logarithm of an item's inside probability.
    pub fn log_inside(&self, cell: usize, item: usize) -> f64 {
        self.inside[item].ln() + f64::from(self.exponents[cell]) * std::f64::consts::LN_2
    }

    /// The log-probability of the sentence, minus infinity if no tree spans it.
    pub fn log_probability(&self) -> f64 {
        self.log_probability
    }

    /// The expected number of times that an item is at the root of the tree, which its symbol is
    /// with probability `probability`.
    pub fn root_posterior(&self, item: usize, probability: f64) -> f64 {
        let top = self.cells.index(0, self.cells.words());
        probability * (self.log_inside(top, item) - self.log_probability).exp()
    }

    /// The expected number of times that an item emits its word, which its symbol does with
    /// probability `probability`.
    pub fn emission_posterior(&self, cell: usize, item: usize, probability: f64) -> f64 {
        self.outside[item] * power_of_two(-self.exponents[cell]) * probability
    }

    /// The expected number of times that an item is rewritten by a binary rule over given parts.
    #[inline]
    pub fn edge_posterior(&self, edge: &Edge) -> f64 {
        let [start, split, end] = edge.places;
        let shift = self.exponents[self.cells.index(start, split)]
            + self.exponents[self.cells.index(split, end)]
            - self.exponents[edge.cell];
        let children = self.inside[edge.left] * self.inside[edge.right] * power_of_two(shift);
        self.outside[edge.item] * edge.probability * children
    }

    /// The expected number of times that an item is rewritten by a unary rule as another one of its
    /// cell, divided by the probability of the rule.
    pub fn unary_context(&self, item: usize, child: usize) -> f64 {
        self.outside[item] * self.inside[child]
    }

    /// Drop the items whose posterior is below `threshold`.
    pub fn prune(&mut self, threshold: f64) {
        self.prune_unless(threshold, |_, _| false);
    }

    /// Drop the items whose posterior is below `threshold`, but not those that `keep` names by cell
    /// and symbol.
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
                    kept += 1;
                }
            }
            self.ranges[cell] = (from as u32, kept as u32);
        }
        self.symbols.truncate(kept);
        self.inside.truncate(kept);
        self.outside.truncate(kept);
    }

    /// Replace all posteriors, and the log-probability of the sentence, by those of another model.
    pub(crate) fn set_posteriors(
        &mut self,
        log_probability: f64,
        posterior: impl Fn(usize) -> f64,
    ) {
        self.log_probability = log_probability;
        for item in 0..self.symbols.len() {
            self.inside[item] = posterior(item);
            self.outside[item] = 1.0;
        }
    }

    /// Bytes of each item, and of each cell, in the memory of a pass. What grows item by item may
    /// take up twice as much as is in it; a set of symbols has at least one of them.
    pub(crate) const ITEM_BYTES: usize =
        2 * (size_of::<SymbolId>() + 2 * size_of::<f64>() + size_of::<SetWord>());
    pub(crate) const CELL_BYTES: usize = 2 * size_of::<(u32, u32)>() + size_of::<i32>();

    fn reset(&mut self, words: usize) {
        self.cells = Cells::new(words);
        refill(&mut self.ranges, self.cells.count(), (0, 0));
        refill(&mut self.exponents, self.cells.count(), EMPTY);
        self.symbols.clear();
        self.inside.clear();
        self.outside.clear();
        self.log_probability = f64::NEG_INFINITY;
    }
}

/// A vector over symbols of which few elements are in use.
#[derive(Debug, Default)]
struct SparseVector {
    values: Vec<f64>,
    in_use: Vec<u32>,
}

impl SparseVector {
    fn resize(&mut self, length: usize) {
        self.values.resize(length, 0.0);
    }

    /// Add a positive amount.
    #[inline]
    fn add(&mut self, index: u32, amount: f64) {
        let value = &mut self.values[index as usize];
        if *value == 0.0 {
            self.in_use.push(index);
        }
        *value += amount;
    }

    #[inline]
    fn get(&self, index: u32) -> f64 {
        self.values[index as usize]
    }

    fn clear(&mut self) {
        for &index in &self.in_use {
            self.values[index as usize] = 0.0;
        }
        self.in_use.clear();
    }

    fn entries(&self) -> impl Iterator<Item = (u32, f64)> + '_ {
        self.in_use.iter().map(|&index| (index, self.values[index as usize]))
    }
}

/// What a pass need not build.
#[derive(Debug, Clone, Copy)]
pub struct Bounds<'a> {
    /// What survived the coarse pass, if there was one.
    pub mask: Option<(&'a Mask, &'a Projection)>,
    /// The number of words of the widest span.
    pub widest: usize,
    /// The most items that the chart may have.
    pub items: usize,
}

impl Bounds<'_> {
    /// Build everything.
    pub const NONE: Self = Self { mask: None, widest: usize::MAX, items: usize::MAX };
}

/// Memory for passes over a grammar, reused from sentence to sentence.
#[derive(Debug, Default)]
pub struct PcfgPass {
    pairs: SparseVector,
    symbols: SparseVector,
    closed: SparseVector,
    /// What a pair of children gets from its parents in the current cell, computed on first use.
    pair_outside: Vec<f64>,
    pair_cell: Vec<u32>,
    /// The symbols of each cell as a set.
    sets: Vec<SetWord>,
    set_ranges: Vec<(u32, u32)>,
}

impl PcfgPass {
    /// Fill `chart` for a sentence, given the emission probabilities of the preterminals of each
    /// word. Where a mask is given only what it allows is built, and no span wider than `widest`.
    /// Returns false, with the chart half filled, if there would be more items than allowed.
    ///
    /// Outside values are exact with a `threshold` of zero; otherwise items whose posterior is
    /// below it pass nothing on to their parts.
    pub fn run(
        &mut self,
        grammar: &Grammar,
        words: &[Vec<(SymbolId, f64)>],
        bounds: Bounds<'_>,
        threshold: f64,
        chart: &mut Chart,
        cancel: &Cancel,
    ) -> Result<bool, Cancelled> {
        let pass = self;
        simd_dispatch!(
            PcfgPass::run_portable,
            (
                pass: &mut PcfgPass,
                grammar: &Grammar,
                words: &[Vec<(SymbolId, f64)>],
                bounds: Bounds<'_>,
                threshold: f64,
                chart: &mut Chart,
                cancel: &Cancel,
            ) -> Result<bool, Cancelled>
        )
    }

    #[inline(always)]
    fn run_portable(
        &mut self,
        grammar: &Grammar,
        words: &[Vec<(SymbolId, f64)>],
        bounds: Bounds<'_>,
        threshold: f64,
        chart: &mut Chart,
        cancel: &Cancel,
    ) -> Result<bool, Cancelled> {
        if !self.inside(grammar, words, bounds, chart, cancel)? {
            return Ok(false);
        }
        self.outside(grammar, threshold, chart, cancel)?;
        Ok(true)
    }

    #[inline(always)]
    fn inside(
        &mut self,
        grammar: &Grammar,
        words: &[Vec<(SymbolId, f64)>],
        bounds: Bounds<'_>,
        chart: &mut Chart,
        cancel: &Cancel,
    ) -> Result<bool, Cancelled> {
        let symbols = grammar.rules().number_of_symbols();
        let pairs = grammar.pairs().number_of_pairs();
        self.symbols.resize(symbols);
        self.closed.resize(symbols);
        self.pairs.resize(pairs);
        self.pair_outside.resize(pairs, 0.0);
        self.pair_cell.clear();
        self.pair_cell.resize(pairs, u32::MAX);
        chart.reset(words.len());
        let cells = chart.cells;
        self.sets.clear();
        refill(&mut self.set_ranges, cells.count(), (0, 0));
        let Bounds { mask, widest, items } = bounds;
        for width in 1..=words.len().min(widest) {
            cancel.check()?;
            for (start, emissions) in words[..=words.len() - width].iter().enumerate() {
                let end = start + width;
                let cell = cells.index(start, end);
                let allows = |symbol: SymbolId| match mask {
                    None => true,
                    Some((mask, projection)) => {
                        Mask::allows(mask.cell(cell), projection.class(symbol))
                            && if width == words.len() {
                                projection.uses().as_root(symbol)
                            } else {
                                let (right, left) = mask.parents(cell);
                                projection.uses().as_child(symbol, right, left)
                            }
                    }
                };
                if mask.is_some_and(|(mask, _)| mask.cell(cell).iter().all(|&bits| bits == 0)) {
                    continue;
                }
                let reference = if width == 1 {
                    self.sum_emissions(emissions, allows)
                } else {
                    self.sum_splits(grammar.pairs(), chart, start, end, allows)
                };
                self.close_inside(grammar.unary(), allows);
                self.store(chart, cell, reference);
                if chart.len() > items {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    fn sum_emissions(
        &mut self,
        emissions: &[(SymbolId, f64)],
        allows: impl Fn(SymbolId) -> bool,
    ) -> i32 {
        // Scaled before they are added, so that even the smallest probability stays a number.
        let largest = emissions.iter().map(|entry| entry.1).fold(0.0, f64::max);
        if largest <= 0.0 {
            return EMPTY;
        }
        let reference = exponent(largest);
        let scale = power_of_two(-reference);
        for &(symbol, probability) in emissions {
            if probability > 0.0 && allows(symbol) {
                self.symbols.add(symbol.0, probability * scale);
            }
        }
        reference
    }

    /// Sum products of children over all splits, then apply each rule once.
    #[inline(always)]
    fn sum_splits(
        &mut self,
        pairs: &PairIndex,
        chart: &Chart,
        start: usize,
        end: usize,
        allows: impl Fn(SymbolId) -> bool,
    ) -> i32 {
        let cells = chart.cells;
        let reference = (start + 1..end)
            .map(|split| {
                chart.exponents[cells.index(start, split)]
                    .saturating_add(chart.exponents[cells.index(split, end)])
            })
            .max()
            .unwrap_or(EMPTY);
        if reference <= EMPTY {
            return EMPTY;
        }
        for split in start + 1..end {
            let (left, right) = (cells.index(start, split), cells.index(split, end));
            let factor = power_of_two(chart.exponents[left] + chart.exponents[right] - reference);
            if factor == 0.0 {
                continue;
            }
            let (from, to) = self.set_ranges[right];
            let right = &self.sets[from as usize..to as usize];
            for item in chart.items(left) {
                if !pairs.is_left(chart.symbols[item]) {
                    continue;
                }
                let scaled = factor * chart.inside[item];
                let sums = &mut self.pairs;
                pairs.row(chart.symbols[item]).for_each_match(right, |right_item, pair| {
                    let product = scaled * chart.inside[right_item];
                    if product > 0.0 {
                        sums.add(pair, product);
                    }
                });
            }
        }
        for (pair, sum) in self.pairs.entries() {
            for rule in pairs.rules(pair) {
                let amount = rule.probability * sum;
                if amount > 0.0 && allows(rule.parent) {
                    self.symbols.add(rule.parent.0, amount);
                }
            }
        }
        self.pairs.clear();
        reference
    }

    fn close_inside(&mut self, unary: &UnaryClosure, allows: impl Fn(SymbolId) -> bool) {
        if unary.is_empty() {
            return;
        }
        for (bottom, value) in self.symbols.entries() {
            for chain in unary.chains(SymbolId(bottom)) {
                let amount = chain.total * value;
                if amount > 0.0 && allows(chain.top) {
                    self.closed.add(chain.top.0, amount);
                }
            }
        }
        self.symbols.clear();
        std::mem::swap(&mut self.symbols, &mut self.closed);
    }

    /// Move the sums of a cell into the chart, normalised.
    fn store(&mut self, chart: &mut Chart, cell: usize, reference: i32) {
        let from = chart.symbols.len();
        let largest = self.symbols.entries().map(|entry| entry.1).fold(0.0, f64::max);
        if largest > 0.0 {
            let shift = exponent(largest);
            let scale = power_of_two(-shift);
            self.symbols.in_use.sort_unstable();
            chart.exponents[cell] = reference + shift;
            let first_word = self.sets.len();
            for (symbol, value) in self.symbols.entries() {
                let index = symbol / 64;
                if self.sets[first_word..].last().is_none_or(|word| word.index != index) {
                    let first = chart.symbols.len() as u32;
                    self.sets.push(SetWord { bits: 0, index, first });
                }
                let word = self.sets.last_mut().expect("was just made");
                word.bits |= 1 << (symbol % 64);
                chart.symbols.push(SymbolId(symbol));
                chart.inside.push(value * scale);
            }
            self.set_ranges[cell] = (first_word as u32, self.sets.len() as u32);
        }
        self.symbols.clear();
        chart.ranges[cell] = (from as u32, chart.symbols.len() as u32);
    }

    #[inline(always)]
    fn outside(
        &mut self,
        grammar: &Grammar,
        threshold: f64,
        chart: &mut Chart,
        cancel: &Cancel,
    ) -> Result<(), Cancelled> {
        let words = chart.cells.words();
        chart.outside.clear();
        chart.outside.resize(chart.symbols.len(), 0.0);
        if words == 0 {
            return Ok(());
        }
        let top = chart.cells.index(0, words);
        let root = |symbol: SymbolId| grammar.rules().roots()[symbol.index()];
        let total: f64 =
            chart.items(top).map(|item| chart.inside[item] * root(chart.symbols[item])).sum();
        if total <= 0.0 {
            return Ok(());
        }
        chart.log_probability =
            total.ln() + f64::from(chart.exponents[top]) * std::f64::consts::LN_2;
        for item in chart.items(top) {
            chart.outside[item] = root(chart.symbols[item]) / total;
        }
        for width in (1..=words).rev() {
            cancel.check()?;
            for start in 0..=words - width {
                let cell = chart.cells.index(start, start + width);
                self.close_outside(grammar.unary(), chart, cell);
                if width > 1 {
                    self.descend(grammar.pairs(), chart, start, start + width, threshold);
                }
            }
        }
        Ok(())
    }

    /// Each symbol of a cell gets what the symbols above it in a chain have.
    fn close_outside(&mut self, unary: &UnaryClosure, chart: &mut Chart, cell: usize) {
        if unary.is_empty() {
            return;
        }
        for item in chart.items(cell) {
            if chart.outside[item] > 0.0 {
                self.symbols.add(chart.symbols[item].0, chart.outside[item]);
            }
        }
        for item in chart.items(cell) {
            chart.outside[item] = unary
                .chains(chart.symbols[item])
                .iter()
                .map(|chain| chain.total * self.symbols.get(chain.top.0))
                .sum();
        }
        self.symbols.clear();
    }

    /// Pass the outside values of a cell to the children of each of its splits.
    #[inline(always)]
    fn descend(
        &mut self,
        pairs: &PairIndex,
        chart: &mut Chart,
        start: usize,
        end: usize,
        least: f64,
    ) {
        let cells = chart.cells;
        let cell = cells.index(start, end);
        for item in chart.items(cell) {
            let posterior = chart.posterior(item);
            if posterior > 0.0 && posterior >= least {
                self.symbols.add(chart.symbols[item].0, chart.outside[item]);
            }
        }
        if self.symbols.in_use.is_empty() {
            return;
        }
        for split in start + 1..end {
            let (left, right) = (cells.index(start, split), cells.index(split, end));
            let (left_items, right_items) = (chart.items(left), chart.items(right));
            if left_items.is_empty() || right_items.is_empty() {
                continue;
            }
            let shift = chart.exponents[left] + chart.exponents[right] - chart.exponents[cell];
            let factor = power_of_two(shift);
            let (from, to) = self.set_ranges[right];
            let right = &self.sets[from as usize..to as usize];
            for left_item in left_items {
                if !pairs.is_left(chart.symbols[left_item]) {
                    continue;
                }
                let left_scaled = factor * chart.inside[left_item];
                let mut left_sum = 0.0;
                let (pair_outside, pair_cell) = (&mut self.pair_outside, &mut self.pair_cell);
                let (symbols, inside) = (&self.symbols, &chart.inside);
                let outside = &mut chart.outside;
                let row = pairs.row(chart.symbols[left_item]);
                row.for_each_match(right, |right_item, pair| {
                    let share = &mut pair_outside[pair as usize];
                    if pair_cell[pair as usize] != cell as u32 {
                        pair_cell[pair as usize] = cell as u32;
                        *share = pairs
                            .rules(pair)
                            .iter()
                            .map(|rule| rule.probability * symbols.get(rule.parent.0))
                            .sum();
                    }
                    if *share > 0.0 {
                        left_sum += *share * inside[right_item];
                        outside[right_item] += *share * left_scaled;
                    }
                });
                chart.outside[left_item] += factor * left_sum;
            }
        }
        self.symbols.clear();
    }
}
