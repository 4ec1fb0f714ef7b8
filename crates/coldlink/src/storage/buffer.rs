//! A slice that is owned, shared, or lies in a memory-mapped file.

use std::ops::{Deref, Range};
use std::sync::Arc;

use bytemuck::Pod;

use super::Map;

/// An array: owned to be written, shared, or part of a mapped file. A clone of what is shared or mapped copies nothing.
#[derive(Clone)]
pub enum Buffer<T> {
    /// Held in memory by this alone.
    Owned(Vec<T>),
    /// Held in memory by all clones together.
    Shared(Arc<Vec<T>>),
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

    /// The array to write; what is mapped, or shared with others, is copied first.
    #[inline]
    pub fn to_mut(&mut self) -> &mut Vec<T> {
        if !matches!(self, Buffer::Owned(_)) {
            *self = Buffer::Owned(match std::mem::replace(self, Buffer::Owned(Vec::new())) {
                Buffer::Owned(values) => values,
                Buffer::Shared(values) => Arc::try_unwrap(values).unwrap_or_else(|values| values.to_vec()),
                mapped @ Buffer::Mapped { .. } => mapped.to_vec(),
            });
        }
        match self {
            Buffer::Owned(values) => values,
            _ => unreachable!("just made its own"),
        }
    }
}

impl<T: Pod> Deref for Buffer<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        match self {
            Buffer::Owned(values) => values,
            Buffer::Shared(values) => values,
            Buffer::Mapped { map, range } => bytemuck::cast_slice(&map[range.clone()]),
        }
    }
}

impl<T> From<Vec<T>> for Buffer<T> {
    fn from(values: Vec<T>) -> Self {
        Buffer::Shared(Arc::new(values))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clone_shares_until_it_is_written() {
        let first = Buffer::from(vec![1_u32, 2, 3]);
        let mut second = first.clone();
        assert_eq!(first.as_ptr(), second.as_ptr());
        second.to_mut().push(4);
        assert_eq!((&*first, &*second), (&[1, 2, 3][..], &[1, 2, 3, 4][..]));
    }
}
