//! A table in PostgreSQL with pgvector, in which the database finds the best nodes by the dense part of the score.

mod connection;
mod copy;
mod password;
mod tls;

use std::io;

use anyhow::Context;
use coldlink::graph::NodeId;
use postgres::Transaction;
use postgres::error::SqlState;

use self::connection::Connection;
use self::copy::Rows;
use super::{Destination, Export, Search};
use crate::failure::Failure;

/// The most numbers that pgvector's type `vector` holds.
const WIDEST: usize = 16_000;

/// Writes the table in one transaction: others see all of it or what was there before.
pub fn write_table(to: &Destination<'_>, export: &Export) -> anyhow::Result<()> {
    let (Search::Nodes { vectors, .. } | Search::Queries(vectors)) = &export.search;
    if vectors.columns() > WIDEST {
        let failure =
            Failure::new(format!("embeddings of {} numbers are too wide for a table", export.embeddings.columns()));
        return Err(failure.hint(format!("pgvector holds up to {WIDEST}; train with a smaller `width`")).into());
    }
    let mut client = Connection::of(to.url, &|name| std::env::var(name).ok())?.open()?;
    let mut transaction = client.transaction()?;
    add_pgvector(&mut transaction)?;
    let table = quoted(to.table);
    if to.replace {
        transaction.batch_execute(&format!("DROP TABLE IF EXISTS {table}"))?;
    }
    transaction
        .batch_execute(&format!("CREATE TABLE {table} ({})", columns(export)))
        .map_err(|error| to.refused(error))?;
    let rows = transaction.copy_in(&format!("COPY {table} FROM STDIN (FORMAT binary)"))?;
    let rows = copy(export, rows).with_context(|| to.cannot_write())?;
    rows.finish().map_err(|error| to.refused(error))?;
    transaction.commit().with_context(|| to.cannot_write())
}

fn columns(export: &Export) -> String {
    let width = export.embeddings.columns();
    let search = match &export.search {
        Search::Nodes { vectors, .. } => {
            format!("warm boolean NOT NULL, search vector({}) NOT NULL", vectors.columns())
        }
        Search::Queries(vectors) => format!("query vector({}) NOT NULL", vectors.columns()),
    };
    format!("name text PRIMARY KEY, embedding vector({width}) NOT NULL, {search}")
}

fn copy<W: io::Write>(export: &Export, out: W) -> io::Result<W> {
    let mut rows = Rows::new(io::BufWriter::with_capacity(1 << 16, out))?;
    for node in 0..export.names.len() {
        let fields = if matches!(export.search, Search::Nodes { .. }) { 4 } else { 3 };
        rows.start(fields);
        rows.text(&export.names.get(node as NodeId));
        rows.vector(export.embeddings.row(node));
        match &export.search {
            Search::Nodes { vectors, warm } => {
                rows.boolean(warm[node]);
                rows.vector(vectors.row(node));
            }
            Search::Queries(vectors) => rows.vector(vectors.row(node)),
        }
        rows.end()?;
    }
    rows.finish()?.into_inner().map_err(io::IntoInnerError::into_error)
}

/// The type `vector` comes with an extension, which a database has to be told to use.
fn add_pgvector(transaction: &mut Transaction<'_>) -> anyhow::Result<()> {
    if transaction.query_opt("SELECT 1 FROM pg_extension WHERE extname = 'vector'", &[])?.is_some() {
        return Ok(());
    }
    transaction.batch_execute("CREATE EXTENSION vector").map_err(|error| {
        let failure = Failure::new("the database does not have pgvector")
            .hint("install pgvector on the server, then run `CREATE EXTENSION vector` as a user with the right to");
        anyhow::Error::from(error).context(failure)
    })
}

/// Each part of a name as it is, whatever its letters.
fn quoted(table: &str) -> String {
    let parts: Vec<String> = table.split('.').map(|part| format!("\"{}\"", part.replace('"', "\"\""))).collect();
    parts.join(".")
}

impl Destination<'_> {
    fn cannot_write(&self) -> String {
        format!("cannot write the table `{}`", self.table)
    }

    /// What the server says, with what to do about it.
    fn refused(&self, error: postgres::Error) -> anyhow::Error {
        let hint = match error.code() {
            Some(&SqlState::DUPLICATE_TABLE) => {
                Some("replace it with `--replace`, or choose another name with `--table`")
            }
            Some(&SqlState::UNIQUE_VIOLATION) => Some("two nodes have the same name; names must differ"),
            Some(&SqlState::CHARACTER_NOT_IN_REPERTOIRE) => Some("PostgreSQL does not accept names with a zero byte"),
            Some(&SqlState::INVALID_SCHEMA_NAME) => Some("create it first with `CREATE SCHEMA`"),
            Some(&SqlState::INSUFFICIENT_PRIVILEGE) => Some("this user has no right to create tables there"),
            _ => None,
        };
        let failure = Failure::new(self.cannot_write());
        anyhow::Error::from(error).context(hint.into_iter().fold(failure, Failure::hint))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_tables_are_quoted_part_by_part() {
        assert_eq!(quoted("papers"), "\"papers\"");
        assert_eq!(quoted("public.a\"b"), "\"public\".\"a\"\"b\"");
    }
}
