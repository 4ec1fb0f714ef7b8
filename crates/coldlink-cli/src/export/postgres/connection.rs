//! How the server is reached, said as libpq takes it: by the address first, then by the environment, then by files.
//!
//! Whoever mistypes an address may have put a part of the password anywhere in it, so no error repeats any of it.

use std::path::PathBuf;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use percent_encoding::percent_decode_str;
use postgres::config::{Host, SslMode};
use postgres::{Client, Config};

use super::password::{self, Wanted};
use super::tls::{Mode, Tls};
use crate::failure::Failure;

const STARTS: [&str; 2] = ["postgres://", "postgresql://"];
const DEFAULT_PORT: u16 = 5432;
/// How long a server may take to let us in, unless told.
const PATIENCE: Duration = Duration::from_secs(10);
const EXAMPLE: &str = "use `--to postgres://USER@HOST:PORT/DATABASE`, and give the password in `PGPASSWORD` or `~/.pgpass`; in an \
    address, write its special characters as `%` and two digits";

/// A variable of the environment.
pub type Environment<'a> = &'a dyn Fn(&str) -> Option<String>;

/// A server that can be connected to.
pub struct Connection {
    config: Config,
    tls: Tls,
    /// None waits forever.
    patience: Option<Duration>,
}

impl Connection {
    /// What an address and the environment say.
    pub fn of(address: &str, environment: Environment<'_>) -> anyhow::Result<Self> {
        let Address { mut config, options } = Address::parse(address)?;
        let said = |option: Option<String>, variable: &str| option.or_else(|| environment(variable));
        add_environment(&mut config, environment)?;
        if config.get_password().is_none_or(<[u8]>::is_empty)
            && let Some(password) =
                environment("PGPASSWORD").map_or_else(|| kept_password(&config, environment), |it| Ok(Some(it)))?
        {
            config.password(password);
        }
        let mode = said(options.mode, "PGSSLMODE");
        let root = said(options.root, "PGSSLROOTCERT");
        let mode = Mode::of(mode.as_deref(), root.as_deref())?;
        let tls = Tls::new(mode, root.as_deref())?;
        config.ssl_mode(if is_local(&config) { SslMode::Disable } else { mode.asked() });
        let patience = said(options.timeout, "PGCONNECT_TIMEOUT").map_or(Ok(Some(PATIENCE)), |text| patience(&text))?;
        // One of several hosts that cannot be reached leaves time for the others.
        patience.into_iter().for_each(|patience| _ = config.connect_timeout(patience));
        Ok(Connection { config, tls, patience })
    }

    /// Connects, or says why not.
    pub fn open(self) -> anyhow::Result<Client> {
        let Connection { config, tls, patience } = self;
        let patience = patience.map(|each| each * config.get_hosts().len().max(1) as u32);
        let (send, receive) = channel();
        // The timeout of the client ends with the TCP connection; a server may also accept one and say nothing.
        std::thread::spawn(move || _ = send.send(config.connect(tls)));
        let connected = match patience {
            Some(patience) => receive.recv_timeout(patience),
            None => receive.recv().map_err(RecvTimeoutError::from),
        };
        connected.map_err(|_| no_answer(patience.unwrap_or_default()))?.map_err(cannot_connect)
    }
}

/// An address, taken apart.
struct Address {
    config: Config,
    options: Options,
}

/// The options that the client library does not know, or not all values of.
#[derive(Default)]
struct Options {
    mode: Option<String>,
    root: Option<String>,
    timeout: Option<String>,
}

impl Address {
    fn parse(address: &str) -> Result<Self, Failure> {
        let rest = STARTS.iter().find_map(|start| address.strip_prefix(start)).ok_or_else(misunderstood)?;
        // A question mark before the `@` belongs to the password.
        let credentials = rest.find('@').map_or(0, |at| at + 1);
        let (place, query) = match rest[credentials..].split_once('?') {
            Some((place, query)) => (&rest[..credentials + place.len()], query),
            None => (rest, ""),
        };
        let mut options = Options::default();
        let mut others = Vec::new();
        for option in query.split('&') {
            let (name, value) = option.split_once('=').unwrap_or((option, ""));
            match name {
                "sslmode" => options.mode = Some(decoded(value)?),
                "sslrootcert" => options.root = Some(decoded(value)?),
                "connect_timeout" => options.timeout = Some(decoded(value)?),
                _ => others.push(option),
            }
        }
        let config: Config =
            format!("{}{place}?{}", STARTS[0], others.join("&")).parse().map_err(|_| misunderstood())?;
        let is_name = |host: &Host| !matches!(host, Host::Tcp(name) if name.contains(['@', '/', ' ']));
        if config.get_hosts().iter().all(is_name) { Ok(Address { config, options }) } else { Err(misunderstood()) }
    }
}

