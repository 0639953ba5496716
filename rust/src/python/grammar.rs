//! Bindings of grammars.

use std::sync::Arc;

use numpy::{PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;

use super::arrays::{Runs, check_shape, elements, offsets_in};
use super::enter::enter;
use super::errors::{ArgumentError, Exception, Failure, IntoPyErr};
use crate::grammar::{
    BinaryRule, Emissions, Grammar, GrammarError, LatentArrays, Output, Rules, SymbolId, UnaryRule,
};

impl IntoPyErr for GrammarError {
    fn into_py_err(self, py: Python<'_>) -> PyErr {
        Exception::Grammar.new_err(py, self)
    }
}

/// A grammar indexed for parsing.
#[pyclass(name = "Grammar", module = "lpcfg._core", frozen)]
pub(super) struct PyGrammar(pub(super) Arc<Grammar>);

/// The symbols of each rule of a table, and its probability.
fn rules<'a, const WIDTH: usize>(
    [name, probabilities_name]: [&str; 2],
    symbols: &'a PyReadonlyArray2<'_, u32>,
    probabilities: &'a PyReadonlyArray1<'_, f64>,
) -> Result<(&'a [[u32; WIDTH]], &'a [f64]), ArgumentError> {
    check_shape(name, symbols.shape(), &[probabilities.len(), WIDTH])?;
    let (symbols, _) = elements(name, symbols)?.as_chunks::<WIDTH>();
    Ok((symbols, elements(probabilities_name, probabilities)?))
}

#[pymethods]
impl PyGrammar {
    #[new]
    #[pyo3(signature = (
        *, roots, binary_rules, binary_probabilities, unary_rules, unary_probabilities,
        emission_offsets, emission_symbols, emission_probabilities, tag_of_symbol,
        output_offsets, output_labels, coarse=None, weights=None, latent=None,
    ))]
    #[expect(clippy::too_many_arguments, reason = "one array each, all by name")]
    fn new(
        py: Python<'_>,
        roots: PyReadonlyArray1<'_, f64>,
        binary_rules: PyReadonlyArray2<'_, u32>,
        binary_probabilities: PyReadonlyArray1<'_, f64>,
        unary_rules: PyReadonlyArray2<'_, u32>,
        unary_probabilities: PyReadonlyArray1<'_, f64>,
        emission_offsets: PyReadonlyArray1<'_, i64>,
        emission_symbols: PyReadonlyArray1<'_, u32>,
        emission_probabilities: PyReadonlyArray1<'_, f64>,
        tag_of_symbol: PyReadonlyArray1<'_, i32>,
        output_offsets: PyReadonlyArray1<'_, u32>,
        output_labels: PyReadonlyArray1<'_, u32>,
        coarse: Option<PyReadonlyArray1<'_, u32>>,
        weights: Option<PyReadonlyArray1<'_, f64>>,
        latent: Option<LatentIn<'_>>,
    ) -> PyResult<Self> {
        let (binary, binary_probabilities) = rules::<3>(
            ["binary_rules", "binary_probabilities"],
            &binary_rules,
            &binary_probabilities,
        )?;
        let (unary, unary_probabilities) =
            rules::<2>(["unary_rules", "unary_probabilities"], &unary_rules, &unary_probabilities)?;
        let roots = elements("roots", &roots)?;
        let emission_offsets = elements("emission_offsets", &emission_offsets)?;
        let emission_symbols = elements("emission_symbols", &emission_symbols)?;
        let probabilities = elements("emission_probabilities", &emission_probabilities)?;
        let tag_of_symbol = elements("tag_of_symbol", &tag_of_symbol)?;
        let output_offsets = elements("output_offsets", &output_offsets)?;
        let output_labels = elements("output_labels", &output_labels)?;
        let coarse = match (&coarse, &weights) {
            (Some(map), Some(weights)) => {
                Some((elements("coarse", map)?, elements("weights", weights)?))
            }
            (None, None) => None,
            _ => {
                return Err(ArgumentError::new(
                    "coarse",
                    "coarse and weights must be given together",
                )
                .into());
            }
        };
        let latent = latent.as_ref().map(LatentIn::arrays).transpose()?;
        enter(py, |cancel| {
            let binary = binary.iter().zip(binary_probabilities).map(|(symbols, &probability)| {
                let [parent, left, right] = symbols.map(SymbolId);
                BinaryRule { parent, left, right, probability }
            });
            let unary = unary.iter().zip(unary_probabilities).map(|(symbols, &probability)| {
                let [parent, child] = symbols.map(SymbolId);
                UnaryRule { parent, child, probability }
            });
            let rules = Rules::new(roots.to_vec(), binary.collect(), unary.collect())?;
            let words = emission_symbols.len();
            let emissions = Emissions::new(
                offsets_in("emission_offsets", emission_offsets, words, Runs::MayBeEmpty)?,
                emission_symbols.to_vec(),
                probabilities.to_vec(),
                tag_of_symbol,
            )?;
            offsets_in("output_offsets", output_offsets, output_labels.len(), Runs::MayBeEmpty)?;
            let output = Output::new(output_offsets.to_vec(), output_labels.to_vec())?;
            let mut grammar = Grammar::new(rules, emissions, output, coarse, cancel)?;
            if let Some(arrays) = latent {
                grammar = grammar.with_latent(arrays(), cancel)?;
            }
            Ok::<_, Failure>(Self(Arc::new(grammar)))
        })
    }
}

/// The parameters of an L-PCFG: a dictionary of arrays by name.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct LatentIn<'py> {
    states: PyReadonlyArray1<'py, u32>,
    roots: PyReadonlyArray1<'py, f32>,
    binary: PyReadonlyArray1<'py, f32>,
    binary_counts: PyReadonlyArray1<'py, u32>,
    binary_positions: PyReadonlyArray1<'py, u32>,
    unary: PyReadonlyArray1<'py, f32>,
    emission_ratios: PyReadonlyArray1<'py, f32>,
    ratio_symbols: PyReadonlyArray1<'py, u32>,
    entry_ratios: PyReadonlyArray1<'py, u32>,
    tag_emissions: PyReadonlyArray1<'py, f32>,
}

impl LatentIn<'_> {
    /// A function that copies or borrows the arrays and needs no interpreter lock.
    fn arrays<'a>(
        &'a self,
    ) -> Result<impl FnOnce() -> LatentArrays<'a> + Send + 'a, ArgumentError> {
        let states = elements("states", &self.states)?;
        let roots = elements("roots", &self.roots)?;
        let binary = elements("binary", &self.binary)?;
        let binary_counts = elements("binary_counts", &self.binary_counts)?;
        let binary_positions = elements("binary_positions", &self.binary_positions)?;
        let unary = elements("unary", &self.unary)?;
        let emission_ratios = elements("emission_ratios", &self.emission_ratios)?;
        let ratio_symbols = elements("ratio_symbols", &self.ratio_symbols)?;
        let entry_ratios = elements("entry_ratios", &self.entry_ratios)?;
        let tag_emissions = elements("tag_emissions", &self.tag_emissions)?;
        Ok(move || LatentArrays {
            states: states.to_vec(),
            roots: roots.to_vec(),
            binary: binary.into(),
            binary_counts: binary_counts.to_vec(),
            binary_positions: binary_positions.into(),
            unary: unary.to_vec(),
            emission_ratios: emission_ratios.to_vec(),
            ratio_symbols: ratio_symbols.to_vec(),
            entry_ratios: entry_ratios.to_vec(),
            tag_emissions: tag_emissions.to_vec(),
        })
    }
}

pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PyGrammar>()
}
