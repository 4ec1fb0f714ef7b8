//! Layers against PyTorch Geometric (`golden/layers.py`), and their gradients against finite differences.

mod common;

use std::sync::Arc;

use burn::module::Param;
use burn::tensor::{DType, Tensor, TensorData};
use coldlink::graph::Graph;
use coldlink_bench::layer::{
    Attention, Dgcnn, Gat, Gcn, Gin, Graphs, Initial, Input, Linear, Mlp, Position, Sage, Sets, means, normalised,
    sort_pool, sums,
};
use coldlink_bench::tensor::device;
use common::{check_gradients, check_numbers, flat, golden, pairs as links};
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use serde_json::Value;

fn shape<const D: usize>(value: &Value) -> [usize; D] {
    let mut at = value;
    std::array::from_fn(|_| {
        let length = at.as_array().unwrap().len();
        at = &at[0];
        length
    })
}

fn tensor<const D: usize>(value: &Value) -> Tensor<D> {
    Tensor::from_data(TensorData::new(flat(value), shape::<D>(value)), (&device(), DType::F64))
}

fn param<const D: usize>(value: &Value) -> Param<Tensor<D>> {
    Param::from_tensor(tensor(value))
}

fn linear(weights: &Value, bias: &Value) -> Linear {
    Linear { weights: param(weights), bias: param(bias) }
}

fn graph(golden: &Value) -> Graph {
    Graph::from_links(golden["graph"]["nodes"].as_u64().unwrap() as usize, links(&golden["graph"]["links"]))
}

fn random() -> Xoshiro256PlusPlus {
    Xoshiro256PlusPlus::seed_from_u64(1)
}

fn check<const D: usize>(out: Tensor<D>, expected: &Value) {
    check_numbers(out.into_data().iter::<f64>(), expected);
}

fn gcn(golden: &Value) -> Gcn {
    Gcn { weights: param(&golden["weight"]), bias: param(&golden["bias"]) }
}

#[test]
fn a_graph_convolution_computes_what_pyg_does() {
    let golden = golden();
    let x = Input::Dense(tensor(&golden["x"]));
    check(gcn(&golden["gcn"]).forward(&x, &normalised(&graph(&golden))), &golden["gcn"]["out"]);
}

#[test]
fn attention_computes_what_pyg_does() {
    let (golden, x) = (golden(), Input::Dense(tensor(&golden()["x"])));
    let gat = &golden["gat"];
    let layer = Gat {
        weights: param(&gat["weight"]),
        source: param(&gat["source"]),
        target: param(&gat["target"]),
        bias: param(&gat["bias"]),
    };
    check(layer.forward(&x, &Attention::of(&graph(&golden))), &gat["out"]);
}

#[test]
fn an_isomorphism_layer_computes_what_pyg_does() {
    let (golden, x) = (golden(), Input::Dense(tensor(&golden()["x"])));
    let gin = &golden["gin"];
    let layer = Gin {
        first: linear(&gin["weight1"], &gin["bias1"]),
        second: linear(&gin["weight2"], &gin["bias2"]),
        own: Param::from_tensor(Tensor::from_data(
            TensorData::new(vec![gin["eps"].as_f64().unwrap()], [1]),
            (&device(), DType::F64),
        )),
    };
    check(layer.forward(&x, &sums(&graph(&golden))), &gin["out"]);
}

#[test]
fn a_mean_of_neighbours_computes_what_pyg_does() {
    let (golden, x) = (golden(), Input::Dense(tensor(&golden()["x"])));
    let sage = &golden["sage"];
    let layer = Sage { own: linear(&sage["own"], &sage["bias"]), neighbours: param(&sage["neighbours"]) };
    check(layer.forward(&x, &means(&graph(&golden))), &sage["out"]);
}

#[test]
fn sort_pooling_computes_what_pyg_does() {
    let golden = &golden()["sort_pool"];
    check(sort_pool(tensor(&golden["x"]), &[3, 6], 4), &golden["out"]);
}

fn dgcnn(golden: &Value) -> Dgcnn {
    Dgcnn {
        graph: golden["gcn"].as_array().unwrap().iter().map(gcn).collect(),
        node: linear(&golden["conv1_weight"], &golden["conv1_bias"]),
        sequence: param(&golden["conv2_weight"]),
        sequence_bias: param(&golden["conv2_bias"]),
        hidden: linear(&golden["linear1_weight"], &golden["linear1_bias"]),
        outcome: linear(&golden["linear2_weight"], &golden["linear2_bias"]),
        kept: golden["k"].as_u64().unwrap() as usize,
    }
}

