//! Connections that nobody can listen to, by rustls, as far as `sslmode` asks for it.

use std::future::Future;
use std::io;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use postgres::Socket;
use postgres::config::SslMode;
use postgres::tls::{ChannelBinding, MakeTlsConnect, TlsConnect, TlsStream};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::client::WebPkiServerVerifier;
use tokio_rustls::rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use tokio_rustls::rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use tokio_rustls::rustls::{
    self, CertificateError, ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme,
};

use super::password::in_home;
use crate::failure::Failure;

/// The certificates that come with the operating system.
const SYSTEM: &str = "system";

/// How much a connection must be protected, as libpq counts it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mode {
    /// Not at all.
    Disable,
    /// If the server can.
    Prefer,
    /// Nobody may listen.
    Require,
    /// And the server has a certificate of somebody we trust.
    VerifyCa,
    /// And the certificate is for its name.
    VerifyFull,
}

impl Mode {
    const ALL: [(&'static str, Mode); 5] = [
        ("disable", Mode::Disable),
        ("prefer", Mode::Prefer),
        ("require", Mode::Require),
        ("verify-ca", Mode::VerifyCa),
        ("verify-full", Mode::VerifyFull),
    ];

    /// As its name says. Everybody can get a certificate from those that the system trusts, so that only a check of the name
    /// goes with them.
    pub fn of(name: Option<&str>, root: Option<&str>) -> Result<Self, Failure> {
        let is_system = root == Some(SYSTEM);
        let Some(name) = name else { return Ok(if is_system { Mode::VerifyFull } else { Mode::Prefer }) };
        let known = Mode::ALL.into_iter().find(|(known, _)| *known == name);
        let (_, mode) = known.ok_or_else(|| {
            let failure = Failure::new("`sslmode` has a value that does not exist");
            failure.hint("use `disable`, `prefer`, `require`, `verify-ca` or `verify-full`")
        })?;
        if is_system && mode < Mode::VerifyFull {
            let failure = Failure::new("`sslrootcert=system` needs a check of the server's name");
            return Err(failure.hint("use `sslmode=verify-full`"));
        }
        Ok(mode)
    }

    /// What is asked of the server.
    pub fn asked(self) -> SslMode {
        match self {
            Mode::Disable => SslMode::Disable,
            Mode::Prefer => SslMode::Prefer,
            Mode::Require | Mode::VerifyCa | Mode::VerifyFull => SslMode::Require,
        }
    }
}

/// Protects connections.
#[derive(Clone)]
pub struct Tls {
    config: Arc<ClientConfig>,
}

impl Tls {
    /// With the certificates of a file, of the system, or of the usual file.
    pub fn new(mode: Mode, root: Option<&str>) -> Result<Self, Failure> {
        let provider = Arc::new(ring::default_provider());
        let verifier = verifier(mode, root, &provider)?;
        let mut config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| Failure::new(format!("cannot use TLS: {error}")))?
            .dangerous()
            .with_custom_certificate_verifier(verifier)
            .with_no_client_auth();
        config.alpn_protocols = vec![b"postgresql".to_vec()];
        Ok(Tls { config: Arc::new(config) })
    }

    /// What to do about an error, where TLS is its cause.
    pub fn hint(error: &anyhow::Error) -> Option<&'static str> {
        let is_refused = |cause: &(dyn std::error::Error + 'static)| cause.to_string() == "server does not support TLS";
        if error.chain().any(is_refused) {
            return Some("turn on `ssl` in the server, or use `sslmode=disable` where nobody can listen");
        }
        let cause = error.chain().find_map(|cause| {
            let inner = cause.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
            inner.and_then(|inner| inner.downcast_ref()).or_else(|| cause.downcast_ref())
        })?;
        let rustls::Error::InvalidCertificate(problem) = cause else { return None };
        Some(match problem {
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
                "connect by the name that the certificate is for, or use `sslmode=verify-ca`"
            }
            CertificateError::UnknownIssuer => "name the certificate of its issuer with `sslrootcert=FILE`",
            CertificateError::Expired | CertificateError::ExpiredContext { .. } => "renew the server's certificate",
            _ => "give the server a certificate that is no issuer's (`CA:FALSE`) and has its name as `subjectAltName`",
        })
    }
}

