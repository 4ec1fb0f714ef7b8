//! The file of passwords that PostgreSQL's own programs use: a line for each server, `host:port:database:user:password`.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crate::failure::Failure;

/// What a password is wanted for.
pub struct Wanted<'a> {
    pub host: &'a str,
    pub port: u16,
    pub database: &'a str,
    pub user: &'a str,
}

/// What stands in a file, or in the usual one; none where there is no file. One that others can read keeps no secret and is
/// refused.
pub fn read(path: Option<PathBuf>) -> Result<Option<String>, Failure> {
    let Some(path) = path.or_else(usual) else { return Ok(None) };
    let failed = |error: io::Error| Failure::new(format!("cannot read the passwords in `{}`: {error}", path.display()));
    let mut file = match File::open(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        file => file.map_err(failed)?,
    };
    if is_open_to_others(&file.metadata().map_err(failed)?) {
        let failure = Failure::new(format!("others can read the passwords in `{}`", path.display()));
        return Err(failure.hint(format!("run `chmod 600 {}`", path.display())));
    }
    let mut text = String::new();
    file.read_to_string(&mut text).map_err(failed)?;
    Ok(Some(text))
}

fn usual() -> Option<PathBuf> {
    in_home(".pgpass", "pgpass.conf")
}

/// A file that PostgreSQL's programs look for where the user keeps such things.
pub fn in_home(unix: &str, windows: &str) -> Option<PathBuf> {
    if cfg!(windows) {
        return std::env::var_os("APPDATA").map(|folder| Path::new(&folder).join("postgresql").join(windows));
    }
    std::env::home_dir().map(|home| home.join(unix))
}

#[cfg(unix)]
fn is_open_to_others(about: &fs::Metadata) -> bool {
    std::os::unix::fs::MetadataExt::mode(about) & 0o077 != 0
}

#[cfg(not(unix))]
fn is_open_to_others(_: &fs::Metadata) -> bool {
    false
}

/// The password of the first line that fits.
pub fn find(text: &str, wanted: &Wanted<'_>) -> Option<String> {
    let port = wanted.port.to_string();
    let fits = |field: &str, value: &str| field == "*" || unescaped(field) == value;
    text.lines().filter(|line| !line.starts_with('#')).find_map(|line| {
        let [host, ports, database, user, password] = fields(line)?;
        // A socket of Unix is on this machine.
        let is_host = fits(host, wanted.host) || (wanted.host.starts_with('/') && host == "localhost");
        let is_it = is_host && fits(ports, &port) && fits(database, wanted.database) && fits(user, wanted.user);
        is_it.then(|| unescaped(password))
    })
}

/// The fields of a line, which colons separate unless a backslash stands before them. The password goes up to the end.
fn fields(line: &str) -> Option<[&str; 5]> {
    let mut rest = line;
    let mut next = || {
        let mut escaped = false;
        let end = rest.bytes().position(|byte| {
            let is_end = byte == b':' && !escaped;
            escaped = byte == b'\\' && !escaped;
            is_end
        })?;
        let field = &rest[..end];
        rest = &rest[end + 1..];
        Some(field)
    };
    let [host, port, database, user] = [next()?, next()?, next()?, next()?];
    Some([host, port, database, user, rest])
}

/// Without the backslashes that keep the next character from meaning something.
fn unescaped(field: &str) -> String {
    let mut characters = field.chars();
    let mut text = String::with_capacity(field.len());
    while let Some(character) = characters.next() {
        text.push(if character == '\\' { characters.next().unwrap_or('\\') } else { character });
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "\
# host:port:database:user:password
example.org:5432:papers:me:first
example.org:*:*:me:sec\\:ond\\\\
localhost:*:*:*:local
\\:\\:1:5432:papers:a\\:b:with:colons
broken line
*:*:*:me:last";

    fn found(host: &str, port: u16, database: &str, user: &str) -> Option<String> {
        find(FILE, &Wanted { host, port, database, user })
    }

    #[test]
    fn the_first_line_that_fits_has_the_password() {
        let check = |host, port, user, password: Option<&str>| {
            assert_eq!(found(host, port, "papers", user).as_deref(), password, "{user}@{host}:{port}");
        };
        check("example.org", 5432, "me", Some("first"));
        check("example.org", 5433, "me", Some("sec:ond\\"));
        check("example.org", 5432, "you", None);
        check("localhost", 1, "you", Some("local"));
        check("/var/run/postgresql", 5432, "you", Some("local"));
        check("::1", 5432, "a:b", Some("with:colons"));
        check("elsewhere", 5432, "me", Some("last"));
    }
}
