//! Uses all that was loaded, as a later stage would.

use std::hint::black_box;

use coldlink::graph::{Attributes, Dataset, Names};
use coldlink::load::{LoadError, NewNodes};
use coldlink::split::Preparation;

/// A graph, or the error that stands for it.
pub fn walk_loaded(loaded: &Result<Dataset, LoadError>) {
    match loaded {
        Ok(dataset) => {
            walk(&dataset.names, &dataset.attributes);
            assert_eq!(dataset.graph.iter_links().count(), dataset.graph.links());
            assert_eq!(dataset.names.len(), dataset.graph.nodes());
            assert_eq!(dataset.attributes.rows(), dataset.graph.nodes());
        }
        Err(error) => told(error),
    }
}

/// New nodes, or the error that stands for them.
pub fn walk_new(new: &Result<NewNodes, LoadError>) {
    match new {
        Ok(new) => {
            walk(&new.names, &new.attributes);
            assert_eq!(new.attributes.rows(), new.names.len());
            black_box(new.notes());
        }
        Err(error) => told(error),
    }
}

/// Names and attributes.
pub fn walk(names: &Names, attributes: &Attributes) {
    let index = names.index();
    for node in 0..names.len() as u32 {
        assert!(index.find(&names.get(node)).is_some());
        let (columns, values) = attributes.row(node);
        assert!(columns.iter().all(|&column| (column as usize) < attributes.width()));
        assert!(values.iter().all(|value| value.is_finite()));
    }
}

/// What training fits to attributes first.
pub fn fit(dataset: &Dataset) {
    let visible = vec![true; dataset.attributes.rows()];
    if let Some(fitted) = Preparation::fit(&dataset.attributes, &visible) {
        black_box(fitted.apply(&dataset.attributes));
    }
}

fn told(error: &LoadError) {
    assert!(!error.to_string().is_empty());
    black_box(error.hint());
}
