//! Bindings of the lexicon: kinds of characters, classes of words, and the emissions of words.
//!
//! What is asked of a single word does not go through [`enter`]: to start a thread takes longer.

use std::ops::Deref;
use std::sync::Arc;

use numpy::{
    IntoPyArray, PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2,
    PyUntypedArrayMethods,
};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::types::PyString;

use super::arrays::{Runs, check_shape, elements, offsets_in};
use super::enter::enter;
use super::errors::{ArgumentError, Exception, IntoPyErr};
use crate::cancel::Cancelled;
use crate::lexicon::characters::{Kind, opens_sentence};
use crate::lexicon::classes::{Word, WordClasses};
use crate::lexicon::{
    ClassTree, Encoder, Features, LearntClasses, Problem, add_to_parents, known_in_lowercase,
};

impl IntoPyErr for Problem {
    fn into_py_err(self, py: Python<'_>) -> PyErr {
        Exception::Grammar.new_err(py, self)
    }
}

/// Text of Python. Halves of surrogate pairs, which no file has, become replacement characters.
enum Text {
    /// As it is in Python.
    Same(PyBackedStr),
    Replaced(String),
}

impl<'py> FromPyObject<'_, 'py> for Text {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let text = object.cast::<PyString>()?;
        Ok(match PyBackedStr::try_from(text.to_owned()) {
            Ok(same) => Self::Same(same),
            Err(_) => Self::Replaced(text.to_string_lossy().into_owned()),
        })
    }
}

impl Deref for Text {
    type Target = str;

    fn deref(&self) -> &str {
        match self {
            Self::Same(text) => text,
            Self::Replaced(text) => text,
        }
    }
}

impl AsRef<str> for Text {
    fn as_ref(&self) -> &str {
        self
    }
}

/// The tags of words; none where there are none.
type Tags = Option<Vec<Option<Text>>>;

/// A column of numbers.
type Numbers<'py> = Bound<'py, PyArray1<i32>>;

/// A column of tags as the core has it: empty without tags.
fn tag_column(tags: &Tags, words: usize) -> PyResult<Vec<Option<&str>>> {
    let Some(tags) = tags else { return Ok(Vec::new()) };
    check_shape("tags", &[tags.len()], &[words])?;
    Ok(tags.iter().map(Option::as_deref).collect())
}

/// Words with the flags and tags that their classes depend on.
fn described<'a>(
    words: &'a [Text],
    initial: &'a [bool],
    known_lowercase: &'a [bool],
    tags: &'a [Option<&'a str>],
) -> PyResult<impl Iterator<Item = Word<'a>> + Send> {
    check_shape("initial", &[initial.len()], &[words.len()])?;
    check_shape("known_lowercase", &[known_lowercase.len()], &[words.len()])?;
    Ok(words.iter().enumerate().map(|(row, text)| Word {
        text,
        initial: initial[row],
        known_lowercase: known_lowercase[row],
        tag: tags.get(row).copied().flatten(),
    }))
}

fn signed<'py>(py: Python<'py>, numbers: Vec<u32>) -> Numbers<'py> {
    // Fewer than 2^31: each is the number of a name.
    numbers.into_iter().map(|number| number as i32).collect::<Vec<_>>().into_pyarray(py)
}

/// A classifier of rare and unknown words.
#[pyclass(name = "WordClasses", module = "lpcfg._core", frozen)]
struct PyWordClasses(Arc<WordClasses>);

#[pymethods]
impl PyWordClasses {
    /// The signatures of the Berkeley parser.
    #[staticmethod]
    fn english() -> Self {
        Self(Arc::new(WordClasses::English))
    }

    /// Shapes and suffixes of up to `longest_suffix` characters.
    #[staticmethod]
    fn learnt(names: Vec<Text>, longest_suffix: usize, scripts: bool) -> Self {
        let names = names.iter().map(|name| name.to_string()).collect();
        let features = Features { longest_suffix, scripts };
        Self(Arc::new(WordClasses::Learnt(LearntClasses { names, features })))
    }

