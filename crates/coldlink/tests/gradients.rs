//! DEAL's hand-written gradients against PyTorch's autograd (`golden/deal_step.py`, `golden/softmax_step.py`) and against finite
//! differences.

use coldlink::Config;
use coldlink::config::{AdamRows, Alignment, Loss, Offset, Preset, Scaling, Similarity};
use coldlink::graph::{Attributes, Graph};
use coldlink::kernel::{Adam, AdamStep, Matrix, Moments, Real};
use coldlink::network::{Columns, Deal, Dropout, Features, Inputs, Parameter, SparseRows};
use coldlink::sample::Batch;
use serde_json::Value;

fn golden() -> Value {
    serde_json::from_str(include_str!("golden/deal_step.json")).unwrap()
}

fn golden_softmax() -> Value {
    serde_json::from_str(include_str!("golden/softmax_step.json")).unwrap()
}

fn numbers(value: &Value) -> Vec<f64> {
    match value {
        Value::Array(items) => items.iter().flat_map(numbers).collect(),
        number => vec![number.as_f64().unwrap()],
    }
}

fn matrix<T: Real>(value: &Value, columns: usize) -> Matrix<T> {
    let numbers = numbers(value);
    Matrix::from_fn(numbers.len() / columns, columns, |row, column| T::of(numbers[row * columns + column]))
}

fn first_moments<T: Real>(moments: &Moments<T>, weights: &Matrix<T>) -> Vec<f64> {
    let mut copy = weights.clone();
    for (chunk, [first, _]) in copy.chunks_mut().iter_mut().zip(moments.chunks()) {
        *chunk = *first;
    }
    all(&copy)
}

fn all<T: Real>(matrix: &Matrix<T>) -> Vec<f64> {
    (0..matrix.rows()).flat_map(|row| matrix.row(row).iter().map(|v| v.wide())).collect()
}

/// ‖a − b‖ / ‖b‖.
fn relative_error(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    let norm = |values: &mut dyn Iterator<Item = f64>| values.map(|v| v * v).sum::<f64>().sqrt();
    norm(&mut a.iter().zip(b).map(|(a, b)| a - b)) / norm(&mut b.iter().copied()).max(1e-300)
}

/// The form that attributes are multiplied in.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Form {
    Sparse,
    Dense,
    /// The last third of the columns dense, the others sparse.
    Mixed,
}

const FORMS: [Form; 3] = [Form::Sparse, Form::Dense, Form::Mixed];

impl Form {
    fn features(self, attributes: &Attributes) -> Features {
        let (rows, width) = (attributes.rows(), attributes.width());
        let matrix = |from: usize| {
            let mut matrix = Matrix::zeros(rows, width - from);
            for row in 0..rows {
                let (columns, values) = attributes.row(row as u32);
                let entries = columns.iter().zip(values).filter(|entry| *entry.0 as usize >= from);
                entries.for_each(|(&column, &value)| matrix.row_mut(row)[column as usize - from] = value);
            }
            std::sync::Arc::new(matrix)
        };
        match self {
            Form::Sparse => Features::Sparse(SparseRows::new(attributes, Scaling::Raw)),
            Form::Dense => Features::Dense(matrix(0)),
            Form::Mixed => {
                let from = width - width / 3;
                let first = |row: u32| {
                    let (columns, values) = attributes.row(row);
                    let entries = columns.iter().copied().zip(values.iter().copied());
                    entries.take_while(|entry| (entry.0 as usize) < from).collect()
                };
                let sparse = Attributes::from_rows(from, &(0..rows as u32).map(first).collect::<Vec<_>>()).unwrap();
                Features::Mixed(SparseRows::new(&sparse, Scaling::Raw), matrix(from))
            }
        }
    }
}

struct Problem<T: Real> {
    model: Deal<T>,
    features: Features,
    batch: Batch,
}

fn config_of(case: &Value) -> Config {
    let number = |value: &Value| value.as_f64().unwrap();
    let theta = numbers(&case["theta"]);
    Config {
        width: case["width"].as_u64().unwrap() as usize,
        hidden: numbers(&case["hidden"]).iter().map(|width| *width as usize).collect(),
        bias: case["bias"].as_bool().unwrap(),
        last_elu: case["elu_on_last"].as_bool().unwrap(),
        similarity: if case["similarity"] == "cosine" { Similarity::Cosine } else { Similarity::Dot },
        normalised_table: case["structure"] != "plain",
        alignment: if case["alignment"] == "tight" { Alignment::Tight } else { Alignment::Loose },
        gamma1: number(&case["unlinked"]["gamma"]),
        b1: number(&case["unlinked"]["b"]),
        gamma2: number(&case["linked"]["gamma"]),
        b2: number(&case["linked"]["b"]),
        theta: [theta[0], theta[1], theta[2]],
        loss: if case["temperature"].is_null() { Loss::Pairs } else { Loss::Softmax },
        temperature: case["temperature"].as_f64().unwrap_or(1.0),
        adam: AdamRows::Touched,
        ..Preset::Paper.config()
    }
}