fn decoded(value: &str) -> Result<String, Failure> {
    percent_decode_str(value).decode_utf8().map(String::from).map_err(|_| misunderstood())
}

/// Fills in what the address leaves open.
fn add_environment(config: &mut Config, environment: Environment<'_>) -> Result<(), Failure> {
    if config.get_hosts().is_empty() && config.get_hostaddrs().is_empty() {
        let hosts = environment("PGHOST").unwrap_or_else(|| "localhost".to_owned());
        hosts.split(',').for_each(|host| _ = config.host(host));
    }
    if config.get_ports().is_empty()
        && let Some(ports) = environment("PGPORT")
    {
        for port in ports.split(',') {
            let wrong = |_| Failure::new("`PGPORT` is no port").hint("use a number from 1 to 65535");
            config.port(port.trim().parse().map_err(wrong)?);
        }
    }
    if config.get_user().is_none()
        && let Some(user) = environment("PGUSER")
    {
        config.user(&user);
    }
    if config.get_dbname().is_none()
        && let Some(database) = environment("PGDATABASE")
    {
        config.dbname(&database);
    }
    Ok(())
}

/// The password that the user keeps in a file. Where several servers have different ones, none of them is told another's.
fn kept_password(config: &Config, environment: Environment<'_>) -> Result<Option<String>, Failure> {
    let Some(lines) = password::read(environment("PGPASSFILE").map(PathBuf::from))? else { return Ok(None) };
    let user = config.get_user().map(str::to_owned).or_else(|| environment("USER")).unwrap_or_default();
    let database = config.get_dbname().unwrap_or(&user);
    let ports = config.get_ports();
    let found = config.get_hosts().iter().enumerate().map(|(place, host)| {
        let host = match host {
            Host::Tcp(name) => name.clone(),
            #[cfg(unix)]
            Host::Unix(folder) => folder.to_string_lossy().into_owned(),
        };
        let port = *ports.get(place).or(ports.first()).unwrap_or(&DEFAULT_PORT);
        password::find(&lines, &Wanted { host: &host, port, database, user: &user })
    });
    let mut found: Vec<Option<String>> = found.collect();
    found.dedup();
    Ok(if found.len() == 1 { found.remove(0) } else { None })
}

/// Whether nothing leaves this machine: PostgreSQL has no TLS over the sockets of Unix.
fn is_local(config: &Config) -> bool {
    #[cfg(unix)]
    return !config.get_hosts().is_empty() && config.get_hosts().iter().all(|host| matches!(host, Host::Unix(_)));
    #[cfg(not(unix))]
    return false;
}

fn patience(text: &str) -> Result<Option<Duration>, Failure> {
    let wrong =
        |_| Failure::new("`connect_timeout` is no number of seconds").hint("use a whole number; 0 waits forever");
    let seconds: i64 = text.trim().parse().map_err(wrong)?;
    Ok(u64::try_from(seconds).ok().filter(|&seconds| seconds > 0).map(Duration::from_secs))
}

fn misunderstood() -> Failure {
    Failure::new("cannot understand the address of the database").hint(EXAMPLE)
}

fn no_answer(patience: Duration) -> Failure {
    let seconds = patience.as_secs();
    Failure::new(format!("PostgreSQL does not let us in within {seconds} s"))
        .hint("check host and port, or wait longer with `?connect_timeout=SECONDS`")
}

