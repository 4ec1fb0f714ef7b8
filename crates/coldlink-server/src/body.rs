//! What requests bring: bodies in JSON, queries and paths, each refused in the one shape of errors.

use std::fmt;
use std::marker::PhantomData;

use axum::body::Bytes;
use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::http::{HeaderMap, StatusCode, header};
use serde::de::value::MapAccessDeserializer;
use serde::de::{DeserializeOwned, Error, IntoDeserializer, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use crate::error::{ApiError, Code};

/// The bytes of a body that is declared as JSON; they are read where there is time for it.
pub struct Body(Bytes);

impl Body {
    /// The request that is in it.
    pub fn parse<T: DeserializeOwned>(&self) -> Result<T, ApiError> {
        let parsed = serde_json::from_slice(&self.0).map_err(|error| match error.classify() {
            serde_json::error::Category::Data => {
                ApiError::new(Code::BadValue, error.to_string(), "GET /openapi.json describes the request")
            }
            _ => ApiError::new(Code::BadJson, format!("the body is not valid JSON: {error}"), "send one JSON object"),
        });
        parsed.map(|Object(request)| request)
    }
}

impl<S: Send + Sync> FromRequest<S> for Body {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &S) -> Result<Self, ApiError> {
        if !is_json(request.headers()) {
            let message = "the body is not declared as JSON";
            return Err(ApiError::new(
                Code::WrongMediaType,
                message,
                "send the header `Content-Type: application/json`",
            ));
        }
        let bytes = Bytes::from_request(request, state).await.map_err(|rejection| match rejection.status() {
            StatusCode::PAYLOAD_TOO_LARGE => ApiError::new(
                Code::TooLarge,
                "the body is larger than allowed",
                "send fewer nodes at once; GET /v1/model has the limits",
            ),
            _ => ApiError::new(Code::BadJson, "the body ended early", "send it again"),
        })?;
        Ok(Body(bytes))
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
