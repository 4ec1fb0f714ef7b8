//! The users' own names of nodes, so that nobody has to number them.

use std::borrow::Cow;
use std::collections::HashMap;

use super::NodeId;

/// What nodes are called outside.
#[derive(Clone, Debug, PartialEq)]
pub enum Names {
    /// 0, 1, 2, … up to a count: formats that know rows only.
    Numbered(usize),
    /// One text each (integers are kept as they were written).
    Texts(Vec<Box<str>>),
}

impl Names {
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
            Names::Texts(texts) => Cow::Borrowed(&texts[node as usize]),
        }
    }

    /// A look-up from names to nodes.
    pub fn index(&self) -> NameIndex<'_> {
        match self {
            Names::Numbered(count) => NameIndex::Numbered(*count),
            Names::Texts(texts) => {
                NameIndex::Texts(texts.iter().enumerate().map(|(node, text)| (&**text, node as NodeId)).collect())
            }
        }
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
            NameIndex::Numbered(count) => name.parse::<NodeId>().ok().filter(|&node| (node as usize) < *count),
            NameIndex::Texts(index) => index.get(name).copied(),
        }
    }
}