fn features(case: &Value, form: Form) -> Features {
    let width = case["attribute_count"].as_u64().unwrap() as usize;
    let entry = |entry: &Value| (entry[0].as_u64().unwrap() as u32, entry[1].as_f64().unwrap() as f32);
    let rows = case["attributes"].as_array().unwrap().iter();
    let rows: Vec<Vec<_>> = rows.map(|row| row.as_array().unwrap().iter().map(entry).collect()).collect();
    form.features(&Attributes::from_rows(width, &rows).unwrap())
}

fn batch(case: &Value, chosen: &[usize]) -> Batch {
    let (pairs, weights) = (numbers(&case["pairs"]), numbers(&case["alpha"]));
    if !case["negatives"].is_null() {
        let whole = |value: &Value| numbers(value).iter().map(|node| *node as u32).collect::<Vec<u32>>();
        let ends = |list: Vec<u32>| list.chunks(2).map(|ends| [ends[0], ends[1]]).collect::<Vec<_>>();
        let links = ends(whole(&case["links"])).into_iter().map(|[a, b]| (a, b));
        let graph = Graph::from_links(case["node_count"].as_u64().unwrap() as usize, links);
        return Batch::with_negatives(&ends(whole(&case["pairs"])), &whole(&case["negatives"]), &graph, &mut [0; 64]);
    }
    let is_linked = |pair: usize| case["is_linked"][pair].as_bool().unwrap();
    let linked = chosen.iter().filter(|pair| is_linked(**pair)).count();
    assert!(chosen[..linked].iter().all(|pair| is_linked(*pair)), "linked pairs come first");
    let ends: Vec<_> = chosen.iter().map(|pair| [pairs[2 * pair] as u32, pairs[2 * pair + 1] as u32]).collect();
    let weights = chosen[linked..].iter().map(|pair| weights[*pair] as f32).collect();
    Batch::new(&ends, linked, weights, &mut [0; 64])
}

fn problem<T: Real>(case: &Value, config: &Config, form: Form) -> Problem<T> {
    let (nodes, attributes) = (case["node_count"].as_u64().unwrap(), case["attribute_count"].as_u64().unwrap());
    let mut model = Deal::new(nodes as usize, attributes as usize, config, 0);
    let parameters = &case["parameters"];
    for (layer, given) in model.encoders.attributes.layers.iter_mut().zip(parameters["layers"].as_array().unwrap()) {
        let columns = layer.weights.weights.columns();
        layer.weights = Parameter::new(matrix(&given["weight"], columns));
        if let Some(bias) = &mut layer.bias {
            *bias = Parameter::new(matrix(&given["bias"], columns));
        }
    }
    model.encoders.structure.table = Parameter::new(matrix(&parameters["table"], config.width));
    if let Some(gains) = &mut model.encoders.structure.gains {
        *gains = Parameter::new(matrix(&parameters["gain"], 1));
    }
    let pairs: Vec<usize> = (0..case["pairs"].as_array().unwrap().len()).collect();
    Problem { model, features: features(case, form), batch: batch(case, &pairs) }
}

impl<T: Real> Problem<T> {
    fn inputs(&self, dropout: Option<Dropout>) -> Inputs<T> {
        let mut inputs = Inputs::new(&self.features);
        inputs.gather(&self.features, &self.batch.nodes, dropout, Columns::Touched);
        inputs
    }

    fn parameters(&mut self) -> Vec<(String, &mut Parameter<T>)> {
        self.model.encoders.parameters_mut()
    }

    /// Away from zero, where the embedding of a node without attributes has no direction.
    fn shift_biases(&mut self) {
        for bias in self.model.encoders.attributes.layers.iter_mut().filter_map(|layer| layer.bias.as_mut()) {
            for (column, value) in bias.weights.row_mut(0).iter_mut().enumerate() {
                *value = T::of(0.3 - 0.13 * column as f64);
            }
        }
    }

    /// The hand-written gradient of every parameter.
    fn gradients(&mut self, dropout: Option<Dropout>) -> Vec<(String, Vec<f64>)> {
        let inputs = self.inputs(dropout);
        let mut space = self.model.workspace();
        let batch = self.batch.clone();
        self.model.step(&batch, &inputs, dropout, &AdamStep::gradient_only(), &mut space);
        let groups = self.parameters().into_iter();
        groups.map(|(name, group)| (name, first_moments(&group.moments, &group.weights))).collect()
    }
}

