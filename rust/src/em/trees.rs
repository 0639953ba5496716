//! Trees indexed for the E-step, and the parameters of an iteration.

use std::ops::Range;

use crate::treebank::node_table::NONE;

/// Binary trees with the number of the rule at each inner node and of the emission at each
/// preterminal.
///
/// Nodes are in post-order, as in the [`NodeTable`](crate::treebank::node_table::NodeTable).
#[derive(Debug, Clone)]
pub struct LatentTrees {
    pub(super) symbol: Vec<u32>,
    pub(super) left: Vec<i32>,
    pub(super) right: Vec<i32>,
    /// The rule of an inner node, the emission of a preterminal.
    pub(super) event: Vec<u32>,
    pub(super) tree_offsets: Vec<usize>,
    /// Parent, left and right child of each rule.
    pub(super) rules: Vec<[u32; 3]>,
    /// The symbol of each emission.
    pub(super) emission_symbols: Vec<u32>,
    number_of_symbols: usize,
    /// The weight of the tree of each node; empty if all weights are 1.
    node_weights: Vec<f32>,
    /// The nodes of each rule, in order.
    rule_nodes: Vec<u32>,
    rule_offsets: Vec<usize>,
}

/// Why trees cannot be indexed, or parameters do not fit them.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TreesError {
    /// Columns have a value for each node.
    #[error("columns of the trees differ in length")]
    Columns,
    /// Tree offsets must ascend from zero to the number of nodes.
    #[error("tree offsets must ascend from 0 to the {0} nodes")]
    Offsets(usize),
    /// A node has one child, or a child outside its tree or after itself.
    #[error("node {0} must have two children before it in its tree, or none")]
    Children(usize),
    /// The rule of an inner node, or the emission of a preterminal, has other symbols than the
    /// node.
    #[error("node {0} does not fit its rule or emission")]
    Event(usize),
    /// A rule or an emission names a symbol that does not exist.
    #[error("a rule or an emission names symbol {symbol}, but there are only {known} symbols")]
    Symbol {
        /// The symbol.
        symbol: u32,
        /// The number of symbols.
        known: usize,
    },
    /// A parameter array has the wrong length.
    #[error("{array} has {found} values where the states of the symbols need {expected}")]
    Length {
        /// Which array.
        array: &'static str,
        /// The length that the numbers of states imply.
        expected: usize,
        /// The length that was given.
        found: usize,
    },
    /// A symbol without states.
    #[error("symbol {0} has no states")]
    NoStates(usize),
    /// A parameter is negative, infinite or not a number.
    #[error("{array}[{index}] is {value}: parameters must be finite and not negative")]
    Value {
        /// Which array.
        array: &'static str,
        /// The index of the value.
        index: usize,
        /// The value, as text, since floating-point numbers do not implement `Eq`.
        value: String,
    },
}

impl LatentTrees {
    /// Check and index the columns of a node table.
    pub fn new(
        columns: (Vec<u32>, Vec<i32>, Vec<i32>, Vec<u32>),
        tree_offsets: Vec<usize>,
        rules: Vec<[u32; 3]>,
        emission_symbols: Vec<u32>,
        number_of_symbols: usize,
    ) -> Result<Self, TreesError> {
        let (symbol, left, right, event) = columns;
        let nodes = symbol.len();
        if [left.len(), right.len(), event.len()] != [nodes; 3] {
            return Err(TreesError::Columns);
        }
        let ascending = tree_offsets.windows(2).all(|pair| pair[0] <= pair[1]);
        if !ascending || tree_offsets.first() != Some(&0) || tree_offsets.last() != Some(&nodes) {
            return Err(TreesError::Offsets(nodes));
        }
        let named = rules.iter().flatten().chain(&emission_symbols);
        if let Some(&symbol) =
            named.into_iter().find(|&&symbol| symbol as usize >= number_of_symbols)
        {
            return Err(TreesError::Symbol { symbol, known: number_of_symbols });
        }
        let mut rule_offsets = vec![0usize; rules.len() + 1];
        for (tree, bounds) in tree_offsets.windows(2).enumerate() {
            let first = tree_offsets[tree];
            for node in bounds[0]..bounds[1] {
                if left[node] == NONE && right[node] == NONE {
                    if emission_symbols.get(event[node] as usize) != Some(&symbol[node]) {
                        return Err(TreesError::Event(node));
                    }
                    continue;
                }
                let child = |child: i32| {
                    usize::try_from(child).ok().filter(|&child| child >= first && child < node)
                };
                let (Some(left), Some(right)) = (child(left[node]), child(right[node])) else {
                    return Err(TreesError::Children(node));
                };
                let rule = event[node] as usize;
                if rules.get(rule) != Some(&[symbol[node], symbol[left], symbol[right]]) {
                    return Err(TreesError::Event(node));
                }
                rule_offsets[rule + 1] += 1;
            }
        }
        for rule in 0..rules.len() {
            rule_offsets[rule + 1] += rule_offsets[rule];
        }
        let mut next = rule_offsets.clone();
        let mut rule_nodes = vec![0u32; rule_offsets[rules.len()]];
        for node in 0..nodes {
            if left[node] != NONE {
                let end = &mut next[event[node] as usize];
                rule_nodes[*end] = node as u32;
                *end += 1;
            }
        }
        Ok(Self {
            symbol,
            left,
            right,
            event,
            tree_offsets,
            rules,
            emission_symbols,
            number_of_symbols,
            node_weights: Vec::new(),
            rule_nodes,
            rule_offsets,
        })
    }

