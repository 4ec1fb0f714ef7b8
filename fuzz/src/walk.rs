//! Uses all that was loaded, as a later stage would.

use std::hint::black_box;
use std::path::Path;

use coldlink::columns::Preparation;
use coldlink::dataset::{Dataset, NewNodes};
use coldlink::graph::{Attributes, Names};
use coldlink::load::{LoadError, load_new};

/// A graph, or the error that stands for it.
pub fn walk_loaded(loaded: &Result<Dataset, LoadError>) {
    match loaded {
        Ok(dataset) => {
            walk(&dataset.names, &dataset.attributes);
            assert_eq!(dataset.graph.iter_links().count(), dataset.graph.links());
            assert_eq!(dataset.names.len(), dataset.graph.nodes());
            assert_eq!(dataset.attributes.rows(), dataset.graph.nodes());
            assert!(dataset.attributes.types().is_none_or(|types| types.all().len() == dataset.graph.nodes()));
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

/// The rows of a graph once more, as if they were new: they must become the same attributes.
pub fn same_as_new(dataset: &Dataset, nodes: &Path) {
    let Some(schema) = &dataset.schema else { return };
    let new = load_new(nodes, schema, false).expect("it was read before");
    for node in 0..dataset.attributes.rows() as u32 {
        let (once, again) = (dataset.attributes.row(node), new.attributes.row(node));
        assert_eq!(once.0, again.0, "attributes of row {node}");
        assert_eq!(dataset.attributes.dense_row(node), new.attributes.dense_row(node), "vectors of row {node}");
        let close = |(a, b): (&f32, &f32)| (a - b).abs() <= 1e-4 * a.abs().max(1.0);
        assert!(once.1.iter().zip(again.1).all(close), "row {node}: {:?} and {:?}", once.1, again.1);
    }
}

/// Names and attributes.
pub fn walk(names: &Names, attributes: &Attributes) {
    let index = names.index();
    for node in 0..names.len() as u32 {
        assert!(index.find(&names.get(node)).is_some());
        let (columns, values) = attributes.row(node);
        assert!(columns.iter().all(|&column| (column as usize) < attributes.sparse_width()));
        assert!(values.iter().chain(attributes.dense_row(node)).all(|value| value.is_finite()));
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