    /// The tags of words.
    #[staticmethod]
    fn tags() -> Self {
        Self(Arc::new(WordClasses::Tag))
    }

    /// The class of a word.
    fn class_of(
        &self,
        word: Text,
        initial: bool,
        known_lowercase: bool,
        tag: Option<Text>,
    ) -> String {
        let tag = tag.as_deref();
        self.0.class_of(&Word { text: &word, initial, known_lowercase, tag })
    }

    /// More and more general classes for a class, ending with the one of all words.
    fn fallbacks(&self, name: Text) -> Vec<String> {
        self.0.fallbacks(&name)
    }

    /// The distinct classes of words, and the number of the class of each word.
    fn classes_of<'py>(
        &self,
        py: Python<'py>,
        words: Vec<Text>,
        initial: PyReadonlyArray1<'py, bool>,
        known_lowercase: PyReadonlyArray1<'py, bool>,
        tags: Tags,
    ) -> PyResult<(Vec<String>, Numbers<'py>)> {
        let tags = tag_column(&tags, words.len())?;
        let initial = elements("initial", &initial)?;
        let known_lowercase = elements("known_lowercase", &known_lowercase)?;
        let column = described(&words, initial, known_lowercase, &tags)?;
        let (names, numbers) = enter(py, |cancel| self.0.classes_of(column, cancel))?;
        Ok((names, signed(py, numbers)))
    }
}

/// The numbers of known words, and of the classes of unknown ones.
#[pyclass(name = "WordEncoder", module = "lpcfg._core", frozen)]
struct PyWordEncoder(Encoder);

#[pymethods]
impl PyWordEncoder {
    /// The words are numbered from zero, the classes after them. With `lowercase_initial`, unknown
    /// sentence-initial words may be known in lower case.
    #[new]
    #[pyo3(signature = (words, classes, classifier, *, lowercase_initial))]
    fn new(
        py: Python<'_>,
        words: Vec<Text>,
        classes: Vec<Text>,
        classifier: &PyWordClasses,
        lowercase_initial: bool,
    ) -> PyResult<Self> {
        let classifier = Arc::clone(&classifier.0);
        enter(py, |_| Encoder::new(&words, &classes, classifier, lowercase_initial)).map(Self)
    }

    /// Whether a word is known.
    fn knows(&self, word: Text) -> bool {
        self.0.knows(&word)
    }

    /// The emission of a word.
    fn emission(&self, word: Text, initial: bool, tag: Option<Text>) -> u32 {
        self.0.emission(&word, initial, tag.as_deref())
    }

    /// The emission of a word's class, whether or not the word is known.
    fn class_emission(&self, word: Text, initial: bool, tag: Option<Text>) -> u32 {
        self.0.class_emission(&word, initial, tag.as_deref())
    }

    /// The emissions of words, and those of their classes.
    fn emissions<'py>(
        &self,
        py: Python<'py>,
        words: Vec<Text>,
        initial: PyReadonlyArray1<'py, bool>,
        tags: Tags,
    ) -> PyResult<(Numbers<'py>, Numbers<'py>)> {
        let tags = tag_column(&tags, words.len())?;
        let initial = elements("initial", &initial)?;
        check_shape("initial", &[initial.len()], &[words.len()])?;
        let numbers = enter(py, |cancel| {
            let rows = words.iter().zip(initial).enumerate();
            rows.map(|(row, (word, &initial))| {
                cancel.check()?;
                let tag = tags.get(row).copied().flatten();
                let emission = self.0.emission(word, initial, tag);
                Ok((emission, self.0.class_emission(word, initial, tag)))
            })
            .collect::<Result<(Vec<u32>, Vec<u32>), Cancelled>>()
        })?;
        Ok((signed(py, numbers.0), signed(py, numbers.1)))
    }

    /// The emissions of the words of sentences, which are given one after the other.
    fn encode<'py>(
        &self,
        py: Python<'py>,
        words: Vec<Text>,
        offsets: PyReadonlyArray1<'py, i64>,
        tags: Tags,
    ) -> PyResult<Numbers<'py>> {
        let tags = tag_column(&tags, words.len())?;
        let offsets =
            offsets_in("offsets", elements("offsets", &offsets)?, words.len(), Runs::MayBeEmpty)?;
        let numbers = enter(py, |cancel| self.0.encode(&words, &offsets, &tags, cancel))?;
        Ok(signed(py, numbers))
    }
}

