//! Stored values, and gradients of any module against finite differences, in `f64`.

use burn::module::{Module, ModuleMapper, ModuleVisitor, Param};
use burn::tensor::{DType, Gradients, Tensor, TensorData};
use coldlink_bench::tensor::device;
use serde_json::Value;

/// Values that `golden/layers.py` made.
pub fn golden() -> Value {
    serde_json::from_str(include_str!("../golden/layers.json")).unwrap()
}

/// All numbers of nested lists, in order.
pub fn flat(value: &Value) -> Vec<f64> {
    match value {
        Value::Array(items) => items.iter().flat_map(flat).collect(),
        number => vec![number.as_f64().unwrap()],
    }
}

/// A list of pairs of nodes.
pub fn pairs(value: &Value) -> Vec<(u32, u32)> {
    flat(value).chunks(2).map(|ends| (ends[0] as u32, ends[1] as u32)).collect()
}

/// Checks numbers against expected ones, to a millionth.
pub fn check_numbers(found: impl Iterator<Item = f64>, expected: &Value) {
    let (found, expected) = (found.collect::<Vec<_>>(), flat(expected));
    assert_eq!(found.len(), expected.len());
    for (place, (a, b)) in found.iter().zip(&expected).enumerate() {
        assert!((a - b).abs() < 1e-6, "number {place}: {a} instead of {b}");
    }
}

/// A module with numbers of double precision.
pub fn double<M: Module>(module: M) -> M {
    module.map(&mut Change { shift: None, warm: 0 })
}

/// Checks the gradient of `loss` by every parameter of a module against central differences.
pub fn check_gradients<M: Module + Clone>(module: M, loss: impl Fn(&M) -> Tensor<1>) {
    let module = double(module);
    let gradients = loss(&module).backward();
    let mut found = Gradient { gradients, numbers: Vec::new() };
    module.visit(&mut found);
    let shifted = |place: usize, by: f64| {
        let module = module.clone().map(&mut Change { shift: Some((place, by)), warm: 0 });
        loss(&module).into_data().iter::<f64>().next().unwrap()
    };
    let difference = |place: usize| (shifted(place, 1e-5) - shifted(place, -1e-5)) / 2e-5;
    let expected: Vec<f64> = (0..found.numbers.len()).map(difference).collect();
    let norm = |numbers: &mut dyn Iterator<Item = f64>| numbers.map(|v| v * v).sum::<f64>().sqrt();
    let error = norm(&mut found.numbers.iter().zip(&expected).map(|(a, b)| a - b));
    let size = norm(&mut expected.iter().copied());
    assert!(size > 1e-3, "the gradient is zero, so nothing was checked");
    let worst = (0..expected.len()).max_by(|&a, &b| {
        let error = |place: usize| (found.numbers[place] - expected[place]).abs();
        error(a).total_cmp(&error(b))
    });
    let worst = worst.map(|place| (place, found.numbers[place], expected[place]));
    assert!(error < 1e-6 * size, "off by {error:e} of {size:e}, most at (place, found, expected) {worst:?}");
}

struct Gradient {
    gradients: Gradients,
    numbers: Vec<f64>,
}

impl ModuleVisitor for Gradient {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        let value = param.val();
        let gradient = value.grad(&self.gradients).unwrap_or_else(|| value.without_autodiff().zeros_like());
        self.numbers.extend(gradient.into_data().iter::<f64>());
    }
}

/// Makes numbers double, and adds to one of them.
struct Change {
    shift: Option<(usize, f64)>,
    warm: usize,
}

impl ModuleMapper for Change {
    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        let warm = self.warm;
        self.warm += param.dims().iter().product::<usize>();
        param.map(|value| {
            let shape = value.dims();
            let mut numbers: Vec<f64> = value.into_data().iter().collect();
            if let Some((place, by)) = self.shift
                && let Some(number) = place.checked_sub(warm).and_then(|place| numbers.get_mut(place))
            {
                *number += by;
            }
            Tensor::from_data(TensorData::new(numbers, shape), (&device(), DType::F64)).require_grad()
        })
    }
}