fn expected_gradients(case: &Value) -> Vec<Vec<f64>> {
    let gradients = &case["outputs"]["gradients"];
    let mut expected = vec![numbers(&gradients["table"])];
    if !gradients["gain"].is_null() {
        expected.push(numbers(&gradients["gain"]));
    }
    for layer in gradients["layers"].as_array().unwrap() {
        expected.push(numbers(&layer["weight"]));
        if !layer["bias"].is_null() {
            expected.push(numbers(&layer["bias"]));
        }
    }
    expected
}

fn check_against_autograd<T: Real>(golden: &Value, tolerance: f64) {
    for case in golden["cases"].as_array().unwrap() {
        if !case["dropout"].is_null() {
            continue; // its mask is PyTorch's; dropout is checked by finite differences below
        }
        for form in FORMS {
            let mut problem = problem::<T>(case, &config_of(case), form);
            let losses =
                problem.model.losses(&problem.batch, &problem.inputs(None), None, &mut problem.model.workspace());
            let expected = &case["outputs"]["loss"];
            for (name, loss) in [
                ("structure", losses.structure),
                ("attribute", losses.attributes),
                ("alignment", losses.alignment),
                ("total", losses.total),
            ] {
                let error = (loss - expected[name].as_f64().unwrap()).abs();
                assert!(error < tolerance, "{} loss {name}: off by {error}", case["name"]);
            }
            for ((name, gradient), expected) in problem.gradients(None).iter().zip(expected_gradients(case)) {
                let error = relative_error(gradient, &expected);
                assert!(error < tolerance, "{}, {form:?}, {name}: {error}", case["name"]);
            }
        }
    }
}

#[test]
fn gradients_agree_with_autograd_in_f64() {
    check_against_autograd::<f64>(&golden(), 1e-8);
    check_against_autograd::<f64>(&golden_softmax(), 1e-8);
}

#[test]
fn gradients_agree_with_autograd_in_f32() {
    check_against_autograd::<f32>(&golden(), 1e-4);
    check_against_autograd::<f32>(&golden_softmax(), 1e-4);
}

/// Values and moments after each of the steps of a run of PyTorch's optimiser.
fn check_optimiser<T: Real>(run: &str, rows: AdamRows, form: Form, tolerance: f64) {
    let golden = golden();
    let run = &golden[run];
    let case = golden["cases"].as_array().unwrap().iter().find(|case| case["name"] == run["case"]).unwrap();
    let mut problem = problem::<T>(case, &Config { adam: rows, ..config_of(case) }, form);
    let adam = Adam { weight_decay: run["weight_decay"].as_f64().unwrap_or(0.0), ..Adam::default() };
    let columns = if rows == AdamRows::Dense { Columns::All } else { Columns::Touched };
    let mut space = problem.model.workspace();
    for (index, step) in run["steps"].as_array().unwrap().iter().enumerate() {
        if !step["pair_indices"].is_null() {
            let chosen: Vec<usize> = numbers(&step["pair_indices"]).iter().map(|pair| *pair as usize).collect();
            problem.batch = batch(case, &chosen);
        }
        let mut inputs = Inputs::new(&problem.features);
        inputs.gather(&problem.features, &problem.batch.nodes, None, columns);
        let rate = run["learning_rate"].as_f64().unwrap();
        problem.model.step(&problem.batch, &inputs, None, &adam.at(index as u64 + 1, rate), &mut space);
        let groups = [
            ("table", &problem.model.encoders.structure.table),
            ("weight", &problem.model.encoders.attributes.layers[0].weights),
        ];
        for (name, group) in groups {
            let error = relative_error(&all(&group.weights), &numbers(&step[name]["value"]));
            assert!(error < tolerance, "step {index}, {name}: {error}");
            let first = first_moments(&group.moments, &group.weights);
            let error = relative_error(&first, &numbers(&step[name]["first_moment"]));
            assert!(error < tolerance, "step {index}, first moment of {name}: {error}");
        }
    }
}

#[test]
fn three_steps_agree_with_pytorch_adam() {
    check_optimiser::<f64>("adam", AdamRows::Dense, Form::Sparse, 1e-8);
    check_optimiser::<f32>("adam", AdamRows::Dense, Form::Sparse, 1e-4);
    check_optimiser::<f64>("adam_weight_decay", AdamRows::Dense, Form::Sparse, 1e-8);
    check_optimiser::<f32>("adam_weight_decay", AdamRows::Dense, Form::Sparse, 1e-4);
}