/// Who decides whether to believe a server.
fn verifier(
    mode: Mode,
    root: Option<&str>,
    provider: &Arc<CryptoProvider>,
) -> Result<Arc<dyn ServerCertVerifier>, Failure> {
    let usual = || in_home(".postgresql/root.crt", "root.crt").filter(|path| path.exists());
    let path = root.map(PathBuf::from).or_else(usual);
    let chain = match (mode, path) {
        (Mode::Disable | Mode::Prefer, _) | (Mode::Require, None) => None,
        (Mode::VerifyCa | Mode::VerifyFull, None) => {
            let failure = Failure::new("there is no certificate to check the server's with");
            return Err(
                failure.hint("use `sslrootcert=FILE`, or `sslrootcert=system` for those of the operating system")
            );
        }
        // As libpq has it: whoever has named an issuer wants that it is checked.
        (Mode::Require | Mode::VerifyCa | Mode::VerifyFull, Some(path)) => Some(chain(path, provider)?),
    };
    Ok(match chain {
        Some(chain) if mode == Mode::VerifyFull => chain,
        chain => Arc::new(Lenient { chain, provider: provider.clone() }),
    })
}

/// Checks certificates by those in a file, and names.
fn chain(path: PathBuf, provider: &Arc<CryptoProvider>) -> Result<Arc<WebPkiServerVerifier>, Failure> {
    let mut roots = RootCertStore::empty();
    if path.as_os_str() == SYSTEM {
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    } else {
        let failed = |why: String| {
            let failure = Failure::new(format!("cannot use the certificates in `{}`: {why}", path.display()));
            failure.hint("`sslrootcert` is a file in PEM form, with `-----BEGIN CERTIFICATE-----`")
        };
        let certificates = CertificateDer::pem_file_iter(&path).map_err(|error| failed(error.to_string()))?;
        for certificate in certificates {
            let certificate = certificate.map_err(|error| failed(error.to_string()))?;
            roots.add(certificate).map_err(|error| failed(error.to_string()))?;
        }
        if roots.is_empty() {
            return Err(failed("there are none".to_owned()));
        }
    }
    let builder = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider.clone());
    builder.build().map_err(|error| Failure::new(format!("cannot check certificates: {error}")))
}

/// Believes a server of any name, and where there is no chain to check, any server. That it has the key of its certificate is
/// checked all the same.
#[derive(Debug)]
struct Lenient {
    chain: Option<Arc<WebPkiServerVerifier>>,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Lenient {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        between: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        status: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let Some(chain) = &self.chain else { return Ok(ServerCertVerified::assertion()) };
        match chain.verify_server_cert(certificate, between, name, status, now) {
            // Names are compared last: all else is right.
            Err(rustls::Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) => Ok(ServerCertVerified::assertion()),
            verified => verified,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, certificate, signed, &self.provider.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, certificate, signed, &self.provider.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

impl MakeTlsConnect<Socket> for Tls {
    type Stream = Protected;
    type TlsConnect = Handshake;
    type Error = io::Error;

    /// It is asked for before anybody knows whether it is needed, so that a wrong name is no error yet.
    fn make_tls_connect(&mut self, host: &str) -> io::Result<Handshake> {
        Ok(Handshake { connector: TlsConnector::from(self.config.clone()), host: host.to_owned() })
    }
}

/// A connection that is about to be protected.
pub struct Handshake {
    connector: TlsConnector,
    host: String,
}

impl TlsConnect<Socket> for Handshake {
    type Stream = Protected;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Protected>> + Send>>;

    fn connect(self, socket: Socket) -> Self::Future {
        Box::pin(async move {
            let name =
                ServerName::try_from(self.host).map_err(|_| io::Error::other("no certificate has such a name"))?;
            self.connector.connect(name, socket).await.map(|stream| Protected(Box::new(stream)))
        })
    }
}

/// A connection that nobody can listen to.
pub struct Protected(Box<tokio_rustls::client::TlsStream<Socket>>);

impl TlsStream for Protected {
    fn channel_binding(&self) -> ChannelBinding {
        ChannelBinding::none()
    }
}

impl AsyncRead for Protected {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, out: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(context, out)
    }
}

impl AsyncWrite for Protected {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_are_named_as_in_libpq() {
        let mode = |name, root| Mode::of(name, root).ok();
        assert_eq!(mode(None, None), Some(Mode::Prefer));
        assert_eq!(mode(Some("verify-ca"), Some("root.crt")), Some(Mode::VerifyCa));
        assert_eq!(mode(None, Some("system")), Some(Mode::VerifyFull));
        assert_eq!(mode(Some("require"), Some("system")), None, "everybody has such a certificate");
        assert_eq!(mode(Some("always"), None), None);
    }

    #[test]
    fn certificates_that_cannot_be_used_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("root.crt");
        let refused = |text: &str| {
            std::fs::write(&path, text).unwrap();
            let refused = Tls::new(Mode::VerifyFull, path.to_str()).err();
            refused.expect("it should be refused").to_string()
        };
        assert!(refused("").contains("there are none"));
        let nonsense = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
        assert!(refused(nonsense).contains("cannot use the certificates"));
        assert!(Tls::new(Mode::VerifyCa, Some("no such file")).is_err());
        assert!(Tls::new(Mode::Prefer, Some("no such file")).is_ok(), "nothing is checked");
    }
}
