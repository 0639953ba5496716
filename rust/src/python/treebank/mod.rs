//! Bindings of the treebank modules. Forests and node tables are exchanged as tuples of columns.

mod forest;
mod options;
mod reader;
mod table;

pub(super) use forest::ForestIn;

use pyo3::prelude::*;

pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<reader::BracketReader>()?;
    module.add_function(wrap_pyfunction!(forest::clean_forest, module)?)?;
    module.add_function(wrap_pyfunction!(table::transform_forest, module)?)?;
    module.add_function(wrap_pyfunction!(table::transform_table, module)?)?;
    module.add_function(wrap_pyfunction!(table::invert_table, module)?)
}