#[test]
fn three_steps_on_two_parts_agree_with_pytorch_adam() {
    check_optimiser::<f64>("adam", AdamRows::Dense, Form::Mixed, 1e-8);
    check_optimiser::<f32>("adam_weight_decay", AdamRows::Dense, Form::Mixed, 1e-4);
}

#[test]
fn three_steps_on_touched_rows_agree_with_pytorch() {
    check_optimiser::<f64>("touched_rows_adam", AdamRows::Touched, Form::Sparse, 1e-8);
    check_optimiser::<f32>("touched_rows_adam", AdamRows::Touched, Form::Sparse, 1e-4);
}

/// The settings that random problems start from: linear, with dropout on attributes, and the pair-wise loss.
fn base() -> Config {
    Config::default().set_all(["loss=pairs", "attribute_dropout=0.3", "offset=none"]).unwrap()
}

/// A random small problem in `f64`.
fn random_problem(seed: u32, config: &Config, form: Form) -> Problem<f64> {
    let (nodes, width) = (20_u32, 11_u32);
    let hash = |a: u32, b: u32| (a.wrapping_mul(2_654_435_761) ^ b.wrapping_mul(40_503) ^ seed.wrapping_mul(97)) >> 7;
    let row = |node: u32| {
        let filled =
            (0..width).filter(move |column| node != 3 && (form == Form::Dense || hash(node, *column) % 3 == 0));
        filled.map(|column| (column, (hash(node + 50, column) % 100) as f32 / 40.0 - 0.8)).collect::<Vec<_>>()
    };
    let attributes = Attributes::from_rows(width as usize, &(0..nodes).map(row).collect::<Vec<_>>()).unwrap();
    let graph = Graph::from_links(nodes as usize, (0..40).map(|i| (hash(i, 1) % nodes, hash(i, 2) % nodes)));
    let mut pairs: Vec<_> = graph.iter_links().take(9).map(|(a, b)| [a, b]).collect();
    let linked = pairs.len();
    pairs.extend((0..12).map(|i| [hash(i, 3) % nodes, hash(i, 4) % nodes]).filter(|[a, b]| a != b));
    pairs.push([3, 5]);
    let weights = (linked..pairs.len()).map(|i| 1.0 + (hash(i as u32, 5) % 8) as f32 / 5.0).collect();
    let features = form.features(&attributes);
    let batch = match config.loss {
        Loss::Pairs => Batch::new(&pairs, linked, weights, &mut [0; 64]),
        Loss::Softmax => Batch::with_negatives(&pairs[..linked], &[3, 17, 0, 8, 12], &graph, &mut [0; 64]),
    };
    let batch = match config.offset {
        Offset::None => batch,
        Offset::Degree => batch.with_offsets(|node| (graph.degree(node) as f32).ln_1p()),
    };
    Problem { model: Deal::new(nodes as usize, width as usize, config, u64::from(seed)), features, batch }
}

fn check_finite_differences(settings: &str) {
    let config = base().set_all(settings.split(' ')).unwrap();
    for seed in 0..3 {
        for form in FORMS {
            let dropout = Some(Dropout::of(&config, 7, u64::from(seed)));
            let mut problem = random_problem(seed, &config, form);
            problem.shift_biases();
            let gradients = problem.gradients(dropout);
            let inputs = problem.inputs(dropout);
            let mut space = problem.model.workspace();
            for (group, (name, gradient)) in gradients.iter().enumerate() {
                let columns = problem.parameters()[group].1.weights.columns();
                let slope = |problem: &mut Problem<f64>, index: usize, space: &mut _| {
                    let mut at = |shift: f64| {
                        let place = (index / columns, index % columns);
                        problem.parameters()[group].1.weights.row_mut(place.0)[place.1] += shift;
                        let loss = problem.model.losses(&problem.batch, &inputs, dropout, space).total;
                        problem.parameters()[group].1.weights.row_mut(place.0)[place.1] -= shift;
                        loss
                    };
                    let h = 3e-5;
                    (8.0 * (at(h) - at(-h)) - (at(2.0 * h) - at(-2.0 * h))) / (12.0 * h)
                };
                let expected: Vec<f64> =
                    (0..gradient.len()).map(|index| slope(&mut problem, index, &mut space)).collect();
                let error = relative_error(gradient, &expected);
                assert!(error < 1e-8, "{settings}, {form:?}, seed {seed}, {name}: {error}");
            }
        }
    }
}

