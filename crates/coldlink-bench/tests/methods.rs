//! What methods compute, against values made elsewhere (`golden/layers.py`), and their gradients.

mod common;

use burn::module::Param;
use burn::tensor::{DType, Tensor, TensorData};
use coldlink_bench::layer::{Initial, Input};
use coldlink_bench::method::{Bag, Gaussian, double_radius_labels, energies};
use coldlink_bench::tensor::device;
use common::{check_gradients, check_numbers as check, flat, golden, pairs};
use serde_json::Value;

fn matrix(value: &Value) -> Tensor<2> {
    let rows = value.as_array().unwrap().len();
    let numbers = flat(value);
    let columns = numbers.len() / rows;
    Tensor::from_data(TensorData::new(numbers, [rows, columns]), (&device(), DType::F64))
}

#[test]
fn labels_are_those_of_the_double_radius_formula() {
    for case in golden()["drnl"].as_array().unwrap() {
        let number = |key: &str| case[key].as_u64().unwrap() as u32;
        let labels =
            double_radius_labels(number("nodes") as usize, &pairs(&case["links"]), number("source"), number("target"));
        check(labels.into_iter().map(f64::from), &case["labels"]);
    }
}

#[test]
fn energies_are_divergences_of_gaussians() {
    let golden = &golden()["kl"];
    let places: Vec<_> = pairs(&golden["pairs"]).into_iter().map(|(a, b)| [a, b]).collect();
    let found = energies(&matrix(&golden["mean"]), &matrix(&golden["variance"]), &places);
    check(found.into_data().iter::<f64>(), &golden["energy"]);
}

#[test]
fn a_bag_of_directions_is_the_normalised_weighted_sum() {
    let golden = &golden()["citeomatic"];
    let magnitude = flat(&golden["magnitude"]);
    let count = magnitude.len();
    let magnitude = Tensor::<1>::from_data(TensorData::new(magnitude, [count]), (&device(), DType::F64));
    let bag =
        Bag { magnitude: Param::from_tensor(magnitude), direction: Param::from_tensor(matrix(&golden["direction"])) };
    let out = bag.forward(&Input::Dense(matrix(&golden["x"])));
    check(out.into_data().iter::<f64>(), &golden["out"]);
}

#[test]
fn gradients_of_encoders_are_those_of_finite_differences() {
    // Away from zero, where a rectifier has no slope.
    let x = Input::Dense(matrix(&golden()["x"]).slice([0..8, 0..6]) + 0.1);
    let initial = &mut Initial::new(4);
    let weights = || {
        Tensor::<2>::from_data(
            TensorData::new((0..24).map(|i| f64::from(i * 5 % 7) / 3.0 - 0.8).collect(), [8, 3]),
            (&device(), DType::F64),
        )
    };
    check_gradients(Bag::new(6, 3, initial), |bag| (bag.forward(&x) * weights()).sum());
    let (near, far) = ([[0, 1], [2, 3]], [[0, 5], [2, 7]]);
    check_gradients(Gaussian::new(6, 5, 3, initial), |network| {
        let [mean, variance] = network.forward(&x);
        energies(&mean, &variance, &near).square().sum() + (-energies(&mean, &variance, &far)).exp().sum()
    });
}
