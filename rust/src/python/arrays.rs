//! Checks of arrays from Python; every error names the argument.

use numpy::ndarray::Dimension;
use numpy::{Element, IntoPyArray, PyArray1, PyReadonlyArray};
use pyo3::prelude::*;

use super::errors::ArgumentError;

/// The elements of an array in row-major order.
pub(super) fn elements<'a, T: Element, D: Dimension>(
    argument: &str,
    array: &'a PyReadonlyArray<'_, T, D>,
) -> Result<&'a [T], ArgumentError> {
    array.as_slice().map_err(|_| {
        ArgumentError::new(argument, format!("{argument} must be contiguous, in row-major order"))
    })
}

/// Check the shape of an array.
pub(super) fn check_shape(
    argument: &str,
    found: &[usize],
    expected: &[usize],
) -> Result<(), ArgumentError> {
    if found == expected {
        return Ok(());
    }
    Err(ArgumentError::new(
        argument,
        format!("{argument} has shape {found:?}, expected {expected:?}"),
    ))
}

/// Check that ids are below `count`.
pub(super) fn check_ids<'a>(
    argument: &str,
    ids: impl IntoIterator<Item = &'a u32>,
    count: usize,
) -> Result<(), ArgumentError> {
    match ids.into_iter().max() {
        Some(&id) if id as usize >= count => {
            let message = format!("{argument} has the id {id}, which is out of range of {count}");
            Err(ArgumentError::new(argument, message))
        }
        _ => Ok(()),
    }
}

/// Whether two offsets may be equal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Runs {
    MayBeEmpty,
    NonEmpty,
}

/// Check and convert offsets that split a column of `length` elements into consecutive runs. Run
/// `i` is from offset `i` up to, but not including, offset `i + 1`. Offsets start at 0 and end at
/// `length`.
pub(super) fn offsets_in<T: Copy>(
    argument: &str,
    values: &[T],
    length: usize,
    runs: Runs,
) -> Result<Vec<usize>, ArgumentError>
where
    usize: TryFrom<T>,
{
    let wrong = |reason: String| {
        let message =
            format!("{argument} must ascend from 0 to the number of elements, {length}; {reason}");
        ArgumentError::new(argument, message)
    };
    let mut converted: Vec<usize> = Vec::with_capacity(values.len());
    for (index, value) in values.iter().enumerate() {
        let Ok(offset) = usize::try_from(*value) else {
            return Err(wrong(format!("offset {index} is negative")));
        };
        if let Some(&previous) = converted.last() {
            if offset < previous {
                return Err(wrong(format!("offset {index} is {offset}, after {previous}")));
            }
            if offset == previous && runs == Runs::NonEmpty {
                return Err(wrong(format!(
                    "nothing lies between offsets {} and {index}",
                    index - 1
                )));
            }
        }
        converted.push(offset);
    }
    match (converted.first(), converted.last()) {
        (Some(0), Some(&last)) if last == length => Ok(converted),
        (Some(0), Some(last)) => Err(wrong(format!("the last one is {last}"))),
        (Some(first), _) => Err(wrong(format!("the first one is {first}"))),
        (None, _) => Err(wrong("there are none".to_owned())),
    }
}

/// Offsets as a NumPy array.
pub(super) fn offsets_out<'py>(py: Python<'py>, offsets: &[usize]) -> Bound<'py, PyArray1<i64>> {
    offsets.iter().map(|offset| *offset as i64).collect::<Vec<_>>().into_pyarray(py)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reason<T: Copy>(values: &[T], length: usize, runs: Runs) -> String
    where
        usize: TryFrom<T>,
    {
        let error = offsets_in("places", values, length, runs).expect_err("wrong offsets");
        format!("{error:?}")
    }

    #[test]
    fn offsets_of_any_integer_type_are_converted() {
        assert_eq!(
            offsets_in("places", &[0_i64, 2, 2, 5], 5, Runs::MayBeEmpty).unwrap(),
            [0, 2, 2, 5]
        );
        assert_eq!(offsets_in("places", &[0_u32, 5], 5, Runs::NonEmpty).unwrap(), [0, 5]);
        assert_eq!(offsets_in("places", &[0_i64], 0, Runs::NonEmpty).unwrap(), [0]);
    }

    #[test]
    fn each_mistake_is_named_with_the_argument() {
        for (found, expected) in [
            (reason(&[0_i64, -1, 5], 5, Runs::MayBeEmpty), "offset 1 is negative"),
            (reason(&[0_i64, 3, 2], 2, Runs::MayBeEmpty), "offset 2 is 2, after 3"),
            (reason(&[0_i64, 2, 2], 2, Runs::NonEmpty), "nothing lies between offsets 1 and 2"),
            (reason(&[0_u32, 4], 5, Runs::MayBeEmpty), "the last one is 4"),
            (reason(&[1_u32, 5], 5, Runs::MayBeEmpty), "the first one is 1"),
            (reason::<i64>(&[], 0, Runs::MayBeEmpty), "there are none"),
        ] {
            assert!(found.contains(expected) && found.contains("places must ascend"), "{found}");
        }
    }
}
