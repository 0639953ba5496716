//! The element types of arrays, and views of arrays to be written.

use std::fmt;

use safetensors::Dtype;

use super::Problem;

/// The largest number of dimensions of an array in NumPy 1.
const MAX_RANK: usize = 32;

/// The type of an array's elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ElementType {
    /// Bytes.
    U8,
    /// Signed 32-bit integers.
    I32,
    /// Unsigned 32-bit integers.
    U32,
    /// Signed 64-bit integers.
    I64,
    /// Unsigned 64-bit integers.
    U64,
    /// Single-precision floats.
    F32,
    /// Double-precision floats.
    F64,
}

impl ElementType {
    /// Every type.
    pub const ALL: [Self; 7] =
        [Self::U8, Self::I32, Self::U32, Self::I64, Self::U64, Self::F32, Self::F64];

    /// Bytes of one element.
    pub fn size(self) -> usize {
        self.dtype().bitsize() / 8
    }

    /// Its name in NumPy.
    pub fn name(self) -> &'static str {
        match self {
            Self::U8 => "uint8",
            Self::I32 => "int32",
            Self::U32 => "uint32",
            Self::I64 => "int64",
            Self::U64 => "uint64",
            Self::F32 => "float32",
            Self::F64 => "float64",
        }
    }

    /// Its name in safetensors.
    pub(super) fn dtype(self) -> Dtype {
        match self {
            Self::U8 => Dtype::U8,
            Self::I32 => Dtype::I32,
            Self::U32 => Dtype::U32,
            Self::I64 => Dtype::I64,
            Self::U64 => Dtype::U64,
            Self::F32 => Dtype::F32,
            Self::F64 => Dtype::F64,
        }
    }

    /// The type with the given name in safetensors, if models use it.
    pub(super) fn from_dtype(dtype: Dtype) -> Option<Self> {
        Self::ALL.into_iter().find(|element_type| element_type.dtype() == dtype)
    }
}

impl fmt::Display for ElementType {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// A Rust type that can be the element type of an array.
pub trait Element: bytemuck::Pod {
    /// The same type as a value.
    const TYPE: ElementType;
}

macro_rules! elements {
    ($($rust:ty => $name:ident),*) => {
        $(impl Element for $rust { const TYPE: ElementType = ElementType::$name; })*
    };
}

elements!(u8 => U8, i32 => I32, u32 => U32, i64 => I64, u64 => U64, f32 => F32, f64 => F64);

/// An array in memory: elements in row-major order, and a shape.
#[derive(Debug, Clone)]
pub struct ArrayView<'data> {
    pub(super) element_type: ElementType,
    pub(super) shape: Vec<usize>,
    pub(super) bytes: &'data [u8],
}

impl<'data> ArrayView<'data> {
    /// A view of `data`; [`write`](super::write()) checks that the shape fits it.
    pub fn new<T: Element>(data: &'data [T], shape: &[usize]) -> Self {
        Self { element_type: T::TYPE, shape: shape.to_vec(), bytes: bytemuck::cast_slice(data) }
    }
}

/// Check that an array of this shape fits into memory. Dimensions of zero are ignored, so that they
/// do not hide others that are too large.
pub(super) fn check_shape(name: &str, shape: &[usize], size: usize) -> Result<(), Problem> {
    let bytes = shape
        .iter()
        .filter(|&&length| length > 0)
        .try_fold(size, |bytes, &length| bytes.checked_mul(length));
    if shape.len() <= MAX_RANK && bytes.is_some_and(|bytes| isize::try_from(bytes).is_ok()) {
        Ok(())
    } else {
        Err(Problem::ImpossibleShape { name: name.to_owned(), shape: shape.to_vec() })
    }
}
