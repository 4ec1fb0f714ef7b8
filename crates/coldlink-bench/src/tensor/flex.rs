//! From burn's tensors to slices and back.

use burn::backend::flex::FlexTensor;
use burn::backend::tensor::FloatTensor;
use burn::backend::{Autodiff, Element, Flex};
use burn::tensor::{DType, Device, Tensor, TensorData};
use coldlink::kernel::{Matrix, Real};

/// What everything here runs on: the processor, with gradients.
pub fn device() -> Device {
    Device::flex().autodiff()
}

/// A number that both burn and coldlink's kernels know.
pub(super) trait Number: Real + Element {}
impl<T: Real + Element> Number for T {}

/// A tensor with or without gradients, as what it is on the backend.
pub(super) enum Primitive {
    Tracked(FloatTensor<Autodiff<Flex>>),
    Plain(FlexTensor),
}

pub(super) fn primitive<const D: usize>(tensor: Tensor<D>) -> Primitive {
    if tensor.is_autodiff() {
        let tracked = tensor.try_into_primitive::<Autodiff<Flex>>();
        Primitive::Tracked(
            tracked.unwrap_or_else(|error| unreachable!("all tensors are on the one backend: {error:?}")),
        )
    } else {
        let plain = tensor.try_into_primitive::<Flex>();
        Primitive::Plain(plain.unwrap_or_else(|error| unreachable!("all tensors are on the one backend: {error:?}")))
    }
}

/// Calls one of two instances of generic code, by the tensor's kind of number.
pub(super) fn by_number(
    tensor: &FlexTensor,
    single: impl FnOnce() -> FlexTensor,
    double: impl FnOnce() -> FlexTensor,
) -> FlexTensor {
    if tensor.dtype() == DType::F64 { double() } else { single() }
}

/// The numbers of a contiguous tensor.
pub(super) fn slice<T: Number>(tensor: &FlexTensor) -> &[T] {
    tensor.as_slice().unwrap_or_else(|| unreachable!("the tensor was made contiguous"))
}

pub(super) fn tensor<T: Number, const D: usize>(values: Vec<T>, shape: [usize; D]) -> FlexTensor {
    FlexTensor::from_data(TensorData::new(values, shape))
}

/// All numbers of a tensor, row by row.
pub fn numbers<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
    tensor.into_data().iter::<f32>().collect()
}

/// A tensor's rows, padded as coldlink's kernels want them.
pub fn rows(tensor: Tensor<2>) -> Matrix<f32> {
    let [rows, columns] = tensor.dims();
    let numbers = numbers(tensor);
    Matrix::from_fn(rows, columns, |row, column| numbers[row * columns + column])
}

/// A tensor from coldlink's rows.
pub fn from_matrix<T: Real + Element>(matrix: &Matrix<T>, device: &Device) -> Tensor<2> {
    let numbers: Vec<T> = (0..matrix.rows()).flat_map(|row| matrix.row(row).iter().copied()).collect();
    Tensor::from_data(TensorData::new(numbers, [matrix.rows(), matrix.columns()]), (device, T::dtype()))
}