#[test]
fn the_network_of_seal_computes_what_pyg_does() {
    for name in ["dgcnn", "dgcnn_padded"] {
        let golden = &golden()[name];
        let graph = normalised(&Graph::from_links(19, links(&golden["links"])));
        let x = Input::Dense(tensor(&golden["x"]));
        check(
            dgcnn(golden).forward(&x, &Graphs { normalised: &graph, sizes: &[7, 12] }, 0.0, &mut random()),
            &golden["out"],
        );
    }
}

fn sets(golden: &Value) -> Sets {
    let anchors = flat(&golden["anchors"]).into_iter().map(|anchor| anchor as u32);
    let weights = flat(&golden["weights"]).into_iter().map(|weight| weight as f32);
    Sets::new(9, 3, &anchors.zip(weights).collect::<Vec<_>>())
}

#[test]
fn a_position_aware_layer_computes_what_the_paper_says() {
    let golden = &golden()["pgnn"];
    let column = |value: &Value| -> Tensor<2> { tensor::<1>(value).reshape([-1, 1]) };
    let layer = Position {
        anchors: param(&golden["w1"]),
        own: linear(&golden["w2"], &golden["bias"]),
        place: Linear {
            weights: Param::from_tensor(column(&golden["p"])),
            bias: Param::from_tensor(Tensor::from_data(
                TensorData::new(flat(&golden["c"]), [1]),
                (&device(), DType::F64),
            )),
        },
    };
    let (places, hidden) = layer.forward(tensor(&golden["h"]), &sets(golden));
    check(places, &golden["position"]);
    check(hidden, &golden["structure"]);
}

/// A sum of a layer's outputs with weights that differ, so that no error cancels.
fn weighed<const D: usize>(out: Tensor<D>) -> Tensor<1> {
    let shape = out.dims();
    let weights: Vec<f64> =
        (0..shape.iter().product()).map(|place: usize| ((place * 7 + 3) % 11) as f64 / 5.0 - 0.9).collect();
    (out * Tensor::<D>::from_data(TensorData::new(weights, shape), (&device(), DType::F64))).sum()
}

#[test]
fn gradients_of_all_layers_are_those_of_finite_differences() {
    let golden = golden();
    let (graph, x) = (graph(&golden), Input::Dense(tensor(&golden["x"])));
    let initial = &mut Initial::new(5);
    let adjacency = normalised(&graph);
    check_gradients(Gcn::new(6, 5, initial), |layer| weighed(layer.forward(&x, &adjacency)));
    let attention = Attention::of(&graph);
    check_gradients(Gat::new(6, 4, 2, initial), |layer| weighed(layer.forward(&x, &attention)));
    let adjacency = sums(&graph);
    check_gradients(Gin::new(6, 5, initial), |layer| weighed(layer.forward(&x, &adjacency)));
    let adjacency = means(&graph);
    check_gradients(Sage::new(6, 5, initial), |layer| weighed(layer.forward(&x, &adjacency)));
    check_gradients(Mlp::new(&[6, 4, 3], true, initial), |layer| weighed(layer.forward(&x, 0.0, &mut random())));
    let sets = sets(&golden["pgnn"]);
    check_gradients(Position::new(6, 5, initial), |layer| {
        let (places, hidden) = layer.forward(tensor(&golden["x"]), &sets);
        weighed(places) + weighed(hidden)
    });
}

#[test]
fn gradients_of_the_network_of_seal_are_those_of_finite_differences() {
    let golden = &golden()["dgcnn_padded"];
    let graph = normalised(&Graph::from_links(19, links(&golden["links"])));
    let x = Input::Dense(tensor(&golden["x"]));
    check_gradients(dgcnn(golden), |network| {
        weighed(network.forward(&x, &Graphs { normalised: &graph, sizes: &[7, 12] }, 0.0, &mut random()))
    });
}

#[test]
fn sparse_and_dense_attributes_give_the_same() {
    let x = tensor::<2>(&golden()["x"]);
    let rows = flat(&golden()["x"]);
    let lists = rows.chunks(6).map(|row| (0..6).filter(|&c| row[c as usize] != 0.0).collect::<Vec<u32>>());
    let pattern = Arc::new(coldlink_bench::tensor::Pattern::from_lists(6, lists));
    let values = rows.iter().filter(|value| **value != 0.0).map(|&value| value as f32).collect();
    let sparse = Input::Sparse(coldlink_bench::tensor::Sparse::new(pattern, values));
    let layer = common::double(Linear::new(6, 5, &mut Initial::new(2)));
    let dense = layer.forward(&Input::Dense(x)).into_data().iter::<f64>().collect::<Vec<_>>();
    for (a, b) in layer.forward(&sparse).into_data().iter::<f64>().zip(dense) {
        assert!((a - b).abs() < 1e-6);
    }
    check_gradients(layer, |layer| weighed(layer.forward(&sparse)));
}
