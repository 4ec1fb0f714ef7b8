//! `coldlink embed`: the vectors of nodes, for use elsewhere.

use std::io::Write;
use std::path::PathBuf;

use anyhow::Context;
use clap::{Args, ValueEnum};
use coldlink::graph::{Names, NodeId};
use coldlink::kernel::Matrix;
use coldlink::load::{write_beside, write_npy_f32};

use super::Common;
use crate::failure::Failure;
use crate::input::{load_new_nodes, open_model};
use crate::output::{check_writable, print};
use crate::tables::count;

/// Write the embeddings of nodes as a numpy array
#[derive(Args)]
#[command(after_help = "\
Examples:
  coldlink embed papers.model -o papers.npy
  coldlink embed papers.model --new new-papers.csv -o new-papers.npy

Beside out.npy stands out.names.txt with the nodes' names, one a line, in the order of the rows.")]
pub struct Embed {
    /// The model
    model: PathBuf,
    /// The array to write
    #[arg(long, short, value_name = "FILE.npy")]
    output: PathBuf,
    /// New nodes, a table or an .npz file, instead of those of the graph
    #[arg(long, value_name = "FILE")]
    new: Option<PathBuf>,
    /// Refuse rows with other columns, unknown values or cells that cannot be read, instead of telling how many there are
    #[arg(long)]
    strict_input: bool,
    /// Which of a node's two embeddings; new nodes have only the first
    #[arg(long, default_value = "attributes")]
    which: Which,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum Which {
    /// Made from attributes
    Attributes,
    /// Made from links; of nodes without links, from attributes
    Structure,
}

/// Runs the command.
pub fn run(args: &Embed, common: &Common) -> anyhow::Result<()> {
    if args.new.is_some() && args.which == Which::Structure {
        let failure = Failure::new("new nodes have no links, and so no structure embedding");
        return Err(failure.hint("leave out `--which structure`").into());
    }
    let inputs: Vec<_> = [Some(&args.model), args.new.as_ref()].into_iter().flatten().map(PathBuf::as_path).collect();
    check_writable(&args.output, &inputs)?;
    let model = open_model(&args.model)?;
    let (rows, names) = match (&args.new, args.which) {
        (Some(path), _) => {
            let new = load_new_nodes(path, &model, args.strict_input, common)?;
            (model.embed(&new.attributes), new.names)
        }
        (None, Which::Attributes) => (model.embeddings.attributes, model.names),
        (None, Which::Structure) => (model.embeddings.structure, model.names),
    };
    let beside = args.output.with_extension("names.txt");
    write_names(&beside, &names)?;
    write_npy_f32(&args.output, rows.rows(), rows.columns(), &flat(&rows))?;
    if common.quiet {
        return Ok(());
    }
    let (path, beside) = (args.output.display(), beside.display());
    print(format!("{path}: {} of {} numbers; names in {beside}\n", count(rows.rows(), "row"), rows.columns()))
}

fn flat(rows: &Matrix<f32>) -> Vec<f32> {
    (0..rows.rows()).flat_map(|row| rows.row(row)).copied().collect()
}

/// One name a line; a line break within a name becomes a space.
fn write_names(path: &std::path::Path, names: &Names) -> anyhow::Result<()> {
    let write = |node: NodeId, out: &mut dyn Write| writeln!(out, "{}", names.get(node).replace(['\n', '\r'], " "));
    write_beside(path, |out| (0..names.len() as NodeId).try_for_each(|node| write(node, out)))
        .with_context(|| format!("cannot write `{}`", path.display()))
}
