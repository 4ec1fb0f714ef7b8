//! One benchmark per stage of the pipeline, on generated data: `cargo bench -p coldlink`.

use std::hint::black_box;

use coldlink::Config;
use coldlink::dataset::Dataset;
use coldlink::evaluate::{Ranks, auc, average_precision};
use coldlink::graph::NodeId;
use coldlink::index::ExactIndex;
use coldlink::kernel::{Adam, Chunk, Entry, Kernel, Left, Matrix, Moments, Real, Simd, product, weighted_row_sum};
use coldlink::network::Features;
use coldlink::sample::{Distances, Sampler};
use coldlink::score::{EmbeddingScorer, Embeddings, Scorer};
use coldlink::split::{Protocol, RankingQuery, Split, TrainView};
use coldlink::synthetic::World;
use coldlink::train::{Learner, Trainer};
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};

const NODES: usize = 5_000;
const ATTRIBUTES: usize = 2_000;

fn hash(a: usize, b: usize) -> usize {
    (a.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ b.wrapping_mul(0xC2B2_AE3D_27D4_EB4F)).wrapping_mul(0xFF51_AFD7_ED55_8CCD)
        >> 20
}

/// Settings of the paper's loss on 500 pairs.
fn pairwise() -> Config {
    Config::default().set_all(["loss=pairs", "batch=500"]).expect("settings")
}

fn dataset(words_per_node: u32) -> Dataset {
    let world = World { vocabulary: ATTRIBUTES as u32, words_per_node, ..World::random(NODES as u32, 5.0, 1) };
    world.dataset()
}

fn matrix(rows: usize, columns: usize) -> Matrix<f32> {
    Matrix::from_fn(rows, columns, |row, column| (hash(row, column) % 1000) as f32 / 500.0 - 1.0)
}

/// Row sums of a sparse matrix, all rows in one go.
struct SparseProduct<'a> {
    rows: &'a [Vec<Entry<f32>>],
    weights: &'a Matrix<f32>,
    out: &'a mut Matrix<f32>,
}

impl Kernel<f32> for SparseProduct<'_> {
    type Output = ();
    #[inline(always)]
    fn on<S: Simd<Scalar = f32>>(self, simd: S) {
        for (row, entries) in self.rows.iter().enumerate() {
            weighted_row_sum(simd, entries, self.weights.chunks(), self.out.chunk_row_mut(row));
        }
    }
}

struct AdamRows<'a> {
    weights: &'a mut Matrix<f32>,
    moments: &'a mut Moments<f32>,
    gradient: &'a [Chunk<f32>],
}

impl Kernel<f32> for AdamRows<'_> {
    type Output = ();
    #[inline(always)]
    fn on<S: Simd<Scalar = f32>>(self, simd: S) {
        let adam = Adam::default().at(10, 0.01);
        for row in 0..self.weights.rows() {
            adam.update(simd, self.weights.chunk_row_mut(row), self.moments.row_mut(row), self.gradient);
        }
    }
}

/// What the processor can do at best: multiply-adds on sums that never leave the registers.
struct InRegisters(u32);

impl Kernel<f32> for InRegisters {
    type Output = f32;
    #[inline(always)]
    fn on<S: Simd<Scalar = f32>>(self, simd: S) -> f32 {
        let (factor, mut sums) = (simd.splat(black_box(0.999)), [simd.splat(black_box(1.0)); 12]);
        for _ in 0..self.0 {
            for sum in &mut sums {
                *sum = simd.mul_add(factor, *sum, factor);
            }
        }
        sums.into_iter().map(|sum| simd.sum(sum)).sum()
    }
}

/// What can be read at best: the sum of all rows of a matrix, in order.
struct InOrder<'a>(&'a [Chunk<f32>]);

impl Kernel<f32> for InOrder<'_> {
    type Output = f32;
    #[inline(always)]
    fn on<S: Simd<Scalar = f32>>(self, simd: S) -> f32 {
        let mut sums = [simd.splat(0.0); 8];
        for chunks in self.0.chunks_exact(8) {
            for (sum, chunk) in sums.iter_mut().zip(chunks) {
                *sum = simd.add(*sum, simd.load(chunk));
            }
        }
        sums.into_iter().map(|sum| simd.sum(sum)).sum()
    }
}

fn kernels(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("kernel");
    group.throughput(Throughput::Elements(12 * 16 * 100_000));
    group.bench_function("limit: multiply-adds in registers, one core", |bencher| {
        bencher.iter(|| black_box(f32::run(InRegisters(100_000))));
    });
    for columns in [64, 256] {
        let rows = matrix(ATTRIBUTES, columns);
        group.throughput(Throughput::Elements((ATTRIBUTES * columns) as u64));
        group.bench_function(BenchmarkId::new("limit: numbers read in order, one core", columns), |bencher| {
            bencher.iter(|| black_box(f32::run(InOrder(rows.chunks()))));
        });
    }
    for width in [64, 256] {
        let weights = matrix(ATTRIBUTES, width);
        let entry = |row: usize, i: usize| Entry { index: (hash(row, i) % ATTRIBUTES) as u32, weight: 0.5 };
        let rows: Vec<Vec<_>> = (0..500).map(|row| (0..40).map(|i| entry(row, i)).collect()).collect();
        let mut out = matrix(500, width);
        group.throughput(Throughput::Elements((500 * 40 * width) as u64));
        group.bench_function(BenchmarkId::new("sparse product 500 x 40 entries", width), |bencher| {
            bencher.iter(|| f32::run(SparseProduct { rows: &rows, weights: &weights, out: &mut out }));
        });
        let (a, b) = (matrix(1_400, 745), matrix(745, width));
        let mut out = matrix(1_400, width);
        group.throughput(Throughput::Elements((1_400 * 745 * width) as u64));
        group.bench_function(BenchmarkId::new("dense product 1400 x 745", width), |bencher| {
            bencher.iter(|| product(Left::Plain(&a), &b, &mut out));
        });
        group.bench_function(BenchmarkId::new("dense product 1400 x 745, gemm crate", width), |bencher| {
            bencher.iter(|| with_gemm(&a, &b, &mut out));
        });
        let transposed = a.transposed();
        group.bench_function(BenchmarkId::new("transposed product 1400 x 745", width), |bencher| {
            bencher.iter(|| product(Left::Transposed(&transposed), &b, &mut out));
        });
        let mut weights = matrix(2_000, width);
        let mut moments = Moments::of(&weights);
        let gradient = matrix(1, width);
        group.throughput(Throughput::Elements((2_000 * width) as u64));
        group.bench_function(BenchmarkId::new("Adam on 2000 rows", width), |bencher| {
            bencher.iter(|| {
                let (weights, moments) = (&mut weights, &mut moments);
                f32::run(AdamRows { weights, moments, gradient: gradient.chunks() });
            });
        });
    }
    group.finish();
}

