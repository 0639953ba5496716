//! Grammars.

use std::sync::Arc;

use numpy::{Element, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::enter::enter;
use super::errors::{Exception, IntoPyErr};
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

/// The columns of a table of rules: `width` symbols each, and a probability.
fn rows<const WIDTH: usize>(
    name: &str,
    symbols: &PyReadonlyArray2<'_, u32>,
    probabilities: &PyReadonlyArray1<'_, f64>,
) -> PyResult<Vec<([u32; WIDTH], f64)>> {
    if symbols.shape() != [probabilities.len(), WIDTH] {
        return Err(PyValueError::new_err(format!(
            "{name} rules have shape {:?}, expected [{}, {WIDTH}] to go with their probabilities",
            symbols.shape(),
            probabilities.len(),
        )));
    }
    let (symbols, _) = symbols.as_slice()?.as_chunks::<WIDTH>();
    Ok(symbols.iter().copied().zip(probabilities.as_slice()?.iter().copied()).collect())
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
        latent: Option<Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let binary = rows::<3>("binary", &binary_rules, &binary_probabilities)?
            .into_iter()
            .map(|(symbols, probability)| {
                let [parent, left, right] = symbols.map(SymbolId);
                BinaryRule { parent, left, right, probability }
            })
            .collect();
        let unary = rows::<2>("unary", &unary_rules, &unary_probabilities)?
            .into_iter()
            .map(|(symbols, probability)| {
                let [parent, child] = symbols.map(SymbolId);
                UnaryRule { parent, child, probability }
            })
            .collect();
        let roots = roots.as_slice()?.to_vec();
        let offsets: Vec<usize> = emission_offsets
            .as_slice()?
            .iter()
            // A negative offset cannot ascend from zero: it is refused with the others.
            .map(|&offset| usize::try_from(offset).unwrap_or(usize::MAX))
            .collect();
        let symbols = emission_symbols.as_slice()?.to_vec();
        let probabilities = emission_probabilities.as_slice()?.to_vec();
        let tag_of_symbol = tag_of_symbol.as_slice()?.to_vec();
        let output_offsets = output_offsets.as_slice()?.to_vec();
        let output_labels = output_labels.as_slice()?.to_vec();
        let coarse = match (&coarse, &weights) {
            (Some(map), Some(weights)) => Some((map.as_slice()?, weights.as_slice()?)),
            (None, None) => None,
            _ => return Err(PyValueError::new_err("coarse and weights go together")),
        };
        let latent = latent.map(|arrays| latent_arrays(&arrays)).transpose()?;
        enter(py, |_cancel| {
            let rules = Rules::new(roots, binary, unary)?;
            let emissions = Emissions::new(offsets, symbols, probabilities, &tag_of_symbol)?;
            let output = Output::new(output_offsets, output_labels)?;
            let mut grammar = Grammar::new(rules, emissions, output, coarse)?;
            if let Some(arrays) = latent {
                grammar = grammar.with_latent(arrays)?;
            }
            Ok::<_, GrammarError>(Self(Arc::new(grammar)))
        })
    }
}

/// The parameters of an L-PCFG from arrays by name.
fn latent_arrays(arrays: &Bound<'_, PyDict>) -> PyResult<LatentArrays> {
    fn get<T: Element + Clone>(arrays: &Bound<'_, PyDict>, name: &str) -> PyResult<Vec<T>> {
        let array = arrays
            .get_item(name)?
            .ok_or_else(|| PyValueError::new_err(format!("latent lacks {name:?}")))?;
        let array: PyReadonlyArray1<'_, T> = array.extract()?;
        Ok(array.as_slice()?.to_vec())
    }
    Ok(LatentArrays {
        states: get(arrays, "states")?,
        roots: get(arrays, "roots")?,
        binary: get(arrays, "binary")?,
        binary_counts: get(arrays, "binary_counts")?,
        binary_positions: get(arrays, "binary_positions")?,
        emission_ratios: get(arrays, "profiles")?,
        ratio_symbols: get(arrays, "profile_symbols")?,
        entry_ratios: get(arrays, "entry_profiles")?,
        tag_emissions: get(arrays, "tag_emissions")?,
    })
}

pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PyGrammar>()
}
