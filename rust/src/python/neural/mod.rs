//! Bindings of the neural parser.

mod model;
mod network;
mod training;

use pyo3::prelude::*;

use model::{PyModel, PyNeuralParser};
use network::PyNetwork;
use training::PyTrainer;

pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PyNetwork>()?;
    module.add_class::<PyTrainer>()?;
    module.add_class::<PyModel>()?;
    module.add_class::<PyNeuralParser>()
}
