//! `coldlink embed`: the vectors of nodes, for use elsewhere.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use coldlink::model::Model;

use super::Common;
use crate::export::{Destination, Export, Search, names_beside, write_npy, write_parquet, write_table};
use crate::failure::Failure;
use crate::files::Files;
use crate::input::{NewOptions, load_new_nodes, open_model};
use crate::output::print;
use crate::tables::count;

/// Write embeddings to a file or a database
#[derive(Args)]
#[command(after_help = "\
Examples:
  coldlink embed papers.model -o papers.npy
  coldlink embed papers.model --new new-papers.csv -o new-papers.parquet
  coldlink embed papers.model --to postgres://me@localhost/library --table papers

Beside out.npy, coldlink writes out.names.txt with one name a line, in the order of the rows. A
.parquet file has the columns name and embedding.
A database table has the columns name, embedding, warm (whether the node has links) and search; for
new nodes name, embedding and query. With them PostgreSQL ranks nodes by the dense part of the score,
which is everything but shared words and walks:
  SELECT name, -(search <#> '[…]') AS score FROM papers ORDER BY search <#> '[…]' LIMIT 10
where […] is a new node's query: its embedding, followed by 1.

The address takes `sslmode` (disable, prefer, require, verify-ca or verify-full), `sslrootcert` (a
file, or `system`) and `connect_timeout` in seconds (10 by default), as libpq does:
  --to 'postgres://me@host/library?sslmode=verify-full&sslrootcert=root.crt'
What it leaves open comes from PGHOST, PGPORT, PGUSER, PGDATABASE, PGSSLMODE, PGSSLROOTCERT and
PGCONNECT_TIMEOUT; the password from PGPASSWORD or from PGPASSFILE (~/.pgpass by default).")]
pub struct Embed {
    /// Model file
    model: PathBuf,
    /// File to write: .npy or .parquet
    #[arg(long, short, value_name = "FILE", required_unless_present = "to", conflicts_with = "to")]
    output: Option<PathBuf>,
    /// Database to write to; needs the pgvector extension
    #[arg(long, value_name = "postgres://…", requires = "table")]
    to: Option<String>,
    /// Table to create
    #[arg(long, value_name = "NAME", requires = "to")]
    table: Option<String>,
    /// Replace the table if it exists
    #[arg(long, requires = "to")]
    replace: bool,
    /// Embed these new nodes, a table or an .npz file, instead of the known ones
    #[arg(long, value_name = "FILE")]
    new: Option<PathBuf>,
    #[command(flatten)]
    reading: NewOptions,
    /// Which embedding; new nodes have only the one from attributes
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

impl Embed {
    /// What it reads and writes.
    pub fn files(&self) -> Files {
        let names = self.output.as_ref().filter(|path| !has_ending(path, "parquet")).map(|path| names_beside(path));
        Files::default().reads(&self.model).reads_any(&self.new).writes_any(&self.output).writes_any(&names)
    }
}

/// Runs the command.
pub fn run(args: &Embed, common: &Common) -> anyhow::Result<()> {
    if args.new.is_some() && args.which == Which::Structure {
        let failure = Failure::new("new nodes have no links, so they have no structure embedding");
        return Err(failure.hint("omit `--which structure`").into());
    }
    let export = args.export(open_model(&args.model)?, common)?;
    let (place, more) = match (&args.output, &args.to, &args.table) {
        (Some(path), ..) if has_ending(path, "parquet") => {
            write_parquet(path, &export)?;
            (path.display().to_string(), String::new())
        }
        (Some(path), ..) => {
            let names = write_npy(path, &export)?;
            (path.display().to_string(), format!("; names in {}", names.display()))
        }
        (None, Some(url), Some(table)) => {
            write_table(&Destination { url, table, replace: args.replace }, &export)?;
            (format!("table {table}"), String::new())
        }
        (None, ..) => return Err(Failure::new("no output given").hint("add `-o FILE`").into()),
    };
    if common.quiet {
        return Ok(());
    }
    let (rows, width) = (count(export.embeddings.rows(), "row"), export.embeddings.columns());
    print(format!("{place}: {rows} of {width} numbers{more}\n"))
}

impl Embed {
    fn export(&self, model: Model, common: &Common) -> anyhow::Result<Export> {
        if let Some(path) = &self.new {
            let new = load_new_nodes(path, &model, &self.reading, common)?;
            let embeddings = model.embed(&new.attributes);
            let search = Search::Queries(model.query_vectors(&embeddings));
            return Ok(Export { names: new.names, embeddings, search });
        }
        let known = model.target_embeddings().into_owned();
        let search = Search::Nodes { vectors: model.search_vectors(), warm: known.warm };
        let embeddings = match self.which {
            Which::Attributes => known.attributes,
            Which::Structure => known.structure,
        };
        Ok(Export { names: model.names().clone(), embeddings, search })
    }
}

fn has_ending(path: &Path, ending: &str) -> bool {
    path.extension().is_some_and(|found| found.eq_ignore_ascii_case(ending))
}
