//! The passes over a sentence, one by one.

use lpcfg_core::cancel::Cancel;
use lpcfg_core::chart::Chart;
use lpcfg_core::chart::coarse::{CoarseChart, CoarseGrammar};
use lpcfg_core::chart::pcfg::{Bounds, PcfgPass};
use lpcfg_core::decode::{Best, Derivation, Objective, PackedForest};
use lpcfg_core::grammar::{Grammar, SymbolId, Token};

/// Posteriors below which classes of symbols are dropped after the coarse pass.
pub const COARSE_THRESHOLD: f64 = 1e-4;
/// Posteriors below which symbols are dropped after the PCFG pass.
pub const THRESHOLD: f64 = 1e-5;

/// The preterminals of each word, with their probabilities.
pub type Words = Vec<Vec<(SymbolId, f64)>>;

/// A sentence with the results of its passes.
pub struct Stages {
    /// The preterminals of each word.
    pub words: Words,
    classes: Words,
    coarse: CoarseChart,
    /// The items that the passes left.
    pub chart: Chart,
}

impl Stages {
    /// Run the passes and prune.
    pub fn new(grammar: &Grammar, coarse_grammar: &CoarseGrammar, sentence: &[Token]) -> Self {
        let projection = grammar.projection().expect("the grammar has one");
        let words: Words = sentence
            .iter()
            .map(|&token| {
                let mut found = Vec::new();
                grammar.emissions().lookup(token, &[], &mut found);
                found
            })
            .collect();
        let class = |&(symbol, probability): &(SymbolId, f64)| {
            (
                projection.class(symbol),
                projection.fraction(symbol) * probability,
            )
        };
        let classes: Words = words
            .iter()
            .map(|word| word.iter().map(class).collect())
            .collect();
        let mut stages = Self {
            words,
            classes,
            coarse: CoarseChart::default(),
            chart: Chart::default(),
        };
        stages.run_coarse(coarse_grammar);
        stages.run_pcfg(grammar, &mut PcfgPass::default());
        stages.chart.prune(THRESHOLD);
        stages
    }

    /// Run the coarse pass again.
    pub fn run_coarse(&mut self, grammar: &CoarseGrammar) {
        let cancel = Cancel::new();
        self.coarse
            .fill(grammar, &self.classes, None, &cancel)
            .expect("nobody cancels");
        let spans = self.coarse.prune(grammar, COARSE_THRESHOLD, &cancel);
        assert_eq!(spans, Ok(true), "the sentence is of the grammar's language");
    }

    /// Run the PCFG pass again; the chart is left unpruned.
    pub fn run_pcfg(&mut self, grammar: &Grammar, pass: &mut PcfgPass) {
        let projection = grammar.projection().expect("the grammar has one");
        let mask = Some((self.coarse.mask(), projection));
        let bounds = Bounds {
            mask,
            ..Bounds::NONE
        };
        pass.run(
            grammar,
            &self.words,
            bounds,
            THRESHOLD,
            &mut self.chart,
            &Cancel::new(),
        )
        .expect("nobody cancels");
    }

    /// The best tree.
    pub fn decode<O: Objective>(
        &self,
        grammar: &Grammar,
        objective: &O,
        best: &mut Best,
    ) -> Derivation {
        let forest = PackedForest {
            grammar,
            chart: &self.chart,
            words: &self.words,
        };
        best.fill(forest, objective, &Cancel::new())
            .expect("nobody cancels");
        best.tree(forest, objective)
            .expect("the sentence has a tree")
    }
}