/// A character for the kind of each character of a word.
#[pyfunction]
fn character_kinds(word: Text) -> String {
    word.chars().map(|character| Kind::of(character).symbol()).collect()
}

/// After which words the next one still counts as sentence-initial.
#[pyfunction]
fn sentence_openers<'py>(
    py: Python<'py>,
    words: Vec<Text>,
) -> PyResult<Bound<'py, PyArray1<bool>>> {
    let openers = enter(py, |cancel| {
        words
            .iter()
            .map(|word| {
                cancel.check()?;
                Ok(opens_sentence(word))
            })
            .collect::<Result<Vec<bool>, Cancelled>>()
    })?;
    Ok(openers.into_pyarray(py))
}

/// Which words have another word among the known ones as their lower-case form.
#[pyfunction]
#[pyo3(name = "known_in_lowercase")]
fn known_in_lowercase_py<'py>(
    py: Python<'py>,
    words: Vec<Text>,
    known: PyReadonlyArray1<'py, bool>,
) -> PyResult<Bound<'py, PyArray1<bool>>> {
    let known = elements("known", &known)?;
    check_shape("known", &[known.len()], &[words.len()])?;
    let found = enter(py, |cancel| known_in_lowercase(&words, known, cancel))?;
    Ok(found.into_pyarray(py))
}

/// All classes that could be learnt from words: their names, the next more general class of each,
/// and the finest class of each word.
#[pyfunction]
fn class_tree<'py>(
    py: Python<'py>,
    words: Vec<Text>,
    initial: PyReadonlyArray1<'py, bool>,
    known_lowercase: PyReadonlyArray1<'py, bool>,
    longest_suffix: usize,
) -> PyResult<(Vec<String>, Numbers<'py>, Numbers<'py>)> {
    let initial = elements("initial", &initial)?;
    let known_lowercase = elements("known_lowercase", &known_lowercase)?;
    let column = described(&words, initial, known_lowercase, &[])?;
    let features = Features { longest_suffix, scripts: true };
    let tree = enter(py, |cancel| ClassTree::new(column, features, cancel))?;
    Ok((tree.names, signed(py, tree.parents), signed(py, tree.members)))
}

/// The sums of the rows of each class and of all classes below it.
#[pyfunction]
fn sums_of_subtrees<'py>(
    py: Python<'py>,
    parents: PyReadonlyArray1<'py, i32>,
    rows: PyReadonlyArray2<'py, f64>,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let shape = [rows.shape()[0], rows.shape()[1]];
    check_shape("parents", parents.shape(), &shape[..1])?;
    let parents = elements("parents", &parents)?;
    let rows = elements("rows", &rows)?;
    let sums = enter(py, |_| {
        let parents: Vec<u32> = parents.iter().map(|&parent| parent as u32).collect();
        if (1..).zip(parents.iter().skip(1)).any(|(child, &parent)| parent >= child) {
            let message = "parents must come before their children";
            return Err(ArgumentError::new("parents", message));
        }
        let mut sums = rows.to_vec();
        add_to_parents(&parents, &mut sums, shape[1]);
        Ok(sums)
    })?;
    sums.into_pyarray(py).reshape(shape)
}

pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PyWordClasses>()?;
    module.add_class::<PyWordEncoder>()?;
    module.add_function(wrap_pyfunction!(character_kinds, module)?)?;
    module.add_function(wrap_pyfunction!(sentence_openers, module)?)?;
    module.add_function(wrap_pyfunction!(known_in_lowercase_py, module)?)?;
    module.add_function(wrap_pyfunction!(class_tree, module)?)?;
    module.add_function(wrap_pyfunction!(sums_of_subtrees, module)?)
}