    /// The same trees with weights: the expected counts of a tree are multiplied by its weight.
    pub fn weighted(mut self, weights: &[f64]) -> Result<Self, TreesError> {
        check_length("weights", weights.len(), self.number_of_trees())?;
        if let Some(index) =
            weights.iter().position(|weight| !(0.0..f64::INFINITY).contains(weight))
        {
            let value = weights[index].to_string();
            return Err(TreesError::Value { array: "weights", index, value });
        }
        self.node_weights.clear();
        for (bounds, &weight) in self.tree_offsets.windows(2).zip(weights) {
            self.node_weights.resize(bounds[1], weight as f32);
        }
        Ok(self)
    }

    /// The weight of the tree of a node.
    #[inline]
    pub(super) fn weight(&self, node: usize) -> f32 {
        self.node_weights.get(node).copied().unwrap_or(1.0)
    }

    /// The number of trees.
    pub fn number_of_trees(&self) -> usize {
        self.tree_offsets.len() - 1
    }

    /// The number of preterminal nodes.
    pub fn number_of_leaves(&self) -> usize {
        self.symbol.len() - self.rule_nodes.len()
    }

    pub(super) fn nodes_of_rule(&self, rule: usize) -> &[u32] {
        &self.rule_nodes[self.rule_offsets[rule]..self.rule_offsets[rule + 1]]
    }

    pub(super) fn nodes(&self) -> usize {
        self.symbol.len()
    }
}

/// The parameters of an L-PCFG, with the offsets of the vectors and tensors in their arrays.
#[derive(Debug, Clone)]
pub struct Parameters<'a> {
    states: &'a [u32],
    roots: &'a [f32],
    binary: &'a [f32],
    emissions: &'a [f32],
    state_offsets: Vec<usize>,
    tensor_offsets: Vec<usize>,
    emission_offsets: Vec<usize>,
}

impl<'a> Parameters<'a> {
    /// Check that the arrays fit the trees: for each symbol its number of states and its root
    /// vector, for each rule of the trees a tensor (parent by left by right state), for each
    /// emission a vector.
    pub fn new(
        trees: &LatentTrees,
        states: &'a [u32],
        roots: &'a [f32],
        binary: &'a [f32],
        emissions: &'a [f32],
    ) -> Result<Self, TreesError> {
        check_length("states", states.len(), trees.number_of_symbols)?;
        if let Some(symbol) = states.iter().position(|&states| states == 0) {
            return Err(TreesError::NoStates(symbol));
        }
        let size = |symbol: u32| states[symbol as usize] as usize;
        let state_offsets = offsets(states.iter().map(|&states| states as usize));
        let tensor_offsets = offsets(
            trees.rules.iter().map(|rule| rule.iter().map(|&symbol| size(symbol)).product()),
        );
        let emission_offsets = offsets(trees.emission_symbols.iter().map(|&symbol| size(symbol)));
        for (array, values, offsets) in [
            ("roots", roots, &state_offsets),
            ("binary", binary, &tensor_offsets),
            ("emissions", emissions, &emission_offsets),
        ] {
            check_length(array, values.len(), offsets[offsets.len() - 1])?;
            if let Some(index) =
                values.iter().position(|&value| !(0.0..f32::INFINITY).contains(&value))
            {
                return Err(TreesError::Value { array, index, value: values[index].to_string() });
            }
        }
        Ok(Self {
            states,
            roots,
            binary,
            emissions,
            state_offsets,
            tensor_offsets,
            emission_offsets,
        })
    }

    pub(super) fn states(&self, symbol: u32) -> usize {
        self.states[symbol as usize] as usize
    }

    /// The range of the states of a symbol among those of all symbols.
    pub(super) fn state_range(&self, symbol: u32) -> Range<usize> {
        self.state_offsets[symbol as usize]..self.state_offsets[symbol as usize + 1]
    }

    pub(super) fn total_states(&self) -> usize {
        self.roots.len()
    }

    pub(super) fn total_binary(&self) -> usize {
        self.binary.len()
    }

    pub(super) fn root(&self, symbol: u32) -> &'a [f32] {
        &self.roots[self.state_range(symbol)]
    }

    pub(super) fn tensor_range(&self, rule: usize) -> Range<usize> {
        self.tensor_offsets[rule]..self.tensor_offsets[rule + 1]
    }

    pub(super) fn tensor(&self, rule: usize) -> &'a [f32] {
        &self.binary[self.tensor_range(rule)]
    }

    pub(super) fn emission(&self, emission: usize) -> &'a [f32] {
        &self.emissions[self.emission_offsets[emission]..self.emission_offsets[emission + 1]]
    }
}

fn offsets(lengths: impl Iterator<Item = usize>) -> Vec<usize> {
    std::iter::once(0)
        .chain(lengths.scan(0usize, |end, length| {
            *end = end.saturating_add(length);
            Some(*end)
        }))
        .collect()
}

fn check_length(array: &'static str, found: usize, expected: usize) -> Result<(), TreesError> {
    if found == expected { Ok(()) } else { Err(TreesError::Length { array, expected, found }) }
}