fn cannot_connect(error: postgres::Error) -> anyhow::Error {
    let error = anyhow::Error::from(error);
    let hint = Tls::hint(&error).unwrap_or(EXAMPLE);
    error.context(Failure::new("cannot connect to PostgreSQL").hint(hint))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;
    use std::time::Instant;

    fn nothing(_: &str) -> Option<String> {
        None
    }

    fn refusal(address: &str, environment: Environment<'_>) -> String {
        let error = Connection::of(address, environment).err().expect("it should be refused");
        format!("{error:#} {error:?}")
    }

    #[test]
    fn an_address_goes_before_the_environment() {
        let environment = |name: &str| {
            let value = match name {
                "PGHOST" => "elsewhere",
                "PGPORT" => "6000",
                "PGUSER" => "other",
                "PGDATABASE" => "books",
                "PGPASSWORD" => "secret",
                "PGSSLMODE" => "disable",
                "PGCONNECT_TIMEOUT" => "7",
                _ => return None,
            };
            Some(value.to_owned())
        };
        let said = Connection::of("postgres://me:mine@here:5433/papers?sslmode=prefer&connect_timeout=3", &environment);
        let Connection { config, patience, .. } = said.unwrap();
        assert_eq!(config.get_hosts(), [Host::Tcp("here".into())]);
        assert_eq!((config.get_ports(), config.get_user()), (&[5433][..], Some("me")));
        assert_eq!((config.get_dbname(), config.get_password()), (Some("papers"), Some(&b"mine"[..])));
        assert_eq!((config.get_ssl_mode(), patience), (SslMode::Prefer, Some(Duration::from_secs(3))));

        let Connection { config, patience, .. } = Connection::of("postgresql://", &environment).unwrap();
        assert_eq!(config.get_hosts(), [Host::Tcp("elsewhere".into())]);
        assert_eq!((config.get_ports(), config.get_user()), (&[6000][..], Some("other")));
        assert_eq!((config.get_dbname(), config.get_password()), (Some("books"), Some(&b"secret"[..])));
        assert_eq!((config.get_ssl_mode(), patience), (SslMode::Disable, Some(Duration::from_secs(7))));
    }

    #[test]
    fn no_error_repeats_a_part_of_the_password() {
        let addresses = [
            "postgres://me:hush@hush@host/db",
            "postgres://me:hush/hush@host/db",
            "postgres://me:hu?hush=1@host/db?hush",
            "postgres://me:hu#hush:hush@host:hush/db",
            "mysql://me:hush@host/db",
            "host=here password=hush",
            "postgres://me:hush@host/db?password=hush&nothing=hush",
            "postgres://me:hush@host/db?sslmode=hush",
            "postgres://me:hush@host/db?connect_timeout=hush",
        ];
        for address in addresses {
            if let Err(error) = Connection::of(address, &nothing) {
                let said = format!("{error:#} {error:?}");
                assert!(!said.contains("hush"), "{address}: {said}");
            }
        }
    }

    #[test]
    fn a_password_may_have_any_character_in_its_place() {
        let config = |address| Connection::of(address, &nothing).unwrap().config;
        assert_eq!(config("postgres://me:a%40b%3Fc@host/db").get_password(), Some(&b"a@b?c"[..]));
        assert_eq!(config("postgres://me:what?@host/db?sslmode=prefer").get_password(), Some(&b"what?"[..]));
    }

    #[cfg(unix)]
    #[test]
    fn the_sockets_of_unix_need_no_tls() {
        let address = "postgresql://me:@/db?host=/tmp/server&sslmode=require";
        let config = Connection::of(address, &nothing).unwrap().config;
        assert_eq!((config.get_ssl_mode(), config.get_password()), (SslMode::Disable, Some(&b""[..])));
    }

    #[cfg(unix)]
    #[test]
    fn a_password_comes_from_a_file_that_others_cannot_read() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("passwords");
        std::fs::write(&path, "here:5432:*:me:first\nthere:*:*:me:second\n").unwrap();
        let environment = |name: &str| (name == "PGPASSFILE").then(|| path.display().to_string());
        let allow = |mode| std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        let password = |address: &str| {
            let config = Connection::of(address, &environment).unwrap().config;
            config.get_password().map(|password| String::from_utf8(password.to_vec()).unwrap())
        };
        allow(0o600);
        assert_eq!(password("postgres://me@here/db").as_deref(), Some("first"));
        assert_eq!(password("postgres://me:mine@here/db").as_deref(), Some("mine"));
        assert_eq!(password("postgres://me@there:99/db").as_deref(), Some("second"));
        assert_eq!(password("postgres://me@here,there/db"), None, "each has its own");
        allow(0o640);
        assert!(refusal("postgres://me@here/db", &environment).contains("others can read"));
    }

    #[test]
    fn a_server_that_says_nothing_is_not_waited_for_forever() {
        let silent = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = silent.local_addr().unwrap().port();
        let address = format!("postgres://me@127.0.0.1:{port}/db?connect_timeout=1");
        let started = Instant::now();
        let error = Connection::of(&address, &nothing).unwrap().open().err().unwrap();
        assert!(error.to_string().contains("within 1 s"), "{error:?}");
        assert!(started.elapsed() < Duration::from_secs(8));
    }
}
