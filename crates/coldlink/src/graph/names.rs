//! The users' own names of nodes, so that nobody has to number them.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use super::NodeId;
use crate::storage::Buffer;

/// What nodes are called outside.
///
/// ```
/// use coldlink::Names;
///
/// let names = Names::from_texts(["p1", "p2"]);
/// assert_eq!((names.get(1), names.index().find("p2")), ("p2".into(), Some(1)));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum Names {
    /// 0, 1, 2, … up to a count: formats that know rows only.
    Numbered(usize),
    /// One text each (integers are kept as they were written).
    Texts(Texts),
}

impl Names {
    /// One name per node, in order.
    pub fn from_texts<T: AsRef<str>>(texts: impl IntoIterator<Item = T>) -> Self {
        Names::Texts(texts.into_iter().collect())
    }

    /// These names, and those of nodes that are numbered after them; nothing where one side has numbers and the other texts.
    pub(crate) fn followed_by(&self, later: &Names) -> Option<Self> {
        match (self, later) {
            (Names::Numbered(first), Names::Numbered(later)) => Some(Names::Numbered(first + later)),
            (Names::Texts(first), Names::Texts(later)) => Some(Names::Texts(first.followed_by(later))),
            _ => None,
        }
    }

    /// All of them, in order.
    pub fn iter(&self) -> impl Iterator<Item = Cow<'_, str>> {
        (0..self.len() as NodeId).map(|node| self.get(node))
    }

    /// How many nodes there are.
    pub fn len(&self) -> usize {
        match self {
            Names::Numbered(count) => *count,
            Names::Texts(texts) => texts.len(),
        }
    }

    /// Whether there is no node.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The name of a node.
    pub fn get(&self, node: NodeId) -> Cow<'_, str> {
        match self {
            Names::Numbered(_) => Cow::Owned(node.to_string()),
            Names::Texts(texts) => Cow::Borrowed(texts.get(node as usize)),
        }
    }

    /// A look-up from names to nodes.
    pub fn index(&self) -> NameIndex<'_> {
        match self {
            Names::Numbered(count) => NameIndex::Numbered(*count),
            Names::Texts(texts) => {
                NameIndex::Texts(texts.iter().enumerate().map(|(node, text)| (text, node as NodeId)).collect())
            }
        }
    }
}

/// Many texts in two arrays: a million of them open with a file instead of being allocated one by one.
#[derive(Clone, Debug)]
pub struct Texts {
    offsets: Buffer<u64>,
    bytes: Buffer<u8>,
    /// Texts that were added, in arrays of their own.
    later: Option<Arc<Texts>>,
}

impl Texts {
    /// Texts from where each starts, with the end of the last, and their UTF-8 one after the other; or what is wrong.
    pub fn from_parts(offsets: Buffer<u64>, bytes: Buffer<u8>) -> Result<Self, &'static str> {
        let count = offsets.len().checked_sub(1).ok_or("the offsets are empty")?;
        if offsets[0] != 0 || offsets[count] != bytes.len() as u64 {
            return Err("the offsets do not span the texts");
        }
        if offsets.windows(2).any(|pair| pair[0] > pair[1]) {
            return Err("the offsets fall");
        }
        let whole = std::str::from_utf8(&bytes).map_err(|_| "the texts are not UTF-8")?;
        if !offsets.iter().all(|&offset| whole.is_char_boundary(offset as usize)) {
            return Err("a text ends within a character");
        }
        Ok(Texts { offsets, bytes, later: None })
    }

    /// These texts, and others after them. Of these, only those that were added before are copied.
    fn followed_by(&self, others: &Texts) -> Self {
        let (mut offsets, mut bytes) = (vec![0], Vec::new());
        for part in self.later.iter().flat_map(|later| later.parts()).chain(others.parts()) {
            let start = bytes.len() as u64;
            offsets.extend(part.offsets[1..].iter().map(|offset| start + offset));
            bytes.extend_from_slice(&part.bytes);
        }
        let later = Texts { offsets: offsets.into(), bytes: bytes.into(), later: None };
        Texts { later: Some(Arc::new(later)), ..self.clone() }
    }

    /// Those in arrays of their own, in order.
    fn parts(&self) -> impl Iterator<Item = &Texts> {
        std::iter::successors(Some(self), |part| part.later.as_deref())
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.first() + self.later.as_ref().map_or(0, |later| later.len())
    }

    /// How many there are in the first arrays.
    pub(super) fn first(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Bytes of memory that added texts take.
    pub(crate) fn later_bytes(&self) -> usize {
        self.later.as_ref().map_or(0, |later| size_of_val(&later.offsets[..]) + later.bytes.len())
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// One of them.
    pub fn get(&self, index: usize) -> &str {
        std::str::from_utf8(self.utf8(index)).expect("checked where texts are made")
    }

    /// Its UTF-8, which has the order of the texts.
    pub(super) fn utf8(&self, index: usize) -> &[u8] {
        match (index.checked_sub(self.first()), &self.later) {
            (Some(index), Some(later)) => later.utf8(index),
            _ => &self.bytes[self.offsets[index] as usize..self.offsets[index + 1] as usize],
        }
    }

    /// All of them, in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &str> {
        (0..self.len()).map(|index| self.get(index))
    }

    /// Where each starts, and the end of the last; and the UTF-8 of all, one after the other. Of texts to which none were added.
    pub(super) fn arrays(&self) -> (&[u64], &[u8]) {
        assert!(self.later.is_none(), "texts are put together before they are written");
        (&self.offsets, &self.bytes)
    }
}

