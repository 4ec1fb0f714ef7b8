//! What requests bring: bodies in JSON, queries and paths, each refused in the one shape of errors.

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use axum::body::HttpBody;
use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::http::{HeaderMap, header};
use http_body_util::BodyExt;
use serde::de::value::MapAccessDeserializer;
use serde::de::{DeserializeOwned, Error, IntoDeserializer, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use crate::bodies::Counted;
use crate::error::{ApiError, Code};
use crate::state::Server;
use crate::work::too_slow;

/// The bytes of a body that is declared as JSON; they are read where there is time for it. As long as it is there, its bytes
/// count among those of all bodies.
pub struct Body {
    bytes: Vec<u8>,
    _counted: Counted,
}

impl Body {
    /// The request that is in it.
    pub fn parse<T: DeserializeOwned>(&self) -> Result<T, ApiError> {
        let parsed = serde_json::from_slice(&self.bytes).map_err(|error| match error.classify() {
            serde_json::error::Category::Data => {
                ApiError::new(Code::BadValue, error.to_string(), "GET /openapi.json describes the request")
            }
            _ => ApiError::new(Code::BadJson, format!("the body is not valid JSON: {error}"), "send one JSON object"),
        });
        parsed.map(|Object(request)| request)
    }

    /// Tells one body from another.
    pub fn fingerprint(&self) -> u64 {
        xxhash_rust::xxh3::xxh3_64(&self.bytes)
    }

    async fn read(body: axum::body::Body, server: &Server) -> Result<Self, ApiError> {
        let most = server.limits().body;
        let too_large = || {
            let hint = "send fewer nodes at once; GET /v1/model has the limits";
            ApiError::new(Code::TooLarge, "the body is larger than allowed", hint)
        };
        if body.size_hint().lower() > most as u64 {
            return Err(too_large());
        }
        let (mut body, mut bytes, mut arriving) = (body, Vec::new(), server.bodies.arrive());
        loop {
            let frame = tokio::select! {
                frame = body.frame() => frame,
                () = arriving.given_up() => return Err(server.overloaded()),
            };
            let Some(frame) = frame else { break };
            let frame = frame.map_err(|_| ApiError::new(Code::BadJson, "the body ended early", "send it again"))?;
            let Some(part) = frame.data_ref() else { continue };
            if bytes.len() + part.len() > most {
                return Err(too_large());
            }
            if !arriving.take(part.len()).await {
                return Err(server.overloaded());
            }
            bytes.extend_from_slice(part);
        }
        Ok(Body { bytes, _counted: arriving.whole() })
    }
}

impl FromRequest<Arc<Server>> for Body {
    type Rejection = ApiError;

    async fn from_request(request: Request, server: &Arc<Server>) -> Result<Self, ApiError> {
        if !is_json(request.headers()) {
            let message = "the body is not declared as JSON";
            return Err(ApiError::new(
                Code::WrongMediaType,
                message,
                "send the header `Content-Type: application/json`",
            ));
        }
        let reading = Body::read(request.into_body(), server);
        tokio::time::timeout(server.limits().time(), reading).await.unwrap_or_else(|_| Err(too_slow()))
    }
}

fn is_json(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim();
    kind.eq_ignore_ascii_case("application/json")
}

/// A whole number, which JSON may also write as `10.0`.
pub fn whole<'de, D: Deserializer<'de>>(deserializer: D) -> Result<usize, D::Error> {
    let number = serde_json::Number::deserialize(deserializer)?;
    let written_with_point = || {
        let number = number.as_f64().filter(|number| number.fract() == 0.0 && (0.0..=9e15).contains(number));
        number.map(|number| number as usize)
    };
    let whole = number.as_u64().and_then(|number| usize::try_from(number).ok()).or_else(written_with_point);
    whole.ok_or_else(|| D::Error::custom(format!("expected a non-negative integer, got {number}")))
}

/// What an object says; a list is not taken for its fields in their order.
struct Object<T>(T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(ObjectVisitor(PhantomData))
    }
}

struct ObjectVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for ObjectVisitor<T> {
    type Value = Object<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Object<T>, A::Error> {
        T::deserialize(MapAccessDeserializer::new(map)).map(Object)
    }
}

/// A list of objects.
pub fn objects<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Vec<T>, D::Error> {
    let all = Vec::<Object<T>>::deserialize(deserializer)?;
    Ok(all.into_iter().map(|Object(value)| value).collect())
}

/// One of some words; an object with it as its key is not taken for it.
pub fn word<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<T, D::Error> {
    T::deserialize(String::deserialize(deserializer)?.into_deserializer())
}

/// The parameters of a query.
#[derive(FromRequestParts)]
#[from_request(via(axum::extract::Query), rejection(ApiError))]
pub struct Query<T>(pub T);

/// A part of the path.
#[derive(FromRequestParts)]
#[from_request(via(axum::extract::Path), rejection(ApiError))]
pub struct Path<T>(pub T);

impl From<QueryRejection> for ApiError {
    fn from(rejection: QueryRejection) -> Self {
        ApiError::new(Code::BadPath, rejection.body_text(), "GET /openapi.json describes the parameters")
    }
}

impl From<PathRejection> for ApiError {
    fn from(rejection: PathRejection) -> Self {
        ApiError::new(Code::BadPath, rejection.body_text(), "write names in UTF-8, percent-encoded")
    }
}