/// The same product by the crate that others would use, on as many threads.
#[allow(unsafe_code)]
fn with_gemm(a: &Matrix<f32>, b: &Matrix<f32>, out: &mut Matrix<f32>) {
    let stride = |matrix: &Matrix<f32>| (matrix.row_chunks() * 16) as isize;
    let (sa, sb, so) = (stride(a), stride(b), stride(out));
    let (m, n, k) = (a.rows(), b.columns(), a.columns());
    let parallelism = gemm::Parallelism::Rayon(rayon::current_num_threads());
    // SAFETY: the pointers cover matrices of the stated sizes and strides.
    unsafe {
        let (a, b) = (f32::flat(a.chunks()).as_ptr(), f32::flat(b.chunks()).as_ptr());
        let out = f32::flat_mut(out.chunks_mut()).as_mut_ptr();
        gemm::gemm(m, n, k, out, 1, so, false, a, 1, sa, b, 1, sb, 0.0, 1.0, false, false, false, parallelism);
    }
}

fn stages(criterion: &mut Criterion) {
    let dataset = dataset(20);
    let visible = vec![true; NODES];
    let view = TrainView::whole(&dataset.graph, &dataset.attributes, &visible);
    let mut group = criterion.benchmark_group("stage");
    group.sample_size(20);
    group.bench_function("graph: all distances of 5000 nodes", |bencher| {
        bencher.iter(|| black_box(Distances::new(&dataset.graph, 0)));
    });
    group.bench_function("split: deal2020", |bencher| {
        bencher.iter(|| Split::make(&dataset, &Protocol::Deal2020, None, 1).expect("a split"));
    });
    for beta in ["beta=0.0", "beta=1.0"] {
        let config = pairwise().set(beta).expect("settings");
        let sampler = Sampler::new(view, &config, 1).expect("links");
        let mut places = vec![0; NODES];
        let mut step = 0;
        group.bench_function(BenchmarkId::new("sample: 500 pairs", beta), |bencher| {
            bencher.iter(|| {
                step += 1;
                black_box(sampler.draw(step, &mut places))
            });
        });
    }
    for settings in [
        &["hidden=[]", "width=64"][..],
        &["hidden=[64]", "width=64"],
        &["hidden=[]", "width=256"],
        &["loss=softmax", "batch=256", "negatives=512", "width=256"],
    ] {
        let config = pairwise().set_all(settings).expect("settings");
        let features = Features::new(&dataset.attributes, config.scaling);
        let mut trainer = Trainer::new(view, &features, &config, 1).expect("links");
        group.bench_function(BenchmarkId::new("train: one step", settings.join(" ")), |bencher| {
            bencher.iter(|| trainer.advance(trainer.step() + 1));
        });
    }
    let embeddings =
        Embeddings { attributes: matrix(NODES, 64), structure: matrix(NODES, 64), warm: vec![true; NODES] };
    let scorer = EmbeddingScorer { embeddings: &embeddings, lambda: [0.1, 0.5, 0.4] };
    let pairs: Vec<_> = (0..50_000).map(|i| ((hash(i, 1) % NODES) as NodeId, (hash(i, 2) % NODES) as NodeId)).collect();
    group.bench_function("evaluate: 50,000 scores", |bencher| bencher.iter(|| black_box(scorer.scores(&pairs))));
    let scores = scorer.scores(&pairs);
    let linked: Vec<bool> = (0..pairs.len()).map(|pair| hash(pair, 9).is_multiple_of(3)).collect();
    group.bench_function("evaluate: AUC and AP of 50,000", |bencher| {
        bencher.iter(|| black_box((auc(&scores, &linked), average_precision(&scores, &linked))));
    });
    let candidates: Vec<NodeId> = (0..NODES as NodeId).collect();
    let query = |source: NodeId| RankingQuery {
        source,
        targets: vec![(source + 1) % NODES as NodeId],
        exclude: vec![source],
        among: None,
    };
    let queries: Vec<_> = (0..200).map(query).collect();
    group.bench_function("evaluate: 200 filtered rankings", |bencher| {
        bencher.iter(|| black_box(Ranks::measure(&scorer, &queries, &candidates)));
    });
    let index = ExactIndex::new(matrix(NODES, 64));
    let new = matrix(100, 64);
    group.bench_function("index: top 10 for 100 new nodes", |bencher| {
        bencher.iter(|| black_box(index.search(&new, 10)))
    });
    group.finish();
}

criterion_group!(benches, kernels, stages);
criterion_main!(benches);