impl PartialEq for Texts {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.iter().eq(other.iter())
    }
}

impl<T: AsRef<str>> FromIterator<T> for Texts {
    fn from_iter<I: IntoIterator<Item = T>>(texts: I) -> Self {
        let (mut offsets, mut bytes) = (vec![0], Vec::new());
        for text in texts {
            bytes.extend_from_slice(text.as_ref().as_bytes());
            offsets.push(bytes.len() as u64);
        }
        Texts { offsets: offsets.into(), bytes: bytes.into(), later: None }
    }
}

/// From names to nodes; see [`Names::index`].
pub enum NameIndex<'a> {
    /// Names are numbers below a count.
    Numbered(usize),
    /// Names are texts.
    Texts(HashMap<&'a str, NodeId>),
}

impl NameIndex<'_> {
    /// The node of that name.
    pub fn find(&self, name: &str) -> Option<NodeId> {
        match self {
            NameIndex::Numbered(count) => numbered(name, *count),
            NameIndex::Texts(index) => index.get(name).copied(),
        }
    }
}

/// The node that a number names, written as numbers are: `7`, but neither `007` nor `+7`.
pub(super) fn numbered(name: &str, count: usize) -> Option<NodeId> {
    name.parse().ok().filter(|&node: &NodeId| (node as usize) < count && node.to_string() == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_leads_to_its_node_and_back() {
        let names = Names::from_texts(["p1", "", "übung"]);
        assert_eq!((names.len(), names.get(2), names.get(1)), (3, "übung".into(), "".into()));
        assert_eq!((names.index().find("übung"), names.index().find("p2")), (Some(2), None));
        let numbered = Names::Numbered(3);
        assert_eq!(
            (numbered.get(2), numbered.index().find("2"), numbered.index().find("3")),
            ("2".into(), Some(2), None)
        );
        assert_eq!(["02", "+2", " 2", "-0"].map(|name| numbered.index().find(name)), [None; 4]);
    }

    #[test]
    fn added_names_are_numbered_after_the_others() {
        let first = Names::from_texts(["a", "b"]);
        let more =
            first.followed_by(&Names::from_texts(["c"])).and_then(|more| more.followed_by(&Names::from_texts(["d"])));
        let more = more.unwrap();
        assert_eq!((more.len(), more.get(0), more.get(2), more.get(3)), (4, "a".into(), "c".into(), "d".into()));
        assert_eq!(more, Names::from_texts(["a", "b", "c", "d"]));
        assert_eq!(Names::Numbered(2).followed_by(&Names::Numbered(3)), Some(Names::Numbered(5)));
        assert_eq!((first.followed_by(&Names::Numbered(1)), Names::Numbered(1).followed_by(&first)), (None, None));
    }

    #[test]
    fn arrays_that_are_no_texts_are_refused() {
        let check =
            |offsets: &[u64], bytes: &[u8]| Texts::from_parts(offsets.to_vec().into(), bytes.to_vec().into()).is_err();
        assert!(!check(&[0, 1, 3], "aü".as_bytes()));
        assert!(check(&[], b""));
        assert!(check(&[0, 1], b"ab"), "bytes left over");
        assert!(check(&[0, 2, 1, 2], b"ab"), "falling offsets");
        assert!(check(&[0, 9, 2], b"ab"), "offsets beyond the end");
        assert!(check(&[0, 1, 2], "ü".as_bytes()), "half a character");
        assert!(check(&[0, 1], b"\xff"), "not UTF-8");
    }
}