#[test]
fn gradients_are_those_of_the_loss_for_linear_encoders() {
    check_finite_differences("width=5 hidden=[] attribute_dropout=0.3 embedding_dropout=0.4 alignment=tight");
    check_finite_differences("width=5 hidden=[] bias=true last_elu=true embedding_dropout=0.4 alignment=loose");
    check_finite_differences("width=18 hidden=[] gamma1=4.0 b1=-0.3 gamma2=0.5 theta=[0.2,0.3,0.5]");
}

#[test]
fn gradients_are_those_of_the_loss_for_deep_encoders() {
    check_finite_differences("width=5 hidden=[7] bias=true last_elu=true hidden_dropout=0.3 alignment=loose");
    check_finite_differences("width=4 hidden=[6,20,5] bias=true last_elu=false hidden_dropout=0.2 alignment=tight");
}

#[test]
fn gradients_are_those_of_the_loss_under_the_inner_product() {
    check_finite_differences("width=5 similarity=dot hidden=[6] normalised_table=true alignment=loose");
    check_finite_differences("width=5 similarity=dot hidden=[] normalised_table=true alignment=tight");
    check_finite_differences("width=5 similarity=dot hidden=[] normalised_table=false embedding_dropout=0.3");
}

#[test]
fn gradients_are_those_of_the_softmax_loss() {
    check_finite_differences("width=5 loss=softmax hidden=[] attribute_dropout=0.3 theta=[0.1,0.5,0.4]");
    check_finite_differences("width=18 loss=softmax temperature=0.1 hidden=[7] bias=true hidden_dropout=0.2");
    check_finite_differences("width=5 loss=softmax similarity=dot temperature=2.0 hidden=[] normalised_table=true");
    check_finite_differences("width=5 loss=softmax offset=degree temperature=0.5 hidden=[] theta=[0.1,0.5,0.4]");
}

/// Each term as its definition has it: −log of the true end's share among itself and the negatives that are not masked.
#[test]
fn the_softmax_loss_is_its_definition() {
    for settings in [
        ["similarity=cosine", "temperature=0.2", "offset=none"],
        ["similarity=dot", "temperature=3.0", "offset=none"],
        ["similarity=cosine", "temperature=0.2", "offset=degree"],
    ] {
        let base = ["loss=softmax", "width=7", "normalised_table=false"];
        let config = Config::default().set_all(settings.iter().chain(&base)).unwrap();
        let problem = random_problem(1, &config, Form::Sparse);
        let batch = &problem.batch;
        let found = problem.model.losses(batch, &problem.inputs(None), None, &mut problem.model.workspace());
        let rows = |node: u32| {
            let (mut structure, mut attributes) = (vec![0.0; 7], vec![0.0; 7]);
            structure.copy_from_slice(problem.model.encoders.structure.table.weights.row(node as usize));
            let Features::Sparse(features) = &problem.features else { unreachable!() };
            for entry in features.row(node) {
                let weights = problem.model.encoders.attributes.layers[0].weights.weights.row(entry.index as usize);
                attributes.iter_mut().zip(weights).for_each(|(sum, weight)| *sum += f64::from(entry.weight) * weight);
            }
            if config.similarity == Similarity::Cosine {
                for row in [&mut structure, &mut attributes] {
                    let length = row.iter().map(|v| v * v).sum::<f64>().sqrt();
                    row.iter_mut().filter(|_| length > 0.0).for_each(|v| *v /= length);
                }
            }
            [structure, attributes]
        };
        let similarity = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>() / config.temperature;
        let mut expected = [0.0; 4];
        for (pair, ends) in batch.pairs.iter().enumerate() {
            let source = rows(batch.nodes[ends[0] as usize]);
            for (term, expected) in expected.iter_mut().enumerate() {
                let offset = |place: u32| batch.offsets_of.get(place as usize).map_or(0.0, |offset| f64::from(*offset));
                let score = |place: u32| {
                    similarity(&source[term / 2], &rows(batch.nodes[place as usize])[term % 2]) + offset(place)
                };
                let own = score(ends[1]);
                let kept = (0..5).filter(|index| !batch.negatives.masked(pair).contains(index));
                let others = kept.map(|index| batch.negatives.places[index as usize]);
                let all: f64 = others.map(|place| score(place).exp()).sum::<f64>() + own.exp();
                *expected += (all.ln() - own) / batch.pairs.len() as f64;
            }
        }
        for (found, expected) in [
            (found.structure, expected[0]),
            (found.attributes, expected[3]),
            (found.alignment, expected[1] + expected[2]),
        ] {
            assert!((found - expected).abs() < 1e-10, "{settings:?}: {found} {expected}");
        }
    }
}
