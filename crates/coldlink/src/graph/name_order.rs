//! From names to nodes, and to all nodes whose names begin alike.

use std::ops::Range;
use std::sync::Arc;

use super::{Names, NodeId, Texts};

/// A look-up that owns nothing but an order, so that it can be kept beside the names.
#[derive(Clone, Debug)]
pub enum NameOrder {
    /// Names are numbers below a count.
    Numbered(usize),
    /// Nodes in the order of their names: those that were there first, and those that were added.
    Sorted {
        /// Shared by all orders that begin with it.
        first: Arc<Vec<NodeId>>,
        /// Those that were added, which are few.
        later: Vec<NodeId>,
    },
}

impl NameOrder {
    /// Of some names.
    pub fn new(names: &Names) -> Self {
        match names {
            Names::Numbered(count) => NameOrder::Numbered(*count),
            Names::Texts(texts) => NameOrder::Sorted {
                first: Arc::new(sorted(texts, 0..texts.first())),
                later: sorted(texts, texts.first()..texts.len()),
            },
        }
    }

    /// The order of names that begin with the names of this one.
    pub(crate) fn of_more(&self, names: &Names) -> Self {
        match (self, names) {
            (NameOrder::Sorted { first, later }, Names::Texts(texts)) if texts.first() == first.len() => {
                let mut later = later.clone();
                for node in first.len() + later.len()..texts.len() {
                    let place = later.partition_point(|&other| texts.utf8(other as usize) < texts.utf8(node));
                    later.insert(place, node as NodeId);
                }
                NameOrder::Sorted { first: Arc::clone(first), later }
            }
            _ => NameOrder::new(names),
        }
    }

    /// The node of that name.
    pub fn find(&self, names: &Names, name: &str) -> Option<NodeId> {
        match self {
            NameOrder::Numbered(count) => super::names::numbered(name, *count),
            NameOrder::Sorted { first, later } => [&first[..], later].into_iter().find_map(|nodes| {
                let place = nodes.binary_search_by(|&node| names.get(node).as_ref().cmp(name)).ok()?;
                Some(nodes[place])
            }),
        }
    }

    /// Up to `most` nodes whose names begin with `prefix`.
    pub fn starting_with(&self, names: &Names, prefix: &str, most: usize) -> Vec<NodeId> {
        match self {
            NameOrder::Numbered(count) => ranges_of(prefix, *count).into_iter().flatten().take(most).collect(),
            NameOrder::Sorted { first, later } => {
                let alike = |nodes: &[NodeId]| {
                    let start = nodes.partition_point(|&node| names.get(node).as_ref() < prefix);
                    let alike = nodes[start..].iter().copied();
                    alike.take_while(|&node| names.get(node).starts_with(prefix)).take(most).collect::<Vec<_>>()
                };
                let mut found = [alike(first), alike(later)].concat();
                if !later.is_empty() {
                    found.sort_by(|&a, &b| names.get(a).cmp(&names.get(b)));
                    found.truncate(most);
                }
                found
            }
        }
    }

    /// Bytes of memory that it takes.
    pub(crate) fn held_bytes(&self) -> usize {
        match self {
            NameOrder::Numbered(_) => 0,
            NameOrder::Sorted { first, later } => size_of_val(&first[..]) + size_of_val(&later[..]),
        }
    }
}

fn sorted(texts: &Texts, nodes: Range<usize>) -> Vec<NodeId> {
    let mut nodes: Vec<NodeId> = nodes.map(|node| node as NodeId).collect();
    nodes.sort_by(|&a, &b| texts.utf8(a as usize).cmp(texts.utf8(b as usize)));
    nodes
}

/// The numbers below `count` whose digits begin with `prefix`: 12, then 120 to 129, then 1200 to 1299, and so on.
fn ranges_of(prefix: &str, count: usize) -> Vec<Range<NodeId>> {
    let count = count as NodeId;
    if prefix.is_empty() {
        return std::iter::once(0..count).collect();
    }
    let Some(start) = prefix.parse::<NodeId>().ok().filter(|number| number.to_string() == prefix) else {
        return Vec::new();
    };
    if start == 0 {
        return std::iter::once(0..count.min(1)).collect();
    }
    let tens = std::iter::successors(Some(1_u64), |ten| Some(ten * 10));
    let ranges = tens.map(|ten| (u64::from(start) * ten, (u64::from(start) + 1) * ten));
    let below = ranges.take_while(|range| range.0 < u64::from(count));
    below.map(|(first, end)| first as NodeId..end.min(u64::from(count)) as NodeId).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_whole_and_by_their_beginning() {
        let names = Names::from_texts(["pear", "apple", "peach", "über", "p"]);
        let order = NameOrder::new(&names);
        assert_eq!((order.find(&names, "peach"), order.find(&names, "pea")), (Some(2), None));
        assert_eq!(order.starting_with(&names, "pe", 9), [2, 0]);
        assert_eq!(order.starting_with(&names, "", 2), [1, 4]);
        assert!(order.starting_with(&names, "z", 9).is_empty());
    }

    #[test]
    fn added_names_are_found_among_the_others() {
        let first = Names::from_texts(["pear", "apple"]);
        let names = first.followed_by(&Names::from_texts(["peach", "aprikose"])).unwrap();
        for order in [NameOrder::new(&names), NameOrder::new(&first).of_more(&names)] {
            assert_eq!(["pear", "peach", "pea"].map(|name| order.find(&names, name)), [Some(0), Some(2), None]);
            assert_eq!(order.starting_with(&names, "", 9), [1, 3, 2, 0]);
            assert_eq!(order.starting_with(&names, "ap", 1), [1]);
        }
    }

    #[test]
    fn numbers_are_names_as_well() {
        let names = Names::Numbered(131);
        let order = NameOrder::new(&names);
        assert_eq!(
            (order.find(&names, "130"), order.find(&names, "131"), order.find(&names, "07")),
            (Some(130), None, None)
        );
        assert_eq!(order.starting_with(&names, "12", 4), [12, 120, 121, 122]);
        assert_eq!(order.starting_with(&names, "13", 9), [13, 130]);
        assert_eq!(order.starting_with(&names, "0", 9), [0]);
        assert!(order.starting_with(&names, "x", 9).is_empty());
    }
}
