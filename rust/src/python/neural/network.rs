//! Networks without their parameters.

use numpy::{PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;

use crate::neural::{LabelPlaces, Network, Shape, Vocabulary};
use crate::python::arrays::{check_shape, elements};
use crate::python::errors::ArgumentError;

/// The largest size of a layer, and the largest number of layers.
const MAX_SIZE: usize = 1 << 12;
const MAX_LAYERS: usize = 16;

/// The sizes, words and labels of a network.
#[pyclass(name = "NeuralNetwork", module = "lpcfg._core", frozen)]
pub(super) struct PyNetwork {
    pub(super) shape: Shape,
    pub(super) vocabulary: Vocabulary,
    pub(super) places: LabelPlaces,
}

#[pymethods]
impl PyNetwork {
    /// `whole` and `part` say for each label whether the whole sentence and whether a part of it may
    /// have it; label 0 is no bracket. `vectors` has a row for each of `vector_words`.
    #[new]
    #[pyo3(signature = (
        *, words, characters, vector_words, vectors, word_size, character_size, character_hidden,
        hidden, layers, tag_size, span_hidden, tags, whole, part
    ))]
    #[expect(clippy::too_many_arguments, reason = "sizes by name")]
    fn new(
        words: Vec<String>,
        characters: &str,
        vector_words: Vec<String>,
        vectors: PyReadonlyArray2<'_, i8>,
        word_size: usize,
        character_size: usize,
        character_hidden: usize,
        hidden: usize,
        layers: usize,
        tag_size: usize,
        span_hidden: usize,
        tags: usize,
        whole: Vec<bool>,
        part: Vec<bool>,
    ) -> PyResult<Self> {
        for (name, size, least, most) in [
            ("word_size", word_size, 1, MAX_SIZE),
            ("character_size", character_size, 1, MAX_SIZE),
            ("character_hidden", character_hidden, 0, MAX_SIZE),
            ("hidden", hidden, 1, MAX_SIZE),
            ("layers", layers, 1, MAX_LAYERS),
            ("tag_size", tag_size, 1, MAX_SIZE),
            ("span_hidden", span_hidden, 1, MAX_SIZE),
            ("tags", tags, 1, usize::MAX),
        ] {
            if !(least..=most).contains(&size) {
                let message = format!("{name} is {size}, not from {least} to {most}");
                return Err(ArgumentError::new(name, message).into());
            }
        }
        let rows = [vector_words.len(), vectors.shape()[1]];
        check_shape("vectors", vectors.shape(), &rows)?;
        check_shape("part", &[part.len()], &[whole.len()])?;
        if !whole.contains(&true) || whole[0] || !part[0] {
            let message = "the whole sentence needs a label, and a part may be without a bracket";
            return Err(ArgumentError::new("whole", message).into());
        }
        let labels = whole.len();
        let vectors = elements("vectors", &vectors)?.to_vec();
        let vocabulary =
            Vocabulary::new(words, characters.chars().collect(), vector_words, vectors);
        let shape = Shape {
            words: 0,
            word_size,
            vector_size: 0,
            characters: 0,
            character_size,
            character_hidden,
            hidden,
            layers,
            tags,
            tag_size,
            span_hidden,
            labels,
        };
        Ok(Self { shape, vocabulary, places: LabelPlaces { whole, part } })
    }

    /// The number of parameters.
    fn __len__(&self) -> usize {
        self.network().layout.size()
    }
}

impl PyNetwork {
    pub(super) fn network(&self) -> Network {
        Network::new(self.shape, self.vocabulary.clone())
    }
}
