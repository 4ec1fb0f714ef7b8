//! A slice that is either owned or lies in a memory-mapped file.

use std::ops::{Deref, Range};
use std::sync::Arc;

use bytemuck::Pod;

use crate::load::Map;

/// An immutable array, owned or part of a mapped file.
#[derive(Clone)]
pub enum Buffer<T> {
    /// Held in memory.
    Owned(Vec<T>),
    /// The bytes `range` of a mapped file, checked to be whole and aligned for `T`.
    Mapped {
        /// The file.
        map: Arc<Map>,
        /// Bytes within it.
        range: Range<usize>,
    },
}

impl<T: Pod> Buffer<T> {
    /// The part `range` of a mapped file as an array; `None` where it does not fit or is not aligned.
    pub fn mapped(map: &Arc<Map>, range: Range<usize>) -> Option<Self> {
        let bytes = map.get(range.clone())?;
        bytemuck::try_cast_slice::<u8, T>(bytes).ok()?;
        Some(Buffer::Mapped { map: Arc::clone(map), range })
    }
}

impl<T: Pod> Buffer<T> {
    /// The array to write; what is mapped is copied first.
    #[inline]
    pub fn to_mut(&mut self) -> &mut Vec<T> {
        if let Buffer::Mapped { .. } = self {
            *self = Buffer::Owned(self.to_vec());
        }
        match self {
            Buffer::Owned(values) => values,
            Buffer::Mapped { .. } => unreachable!("just copied"),
        }
    }
}

impl<T: Pod> Deref for Buffer<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        match self {
            Buffer::Owned(values) => values,
            Buffer::Mapped { map, range } => bytemuck::cast_slice(&map[range.clone()]),
        }
    }
}

impl<T> From<Vec<T>> for Buffer<T> {
    fn from(values: Vec<T>) -> Self {
        Buffer::Owned(values)
    }
}

impl<T: Pod + std::fmt::Debug> std::fmt::Debug for Buffer<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl<T: Pod + PartialEq> PartialEq for Buffer<T> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}
